import { describe, expect, it } from 'vitest'
import { parseEmail } from '../../src/kernel/email.ts'

describe('parseEmail', () => {
  it.each([
    'ada@example.com',
    'Ada.Lovelace+work@Example.COM',
    "o'brien@mail.example.co.uk",
    'ü@bücher.example',
    '用户@例子.公司',
    `${'x'.repeat(64)}@example.com`,
  ])('takes %s as it is given', (address) => {
    expect(parseEmail(address)).toBe(address)
  })

  it('drops blanks around it', () => {
    expect(parseEmail('  ada@example.com\n')).toBe('ada@example.com')
  })

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
  ])('refuses %j', (address) => {
    expect(parseEmail(address)).toBeUndefined()
  })

  it('takes 254 characters', () => {
    const address = `${'x'.repeat(242)}@example.com`
    expect(address).toHaveLength(254)
    expect(parseEmail(address)).toBe(address)
  })
})
