import { readFileSync } from 'node:fs'

/** Reads a document of the repository, such as `docs/events.md`, which the image has too. Throws if it is not there. */
export function readDocument(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}
