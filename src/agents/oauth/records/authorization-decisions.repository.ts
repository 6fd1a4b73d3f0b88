import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import { keyOf } from './stored-records.ts'

const isRequest = (uid: string) =>
  and(eq(oauthRecords.kind, 'Interaction'), eq(oauthRecords.key, keyOf('Interaction', uid)))

/** A decision on an authorization request. */
export interface Decision {
  /** In the form of oidc-provider's interaction results. */
  result: object
  /** The scopes that the person gives, instead of those that the client asked for. */
  scope?: string
}

/**
 * Stores the decision on an authorization request. Returns whether it was the first one. Later ones have no effect.
 */
export async function storeDecision(
  db: Executor,
  uid: string,
  { result, scope }: Decision,
  now: Date,
): Promise<boolean> {
  const decided = JSON.stringify({ result })
  const payload = sql`${oauthRecords.payload} || ${decided}::jsonb`
  const { rowCount } = await db
    .update(oauthRecords)
    .set({
      payload:
        scope === undefined
          ? payload
          : sql`jsonb_set(${payload}, '{params,scope}', to_jsonb(${scope}::text))`,
    })
    .where(
      and(
        isRequest(uid),
        gt(oauthRecords.expiresAt, now),
        sql`not jsonb_exists(${oauthRecords.payload}, 'result')`,
      ),
    )
  return rowCount === 1
}

/**
 * Stores the answer to an authorization request, unless there is one, and lets the request expire with it. Returns the
 * stored answer; undefined if the request has expired.
 */
export async function storeFirstAnswer(
  db: Executor,
  uid: string,
  { answer, expiresAt }: { answer: string; expiresAt: Date },
): Promise<string | undefined> {
  const stored = sql<string>`${oauthRecords.payload} ->> 'answer'`
  const [row] = await db
    .update(oauthRecords)
    .set({
      payload: sql`jsonb_build_object('answer', ${answer}::text) || ${oauthRecords.payload}`,
      expiresAt: sql`least(${oauthRecords.expiresAt}, ${expiresAt.toISOString()})`,
    })
    .where(isRequest(uid))
    .returning({ answer: stored })
  return row?.answer
}

/** The answer to an authorization request; undefined if there is none, or it has expired. */
export async function findAnswer(db: Executor, uid: string, now: Date): Promise<string | undefined> {
  const [row] = await db
    .select({ answer: sql<string | null>`${oauthRecords.payload} ->> 'answer'` })
    .from(oauthRecords)
    .where(and(isRequest(uid), gt(oauthRecords.expiresAt, now)))
  return row?.answer ?? undefined
}

/** Whether the record of an authorization code has not expired, by the clock of the database. */
export const isCodeLive = sql`${oauthRecords.expiresAt} > clock_timestamp()`

/** How long it is valid, rounded up. */
export const codeSecondsLeft = sql<number>`ceil(extract(epoch from ${oauthRecords.expiresAt} - clock_timestamp()))::int`

/** Whether an authorization code can still be exchanged. */
export async function isCodeUsable(db: Executor, code: string): Promise<boolean> {
  const kind = 'AuthorizationCode'
  const rows = await db
    .select({ key: oauthRecords.key })
    .from(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, kind),
        eq(oauthRecords.key, keyOf(kind, code)),
        isNull(oauthRecords.consumedAt),
        isCodeLive,
      ),
    )
  return rows.length === 1
}
