import { and, desc, eq, exists, gte, inArray, isNotNull, lt, ne, or, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { hasAddress } from '../db/sql/has-address.ts'
import { invites } from '../db/schema/invites.ts'
import { mails } from '../db/schema/mails.ts'
import { users } from '../db/schema/users.ts'

/** What became of a mail. */
export type MailRecord = typeof mails.$inferSelect

/** Records an attempt to send a mail. Records nothing if the person or the invite has been deleted meanwhile. */
export async function recordMail(
  executor: Executor,
  { id, createdAt, ...mail }: Omit<MailRecord, 'attemptedAt'>,
): Promise<void> {
  const { jobId, kind, messageId, userId, inviteId, state, smtpCode, attempts } = mail
  const at = createdAt.toISOString()
  const isThere = and(
    userId === null
      ? undefined
      : sql`exists (select from ${users} where ${eq(users.id, userId)} for key share)`,
    inviteId === null
      ? undefined
      : sql`exists (select from ${invites} where ${eq(invites.id, inviteId)} for key share)`,
  )
  await executor.execute(sql`
    insert into ${mails} (id, job_id, kind, message_id, user_id, invite_id, state, smtp_code, attempts, created_at, attempted_at)
    select ${id}::uuid, ${jobId}::text, ${kind}::text, ${messageId}::text, ${userId}::uuid, ${inviteId}::uuid, ${state}::text,
      ${smtpCode}::int, ${attempts}::int, ${at}::timestamptz, ${at}::timestamptz
    where ${isThere ?? sql`true`}
    on conflict (message_id) do update set state = excluded.state, smtp_code = excluded.smtp_code,
      attempts = excluded.attempts, attempted_at = excluded.attempted_at`)
}

/** Whether the mail server has accepted another mail since a time. */
export async function hasSentOtherMail(
  executor: Executor,
  {
    messageId,
    userId,
    inviteId,
    since,
  }: { since: Date } & Pick<MailRecord, 'messageId' | 'userId' | 'inviteId'>,
): Promise<boolean> {
  const rows = await executor
    .select({ id: mails.id })
    .from(mails)
    .where(
      and(
        eq(mails.state, 'sent'),
        gte(mails.attemptedAt, since),
        ne(mails.messageId, messageId),
        // To somebody else, as far as is known.
        sql`(${mails.userId} is distinct from ${userId}::uuid or ${mails.inviteId} is distinct from ${inviteId}::uuid)`,
      ),
    )
    .limit(1)
  return rows.length > 0
}

/** Whether a mail is for a suspended person: by their id, or because it goes to their address. */
export async function isForSuspended(
  executor: Executor,
  { address, userId }: { address: string; userId: string | null },
): Promise<boolean> {
  const isRecipient = or(
    hasAddress(users.canonicalEmail, address),
    userId === null ? undefined : eq(users.id, userId),
  )
  const rows = await executor
    .select({ id: users.id })
    .from(users)
    .where(and(isRecipient, isNotNull(users.suspendedAt)))
    .limit(1)
  return rows.length > 0
}

/** Lists the mails to a user, or to an address: to its account and of invites to it. Newest first, with their total number. */
export async function listMails(
  executor: Executor,
  { canonicalEmail, userId, limit }: { canonicalEmail: string | undefined; userId?: string; limit?: number },
): Promise<{ items: MailRecord[]; total: number }> {
  const isOfAddress = (column: typeof users.canonicalEmail | typeof invites.canonicalEmail) =>
    eq(column, canonicalEmail ?? '')
  const isTo =
    userId === undefined
      ? or(
          inArray(
            mails.userId,
            executor.select({ id: users.id }).from(users).where(isOfAddress(users.canonicalEmail)),
          ),
          exists(
            executor
              .select({ id: invites.id })
              .from(invites)
              .where(and(eq(invites.id, mails.inviteId), isOfAddress(invites.canonicalEmail))),
          ),
        )
      : eq(mails.userId, userId)
  const query = executor.select().from(mails).where(isTo).orderBy(desc(mails.attemptedAt), desc(mails.id))
  const items = await (limit === undefined ? query : query.limit(limit))
  return { items, total: await executor.$count(mails, isTo) }
}

/** Deletes the records of mails that were last attempted before a time. */
export async function deleteOldMails(executor: Executor, before: Date): Promise<void> {
  await executor.delete(mails).where(lt(mails.attemptedAt, before))
}
