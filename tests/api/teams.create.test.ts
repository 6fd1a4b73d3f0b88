import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createTeam, get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, db } = service

const findNames = async ({ id }: { id: string }) =>
  (
    await selectRows<{ name: string }>(
      db,
      sql`select name from teams where workspace_id = ${id} order by name`,
    )
  ).map(({ name }) => name)

describe('200', () => {
  it('creates a team, and appends an event', async () => {
    const { url, workspace, admin } = await createCompany(service)
    const answer = await as(admin, post(`${url}/teams`, { name: 'Design' }))
    expect(answer.statusCode).toBe(200)
    const { team } = answer.json<{ team: { id: string } }>()
    expect(answer.json()).toEqual({
      ok: true,
      team: { id: team.id, name: 'Design', memberCount: 0, createdAt: clock.now().toISOString() },
    })
    expect((await as(admin, get(`${url}/teams`))).json()).toEqual([team])
    expect(await findNames(workspace)).toEqual(['Design'])
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'team', id: team.id },
        { type: 'team.created', summary: 'Adam Admin created the team Design' },
      ),
    )
  })

  it('accepts a name of 64 characters, and stores it trimmed and normalized', async () => {
    const { url, workspace, owner } = await createCompany(service)
    for (const name of [` ${'e\u0301'.repeat(31)}\u00a0`, '🧑'.repeat(64)])
      expect((await as(owner, post(`${url}/teams`, { name }))).statusCode, name).toBe(200)
    expect((await findNames(workspace)).toSorted()).toEqual(['é'.repeat(31), '🧑'.repeat(64)].toSorted())
  })

  it('stores white space of every kind as single spaces', async () => {
    const { url, workspace, owner } = await createCompany(service)
    expect((await as(owner, post(`${url}/teams`, { name: 'a\tb\r\nc\u00a0\u2028d' }))).statusCode).toBe(200)
    expect(await findNames(workspace)).toEqual(['a b c d'])
  })

  it('accepts the same name in two workspaces', async () => {
    for (const company of [await createCompany(service), await createCompany(service)])
      expect(await createTeam(service, company.owner, company, 'Design')).toMatchObject({ name: 'Design' })
  })
})

describe('400', () => {
  it.each([
    ['no name', {}, 'Missing', 'name'],
    ['null as name', { name: null }, 'Type', 'name'],
    ['a number as name', { name: 5 }, 'Type', 'name'],
    ['an empty name', { name: '' }, 'Refinement', 'name'],
    ['a name of spaces', { name: ' \u00a0\u3000' }, 'Refinement', 'name'],
    ['a name of invisible characters', { name: '\u200b\u2060' }, 'Refinement', 'name'],
    ['a name with NUL', { name: 'a\0b' }, 'Refinement', 'name'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 'Refinement', 'name'],
    ['an unknown field', { name: 'x', id: 'y' }, 'Unexpected', 'id'],
  ])('returns 400 for %s, and creates nothing', async (_name, body, tag, field) => {
    const { url, workspace, owner } = await createCompany(service)
    const answer = await as(owner, post(`${url}/teams`, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: tag, path: [field] }])
    expect(await findNames(workspace)).toEqual([])
  })
})

describe('401 and 403', () => {
  it('returns 401 without a key, and 403 to members, viewers and strangers', async () => {
    const { url, workspace, member, viewer } = await createCompany(service)
    expectError(await app.inject(post(`${url}/teams`, { name: 'x' })), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, post(`${url}/teams`, { name: 'x' })), errors.roleInsufficient)
    expectError(
      await as(await service.createPerson(), post(`${url}/teams`, { name: 'x' })),
      errors.notAMember,
    )
    expect(await findNames(workspace)).toEqual([])
  })
})

describe('409', () => {
  it('returns 409 team_name_taken for the name of another team, ignoring case and normalization form', async () => {
    const company = await createCompany(service)
    await createTeam(service, company.owner, company, 'Équipe Straße')
    for (const name of ['Équipe Straße', 'équipe straße', 'ÉQUIPE STRAßE', ' E\u0301quipe Straße '])
      expectError(await as(company.owner, post(`${company.url}/teams`, { name })), errors.teamNameTaken)
    expect(await findNames(company.workspace)).toEqual(['Équipe Straße'])
    expect(await findEvents(service, company.workspace)).toHaveLength(2)
  })

  it('returns 409 team_name_taken for a name that differs in white space, also from one that was stored with it', async () => {
    const company = await createCompany(service)
    const { id } = await createTeam(service, company.owner, company, 'T a b')
    const names = ['T a\u00a0b', 'T  a b', 't a\tb', 'T a\nb']
    for (const name of names)
      expectError(await as(company.owner, post(`${company.url}/teams`, { name })), errors.teamNameTaken)
    await db.execute(sql`update teams set name = ${'T a\u00a0\u3000b'} where id = ${id}`)
    for (const name of ['T a b', ...names])
      expectError(await as(company.owner, post(`${company.url}/teams`, { name })), errors.teamNameTaken)
    expect(await findNames(company.workspace)).toEqual(['T a\u00a0\u3000b'])
  })
})
