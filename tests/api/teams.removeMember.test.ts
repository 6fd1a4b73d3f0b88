import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, del, findRoles, findTeamMembers, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson } = service

const remove = (team: { url: string }, { id }: { id: string }) => del(`${team.url}/members/${id}`)

async function createFullTeam() {
  const company = await createCompany(service)
  const team = await createTeam(service, company.owner, company, 'Design')
  for (const { id } of [company.admin, company.member, company.viewer])
    await as(company.owner, post(`${team.url}/members`, { userId: id }))
  return { company, team }
}

describe('200', () => {
  it('removes the member from the team and not from the workspace, and appends an event', async () => {
    const { company, team } = await createFullTeam()
    const { admin, member, viewer, workspace } = company
    const answer = await as(admin, remove(team, member))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect((await findTeamMembers(service, team)).toSorted()).toEqual([admin.id, viewer.id].toSorted())
    expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'member' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'team', id: team.id },
        { type: 'team.member_removed', summary: 'Adam Admin removed Mary Member from the team Design' },
      ),
    )
  })

  it('lets admins, members and viewers leave the team', async () => {
    const { company, team } = await createFullTeam()
    for (const person of [company.viewer, company.member, company.admin]) {
      expect((await as(person, remove(team, person))).json()).toEqual({ ok: true })
      expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
        eventBy(
          person,
          { type: 'team', id: team.id },
          { type: 'team.member_removed', summary: `${person.name} left the team Design` },
        ),
      )
    }
    expect(await findTeamMembers(service, team)).toEqual([])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to callers without permission, and 404 for an unknown user or team, and removes nobody', async () => {
    const { company, team } = await createFullTeam()
    const { owner, admin, member, viewer, workspace } = company
    const { length } = await findEvents(service, workspace)
    expectError(await app.inject(remove(team, member)), errors.apiKeyRequired)
    expectError(await as(member, remove(team, viewer)), errors.roleInsufficient)
    expectError(await as(viewer, remove(team, admin)), errors.roleInsufficient)
    const stranger = await createPerson()
    expectError(await as(stranger, remove(team, stranger)), errors.notAMember)
    // The owner is in the workspace, and not in the team.
    for (const id of [owner.id, stranger.id, createId(), 'x', '%00'])
      expectError(await as(owner, remove(team, { id })), errors.notFound)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(owner, remove({ url: `${company.url}/teams/${id}` }, member)), errors.notFound)
    expect(await findTeamMembers(service, team)).toHaveLength(3)
    expect(await findEvents(service, workspace)).toHaveLength(length)
  })
})
