import { and, eq, gt, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { isMembershipOf, memberships } from '../../../db/schema/memberships.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import { users } from '../../../db/schema/users.ts'
import type { Role } from '../../../domain/roles.ts'
import { serviceGrantType } from '../protocol.ts'
import { insertGrant, isLive } from './grant-records.repository.ts'
import { hashClientSecret, toStored } from './stored-records.ts'

/** The live grant of a client of a service account, with the current role of the account; undefined without one. */
export async function findServiceGrant(
  db: Executor,
  clientId: string,
  now: Date,
): Promise<{ id: string; scopes: string[]; role: Role } | undefined> {
  const [grant] = await db
    .select({ id: agentGrants.id, scopes: agentGrants.scopes, role: memberships.role })
    .from(agentGrants)
    .innerJoin(memberships, isMembershipOf(agentGrants, agentGrants.userId))
    .innerJoin(users, and(eq(users.id, agentGrants.userId), eq(users.kind, 'service')))
    .where(and(eq(agentGrants.clientId, clientId), isLive(now)))
  return grant
}

/** How a client authenticates, in the names of RFC 7591 §2. */
export type ClientAuthentication =
  | { token_endpoint_auth_method: 'client_secret_basic'; client_secret: string }
  | { token_endpoint_auth_method: 'private_key_jwt'; jwks: { keys: object[] } }
  | { token_endpoint_auth_method: 'private_key_jwt'; jwks_uri: string }

/** Registers a client of a service account, with its grant. Of a secret the hash is stored. */
export async function insertServiceClient(
  db: Executor,
  grant: typeof agentGrants.$inferInsert,
  authentication: ClientAuthentication,
): Promise<void> {
  const { clientId, clientName, createdAt } = grant
  const metadata = {
    ...{ client_id: clientId, client_name: clientName, ...authentication },
    ...{ grant_types: [serviceGrantType], redirect_uris: [], response_types: [] },
  }
  await db
    .insert(oauthRecords)
    .values({ kind: 'Client', key: clientId, payload: toStored('Client', metadata), createdAt })
  await insertGrant(db, grant)
}

/**
 * Replaces the secret of a client of a service account, whose grant is locked. `formerUntil`: until when the one before
 * works; null: no longer. Of both the hashes are stored.
 */
export async function replaceClientSecret(
  db: Executor,
  client: { id: string; clientId: string; shownToUserId: string | null },
  change: { secret: string; shownToUserId: string; formerUntil: Date | null },
): Promise<void> {
  const { secret, shownToUserId, formerUntil } = change
  const isClient = and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, client.clientId))
  const [former] = await db
    .select({ hash: sql<string>`${oauthRecords.payload} ->> 'client_secret'` })
    .from(oauthRecords)
    .where(isClient)
  const hash = JSON.stringify(hashClientSecret(secret))
  await db
    .update(oauthRecords)
    .set({ payload: sql`jsonb_set(${oauthRecords.payload}, '{client_secret}', ${hash}::jsonb)` })
    .where(isClient)
  await db
    .update(agentGrants)
    .set({
      shownToUserId,
      formerSecretHash: formerUntil && (former?.hash ?? null),
      formerSecretUntil: formerUntil,
      formerShownToUserId: formerUntil && client.shownToUserId,
    })
    .where(eq(agentGrants.id, client.id))
}

/** The hash of the secret that a client had before, while it works. */
export async function findFormerSecret(
  db: Executor,
  clientId: string,
  now: Date,
): Promise<string | undefined> {
  const [grant] = await db
    .select({ hash: agentGrants.formerSecretHash })
    .from(agentGrants)
    .where(and(eq(agentGrants.clientId, clientId), gt(agentGrants.formerSecretUntil, now), isLive(now)))
  return grant?.hash ?? undefined
}

/** Deletes the registration of a client. */
export async function deleteClientRecord(db: Executor, clientId: string): Promise<void> {
  await db.delete(oauthRecords).where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, clientId)))
}

/** The condition of the registrations of clients of service accounts. */
export const isServiceClient = sql`${oauthRecords.payload} -> 'grant_types' = ${JSON.stringify([serviceGrantType])}::jsonb`
