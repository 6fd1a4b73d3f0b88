import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { post, type TestCompany } from './company.ts'
import { selectRows, type TestApp, type TestPerson } from './test-app.ts'

/** A seed as the API tells it. */
export interface TestSeed {
  id: string
  workspaceId: string
  url: string
  title: string
  summary: string
  problem: string | null
  audience: string | null
  hypothesis: string | null
  successCriteria: string[]
  criteria: { id: string; text: string; state: string }[]
  status: string
  question: string | null
  decideBy: string | null
  createdByUserId: string | null
  createdByName: string | null
  agentName: string | null
  leadUserId: string | null
  leadName: string | null
  teamId: string | null
  teamName: string | null
  labels: { id: string; name: string }[]
  statusReason: string | null
  decidedAt: string | null
  decidedByUserId: string | null
  decidedByName: string | null
  participantCount: number
  joined: boolean
  following: boolean
  evidenceCounts: { supports: number; contradicts: number; neutral: number }
  commentCount: number
  lastEvidenceAt: string | null
  lastCommentAt: string | null
  createdAt: string
  updatedAt: string
  activityAt: string
}

/** A piece of evidence as the API tells it. */
export interface TestEvidence {
  id: string
  workspaceId: string
  seedId: string
  kind: string
  verdict: string
  summary: string
  sourceUrl: string | null
  criterionIds: string[]
  attachments: unknown[]
  authorUserId: string | null
  authorName: string
  agentName: string | null
  createdAt: string
  editedAt: string | null
  withdrawnAt: string | null
  withdrawnByName: string | null
  withdrawnReason: string | null
  seenByCount: number
  seenByMe: boolean
}

/** What no seed can be decided by. */
export const badDates: unknown[] = [
  '',
  ' ',
  '2026-02-30',
  '2027-02-29',
  '2026-13-01',
  '2026-1-1',
  '0000-01-01',
  '0999-12-31',
  '10000-01-01',
  '-002026-01-01',
  '2026-12-11T00:00:00Z',
  'tomorrow',
  20261211,
  true,
  {},
]

/** Creates a seed through the API. */
export async function createSeed(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  fields: object = {},
): Promise<TestSeed> {
  const answer = await as(
    actor,
    post(`${url}/seeds`, { title: 'Fewer meetings', summary: 'A day of none', ...fields }),
  )
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ seed: TestSeed }>().seed
}

/** A seed that its creator has left: nobody takes part in it, leads or follows it. */
export async function createEmptySeed(
  service: Pick<TestApp, 'as' | 'db'>,
  actor: TestPerson,
  company: Pick<TestCompany, 'url'>,
  fields: object = {},
): Promise<TestSeed> {
  const seed = await createSeed(service, actor, company, fields)
  await service.db.execute(sql`
    with participants as (delete from seed_participants where seed_id = ${seed.id}),
      followers as (delete from seed_followers where seed_id = ${seed.id})
    update seeds set lead_user_id = null where id = ${seed.id}`)
  await service.db.execute(sql`update seeds set activity_at = created_at where id = ${seed.id}`)
  return { ...seed, leadUserId: null, leadName: null, participantCount: 0, joined: false, following: false }
}

/** Has somebody join a seed through the API. */
export async function joinSeed(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  seed: { id: string },
): Promise<void> {
  const answer = await as(actor, post(`/v1/seeds/${seed.id}/join`))
  expect(answer.statusCode, answer.body).toBe(200)
}

export const someEvidence = { kind: 'interview', verdict: 'supports', summary: 'Seven of ten would' }

/** Adds evidence to a seed through the API, on behalf of somebody who has joined it. */
export async function addEvidence(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  seed: { id: string },
  fields: object = {},
): Promise<TestEvidence> {
  const answer = await as(actor, post(`/v1/seeds/${seed.id}/evidence`, { ...someEvidence, ...fields }))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ evidence: TestEvidence }>().evidence
}

/** The row of a seed. */
export async function findSeed(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<Record<string, unknown> | undefined> {
  return (await selectRows(db, sql`select * from seeds where id = ${id}`))[0]
}

/** The ids of those who are in a seed, in the order in which they joined. */
export async function findParticipants({ db }: Pick<TestApp, 'db'>, seed: { id: string }): Promise<string[]> {
  const rows = await selectRows<{ user_id: string }>(
    db,
    sql`select user_id from seed_participants where seed_id = ${seed.id} order by joined_at, user_id`,
  )
  return rows.map((row) => row.user_id)
}

/** The ids of those who follow a seed, sorted. */
export async function findFollowers({ db }: Pick<TestApp, 'db'>, seed: { id: string }): Promise<string[]> {
  const rows = await selectRows<{ user_id: string }>(
    db,
    sql`select user_id from seed_followers where seed_id = ${seed.id} order by user_id`,
  )
  return rows.map((row) => row.user_id)
}

/** The evidence of a seed, oldest first. */
export function findEvidence(
  { db }: Pick<TestApp, 'db'>,
  seed: { id: string },
): Promise<Record<string, unknown>[]> {
  return selectRows(db, sql`select * from evidence where seed_id = ${seed.id} order by created_at, id`)
}

/** A grant made for a test, as the API tells it. */
export interface TestGrant {
  id: string
  clientId: string
  clientName: string
  clientUri: string | null
  userId: string
  userName: string
  scopes: string[]
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string
}

/** Lets an agent into a workspace on behalf of a member; stores nothing for somebody who is not in it. */
export async function insertGrant(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
  person: { id: string; name: string },
  {
    clientName = 'Robbie',
    clientUri = null as string | null,
    createdAt = new Date(),
    lifetimeMs = 86_400_000,
    assertedIssuer = null as string | null,
  } = {},
): Promise<TestGrant> {
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
  const grant = {
    id: createId(),
    clientId: `client-${createId()}`,
    clientName,
    clientUri,
    userId: person.id,
    userName: person.name,
    scopes: ['validation-kit:read'],
    membersMayAsk: false,
    createdAt: createdAt.toISOString(),
    lastUsedAt: null,
    expiresAt: expiresAt.toISOString(),
    assertedIssuer,
  }
  await db.execute(sql`
    insert into agent_grants (id, client_id, client_name, client_uri, workspace_id, user_id, scopes, created_at, expires_at, asserted_issuer)
    select ${grant.id}, ${grant.clientId}, ${clientName}, ${clientUri}, workspace_id, user_id, '{validation-kit:read}',
      ${grant.createdAt}, ${grant.expiresAt}, ${assertedIssuer}
    from memberships where workspace_id = ${workspace.id} and user_id = ${person.id}`)
  return grant
}

/** When a grant was revoked; null while it was not. */
export async function findRevokedAt(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<Date | null> {
  const [row] = await selectRows<{ revoked_at: string | null }>(
    db,
    sql`select revoked_at from agent_grants where id = ${id}`,
  )
  if (!row) throw new Error('there is no such grant')
  return row.revoked_at === null ? null : new Date(row.revoked_at)
}

/** Saves filters of seeds, for oneself alone unless `shared` is given. */
export async function saveFilter(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  {
    name = `Filter ${randomUUID().slice(0, 8)}`,
    shared = false,
    filters = {},
  }: { name?: string; shared?: boolean; filters?: object } = {},
): Promise<{ id: string; name: string; url: string }> {
  const answer = await as(actor, post(`${url}/saved-filters`, { name, shared, filters }))
  expect(answer.statusCode, answer.body).toBe(200)
  const { savedFilter } = answer.json<{ savedFilter: { id: string; name: string } }>()
  return { id: savedFilter.id, name: savedFilter.name, url: `${url}/saved-filters/${savedFilter.id}` }
}

/** Creates a label. */
export async function createLabel(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  name = `Label ${randomUUID().slice(0, 8)}`,
): Promise<{ id: string; name: string; url: string }> {
  const answer = await as(actor, post(`${url}/labels`, { name }))
  expect(answer.statusCode, answer.body).toBe(200)
  const { label } = answer.json<{ label: { id: string; name: string } }>()
  return { id: label.id, name: label.name, url: `${url}/labels/${label.id}` }
}
