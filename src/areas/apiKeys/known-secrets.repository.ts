import { and, asc, eq, gt, isNotNull, isNull, not, or, sql, type Column } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { serviceAccounts } from '../../db/schema/service-accounts.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { isActivePerson, users } from '../../db/schema/users.ts'
import { webhookFormerSecrets, webhooks } from '../../db/schema/webhooks.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { KnownSecrets } from '../../domain/known-secrets.ts'
import type { Principal } from '../../domain/principal.ts'

/** Whose knowledge a statement is about, and at what time. */
interface Knowledge {
  userId: string
  workspaceId: string
  now: Date
}

const isUser = sql.placeholder('userId')
const isNow = sql.placeholder('now')
const ofAccount = { serviceAccountId: serviceAccounts.id, serviceAccountName: users.name }

const selectKeysOfAccounts = (executor: Executor) =>
  executor
    .select({ ...ofAccount, apiKeyId: apiKeys.id, keyName: apiKeys.name, lastFour: apiKeys.lastFour })
    .from(apiKeys)
    .innerJoin(serviceAccounts, eq(serviceAccounts.userId, apiKeys.userId))
    .innerJoin(users, eq(users.id, apiKeys.userId))

const selectClientsOfAccounts = (executor: Executor) =>
  executor
    .select({ ...ofAccount, grantId: agentGrants.id, clientName: agentGrants.clientName })
    .from(agentGrants)
    .innerJoin(serviceAccounts, eq(serviceAccounts.userId, agentGrants.userId))
    .innerJoin(users, eq(users.id, agentGrants.userId))

const selectKeys = prepared((executor) =>
  selectKeysOfAccounts(executor)
    .where(
      and(
        eq(apiKeys.shownToUserId, isUser),
        eq(serviceAccounts.workspaceId, sql.placeholder('workspaceId')),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, isNow)),
      ),
    )
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
    .prepare('api_keys_select_known'),
)

/** The active keys of service accounts of a workspace that a person was shown, oldest first. */
export function listKnownKeys(executor: Executor, { now, ...of }: Knowledge) {
  return selectKeys(executor).execute({ ...of, now: now.toISOString() })
}

/** Whether somebody is an owner or admin of the workspace who is not suspended. */
const isManager = (id: Column) =>
  subquery(sql`exists (
    select from ${memberships} where ${memberships.userId} = ${id} and ${isActivePerson(id)}
      and ${memberships.workspaceId} = ${sql.placeholder('workspaceId')} and ${memberships.role} in ('owner', 'admin')
  )`)

const isShownOutside = (shownTo: Column) => and(isNotNull(shownTo), not(isManager(shownTo)))

const isFormerSecretLive = gt(agentGrants.formerSecretUntil, isNow)

const selectKeyOutside = prepared((executor) =>
  selectKeysOfAccounts(executor)
    .where(and(eq(apiKeys.id, sql.placeholder('id')), isShownOutside(apiKeys.shownToUserId)))
    .prepare('api_keys_select_known_outside'),
)

const selectClientOutside = prepared((executor) =>
  selectClientsOfAccounts(executor)
    .where(
      and(
        eq(agentGrants.id, sql.placeholder('id')),
        or(
          isShownOutside(agentGrants.shownToUserId),
          and(isFormerSecretLive, isShownOutside(agentGrants.formerShownToUserId)),
        ),
      ),
    )
    .prepare('agent_grants_select_known_outside'),
)

/**
 * The credential of a service account, if it was shown to somebody who is not, or no longer, an owner or admin. Which of two
 * secrets a client used is not known: the former one counts while it works.
 */
export async function findKnownOutside(
  executor: Executor,
  { workspaceId, now }: Pick<Knowledge, 'workspaceId' | 'now'>,
  { apiKeyId, grantId }: Pick<Principal, 'apiKeyId' | 'grantId'>,
): Promise<KnownSecrets | undefined> {
  const [key] =
    apiKeyId === null ? [] : await selectKeyOutside(executor).execute({ id: apiKeyId, workspaceId })
  if (key) return { keys: [key] }
  const [client] =
    grantId === null
      ? []
      : await selectClientOutside(executor).execute({ id: grantId, workspaceId, now: now.toISOString() })
  return client && { keys: [], clients: [client] }
}

const selectClients = prepared((executor) =>
  selectClientsOfAccounts(executor)
    .where(
      and(
        eq(agentGrants.workspaceId, sql.placeholder('workspaceId')),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, isNow),
        or(
          eq(agentGrants.shownToUserId, isUser),
          and(isFormerSecretLive, eq(agentGrants.formerShownToUserId, isUser)),
        ),
      ),
    )
    .orderBy(asc(agentGrants.createdAt), asc(agentGrants.id))
    .prepare('agent_grants_select_known'),
)

/** The OAuth clients of service accounts of a workspace whose secret a person was shown, or whose key they gave. Oldest first. */
export function listKnownClients(executor: Executor, { now, ...of }: Knowledge) {
  return selectClients(executor).execute({ ...of, now: now.toISOString() })
}

const selectWebhooks = prepared((executor) =>
  executor
    .selectDistinct({ id: webhooks.id, url: webhooks.url, createdAt: webhooks.createdAt })
    .from(webhooks)
    .leftJoin(webhookFormerSecrets, eq(webhookFormerSecrets.webhookId, webhooks.id))
    .where(
      and(
        eq(webhooks.workspaceId, sql.placeholder('workspaceId')),
        isNull(webhooks.deletedAt),
        // Messages to a chat are not signed.
        isNull(webhooks.format),
        or(
          eq(webhooks.shownToUserId, isUser),
          and(eq(webhookFormerSecrets.shownToUserId, isUser), gt(webhookFormerSecrets.signsUntil, isNow)),
        ),
      ),
    )
    .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    .prepare('webhooks_select_known'),
)

/** The webhooks of a workspace of which a person was shown a secret that signs, oldest first. */
export function listKnownWebhooks(executor: Executor, { now, ...of }: Knowledge) {
  return selectWebhooks(executor).execute({ ...of, now: now.toISOString() })
}
