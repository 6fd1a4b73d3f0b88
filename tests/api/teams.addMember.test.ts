import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, findTeamMembers, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson } = service

const add = (team: { url: string }, { id }: { id: string }) => post(`${team.url}/members`, { userId: id })

describe('200', () => {
  it('adds a member of the workspace, and appends an event', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, workspace } = company
    const team = await createTeam(service, owner, company, 'Design')
    const answer = await as(admin, add(team, member))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect((await as(admin, add(team, owner))).statusCode).toBe(200)
    expect((await findTeamMembers(service, team)).toSorted()).toEqual([member.id, owner.id].toSorted())
    expect((await findEvents(service, workspace)).at(-2)).toEqual(
      eventBy(
        admin,
        { type: 'team', id: team.id },
        { type: 'team.member_added', summary: 'Adam Admin added Mary Member to the team Design' },
      ),
    )
  })
})

describe('400', () => {
  it.each([
    ['no user id', {}, [{ _tag: 'Missing', path: ['userId'] }]],
    ['null as user id', { userId: null }, [{ _tag: 'Type', path: ['userId'] }]],
    ['several user ids', { userId: ['x', 'y'] }, [{ _tag: 'Type', path: ['userId'] }]],
    ['an unknown field', { userId: 'x', role: 'lead' }, [{ _tag: 'Unexpected', path: ['role'] }]],
  ])('returns 400 for %s, and adds nobody', async (_name, body, issues) => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company)
    const answer = await as(company.owner, post(`${team.url}/members`, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await findTeamMembers(service, team)).toEqual([])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to members and viewers, and 404 for an unknown user or team, and adds nobody', async () => {
    const company = await createCompany(service)
    const { owner, member, viewer } = company
    const team = await createTeam(service, owner, company)
    expectError(await app.inject(add(team, member)), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, add(team, person)), errors.roleInsufficient)
    const stranger = await createPerson()
    for (const id of [stranger.id, createId(), 'x', '', 'a\0b', 'x'.repeat(5_000)])
      expectError(await as(owner, add(team, { id })), errors.notFound)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(owner, add({ url: `${company.url}/teams/${id}` }, member)), errors.notFound)
    expect(await findTeamMembers(service, team)).toEqual([])
  })
})

describe('409', () => {
  it('returns 409 already_team_member for a member of the team', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company)
    await as(company.owner, add(team, company.member))
    expectError(await as(company.admin, add(team, company.member)), errors.alreadyTeamMember)
    expect(await findTeamMembers(service, team)).toEqual([company.member.id])
    expect(await findEvents(service, company.workspace)).toHaveLength(3)
  })
})
