import { writeFile } from 'node:fs/promises'
import { documents } from './documents.ts'

// One after the other: some of them start the service.
for (const [file, render] of Object.entries(documents))
  await writeFile(new URL(`../${file}`, import.meta.url), await render())
