import { and, asc, count, eq, isNull, sql, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { oauthRecords } from '../../db/schema/oauth.ts'
import { serviceAccounts } from '../../db/schema/service-accounts.ts'
import { users } from '../../db/schema/users.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { ServiceRole } from '../../domain/service-accounts.ts'

const makers = alias(users, 'makers')

const lastUse = subquery(sql<Date | null>`greatest(
  (select max(${apiKeys.lastUsedAt}) from ${apiKeys} where ${apiKeys.userId} = ${users.id}),
  (select max(${agentGrants.lastUsedAt}) from ${agentGrants}
    where ${agentGrants.workspaceId} = ${serviceAccounts.workspaceId} and ${agentGrants.userId} = ${users.id})
)`).mapWith((text: string): Date | null => new Date(text))

/** The service accounts of a workspace that are not deleted and match a filter, oldest first. */
function selectAccounts(executor: Executor, filter?: SQL) {
  return executor
    .select({
      id: serviceAccounts.id,
      userId: serviceAccounts.userId,
      name: users.name,
      role: sql<ServiceRole>`${memberships.role}`,
      createdByUserId: serviceAccounts.createdByUserId,
      createdByName: makers.name,
      createdAt: serviceAccounts.createdAt,
      lastUsedAt: lastUse,
    })
    .from(serviceAccounts)
    .innerJoin(users, eq(users.id, serviceAccounts.userId))
    .innerJoin(memberships, isMembershipOf(serviceAccounts, serviceAccounts.userId))
    .leftJoin(makers, eq(makers.id, serviceAccounts.createdByUserId))
    .where(
      and(
        eq(serviceAccounts.workspaceId, sql.placeholder('workspaceId')),
        isNull(serviceAccounts.deletedAt),
        filter,
      ),
    )
    .orderBy(asc(serviceAccounts.createdAt), asc(serviceAccounts.id))
}

const selectAll = prepared((executor) => selectAccounts(executor).prepare('service_accounts_select'))

export type ServiceAccountRow = Awaited<ReturnType<typeof listServiceAccounts>>[number]

/** The service accounts of a workspace, oldest first. */
export function listServiceAccounts(executor: Executor, workspaceId: string) {
  return selectAll(executor).execute({ workspaceId })
}

const selectById = prepared((executor) =>
  selectAccounts(executor, eq(serviceAccounts.id, sql.placeholder('id'))).prepare(
    'service_accounts_select_by_id',
  ),
)

/** A service account of a workspace. */
export async function findServiceAccount(
  executor: Executor,
  input: { workspaceId: string; id: string },
): Promise<ServiceAccountRow | undefined> {
  const [account] = await selectById(executor).execute(input)
  return account
}

const countAccounts = prepared((executor) =>
  executor
    .select({ count: count() })
    .from(serviceAccounts)
    .where(
      and(eq(serviceAccounts.workspaceId, sql.placeholder('workspaceId')), isNull(serviceAccounts.deletedAt)),
    )
    .prepare('service_accounts_count'),
)

export async function countServiceAccounts(executor: Executor, workspaceId: string): Promise<number> {
  const [row] = await countAccounts(executor).execute({ workspaceId })
  return row?.count ?? 0
}

export async function insertServiceAccount(
  executor: Executor,
  row: typeof serviceAccounts.$inferInsert,
): Promise<void> {
  await executor.insert(serviceAccounts).values(row)
}

export async function renameServiceUser(
  executor: Executor,
  { userId, name }: { userId: string; name: string },
): Promise<void> {
  await executor.update(users).set({ name }).where(eq(users.id, userId))
}

/** Deletes the registrations of the OAuth clients of a service account, whose grants go with its membership. */
export async function deleteClientsOfService(
  executor: Executor,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<void> {
  await executor.execute(sql`
    delete from ${oauthRecords} using ${agentGrants}
    where ${oauthRecords.kind} = 'Client' and ${oauthRecords.key} = ${agentGrants.clientId}
      and ${agentGrants.workspaceId} = ${workspaceId} and ${agentGrants.userId} = ${userId}`)
}

/** Marks a service account as deleted. Its user stays, for its name. */
export async function markServiceAccountDeleted(
  executor: Executor,
  { workspaceId, id, now }: { workspaceId: string; id: string; now: Date },
): Promise<void> {
  await executor
    .update(serviceAccounts)
    .set({ deletedAt: now })
    .where(and(eq(serviceAccounts.workspaceId, workspaceId), eq(serviceAccounts.id, id)))
}
