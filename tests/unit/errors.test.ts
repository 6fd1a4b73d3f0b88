import { describe, expect, it } from 'vitest'
import { ApiError, errors, statusOfTag } from '../../src/kernel/errors.ts'
import { checkEach } from '../support/check-each.ts'

const catalogue = Object.entries(errors)

const itOfEach = (title: string, check: (row: (typeof catalogue)[number]) => void) =>
  it(title, () => checkEach(catalogue, ([name]) => name, check))

describe('the catalogue', () => {
  it('gives each condition a code of its own, named like its factory', () => {
    const codes = catalogue.map(([, factory]) => factory.code)
    expect(new Set(codes).size).toBe(codes.length)
    for (const [name, { code }] of catalogue) {
      expect(code).toBe(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    }
  })

  it('has messages for people', () => {
    const messages = catalogue.map(([, { message }]) => message)
    expect(messages.filter((message) => !/^[A-Z].*\.$/.test(message))).toEqual([])
  })

  itOfEach('makes an error of its status', ([, factory]) => {
    const error = factory()
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ApiError',
      tag: factory.tag,
      code: factory.code,
      message: factory.message,
      status: statusOfTag[factory.tag],
      field: null,
      issues: [],
      retryAfterSeconds: undefined,
    })
    expect(error).not.toHaveProperty('cause')
  })
})

describe('an error', () => {
  it('carries what one occurrence adds', () => {
    const cause = new Error('the reason')
    const issues = [{ _tag: 'Missing' as const, path: ['name'], message: 'is required' }]
    expect(errors.decodeError({ issues, cause })).toMatchObject({ issues, cause })
    expect(errors.nameInvalid({ field: 'name' })).toMatchObject({ field: 'name' })
    expect(errors.notReady({ retryAfterSeconds: 5 })).toMatchObject({ retryAfterSeconds: 5 })
  })

  it('shares nothing with the next', () => {
    errors.decodeError().issues.push({ _tag: 'Missing', path: [], message: 'is required' })
    expect(errors.decodeError().issues).toEqual([])
  })
})
