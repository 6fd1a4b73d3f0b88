// Generates clients from the API description, with the two generators for TypeScript that are used most. Run by
// .ci/openapi in a folder of its own, in which the generators are installed. Argument: the file of the description.
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const [, , description] = process.argv

// The documentation of openapi-typescript has this for uploads: by itself it takes every string for a string.
const { factory } = ts
const file = factory.createUnionTypeNode([
  factory.createTypeReferenceNode('Blob'),
  factory.createTypeReferenceNode('File'),
])
const types = await openapiTypescript(pathToFileURL(description), {
  transform: (schema) => (schema.format === 'binary' ? file : undefined),
})
await writeFile('openapi-typescript.gen.ts', astToString(types))

await createClient({
  input: description,
  output: 'hey-api.gen',
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'error', file: false },
})
