import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const documents = { readme: 'packages/client/README.md', following: 'docs/following-events.md' }

/** The programs of the documents about the client: the TypeScript blocks of each one, together. */
export function readExamples(): Record<keyof typeof documents, string> {
  const entries = Object.entries(documents).map(([name, path]) => {
    const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    return [name, [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code).join('\n')]
  })
  return Object.fromEntries(entries) as Record<keyof typeof documents, string>
}

/** Writes them into a folder. Run by .ci/client. */
export function writeExamples(folder: string): void {
  for (const [name, text] of Object.entries(readExamples())) writeFileSync(join(folder, `${name}.ts`), text)
}

const [, program, folder] = process.argv
if (folder !== undefined && import.meta.url === pathToFileURL(program ?? '').href) writeExamples(folder)
