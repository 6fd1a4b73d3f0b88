import { describe, expect, it } from 'vitest'
import { canonicalDomainOf, canonicalizeEmail, parseEmail } from '../../src/kernel/email.ts'
import { expectLinear } from '../support/expect-linear.ts'

describe('parseEmail', () => {
  it.each([
    'ada@example.com',
    'Ada.Lovelace+work@Example.COM',
    "o'brien@mail.example.co.uk",
    'ü@bücher.example',
    '用户@例子.公司',
    `${'x'.repeat(64)}@example.com`,
  ])('returns %s unchanged', (address) => {
    expect(parseEmail(address)).toBe(address)
  })

  it.each(['  ada@example.com\n', '\uFEFFada@example.com\u200B', '\u200E\u2060 ada@example.com\u00A0\u00AD'])(
    'removes white space and invisible characters around %j',
    (text) => {
      expect(parseEmail(text)).toBe('ada@example.com')
    },
  )

  it('trims a long text in time in proportion to its length', () =>
    expectLinear((length) => expect(parseEmail(`a${' '.repeat(length)}b`)).toBeUndefined(), 15_000))

  it.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@localhost',
    'ada@example.',
    'ada@@example.com',
    'ada lovelace@example.com',
    'ada@exam ple.com',
    'Ada <ada@example.com>',
    'ada@example.com,bob@example.com',
    'ada@example.com\u0000',
    'ada@example.com\r\nBcc: bob@example.com',
    'ada\u200b@example.com',
    `${'x'.repeat(243)}@example.com`,
    'vi\u212ator@example.com',
    'ada@ma\u0130l.example',
    'ada@\uff4dail.example',
    'ada@mail\ufe0f.example',
    'ada@mail\u3002example.com',
    'ada@bücher\u3002mail.example',
    'ada@xn--a.example',
    '\ufb01@example.com',
    'ada\u037e@example.com',
    'ada\ufe0f@example.com',
    `${'x'.repeat(65)}@example.com`,
    `${'ü'.repeat(33)}@example.com`,
    `ada@${'x'.repeat(64)}.example`,
    `ada@${'ü'.repeat(60)}.example`,
    'ada@1.2.3.4',
    'ada@[1.2.3.4]',
    'ada@[IPv6:::1]',
    'ada@example.123',
    'ada@1.2.3.0x4',
    '\u200B',
  ])('rejects %j', (address) => {
    expect(parseEmail(address)).toBeUndefined()
  })

  it('accepts 254 characters', () => {
    const address = `${'x'.repeat(62)}@${'y'.repeat(63)}.${'z'.repeat(63)}.${'y'.repeat(63)}`.slice(0, 254)
    expect(address).toHaveLength(254)
    expect(parseEmail(address)).toBe(address)
  })
})

describe('canonicalizeEmail', () => {
  it.each([
    ['Ada.Lovelace+work@Example.COM', 'ada.lovelace+work@example.com'],
    ['INFO@I.example', 'info@i.example'],
    ['ü@bücher.example', 'ü@xn--bcher-kva.example'],
    ['U\u0308@BU\u0308CHER.example', 'ü@xn--bcher-kva.example'],
    ['ü@xn--bcher-kva.example', 'ü@xn--bcher-kva.example'],
    ['ü@XN--BCHER-KVA.example', 'ü@xn--bcher-kva.example'],
    ['ΟΔΟΣ@example.com', 'οδοσ@example.com'],
    ['x@faß.example', 'x@xn--fa-hia.example'],
    ['x@my_host.example', 'x@my_host.example'],
  ])('converts %s to %s', (address, canonical) => {
    expect(canonicalizeEmail(address)).toBe(canonical)
    expect(canonicalizeEmail(canonical)).toBe(canonical)
    expect(parseEmail(address)).toBe(address)
  })

  it('converts no address with other characters to an ASCII address', () => {
    const taken: string[] = []
    // Where Unicode has characters that stand for others.
    const blocks = [
      [0x80, 0xd7ff],
      [0xe000, 0xffff],
      [0x1d400, 0x1f2ff],
      [0xe0000, 0xe01ef],
    ] as const
    const codes = blocks.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
    for (const code of codes) {
      const character = String.fromCodePoint(code)
      // Ideographs and syllables stand for themselves.
      if (/\p{Script=Hangul}|[\u4e00-\u9fff]/u.test(character)) continue
      for (const address of [`a${character}b@example.com`, `a@b${character}c.example`]) {
        const canonical = parseEmail(address) && canonicalizeEmail(address)
        if (canonical === undefined) continue
        const isAscii = /^[ -~]*$/.test(canonical) && !canonical.includes('@xn--')
        if (isAscii || canonicalizeEmail(canonical) !== canonical) taken.push(code.toString(16))
      }
    }
    expect(taken).toEqual([])
  })
})

describe('canonicalDomainOf', () => {
  it('is the domain of the canonical address', () => {
    expect(canonicalDomainOf('Ada@BÜCHER.example')).toBe('xn--bcher-kva.example')
    expect(canonicalDomainOf('ada@ma\u0130l.example')).not.toBe('mail.example')
  })
})
