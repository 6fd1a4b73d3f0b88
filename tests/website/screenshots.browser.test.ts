import { expect, it } from 'vitest'
import { hashSources, listScreenshots, readHashes, screenshots, type Screenshot } from './screenshots.ts'

const names = Object.keys(screenshots) as Screenshot[]

it('all screenshots are taken by npm run screenshots', async () => {
  expect((await listScreenshots()).sort()).toEqual([...names].sort())
})

it.each(names)('the screenshot %s shows the page as it is now: if not, npm run screenshots', async (name) => {
  expect((await readHashes())[name]).toBe(await hashSources(name))
})
