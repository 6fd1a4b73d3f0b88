import { analyse } from 'scslre'
import { describe, expect, it } from 'vitest'
import { ConfigSchema } from '../../src/config/settings.ts'
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

describe('the regular expressions of schemas', () => {
  it('are more than ten', () => {
    expect(patterns.length).toBeGreaterThan(10)
  })

  it('take linear time', () =>
    checkEach(patterns, String, (pattern) => {
      // As Ajv compiles it.
      const { reports } = analyse(new RegExp(pattern, 'u'))
      expect(reports.map(({ type }) => type)).toEqual([])
    }))

  it('are checked by an analysis that reports a quadratic one', () => {
    expect(analyse(/^bearer +(\S*)\s*$/i).reports).not.toEqual([])
  })
})
