import { once } from 'node:events'
import { open, writeFile } from 'node:fs/promises'
import { CommandError, type OutputOptions } from './command.ts'
import { print } from './output.ts'

// Everything of a person or a workspace is not for the other accounts of the machine.
const ownerOnly = 0o600

/** Writes what a command exports to a file that only its owner can read or, without one, to standard output, at the speed of whoever reads it. */
export async function writeExport(
  options: OutputOptions,
  chunks: AsyncIterable<string>,
  file: string | undefined,
): Promise<void> {
  if (file === undefined) {
    await writeToOutput(chunks)
    return
  }
  await writePrivately(file, chunks).catch(cannotWrite)
  print(options, { ok: true, file }, [`Wrote ${file}.`])
}

/** Ends without an error when a reader closes the pipe, such as `head`. */
async function writeToOutput(chunks: AsyncIterable<string>): Promise<void> {
  const { stdout } = process
  for await (const chunk of chunks) {
    const isTaken = stdout.write(chunk)
    if (!isTaken && !stdout.destroyed) await once(stdout, 'drain').catch(ignoreClosedPipe)
    if (stdout.destroyed) return
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

async function writePrivately(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const opened = await open(file, 'w', ownerOnly)
  try {
    // The mode above is for new files: what stood there before may have been readable.
    if ((await opened.stat()).isFile()) await opened.chmod(ownerOnly)
    await writeFile(opened, chunks)
  } finally {
    await opened.close()
  }
}

/** Throws the error of a file that an argument names. */
export function cannotWrite(cause: Error): never {
  throw new CommandError('file_error', `The file cannot be written: ${cause.message}`, { cause })
}
