import { describe, expect, it } from 'vitest'
import { issuesMax } from '../../src/http/requests/validation.ts'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const { as, createPerson } = await startTestApp()
const person = await createPerson()
const create = { method: 'POST', url: '/v1/workspaces/nowhere/seeds' } as const
const seed = { title: 'A title', summary: 'A summary' }
const bodyBytesMax = 64 * 1024

describe('the issues of an invalid body', () => {
  it('reports only the length of an array that is too long, whatever its items', async () => {
    const successCriteria = Array<number>((bodyBytesMax - 100) / 2).fill(0)
    const answer = await as(person, { ...create, payload: { ...seed, successCriteria } })
    expectError(answer, errors.decodeError, {
      issues: [
        { _tag: 'Refinement', path: ['successCriteria'], message: 'must NOT have more than 20 items' },
      ],
    })
  })

  it('reports all invalid items of an array within its length limit', async () => {
    const answer = await as(person, {
      ...create,
      payload: { ...seed, successCriteria: ['fine', 1, '', true] },
    })
    const { issues } = answer.json<{ issues: { path: unknown[] }[] }>()
    expect(issues.map(({ path }) => path)).toEqual([
      ['successCriteria', 1],
      ['successCriteria', 2],
      ['successCriteria', 3],
    ])
  })

  it('reports other fields beside an array that is too long', async () => {
    const answer = await as(person, {
      ...create,
      payload: { summary: 5, successCriteria: Array<number>(21).fill(0) },
    })
    const { issues } = answer.json<{ issues: { path: unknown[] }[] }>()
    expect(issues.map(({ path }) => path)).toEqual([['title'], ['summary'], ['successCriteria']])
  })

  it('reports at most 100 issues', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, 0]))
    const answer = await as(person, { ...create, payload: { ...unknown, ...seed } })
    expect(answer.statusCode).toBe(400)
    const { issues } = answer.json<{ issues: { _tag: string; path: unknown[] }[] }>()
    expect(issues).toHaveLength(issuesMax)
    expect(issues[99]).toMatchObject({ _tag: 'Unexpected', path: ['x99'] })
    expect(issuesMax).toBe(100)
  })
})
