import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  addPerson,
  createCompany,
  findJobs,
  findNotifications,
  findRoles,
  get,
  patch,
} from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as } = service

const update = (url: string, { id }: { id: string }, body: object) => patch(`${url}/members/${id}`, body)

describe('200', () => {
  it('changes the role, appends an event and enqueues a notification', async () => {
    const { url, workspace, owner, member, ...others } = await createCompany(service)
    const answer = await as(owner, update(url, member, { role: 'admin' }))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findRoles(service, workspace)).toEqual({
      [owner.id]: 'owner',
      [others.admin.id]: 'admin',
      [member.id]: 'admin',
      [others.viewer.id]: 'viewer',
    })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        owner,
        { type: 'user', id: member.id },
        {
          type: 'member.role_changed',
          summary: 'Olga Owner changed the role of Mary Member from member to admin',
        },
      ),
    )
    expect(await findJobs(service, member.id)).toEqual([
      {
        task: 'send_role_changed',
        payload: {
          ...{ workspaceId: workspace.id, userId: member.id, role: 'admin', actorName: 'Olga Owner' },
          requestId: expect.any(String) as string,
        },
      },
    ])
  })

  it('leaves the seeds that a new viewer led without a lead, with an event for each', async () => {
    const company = await createCompany(service)
    const { url, workspace, owner, admin, member } = company
    const seeds = await Promise.all([
      createSeed(service, member, company, { title: 'Plain invoices' }),
      createSeed(service, member, company, { title: 'Fewer meetings' }),
    ])
    const ofAdmin = await createSeed(service, admin, company, { title: 'Chat' })
    for (const role of ['admin', 'viewer']) await as(owner, update(url, member, { role }))
    const listed = (await as(owner, get(`${url}/events?type=seed.updated`))).json<object[]>()
    expect(listed).toHaveLength(2)
    for (const seed of seeds)
      expect(listed).toContainEqual(
        expect.objectContaining({
          actorUserId: owner.id,
          targetId: seed.id,
          summary: `Olga Owner removed Mary Member as the lead of the seed ${seed.title}`,
          data: expect.objectContaining({
            fields: ['leadUserId'],
            leadUserId: null,
            leadUserIdBefore: member.id,
          }) as object,
        }),
      )
    const leads = await selectRows<{ id: string; lead_user_id: string | null }>(
      service.db,
      sql`select id, lead_user_id from seeds where workspace_id = ${workspace.id}`,
    )
    expect(new Map(leads.map(({ id, lead_user_id }) => [id, lead_user_id]))).toEqual(
      new Map<string, string | null>([...seeds.map(({ id }) => [id, null] as const), [ofAdmin.id, admin.id]]),
    )
  })

  it('tells the person in their inbox, but nobody who changes their own role', async () => {
    const { url, workspace, owner, admin, member } = await createCompany(service)
    await as(owner, update(url, member, { role: 'admin' }))
    await as(owner, update(url, member, { role: 'admin' }))
    await as(admin, update(url, admin, { role: 'viewer' }))
    expect(await findNotifications(service, workspace)).toEqual([
      {
        user_id: member.id,
        kind: 'role_changed',
        actor_user_id: owner.id,
        actor_name: 'Olga Owner',
        data: { role: 'admin' },
      },
    ])
  })

  it('applies from the next request on', async () => {
    const { url, owner, admin, member } = await createCompany(service)
    await as(owner, update(url, admin, { role: 'viewer' }))
    expectError(await as(admin, update(url, member, { role: 'viewer' })), errors.roleInsufficient)
    await as(owner, update(url, member, { role: 'admin' }))
    expect((await as(member, get(`${url}/invites`))).statusCode).toBe(200)
  })

  it('lets an owner make another member an owner, and then give up the role', async () => {
    const { url, workspace, owner, member } = await createCompany(service)
    await as(owner, update(url, member, { role: 'owner' }))
    expect((await as(owner, update(url, owner, { role: 'viewer' }))).statusCode).toBe(200)
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'viewer', [member.id]: 'owner' })
    expect((await as(member, update(url, owner, { role: 'admin' }))).statusCode).toBe(200)
    expectError(await as(owner, update(url, member, { role: 'viewer' })), errors.roleTooHigh)
  })

  it('appends no event and sends no notification when the role stays the same', async () => {
    const { url, workspace, owner, member } = await createCompany(service)
    expect((await as(owner, update(url, member, { role: 'member' }))).json()).toEqual({ ok: true })
    expect((await as(owner, update(url, owner, { role: 'owner' }))).json()).toEqual({ ok: true })
    expect(await findEvents(service, workspace)).toHaveLength(1)
    expect(await findJobs(service, workspace.id)).toEqual([])
  })
})

describe('400', () => {
  it.each([
    ['no role', {}, [{ _tag: 'Missing', path: ['role'] }]],
    ['an unknown role', { role: 'god' }, [{ _tag: 'Type', path: ['role'] }]],
    ['a role in another case', { role: 'Admin' }, [{ _tag: 'Type', path: ['role'] }]],
    ['null as role', { role: null }, [{ _tag: 'Type', path: ['role'] }]],
    ['a list of roles', { role: ['admin'] }, [{ _tag: 'Type', path: ['role'] }]],
    ['an unknown field', { role: 'admin', name: 'x' }, [{ _tag: 'Unexpected', path: ['name'] }]],
  ])('returns 400 for %s, and changes nothing', async (_name, body, issues) => {
    const { url, workspace, owner, member } = await createCompany(service)
    const answer = await as(owner, update(url, member, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'member' })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { url, member } = await createCompany(service)
    expectError(await app.inject(update(url, member, { role: 'admin' })), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a member who raises their own role', async () => {
    const { url, workspace, admin, member, viewer } = await createCompany(service)
    expectError(await as(admin, update(url, admin, { role: 'owner' })), errors.roleTooHigh)
    for (const person of [member, viewer])
      expectError(await as(person, update(url, person, { role: 'admin' })), errors.roleInsufficient)
    expect(await findRoles(service, workspace)).toMatchObject({
      [admin.id]: 'admin',
      [member.id]: 'member',
      [viewer.id]: 'viewer',
    })
  })

  it('returns 403 to an admin who changes another admin or makes an owner', async () => {
    const { url, workspace, admin, member } = await createCompany(service)
    const equal = await addPerson(service, workspace, 'admin')
    expectError(await as(admin, update(url, equal, { role: 'viewer' })), errors.roleTooHigh)
    expectError(await as(admin, update(url, member, { role: 'owner' })), errors.roleTooHigh)
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })
})

describe('404', () => {
  it('returns 404 for a stranger, an unknown id and a malformed id', async () => {
    const { url, owner } = await createCompany(service)
    const stranger = await service.createPerson()
    for (const id of [stranger.id, createId(), 'x', '%00'])
      expectError(await as(owner, update(url, { id }, { role: 'admin' })), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 last_owner when the last owner gives up the role', async () => {
    const { url, workspace, owner } = await createCompany(service)
    for (const role of ['admin', 'member', 'viewer'])
      expectError(await as(owner, update(url, owner, { role })), errors.lastOwner)
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner' })
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })
})
