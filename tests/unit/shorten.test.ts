import { describe, expect, it } from 'vitest'
import { toPlainText } from '../../src/kernel/markdown.ts'
import { shorten } from '../../src/kernel/text.ts'

describe('shorten', () => {
  it('leaves what is short enough as it is', () => {
    expect(shorten('a b', 3)).toBe('a b')
    expect(shorten('👩'.repeat(5), 5)).toBe('👩'.repeat(5))
  })

  it.each([
    ['ends with a whole word', 'one two three', 10, 'one two…'],
    ['cuts a long word', `a ${'x'.repeat(100)}`, 60, `a ${'x'.repeat(57)}…`],
    [
      'cuts text without spaces',
      '請求書を音声で入力する仕組みについて現場の人に聞きました。'.repeat(4),
      50,
      null,
    ],
    ['cuts no emoji of several code points', '👨‍👩‍👧‍👦'.repeat(20), 50, null],
    ['cuts no letter from its accents', 'e\u0301'.repeat(60), 50, `${'e\u0301'.repeat(24)}…`],
    ['leaves out an address that does not fit', `See https://example.com/${'y'.repeat(100)}`, 60, 'See…'],
    ['bounds a character of endless accents', `a${'\u0301'.repeat(100)}`, 50, `a${'\u0301'.repeat(48)}…`],
  ])('%s', (_, text, lengthMax, expected) => {
    const short = shorten(text, lengthMax)
    if (expected !== null) expect(short).toBe(expected)
    expect(Array.from(short).length).toBeLessThanOrEqual(lengthMax)
    const kept = short.slice(0, -1)
    expect(short.at(-1)).toBe('…')
    expect(text.startsWith(kept)).toBe(true)
  })

  it('keeps characters whole', () => {
    const family = '👨‍👩‍👧‍👦'
    const kept = shorten(family.repeat(20), 50).slice(0, -1)
    expect(kept.replaceAll(family, '')).toBe('')
    expect(kept).not.toBe('')
  })
})

describe('toPlainText', () => {
  it('has the words of a text with its lines, without Markdown and the targets of links', () => {
    const text =
      'See [here](https://evil.example) *this*\nand\n\n- one\n- **two** `x`\n\n> said\n\n```\na  b\n```\n1 < 2'
    expect(toPlainText(text)).toBe('See here this\nand\none\ntwo x\nsaid\na  b\n1 < 2')
  })
})
