import { and, desc, eq, gt, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm'
import { alias, type AnyPgColumn } from 'drizzle-orm/pg-core'
import type { AdapterPayload } from 'oidc-provider'
import type { Executor } from '../../../db/client.ts'
import { prepared } from '../../../db/sql/prepared.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import { isActivePerson } from '../../../db/schema/users.ts'
import { sealSuccessor, type RefreshTokenOrigin } from './refresh-tokens.ts'
import { generationOf, keyOf, toPayload, toStored, withScopes } from '../records/stored-records.ts'

/** The number of used refresh tokens whose records are kept for each chain. */
const usedTokensMax = 100
const hourMs = 60 * 60 * 1000

/** A refresh token, and the one that replaces it. */
export interface Exchange {
  used: string
  id: string
  payload: AdapterPayload
  expiresInSeconds: number | undefined
}

/** The successor of the first exchange of a token, or until when the grant can have no further one. */
export type Exchanged = { sealed: Buffer } | { refusedUntil: Date } | undefined

/** Now, and when a token must have been exchanged first to be answered again. */
export interface Times {
  at: Date
  graceBeganAt: Date
}

/** What a refresh reads. A payload is missing when the record has expired, the grant was revoked, or the person is suspended. */
export type RefreshRecords = Record<
  'RefreshToken' | 'Client' | 'Grant',
  { id: string; payload?: AdapterPayload }
> & {
  /** Of a token that was exchanged within the grace. */
  sealedSuccessor?: Buffer
}

const tokens = alias(oauthRecords, 'tokens')
const clients = alias(oauthRecords, 'clients')
const grants = alias(oauthRecords, 'grants')
const now = sql.placeholder('now')
const isUnexpired = ({ expiresAt }: { expiresAt: AnyPgColumn }) => or(isNull(expiresAt), gt(expiresAt, now))

const selectRefreshRecords = prepared((executor) =>
  executor
    .select({
      key: tokens.key,
      payload: tokens.payload,
      consumedAt: tokens.consumedAt,
      sealedSuccessor: tokens.sealedSuccessor,
      clientId: tokens.clientId,
      client: clients.payload,
      grantId: tokens.grantId,
      grant: grants.payload,
      scopes: agentGrants.scopes,
    })
    .from(tokens)
    .leftJoin(
      clients,
      and(eq(clients.kind, 'Client'), eq(clients.key, tokens.clientId), isUnexpired(clients)),
    )
    .leftJoin(
      agentGrants,
      and(
        sql`${agentGrants.id} = ${tokens.grantId}::uuid`,
        isNull(agentGrants.revokedAt),
        isActivePerson(agentGrants.userId),
        gt(agentGrants.expiresAt, now),
      ),
    )
    .leftJoin(
      grants,
      and(
        eq(grants.kind, 'Grant'),
        eq(grants.key, tokens.grantId),
        isUnexpired(grants),
        isNotNull(agentGrants.id),
      ),
    )
    .where(
      and(
        eq(tokens.kind, 'RefreshToken'),
        sql`${tokens.key} = any(${sql.placeholder('keys')})`,
        isUnexpired(tokens),
      ),
    )
    .prepare('oauth_records_select_refreshes'),
)

/** Finds the records of refresh tokens, in the order of the tokens; undefined for an unknown or expired one. */
export async function findRefreshRecords(
  db: Executor,
  refreshTokens: readonly string[],
  { at, graceBeganAt }: Times,
): Promise<(RefreshRecords | undefined)[]> {
  const keys = refreshTokens.map((token) => keyOf('RefreshToken', token))
  const rows = await selectRefreshRecords(db).execute({ keys, now: at })
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return refreshTokens.map((id, i) => {
    const row = byKey.get(keys[i] ?? '')
    // oidc-provider revokes the grant of a token that is consumed.
    const consumedAt = row?.consumedAt && row.consumedAt <= graceBeganAt ? row.consumedAt : null
    return (
      row && {
        ...(row.sealedSuccessor && { sealedSuccessor: row.sealedSuccessor }),
        RefreshToken: {
          id,
          payload: withScopes(toPayload('RefreshToken', id, { ...row, consumedAt }), row.scopes),
        },
        Client: { id: row.clientId ?? '', ...(row.client && { payload: row.client }) },
        Grant: { id: row.grantId ?? '', ...(row.grant && { payload: withScopes(row.grant, row.scopes) }) },
      }
    )
  })
}

/** What all tokens of a chain have in common: when the code was exchanged. */
const chainOf = (payload: AnyPgColumn | SQL) => sql`(${payload} ->> 'iiat')`

/** The payload of the newest token of a chain, if there is a later one than that of the origin. */
export async function findLaterToken(
  db: Executor,
  { grantId, chain, generation }: RefreshTokenOrigin,
  now: Date,
): Promise<AdapterPayload | undefined> {
  const [row] = await db
    .select({ payload: oauthRecords.payload })
    .from(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'RefreshToken'),
        eq(oauthRecords.grantId, grantId),
        chain === undefined ? undefined : eq(chainOf(oauthRecords.payload), String(chain)),
        gt(oauthRecords.generation, generation),
        gt(oauthRecords.expiresAt, now),
      ),
    )
    .orderBy(desc(oauthRecords.generation))
    .limit(1)
  return row?.payload
}

const exchangeTokens = prepared((executor) => {
  // Locked in the order of their keys, so that two processes with the same tokens do not wait for each other. The rows are
  // those of after the wait, with the successor that another process has stored.
  const locked = executor.$with('locked').as(
    executor
      .select()
      .from(oauthRecords)
      .where(
        and(
          eq(oauthRecords.kind, 'RefreshToken'),
          sql`${oauthRecords.key} = any(${sql.placeholder('usedKeys')})`,
          or(isNull(oauthRecords.consumedAt), gt(oauthRecords.consumedAt, sql.placeholder('graceBeganAt'))),
        ),
      )
      .orderBy(oauthRecords.key)
      .for('update'),
  )
  // The release before has used tokens without storing their successors. Each of them gets one.
  const first = executor.$with('first', { key: sql<string>`key` }).as(sql`
    select locked.kind, locked.key, locked.grant_id, locked.client_id, locked.origin,
      next.key as next_key, next.payload, next.expires_at, next.generation, decode(next.sealed, 'base64') as sealed,
      (
        select max(earlier.created_at) from oauth_records as earlier
        where earlier.kind = locked.kind and earlier.grant_id = locked.grant_id
          and ${chainOf(sql`earlier.payload`)} = ${chainOf(sql`locked.payload`)}
          and earlier.generation = next.generation - ${sql.placeholder('limitPerHour')}::int
          and earlier.generation > 0 and earlier.created_at > ${sql.placeholder('hourAgo')}
      ) as began_at
    from locked join jsonb_to_recordset(${sql.placeholder('next')}::jsonb)
      as next (used_key text, key text, payload jsonb, expires_at timestamptz, generation int, sealed text)
      on next.used_key = locked.key
    where locked.sealed_successor is null`)
  const used = executor.$with('used', {}).as(sql`
    update oauth_records
    set consumed_at = coalesce(oauth_records.consumed_at, ${now}), sealed_successor = first.sealed
    from first
    where oauth_records.kind = first.kind and oauth_records.key = first.key and first.began_at is null`)
  const inserted = executor.$with('inserted', {}).as(sql`
    insert into oauth_records (kind, key, grant_id, client_id, origin, payload, created_at, expires_at, generation)
    select kind, next_key, grant_id, client_id, origin, payload, ${now}::timestamptz, expires_at, generation
    from first where began_at is null`)
  const forgotten = executor.$with('forgotten', {}).as(sql`
    delete from oauth_records using first
    where oauth_records.kind = first.kind and oauth_records.grant_id = first.grant_id
      and ${chainOf(sql`oauth_records.payload`)} = ${chainOf(sql`first.payload`)}
      and oauth_records.generation < first.generation - ${usedTokensMax} and first.began_at is null`)
  return executor
    .with(locked, first, used, inserted, forgotten)
    .select({
      key: locked.key,
      sealed: sql<Buffer | null>`coalesce(${locked.sealedSuccessor}, first.sealed)`,
      beganAt: sql`first.began_at`.mapWith(oauthRecords.createdAt),
    })
    .from(locked)
    .leftJoin(first, sql`first.key = ${locked.key}`)
    .prepare('oauth_records_exchange_refresh_tokens')
})

/**
 * Marks refresh tokens as used and inserts the ones that replace them, of the same chains. Returns for each its successor,
 * which is that of its first exchange; undefined if there is no such token any longer, or it was used before the period of
 * grace. Deletes the used tokens of the chains but the newest.
 */
export async function exchangeRefreshTokens(
  db: Executor,
  exchanges: readonly Exchange[],
  { at, graceBeganAt, limitPerHour }: Times & { limitPerHour: number },
): Promise<Exchanged[]> {
  const usedKeys = exchanges.map(({ used }) => keyOf('RefreshToken', used))
  const next = exchanges
    .map(({ used, id, payload, expiresInSeconds }, i) => ({
      used_key: usedKeys[i] ?? '',
      key: keyOf('RefreshToken', id),
      payload: toStored('RefreshToken', payload),
      expires_at: expiresInSeconds ? new Date(at.getTime() + expiresInSeconds * 1000) : null,
      generation: generationOf('RefreshToken', payload),
      sealed: sealSuccessor(id, used).toString('base64'),
    }))
    // Of the exchanges of the same token, the first.
    .filter(({ used_key: key }, i) => usedKeys.indexOf(key) === i)
  const rows = await exchangeTokens(db).execute({
    usedKeys,
    graceBeganAt,
    next: JSON.stringify(next),
    now: at,
    limitPerHour: limitPerHour === 0 ? null : limitPerHour,
    hourAgo: new Date(at.getTime() - hourMs),
  })
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return usedKeys.map((key) => {
    const { beganAt = null, sealed = null } = byKey.get(key) ?? {}
    if (beganAt) return { refusedUntil: new Date(beganAt.getTime() + hourMs) }
    return sealed ? { sealed } : undefined
  })
}
