import { describe, expect, it } from 'vitest'
import { createApiKeySecret, hashSecret, isWellFormedApiKey } from '../../src/kernel/tokens.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a new API key', () => {
  it.each(['wsk', 'a1', 'abcdefghijklmnop'])(
    'consists of the prefix %s, an underscore and 36 characters',
    (prefix) => {
      const { secret, tokenPrefix, lastFour } = createApiKeySecret(prefix)
      expect(secret).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{36}$`))
      expect(tokenPrefix).toBe(secret.slice(0, prefix.length + 1 + 4))
      expect(lastFour).toBe(secret.slice(-4))
      expect(isWellFormedApiKey(secret)).toBe(true)
    },
  )

  it('exposes only eight of its characters', () => {
    const { secret, tokenPrefix, lastFour } = createApiKeySecret('wsk')
    expect(tokenPrefix).toHaveLength('wsk_'.length + 4)
    expect(secret.length - tokenPrefix.length - lastFour.length).toBe(28)
  })

  it('is unique', () => {
    const secrets = Array.from({ length: 10_000 }, () => createApiKeySecret('wsk').secret)
    expect(new Set(secrets).size).toBe(secrets.length)
  })

  it('uses all characters with equal probability', () => {
    const counts = new Map<string, number>()
    const keys = 2_000
    for (let i = 0; i < keys; i++) {
      for (const character of createApiKeySecret('wsk').secret.slice(4, 34)) {
        counts.set(character, (counts.get(character) ?? 0) + 1)
      }
    }
    expect([...counts.keys()].toSorted().join('')).toBe(alphabet)
    const expected = (keys * 30) / alphabet.length
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 61 degrees of freedom: by chance once in 10^15 runs. Bytes taken modulo 62 would give about 400.
    expect(chiSquare).toBeLessThan(190)
  })
})

describe('the checksum of an API key', () => {
  it.each([
    'wsk_0000000000000000000000000000003qGrRG',
    'wsk_0123456789ABCDEFGHIJKLMNOPQRST1alQWJ',
    'acme2_zyxwvutsrqponmlkjihgfedcbaZYXW3zRrJq',
  ])('is the base62 CRC-32 of the rest: %s', (key) => {
    expect(isWellFormedApiKey(key)).toBe(true)
  })

  it('detects every change of a single character', () => {
    const { secret } = createApiKeySecret('wsk')
    const accepted: string[] = []
    let tried = 0
    for (let i = 0; i < secret.length; i++) {
      for (const character of `${alphabet}_- é`) {
        if (character === secret[i]) continue
        const changed = secret.slice(0, i) + character + secret.slice(i + 1)
        tried++
        if (isWellFormedApiKey(changed)) accepted.push(changed)
      }
    }
    expect(tried).toBeGreaterThan(secret.length * 60)
    expect(accepted).toEqual([])
  })

  it('detects swapped neighbouring characters', () => {
    const { secret } = createApiKeySecret('wsk')
    for (let i = 0; i < secret.length - 1; i++) {
      const [one, two] = [secret.charAt(i), secret.charAt(i + 1)]
      if (one === two) continue
      expect(isWellFormedApiKey(secret.slice(0, i) + two + one + secret.slice(i + 2))).toBe(false)
    }
  })

  it.each([
    ['an empty string', () => ''],
    ['a key without its last character', (key: string) => key.slice(0, -1)],
    ['a key without its first character', (key: string) => key.slice(1)],
    ['a key with an extra character', (key: string) => `${key}0`],
    ['a key with a line break after it', (key: string) => `${key}\n`],
    ['a key with a space before it', (key: string) => ` ${key}`],
    ['a key in upper case', (key: string) => key.toUpperCase()],
    ['a key without its prefix', (key: string) => key.slice(4)],
    ['a megabyte', () => 'a'.repeat(1_000_000)],
    ['a megabyte that begins like a key', (key: string) => key.repeat(25_000)],
  ])('rejects %s', (_name, make) => {
    expect(isWellFormedApiKey(make(createApiKeySecret('wsk').secret))).toBe(false)
  })
})

describe('the stored hash of a secret', () => {
  it('is its SHA-256 hash', () => {
    // FIPS 180-2, appendix B.1.
    expect(hashSecret('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})
