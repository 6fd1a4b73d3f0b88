import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
const { isBundled } = (await import(new URL('../../scripts/build.cjs', import.meta.url).href)) as {
  isBundled: (name: string) => boolean
}

const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)`\s*\| (.+?)\s*\|$/gm)].map(
  ([, name = '', reason = '']) => ({ name, reason }),
)

it('docs/dependencies.md has a reason for each package that the service needs at run time', () => {
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(dependencies))
  for (const { name, reason } of rows) expect(reason.length, name).toBeGreaterThan(10)
})

it('docs/dependencies.md says which packages are bundled', () => {
  for (const { name, reason } of rows) expect(reason.endsWith(' Bundled.'), name).toBe(isBundled(name))
})
