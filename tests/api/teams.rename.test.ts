import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, patch } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, db } = service

const findName = async ({ id }: { id: string }) =>
  (await selectRows<{ name: string }>(db, sql`select name from teams where id = ${id}`))[0]?.name

describe('200', () => {
  it('changes the name, and appends an event', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company, 'Design')
    const answer = await as(company.admin, patch(team.url, { name: ' Research ' }))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findName(team)).toBe('Research')
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
      eventBy(
        company.admin,
        { type: 'team', id: team.id },
        { type: 'team.renamed', summary: 'Adam Admin renamed the team Design to Research' },
      ),
    )
  })

  it('can change only the case of the name, and appends no event when the name stays the same', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company, 'design')
    for (const name of ['Design', 'Design', ' Design '])
      expect((await as(company.owner, patch(team.url, { name }))).statusCode).toBe(200)
    expect(await findName(team)).toBe('Design')
    expect(await findEvents(service, company.workspace)).toHaveLength(3)
  })

  it('makes the previous name available', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company, 'Design')
    await as(company.owner, patch(team.url, { name: 'Research' }))
    expect(await createTeam(service, company.owner, company, 'DESIGN')).toMatchObject({ name: 'DESIGN' })
  })

  it('waits for other renames in the workspace, to avoid deadlocks', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company, 'Design')
    const client = await db.$client.connect()
    try {
      await client.query('begin')
      await client.query('select from workspaces where id = $1 for no key update', [company.workspace.id])
      const renaming = as(company.owner, patch(team.url, { name: 'Research' })).then((answer) => answer)
      await untilWaiting(service, 1)
      await client.query('rollback')
      expect((await renaming).statusCode).toBe(200)
    } finally {
      client.release(true)
    }
    expect(await findName(team)).toBe('Research')
  })
})

describe('400, 401, 403, 404 and 409', () => {
  it('returns 400 for an invalid body, 401 without a key, 403 to members and viewers, 404 for an unknown id and 409 for the name of another team, and changes nothing', async () => {
    const company = await createCompany(service)
    const { owner, member, viewer } = company
    const team = await createTeam(service, owner, company, 'Design')
    await createTeam(service, owner, company, 'Research')
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(65) }, { name: 'x', memberCount: 3 }]) {
      const answer = await as(owner, patch(team.url, body))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toHaveLength(1)
    }
    expectError(await app.inject(patch(team.url, { name: 'x' })), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, patch(team.url, { name: 'x' })), errors.roleInsufficient)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(owner, patch(`${company.url}/teams/${id}`, { name: 'x' })), errors.notFound)
    for (const name of ['Research', 'RESEARCH'])
      expectError(await as(owner, patch(team.url, { name })), errors.teamNameTaken)
    expect(await findName(team)).toBe('Design')
    expect(await findEvents(service, company.workspace)).toHaveLength(3)
  })
})
