import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { documents } from '../../scripts/documents.ts'

describe('npm run docs', () => {
  it.each(Object.entries(documents))('writes %s as it is', async (file, render) => {
    expect(await render()).toBe(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8'))
  })
})
