import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../http/app-types.ts'
import { publicAccess } from '../http/credentials/route-guard.ts'

/** The URLs of the assets that every page loads. */
export interface Assets {
  stylesheet: string
  script: string
  /** The script of the command palette, which is loaded when it is first opened. */
  palette: string
  icon: string
  /** Only for pages with passkeys. */
  passkeys: string
  /** Only for pages with comments. */
  mentions: string
  /** Only for pages with a field of several lines. */
  texts: string
  /** Only for pages with a form that takes files. */
  attachments: string
  /** Only for pages of signed-in people on which a text may have been begun. */
  drafts: string
  /** Only for pages with parts that show new activity. */
  live: string
  /** Only for the board of seeds. */
  board: string
  /** Only for the form of a new seed. */
  similar: string
}

/** The areas with an icon, which the tools of agents have. */
const iconAreas = ['comments', 'events', 'evidence', 'invites', 'people', 'seeds', 'teams', 'workspaces']

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const

/** Serves the stylesheet, the scripts and the icon. */
export async function registerAssets(app: App): Promise<Assets> {
  let assets: Assets | undefined
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    for (const area of iconAreas) serveAsset(scope, `areas/${area}`, 'svg')
    assets = {
      stylesheet: serveAsset(scope, 'site', 'css'),
      script: serveAsset(scope, 'site', 'js'),
      palette: serveAsset(scope, 'palette', 'js'),
      icon: serveAsset(scope, 'icon', 'svg'),
      passkeys: serveAsset(scope, 'passkeys', 'js'),
      mentions: serveAsset(scope, 'mentions', 'js'),
      texts: serveAsset(scope, 'texts', 'js'),
      attachments: serveAsset(scope, 'attachments', 'js'),
      drafts: serveAsset(scope, 'drafts', 'js'),
      live: serveAsset(scope, 'live', 'js'),
      board: serveAsset(scope, 'board', 'js'),
      similar: serveAsset(scope, 'similar', 'js'),
    }
  })
  if (!assets) throw new Error('the assets were not registered')
  return assets
}

/** Serves a file of public/. Returns its URL. */
export function serveAsset(app: App, name: string, extension: keyof typeof types): string {
  const { url, content } = readAsset(name, extension)
  app.get(url, { schema: { hide: true }, config: { isUnchanging: true } }, async (_request, reply) =>
    reply.type(types[extension]).header('cache-control', 'public, max-age=31536000, immutable').send(content),
  )
  return url
}

/** Reads a file of public/. Its URL contains a hash of the content, so that browsers may cache it. */
export function readAsset(name: string, extension: keyof typeof types): { url: string; content: Buffer } {
  const content = readFileSync(new URL(`../../public/${name}.${extension}`, import.meta.url))
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return { url: `/assets/${name}-${version}.${extension}`, content }
}

/** The URLs of the icons of areas, on an origin. */
export function areaIconUrls(origin: string): Record<string, string> {
  return Object.fromEntries(iconAreas.map((area) => [area, origin + readAsset(`areas/${area}`, 'svg').url]))
}
