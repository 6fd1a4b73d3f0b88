import { analyse } from 'scslre'
import { describe, expect, it } from 'vitest'
import { ConfigSchema } from '../../src/config.ts'
import { checkEach } from '../support/check-each.ts'
import { startTestApp } from '../support/test-app.ts'

const { app } = await startTestApp()

/** Every pattern of a JSON Schema. They are texts, which no linter reads. */
function findPatterns(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) =>
    name === 'pattern' && typeof part === 'string' ? [part] : findPatterns(part),
  )
}

const patterns = [...new Set([...findPatterns(app.swagger()), ...findPatterns(ConfigSchema)])]

describe('a pattern of a schema takes time in proportion to the text', () => {
  it('and there are some', () => {
    expect(patterns.length).toBeGreaterThan(10)
  })

  it('each of them', () =>
    checkEach(patterns, String, (pattern) => {
      // As Ajv compiles it.
      const { reports } = analyse(new RegExp(pattern, 'u'))
      expect(reports.map(({ type }) => type)).toEqual([])
    }))

  it('and one that does not would be noticed', () => {
    expect(analyse(/^bearer +(\S*)\s*$/i).reports).not.toEqual([])
  })
})
