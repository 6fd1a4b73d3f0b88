import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { eraseLeavers } from '../../src/accounts/deletion/deletion.jobs.ts'
import { deletionWaitMs } from '../../src/domain/accounts.ts'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, findRoles, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWorkspace, deleteWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db, services } = service
const oauth = createOAuthTester(service)

/** Allows leaving on the website, where the person has proven who they are. */
async function allow({ email }: TestPerson): Promise<void> {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('there is no such person')
  await services.accountDeletion.allow({
    user,
    source: 'web',
    apiKeyId: null,
    sessionId: null,
    grantId: null,
  })
}

const remove = ({ email }: TestPerson, confirmEmail = email) => post('/v1/me/delete', { confirmEmail })

async function createAllowed(): Promise<TestPerson> {
  const person = await service.createPerson()
  await allow(person)
  return person
}

const eraseDue = async () => {
  const onRefused = vi.fn()
  const deletePerson = (userId: string) => services.accounts.delete(userId, { withWorkspaces: true })
  await eraseLeavers({ db, clock, deletePerson, onRefused })
  return onRefused.mock.calls.flat() as string[]
}

const exists = async ({ email }: TestPerson) => (await services.accounts.findByEmail(email)) !== undefined

describe('200', () => {
  it('ends the API keys, the sessions and the agents of the caller at once', async () => {
    const { workspace, member, owner, url } = await createCompany(service)
    await allow(member)
    const token = await oauth.letIn(workspace, member)
    expect((await as(member, remove(member))).json()).toEqual({ ok: true })
    expectError(await as(member, get('/v1/me')), errors.apiKeyRequired)
    expect((await oauth.readKit(token)).statusCode).toBe(401)
    const [revoked] = (await as(owner, get(`${url}/events?limit=1`))).json<object[]>()
    expect(revoked).toMatchObject({ type: 'integration.revoked', actorUserId: member.id })
  })

  it('deletes the account after seven days, and erases the name from what stays', async () => {
    const company = await createCompany(service)
    const { member, owner, workspace } = company
    const seed = await createSeed(service, member, company)
    await allow(member)
    await as(member, remove(member, ` ${member.email.toUpperCase()} `))
    clock.advance(deletionWaitMs - 60_000)
    expect(await eraseDue()).toEqual([])
    expect(await exists(member)).toBe(true)
    expect(await findRoles(service, workspace)).toHaveProperty(member.id)
    clock.advance(120_000)
    expect(await eraseDue()).toEqual([])
    expect(await exists(member)).toBe(false)
    expect((await as(owner, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({ createdByUserId: null })
  })

  it('does not count those who leave as owners, so that a workspace keeps one', async () => {
    const { owner, url, workspace } = await createCompany(service)
    const other = await addPerson(service, workspace, 'owner')
    await allow(owner)
    expect((await as(owner, remove(owner))).statusCode).toBe(200)
    expectError(await as(other, del(`${url}/members/${other.id}`)), errors.lastOwner)
    expectError(await as(other, patch(`${url}/members/${other.id}`, { role: 'member' })), errors.lastOwner)
    expect(await services.accounts.delete(other.id, { withWorkspaces: true })).toMatchObject({
      isDeleted: false,
    })
  })

  it('leaves an owner when two owners leave at the same moment', async () => {
    const { owner, workspace } = await createCompany(service)
    const other = await addPerson(service, workspace, 'owner')
    await allow(owner)
    await allow(other)
    const answers = await Promise.all([as(owner, remove(owner)), as(other, remove(other))])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409])
  })
})

describe('400', () => {
  it('returns confirmation_mismatch for another address, and changes nothing', async () => {
    const person = await createAllowed()
    const answer = await as(person, remove(person, 'ada@example.com'))
    expectError(answer, errors.confirmationMismatch, { field: 'confirmEmail' })
    expect((await as(person, get('/v1/me'))).statusCode).toBe(200)
  })
})

describe('403', () => {
  it('returns recent_proof_required unless it was allowed in the last ten minutes', async () => {
    const person = await service.createPerson()
    expectError(await as(person, remove(person)), errors.recentProofRequired)
    await allow(person)
    clock.advance(10 * 60_000)
    expectError(await as(person, remove(person)), errors.recentProofRequired)
    expect((await as(person, get('/v1/me'))).statusCode).toBe(200)
  })
})

describe('409', () => {
  it('returns last_owner with the workspaces of which the caller is the only owner', async () => {
    const person = await createAllowed()
    const slugs = [await createWorkspace(service, person), await createWorkspace(service, person)].map(
      ({ slug }) => slug,
    )
    const answer = await as(person, remove(person))
    expect(answer.statusCode).toBe(409)
    const { code, message } = answer.json<{ code: string; message: string }>()
    expect(code).toBe('last_owner')
    for (const slug of slugs) expect(message).toContain(slug)
    expect((await as(person, get('/v1/me'))).statusCode).toBe(200)
  })

  it('does not count deleted workspaces', async () => {
    const person = await createAllowed()
    await deleteWorkspace(service, person, await createWorkspace(service, person))
    expect((await as(person, remove(person))).statusCode).toBe(200)
  })
})

describe('a deletion that was refused', () => {
  it('is reported by the clean-up, and does not keep it from the next person', async () => {
    const [first, second] = [await createAllowed(), await createAllowed()]
    await as(first, remove(first))
    await as(second, remove(second))
    // As an operator could, who makes somebody an owner by SQL.
    const company = await createCompany(service)
    await db.execute(sql`
      update memberships set user_id = ${first.id}
      where workspace_id = ${company.workspace.id} and role = 'owner'`)
    clock.advance(deletionWaitMs + 1)
    expect(await eraseDue()).toEqual([first.id])
    expect(await exists(second)).toBe(false)
  })
})
