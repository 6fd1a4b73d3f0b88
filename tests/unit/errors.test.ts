import { describe, expect, it } from 'vitest'
import { ApiError, errors, statusOfTag } from '../../src/kernel/errors.ts'
import { checkEach } from '../support/check-each.ts'

const catalogue = Object.entries(errors)

const itOfEach = (title: string, check: (row: (typeof catalogue)[number]) => void) =>
  it(title, () => checkEach(catalogue, ([name]) => name, check))

describe('the error catalogue', () => {
  it('gives each error a unique code, derived from the name of its factory', () => {
    const codes = catalogue.map(([, factory]) => factory.code)
    expect(new Set(codes).size).toBe(codes.length)
    for (const [name, { code }] of catalogue) {
      expect(code).toBe(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    }
  })

  it('has a sentence as the message of each error', () => {
    const messages = catalogue.map(([, { message }]) => message)
    expect(messages.filter((message) => !/^[A-Z].*\.$/.test(message))).toEqual([])
  })

  itOfEach('creates an error with the status of its tag', ([, factory]) => {
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

describe('an error of the catalogue', () => {
  it('has the fields and the cause of one occurrence', () => {
    const cause = new Error('the reason')
    const issues = [{ _tag: 'Missing' as const, path: ['name'], message: 'is required' }]
    expect(errors.decodeError({ issues, cause })).toMatchObject({ issues, cause })
    expect(errors.nameInvalid({ field: 'name' })).toMatchObject({ field: 'name' })
    expect(errors.notReady({ retryAfterSeconds: 5 })).toMatchObject({ retryAfterSeconds: 5 })
  })

  it('shares no data with another occurrence', () => {
    errors.decodeError().issues.push({ _tag: 'Missing', path: [], message: 'is required' })
    expect(errors.decodeError().issues).toEqual([])
  })
})
