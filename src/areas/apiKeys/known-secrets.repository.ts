import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { serviceAccounts } from '../../db/schema/service-accounts.ts'
import { users } from '../../db/schema/users.ts'
import { webhookFormerSecrets, webhooks } from '../../db/schema/webhooks.ts'
import { prepared } from '../../db/sql/prepared.ts'

/** Whose knowledge a statement is about, and at what time. */
interface Knowledge {
  userId: string
  workspaceId: string
  now: Date
}

const isUser = sql.placeholder('userId')
const isNow = sql.placeholder('now')
const ofAccount = { serviceAccountId: serviceAccounts.id, serviceAccountName: users.name }

const selectKeys = prepared((executor) =>
  executor
    .select({ ...ofAccount, apiKeyId: apiKeys.id, keyName: apiKeys.name, lastFour: apiKeys.lastFour })
    .from(apiKeys)
    .innerJoin(serviceAccounts, eq(serviceAccounts.userId, apiKeys.userId))
    .innerJoin(users, eq(users.id, apiKeys.userId))
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

const selectClients = prepared((executor) =>
  executor
    .select({ ...ofAccount, grantId: agentGrants.id, clientName: agentGrants.clientName })
    .from(agentGrants)
    .innerJoin(serviceAccounts, eq(serviceAccounts.userId, agentGrants.userId))
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(
      and(
        eq(agentGrants.workspaceId, sql.placeholder('workspaceId')),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, isNow),
        or(
          eq(agentGrants.shownToUserId, isUser),
          and(eq(agentGrants.formerShownToUserId, isUser), gt(agentGrants.formerSecretUntil, isNow)),
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
