import type { Adapter, AdapterPayload } from 'oidc-provider'
import { createBatch } from '../../../db/sql/batch.ts'
import type { Executor } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isStorable } from '../../../kernel/text.ts'
import { unsealSuccessor, type RefreshTokens } from './refresh-tokens.ts'
import {
  exchangeRefreshTokens,
  findLaterToken,
  findRefreshRecords,
  type Exchange,
  type RefreshRecords,
  type Times,
} from './refreshes.repository.ts'
import { toPayload } from '../records/stored-records.ts'

/** A request with `grant_type=refresh_token`. */
export interface RefreshRequest {
  /** Identifies the request. */
  context: object
  refreshToken: string
}

export interface RefreshAdapterOptions {
  db: Executor
  clock: Clock
  refreshTokens: RefreshTokens
  /** How long after its first exchange a refresh token is answered with the same successor. */
  refreshGraceSeconds: number
  /** Exchanges an hour for each chain of tokens, at most `usedTokensMax`; 0 = no limit. */
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

/**
 * Wraps the adapter for refreshes, which it would answer in five statements: the three records that oidc-provider asks
 * for one after the other are read together, and the old token is marked as used in the statement that inserts the new
 * one. So no token is used up without its successor, and each has one successor, however often and however many times
 * at once it is exchanged (docs/design/agents.md#refresh-tokens). Refreshes that arrive in one turn of the event loop
 * share both statements. Nothing is kept after the request.
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
    // Reads no records: where others than these adapters answer, as in the benchmarks, nothing was refreshed here.
    findSuccessor: () => {
      const request = findRefresh()
      return request && refreshes.get(request.context)?.successor
    },

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
