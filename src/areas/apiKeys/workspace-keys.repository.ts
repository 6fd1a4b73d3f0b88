import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { jsonItem, jsonRows, readOne, timesOf, timestampText } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { events } from '../../db/schema/events.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { WorkspaceApiKey } from './workspace-keys.schemas.ts'

/** The keys that act in a workspace at a time: those that are bound to it, and those with a change in it since another. */
export interface ActingKeysOf {
  workspaceId: string
  now: Date
  changedSince: Date
}

/** When a key last changed something in the workspace of the membership: one look into `events_by_key_idx`. */
const lastChangeAt = subquery(sql<Date | null>`(
  select max(${events.createdAt}) from ${events}
  where ${events.workspaceId} = ${memberships.workspaceId} and ${events.apiKeyId} = ${apiKeys.id}
)`).mapWith(events.createdAt)

const isBound = sql`${memberships.workspaceId} = any(${apiKeys.workspaceIds})`

const isActing = and(
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, hiddenParameter('now', 'timestamptz'))),
  or(isBound, sql`${lastChangeAt} >= ${hiddenParameter('changedSince', 'timestamptz')}`),
)

const isOfWorkspace = eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid'))

const selectOfWorkspace = prepared((executor) => {
  const page = executor
    .select({
      id: apiKeys.id,
      ownerUserId: apiKeys.userId,
      ownerName: users.name,
      kind: users.kind,
      tokenPrefix: apiKeys.tokenPrefix,
      lastFour: apiKeys.lastFour,
      lastChangeAt: lastChangeAt.as('last_change_at'),
      access: apiKeys.access,
      maxRole: apiKeys.maxRole,
      expiresAt: apiKeys.expiresAt,
      at: apiKeys.createdAt,
    })
    .from(memberships)
    .innerJoin(apiKeys, eq(apiKeys.userId, memberships.userId))
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .where(and(isOfWorkspace, isActing, isBefore(apiKeys.createdAt, apiKeys.id)))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .limit(pageLimit)
    .as('page')
  const { id, ownerUserId, ownerName, kind, tokenPrefix, lastFour, access, maxRole, expiresAt, at } = page
  const item = jsonItem<WorkspaceApiKey>({
    ...{ id, ownerUserId, ownerName, kind, tokenPrefix, lastFour },
    lastChangeAt: timestampText(page.lastChangeAt),
    ...{ access, maxRole, expiresAt },
  })
  const rows = executor.select({ item, at }).from(page).orderBy(desc(at), desc(id)).as('rows')
  return executor
    .select({ ...jsonRows(rows.item), times: timesOf(rows.at) })
    .from(rows)
    .prepare('api_keys_select_of_workspace')
})

/** The keys that act in a workspace, the newest first. `times` are those at which they were created. */
export function listActingKeys(
  executor: Executor,
  { now, changedSince, ...values }: ActingKeysOf & PageRange,
): Promise<JsonRows & { times: string }> {
  const times = { now: now.toISOString(), changedSince: changedSince.toISOString() }
  return readOne(selectOfWorkspace(executor).execute({ ...values, ...times }))
}

const selectOfMember = prepared((executor) =>
  executor
    .select({ id: apiKeys.id, tokenPrefix: apiKeys.tokenPrefix, lastFour: apiKeys.lastFour })
    .from(memberships)
    .innerJoin(apiKeys, eq(apiKeys.userId, memberships.userId))
    .where(and(isOfWorkspace, eq(memberships.userId, sql.placeholder('userId')), isActing))
    .orderBy(apiKeys.createdAt, apiKeys.id)
    .prepare('api_keys_select_of_member'),
)

/** The keys of a member that act in a workspace, the oldest first. */
export function listActingKeysOfMember(
  executor: Executor,
  { now, changedSince, ...values }: ActingKeysOf & { userId: string },
): Promise<{ id: string; tokenPrefix: string; lastFour: string }[]> {
  const times = { now: now.toISOString(), changedSince: changedSince.toISOString() }
  return selectOfMember(executor).execute({ ...values, ...times })
}
