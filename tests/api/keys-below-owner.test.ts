import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { permissions } from '../../src/access/permissions.ts'
import { roles } from '../../src/domain/roles.ts'
import { untilActivityIsRecorded } from '../support/activity.ts'
import { createKey, noRestrictions, pathOfKey } from '../support/api-keys.ts'
import { checkEach } from '../support/check-each.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  del,
  findRoles,
  get,
  patch,
  post,
  put,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { insertNotification } from '../support/notifications.ts'
import { operations } from '../support/operations.ts'
import { prepareRequest } from '../support/prepare-request.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const service = await startTestApp({
  // Links say until when they are valid.
  clock: createTestClock(),
})
const { as } = service

const below = roles.filter((role) => role !== 'owner')

/** What is read in a workspace. A stream and an export are no lists of what can be compared. */
const reads = Object.entries(operations).filter(
  ([id, { request }]) =>
    request.startsWith('GET /v1/') &&
    id in permissions &&
    !['events.stream', 'workspaces.export'].includes(id),
)

describe.each(below)('a key of an owner that acts as %s at most', (maxRole) => {
  it('reads exactly what a person of that role reads', async () => {
    const company = await createCompany(service)
    const { workspace, owner } = company
    await createInvite(service, owner, company)
    await createSeed(service, owner, company)
    await insertGrant(service, workspace, owner)
    await as(owner, patch(company.url, { name: 'Acme Looms', slug: workspace.slug }))
    const person = await addPerson(service, workspace, maxRole, 'Percy Person')
    const other = await addPerson(service, workspace, 'owner', 'Olaf Owner')
    const key = await createKey(service, other, { maxRole })
    await untilActivityIsRecorded(service, workspace)
    await checkEach(
      reads,
      ([id]) => id,
      async ([, operation]) => {
        const { request } = await prepareRequest(service, operation, {
          company,
          actor: owner,
          target: 'owner',
        })
        const [ofPerson, ofKey] = [await as(person, request), await as(key, request)]
        expect(ofKey.statusCode).toBe(ofPerson.statusCode)
        const [shown, expected] = [ofKey, ofPerson].map(({ body }) => withoutCaller(body))
        expect(shown).toBe(expected)
      },
    )
    function withoutCaller(body: string) {
      return body
        .replace(/"requestId":"[^"]+"/, '')
        .replace(/"userId":"[^"]+","workspaceId"/, '"workspaceId"')
    }
  })

  it('reads that role as that of its owner', async () => {
    const { workspace, owner, url } = await createCompany(service)
    const key = await createKey(service, owner, { maxRole })
    expect((await as(key, get(url))).json()).toMatchObject({ role: maxRole })
    const listed = (await as(key, get('/v1/workspaces'))).json<{ id: string; role: string }[]>()
    expect(listed.find(({ id }) => id === workspace.id)).toMatchObject({ role: maxRole })
    expect((await as(key, get('/v1/me/onboarding'))).json()).toMatchObject({ existing: { role: maxRole } })
  })

  it('leaves its owner what they are', async () => {
    const { workspace, admin, url } = await createCompany(service)
    const owner = await addPerson(service, workspace, 'owner')
    const key = await createKey(service, owner, { maxRole })
    const before = await findRoles(service, workspace)
    expectError(await as(key, del(`${url}/members/${owner.id}`)), errors.roleTooHigh)
    const demoted = await as(key, patch(`${url}/members/${owner.id}`, { role: 'viewer' }))
    expectError(demoted, maxRole === 'admin' ? errors.roleTooHigh : errors.roleInsufficient)
    const removed = await as(key, del(`${url}/members/${admin.id}`))
    expectError(removed, maxRole === 'admin' ? errors.roleTooHigh : errors.roleInsufficient)
    expect(await findRoles(service, workspace)).toEqual(before)
  })

  it('is told what people of that role are told', async () => {
    const { workspace, owner } = await createCompany(service)
    const inbox = { workspaceId: workspace.id, userId: owner.id }
    const accepted = await insertNotification(service, inbox, { kind: 'invite_accepted' })
    const changed = await insertNotification(service, inbox, {
      kind: 'role_changed',
      data: { role: 'owner' },
    })
    const key = await createKey(service, owner, { maxRole })
    const isManager = maxRole === 'admin'
    const list = (await as(key, get('/v1/me/notifications'))).json<{ id: string }[]>()
    expect(list.map(({ id }) => id).toSorted()).toEqual(
      (isManager ? [accepted, changed] : [changed]).toSorted(),
    )
    expect((await as(key, get('/v1/me/notifications/count'))).json()).toEqual({ unread: list.length })
    await as(key, post('/v1/me/notifications/read', { until: '9999-01-01T00:00:00.000Z' }))
    const left = (await as(owner, get('/v1/me/notifications?unread=true'))).json<{ id: string }[]>()
    expect(left.map(({ id }) => id)).toEqual(isManager ? [] : [accepted])
  })
})

it('acts with the role of its owner where that is lower, from the next request on', async () => {
  const { workspace, owner, member, url } = await createCompany(service)
  const key = await createKey(service, member, { maxRole: 'admin' })
  expect((await as(key, get(url))).json()).toMatchObject({ role: 'member' })
  expectError(await as(key, post(`${url}/teams`, { name: 'Weavers' })), errors.roleInsufficient)
  await as(owner, patch(`${url}/members/${member.id}`, { role: 'owner' }))
  expect((await as(key, get(url))).json()).toMatchObject({ role: 'admin' })
  expect((await as(key, post(`${url}/teams`, { name: 'Weavers' }))).statusCode).toBe(200)
  expectError(await as(key, get(`${url}/export`)), errors.roleInsufficient)
  expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'owner' })
})

it('makes no key that may act with a higher role, and gives itself none', async () => {
  const { owner } = await createCompany(service)
  const key = await createKey(service, owner, { maxRole: 'member' })
  const create = (maxRole?: string | null) =>
    as(key, post('/v1/api-keys/restricted', { ...bodyWith(maxRole), name: 'Another' }))
  for (const maxRole of ['owner', 'admin', null, undefined])
    expectError(await create(maxRole), errors.keyRestricted)
  for (const maxRole of ['member', 'viewer']) expect((await create(maxRole)).statusCode).toBe(200)
  expectError(await as(key, post('/v1/api-keys', { name: 'Full' })), errors.keyRestricted)

  const path = `${pathOfKey(key.id)}/restrictions`
  expectError(await as(key, put(path, bodyWith(null))), errors.keyRestricted)
  expectError(await as(key, put(path, bodyWith('admin'))), errors.keyRestricted)
  // A client that does not know the field leaves it as it is.
  expect((await as(owner, put(path, bodyWith(undefined)))).statusCode).toBe(200)
  expect((await as(key, get(path))).json()).toEqual({ ...noRestrictions, maxRole: 'member' })
  expect((await as(key, put(path, bodyWith('viewer')))).statusCode).toBe(200)
  expect((await as(key, get(path))).json()).toEqual({ ...noRestrictions, maxRole: 'viewer' })

  function bodyWith(maxRole: string | null | undefined) {
    return { expiresAt: null, access: 'full', workspaceIds: null, ...(maxRole !== undefined && { maxRole }) }
  }
})

it('invites at most with its role, and acts on nobody of it', async () => {
  const { admin, owner, url } = await createCompany(service)
  const key = await createKey(service, owner, { maxRole: 'admin' })
  const invite = (role: string) => as(key, post(`${url}/invites`, { email: `${role}@keys.example`, role }))
  expectError(await invite('owner'), errors.roleTooHigh)
  expect((await invite('admin')).statusCode).toBe(200)
  expectError(await as(key, patch(`${url}/members/${admin.id}`, { role: 'viewer' })), errors.roleTooHigh)
})

it('deletes what its owner made only where it may write at all', async () => {
  const company = await createCompany(service)
  const { id } = await createSeed(service, company.owner, company)
  const asViewer = await createKey(service, company.owner, { maxRole: 'viewer' })
  expectError(await as(asViewer, del(`/v1/seeds/${id}`)), errors.roleInsufficient)
  const asMember = await createKey(service, company.owner, { maxRole: 'member' })
  expect((await as(asMember, del(`/v1/seeds/${id}`))).statusCode).toBe(200)
})

it('400: HttpApiDecodeError for what is no role', async () => {
  const { owner } = await createCompany(service)
  for (const maxRole of ['Owner', '', 1, []]) {
    const answer = await as(owner, post('/v1/api-keys/restricted', { name: 'x', ...noRestrictions, maxRole }))
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      code: 'decode_error',
      issues: [{ _tag: 'Type', path: ['maxRole'] }],
    })
  }
})
