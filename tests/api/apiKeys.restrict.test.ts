import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  createKey,
  expectWorks,
  noRestrictions,
  pathOfKey,
  readRestrictions,
  type TestRestrictions,
} from '../support/api-keys.ts'
import { createCompany, get, patch, post, put } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { createWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const restrict = (id: string, restrictions: Partial<TestRestrictions>) =>
  put(`${pathOfKey(id)}/restrictions`, { ...noRestrictions, ...restrictions })
const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 60 * 60 * 1000).toISOString()

describe('200', () => {
  it('replaces the restrictions, from the next request of the key on', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const key = await createKey(service, person)
    const restrictions: TestRestrictions = {
      expiresAt: inDays(3),
      access: 'read',
      workspaceIds: [id],
      maxRole: 'admin',
    }
    const answer = await as(person, restrict(key.id, restrictions))
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await readRestrictions(service, key, key)).toEqual(restrictions)
    expectError(await as(key, patch('/v1/me', { name: 'Other' })), errors.keyReadOnly)
    await as(person, restrict(key.id, {}))
    expect(await readRestrictions(service, key, key)).toEqual(noRestrictions)
    expect((await as(key, patch('/v1/me', { name: 'Other' }))).statusCode).toBe(200)
  })

  it('lets an unrestricted key restrict itself, and not loosen itself again', async () => {
    const person = await createPerson()
    const key = await createKey(service, person)
    expect((await as(key, restrict(key.id, { access: 'read' }))).statusCode).toBe(200)
    expectError(await as(key, restrict(key.id, {})), errors.keyReadOnly)
  })

  it('lets a key that expires end itself sooner', async () => {
    const person = await createPerson()
    const key = await createKey(service, person, { expiresAt: inDays(3) })
    expect((await as(key, restrict(key.id, { expiresAt: inDays(2) }))).statusCode).toBe(200)
    expect(await readRestrictions(service, key, key)).toMatchObject({ expiresAt: inDays(2) })
  })

  it('keeps the workspaces that the owner has left, and accepts them again', async () => {
    const company = await createCompany(service)
    const { member, workspace } = company
    const own = await createWorkspace(service, member)
    const workspaceIds = [workspace.id, own.id]
    const key = await createKey(service, member, { workspaceIds })
    expect((await as(key, get(company.url))).statusCode).toBe(200)
    await as(company.owner, { method: 'DELETE', url: `${company.url}/members/${member.id}` })
    expectError(await as(key, get(company.url)), errors.notAMember)
    expect(await readRestrictions(service, key, key)).toMatchObject({ workspaceIds })
    expect((await as(member, restrict(key.id, { workspaceIds, access: 'read' }))).statusCode).toBe(200)
    const listed = (await as(key, get('/v1/workspaces'))).json<{ id: string }[]>()
    expect(listed.map(({ id }) => id)).toEqual([own.id])
  })

  it('reaches nothing in place of a workspace that was deleted', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    await createWorkspace(service, person)
    const key = await createKey(service, person, { workspaceIds: [workspace.id] })
    await db.execute(sql`delete from workspaces where id = ${workspace.id}`)
    expect((await as(key, get('/v1/workspaces'))).json()).toEqual([])
    expect((await as(key, get('/v1/me/home'))).json()).toBe('/onboarding')
    expect((await as(key, get('/v1/me/onboarding'))).json()).toEqual({ existing: null })
    expectError(await as(key, get(`/v1/workspaces/${workspace.slug}`)), errors.notFound)
    expect(await readRestrictions(service, key, key)).toMatchObject({ workspaceIds: [workspace.id] })
  })

  it('leaves the workspaces that a key does not reach out of what the key reads', async () => {
    const person = await createPerson()
    const [reached, other] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    const key = await createKey(service, person, { workspaceIds: [reached.id] })
    // The other one was used last.
    expect((await as(person, get(`/v1/workspaces/${other.slug}`))).statusCode).toBe(200)
    expect((await as(person, get('/v1/me/home'))).json()).toBe(`/w/${other.slug}`)
    expect((await as(key, get('/v1/me/home'))).json()).toBe(`/w/${reached.slug}`)
    expect((await as(key, get('/v1/me/onboarding'))).json()).toMatchObject({ existing: { id: reached.id } })
    // Both are asked for by one statement.
    const [all, some] = await Promise.all([as(person, get('/v1/workspaces')), as(key, get('/v1/workspaces'))])
    const idsOf = (answer: typeof all) => answer.json<{ id: string }[]>().map(({ id }) => id)
    expect(idsOf(all).toSorted()).toEqual([reached.id, other.id].toSorted())
    expect(idsOf(some)).toEqual([reached.id])
  })

  it('tells a member that the key is not for a seed of another workspace, and others nothing', async () => {
    const [company, elsewhere] = [await createCompany(service), await createCompany(service)]
    const own = await createWorkspace(service, company.owner)
    const key = await createKey(service, company.owner, { workspaceIds: [own.id] })
    const [seed, hidden] = [
      await createSeed(service, company.owner, company),
      await createSeed(service, elsewhere.owner, elsewhere),
    ]
    expectError(await as(key, get(`/v1/seeds/${seed.id}`)), errors.keyNotForWorkspace)
    expectError(await as(key, get(`/v1/seeds/${hidden.id}`)), errors.notFound)
    expectError(await as(key, get(elsewhere.url)), errors.keyNotForWorkspace)
  })
})

describe('400', () => {
  it('returns 400 for an expiry in the past, and for a workspace of others', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const theirs = await createWorkspace(service, stranger)
    const { apiKeyId } = person
    expectError(await as(person, restrict(apiKeyId, { expiresAt: inDays(-1) })), errors.expiryInPast, {
      field: 'expiresAt',
    })
    const answer = await as(person, restrict(apiKeyId, { workspaceIds: [theirs.id] }))
    expectError(answer, errors.workspaceNotYours, { field: 'workspaceIds' })
    expect(await readRestrictions(service, person, { id: apiKeyId })).toEqual(noRestrictions)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { apiKeyId } = await createPerson()
    expectError(await app.inject(restrict(apiKeyId, {})), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a restricted key that would loosen itself or change another one', async () => {
    const person = await createPerson()
    const expiresAt = inDays(1)
    const key = await createKey(service, person, { expiresAt })
    const other = await createKey(service, person, { expiresAt })
    expectError(await as(key, restrict(key.id, {})), errors.keyRestricted)
    expectError(await as(key, restrict(key.id, { expiresAt: inDays(2) })), errors.keyRestricted)
    expectError(await as(key, restrict(other.id, { expiresAt, access: 'read' })), errors.keyRestricted)
    expectError(await as(key, restrict(createId(), { expiresAt })), errors.keyRestricted)
    for (const { id } of [key, other])
      expect(await readRestrictions(service, person, { id })).toEqual({ ...noRestrictions, expiresAt })
  })

  it('returns 403 when the key of the request is restricted before its turn', async () => {
    const person = await createPerson()
    const [key, other] = [await createKey(service, person), await createKey(service, person)]
    // In an object, so that the transaction does not wait for it.
    const { sending } = await db.transaction(async (tx) => {
      await tx.execute(sql`select from users where id = ${person.id} for no key update`)
      const sending = as(key, post('/v1/api-keys', { name: 'Outlived' })).then((answer) => answer)
      await untilWaiting(service, 1)
      await tx.execute(sql`update api_keys set expires_at = now() + interval '1 day' where id = ${key.id}`)
      return { sending }
    })
    expectError(await sending, errors.keyRestricted)
    await expectWorks(service, other, true)
  })
})

describe('404', () => {
  it('returns 404 for a key of another person, a revoked one, an expired one and no id', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const [revoked, expired] = [
      await createKey(service, person),
      await createKey(service, person, { expiresAt: inDays(1) }),
    ]
    await as(person, post(`${pathOfKey(revoked.id)}/revoke`))
    clock.advance(24 * 60 * 60 * 1000)
    for (const id of [stranger.apiKeyId, revoked.id, expired.id, createId(), 'x'])
      expectError(await as(person, restrict(id, {})), errors.notFound)
    await expectWorks(service, expired, false)
  })
})
