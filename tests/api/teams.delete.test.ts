import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, del, findRoles, findTeamMembers, get, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, db } = service

describe('200', () => {
  it('deletes the team with its memberships, and keeps the members of the workspace', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, workspace } = company
    const [team, other] = [
      await createTeam(service, owner, company, 'Design'),
      await createTeam(service, owner, company),
    ]
    for (const place of [team, other]) await as(owner, post(`${place.url}/members`, { userId: member.id }))
    const answer = await as(admin, del(team.url))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await selectRows(db, sql`select id from teams where workspace_id = ${workspace.id}`)).toEqual([
      { id: other.id },
    ])
    expect(await findTeamMembers(service, team)).toEqual([])
    expect(await findTeamMembers(service, other)).toEqual([member.id])
    expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'member' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'team', id: team.id },
        { type: 'team.deleted', summary: 'Adam Admin deleted the team Design' },
      ),
    )
    expectError(await as(owner, get(`${team.url}/members`)), errors.notFound)
    expectError(await as(owner, del(team.url)), errors.notFound)
    const people = (await as(owner, get(`${url}/people`))).json<{ id: string; teams: object[] }[]>()
    expect(people.find(({ id }) => id === member.id)?.teams).toEqual([{ id: other.id, name: other.name }])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to members and viewers, and 404 for an unknown or malformed id, and deletes nothing', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company)
    expectError(await app.inject(del(team.url)), errors.apiKeyRequired)
    for (const person of [company.member, company.viewer])
      expectError(await as(person, del(team.url)), errors.roleInsufficient)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(company.owner, del(`${company.url}/teams/${id}`)), errors.notFound)
    expect(await selectRows(db, sql`select id from teams where id = ${team.id}`)).toHaveLength(1)
  })
})
