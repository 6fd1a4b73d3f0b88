import { describe, expect, it } from 'vitest'
import {
  cleanLine,
  normalizeLines,
  normalizeLine,
  parseLine,
  parseName,
  parseQuery,
  requireLines,
} from '../../src/kernel/text.ts'

describe('normalizeLine', () => {
  it.each([
    ['  Ada ', 'Ada'],
    ['\u00a0Ada\u3000', 'Ada'],
    ['Ame\u0301lie', 'Am\u00e9lie'],
    ['\u212b', '\u00c5'],
    ['Ada  Lovelace', 'Ada  Lovelace'],
    ['', ''],
  ])('converts %j to %j', (text, stored) => {
    expect(normalizeLine(text)).toBe(stored)
  })

  it('does not change normalized text', () => {
    const once = normalizeLine(' e\u0301\u0327 \u1e9b\u0323 ')
    expect(normalizeLine(once)).toBe(once)
  })
})

describe('parseLine', () => {
  it.each([
    'Ada',
    'x',
    'é',
    '🧑',
    '👩🏽‍💻',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'עדה',
    'نامه\u200cای',
    'क्\u200dष',
    'Ada\u200f!',
    '葛\u{e0100}',
    '0',
    'null',
    '#',
    'x'.repeat(10),
    '🧑'.repeat(10),
  ])('accepts %j', (text) => {
    expect(parseLine(text, 10)).toBe(text.normalize('NFC'))
  })

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
    'a\u202eb',
    'a\u202ab\u202c',
    'a\u2066b\u2069',
    'a\u200bb',
    'a\u2060b',
    '\ufeffa',
    'a\u00adb',
    'a\u180eb',
    'a\u{e0041}b',
    '🏴\u{e0067}\u{e0062}',
    '🏴\u{e0067}\u{e0062}\u{e007f}',
    '\u3164',
    '\u2800 \u115f',
    'a\u061cb',
    'a\u115fb',
    'a\u1160b',
    'a\u3164b',
    'a\uffa0b',
  ])('rejects %j', (text) => {
    expect(parseLine(text, 10)).toBeUndefined()
  })

  it('rejects long text in less than 500 ms', () => {
    const startedAt = performance.now()
    expect(parseLine(`${' '.repeat(60_000)}\u0000`, 100)).toBeUndefined()
    expect(parseLine('\u200b'.repeat(60_000), 100_000)).toBeUndefined()
    expect(performance.now() - startedAt).toBeLessThan(500)
  })
})

describe('parseName', () => {
  it.each(['Grace Hopper', 'www', 'a:b/c', 'AC/DC', 'example.com'])('accepts %j', (text) => {
    expect(parseName(text)).toBe(text)
  })

  it.each(['https://evil.example', 'Grace ftp://x', 'www.evil.example', 'Grace WwW.evil', 'a\u3164b'])(
    'rejects %j',
    (text) => {
      expect(parseName(text)).toBeUndefined()
    },
  )
})

describe('requireLines', () => {
  it.each([
    '\u2067a\u2069',
    'ខ្មែរ\u200bខ្មែរ',
    'hy\u00adphen',
    '\ufeffa',
    'a\r\nb\u2060c',
    'a\u061cb',
    'a\u3164b',
  ])('accepts %j', (text) => {
    expect(requireLines(text, 100, 'summary')).toBe(normalizeLines(text))
  })

  it.each(['a\u202eb', 'a\u202db', 'a\u{e0041}b', 'a\u206ab', '\u3164\n\u3164'])('rejects %j', (text) => {
    expect(() => requireLines(text, 100, 'summary')).toThrow()
  })
})

describe('parseQuery', () => {
  it('accepts 100 code points, and rejects more as text_invalid', () => {
    expect(parseQuery('🧑'.repeat(100))).toBe('🧑'.repeat(100))
    expect(() => parseQuery('🧑'.repeat(101))).toThrow(
      expect.objectContaining({ code: 'text_invalid', field: 'query' }),
    )
  })
})

describe('cleanLine', () => {
  it.each([
    ['Claude', 'Claude'],
    [' \u202eedualC\u202c\u0007 ', 'edualC'],
    ['Cla\u200bude\n', 'Claude'],
    ['a\u{e0041}\u{e0042}', 'a'],
    ['x'.repeat(200), 'x'.repeat(20)],
    ['👩🏽‍💻', '👩🏽‍💻'],
    ['\u202e\u3164', undefined],
    ['', undefined],
  ])('converts %j to %j', (text, shown) => {
    expect(cleanLine(text, 20)).toBe(shown)
  })
})
