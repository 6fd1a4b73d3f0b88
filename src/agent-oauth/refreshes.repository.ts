import { and, desc, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { alias, type AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { createBatch } from '../db/sql/batch.ts'
import type { Executor } from '../db/client.ts'
import { prepared } from '../db/sql/prepared.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { oauthRecords } from '../db/schema/oauth.ts'
import type { Clock } from '../kernel/clock.ts'
import { isStorable } from '../kernel/text.ts'
import { generationOf, keyOf, toPayload, toStored } from './oauth-records.repository.ts'
import { sealSuccessor, unsealSuccessor, type RefreshTokens } from './refresh-tokens.ts'

/** A request with `grant_type=refresh_token`. */
export interface RefreshRequest {
  /** Identifies the request. */
  context: object
  refreshToken: string
}

/** The number of used refresh tokens whose records are kept for each grant. */
const usedTokensMax = 100
const hourMs = 60 * 60 * 1000

export interface RefreshAdapterOptions {
  db: Executor
  clock: Clock
  refreshTokens: RefreshTokens
  /** How long after its first exchange a refresh token is answered with the same successor. */
  refreshGraceSeconds: number
  /** Exchanges an hour for each grant, at most `usedTokensMax`; 0 = no limit. */
  refreshLimitPerHour: number
  /** Creates the error for a record that was already consumed. */
  alreadyUsed: () => Error
  /** Creates the error for a grant with too many exchanges. */
  tooMany: (until: Date) => Error
  /** The refresh that is being handled; undefined for all other requests. */
  findRefresh: () => RefreshRequest | undefined
}

export interface RefreshAdapter {
  adapterOf: (kind: string) => Adapter
  /** The refresh token that the current request is answered with, once its successor was saved. */
  findSuccessor: () => string | undefined
}

/** A refresh so far. */
interface Refresh {
  records: Promise<RefreshRecords | undefined>
  /** The token that the next saved one replaces. */
  used?: string
  successor?: string
}

/** A refresh token, and the one that replaces it. */
interface Exchange {
  used: string
  id: string
  payload: AdapterPayload
  expiresInSeconds: number | undefined
}

/** The successor of the first exchange of a token, or until when the grant can have no further one. */
type Exchanged = { sealed: Buffer } | { refusedUntil: Date } | undefined

/** Now, and when a token must have been exchanged first to be answered again. */
interface Times {
  at: Date
  graceBeganAt: Date
}

/** What a refresh reads. A payload is missing when the record has expired, or the grant was revoked. */
type RefreshRecords = Record<
  'RefreshToken' | 'Client' | 'Grant',
  { id: string; payload?: AdapterPayload }
> & {
  /** Of a token that was exchanged within the grace. */
  sealedSuccessor?: Buffer
}

/**
 * Wraps the adapter for refreshes, which it would answer in five statements: the three records that oidc-provider asks
 * for one after the other are read together, and the old token is marked as used in the statement that inserts the new
 * one. So no token is used up without its successor, and each has one successor, however often and however many times at
 * once it is exchanged (decision 0108). Refreshes that arrive in one turn of the event loop share both statements.
 * Nothing is kept after the request.
 */
export function createRefreshAdapter(
  adapterOf: (kind: string) => Adapter,
  options: RefreshAdapterOptions,
): RefreshAdapter {
  const { db, clock, refreshTokens, refreshGraceSeconds, alreadyUsed, tooMany, findRefresh } = options
  const refreshes = new WeakMap<object, Refresh>()
  const timesOfNow = (): Times => {
    const at = clock.now()
    return { at, graceBeganAt: new Date(at.getTime() - refreshGraceSeconds * 1000) }
  }
  const findRecords = createBatch((tokens: readonly string[]) => findRefreshRecords(db, tokens, timesOfNow()))
  const exchange = createBatch((exchanges: readonly Exchange[]) =>
    exchangeRefreshTokens(db, exchanges, { ...timesOfNow(), limitPerHour: options.refreshLimitPerHour }),
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

  /** A token whose record was deleted, as a consumed one, so that oidc-provider ends its grant. */
  async function findForgotten(id: string): Promise<AdapterPayload | undefined> {
    const origin = refreshTokens.read(id)
    const now = clock.now()
    const payload = origin && (await findLaterToken(db, origin, now))
    return payload && toPayload('RefreshToken', id, { payload, consumedAt: now })
  }

  async function findSuccessorOf(next: Exchange, { records }: Refresh): Promise<string> {
    const given = (await records)?.sealedSuccessor
    const exchanged = given ? { sealed: given } : await exchange(next)
    if (!exchanged) throw alreadyUsed()
    if ('sealed' in exchanged) return unsealSuccessor(exchanged.sealed, next.used)
    throw tooMany(exchanged.refusedUntil)
  }

  return {
    findSuccessor: () => currentRefresh()?.successor,

    adapterOf: (kind) => {
      const adapter = adapterOf(kind)
      if (kind !== 'RefreshToken' && kind !== 'Client' && kind !== 'Grant') return adapter
      const find: Adapter['find'] = async (id) => {
        const record = (await currentRefresh()?.records)?.[kind]
        return record?.id === id ? record.payload : adapter.find(id)
      }
      if (kind !== 'RefreshToken') return { ...adapter, find }
      return {
        ...adapter,
        find: async (id) => (await find(id)) ?? (currentRefresh() && (await findForgotten(id))),
        // oidc-provider saves the next token directly afterwards.
        async consume(id) {
          const refresh = currentRefresh()
          if (refresh) refresh.used = id
          else await adapter.consume(id)
        },
        async upsert(id, payload, expiresInSeconds) {
          const refresh = currentRefresh()
          if (refresh?.used === undefined) return adapter.upsert(id, payload, expiresInSeconds)
          refresh.successor = await findSuccessorOf(
            { used: refresh.used, id, payload, expiresInSeconds },
            refresh,
          )
        },
      }
    },
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

/** The payload of the newest token of a grant, if there is a later one than that of the origin. */
async function findLaterToken(
  db: Executor,
  { grantId, generation }: { grantId: string; generation: number },
  now: Date,
): Promise<AdapterPayload | undefined> {
  const [row] = await db
    .select({ payload: oauthRecords.payload })
    .from(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'RefreshToken'),
        eq(oauthRecords.grantId, grantId),
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
 * Marks refresh tokens as used and inserts the ones that replace them, of the same grants. Returns for each its successor,
 * which is that of its first exchange; undefined if there is no such token any longer, or it was used before the period of
 * grace. Deletes the used tokens of the grants but the newest.
 */
async function exchangeRefreshTokens(
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
