import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { CommandError, type OutputOptions } from './command.ts'
import { print } from './output.ts'

/** Writes what a command exports to a file or, without one, to standard output, at the speed of whoever reads it. */
export async function writeExport(
  options: OutputOptions,
  chunks: AsyncIterable<string>,
  file: string | undefined,
): Promise<void> {
  if (file === undefined) {
    for await (const chunk of chunks) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
    return
  }
  await writeFile(file, chunks).catch(cannotWrite)
  print(options, { ok: true, file }, [`Wrote ${file}.`])
}

/** Throws the error of a file that an argument names. */
export function cannotWrite(cause: Error): never {
  throw new CommandError('file_error', `The file cannot be written: ${cause.message}`, { cause })
}
