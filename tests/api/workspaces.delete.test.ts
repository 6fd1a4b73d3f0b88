import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { eraseDeletedWorkspaces } from '../../src/areas/workspaces/ownership/ownership.repository.ts'
import { agentScopes } from '../../src/domain/agent.ts'
import { errors } from '../../src/kernel/errors.ts'
import {
  actionAllowedMs,
  deletedWorkspaceKeptMs,
  formerSlugKeptMs,
  type AllowedAction,
} from '../../src/domain/workspaces.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startMailServer } from '../support/mail-server.ts'
import { insertNotification } from '../support/notifications.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { operations } from '../support/operations.ts'
import { buildRequest, idsIn, makeValues, namesIn } from '../support/prepare-request.ts'
import { createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { findPictures } from '../support/uploads.ts'
import {
  allowActions,
  createWorkspace,
  deleteWorkspace,
  findWorkspace,
  randomSlug,
} from '../support/workspaces.ts'

const clock = createTestClock()
const mailServer = await startMailServer()
const service = await startTestApp({
  clock,
  environment: { SMTP_URL: mailServer.url },
})
const { app, as, db, services } = service
const oauth = createOAuthTester(service)

const remove = ({ url, workspace }: TestCompany, confirmSlug = workspace.slug) =>
  post(`${url}/delete`, { confirmSlug })

/** Allows the keys of a person an action, as the website does after a proof. */
async function allow({ email }: { email: string }, slug: string, action: AllowedAction) {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('the person is not there')
  const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
  await services.ownership.allow(principal, slug, action)
}

/** Deletes a workspace with the key of its owner, who has allowed it. */
async function removeAllowed(company: TestCompany, confirmSlug?: string) {
  await allowActions(service, company.workspace, company.owner)
  return as(company.owner, remove(company, confirmSlug))
}

/** What there is of each caller outside of workspaces that names one. */
const readAround = async (person: { apiKey: string }) =>
  Promise.all(
    ['workspaces', 'me/home', 'me/onboarding', 'me/notifications', 'me/invites', 'me/offers'].map(
      async (path) => (await as(person, get(`/v1/${path}`))).body,
    ),
  ).then((bodies) => bodies.join('\n'))

describe('200', () => {
  it('removes the workspace for everybody: no operation, list, agent or invite finds it', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    const names = Object.values(operations).flatMap(namesIn)
    const values = await makeValues(service, names, { company, values: { keptSlug: randomSlug() } })
    for (const { given } of Object.values(operations)) await given?.(service, values)
    const invited = await service.createPerson()
    const { token } = await createInvite(service, owner, company, { email: invited.email })
    const domain = `${randomSlug('d')}.example`
    const offered = await service.createPerson({ email: `ada@${domain}` })
    await db.execute(sql`update workspaces set allowed_domains = array[${domain}] where id = ${workspace.id}`)
    await insertNotification(service, { workspaceId: workspace.id, userId: member.id })
    const agentToken = await oauth.letIn(workspace, owner, { scopes: agentScopes })
    for (const person of [member, invited, offered])
      expect(await readAround(person)).toContain(workspace.slug)

    expect((await removeAllowed(company)).json()).toEqual({ ok: true })

    const inWorkspace = Object.entries(operations).filter(
      ([id, operation]) =>
        operation.request.includes('/v1/') &&
        idsIn(operation).some((name) => !['apiKeyId', 'keptSlug', 'newSlug'].includes(name)) &&
        !['workspaces.slugAvailable'].includes(id),
    )
    expect(inWorkspace.length).toBeGreaterThan(60)
    for (const [id, operation] of inWorkspace) {
      const request = await buildRequest(operation, { ...values, token })
      const answer = request.url.startsWith('/agent/')
        ? await app.inject({ ...request, headers: { authorization: `Bearer ${agentToken}` } })
        : await as(owner, request)
      expect([answer.statusCode, id]).toEqual([request.url.startsWith('/agent/') ? 401 : 404, id])
    }
    for (const person of [owner, member, invited, offered])
      expect(await readAround(person)).not.toContain(workspace.slug)
    expect((await as(member, get('/v1/me/notifications/count'))).json()).toEqual({ unread: 0 })
    expectError(await as(invited, get(`/v1/invites/${token}`)), errors.notFound)
    expect((await oauth.readKit(agentToken)).statusCode).toBe(401)
  })

  it('keeps the slug for 90 days, also when the workspace is erased after 14', async () => {
    const company = await createCompany(service)
    const { owner, workspace } = company
    const newSlug = randomSlug()
    await as(owner, patch(company.url, { name: 'Acme', slug: newSlug }))
    await deleteWorkspace(service, owner, { ...workspace, slug: newSlug })
    const isFree = async (slug: string) =>
      (await as(owner, get(`/v1/slugs/${slug}?excludeWorkspaceId=${workspace.id}`))).json<{
        available: boolean
      }>().available
    const take = (slug: string) => as(owner, post('/v1/workspaces', { name: 'Other', slug }))
    for (const slug of [workspace.slug, newSlug]) {
      expect(await isFree(slug)).toBe(false)
      expectError(await take(slug), errors.slugTaken)
    }
    clock.advance(deletedWorkspaceKeptMs + 1000)
    await erase()
    expect(await findWorkspace(service, workspace)).toBeUndefined()
    expectError(await take(newSlug), errors.slugTaken)
    clock.advance(formerSlugKeptMs - deletedWorkspaceKeptMs)
    expect(await isFree(newSlug)).toBe(true)
    expect((await take(newSlug)).statusCode).toBe(200)
    await erase()
    expect(
      await selectRows(db, sql`select slug from workspace_slugs where slug = ${workspace.slug}`),
    ).toEqual([])
  })

  it('tells the owners by mail, who deleted it and until when it can be restored', async () => {
    await services.startJobs()
    const company = await createCompany(service)
    await removeAllowed(company)
    const { parsed } = await mailServer.nextFor(company.owner.email)
    expect(parsed.subject).toBe('The workspace Acme was deleted')
    expect(parsed.text).toContain('Olga Owner deleted the workspace Acme')
    expect(parsed.text).toContain('For 14 days the operators of this service can restore it.')
    expect(mailServer.received.some(({ recipients }) => recipients.includes(company.admin.email))).toBe(false)
  })
})

describe('a restored workspace', () => {
  it('has everything that was in it, with its agents, and an event', async () => {
    const company = await createCompany(service)
    const { owner, member, url, workspace } = company
    const seed = await createSeed(service, member, company)
    const agentToken = await oauth.letIn(workspace, owner, { scopes: agentScopes })
    await removeAllowed(company)
    expect(await services.ownership.restore(workspace.slug, {})).toMatchObject({ id: workspace.id })
    expect((await as(member, get(`/v1/seeds/${seed.id}`))).statusCode).toBe(200)
    expect((await oauth.readKit(agentToken)).statusCode).toBe(200)
    const [last] = (await as(member, get(`${url}/events?limit=1`))).json<object[]>()
    expect(last).toMatchObject({ type: 'workspace.restored', actorType: 'system', data: { name: 'Acme' } })
    expect((await as(owner, get(`/v1/slugs/${workspace.slug}`))).json()).toEqual({ available: false })
    await expect(services.ownership.restore(workspace.slug, {})).rejects.toMatchObject({ code: 'not_found' })
  })

  it('needs an owner when the owners have deleted their accounts', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    await removeAllowed(company)
    expect(await services.accounts.delete(owner.id, { withWorkspaces: false })).toMatchObject({
      isDeleted: true,
    })
    await expect(services.ownership.restore(workspace.slug, {})).rejects.toMatchObject({ code: 'last_owner' })
    await services.ownership.restore(workspace.slug, { ownerEmail: member.email })
    expect((await as(member, get(company.url))).json()).toMatchObject({ role: 'owner' })
  })
})

describe('after 14 days', () => {
  it('is erased with its picture, and no other workspace is', async () => {
    const company = await createCompany(service)
    const other = await createWorkspace(service, company.owner)
    const upload = { method: 'POST', url: `${company.url}/icon`, ...buildUpload(await makePng()) } as const
    await as(company.owner, upload)
    const { icon_key: key } = (await findWorkspace(service, company.workspace)) as { icon_key: string }
    await removeAllowed(company)
    clock.advance(deletedWorkspaceKeptMs - 60_000)
    await erase()
    expect(await findWorkspace(service, company.workspace)).toBeDefined()
    clock.advance(120_000)
    await erase()
    expect(await findWorkspace(service, company.workspace)).toBeUndefined()
    expect(await findWorkspace(service, other)).toBeDefined()
    await services.pictures.collectUnused()
    expect((await findPictures(service)).map((picture) => picture.key)).not.toContain(key)
  })
})

async function erase(): Promise<void> {
  const now = clock.now()
  const before = new Date(now.getTime() - deletedWorkspaceKeptMs)
  await eraseDeletedWorkspaces(db, { before, now, slugKeptMs: formerSlugKeptMs })
}

describe('400', () => {
  it('returns confirmation_mismatch for another slug, and deletes nothing', async () => {
    const company = await createCompany(service)
    const answer = await removeAllowed(company, 'acme')
    expectError(answer, errors.confirmationMismatch, { field: 'confirmSlug' })
    expect((await as(company.owner, get(company.url))).statusCode).toBe(200)
  })
})

describe('403', () => {
  it('returns recent_proof_required without an allowance, which is of one person, workspace and action, and ends', async () => {
    const company = await createCompany(service)
    const { owner, workspace } = company
    const isRefused = async () => {
      expectError(await as(owner, remove(company)), errors.recentProofRequired)
      expect((await as(owner, get(company.url))).statusCode).toBe(200)
    }
    await isRefused()
    await allow(owner, workspace.slug, 'workspaces.transferOwnership')
    await isRefused()
    const other = await createWorkspace(service, owner)
    await allow(owner, other.slug, 'workspaces.delete')
    await isRefused()
    await allow(await addPerson(service, workspace, 'owner'), workspace.slug, 'workspaces.delete')
    await isRefused()
    await allow(owner, workspace.slug, 'workspaces.delete')
    clock.advance(actionAllowedMs)
    await isRefused()
    await allow(owner, workspace.slug, 'workspaces.delete')
    // A mistake does not use it up.
    expectError(await as(owner, remove(company, 'acme')), errors.confirmationMismatch, {
      field: 'confirmSlug',
    })
    expect((await as(owner, remove(company))).statusCode).toBe(200)
    await services.ownership.restore(workspace.slug, {})
    await isRefused()
  })

  it('refuses to allow it to who may not do it', async () => {
    const { admin, workspace } = await createCompany(service)
    await expect(allow(admin, workspace.slug, 'workspaces.delete')).rejects.toMatchObject({
      code: 'role_insufficient',
    })
  })
})

describe('404', () => {
  it('returns not_found when it is deleted again, and appends no event', async () => {
    const company = await createCompany(service)
    await removeAllowed(company)
    expectError(await removeAllowed(company), errors.notFound)
    const rows = await selectRows(
      db,
      sql`select id from events where workspace_id = ${company.workspace.id} and type = 'workspace.deleted'`,
    )
    expect(rows).toHaveLength(1)
  })
})
