import { describe, expect, it } from 'vitest'
import {
  cleanLine,
  findFault,
  normalizeLines,
  normalizeLine,
  parseLine,
  parseName,
  parseQuery,
  requireLines,
  withoutRefused,
} from '../../src/kernel/text.ts'
import { expectLinear } from '../support/expect-linear.ts'

describe('normalizeLine', () => {
  it.each([
    ['  Ada ', 'Ada'],
    ['\u00a0Ada\u3000', 'Ada'],
    ['Ame\u0301lie', 'Am\u00e9lie'],
    ['\u212b', '\u00c5'],
    ['Ada  Lovelace', 'Ada Lovelace'],
    ['T a\u00a0b', 'T a b'],
    ['a\tb\nc\rd\r\ne\vf\fg\u0085h\u2028i\u2029j', 'a b c d e f g h i j'],
    ['a \u2003\u3000\u202f\t b', 'a b'],
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
    'a\u001fb',
    'a\u007fb',
    'a\u0084b',
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

  it('rejects long text in time in proportion to its length', async () => {
    await expectLinear(
      (length) => expect(parseLine(`${' '.repeat(length)}\u0000`, 100)).toBeUndefined(),
      20_000,
    )
    await expectLinear(
      (length) => expect(parseLine('\u200b'.repeat(length), 100_000)).toBeUndefined(),
      20_000,
    )
  })
})

describe('parseName', () => {
  it.each([
    'Grace Hopper',
    'www',
    'a:b/c',
    'AC/DC',
    'example.com',
    'Booking.com',
    'Node.js and A/B',
    'J. R. R./Tolkien',
    '1.Herren/Damen',
    'St./Saint',
    '1.Stock/Keller',
    '163.com',
  ])('accepts %j', (text) => {
    expect(parseName(text)).toBe(text)
  })

  it.each([
    'https://evil.example',
    'Grace ftp://x',
    'www.evil.example',
    'Grace WwW.evil',
    'a\u3164b',
    'evil.test/pay',
    'Grace evil.test/',
    'evil1.test/pay',
    'evil.test:8080/pay',
    'a.b.example/pay',
    'экзампл.рф/x',
    'evil.XN--P1AI/x',
    '163.com/pay',
    'evil12345678901.test/pay',
    'Grace a-b.photography:443/',
  ])('rejects %j', (text) => {
    expect(parseName(text)).toBeUndefined()
  })
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
    'a\tb',
    'a\u00a0b',
  ])('accepts %j', (text) => {
    expect(requireLines(text, 100, 'summary')).toBe(normalizeLines(text))
  })

  it.each([
    ['Name\tCount\nA\t1', 'Name\tCount\nA\t1'],
    ['a\r\nb', 'a\nb'],
    ['a\u2028b\u2029c\vd\fe\u0085f', 'a\nb\nc\nd\ne\nf'],
    ['a\u0085', 'a'],
  ])('stores %j as %j', (text, stored) => {
    expect(requireLines(text, 100, 'summary')).toBe(stored)
  })

  it.each(['a\rb', 'a\u0001b', 'a\u202eb', 'a\u202db', 'a\u{e0041}b', 'a\u206ab', '\u3164\n\u3164'])(
    'rejects %j',
    (text) => {
      expect(() => requireLines(text, 100, 'summary')).toThrow()
    },
  )
})

describe('findFault', () => {
  it.each([
    ['sixteen letters.\u0000', 'line', 'must not contain U+0000 (character 17)'],
    ['🧑\u0000', 'lines', 'must not contain U+0000 (character 2)'],
    ['a\ud800', 'line', 'must not contain U+D800 (character 2)'],
    ['a\u{e0041}', 'lines', 'must not contain U+E0041 (character 2)'],
    [
      '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u0007',
      'line',
      'must not contain U+0007 (character 8)',
    ],
    ['a\rb', 'lines', 'must not contain U+000D (character 2)'],
    [' \t\n', 'line', 'must not be blank'],
    ['\u3164\n', 'lines', 'must not be blank'],
    ['xxxxxxxxxxxxxxxxxxxxx', 'line', 'must be at most 20 characters'],
    ['x.test/pay', 'name', 'must not contain a web address: `://`, `www.`, or a domain followed by `/`'],
    ['a\u001bb', 'query', 'must not contain U+001B (character 2)'],
    ['http://a b', 'url', 'must not contain U+0020 (character 9)'],
    ['ftp://a', 'url', 'must be an http or https URL'],
    ['https://', 'url', 'must be an http or https URL'],
  ] as const)('says of %j as %s that it %s', (text, rule, fault) => {
    expect(findFault(text, rule, 20)).toBe(fault)
  })

  it.each([
    ['a\tb', 'query'],
    ['', 'query'],
    ['a\ud800', 'query'],
    ['🧑'.repeat(20), 'line'],
    ['HTTPS://a', 'url'],
  ] as const)('finds nothing wrong with %j as %s', (text, rule) => {
    expect(findFault(text, rule, 20)).toBeUndefined()
  })

  it.each(['line', 'name', 'lines', 'query', 'url'] as const)(
    'reads a text as %s in time in proportion to its length',
    async (rule) => {
      for (const part of [' ', 'a.', 'a.1', 'a1', '\u200b', '🏴', '\u{e0067}', '\t', '\r\n', '\r', 'www'])
        await expectLinear(
          (length) => findFault(part.repeat(length / part.length), rule),
          30_000,
          JSON.stringify(part),
        )
    },
  )
})

describe('withoutRefused', () => {
  it('keeps the words of several lines apart', () => {
    expect(withoutRefused('Name\tCount\nA\u202e1')).toBe('Name Count A1')
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
