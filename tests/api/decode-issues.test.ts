import { describe, expect, it } from 'vitest'
import { issuesMax } from '../../src/http/requests/validation.ts'
import { errors, type DecodeIssue } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const { as, createPerson } = await startTestApp()
const person = await createPerson()
const create = { method: 'POST', url: '/v1/workspaces/nowhere/seeds' } as const
const seed = { title: 'A title', summary: 'A summary' }
const bodyBytesMax = 64 * 1024

describe('the messages of issues', () => {
  const messagesOf = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const answer = await as(person, { method, url, ...(payload && { payload }) })
    expectError(answer, errors.decodeError, { issues: expect.anything() as unknown as DecodeIssue[] })
    const { issues } = answer.json<{ issues: DecodeIssue[] }>()
    return issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  }

  it('name the character that is refused, and its place', async () => {
    const payload = { title: 'sixteen letters.\0', summary: ' \n', successCriteria: ['🧑\u202e'] }
    expect(await messagesOf('POST', create.url, payload)).toEqual([
      'title must not contain U+0000 (character 17)',
      'summary must not be blank',
      'successCriteria.0 must not contain U+202E (character 2)',
    ])
  })

  it.each<[method: 'GET' | 'POST', url: string, payload: object | undefined, messages: string[]]>([
    ['POST', create.url, { ...seed, title: 'x'.repeat(121) }, ['title must be at most 120 characters']],
    ['POST', create.url, { ...seed, title: '' }, ['title must not be blank']],
    ['POST', create.url, { ...seed, problem: '\t' }, ['problem must not be blank']],
    [
      'POST',
      '/v1/workspaces',
      { name: 'evil.test/pay', slug: 'No Slug' },
      [
        'name must not contain a web address: `://`, `www.`, or a domain followed by `/`',
        'slug must be of the characters a-z and 0-9, and single hyphens between them',
      ],
    ],
    ['GET', '/v1/workspaces/nowhere/search?q=%00', undefined, ['q must not contain U+0000 (character 1)']],
    [
      'GET',
      '/v1/workspaces/nowhere/search?q=a&kinds=x',
      undefined,
      ['kinds must be of these, separated by commas: seed, evidence, comment, person, team'],
    ],
    [
      'GET',
      '/v1/workspaces/nowhere/events?since=x',
      undefined,
      ['since must be a date or a time (RFC 3339)'],
    ],
    [
      'POST',
      '/v1/seeds/x/evidence',
      { kind: 'note', verdict: 'neutral', summary: 'x', sourceUrl: 'ftp://x' },
      ['sourceUrl must be an http or https URL'],
    ],
    ['POST', '/v1/seeds/x/comments', { body: '\u0001' }, ['body must not contain U+0001 (character 1)']],
  ])('say what is wrong: %s %s %j', async (method, url, payload, messages) => {
    expect(await messagesOf(method, url, payload)).toEqual(messages)
  })

  it.each(['0x10', '1e2', '%201', '1%20', '%2B5', '1.0', '1_0', '', 'Infinity', '9'.repeat(400)])(
    'say that limit=%s is no integer',
    async (limit) => {
      expect(await messagesOf('GET', `/v1/workspaces/nowhere/seeds?limit=${limit}`)).toEqual([
        'limit must be integer',
      ])
    },
  )

  it.each(['0', '-1', '201', '9'.repeat(20)])('say that limit=%s is out of range', async (limit) => {
    const [message] = await messagesOf('GET', `/v1/workspaces/nowhere/seeds?limit=${limit}`)
    expect(message).toMatch(/^limit must be [<>]= \d+$/)
  })

  it.each(['1', '200', '007'])('limit=%s is an integer', async (limit) => {
    const answer = await as(person, { method: 'GET', url: `/v1/workspaces/nowhere/seeds?limit=${limit}` })
    expectError(answer, errors.notFound)
  })
})

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
