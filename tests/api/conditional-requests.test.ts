import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { errors } from '../../src/kernel/errors.ts'
import { countQueries } from '../support/count-queries.ts'
import { createComment } from '../support/comments.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createLabel, createSeed, insertGrant, joinSeed, saveFilter } from '../support/seeds.ts'
import { createServiceAccount } from '../support/service-accounts.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'
import { findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as } = service

/** What has a version, and a change of it; another number, another change. */
interface Versioned {
  read: string
  change: string
  make: (company: TestCompany) => Promise<{ url: string; body: (i: number) => object }>
}

const profileKind: Versioned = {
  read: 'me.profile',
  change: 'me.updateProfile',
  make: async () => ({ url: '/v1/me', body: (i) => ({ name: `Olga ${i}` }) }),
}
const workspaceKind: Versioned = {
  read: 'workspaces.get',
  change: 'workspaces.update',
  make: async ({ url, workspace }) => ({
    url,
    body: (i) => ({ name: `Acme ${i}`, slug: workspace.slug }),
  }),
}
const teamKind: Versioned = {
  read: 'teams.get',
  change: 'teams.rename',
  make: async (company) => ({
    url: (await createTeam(service, company.owner, company)).url,
    body: (i) => ({ name: `Team ${i}` }),
  }),
}
const savedFilterKind: Versioned = {
  read: 'savedFilters.get',
  change: 'savedFilters.update',
  make: async (company) => ({
    url: (await saveFilter(service, company.owner, company, { shared: true })).url,
    body: (i) => ({ name: `Filter ${i}` }),
  }),
}

const labelKind: Versioned = {
  read: 'labels.get',
  change: 'labels.update',
  make: async (company) => ({
    url: (await createLabel(service, company.owner, company)).url,
    body: (i) => ({ name: `Label ${i}` }),
  }),
}
const seedKind: Versioned = {
  read: 'seeds.get',
  change: 'seeds.update',
  make: async (company) => ({
    url: `/v1/seeds/${(await createSeed(service, company.owner, company)).id}`,
    body: (i) => ({ problem: `Problem ${i}` }),
  }),
}
const commentKind: Versioned = {
  read: 'comments.get',
  change: 'comments.update',
  async make(company) {
    const seed = await createSeed(service, company.owner, company)
    const { id } = await createComment(service, company.owner, seed, {
      body: `[@Mary](user:${company.member.id}), who says so?`,
    })
    return { url: `/v1/comments/${id}`, body: (i) => ({ body: `Who says so, ${i}?` }) }
  },
}
const evidenceKind: Versioned = {
  read: 'evidence.get',
  change: 'evidence.update',
  async make(company) {
    const seed = await createSeed(service, company.owner, company)
    const { id } = await addEvidence(service, company.owner, seed)
    return { url: `/v1/evidence/${id}`, body: (i) => ({ summary: `${i} of ten would` }) }
  },
}
// What they change is a member before.
const otherRoles = ['owner', 'admin', 'viewer'] as const
const otherRole = (i: number) => ({ role: otherRoles[i % otherRoles.length] })
const memberKind: Versioned = {
  read: 'members.get',
  change: 'members.updateRole',
  make: async ({ url, member }) => ({ url: `${url}/members/${member.id}`, body: otherRole }),
}
const inviteKind: Versioned = {
  read: 'invites.getById',
  change: 'invites.updateRole',
  make: async (company) => ({
    url: `${company.url}/invites/${(await createInvite(service, company.owner, company)).id}`,
    body: otherRole,
  }),
}
const otherScopes = [['workspace:read'], ['seeds:write'], ['workspace:read', 'seeds:write']]
const agentPolicyKind: Versioned = {
  read: 'workspaces.agentPolicy',
  change: 'workspaces.updateAgentPolicy',
  make: async ({ url }) => ({
    url: `${url}/agent-policy`,
    body: (i) => ({ scopes: otherScopes[i % otherScopes.length] }),
  }),
}
const preferencesKind: Versioned = {
  read: 'me.preferences',
  change: 'me.updatePreferences',
  make: async () => ({
    url: '/v1/me/preferences',
    body: (i) => ({ productUpdates: false, workspaceActivity: i % 2 === 0 }),
  }),
}
const notificationPreferencesKind: Versioned = {
  read: 'notifications.preferences',
  change: 'notifications.updatePreferences',
  make: async () => ({
    url: '/v1/me/notifications/preferences',
    body: (i) => ({ digest: false, mentions: i % 2 === 0 ? 'mail' : 'inbox' }),
  }),
}
const webhookKind: Versioned = {
  read: 'webhooks.get',
  change: 'webhooks.update',
  make: async (company) => ({
    url: (await createWebhook(service, company.owner, company, { url: 'https://127.0.0.1:1/' })).path,
    body: (i) => ({ description: `Number ${i}`, status: i % 2 === 0 ? 'active' : 'disabled' }),
  }),
}
const serviceAccountKind: Versioned = {
  read: 'serviceAccounts.get',
  change: 'serviceAccounts.update',
  make: async (company) => ({
    url: (await createServiceAccount(service, company.owner, company)).url,
    body: (i) => ({ name: `Sync ${i}` }),
  }),
}
const kinds = [
  ...[profileKind, workspaceKind, teamKind, labelKind, savedFilterKind, seedKind],
  ...[commentKind, evidenceKind, memberKind, inviteKind, agentPolicyKind],
  ...[preferencesKind, notificationPreferencesKind, webhookKind, serviceAccountKind],
]

async function start({ make }: Versioned) {
  const company = await createCompany(service)
  const { url, body } = await make(company)
  const { owner } = company
  const read = (headers: Record<string, string> = {}) => as(owner, { ...get(url), headers })
  const change = (i: number, ifMatch?: string) =>
    as(owner, { ...patch(url, body(i)), headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
  return { company, url, read, change }
}

const tagOf = ({ headers }: LightMyRequestResponse) => String(headers.etag)

it('the operations with these headers in the description are the ones that are tested here', () => {
  const { operations, resolve } = createDescriptionReader(app.swagger())
  const withHeader = (name: string) =>
    operations
      .filter(({ parameters = [] }) => parameters.some((parameter) => resolve(parameter).name === name))
      .map(({ operationId }) => operationId)
  const reads = [...kinds.map(({ read }) => read), 'integrations.get', 'attachments.content']
  expect(withHeader('If-None-Match').toSorted()).toEqual(reads.toSorted())
  // Rotating is tested in webhooks.rotateSecret.test.ts.
  const changes = [...kinds.map(({ change }) => change), 'webhooks.rotateSecret']
  expect(withHeader('If-Match').toSorted()).toEqual(changes.toSorted())
})

describe.each(kinds)('$read', (kind) => {
  it('returns a tag, which may be kept and must be checked, and the same one until something changes', async () => {
    const { url, company, read, change } = await start(kind)
    const answer = await read()
    expect(answer.statusCode, answer.body).toBe(200)
    expect(tagOf(answer)).toMatch(/^"[\w-]{16}\.[\w-]{16}"$/)
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect(tagOf(await read())).toBe(tagOf(answer))
    const head = await as(company.owner, { method: 'HEAD', url })
    expect(head.headers).toMatchObject({ etag: tagOf(answer), 'content-length': String(answer.body.length) })
    expect((await change(1)).statusCode).toBe(200)
    const [version, digest] = tagOf(answer).split('.')
    const [nextVersion, nextDigest] = tagOf(await read()).split('.')
    expect(nextVersion).not.toBe(version)
    expect(nextDigest).not.toBe(digest)
  })

  it('returns 304 without a body for a tag that is still true, however it is sent', async () => {
    const { url, company, read, change } = await start(kind)
    const tag = tagOf(await read())
    const sent: [header: string, answered: string][] = [
      [tag, tag],
      [`W/${tag}`, `W/${tag}`],
      [`"other", W/${tag}`, `W/${tag}`],
      ['*', tag],
      // As proxies that compress send it on.
      ...['gzip', 'br', 'zstd', 'df'].map((coding): [string, string] => {
        const suffixed = tag.replace(/"$/, `-${coding}"`)
        return [suffixed, suffixed]
      }),
    ]
    for (const [header, answered] of sent) {
      for (const method of ['GET', 'HEAD'] as const) {
        const request = { method, url, headers: { 'if-none-match': header } }
        const answer = await as(company.owner, request)
        expect(answer.statusCode, header).toBe(304)
        expect(answer.body).toBe('')
        expect(answer.headers).toMatchObject({ etag: answered, 'cache-control': 'private, no-cache' })
        expect(answer.headers['x-request-id']).toBeDefined()
        expect(answer.headers).not.toHaveProperty('content-length')
        expect(answer.headers).not.toHaveProperty('content-type')
      }
    }
    for (const header of ['"other"', tag.slice(1, -1), tag.replace('.', '"."')])
      expect((await read({ 'if-none-match': header })).statusCode, header).toBe(200)
    await change(1)
    const answer = await read({ 'if-none-match': tag })
    expect(answer.statusCode).toBe(200)
    expect(tagOf(answer)).not.toBe(tag)
  })

  it('sends no more statements than without a tag', async () => {
    const { read } = await start(kind)
    const tag = tagOf(await read())
    const plain = await countQueries(() => read())
    expect(await countQueries(() => read({ 'if-none-match': tag }))).toBe(plain)
  })

  it('returns errors that must not be kept, without a tag', async () => {
    const { url } = await start(kind)
    const answer = await app.inject({ ...get(url), headers: { 'if-none-match': '*' } })
    expectError(answer, errors.apiKeyRequired)
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(answer.headers).not.toHaveProperty('etag')
  })
})

describe.each(kinds)('$change', (kind) => {
  it('makes the change when a tag has the current version, and returns the next version', async () => {
    const { read, change } = await start(kind)
    const headers: ((tag: string) => string)[] = [
      (tag) => tag,
      (tag) => `W/${tag}`,
      (tag) => `"old.one", ${tag}`,
      () => '*',
    ]
    for (const [i, headerOf] of headers.entries()) {
      const answer = await change(i, headerOf(tagOf(await read())))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toMatchObject({ ok: true })
      // The next change is made with it; between the two, nobody else has changed anything.
      const [version] = tagOf(await read()).split('.')
      expect(tagOf(answer)).toBe(`${version}"`)
      const again = await change(i, tagOf(answer))
      expect(again.statusCode, again.body).toBe(200)
      expect(tagOf(again)).toBe(tagOf(answer))
      expectError(await change(i + 1, '"other"'), errors.preconditionFailed)
    }
  })

  it('returns no tag with a refusal', async () => {
    const { change } = await start(kind)
    const answer = await change(1, '"other"')
    expect(answer.statusCode).toBe(412)
    expect(answer.headers).not.toHaveProperty('etag')
  })

  it('returns 412 and changes nothing when none has, also when nothing would change', async () => {
    const { company, read, change } = await start(kind)
    const old = tagOf(await read())
    await change(1)
    const before = { body: (await read()).body, events: await findEvents(service, company.workspace) }
    for (const header of [old, `W/${old}`, '"other"', 'other', '', '"*"']) {
      for (const i of [1, 2]) expectError(await change(i, header), errors.preconditionFailed)
    }
    expect({ body: (await read()).body, events: await findEvents(service, company.workspace) }).toEqual(
      before,
    )
  })

  it('lets one of several changes with the same tag through', async () => {
    const { read, change } = await start(kind)
    const tag = tagOf(await read())
    const answers = await Promise.all([1, 2, 3, 4].map((i) => change(i, tag)))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 412, 412, 412])
  })

  it('is refused for other reasons first', async () => {
    const { company, url } = await start(kind)
    const headers = { 'if-match': '"old"' }
    expectError(await app.inject({ ...patch(url, {}), headers }), errors.apiKeyRequired)
    const malformed = await as(company.owner, { ...patch(url, { unknown: 1 }), headers })
    expect(malformed.json()).toMatchObject({ code: 'decode_error' })
  })
})

describe('the version of a seed', () => {
  it('stays when others add evidence or join: they change nothing that could get lost', async () => {
    const { company, url, read, change } = await start(seedKind)
    const first = await read()
    const { id } = first.json<{ id: string }>()
    await joinSeed(service, company.member, { id })
    const body = { kind: 'note', verdict: 'neutral', summary: 'It rains' }
    expect((await as(company.member, post(`${url}/evidence`, body))).statusCode).toBe(200)
    const second = await read({ 'if-none-match': tagOf(first) })
    expect(second.statusCode).toBe(200)
    expect(tagOf(second)).not.toBe(tagOf(first))
    expect((await change(1, tagOf(first))).statusCode).toBe(200)
  })

  it('is the same for all who read it, and the rest of the tag is not', async () => {
    const { company, url, change } = await start(seedKind)
    const reader = async (person: TestPerson) => tagOf(await as(person, get(url)))
    // The owner has joined what they created, the member has not.
    const [own, other] = [await reader(company.owner), await reader(company.member)]
    expect(own.split('.')[0]).toBe(other.split('.')[0])
    expect(own).not.toBe(other)
    expect((await change(1, other)).statusCode).toBe(200)
  })
})

describe('the version of a comment', () => {
  it('stays when a person whom it mentions is renamed', async () => {
    const { company, read, change } = await start(commentKind)
    const first = await read()
    const renamed = await as(company.member, patch('/v1/me', { name: 'Mary Poppins' }))
    expect(renamed.statusCode, renamed.body).toBe(200)
    const second = await read()
    expect(second.json<{ body: string }>().body).toContain('[@Mary Poppins]')
    expect(tagOf(second)).not.toBe(tagOf(first))
    expect(tagOf(second).split('.')[0]).toBe(tagOf(first).split('.')[0])
    expect((await change(1, tagOf(first))).statusCode).toBe(200)
  })

  it('is that of the text that is read, also when a mentioned account was deleted', async () => {
    const { url, read, change } = await start(commentKind)
    await service.db.execute(
      sql`delete from comment_mentions where comment_id = ${url.slice('/v1/comments/'.length)}`,
    )
    const answer = await read()
    expect(answer.json<{ body: string }>().body).toContain('@Deleted user')
    expect((await change(1, tagOf(answer))).statusCode).toBe(200)
  })
})

describe('integrations.get', () => {
  it('has a tag, although no operation changes what it returns', async () => {
    const company = await createCompany(service)
    const { id } = await insertGrant(service, company.workspace, company.owner)
    const url = `${company.url}/integrations/${id}`
    const tag = tagOf(await as(company.owner, get(url)))
    expect(tag).toMatch(/^"[\w-]{16}\.[\w-]{16}"$/)
    const again = await as(company.owner, { ...get(url), headers: { 'if-none-match': tag } })
    expect(again.statusCode).toBe(304)
  })
})

describe('a compressed response', () => {
  it('has a weak tag, which both headers accept, and its 304 says that it varies', async () => {
    const { company, url, read, change } = await start(seedKind)
    await as(company.owner, patch(url, { hypothesis: 'It is as we think. '.repeat(100) }))
    const plain = tagOf(await read())
    for (const coding of ['gzip', 'br']) {
      const answer = await read({ 'accept-encoding': coding })
      expect(answer.headers).toMatchObject({ 'content-encoding': coding, etag: `W/${plain}` })
    }
    const known = await read({ 'accept-encoding': 'br', 'if-none-match': `W/${plain}` })
    expect(known.statusCode).toBe(304)
    expect(known.headers).toMatchObject({ etag: `W/${plain}`, vary: 'Accept-Encoding' })
    expect(known.headers).not.toHaveProperty('content-encoding')
    const head = await as(company.owner, { method: 'HEAD', url, headers: { 'accept-encoding': 'br' } })
    expect(head.headers.etag).toBe(`W/${plain}`)
    expect((await change(1, `W/${plain}`)).statusCode).toBe(200)
  })
})

describe('a former slug', () => {
  it('gives the tag of the workspace, and its current path', async () => {
    const { company, url } = await start(workspaceKind)
    const slug = randomSlug()
    const renamed = await as(company.owner, patch(url, { name: 'Acme', slug }))
    expect(renamed.statusCode, renamed.body).toBe(200)
    const tag = tagOf(await as(company.owner, get(`/v1/workspaces/${slug}`)))
    const answer = await as(company.owner, { ...get(url), headers: { 'if-none-match': tag } })
    expect(answer.statusCode).toBe(304)
    expect(answer.headers['content-location']).toBe(`/v1/workspaces/${slug}`)
  })
})

describe('other responses', () => {
  it('have no tag, and must not be kept', async () => {
    const { owner, url } = await createCompany(service)
    for (const path of [
      `${url}/members`,
      `${url}/seeds`,
      '/v1/workspaces',
      '/v1/me/notifications/count',
      '/v1/me/home',
    ]) {
      const answer = await as(owner, { ...get(path), headers: { 'if-none-match': '*' } })
      expect(answer.statusCode, path).toBe(200)
      expect(answer.headers['cache-control'], path).toBe('private, no-store')
      expect(answer.headers, path).not.toHaveProperty('etag')
    }
  })

  it('let pages of other origins read the tag', async () => {
    const { owner } = await createCompany(service)
    const answer = await as(owner, { ...get('/v1/me'), headers: { origin: 'https://app.example.net' } })
    expect(String(answer.headers['access-control-expose-headers']).split(', ')).toContain('ETag')
  })
})
