import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import type { Role } from '../../src/domain/roles.ts'
import {
  addPerson,
  createInvite,
  createTeam,
  get,
  patch,
  post,
  randomEmail,
  type TestCompany,
  type TestRequest,
} from './company.ts'
import { uploadFile } from './attachments.ts'
import { buildUpload } from './forms.ts'
import { makePng } from './images.ts'
import { insertNotification } from './notifications.ts'
import type { Operation } from './operations.ts'
import { createLabel, createSeed, insertGrant } from './seeds.ts'
import { createServiceAccount, createServiceClient, createServiceKey } from './service-accounts.ts'
import type { TestApp, TestPerson } from './test-app.ts'
import { createWebhook } from './webhooks.ts'
import { allowActions, allowDomains, randomSlug } from './workspaces.ts'

/** What the names in braces stand for in the requests of operations. */
export type Values = Readonly<Record<string, string>>

/** What a request is made for. */
export interface Place {
  company: TestCompany
  /** Who sends it. */
  actor: TestPerson
  /** The role of the person or of the invite that it is about; or the person is the actor. */
  target: Role | 'self'
  /** The name of the thing that it is about. */
  label: string
  /** Who is invited. */
  invitedEmail: string
  /** Values that the test chooses itself. */
  values: Values
}

/** A place of which only the company matters, and what is named. */
export type PartOfPlace = Pick<Place, 'company'> & Partial<Place>

type Service = Pick<TestApp, 'as' | 'createPeople' | 'createPerson' | 'db'>

/** Makes the things that ids stand for. */
const makers: Record<string, (service: Service, place: Place) => Promise<Values>> = {
  userId: async (service, place) => ({ userId: (await findTarget(service, place)).id }),
  inviteId: makeInvite,
  token: makeInvite,
  async teamId(service, { company, label }) {
    return { teamId: (await createTeam(service, company.owner, company, label)).id }
  },
  async labelId(service, { company, label }) {
    return { labelId: (await createLabel(service, company.owner, company, label)).id }
  },
  filterId: insertSharedFilter,
  async seedId(service, { company, label }) {
    return { seedId: (await createSeed(service, company.owner, company, { title: label })).id }
  },
  async createdSeedId(service, place) {
    return { createdSeedId: await insertSeed(service, place) }
  },
  async deletedSeedId(service, place) {
    const deletedSeedId = await insertSeed(service, place)
    await service.db.execute(sql`update seeds set deleted_at = now() where id = ${deletedSeedId}`)
    return { deletedSeedId }
  },
  async mergeableSeedId(service, place) {
    const [mergeableSeedId, targetSeedId] = [
      await insertLedSeed(service, place),
      await insertLedSeed(service, place),
    ]
    return { mergeableSeedId, targetSeedId }
  },
  async mergedSeedId(service, place) {
    const [mergedSeedId, targetSeedId] = [
      await insertLedSeed(service, place),
      await insertLedSeed(service, place),
    ]
    await service.db.execute(sql`
      update seeds set merged_into_seed_id = ${targetSeedId}, merged_at = now(), deleted_at = now() where id = ${mergedSeedId}`)
    return { mergedSeedId, targetSeedId }
  },
  async evidenceId(service, place) {
    return { evidenceId: await insertEvidence(service, place, await findTarget(service, place)) }
  },
  async ownEvidenceId(service, place) {
    return { ownEvidenceId: await insertEvidence(service, place, place.actor) }
  },
  async commentId(service, place) {
    return { commentId: await insertComment(service, place, await findTarget(service, place)) }
  },
  async ownCommentId(service, place) {
    return { ownCommentId: await insertComment(service, place, place.actor) }
  },
  async agentRequestId(service, place) {
    return insertAgentRequest(service, place, await findTarget(service, place))
  },
  async grantId(service, place) {
    const { company, label } = place
    const person = await findTarget(service, place)
    return { grantId: (await insertGrant(service, company.workspace, person, { clientName: label })).id }
  },
  async eventId({ as }, { company }) {
    const [event] = (await as(company.owner, get(`${company.url}/events?limit=1`))).json<{ id: string }[]>()
    return event ? { eventId: event.id } : {}
  },
  attachmentId: insertAttachment,
  importId: insertImport,
  async readNotification(service, { company, actor }) {
    const inbox = { workspaceId: company.workspace.id, userId: actor.id }
    return { readNotification: await insertNotification(service, inbox, { readAt: new Date() }) }
  },
  async webhookId(service, { company }) {
    return { webhookId: (await makeWebhook(service, company)).id }
  },
  async pausedWebhookId(service, { company }) {
    const { id } = await makeWebhook(service, company)
    await service.db.execute(sql`
      update webhooks set paused_until = '9999-01-01', pause_reason = 'retry_after' where id = ${id}`)
    return { pausedWebhookId: id }
  },
  async deliveryId(service, { company }) {
    const { id } = await makeWebhook(service, company)
    // The webhook gets the event of its own creation.
    const [delivery] = (
      await service.as(company.owner, get(`${company.url}/webhooks/${id}/deliveries`))
    ).json<{ id: string }[]>()
    return { webhookId: id, deliveryId: String(delivery?.id) }
  },
  serviceAccountId: makeServiceAccount,
  async serviceKeyId(service, place) {
    const values = await makeServiceAccount(service, place)
    const { company } = place
    const key = await createServiceKey(service, company.owner, company, {
      id: String(values.serviceAccountId),
    })
    return { ...values, serviceKeyId: key.id }
  },
  async serviceClientId(service, place) {
    const values = await makeServiceAccount(service, place)
    const { company } = place
    const url = `${company.url}/service-accounts/${values.serviceAccountId}`
    const { id } = await createServiceClient(service, company.owner, { url })
    return { ...values, serviceClientId: id }
  },
  async apiKeyId({ as }, { actor, label }) {
    const answer = await as(actor, post('/v1/api-keys', { name: label }))
    expect(answer.statusCode, answer.body).toBe(200)
    return { apiKeyId: answer.json<{ id: string }>().id }
  },
}

async function makeInvite(service: Service, { company, target, invitedEmail }: Place): Promise<Values> {
  const { id, token } = await createInvite(service, company.owner, company, {
    email: invitedEmail,
    ...(target !== 'self' && { role: target }),
  })
  return { inviteId: id, token, invitedEmail }
}

/** Makes a service account of the role that the request is about. There may not be many of them at once. */
async function makeServiceAccount(service: Service, { company, target, label }: Place): Promise<Values> {
  await service.db.execute(sql`
    update service_accounts set deleted_at = now() where workspace_id = ${company.workspace.id}
      and (select count(*) from service_accounts where workspace_id = ${company.workspace.id} and deleted_at is null) > 10`)
  const role = target === 'self' || target === 'owner' ? 'member' : target
  const account = await createServiceAccount(service, company.owner, company, { name: label, role })
  return { serviceAccountId: account.id, serviceUserId: account.userId }
}

/** Makes a webhook to this machine, where nothing listens. There may not be many of them at once. */
async function makeWebhook(service: Service, company: TestCompany) {
  await service.db.execute(sql`
    delete from webhooks where workspace_id = ${company.workspace.id}
      and (select count(*) from webhooks where workspace_id = ${company.workspace.id}) > 10`)
  return createWebhook(service, company.owner, company, { url: 'https://127.0.0.1:1/hook' })
}

/** A seed that the person whom the request is about has created. In the past they may have had another role. */
async function insertSeed(service: Service, place: Place): Promise<string> {
  const { company, label } = place
  const { id: creatorId } = await findTarget(service, place)
  const { id } = await createSeed(service, company.owner, company, { title: label })
  await service.db.execute(sql`
    with former as (delete from seed_participants where seed_id = ${id})
    update seeds set created_by_user_id = ${creatorId}, lead_user_id = null where id = ${id}`)
  return id
}

/** A seed that the person whom the request is about leads, if they are a member. */
async function insertLedSeed(service: Service, place: Place): Promise<string> {
  const id = await insertSeed(service, place)
  const { id: leadId } = await findTarget(service, place)
  await service.db.execute(sql`update seeds set lead_user_id = ${leadId} where id = ${id}
    and exists (select from memberships where workspace_id = seeds.workspace_id and user_id = ${leadId})`)
  return id
}

/** Evidence of a seed of its own. In the past its author may have had another role. */
async function insertEvidence({ as, db }: Service, { company, label }: Place, author: TestPerson) {
  const { id: seedId } = await createSeed({ as }, company.owner, company, { title: label })
  const id = createId()
  await db.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, author_user_id, author_name, created_at)
    values (${id}, ${seedId}, 'interview', 'supports', 'They like it', ${author.id}, ${author.name}, now())`)
  return id
}

/** A comment on a seed of its own. In the past its author may have had another role. */
async function insertComment({ as, db }: Service, { company, label }: Place, author: TestPerson) {
  const { id: seedId } = await createSeed({ as }, company.owner, company, { title: label })
  const id = createId()
  await db.execute(sql`
    insert into comments (id, seed_id, body, author_user_id, author_name, created_at)
    values (${id}, ${seedId}, 'Who says so?', ${author.id}, ${author.name}, now())`)
  return id
}

/** A file of the actor that nothing uses, or one of a seed of its own, which somebody uploaded who is not there any more. */
async function insertAttachment(service: Service, place: Place): Promise<Values> {
  const { as, db } = service
  const { company, label, actor, target } = place
  const file = await uploadFile(service, company.owner, company.workspace.slug, 'What we heard')
  const isOwn = target === 'self'
  const { id: seedId } = await createSeed(service, company.owner, company, { title: label })
  if (!isOwn) {
    const answer = await as(company.owner, patch(`/v1/seeds/${seedId}`, { attachmentIds: [file.id] }))
    expect(answer.statusCode, answer.body).toBe(200)
  }
  await db.execute(
    sql`update attachments set created_by_user_id = ${isOwn ? actor.id : null} where id = ${file.id}`,
  )
  return { attachmentId: file.id, seedOfAttachmentId: seedId }
}

/** A shared filter of the person whom the request is about, if they are a member. In the past they may have had another role. */
async function insertSharedFilter(service: Service, place: Place): Promise<Values> {
  const { id: userId } = await findTarget(service, place)
  const [filterId, workspaceId] = [createId(), place.company.workspace.id]
  await service.db.execute(sql`
    insert into saved_filters (id, workspace_id, shared_by_user_id, name, filters, created_at, updated_at)
    values (${filterId}, ${workspaceId},
      (select user_id from memberships where workspace_id = ${workspaceId} and user_id = ${userId}),
      ${place.label}, '{"due": "week"}', now(), now())`)
  return { filterId }
}

/** An import that is done, of no seeds. */
async function insertImport(service: Service, place: Place): Promise<Values> {
  const { id: userId } = await findTarget(service, place)
  const importId = createId()
  await service.db.execute(sql`
    insert into seed_imports (id, workspace_id, state, created_by_user_id, created_at, finished_at)
    values (${importId}, ${place.company.workspace.id}, 'done', ${userId}, now(), now())`)
  return { importId }
}

/** A request that waits for the newest agent of the actor, or for one that is gone. */
async function insertAgentRequest(service: Service, place: Place, asker: TestPerson) {
  const id = createId()
  const { company, actor } = place
  const commentId = await insertComment(service, place, asker)
  await service.db.execute(sql`
    insert into agent_requests (id, workspace_id, comment_id, grant_id, agent_name, asked_by_user_id, state, created_at, expires_at)
    values (${id}, ${company.workspace.id}, ${commentId},
      coalesce((select id from agent_grants where user_id = ${actor.id} and revoked_at is null order by id desc limit 1), ${createId()}),
      'Claude', ${asker.id}, 'waiting', now(), now() + interval '2 days')`)
  return { agentRequestId: id, askingCommentId: commentId }
}

async function findTarget(service: Service, { company, actor, target }: Place): Promise<TestPerson> {
  return target === 'self' ? actor : addPerson(service, company.workspace, target, 'Tina Target')
}

/** A request that can be sent, and by whom. */
export interface PreparedRequest {
  actor: TestPerson
  values: Values
  request: TestRequest
}

/** Makes the request of an operation, and everything that it needs. */
export async function prepareRequest(
  service: Service,
  operation: Operation,
  place: PartOfPlace,
): Promise<PreparedRequest> {
  const whole = { ...place, actor: place.actor ?? (await createActor(service, operation, place)) }
  if (operation.isForInvited && !place.actor) whole.invitedEmail = whole.actor.email
  const values = await makeValues(service, namesIn(operation), whole)
  await operation.given?.(service, values)
  return { actor: whole.actor, values, request: await buildRequest(operation, values) }
}

async function createActor(service: Service, operation: Operation, { company }: PartOfPlace) {
  return (await createOutsider(service, operation)) ?? company.owner
}

const offered = 'offered'

/** Who sends a request that is for people who are not in the workspace yet; undefined for all others. */
export async function createOutsider(
  service: Service,
  { isForInvited, isForOffered }: Operation,
): Promise<TestPerson | undefined> {
  const name = 'Ivy Invited'
  // At a domain of their own: with one that is allowed already, they would join at once.
  if (isForOffered) return service.createPerson({ name, email: `ivy@${randomSlug(offered)}.example` })
  return isForInvited ? service.createPerson({ name }) : undefined
}

/** Makes what the names stand for; nothing where no maker is known. */
export async function makeValues(
  service: Service,
  names: readonly string[],
  part: PartOfPlace,
): Promise<Values> {
  const { company, actor = company.owner, label = randomSlug('label') } = part
  const defaults = {
    actor,
    target: 'member' as const,
    label,
    invitedEmail: `${label}@example.com`,
    values: {},
  }
  const place = { ...defaults, ...part }
  let values: Values = {
    workspaceId: company.workspace.id,
    slug: company.workspace.slug,
    keptSlug: company.workspace.slug,
    newSlug: randomSlug(),
    actorId: actor.id,
    actorEmail: actor.email,
    domain: actor.email.slice(actor.email.indexOf('@') + 1),
    label,
    role: 'admin',
    name: randomSlug('name'),
    email: `Ivy-${randomEmail()}`,
    ...place.values,
  }
  for (const name of names) {
    if (!(name in values)) values = { ...values, ...(await makers[name]?.(service, place)) }
  }
  return values
}

/** The request of an operation with these values. */
export async function buildRequest(operation: Operation, values: Values): Promise<TestRequest> {
  const { request, body, hasPicture, table } = operation
  return {
    method: request.slice(0, request.indexOf(' ')) as 'GET',
    url: pathOf(operation, values),
    ...(body && { payload: fillBody(body, values) }),
    ...(hasPicture && buildUpload(await makePng())),
    ...(table !== undefined && buildUpload(table, { filename: 'seeds.csv', type: 'text/csv' })),
  }
}

/** The path of an operation with these values. */
export function pathOf({ request }: Operation, values: Values): string {
  return fill(request.slice(request.indexOf('/')), values)
}

const fillBody = (body: object, values: Values): object =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillValue(value, values)]))

function fillValue(value: unknown, values: Values): unknown {
  if (Array.isArray(value)) return value.map((item) => fillValue(item, values))
  return typeof value === 'string' ? fill(value, values) : value
}

/** A path with a further parameter. */
export const addQuery = (url: string, query: string) => `${url}${url.includes('?') ? '&' : '?'}${query}`

/** Replaces the names in braces. */
export function fill(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`{${name}} has no value: see the makers of prepare-request.ts`)
    return value
  })
}

/** The names in braces in the request of an operation. */
export function namesIn({ request, body }: Operation): string[] {
  const found = `${request} ${JSON.stringify(body)}`.matchAll(/\{(\w+)\}/g)
  return [...new Set(Array.from(found, ([, name]) => String(name)))]
}

/** Those of them that say what the request is about. */
export function idsIn(operation: Operation): string[] {
  return namesIn(operation).filter((name) => /^(slug|token|\w+Id)$/.test(name))
}

/** Makes something true before a request is sent. */
export type Given = (service: Service, values: Values) => Promise<unknown>

/** The person is in the team; nothing happens to somebody who is not in the workspace. */
export const joinTeam: Given = ({ db }, { teamId, userId, workspaceId }) =>
  db.execute(sql`
    insert into team_members (team_id, user_id, workspace_id, added_at)
    select ${teamId}, user_id, workspace_id, now() from memberships
    where workspace_id = ${workspaceId} and user_id = ${userId}
    on conflict do nothing`)

/** The actor is in the seed; nothing happens to somebody who is not in the workspace. */
export const joinSeed: Given = ({ db }, { seedId, actorId, workspaceId }) =>
  db.execute(sql`
    insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
    select ${seedId}, user_id, workspace_id, now() from memberships
    where workspace_id = ${workspaceId} and user_id = ${actorId}
    on conflict do nothing`)

/** The actor is in a seed that nobody leads. */
export const joinUnledSeed: Given = async (service, values) => {
  await joinSeed(service, values)
  await service.db.execute(sql`update seeds set lead_user_id = null where id = ${values.seedId}`)
}

/** The actor is not in the seed. */
export const leaveSeed: Given = ({ db }, { seedId, actorId }) =>
  db.execute(sql`delete from seed_participants where seed_id = ${seedId} and user_id = ${actorId}`)

/** The actor does not follow the seed. */
export const unfollowSeed: Given = ({ db }, { seedId, actorId }) =>
  db.execute(sql`delete from seed_followers where seed_id = ${seedId} and user_id = ${actorId}`)

/** The actor follows the seed; nothing happens to somebody who is not in the workspace. */
export const followSeed: Given = ({ db }, { seedId, actorId, workspaceId }) =>
  db.execute(sql`
    insert into seed_followers (seed_id, user_id, workspace_id)
    select ${seedId}, user_id, workspace_id from memberships
    where workspace_id = ${workspaceId} and user_id = ${actorId}
    on conflict do nothing`)

/** The actor saw the evidence too; nothing happens to somebody who is not in the workspace. */
export const seeEvidence: Given = ({ db }, { evidenceId, actorId, workspaceId }) =>
  db.execute(sql`
    insert into evidence_seen (evidence_id, user_id, workspace_id, seen_at)
    select ${evidenceId}, user_id, workspace_id, now() from memberships
    where workspace_id = ${workspaceId} and user_id = ${actorId}
    on conflict do nothing`)

/** The workspace lets in the actor, if they were made for an operation on offers. */
export const allowDomainOfOffered: Given = async (service, { workspaceId = '', domain = '' }) => {
  if (domain.startsWith(offered)) await allowDomains(service, { id: workspaceId }, [domain])
}

/** The workspace has an icon. */
export const giveIcon: Given = ({ db }, { workspaceId }) =>
  db.execute(sql`
    with icon as (insert into pictures (key) values (${`${randomSlug('icon')}.webp`}) returning key)
    update workspaces set icon_key = icon.key from icon where id = ${workspaceId}`)

/** The actor may export and delete their account by an API key, and the workspace has another owner. */
export const allowLeaving: Given = ({ db }, { actorId, workspaceId }) =>
  db.execute(sql`
    with other as (update memberships set role = 'owner' where workspace_id = ${workspaceId} and role = 'admin')
    insert into leavings (user_id, allowed_until) values (${actorId}, now() + interval '10 minutes')
    on conflict (user_id) do update set allowed_until = excluded.allowed_until`)

/** The actor has allowed their API keys to transfer and delete the workspace, if they are in it. */
export const allowOwnership: Given = (service, { actorId = '', workspaceId = '' }) =>
  allowActions(service, { id: workspaceId }, { id: actorId })

/** No import of the workspace is in progress. */
export const endImports: Given = ({ db }, { workspaceId }) =>
  db.execute(sql`update seed_imports set state = 'done' where workspace_id = ${workspaceId}`)

/** The workspace lets in people of beta.example, and of another domain. */
export const allowTwoDomains: Given = (service, { workspaceId = '' }) =>
  allowDomains(service, { id: workspaceId }, ['alpha.example', 'beta.example'])

/** The actor is told of something; nothing happens to somebody who is not in the workspace. */
export const tellActor: Given = ({ db }, { actorId, workspaceId }) =>
  db.execute(sql`
    insert into notifications (user_id, id, workspace_id, kind, actor_name, data, created_at)
    select user_id, ${createId()}, workspace_id, 'role_changed', 'Olga Owner', '{"role": "admin"}', now() from memberships
    where workspace_id = ${workspaceId} and user_id = ${actorId}`)
