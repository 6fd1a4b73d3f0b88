import { describe, expect, it } from 'vitest'
import { normalizeText, parseLine } from '../../src/kernel/text.ts'

describe('normalizeText', () => {
  it.each([
    ['  Ada ', 'Ada'],
    ['\u00a0Ada\u3000', 'Ada'],
    ['Ame\u0301lie', 'Am\u00e9lie'],
    ['\u212b', '\u00c5'],
    ['Ada  Lovelace', 'Ada  Lovelace'],
    ['', ''],
  ])('stores %j as %j', (text, stored) => {
    expect(normalizeText(text)).toBe(stored)
  })

  it('changes nothing the second time', () => {
    const once = normalizeText(' e\u0301\u0327 \u1e9b\u0323 ')
    expect(normalizeText(once)).toBe(once)
  })
})

describe('parseLine', () => {
  it.each(['Ada', 'x', 'é', '🧑', '👩🏽‍💻', 'עדה', '0', 'null', '#', 'x'.repeat(10), '🧑'.repeat(10)])(
    'takes %j',
    (text) => {
      expect(parseLine(text, 10)).toBe(text.normalize('NFC'))
    },
  )

  it.each([
    '',
    ' ',
    '\u200b',
    '\u2060\u00a0',
    'x'.repeat(11),
    '🧑'.repeat(11),
    'a\u0000b',
    'a\nb',
    'a\tb',
    'a\u0085b',
    'a\u2029b',
    'a\ud800',
    '\udc00a',
  ])('refuses %j', (text) => {
    expect(parseLine(text, 10)).toBeUndefined()
  })

  it('decides about a long text without delay', () => {
    const startedAt = performance.now()
    expect(parseLine(`${' '.repeat(60_000)}\u0000`, 100)).toBeUndefined()
    expect(parseLine('\u200b'.repeat(60_000), 100_000)).toBeUndefined()
    expect(performance.now() - startedAt).toBeLessThan(500)
  })
})
