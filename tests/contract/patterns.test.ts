import { analyse } from 'scslre'
import { describe, expect, it } from 'vitest'
import { ConfigSchema } from '../../src/config/settings.ts'
import { textExpressions } from '../../src/kernel/text.ts'
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

// As Ajv compiles them, and those that texts are validated by.
const expressions = [
  ...[...new Set([...findPatterns(app.swagger()), ...findPatterns(ConfigSchema)])].map(
    (pattern) => new RegExp(pattern, 'u'),
  ),
  ...textExpressions,
]

// JSON Schema 2020-12 §6.4: characters, classes, groups, alternatives, quantifiers and anchors.
const subset =
  /^(?:[^\\()[\]{}|^$*+?.]|\\[\\()[\]{}|^$*+?.\-/]|\[\^?(?:[^\\\]]|\\[\\\]^-])+\]|\((?!\?)|[)|^$]|(?:[*+?]|\{\d+(?:,\d*)?\})\??)*$/

describe('the patterns of the description', () => {
  const published = [...new Set(findPatterns(app.swagger()))]

  it('need no more than what all engines of regular expressions have in common', () => {
    expect(published.length).toBeGreaterThan(0)
    expect(published.filter((pattern) => !subset.test(pattern))).toEqual([])
  })

  it.each(['\\p{L}', '(?:a)', '(?=a)', '^[^\\p{Cc}]*$', '\\s', '\\d+', '.', '[\\u0600]'])(
    'could not have %s unnoticed',
    (pattern) => {
      expect(subset.test(pattern)).toBe(false)
    },
  )
})

describe('the regular expressions of schemas', () => {
  it('are more than ten', () => {
    expect(expressions.length).toBeGreaterThan(10)
  })

  it('take linear time', () =>
    checkEach(expressions, String, (expression) => {
      const { reports } = analyse(expression)
      expect(reports.map(({ type }) => type)).toEqual([])
    }))

  it('are checked by an analysis that reports a quadratic one', () => {
    expect(analyse(/^bearer +(\S*)\s*$/i).reports).not.toEqual([])
  })
})
