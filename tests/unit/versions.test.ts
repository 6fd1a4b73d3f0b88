import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import {
  assertExpected,
  parseExpected,
  parseTags,
  tagOf,
  versionOfFields,
} from '../../src/kernel/versions.ts'
import { expectLinear } from '../support/expect-linear.ts'

describe('versionOfFields', () => {
  const seed = { title: 'A', summary: 'B', updatedAt: 1 }

  it('is the same for the same values of the named fields, in any order', () => {
    const version = versionOfFields(seed, ['title', 'summary'])
    expect(version).toMatch(/^[\w-]{16}$/)
    expect(versionOfFields({ ...seed, updatedAt: 2 }, ['summary', 'title'])).toBe(version)
  })

  it('is another one for other values, also when they are only divided differently', () => {
    const versions = [
      seed,
      { ...seed, title: 'C' },
      { ...seed, title: 'B', summary: 'A' },
      { ...seed, title: 'AB', summary: '' },
    ].map((fields) => versionOfFields(fields, ['title', 'summary']))
    expect(new Set(versions).size).toBe(versions.length)
  })
})

describe('parseTags', () => {
  it.each<[header: string, tags: string[] | '*']>([
    ['*', '*'],
    [' * ', '*'],
    ['"a.b"', ['"a.b"']],
    ['W/"a.b"', ['"a.b"']],
    ['"a", W/"b,c" ,"d"', ['"a"', '"b,c"', '"d"']],
    ['""', ['""']],
    ['"a-gzip", W/"a-br", "a-zstd", "a-df", "a-gz"', ['"a"', '"a"', '"a"', '"a"', '"a-gz"']],
    ['a.b', []],
    ['', []],
    ['"a', []],
    ['"a b"', []],
    ['"*"', ['"*"']],
  ])('reads %s', (header, tags) => {
    const found = parseTags(header)
    expect(found === '*' ? found : found.map(({ tag }) => tag)).toEqual(tags)
  })

  it('takes time in proportion to the length of the header', () =>
    expectLinear((length) => parseTags('"x'.repeat(length / 2)), 8_000))
})

describe('assertExpected', () => {
  const accepts = (header: string | undefined, version: string) => {
    try {
      assertExpected(header === undefined ? {} : { expected: parseExpected(header) }, version)
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: errors.preconditionFailed.code, status: 412 })
      return false
    }
  }

  it('compares the version of each tag, and not the digest of the response', () => {
    const tag = tagOf('v1', 'a response')
    expect(accepts(undefined, 'v1')).toBe(true)
    expect(accepts('*', 'v1')).toBe(true)
    expect(accepts(tag, 'v1')).toBe(true)
    expect(accepts(tagOf('v1', 'another response'), 'v1')).toBe(true)
    expect(accepts(`"other.x", W/${tag}`, 'v1')).toBe(true)
    expect(accepts(tag, 'v2')).toBe(false)
    expect(accepts('v1.x', 'v1')).toBe(false)
    expect(accepts('', 'v1')).toBe(false)
  })
})
