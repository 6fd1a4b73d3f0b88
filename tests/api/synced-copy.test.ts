import { describe, expect, it } from 'vitest'
import { createCompany, createTeam, del, patch, post } from '../support/company.ts'
import { operations } from '../support/operations.ts'
import { prepareRequest } from '../support/prepare-request.ts'
import { addEvidence, createLabel, createSeed, joinSeed } from '../support/seeds.ts'
import { SyncedCopy } from '../support/synced-copy.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service

// The workspace is gone for its reader after these.
const ends = ['workspaces.delete', 'workspaces.transferOwnership']

const changes = Object.entries(operations).filter(([id, { event }]) => event && !ends.includes(id))

describe('a copy that follows the feed and reads what its events name', () => {
  it.each(changes)('is equal after %s', async (_id, operation) => {
    const company = await createCompany(service)
    const { actor, request } = await prepareRequest(service, operation, { company })
    const copy = new SyncedCopy(service, company)
    await copy.begin()
    const answer = await as(actor, request)
    expect(answer.statusCode, answer.body).toBe(200)
    await copy.follow()
    await copy.expectEqual()
  })

  it('is equal after a day of a team, also when events come again after a crash', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, url } = company
    const copy = new SyncedCopy(service, company)
    await copy.begin()
    const both = async () => {
      await copy.follow({ isRepeated: true })
      await copy.expectEqual()
    }
    const seed = await createSeed(service, member, company)
    await joinSeed(service, admin, seed)
    const mention = `Ask [@${member.name}](user:${member.id})`
    await as(admin, post(`/v1/seeds/${seed.id}/comments`, { body: mention }))
    await addEvidence(service, member, seed)
    const piece = await addEvidence(service, admin, seed)
    for (const person of [owner, member]) await as(person, post(`/v1/evidence/${piece.id}/see`))
    await both()
    await as(owner, post(`/v1/evidence/${piece.id}/unsee`))
    const team = await createTeam(service, owner, company, 'Research')
    await as(owner, post(`${team.url}/members`, { userId: member.id }))
    await both()

    // A rename, which shows in seeds, comments and members.
    await as(member, patch('/v1/me', { name: 'Mary Merged' }))
    await both()

    await as(owner, patch(url, { name: 'Acme', slug: `${company.workspace.slug}-b` }))
    await both()

    const moved = `${url}-b`
    await as(owner, del(`/v1/seeds/${seed.id}`))
    await both()
    await as(owner, post(`/v1/seeds/${seed.id}/restore`))
    await both()

    const other = await createSeed(service, owner, { url: moved })
    await as(owner, post(`/v1/seeds/${seed.id}/merge`, { into: other.id }))
    await both()
    await as(owner, post(`/v1/seeds/${seed.id}/unmerge`))
    await both()

    const label = await createLabel(service, owner, { url: moved })
    const sales = await createTeam(service, owner, { url: moved }, 'Sales')
    await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: [label.id], teamId: sales.id }))
    await both()
    await as(owner, patch(`${moved}/labels/${label.id}`, { name: 'Prices' }))
    await as(owner, patch(`${moved}/teams/${sales.id}`, { name: 'Selling' }))
    await both()
    await as(owner, del(`${moved}/labels/${label.id}`))
    await as(owner, del(`${moved}/teams/${sales.id}`))
    await both()

    await as(owner, patch(`${moved}/members/${member.id}`, { role: 'viewer' }))
    await both()

    // Who leaves takes no part any more, in seeds and in teams.
    await as(member, del(`${moved}/members/${member.id}`))
    await both()

    // The name of who has left is still there, until the account is deleted.
    const { isDeleted } = await service.services.accounts.delete(member.id, { withWorkspaces: true })
    expect(isDeleted).toBe(true)
    await both()
    await service.services.accounts.delete(admin.id, { withWorkspaces: true })
    await both()
  })
})
