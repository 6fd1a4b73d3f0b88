import { readFile, writeFile } from 'node:fs/promises'
import { renderErrorsPage } from './errors-page.ts'

const docs = new URL('../docs/', import.meta.url)
const description = JSON.parse(await readFile(new URL('openapi.json', docs), 'utf8')) as object
await writeFile(new URL('errors.md', docs), await renderErrorsPage(description))
