import { and, eq, gt, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { alias, type AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { createBatch } from '../db/batch.ts'
import type { Executor } from '../db/client.ts'
import { prepared } from '../db/prepared.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { oauthRecords } from '../db/schema/oauth.ts'
import type { Clock } from '../kernel/clock.ts'
import { isStorable } from '../kernel/text.ts'
import { keyOf, toPayload, toStored } from './oauth-records.repository.ts'

/** A request with `grant_type=refresh_token`. */
export interface RefreshRequest {
  /** Identifies the request. */
  context: object
  refreshToken: string
}

/**
 * How many times a refresh token can be exchanged: more than the processes of one client that share it, and the answers
 * that they lose, so that only a loop gets there.
 */
export const refreshUsesMax = 50

export interface RefreshAdapterOptions {
  db: Executor
  clock: Clock
  /** How long a refresh token can be exchanged again after its first exchange. */
  refreshGraceSeconds: number
  /** Creates the error for a record that was already consumed. */
  alreadyUsed: () => Error
  /** The refresh that is being handled; undefined for all other requests. */
  findRefresh: () => RefreshRequest | undefined
}

/** A refresh so far. */
interface Refresh {
  records: Promise<RefreshRecords | undefined>
  /** The token that the next saved one replaces. */
  used?: string
}

/** A refresh token, and the one that replaces it. */
interface Exchange {
  used: string
  id: string
  payload: AdapterPayload
  expiresInSeconds: number | undefined
}

/** Now, and when a token must have been exchanged first to be exchanged again. */
interface Times {
  at: Date
  graceBeganAt: Date
}

/** What a refresh reads. A payload is missing when the record has expired, or the grant was revoked. */
type RefreshRecords = Record<'RefreshToken' | 'Client' | 'Grant', { id: string; payload?: AdapterPayload }>

/**
 * Wraps the adapter for refreshes, which it would answer in five statements: the three records that oidc-provider asks
 * for one after the other are read together, and the old token is marked as used in the statement that inserts the new
 * one. So no token is used up without its successor. Refreshes that arrive in one turn of the event loop share the
 * reading statement. Nothing is kept after the request.
 */
export function createRefreshAdapter(
  adapterOf: (kind: string) => Adapter,
  { db, clock, refreshGraceSeconds, alreadyUsed, findRefresh }: RefreshAdapterOptions,
): (kind: string) => Adapter {
  const refreshes = new WeakMap<object, Refresh>()
  const timesOfNow = (): Times => {
    const at = clock.now()
    return { at, graceBeganAt: new Date(at.getTime() - refreshGraceSeconds * 1000) }
  }
  const findRecords = createBatch((tokens: readonly string[]) => findRefreshRecords(db, tokens, timesOfNow()))
  const exchange = createBatch((tokens: readonly Exchange[]) =>
    exchangeRefreshTokens(db, tokens, timesOfNow()),
  )

  function currentRefresh(): Refresh | undefined {
    const request = findRefresh()
    if (!request || !isStorable(request.refreshToken)) return undefined
    let refresh = refreshes.get(request.context)
    if (!refresh) {
      refresh = { records: findRecords(request.refreshToken) }
      refreshes.set(request.context, refresh)
    }
    return refresh
  }

  return (kind) => {
    const adapter = adapterOf(kind)
    if (kind !== 'RefreshToken' && kind !== 'Client' && kind !== 'Grant') return adapter
    const find: Adapter['find'] = async (id) => {
      const record = (await currentRefresh()?.records)?.[kind]
      return record?.id === id ? record.payload : adapter.find(id)
    }
    if (kind !== 'RefreshToken') return { ...adapter, find }
    return {
      ...adapter,
      find,
      // oidc-provider saves the next token directly afterwards.
      async consume(id) {
        const refresh = currentRefresh()
        if (refresh) refresh.used = id
        else await adapter.consume(id)
      },
      async upsert(id, payload, expiresInSeconds) {
        const used = currentRefresh()?.used
        if (used === undefined) return adapter.upsert(id, payload, expiresInSeconds)
        if (!(await exchange({ used, id, payload, expiresInSeconds }))) throw alreadyUsed()
      },
    }
  }
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
async function findRefreshRecords(
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

/** A refresh token or a grant with the scopes that the person allows now, which may have changed since it was stored. */
function withScopes(payload: AdapterPayload, scopes: readonly string[] | null): AdapterPayload {
  if (!scopes) return payload
  const scope = scopes.join(' ')
  const { openid, resources = {} } = payload as { openid?: object; resources?: object }
  return {
    ...payload,
    ...('scope' in payload && { scope }),
    ...(openid && { openid: { ...openid, scope } }),
    resources: Object.fromEntries(Object.keys(resources).map((name) => [name, scope])),
  }
}

/** How many of the exchanges of a statement are of one token. */
const countOf = (key: AnyPgColumn | SQL) =>
  sql`cardinality(array_positions(${sql.placeholder('usedKeys')}::text[], ${key}))`

const exchangeTokens = prepared((executor) => {
  // Locked in the order of their keys, so that two processes with the same tokens do not wait for each other.
  const locked = executor.$with('locked').as(
    executor
      .select({ key: oauthRecords.key })
      .from(oauthRecords)
      .where(
        and(
          eq(oauthRecords.kind, 'RefreshToken'),
          sql`${oauthRecords.key} = any(${sql.placeholder('usedKeys')})`,
          or(isNull(oauthRecords.consumedAt), gt(oauthRecords.consumedAt, sql.placeholder('graceBeganAt'))),
          lt(oauthRecords.uses, refreshUsesMax),
        ),
      )
      .orderBy(oauthRecords.key)
      .for('update'),
  )
  const used = executor.$with('used').as(
    executor
      .update(oauthRecords)
      .set({
        consumedAt: sql`coalesce(${oauthRecords.consumedAt}, ${now})`,
        uses: sql`${oauthRecords.uses} + ${countOf(oauthRecords.key)}`,
      })
      .where(
        and(
          eq(oauthRecords.kind, 'RefreshToken'),
          inArray(oauthRecords.key, executor.select({ key: locked.key }).from(locked)),
        ),
      )
      .returning(),
  )
  return (
    executor
      .with(locked, used)
      .insert(oauthRecords)
      // In the order of the columns of the table.
      .select(
        sql`select used.kind, next.key, used.grant_id, used.client_id, used.origin, next.payload, ${now}::timestamptz,
            null, next.expires_at, 0, null
          from used join jsonb_to_recordset(${sql.placeholder('next')}::jsonb)
            as next (used_key text, place int, key text, payload jsonb, expires_at timestamptz)
            on next.used_key = used.key
          where used.uses - ${countOf(sql`used.key`)} + next.place <= ${refreshUsesMax}`,
      )
      .returning({ key: oauthRecords.key })
      .prepare('oauth_records_exchange_refresh_tokens')
  )
})

/**
 * Marks refresh tokens as used and inserts the ones that replace them, of the same grants. Returns for each whether it
 * was replaced: it was not if there is no such token any longer, or it was used before the period of grace or
 * `refreshUsesMax` times.
 */
async function exchangeRefreshTokens(
  db: Executor,
  exchanges: readonly Exchange[],
  { at, graceBeganAt }: Times,
): Promise<boolean[]> {
  const usedKeys = exchanges.map(({ used }) => keyOf('RefreshToken', used))
  const next = exchanges.map(({ id, payload, expiresInSeconds }, i) => ({
    used_key: usedKeys[i],
    // Among the exchanges of the same token in this statement.
    place: usedKeys.slice(0, i + 1).filter((key) => key === usedKeys[i]).length,
    key: keyOf('RefreshToken', id),
    payload: toStored('RefreshToken', payload),
    expires_at: expiresInSeconds ? new Date(at.getTime() + expiresInSeconds * 1000) : null,
  }))
  const inserted = await exchangeTokens(db).execute({
    usedKeys,
    graceBeganAt,
    next: JSON.stringify(next),
    now: at,
  })
  const keys = new Set(inserted.map((row) => row.key))
  return next.map((row) => keys.has(row.key))
}
