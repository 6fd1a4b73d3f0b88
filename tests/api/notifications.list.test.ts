import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteOldNotifications } from '../../src/areas/notifications/notifications.repository.ts'
import { notifyFollowers, notifyMembers } from '../../src/areas/notifications/notify.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createKey, noRestrictions } from '../support/api-keys.ts'
import { addPerson, createCompany, createInvite, del, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { insertComment, insertNotification, listNotifications } from '../support/notifications.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)
const { owner, admin, member, viewer, url, workspace } = company

const path = '/v1/me/notifications'
const textsOf = async (person: TestPerson, query = '') =>
  (await listNotifications(service, person, query)).map(({ text }) => text)

/** Somebody who is told of nothing yet. */
const addReader = () => addPerson(service, workspace, 'member', 'Rita Reader')

const asPrincipal = ({ id, name }: TestPerson, agentName?: string) => ({
  user: { id, name, email: '', emailVerifiedAt: null, imageKey: null },
  ...(agentName !== undefined && { agentName }),
})

async function follow({ id }: { id: string }, person: TestPerson): Promise<void> {
  await db.execute(sql`
    insert into seed_followers (seed_id, user_id, workspace_id) values (${id}, ${person.id}, ${workspace.id})
    on conflict do nothing`)
}

describe('200', () => {
  it('returns the notifications of the caller, newest first, with all fields', async () => {
    const reader = await addReader()
    const seed = await createSeed(service, member, company, { title: 'Self-service onboarding' })
    const commentId = await insertComment(service, { seedId: seed.id, author: member })
    const at = { workspaceId: workspace.id, userId: reader.id }
    const first = await insertNotification(service, at, { createdAt: new Date('2026-11-20T10:00:00Z') })
    const second = await insertNotification(service, at, {
      kind: 'mention',
      seedId: seed.id,
      commentId,
      actorUserId: member.id,
      actorName: 'Grace Hopper',
      data: { evidenceId: null },
      createdAt: new Date('2026-11-21T10:00:00Z'),
      readAt: new Date('2026-11-22T10:00:00Z'),
    })
    await insertNotification(service, { ...at, userId: viewer.id })
    expect(await listNotifications(service, reader)).toEqual([
      {
        id: second,
        kind: 'mention',
        workspaceSlug: workspace.slug,
        workspaceName: 'Acme',
        seedId: seed.id,
        seedTitle: 'Self-service onboarding',
        actorName: 'Grace Hopper',
        agentName: null,
        text: 'Grace Hopper mentioned you in Self-service onboarding',
        path: `/w/${workspace.slug}/seeds/${seed.id}#comment-${commentId}`,
        createdAt: '2026-11-21T10:00:00.000Z',
        readAt: '2026-11-22T10:00:00.000Z',
      },
      {
        id: first,
        kind: 'role_changed',
        workspaceSlug: workspace.slug,
        workspaceName: 'Acme',
        seedId: null,
        seedTitle: null,
        actorName: 'Grace Hopper',
        agentName: null,
        text: 'Grace Hopper changed your role in Acme to admin',
        path: `/w/${workspace.slug}`,
        createdAt: '2026-11-20T10:00:00.000Z',
        readAt: null,
      },
    ])
  })

  it('says of each kind what happened, and leads there', async () => {
    const reader = await addReader()
    const seed = await createSeed(service, member, company, { title: 'Bikes' })
    const commentId = await insertComment(service, { seedId: seed.id, author: member })
    await follow(seed, reader)
    const about = { workspaceId: workspace.id, actor: asPrincipal(member, 'Robbie'), seedId: seed.id }
    const base = `/w/${workspace.slug}`
    const evidence = (verdict: 'supports' | 'contradicts' | 'neutral') =>
      ({ kind: 'evidence', data: { evidenceId: seed.id, verdict } }) as const
    const agent = { grantId: seed.id, clientName: 'Claude' }
    const expected = [
      [
        { kind: 'comment', data: { evidenceId: null }, commentId },
        'Robbie for Mary Member commented on Bikes',
        `${base}/seeds/${seed.id}#comment-${commentId}`,
      ],
      [
        { kind: 'comment', data: { evidenceId: seed.id }, commentId },
        'Robbie for Mary Member commented on evidence in Bikes',
        `${base}/seeds/${seed.id}#comment-${commentId}`,
      ],
      [
        evidence('supports'),
        'Robbie for Mary Member added evidence that supports Bikes',
        `${base}/seeds/${seed.id}#evidence-${seed.id}`,
      ],
      [
        evidence('contradicts'),
        'Robbie for Mary Member added evidence that contradicts Bikes',
        `${base}/seeds/${seed.id}#evidence-${seed.id}`,
      ],
      [
        evidence('neutral'),
        'Robbie for Mary Member added neutral evidence to Bikes',
        `${base}/seeds/${seed.id}#evidence-${seed.id}`,
      ],
      [
        { kind: 'status', data: { from: 'open', to: 'validating' } },
        'Robbie for Mary Member changed the status of Bikes from open to validating',
        `${base}/seeds/${seed.id}`,
      ],
      [
        { kind: 'agent', data: { ...agent, reason: 'ends_soon', endsAt: '2026-11-28T03:04:05.678Z' } },
        'The access of Claude to Acme ends on 28 November 2026',
        `${base}/agents/${agent.grantId}`,
      ],
    ] as const
    for (const [notice] of expected) {
      const at = new Date()
      if (notice.kind === 'agent') await notifyMembers(db, { ...about, ...notice, at }, [reader.id])
      else await notifyFollowers(db, { ...about, ...notice, at })
    }
    const found = (await listNotifications(service, reader)).toReversed()
    expect(found.map(({ text, path: to }) => [text, to])).toEqual(expected.map(([, text, to]) => [text, to]))
    expect(found[0]).toMatchObject({ actorName: 'Mary Member', agentName: 'Robbie' })
  })

  it('filters by what is unread and what is read', async () => {
    const reader = await addReader()
    const at = { workspaceId: workspace.id, userId: reader.id }
    const unread = await insertNotification(service, at)
    const read = await insertNotification(service, at, { readAt: new Date() })
    const idsOf = async (query: string) =>
      (await listNotifications(service, reader, query)).map(({ id }) => id)
    expect(await idsOf('?unread=true')).toEqual([unread])
    expect(await idsOf('?unread=false')).toEqual([read])
    expect((await idsOf('')).toSorted()).toEqual([unread, read].toSorted())
  })

  it('leaves out what is about a deleted seed, and shows the title that a seed has now', async () => {
    const reader = await addReader()
    const seed = await createSeed(service, member, company, { title: 'Old title' })
    const data = { from: 'open', to: 'dropped' }
    const at = { workspaceId: workspace.id, userId: reader.id }
    await insertNotification(service, at, { kind: 'status', seedId: seed.id, data })
    await as(member, patch(`/v1/seeds/${seed.id}`, { title: 'New title' }))
    expect(await textsOf(reader)).toEqual([
      'Grace Hopper changed the status of New title from open to dropped',
    ])
    await db.execute(sql`update seeds set deleted_at = now() where id = ${seed.id}`)
    for (const query of ['', '?unread=true']) expect(await textsOf(reader, query)).toEqual([])
    await db.execute(sql`update seeds set deleted_at = null where id = ${seed.id}`)
    expect(await textsOf(reader)).toHaveLength(1)
  })

  it('returns nothing of a workspace that the caller has left or never was in', async () => {
    const reader = await addReader()
    await insertNotification(service, { workspaceId: workspace.id, userId: reader.id })
    const stranger = await service.createPerson()
    const at = new Date()
    const notice = {
      workspaceId: workspace.id,
      actor: asPrincipal(owner),
      kind: 'role_changed',
      data: { role: 'admin' },
      at,
    } as const
    await notifyMembers(db, notice, [stranger.id, reader.id])
    expect(await textsOf(stranger)).toEqual([])
    expect(await textsOf(reader)).toHaveLength(2)
    await as(owner, del(`${url}/members/${reader.id}`))
    expect(await textsOf(reader)).toEqual([])
  })

  it('returns what is from the workspaces that a key is bound to, and no cursor of another key works', async () => {
    const reader = await addReader()
    const other = await createWorkspace(service, reader)
    await insertNotification(service, { workspaceId: workspace.id, userId: reader.id })
    for (let i = 0; i < 2; i++)
      await insertNotification(service, { workspaceId: other.id, userId: reader.id })
    const key = await createKey(service, reader, { ...noRestrictions, workspaceIds: [other.id] })
    const bound = { apiKey: key.secret }
    const found = await listNotifications(service, bound)
    expect(found.map(({ workspaceSlug }) => workspaceSlug)).toEqual([other.slug, other.slug])
    const { headers } = await as(bound, get(`${path}?limit=1`))
    const cursor = /cursor=([\w-]+)/.exec(String(headers.link))?.[1]
    expectError(await as(reader, get(`${path}?cursor=${cursor}`)), errors.cursorInvalid, { field: 'cursor' })
  })
})

describe('who is told', () => {
  it('tells a member of a new role, and who invited somebody that they came, but nobody of their own doing', async () => {
    const reader = await addReader()
    await as(owner, patch(`${url}/members/${reader.id}`, { role: 'admin' }))
    expect(await textsOf(reader)).toEqual(['Olga Owner changed your role in Acme to admin'])
    await as(reader, patch(`${url}/members/${reader.id}`, { role: 'member' }))
    expect(await textsOf(reader)).toHaveLength(1)

    const person = await service.createPerson({ name: 'Ivy Invited' })
    const { token } = await createInvite(service, admin, company, { email: person.email })
    await as(person, post(`/v1/invites/${token}/accept`))
    const [told] = await listNotifications(service, admin)
    expect(told).toMatchObject({
      kind: 'invite_accepted',
      text: 'Ivy Invited accepted your invite to Acme',
      path: `/w/${workspace.slug}/people/${person.id}`,
    })
    expect(await textsOf(person)).toEqual([])
  })

  it('tells a person that an admin revoked the access of their agent, once', async () => {
    const reader = await addReader()
    const grants = [
      await insertGrant(service, workspace, reader, { clientName: 'Claude' }),
      await insertGrant(service, workspace, reader, { clientName: 'Own' }),
    ]
    const revoke = (by: TestPerson, id = '') => as(by, post(`${url}/integrations/${id}/revoke`))
    for (let i = 0; i < 2; i++) expect((await revoke(admin, grants[0]?.id)).statusCode).toBe(200)
    await revoke(reader, grants[1]?.id)
    expect(await textsOf(reader)).toEqual(['Adam Admin revoked the access of Claude to Acme'])
  })
})

it('notifications are deleted after 90 days', async () => {
  const reader = await addReader()
  const at = { workspaceId: workspace.id, userId: reader.id }
  await insertNotification(service, at, { createdAt: new Date('2020-01-01T00:00:00Z') })
  const kept = await insertNotification(service, at, { createdAt: new Date('2020-01-03T00:00:00Z') })
  await deleteOldNotifications(db, new Date('2020-01-02T00:00:00Z'))
  expect(await selectRows(db, sql`select id from notifications where user_id = ${reader.id}`)).toEqual([
    { id: kept },
  ])
})

describe('400', () => {
  it('returns 400 for a filter that is no boolean', async () => {
    expectError(await as(owner, get(`${path}?unread=maybe`)), errors.decodeError, { issues: anyIssues })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await service.app.inject(path), errors.apiKeyRequired)
  })
})
