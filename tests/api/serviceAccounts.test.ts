import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/areas/events/events.schemas.ts'
import type { Member } from '../../src/areas/members/members.service.ts'
import type { ServiceAccount } from '../../src/areas/serviceAccounts/serviceAccounts.service.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createKey, expectNotStored, expectWorks, pathOfKey } from '../support/api-keys.ts'
import { checkEach } from '../support/check-each.ts'
import {
  addPerson,
  createCompany,
  del,
  findJobs,
  findRoles,
  get,
  patch,
  post,
  randomEmail,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { operations, type Operation } from '../support/operations.ts'
import { prepareRequest } from '../support/prepare-request.ts'
import { createSeed, joinSeed } from '../support/seeds.ts'
import {
  createService,
  createServiceAccount,
  createServiceClient,
  createServiceKey,
} from '../support/service-accounts.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'

const service = await startTestApp()
const { as, db, services } = service

const listOf = async ({ admin, url }: TestCompany) =>
  (await as(admin, get(`${url}/service-accounts`))).json<ServiceAccount[]>()

const membersOf = async ({ viewer, url }: TestCompany) =>
  (await as(viewer, get(`${url}/members`))).json<Member[]>()

const eventsOf = async ({ owner, url }: TestCompany, query = '') =>
  (await as(owner, get(`${url}/events?limit=20${query}`))).json<Event[]>()

describe('serviceAccounts.create', () => {
  it('makes a member without sign-in, which everybody sees, and its makers list', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.admin, company, {
      name: ' CRM  sync ',
      role: 'admin',
    })
    const { url, ...listed } = account
    expect(url).toBe(`${company.url}/service-accounts/${account.id}`)
    expect(listed).toEqual({
      id: expect.any(String) as string,
      userId: expect.any(String) as string,
      name: 'CRM sync',
      role: 'admin',
      createdByUserId: company.admin.id,
      createdByName: company.admin.name,
      createdAt: expect.any(String) as string,
      lastUsedAt: null,
    })
    expect(account.userId).not.toBe(account.id)
    expect(await listOf(company)).toEqual([listed])
    expect((await membersOf(company)).find(({ userId }) => userId === account.userId)).toEqual({
      userId: account.userId,
      name: 'CRM sync',
      email: `${account.id}@service.invalid`,
      image: null,
      role: 'admin',
      kind: 'service',
      suspended: false,
      lastActivityAt: null,
      joinedAt: account.createdAt,
    })
    expect((await membersOf(company)).filter(({ kind }) => kind === 'person')).toHaveLength(4)
    const [user] = await selectRows(
      db,
      sql`select kind, email_verified_at, workspace_activity, product_updates,
        exists (select from passwords p where p.user_id = users.id) as has_password from users where id = ${account.userId}`,
    )
    expect(user).toEqual({
      kind: 'service',
      email_verified_at: null,
      workspace_activity: false,
      product_updates: false,
      has_password: false,
    })
  })

  it('is in the directory as a service account, by its own filter', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const kindsOf = async (query: string) =>
      (await as(company.owner, get(`${company.url}/people?${query}`)))
        .json<{ kind: string; userId: string }[]>()
        .map(({ kind, userId }) => (userId === account.userId ? 'it' : kind))
    expect((await kindsOf('')).filter((kind) => kind === 'it')).toHaveLength(1)
    expect(await kindsOf('kind=service')).toEqual(['it'])
    expect(await kindsOf('kind=member')).toEqual(['member', 'member', 'member', 'member'])
    expect(await kindsOf('kind=service&q=crm')).toEqual(['it'])
    expect(await kindsOf('kind=member&q=crm')).toEqual([])
    expect(await kindsOf('q=crm')).toEqual(['it'])
  })

  it('refuses an owner, the 21st, and a name that is none', async () => {
    const company = await createCompany(service)
    const create = (body: object) => as(company.owner, post(`${company.url}/service-accounts`, body))
    expect((await create({ name: 'Sync', role: 'owner' })).statusCode).toBe(400)
    expect((await create({ name: ' ', role: 'member' })).statusCode).toBe(400)
    for (let i = 0; i < 20; i++)
      expect((await create({ name: `Sync ${i}`, role: 'viewer' })).statusCode).toBe(200)
    expectError(await create({ name: 'Sync', role: 'viewer' }), errors.serviceAccountLimit)
    const [first] = await listOf(company)
    await as(company.owner, del(`${company.url}/service-accounts/${first?.id}`))
    expect((await create({ name: 'Sync', role: 'viewer' })).statusCode).toBe(200)
  })

  it('makes no more than 20 at the same moment', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 19; i++) await createServiceAccount(service, company.owner, company)
    const body = { name: 'Sync', role: 'viewer' }
    const answers = await Promise.all(
      [company.owner, company.admin].map((person) =>
        as(person, post(`${company.url}/service-accounts`, body)),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409])
  })
})

describe('serviceAccounts.update and delete', () => {
  it('change the name and the role from the next request on', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company, { role: 'viewer' })
    const write = () => as(account, post(`${company.url}/seeds`, { title: 'A seed', summary: 'An idea' }))
    expectError(await write(), errors.roleInsufficient)
    const answer = await as(company.admin, patch(account.url, { role: 'member' }))
    expect(answer.json()).toEqual({ ok: true })
    expect((await write()).statusCode).toBe(200)
    await as(company.admin, patch(account.url, { name: 'Importer' }))
    expect(await listOf(company)).toMatchObject([{ name: 'Importer', role: 'member' }])
    expect((await as(account, get('/v1/me'))).json()).toMatchObject({ name: 'Importer' })
  })

  it('ends the keys and the membership, and keeps what it wrote with its name', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company)
    const seed = await createSeed(service, account, company)
    expect((await as(company.owner, del(account.url))).json()).toEqual({ ok: true })
    await expectWorks(service, account, false)
    expect(await listOf(company)).toEqual([])
    expect(await membersOf(company)).toHaveLength(4)
    expect((await as(company.owner, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      createdByUserId: account.userId,
      createdByName: 'CRM sync',
    })
    for (const request of [
      patch(account.url, { name: 'x' }),
      get(`${account.url}/api-keys`),
      post(`${account.url}/api-keys`, { name: 'x' }),
    ])
      expectError(await as(company.owner, request), errors.notFound)
  })

  it('are not for an account of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { id } = await createServiceAccount(service, other.owner, other)
    const path = `${company.url}/service-accounts/${id}`
    expectError(await as(company.owner, patch(path, { name: 'x' })), errors.notFound)
    expectError(await as(company.owner, del(path)), errors.notFound)
    expect(await listOf(other)).toHaveLength(1)
  })
})

describe('keys of a service account', () => {
  it('are shown once, listed, bound to the workspace, rotated and revoked', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const key = await createServiceKey(service, company.owner, company, account)
    await expectNotStored(service, key.secret)
    await expectWorks(service, key, true)
    const keysUrl = `${account.url}/api-keys`
    const { name, tokenPrefix, lastFour } = key
    expect((await as(company.admin, get(keysUrl))).json()).toMatchObject([
      { id: key.id, name, tokenPrefix, lastFour },
    ])
    expect((await as(key, get(`${pathOfKey(key.id)}/restrictions`))).json()).toEqual({
      expiresAt: null,
      access: 'full',
      maxRole: null,
      workspaceIds: [company.workspace.id],
    })
    const rotated = await as(company.admin, post(`${keysUrl}/${key.id}/rotate`, { overlapSeconds: 0 }))
    const { secret, id } = rotated.json<{ secret: string; id: string }>()
    await expectWorks(service, key, false)
    await expectWorks(service, { apiKey: secret }, true)
    expect((await as({ apiKey: secret }, get(`${pathOfKey(id)}/restrictions`))).json()).toMatchObject({
      workspaceIds: [company.workspace.id],
    })
    for (let i = 0; i < 2; i++)
      expect((await as(company.owner, post(`${keysUrl}/${id}/revoke`))).json()).toEqual({ ok: true })
    await expectWorks(service, { apiKey: secret }, false)
    expect((await as(company.admin, get(keysUrl))).json()).toEqual([])
    expect(await eventsOf(company, '&type=service_account.key_revoked')).toHaveLength(1)
  })

  it('are mailed to nobody, neither when they are made nor before they expire', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const expiresAt = new Date(Date.now() + 30 * 24 * 60 * 60 * 1000).toISOString()
    const key = await createServiceKey(service, company.owner, company, account, { expiresAt })
    expect(await findJobs(service, account.userId)).toEqual([])
    const rows = await selectRows(db, sql`select expiry_notice_at from api_keys where id = ${key.id}`)
    expect(rows).toEqual([{ expiry_notice_at: null }])
  })

  it('only read, if they were made so, and expire', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const key = await createServiceKey(service, company.owner, company, account, { access: 'read' })
    const seeds = `${company.url}/seeds`
    expect((await as(key, get(seeds))).statusCode).toBe(200)
    expectError(await as(key, post(seeds, { title: 'x', summary: 'x' })), errors.keyReadOnly)
    const past = { name: 'x', expiresAt: '2020-01-01T00:00:00.000Z' }
    expectError(await as(company.owner, post(`${account.url}/api-keys`, past)), errors.expiryInPast, {
      field: 'expiresAt',
    })
  })

  it('are not made or rotated by a key that may do less than they', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const key = await createServiceKey(service, company.owner, company, account)
    const expiring = await createKey(service, company.owner, { expiresAt: '2100-01-01T00:00:00.000Z' })
    const keysUrl = `${account.url}/api-keys`
    expectError(await as(expiring, post(keysUrl, { name: 'x' })), errors.keyRestricted)
    expectError(await as(expiring, post(`${keysUrl}/${key.id}/rotate`)), errors.keyRestricted)
    const within = { name: 'x', expiresAt: '2099-01-01T00:00:00.000Z' }
    expect((await as(expiring, post(keysUrl, within))).statusCode).toBe(200)
    expect((await as(expiring, post(`${keysUrl}/${key.id}/revoke`))).statusCode).toBe(200)
  })

  it('get a higher role by no key that makes no endless key with it', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company, { role: 'member' })
    const expiring = await createKey(service, company.owner, { expiresAt: '2100-01-01T00:00:00.000Z' })
    const become = (by: { apiKey: string }, role: string) => as(by, patch(account.url, { role }))
    expectError(await become(expiring, 'admin'), errors.keyRestricted)
    expect(await findRoles(service, company.workspace)).toMatchObject({ [account.userId]: 'member' })
    expect((await become(expiring, 'viewer')).statusCode).toBe(200)
    const bound = await createKey(service, company.owner, { workspaceIds: [company.workspace.id] })
    expect((await become(bound, 'admin')).statusCode).toBe(200)
  })

  it('act with at most their highest role, and that of the account', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company, { role: 'admin' })
    const viewing = await createServiceKey(service, company.owner, company, account, { maxRole: 'viewer' })
    const seeds = `${company.url}/seeds`
    expect((await as(viewing, get(seeds))).statusCode).toBe(200)
    expectError(await as(viewing, post(seeds, { title: 'x', summary: 'x' })), errors.roleInsufficient)
    expectError(await as(viewing, get(`${company.url}/invites`)), errors.roleInsufficient)
    // A key of an owner that acts as an admin makes those that do no more: the role of the account counts as well.
    const asAdmin = await createKey(service, company.owner, { maxRole: 'admin' })
    const member = await createServiceAccount(service, company.owner, company, { role: 'member' })
    expect((await as(asAdmin, post(`${member.url}/api-keys`, { name: 'x' }))).statusCode).toBe(200)
    expect((await as(asAdmin, post(`${account.url}/api-keys`, { name: 'x' }))).statusCode).toBe(200)
    expect((await as(asAdmin, post(`${account.url}/api-keys/${viewing.id}/rotate`))).statusCode).toBe(200)
    const listed = (await as(company.owner, get(`${company.url}/api-keys`))).json<object[]>()
    expect(listed).toContainEqual(
      expect.objectContaining({
        id: viewing.id,
        kind: 'service',
        ownerUserId: account.userId,
        maxRole: 'viewer',
      }),
    )
  })

  it('of another account, or of a person, are not found', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const other = await createService(service, company.owner, company)
    for (const id of [other.apiKeyId, company.owner.apiKeyId, 'x'])
      for (const verb of ['rotate', 'revoke'])
        expectError(await as(company.owner, post(`${account.url}/api-keys/${id}/${verb}`)), errors.notFound)
    await expectWorks(service, other, true)
  })
})

describe('a service account', () => {
  it('is the actor of its events, as a service', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company)
    const seed = await createSeed(service, account, company)
    const [event] = await eventsOf(company, `&actorUserId=${account.userId}`)
    expect(event).toMatchObject({
      type: 'seed.created',
      actorType: 'service',
      actorUserId: account.userId,
      actorName: 'CRM sync',
      apiKeyId: account.apiKeyId,
      source: 'api',
      targetId: seed.id,
    })
  })

  /** What it may read outside of its workspace. */
  const outside = ['me.profile', 'me.home', 'me.onboarding', 'me.preferences', 'workspaces.list'].concat(
    ...['apiKeys.list', 'apiKeys.get', 'apiKeys.restrictions'],
  )
  const notOfServices = ['workspaces.delete', 'workspaces.transferOwnership', 'workspaces.export'].concat(
    ...['workspaces.agentPolicy', 'workspaces.updateAgentPolicy', 'evidence.see', 'evidence.unsee'],
  )

  function refusalOf(id: string, { isOutside, isForInvited, isForOffered, request }: Operation) {
    const isElsewhere = isOutside ?? isForInvited ?? isForOffered ?? request.includes('{token}')
    const isOfPeople = / \/v1\/(me|api-keys|invites|slugs)\b/.test(request) || isElsewhere
    if (outside.includes(id)) return undefined
    return isOfPeople || notOfServices.includes(id) ? errors.serviceAccountNotAllowed : undefined
  }

  it('as an admin, may do in its workspace what an admin may, and outside of it only what is listed', async () => {
    const shared = await createCompany(service)
    const account = await createService(service, shared.owner, shared, { role: 'admin' })
    const actor = {
      ...{ id: account.userId, name: account.name, email: `${account.id}@service.invalid` },
      ...{ apiKey: account.apiKey, apiKeyId: account.apiKeyId },
    }
    const ofKeys = Object.entries(operations).filter(([, { request }]) => request.includes(' /v1/'))
    let allowed = 0
    await checkEach(
      ofKeys,
      ([id]) => id,
      async ([id, operation]) => {
        const values = { apiKeyId: account.apiKeyId }
        const refusal = refusalOf(id, operation)
        // What has to be true for a person may not be so for a service account.
        const prepared = refusal ? { ...operation, given: async () => undefined } : operation
        const { request } = await prepareRequest(service, prepared, { company: shared, actor, values })
        const answer = await as(actor, request)
        if (refusal) expectError(answer, refusal)
        else expect(answer.statusCode, answer.body).toBe(200)
        if (!refusal) allowed++
      },
    )
    expect(allowed).toBeGreaterThan(80)
  })

  it('reaches no other workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const account = await createService(service, company.owner, company, { role: 'admin' })
    expectError(await as(account, get(other.url)), errors.keyNotForWorkspace)
    const listed = (await as(account, get('/v1/workspaces'))).json<{ id: string }[]>()
    expect(listed.map(({ id }) => id)).toEqual([company.workspace.id])
  })

  it('is changed and removed as no person is, and never owns the workspace', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company)
    const member = `${company.url}/members/${account.userId}`
    const transfer = post(`${company.url}/transfer-ownership`, { userId: account.userId })
    for (const request of [patch(member, { role: 'admin' }), del(member), transfer])
      expectError(await as(company.owner, request), errors.isServiceAccount)
    expectError(await as(account, del(member)), errors.isServiceAccount)
  })

  it('leads nothing, is mentioned nowhere, and is told nothing', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company)
    const own = await createSeed(service, account, company)
    const shown = (await as(company.owner, get(`/v1/seeds/${own.id}`))).json<object>()
    expect(shown).toMatchObject({ leadUserId: null, leadName: null, participantCount: 1 })
    const lead = patch(`/v1/seeds/${own.id}`, { leadUserId: account.userId })
    expectError(await as(company.owner, lead), errors.leadInvalid, { field: 'leadUserId' })
    const body = `Ask [@CRM sync](user:${account.userId})`
    const answer = await as(company.owner, post(`/v1/seeds/${own.id}/comments`, { body }))
    expect(answer.json()).toMatchObject({ comment: { mentions: [] } })
    await joinSeed(service, company.owner, own)
    await as(company.owner, patch(`/v1/seeds/${own.id}`, { status: 'validating' }))
    const told = await selectRows(db, sql`select kind from notifications where user_id = ${account.userId}`)
    expect(told).toEqual([])
  })

  it('does not count as a member in offers, nor as somebody who is left behind', async () => {
    const company = await createCompany(service)
    await createServiceAccount(service, company.owner, company)
    const alone = await createCompany(service)
    await createServiceAccount(service, alone.owner, alone)
    for (const person of [alone.admin, alone.member, alone.viewer])
      await as(person, del(`${alone.url}/members/${person.id}`))
    const { isDeleted } = await services.accounts.delete(alone.owner.id, { withWorkspaces: true })
    expect(isDeleted).toBe(true)
    const users = await selectRows(
      db,
      sql`select 1 from service_accounts where workspace_id = ${alone.workspace.id}
        union all select 1 from workspaces where id = ${alone.workspace.id}`,
    )
    expect(users).toEqual([])
  })

  it('goes with its workspace: its user too, also when it was deleted before', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.owner, company)
    await createSeed(service, account, company)
    const gone = await createService(service, company.owner, company)
    await createSeed(service, gone, company)
    await as(company.owner, del(gone.url))
    for (const person of [company.admin, company.member, company.viewer])
      await as(person, del(`${company.url}/members/${person.id}`))
    await services.accounts.delete(company.owner.id, { withWorkspaces: true })
    const left = await selectRows(
      db,
      sql`select 1 from users where id in (${account.userId}, ${gone.userId})`,
    )
    expect(left).toEqual([])
  })

  it('stays when its maker leaves, without their name once their account is deleted', async () => {
    const company = await createCompany(service)
    const account = await createService(service, company.admin, company)
    await as(company.admin, del(`${company.url}/members/${company.admin.id}`))
    await expectWorks(service, account, true)
    const list = async () =>
      (await as(company.owner, get(`${company.url}/service-accounts`))).json<object[]>()
    expect(await list()).toMatchObject([{ createdByName: company.admin.name }])
    await services.accounts.delete(company.admin.id, { withWorkspaces: true })
    expect(await list()).toMatchObject([{ createdByUserId: null, createdByName: null }])
    await expectWorks(service, account, true)
  })

  it('is no account of a person for operators', async () => {
    const company = await createCompany(service)
    const { id, userId } = await createServiceAccount(service, company.owner, company)
    expect(await services.accounts.findById(userId)).toBeUndefined()
    expect(await services.accounts.findByEmail(`${id}@service.invalid`)).toBeUndefined()
    await expect(services.accounts.delete(userId, { withWorkspaces: true })).rejects.toMatchObject({
      code: 'not_found',
    })
    const { items } = await services.accounts.list({ query: 'CRM sync' })
    expect(items.filter((item) => item.id === userId)).toEqual([])
  })
})

describe('the domain of service accounts', () => {
  it.each(['ada@service.invalid', 'ada@SERVICE.invalid', 'ada@x.service.invalid'])(
    'is refused: %s',
    async (email) => {
      const company = await createCompany(service)
      const invite = post(`${company.url}/invites`, { email, role: 'member' })
      expectError(await as(company.owner, invite), errors.emailInvalid, { field: 'email' })
      await expect(services.accounts.create({ email, name: 'Ada', isVerified: true })).rejects.toMatchObject({
        code: 'email_invalid',
      })
      const allowedDomains = email.slice(email.indexOf('@') + 1)
      expectError(
        await as(
          company.owner,
          patch(company.url, { name: 'Acme', slug: company.workspace.slug, allowedDomains }),
        ),
        errors.domainInvalid,
        {
          field: 'allowedDomains',
        },
      )
    },
  )
})

describe('when somebody who was shown secrets is no longer an owner or admin, or is suspended', () => {
  const knownOf = (company: TestCompany) => eventsOf(company, '&type=service_account.keys_known')
  const inboxOf = async (person: { apiKey: string }) =>
    (await as(person, get('/v1/me/notifications')))
      .json<{ kind: string; text: string; path: string }[]>()
      .filter(({ kind }) => kind === 'keys_known')

  const ends = {
    'they are made a member': ({ owner, admin, url }: TestCompany) =>
      as(owner, patch(`${url}/members/${admin.id}`, { role: 'member' })),
    'they are removed': ({ owner, admin, url }: TestCompany) => as(owner, del(`${url}/members/${admin.id}`)),
    'they leave': ({ admin, url }: TestCompany) => as(admin, del(`${url}/members/${admin.id}`)),
    'their account is deleted': ({ admin }: TestCompany) =>
      services.accounts.delete(admin.id, { withWorkspaces: true }),
    'they are suspended': ({ admin }: TestCompany) =>
      services.accounts.suspend(admin.id, { isForced: false }),
  }

  it.each(Object.entries(ends))('%s: the others are told which, to rotate them', async (how, end) => {
    const company = await createCompany(service)
    const second = await addPerson(service, company.workspace, 'admin', 'Second Admin')
    const account = await createServiceAccount(service, company.owner, company)
    const known = await createServiceKey(service, company.admin, company, account, { name: 'Known' })
    const revoked = await createServiceKey(service, company.admin, company, account, { name: 'Revoked' })
    await as(company.owner, post(`${account.url}/api-keys/${revoked.id}/revoke`))
    await createServiceKey(service, company.owner, company, account, { name: 'Unknown' })
    const client = await createServiceClient(service, company.admin, account, { name: 'Import' })
    const others = [
      await createServiceClient(service, company.admin, account, { name: 'Revoked' }),
      await createServiceClient(service, company.admin, account, { name: 'Rotated' }),
    ]
    await as(company.owner, post(`${account.url}/clients/${others[0]?.id}/revoke`))
    await as(company.owner, post(`${account.url}/clients/${others[1]?.id}/rotate`, { overlapSeconds: 0 }))
    const url = 'https://hooks.example.com/secret/path'
    const webhook = await createWebhook(service, company.owner, company, { url })
    await as(company.admin, post(`${webhook.path}/rotate-secret`))
    const rotated = await createWebhook(service, company.admin, company, { url })
    await as(company.owner, post(`${rotated.path}/rotate-secret`, { overlapSeconds: 0 }))
    await createWebhook(service, company.admin, company, { url, format: 'slack' })
    await end(company)
    expect(await knownOf(company)).toMatchObject([
      {
        targetId: company.admin.id,
        actorName: how === 'they are suspended' ? 'An operator' : (expect.any(String) as string),
        data: {
          userId: company.admin.id,
          clients: [
            {
              serviceAccountId: account.id,
              serviceAccountName: 'CRM sync',
              grantId: client.id,
              clientName: 'Import',
            },
          ],
          webhooks: [{ webhookId: webhook.id, host: 'hooks.example.com' }],
          keys: [
            {
              serviceAccountId: account.id,
              serviceAccountName: 'CRM sync',
              apiKeyId: known.id,
              keyName: 'Known',
              lastFour: known.lastFour,
            },
          ],
        },
      },
    ])
    const state = how === 'they are suspended' ? 'was suspended' : 'is no longer an owner or admin'
    const told = {
      text:
        `Somebody who knows secrets of Acme ${state}. Rotate the API key Known (…${known.lastFour}) of CRM sync, ` +
        'the OAuth client Import of CRM sync and the secret of the webhook to hooks.example.com',
      path: `/w/${company.workspace.slug}/settings`,
    }
    expect(await inboxOf(second)).toMatchObject([told])
    // The owner who did it knows.
    const isByOwner = ['they are made a member', 'they are removed'].includes(how)
    expect(await inboxOf(company.owner)).toMatchObject(isByOwner ? [] : [told])
    expect(await inboxOf(company.member)).toEqual([])
    if (how !== 'they are suspended') return
    await services.accounts.unsuspend(company.admin.id)
    expect(await inboxOf(company.admin)).toEqual([])
  })

  it('names former secrets while they work, and keys that clients gave', async () => {
    const company = await createCompany(service)
    const { admin, owner } = company
    const account = await createServiceAccount(service, owner, company)
    const method = 'private_key_jwt'
    const own = await createServiceClient(service, admin, account, {
      method,
      jwksUri: 'https://keys.example/',
    })
    const client = await createServiceClient(service, admin, account)
    const webhook = await createWebhook(service, admin, company, { url: 'https://hooks.example.com/' })
    await as(owner, post(`${account.url}/clients/${client.id}/rotate`))
    await as(owner, post(`${webhook.path}/rotate-secret`))
    const { known } = (await services.accounts.suspend(admin.id, { isForced: false })) as {
      known: { slug: string; secrets: string[] }[]
    }
    expect(known).toEqual([
      {
        slug: company.workspace.slug,
        secrets: [
          'the OAuth client Nightly import of CRM sync',
          'the OAuth client Nightly import of CRM sync',
          'the secret of the webhook to hooks.example.com',
        ],
      },
    ])
    const [event] = await knownOf(company)
    expect(event?.data).toMatchObject({ clients: [{ grantId: own.id }, { grantId: client.id }] })
    await services.accounts.unsuspend(admin.id)
    const [told] = await inboxOf(owner)
    expect(told?.path).toBe(`/w/${company.workspace.slug}/settings`)

    await db.execute(sql`update agent_grants set former_secret_until = now() where id = ${client.id}`)
    await db.execute(
      sql`update webhook_former_secrets set signs_until = now() where webhook_id = ${webhook.id}`,
    )
    await as(owner, del(`${company.url}/members/${admin.id}`))
    const [last] = await knownOf(company)
    expect(last?.data).toMatchObject({ keys: [], clients: [{ grantId: own.id }] })
    expect(last?.data).not.toHaveProperty('webhooks')
    expect(await inboxOf(owner)).toHaveLength(1)
  })

  it('tells of each invite that is made with a key they know, which may be their own', async () => {
    const company = await createCompany(service)
    const { admin, owner } = company
    const account = await createServiceAccount(service, owner, company, { role: 'admin' })
    const key = await createServiceKey(service, admin, company, account, { name: 'Known' })
    const invite = async (credential: { apiKey: string }) => {
      const body = { email: randomEmail(), role: 'member' }
      expect((await as(credential, post(`${company.url}/invites`, body))).statusCode).toBe(200)
    }
    await invite({ apiKey: key.secret })
    expect(await inboxOf(owner)).toEqual([])
    await as(owner, del(`${company.url}/members/${admin.id}`))
    await invite({ apiKey: key.secret })
    await invite(owner)
    const unknown = await createServiceKey(service, owner, company, account, { name: 'Unknown' })
    await invite({ apiKey: unknown.secret })
    expect(await inboxOf(owner)).toMatchObject([
      {
        text:
          `Somebody was invited to Acme with the API key Known (…${key.lastFour}) of CRM sync, which a former owner or ` +
          'admin knows. Rotate it, and look at the invite',
        path: `/w/${company.workspace.slug}/settings/service-accounts/${account.id}`,
      },
    ])
  })

  it('says nothing when they were shown none, or another role lets them manage still', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    await createServiceKey(service, company.owner, company, account)
    await as(company.owner, post(`${company.url}/transfer-ownership`, { userId: company.member.id }))
    await as(company.member, del(`${company.url}/members/${company.admin.id}`))
    expect(
      (await as(company.member, get(`${company.url}/events?type=service_account.keys_known`))).json(),
    ).toEqual([])
  })
})
