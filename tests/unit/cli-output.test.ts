import { describe, expect, it } from 'vitest'
import { countOf, formatJson, formatTable, formatTime, toVisible } from '../../src/cli/output.ts'

const texts: [text: string, visible: string][] = [
  ['Grace Hopper', 'Grace Hopper'],
  ['\u001b[31mred\u001b[0m', '\\u{1b}[31mred\\u{1b}[0m'],
  ['a\u0007\r\nb', 'a\\u{7}\\u{d}\\u{a}b'],
  ['\u009b2J', '\\u{9b}2J'],
  ['a\u202egpj.exe', 'a\\u{202e}gpj.exe'],
  ['a\u2028b\u2066', 'a\\u{2028}b\\u{2066}'],
  ['\ufeffx\ud800', '\\u{feff}x\\u{d800}'],
  ['漢字 ünï 👩🏽‍💻', '漢字 ünï 👩🏽‍💻'],
]

describe('text in a terminal', () => {
  it.each(texts)('%j is shown as %j', (text, visible) => {
    expect(toVisible(text)).toBe(visible)
  })

  it.each(texts)('%j is unchanged after it is written as JSON and parsed', (text) => {
    for (const isForPeople of [true, false]) {
      const json = formatJson({ text }, isForPeople)
      expect(JSON.parse(json)).toEqual({ text })
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\u202e\u2028\u2066\ufeff]/u)
    }
  })
})

describe('a table in a terminal', () => {
  const rows = [
    { name: 'Ada', count: 1, note: null },
    { name: '漢字', count: 200, note: '\u001b[2J' },
  ]
  const lines = formatTable(rows, [
    { title: 'NAME', valueOf: ({ name }) => name },
    { title: 'COUNT', valueOf: ({ count }) => count },
    { title: 'NOTE', valueOf: ({ note }) => note },
  ])

  it('aligns its columns, also with wide characters, and escapes control characters', () => {
    expect(lines).toEqual(['NAME  COUNT  NOTE', 'Ada   1      -', '漢字  200    \\u{1b}[2J'])
  })
})

it('formats counts and times for people', () => {
  expect([0, 1, 2].map((count) => countOf(count, 'user'))).toEqual(['0 users', '1 user', '2 users'])
  expect(formatTime('2026-11-21T03:04:05.678Z')).toBe('2026-11-21 03:04')
  expect(formatTime(null)).toBeNull()
})
