import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'

const readDocument = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

describe('docs/errors.md', () => {
  it('has every error with its condition', () => {
    const page = readDocument('errors.md')
    for (const { code, when } of Object.values<ErrorFactory>(errors)) {
      expect(page).toContain(`| \`${code}\``)
      expect(when, code).toMatch(/^[A-Z`].*\.$/)
    }
  })
})
