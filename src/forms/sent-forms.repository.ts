import { and, eq, lte, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { sessions } from '../db/schema/accounts.ts'
import { sentForms } from '../db/schema/website.ts'

/** Which form, sent in which session. */
export interface SentFormKey {
  formHash: Buffer
  sessionId: string
}

/** Notes that a form was sent. Returns false if it was noted before, or if the session has ended. */
export async function insertSentForm(
  executor: Executor,
  { formHash, sessionId, expiresAt }: SentFormKey & { expiresAt: Date },
): Promise<boolean> {
  const { rowCount } = await executor.execute(sql`
    insert into ${sentForms} (form_hash, session_id, expires_at)
    select ${formHash}, id, ${expiresAt.toISOString()}::timestamptz
    from ${sessions} where id = ${sessionId} for key share
    on conflict do nothing`)
  return rowCount === 1
}

/** Finds a form that was sent. Its location is null while it is being handled. */
export async function findSentForm(
  executor: Executor,
  key: SentFormKey,
): Promise<{ location: string | null } | undefined> {
  const [row] = await executor.select({ location: sentForms.location }).from(sentForms).where(isSame(key))
  return row
}

export async function setLocation(executor: Executor, key: SentFormKey, location: string): Promise<void> {
  await executor.update(sentForms).set({ location }).where(isSame(key))
}

export async function deleteSentForm(executor: Executor, key: SentFormKey): Promise<void> {
  await executor.delete(sentForms).where(isSame(key))
}

export async function deleteExpiredSentForms(executor: Executor, now: Date): Promise<void> {
  await executor.delete(sentForms).where(lte(sentForms.expiresAt, now))
}

function isSame({ formHash, sessionId }: SentFormKey) {
  return and(eq(sentForms.formHash, formHash), eq(sentForms.sessionId, sessionId))
}
