import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, findRoles, post, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { findNotifications } from '../support/notifications.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { allowActions, eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service

/** Has each person transfer the ownership, who has allowed it to their key. */
async function transferAllowed(
  person: TestPerson,
  { url, workspace }: Pick<TestCompany, 'url' | 'workspace'>,
  userId: string,
) {
  await allowActions(service, workspace, person)
  return as(person, transfer(url, userId))
}

const transfer = (url: string, userId: string) => post(`${url}/transfer-ownership`, { userId })

describe('200', () => {
  it('makes the member an owner and the caller an admin, with one event and a notification', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    const before = await findEvents(service, workspace)
    const answer = await transferAllowed(owner, company, member.id)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'admin', [member.id]: 'owner' })
    expect(await findEvents(service, workspace)).toEqual([
      ...before,
      eventBy(
        owner,
        { type: 'user', id: member.id },
        {
          type: 'workspace.ownership_transferred',
          summary: 'Olga Owner transferred the ownership of the workspace to Mary Member',
        },
      ),
    ])
    expect(await findNotifications(service, member)).toMatchObject([{ kind: 'role_changed' }])
  })

  it('changes nothing when the member is the caller', async () => {
    const { owner, url, workspace } = await createCompany(service)
    const before = await findEvents(service, workspace)
    expect((await as(owner, transfer(url, owner.id))).json()).toEqual({ ok: true })
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner' })
    expect(await findEvents(service, workspace)).toEqual(before)
  })

  it('leaves an owner when two owners transfer to each other at the same moment', async () => {
    const company = await createCompany(service)
    const { owner, workspace } = company
    const other = await addPerson(service, workspace, 'owner')
    await Promise.all([transferAllowed(owner, company, other.id), transferAllowed(other, company, owner.id)])
    expect(Object.values(await findRoles(service, workspace))).toContain('owner')
  })
})

describe('403', () => {
  it('returns role_insufficient for an admin, and changes nothing', async () => {
    const { admin, member, url, workspace } = await createCompany(service)
    const before = await findRoles(service, workspace)
    expectError(await as(admin, transfer(url, member.id)), errors.roleInsufficient)
    expect(await findRoles(service, workspace)).toEqual(before)
  })

  it('returns recent_proof_required unless it was allowed, each time anew', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, url, workspace } = company
    expectError(await as(owner, transfer(url, member.id)), errors.recentProofRequired)
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner', [member.id]: 'member' })
    expect((await transferAllowed(owner, company, member.id)).statusCode).toBe(200)
    await transferAllowed(member, company, owner.id)
    expectError(await as(owner, transfer(url, admin.id)), errors.recentProofRequired)
  })
})

describe('404', () => {
  it('returns not_found for people who are not members, and for ids that are malformed', async () => {
    const { owner, url, workspace } = await createCompany(service)
    const stranger = await service.createPerson()
    for (const userId of [stranger.id, createId(), 'x'])
      expectError(await as(owner, transfer(url, userId)), errors.notFound)
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner' })
  })
})
