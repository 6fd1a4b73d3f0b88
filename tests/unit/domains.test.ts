import { describe, expect, it } from 'vitest'
import { isPublicMailDomain, parseDomains } from '../../src/kernel/domains.ts'
import { expectLinear } from '../support/expect-linear.ts'

describe('parseDomains', () => {
  it.each([
    ['', []],
    [' ,\t\n, ', []],
    ['acme.example', ['acme.example']],
    ['@acme.example,b.example;c.example', ['acme.example', undefined]],
    ['A.example a.EXAMPLE', ['a.example']],
    ['faß.example', ['xn--fa-hia.example']],
    ['straße.example STRASSE.example', ['xn--strae-oqa.example', 'strasse.example']],
    ['a。example', ['a.example']],
    ['münchen.example xn--mnchen-3ya.example', ['xn--mnchen-3ya.example']],
    ['one two', [undefined]],
    ['@@acme.example', [undefined]],
    ['acme.example/x acme.example:25 acme.example?x acme.example#x a\\b.example %61.example', [undefined]],
    [`${'a'.repeat(63)}.example`, [`${'a'.repeat(63)}.example`]],
    [`${'a'.repeat(64)}.example`, [undefined]],
    ['1.2.3.4 0x7f.1 a.1', [undefined]],
  ])('parses %j', (text, domains) => {
    expect(parseDomains(text)).toEqual(domains)
  })

  it.each(['a.', ' ', '@'])('parses %j many times in time in proportion to the length', (part) =>
    expectLinear((length) => parseDomains(part.repeat(length / part.length)), 4_000),
  )
})

describe('isPublicMailDomain', () => {
  it.each([
    'gmail.com',
    'googlemail.com',
    'outlook.com',
    'hotmail.com',
    'yahoo.com',
    'icloud.com',
    'proton.me',
    'gmx.de',
    'web.de',
    'qq.com',
    '163.com',
    'mail.ru',
    'yandex.ru',
    'mailinator.com',
  ])('returns true for %s', (domain) => {
    expect(isPublicMailDomain(domain)).toBe(true)
  })

  it.each([
    'example.com',
    'example.net',
    'example.org',
    'ibm.com',
    'mit.edu',
    'acme.example',
    'notgmail.com',
    'gmail.com.acme.example',
  ])('returns false for %s', (domain) => {
    expect(isPublicMailDomain(domain)).toBe(false)
  })
})
