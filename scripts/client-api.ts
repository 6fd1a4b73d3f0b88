import openapiTypescript, { astToString } from 'openapi-typescript'
import { factory } from 'typescript'

/** Renders packages/client/src/api.ts: the API as TypeScript, from the file of its description. */
export async function renderClientApi(description: URL): Promise<string> {
  // The documentation of openapi-typescript has this for uploads: by itself it takes every string for a string.
  const file = factory.createUnionTypeNode([
    factory.createTypeReferenceNode('Blob'),
    factory.createTypeReferenceNode('File'),
  ])
  const types = await openapiTypescript(description, {
    transform: (schema) => (schema.format === 'binary' ? file : undefined),
  })
  return astToString(types)
}
