import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { recordCalls } from '../../src/agents/calls/agent-calls.repository.ts'
import { insertMentions, lockMembersAmong } from '../../src/areas/comments/comments.repository.ts'
import { notifyFollowers } from '../../src/areas/notifications/notify.repository.ts'
import { lockSeed } from '../../src/areas/seeds/seeds.repository.ts'
import { createKey } from '../support/api-keys.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createTeam,
  del,
  findJobs,
  findRoles,
  get,
  patch,
  post,
} from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { dumpDatabase } from '../support/dump-database.ts'
import { untilTrue } from '../support/eventually.ts'
import { buildUpload } from '../support/forms.ts'
import { drawQuadrants } from '../support/images.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { addEvidence, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { findPictures, listUploads, makeFolder } from '../support/uploads.ts'

// Its own database, since jobs run in it and tests search all of it.
const service = await startTestApp({
  environment: { DATA_DIR: await makeFolder(), DATABASE_URL: await clone() },
})
const { as, createPerson, db, services } = service
const { accounts } = services
await services.startJobs()

const png = () => drawQuadrants(64, 64).png().toBuffer()
const remove = ({ id }: { id: string }, withWorkspaces = false) => accounts.delete(id, { withWorkspaces })

async function uploadPhoto(person: TestPerson): Promise<void> {
  const answer = await as(person, { method: 'POST', url: '/v1/me/photo', ...buildUpload(await png()) })
  expect(answer.statusCode).toBe(200)
}

const eventsOf = ({ id }: { id: string }) =>
  selectRows<{ type: string; actor_type: string; actor_name: string; summary: string }>(
    db,
    sql`select type, actor_type, actor_name, summary from events where workspace_id = ${id} order by created_at, id`,
  )

/** Waits for the job that deletes pictures: each file, then its row. */
async function untilPicturesAreGone(): Promise<void> {
  await untilTrue(async () => (await findPictures(service)).length === 0)
  expect(await listUploads(service)).toEqual([])
}

describe('deleting a user', () => {
  it('erases their name and email address everywhere, and keeps their seeds and evidence', async () => {
    const former = `Former${randomUUID().slice(0, 8)}`
    const name = `Zoë (Q.) O'Hara*${randomUUID().slice(0, 8)}`
    const email = `zoe+${randomUUID()}@example.com`
    const company = await createCompany(service)
    const { url, owner } = company
    const person = await createPerson({ name: former, email })
    const invited = await createInvite(service, owner, company, { email: email.toUpperCase(), role: 'admin' })
    await as(person, post(`/v1/invites/${invited.token}/accept`))
    await uploadPhoto(person)
    const seed = await createSeed(service, person, company)
    await joinSeed(service, person, seed)
    await addEvidence(service, person, seed, { summary: 'It works' })
    await as(person, patch('/v1/me', { name }))
    // The owner, who follows the seed, is notified of it.
    await joinSeed(service, owner, seed)
    await addEvidence(service, person, seed, { summary: 'It still works' })
    const ofOwner = await addEvidence(service, owner, seed, { summary: 'It does not' })
    await as(person, post(`/v1/evidence/${ofOwner.id}/withdraw`, { reason: 'A mistake' }))
    for (const leadUserId of [owner.id, person.id, owner.id, person.id])
      await as(owner, patch(`/v1/seeds/${seed.id}`, { leadUserId }))
    const team = await createTeam(service, owner, company)
    await as(owner, post(`${team.url}/members`, { userId: person.id }))
    await createInvite(service, person, company)
    await as(owner, patch(`${url}/members/${person.id}`, { role: 'member' }))
    await as(owner, patch(`${url}/members/${person.id}`, { role: 'admin' }))
    await as(person, {
      ...post(`${url}/seeds`, { title: 'Twice', summary: 'x' }),
      headers: { 'idempotency-key': randomUUID() },
    })
    // What others are told of what they did.
    await as(person, patch(`${url}/members/${company.member.id}`, { role: 'viewer' }))
    const user = await accounts.findByEmail(email)
    if (!user) throw new Error('the person is not there')
    await services.credentials.createLink('sign_in', user.id)
    // As older versions wrote them, without data, and as a newer version may, of a type that is unknown here.
    const inCompany = sql`workspace_id = ${company.workspace.id}`
    await db.execute(sql`update events set data = '{}' where ${inCompany} and type = 'member.role_changed'`)
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, data, created_at)
      select gen_random_uuid(), id, 'unknown.happened', 'system', 'The service', 'system', 'It happened to ' || ${name}::text || '!',
        jsonb_build_object('userId', ${person.id}::text, 'name', ${name}::text, 'place', i), now()
      from workspaces, generate_series(1, 2500) i where id = ${company.workspace.id}`)
    // Pending jobs contain names and addresses too.
    await untilTrue(async () => (await findJobs(service, '')).length === 0)
    const before = await dumpDatabase(service)
    for (const text of [former, name, email]) expect(before.toLowerCase()).toContain(text.toLowerCase())
    expect(await listUploads(service)).toHaveLength(1)

    expect(await remove(person)).toEqual({
      isDeleted: true,
      left: [{ slug: company.workspace.slug, name: 'Acme', memberCount: 5 }],
      deleted: [],
      known: [],
    })
    await untilPicturesAreGone()

    const after = await dumpDatabase(service)
    for (const text of [former, name, email]) expect(after.toLowerCase()).not.toContain(text.toLowerCase())
    expect((await as(person, get('/v1/me'))).statusCode).toBe(401)
    expect(await findRoles(service, company.workspace)).not.toHaveProperty(person.id)
    const evidence = await as(owner, get(`/v1/seeds/${seed.id}/evidence?includeWithdrawn=true`))
    expect(evidence.json()).toMatchObject([
      { summary: 'It does not', authorName: 'Olga Owner', withdrawnByName: 'Deleted user' },
      { summary: 'It still works', authorName: 'Deleted user', authorUserId: null },
      { summary: 'It works', authorName: 'Deleted user', authorUserId: null },
    ])
    const events = await eventsOf(company.workspace)
    expect(events.filter(({ type }) => type === 'seed.created')).toMatchObject([
      { actor_name: 'Deleted user', summary: `Deleted user created the seed ${seed.title}` },
      { actor_name: 'Deleted user', summary: 'Deleted user created the seed Twice' },
    ])
    const summaries = events.map(({ summary }) => summary)
    expect(summaries).toContain('Olga Owner invited Deleted user as admin')
    expect(summaries).toContain(
      `Olga Owner changed the lead of the seed ${seed.title} from Olga Owner to Deleted user`,
    )
    expect(summaries).toContain(
      `Olga Owner changed the lead of the seed ${seed.title} from Deleted user to Olga Owner`,
    )
    expect((await as(owner, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      ...{ createdByName: null, leadUserId: null, following: true },
    })
    expect(summaries).toContain('Olga Owner changed the role of Deleted user from admin to member')
    expect(events.slice(-4)).toMatchObject([
      { type: 'invite.revoked', actor_type: 'system' },
      { type: 'api_key.stopped', actor_type: 'system' },
      { type: 'member.removed', actor_type: 'system', actor_name: 'The service' },
      { type: 'person.erased', actor_type: 'system', actor_name: 'The service' },
    ])
    expect((await as(owner, get(`${url}/invites`))).json()).toEqual([])
    const told = (await as(company.member, get('/v1/me/notifications'))).json<{ text: string }[]>()
    expect(told.map(({ text }) => text)).toEqual(['Deleted user changed your role in Acme to viewer'])
  })

  it('tells owners and admins of the keys of theirs that stop', async () => {
    const company = await createCompany(service)
    const { owner, member, url, workspace } = company
    const key = await createKey(service, member, { workspaceIds: [workspace.id] })
    await accounts.delete(member.id, { withWorkspaces: false })
    const stopped = (await as(owner, get(`${url}/events?type=api_key.stopped`))).json<object[]>()
    expect(stopped).toMatchObject([{ actorType: 'system', data: { apiKeyId: key.id, userId: member.id } }])
    expect((await as(owner, get('/v1/me/notifications'))).json()).toMatchObject([{ kind: 'key_stopped' }])
  })

  it('does not change people with a similar name or email address', async () => {
    const company = await createCompany(service)
    const tag = randomUUID().slice(0, 8)
    const ann = await createPerson({ name: `Ann${tag}`, email: `ann${tag}@example.com` })
    const annabel = await createPerson({ name: `Ann${tag}abel`, email: `x.ann${tag}@example.com.au` })
    for (const { email } of [ann, annabel]) await createInvite(service, company.owner, company, { email })
    for (const { id } of [ann, annabel])
      await db.execute(sql`insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        values (${company.workspace.id}, ${id}, 'member', now(), now())`)
    for (const { id } of [ann, annabel])
      await as(company.owner, patch(`${company.url}/members/${id}`, { role: 'viewer' }))
    expect(await remove(ann)).toMatchObject({ isDeleted: true })
    const summaries = (await eventsOf(company.workspace)).map(({ summary }) => summary)
    expect(summaries).toContain('Olga Owner invited Deleted user as member')
    expect(summaries).toContain(`Olga Owner invited ${annabel.email} as member`)
    expect(summaries).toContain(`Olga Owner changed the role of ${annabel.name} from member to viewer`)
    expect(summaries.join()).not.toMatch(new RegExp(`Ann${tag} `))
  })

  it('revokes their grants, and deletes all their records', async () => {
    const tester = createOAuthTester(service)
    const [agent, host, other] = [
      await tester.createAgent(),
      await tester.createHost(),
      await tester.createHost(),
    ]
    const [tokens, others] = [await tester.getTokens(agent, host), await tester.getTokens(agent, other)]
    expect((await tester.readKit(tokens.access_token)).statusCode).toBe(200)
    expect(await remove(host, true)).toMatchObject({ isDeleted: true })
    expect((await tester.readKit(tokens.access_token)).statusCode).toBe(401)
    expect((await tester.refresh(agent, tokens.refresh_token)).statusCode).toBe(400)
    expect(await dumpDatabase(service)).not.toContain(host.id)
    expect((await tester.readKit(others.access_token)).statusCode).toBe(200)
    expect((await tester.refresh(agent, others.refresh_token)).statusCode).toBe(200)
  })

  it('does not deadlock with the recording of an agent’s calls', async () => {
    const company = await createCompany(service)
    const { owner, workspace } = company
    const grant = await insertGrant(service, workspace, owner)
    const agent = {
      grant: { ...grant, consentVersion: 0, membersMayAsk: false, expiresAt: new Date(grant.expiresAt) },
      user: { ...owner, emailVerifiedAt: null, imageKey: null },
      workspace: { ...workspace, name: 'Acme' },
      role: 'owner' as const,
    }
    const call = { agent, day: '2026-01-01', tool: 'search', did: 'searched', calls: 1, failures: 0 }
    let recording: Promise<void> | undefined
    await db.transaction(async (tx) => {
      await tx.execute(sql`select from workspaces where id = ${workspace.id} for update`)
      recording = recordCalls(db, [
        { ...call, lastCalledAt: new Date(), lastFailure: null, lastFailureAt: null },
      ])
      await untilWaiting(service, 1)
      // Had the recording locked the grant already, each would wait for the other.
      await tx.execute(sql`delete from agent_grants where workspace_id = ${workspace.id}`)
      await tx.execute(sql`delete from workspaces where id = ${workspace.id}`)
    })
    await recording
  })

  it('does not deadlock with notices to those who follow their seed', async () => {
    const company = await createCompany(service)
    const { member: person, admin, workspace } = company
    const seed = await createSeed(service, person, company)
    await db.execute(sql`update seeds set lead_user_id = null where id = ${seed.id}`)
    const actor = { user: { ...admin, emailVerifiedAt: null, imageKey: null } }
    const told = {
      kind: 'comment',
      data: { evidenceId: null },
      workspaceId: workspace.id,
      at: new Date(),
    } as const
    // As a new comment does, which locks the seed first.
    await db
      .transaction(async (tx) => {
        await lockSeed(tx, { workspaceId: workspace.id, seedId: seed.id }, 'no key update')
        const deletion = remove(person)
        await untilWaiting(service, 1)
        await notifyFollowers(tx, { ...told, actor, seedId: seed.id })
        return { deletion }
      })
      .then(({ deletion }) => deletion)
    expect(await findRoles(service, workspace)).not.toHaveProperty(person.id)
  })

  it('does not deadlock with a comment that mentions them', async () => {
    const company = await createCompany(service)
    const { member: person, admin, workspace } = company
    const seed = await createSeed(service, admin, company)
    const { id } = await createComment(service, admin, seed)
    await db
      .transaction(async (tx) => {
        await lockMembersAmong(tx, workspace.id, [person.id])
        const deletion = remove(person)
        await untilWaiting(service, 1)
        await insertMentions(tx, id, [person.id])
        return { deletion }
      })
      .then(({ deletion }) => deletion)
    expect(await findRoles(service, workspace)).not.toHaveProperty(person.id)
  })

  it('is refused, without changes, while they are the last owner of a workspace with other members', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const stateOf = async () => [
      await findRoles(service, company.workspace),
      await eventsOf(company.workspace),
      (await as(owner, get('/v1/me'))).json<object>(),
    ]
    const before = await stateOf()
    for (const withWorkspaces of [false, true]) {
      expect(await remove(owner, withWorkspaces)).toEqual({
        isDeleted: false,
        lastOwnerOf: [{ slug: company.workspace.slug, name: 'Acme', memberCount: 4 }],
        aloneIn: [],
      })
    }
    expect(await stateOf()).toEqual(before)

    await addPerson(service, company.workspace, 'owner')
    expect(await remove(owner)).toMatchObject({ isDeleted: true })
    expect(
      await selectRows(db, sql`select creator_user_id from workspaces where id = ${company.workspace.id}`),
    ).toEqual([{ creator_user_id: null }])
    expect((await as(company.admin, get(company.url))).statusCode).toBe(200)
  })

  it('is refused while they are the only member of a workspace, unless the workspace is deleted too', async () => {
    const person = await createPerson()
    const slug = `w-${randomUUID().slice(0, 8)}`
    await as(person, post('/v1/workspaces', { name: 'Alone', slug }))
    await as(person, {
      method: 'POST',
      url: `/v1/workspaces/${slug}/icon`,
      ...buildUpload(await png()),
    })
    expect(await remove(person)).toEqual({
      isDeleted: false,
      lastOwnerOf: [],
      aloneIn: [{ slug, name: 'Alone', memberCount: 1 }],
    })
    expect((await as(person, get(`/v1/workspaces/${slug}`))).statusCode).toBe(200)

    expect(await remove(person, true)).toMatchObject({ isDeleted: true, left: [], deleted: [{ slug }] })
    await untilPicturesAreGone()
    expect(await dumpDatabase(service)).not.toContain(slug)
  })

  it('leaves an owner when both owners of a workspace are deleted concurrently', async () => {
    const company = await createCompany(service)
    const second = await addPerson(service, company.workspace, 'owner')
    const results = await Promise.all([remove(company.owner), remove(second)])
    expect(results.map(({ isDeleted }) => isDeleted).toSorted()).toEqual([false, true])
    const owners = Object.values(await findRoles(service, company.workspace)).filter(
      (role) => role === 'owner',
    )
    expect(owners).toHaveLength(1)
  })

  it('makes their email address available again', async () => {
    const person = await createPerson()
    expect(await remove(person)).toEqual({ isDeleted: true, left: [], deleted: [], known: [] })
    await expect(remove(person)).rejects.toMatchObject({ code: 'not_found' })
    const again = await createPerson({ email: person.email })
    expect((await as(again, del(`/v1/workspaces/x`))).statusCode).toBe(404)
    expect(again.id).not.toBe(person.id)
  })
})
