import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'

const root = new URL('../../', import.meta.url)

/** The screenshots in docs/screenshots, and the module of the page that each shows. */
export const screenshots = {
  'sign-in': 'sign-in/sign-in.pages.ts',
  invites: 'people/invites.pages.ts',
  workspace: 'home/workspace.pages.ts',
  palette: 'search/search.pages.ts',
  seeds: 'seeds/lists/seeds.pages.ts',
  seed: 'seeds/seed.pages.ts',
  people: 'people/people.pages.ts',
  'workspace-settings': 'settings/workspace-settings.pages.ts',
  security: 'account/security.pages.ts',
  'api-keys': 'account/api-keys.pages.ts',
  consent: 'agents/consent.pages.ts',
  agents: 'agents/agents.pages.ts',
  activity: 'activity/activity.pages.ts',
  'workspace-dark': 'home/workspace.pages.ts',
  'phone-workspace-dark': 'home/workspace.pages.ts',
  'phone-seed': 'seeds/seed.pages.ts',
  'phone-security': 'account/security.pages.ts',
} as const

export type Screenshot = keyof typeof screenshots

/** Where the hashes are written of what the screenshots show. */
export const hashesUrl = new URL('docs/screenshots/sources.json', root)

/** The hashes of when the screenshots were taken. */
export async function readHashes(): Promise<Partial<Record<Screenshot, string>>> {
  const text = await readFile(hashesUrl, 'utf8').catch(() => '{}')
  return JSON.parse(text) as Partial<Record<Screenshot, string>>
}

/** A hash of the style sheet, and of all templates that the page of a screenshot is made of. */
export async function hashSources(name: Screenshot): Promise<string> {
  const modules = new Map<string, string>()
  const add = async (url: URL) => {
    if (modules.has(url.href) || !url.pathname.includes('/src/website/')) return
    const source = await readFile(url, 'utf8')
    modules.set(url.href, source)
    for (const [, path] of source.matchAll(/from '(\.\.?\/[^']+)'/g)) await add(new URL(path ?? '', url))
  }
  await add(new URL(`src/website/${screenshots[name]}`, root))
  await add(new URL('src/website/components/layout.ts', root))
  const hash = createHash('sha256').update(await readFile(new URL('public/site.css', root)))
  for (const [, source] of [...modules].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(source)
  return hash.digest('base64url').slice(0, 16)
}

/** The names of the files of screenshots. */
export async function listScreenshots(): Promise<string[]> {
  const files = await readdir(new URL('docs/screenshots/', root))
  return files.filter((file) => file.endsWith('.png')).map((file) => file.slice(0, -'.png'.length))
}
