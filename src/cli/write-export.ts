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
    for await (const chunk of chunks) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
    return
  }
  await writePrivately(file, chunks).catch(cannotWrite)
  print(options, { ok: true, file }, [`Wrote ${file}.`])
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
