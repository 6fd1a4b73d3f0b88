import { readdirSync, readFileSync } from 'node:fs'
import type { App } from '../http/app-types.ts'

/** The packed client that belongs to this version of the service. */
export interface ClientPackage {
  /** The name of its file, with its version. */
  fileName: string
  url: string
  content: Buffer
}

/** Finds the client that `npm run build` packed into dist/. Undefined if it did not, as in a checkout that was not built. */
export function findClientPackage(
  folder = new URL('../../dist/', import.meta.url),
): ClientPackage | undefined {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const fileName = names.find((name) => /^workspace-client-\d[\w.-]*\.tgz$/.test(name))
  if (fileName === undefined) return undefined
  return { fileName, url: `/docs/${fileName}`, content: readFileSync(new URL(fileName, folder)) }
}

/** Serves the packed client. Its URL has its version, so that it may be cached. */
export function serveClientPackage(app: App, { url, content }: ClientPackage): void {
  app.get(url, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('application/gzip')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(content),
  )
}
