import { and, asc, count, eq, gte, inArray, isNull, lte, min, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isUniqueViolation } from '../../db/errors.ts'
import { comparableAddress } from '../../db/sql/has-address.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readItem, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { events } from '../../db/schema/events.ts'
import { invites, inviteTokens, isOpen } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { together } from '../../db/together.ts'
import { canonicalizeEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { Role } from '../../domain/roles.ts'
import type { Invite } from './invites.schemas.ts'

export type InviteState = (typeof invites.$inferSelect)['state']

const inviteColumns = {
  id: invites.id,
  email: invites.email,
  role: invites.role,
  status: sql`case when ${invites.expiresAt} <= ${sql.placeholder('now')} then 'expired' else 'pending' end`,
  invitedByUserId: invites.invitedByUserId,
  invitedByName: users.name,
  createdAt: invites.createdAt,
  expiresAt: invites.expiresAt,
  lastSentAt: invites.lastSentAt,
  // The version before knows neither of the other two times: a mail that it sent counts.
  delivery: sql`case
    when ${invites.refusedAt} >= coalesce(${invites.lastSentAt}, '-infinity') then 'refused'
    when ${invites.lastSentAt} is null or ${invites.lastSentAt} < ${invites.resentAt} then 'waiting'
    else 'sent' end`,
}

const selectPendingInvites = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<Invite>(inviteColumns))
      .from(invites)
      .innerJoin(users, eq(users.id, invites.invitedByUserId))
      .where(
        and(
          eq(invites.workspaceId, sql.placeholder('workspaceId')),
          isOpen,
          isAfter(invites.createdAt, invites.id),
        ),
      )
      .orderBy(asc(invites.createdAt), asc(invites.id))
      .limit(pageLimit),
  ).prepare('invites_select_open'),
)

/** Invites of a workspace that are neither accepted nor revoked, expired ones included, oldest first. */
export function listPendingInvites(
  executor: Executor,
  input: { workspaceId: string; now: Date } & PageRange,
): Promise<JsonRows> {
  return readOne(selectPendingInvites(executor).execute({ ...input, now: input.now.toISOString() }))
}

const selectInvite = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(
        itemColumns<Invite>({
          ...inviteColumns,
          // One that was replaced had expired.
          status: sql`case ${invites.state} when 'open' then ${inviteColumns.status} when 'replaced' then 'expired' else ${invites.state} end`,
        }),
      )
      .from(invites)
      .innerJoin(users, eq(users.id, invites.invitedByUserId))
      .where(
        and(
          eq(invites.id, sql.placeholder('inviteId')),
          eq(invites.workspaceId, sql.placeholder('workspaceId')),
        ),
      ),
  ).prepare('invites_select'),
)

/** An invite of a workspace, also one that was accepted, declined or revoked. */
export async function findInvite(
  executor: Executor,
  { now, ...input }: { workspaceId: string; inviteId: string; now: Date },
): Promise<Invite | undefined> {
  return (await readItem(selectInvite(executor).execute({ ...input, now: now.toISOString() }))) as
    Invite | undefined
}

export interface LockedInvite {
  id: string
  workspaceId: string
  email: string
  role: Role
  state: InviteState
}

/** An invite of a workspace, locked until the transaction ends. */
export async function lockInvite(
  executor: Executor,
  workspaceId: string,
  inviteId: string,
): Promise<LockedInvite | undefined> {
  const [invite] = await executor
    .select({
      id: invites.id,
      workspaceId: invites.workspaceId,
      email: invites.email,
      role: invites.role,
      state: invites.state,
    })
    .from(invites)
    .where(and(eq(invites.id, inviteId), eq(invites.workspaceId, workspaceId)))
    .for('update')
  return invite
}

const selectMemberWithAddress = prepared((executor) =>
  executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(users.canonicalEmail, sql.placeholder('address')),
      ),
    )
    .prepare('memberships_select_with_address'),
)

export async function hasMemberWithEmail(
  executor: Executor,
  workspaceId: string,
  email: string,
): Promise<boolean> {
  const rows = await selectMemberWithAddress(executor).execute({
    workspaceId,
    address: comparableAddress(email),
  })
  return rows.length > 0
}

const replaceExpired = prepared((executor) =>
  executor
    .update(invites)
    .set({ state: 'replaced' })
    .where(
      and(
        eq(invites.workspaceId, sql.placeholder('workspaceId')),
        eq(invites.canonicalEmail, sql.placeholder('address')),
        isOpen,
        lte(invites.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('invites_replace_expired'),
)

/** Marks an expired invite to an address as replaced, so that a new one can be created. */
export async function replaceExpiredInvite(
  executor: Executor,
  input: { workspaceId: string; email: string; now: Date },
): Promise<void> {
  const { workspaceId, email, now } = input
  await replaceExpired(executor).execute({
    workspaceId,
    address: comparableAddress(email),
    now: now.toISOString(),
  })
}

const insertIntoInvites = prepared((executor) =>
  executor
    .insert(invites)
    .values(placeholdersOf(invites, 'lastSentAt', 'resentAt', 'refusedAt'))
    .prepare('invites_insert'),
)

/** Inserts an invite that has not been sent. Throws `already_invited`. */
export async function insertInvite(
  executor: Executor,
  row: Omit<typeof invites.$inferInsert, 'canonicalEmail' | 'lastSentAt' | 'resentAt' | 'refusedAt'>,
): Promise<void> {
  try {
    await insertIntoInvites(executor).execute({
      ...row,
      canonicalEmail: canonicalizeEmail(row.email) ?? null,
    })
  } catch (error) {
    if (isUniqueViolation(error, 'invites_open_canonical_email_key'))
      throw errors.alreadyInvited({ cause: error })
    throw error
  }
}

const insertIntoInviteTokens = prepared((executor) =>
  executor.insert(inviteTokens).values(placeholdersOf(inviteTokens)).prepare('invite_tokens_insert'),
)

export async function insertInviteToken(
  executor: Executor,
  token: Required<typeof inviteTokens.$inferInsert>,
): Promise<void> {
  await insertIntoInviteTokens(executor).execute(token)
}

/** Invalidates all links to an invite. */
export async function deleteInviteTokens(executor: Executor, inviteId: string): Promise<void> {
  await executor.delete(inviteTokens).where(eq(inviteTokens.inviteId, inviteId))
}

export async function updateInvite(
  executor: Executor,
  inviteId: string,
  change: Partial<{ role: Role; state: InviteState; expiresAt: Date; resentAt: Date; refusedAt: null }>,
): Promise<void> {
  await executor.update(invites).set(change).where(eq(invites.id, inviteId))
}

// As literals: with parameters, the planner would find a plan for their values cheaper than the general one.
const isSending = sql`${events.type} in ('invite.created', 'invite.resent')`
const isRecent = gte(events.createdAt, hiddenParameter('since', 'timestamptz'))
const recent = { count: count(), firstAt: min(events.createdAt) }

const countOfWorkspace = prepared((executor) =>
  executor
    .select(recent)
    .from(events)
    .where(and(eq(events.workspaceId, hiddenParameter('workspaceId', 'uuid')), isSending, isRecent))
    .prepare('events_count_invites'),
)

/** Counts the invites that a workspace has sent since a time, with the time of the first. */
export async function countInvitesSince(
  executor: Executor,
  workspaceId: string,
  since: Date,
): Promise<{ count: number; firstAt: Date | null }> {
  const [row] = await countOfWorkspace(executor).execute({ workspaceId, since: since.toISOString() })
  return row ?? { count: 0, firstAt: null }
}

const lockRecipient = prepared((executor) =>
  executor
    .select({
      lock: sql`pg_advisory_xact_lock(hashtextextended('invites ' || lower(${sql.placeholder('email')}), 0))`,
    })
    .from(sql`(values (0)) as recipient`)
    .prepare('invites_lock_recipient'),
)

const countToRecipient = prepared((executor) =>
  executor
    .select(recent)
    .from(invites)
    .innerJoin(events, and(eq(events.workspaceId, invites.workspaceId), eq(events.targetId, invites.id)))
    .where(and(sql`lower(${invites.email}) = lower(${sql.placeholder('email')})`, isSending, isRecent))
    .prepare('events_count_invites_to_recipient'),
)

/**
 * Counts the invites that all workspaces have sent to an address since a time, with the time of the first. Serializes
 * invites to the address until the transaction ends.
 */
export async function countInvitesToRecipientSince(
  executor: Executor,
  email: string,
  since: Date,
): Promise<{ count: number; firstAt: Date | null }> {
  const [, [row]] = await together([
    lockRecipient(executor).execute({ email }),
    countToRecipient(executor).execute({ email, since: since.toISOString() }),
  ])
  return row ?? { count: 0, firstAt: null }
}

const updateSentAt = prepared((executor) =>
  executor
    .update(invites)
    .set({ lastSentAt: sql`${sql.placeholder('at')}::timestamptz`, refusedAt: null })
    .where(
      and(
        eq(invites.workspaceId, sql.placeholder('workspaceId')),
        eq(invites.id, sql.placeholder('inviteId')),
      ),
    )
    .prepare('invites_update_sent'),
)

/** Records that the mail of an invite was sent. */
export async function recordInviteSent(
  executor: Executor,
  invite: { workspaceId: string; inviteId: string },
  at: Date,
): Promise<void> {
  await updateSentAt(executor).execute({ ...invite, at: at.toISOString() })
}

/**
 * Records that the mail server has refused the address of an open invite. Returns the invite; undefined if it is no longer
 * open, or was recorded as refused before.
 */
export async function recordInviteRefused(
  executor: Executor,
  inviteId: string,
  at: Date,
): Promise<{ email: string; invitedByUserId: string } | undefined> {
  const [invite] = await executor
    .update(invites)
    .set({ refusedAt: at })
    .where(and(eq(invites.id, inviteId), isOpen, isNull(invites.refusedAt)))
    .returning({ email: invites.email, invitedByUserId: invites.invitedByUserId })
  return invite
}

const selectToSend = prepared((executor) =>
  executor
    .select({
      workspaceId: invites.workspaceId,
      email: invites.email,
      role: invites.role,
      workspaceName: workspaces.name,
      invitedByName: users.name,
      expiresAt: invites.expiresAt,
    })
    .from(invites)
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
    .innerJoin(users, and(eq(users.id, invites.invitedByUserId), isActive))
    .where(
      and(
        eq(invites.id, sql.placeholder('inviteId')),
        isOpen,
        sql`${invites.expiresAt} > ${sql.placeholder('now')}`,
      ),
    )
    .prepare('invites_select_to_send'),
)

/** The contents of an invite's mail; undefined when the invite is no longer pending, or who sent it is suspended. */
export async function findInviteToSend(
  executor: Executor,
  inviteId: string,
  now: Date,
): Promise<
  | {
      workspaceId: string
      email: string
      role: Role
      workspaceName: string
      invitedByName: string
      expiresAt: Date
    }
  | undefined
> {
  const [invite] = await selectToSend(executor).execute({ inviteId, now: now.toISOString() })
  return invite
}

/** The inviter and workspace of an invite. */
export async function findInviteOrigin(
  executor: Executor,
  inviteId: string,
): Promise<{ workspaceId: string; invitedByUserId: string } | undefined> {
  const [invite] = await executor
    .select({ workspaceId: invites.workspaceId, invitedByUserId: invites.invitedByUserId })
    .from(invites)
    .where(eq(invites.id, inviteId))
  return invite
}

/**
 * Deletes the invites that a person sent and those to their address. Returns the deleted rows; `isTo` marks those to the
 * person, `email` has the spelling that was used.
 */
export async function deleteInvitesOfPerson(
  executor: Executor,
  person: { userId: string; emails: readonly string[] },
): Promise<{ id: string; workspaceId: string; state: InviteState; email: string; isTo: boolean }[]> {
  const isTo = inArray(invites.canonicalEmail, person.emails.map(comparableAddress))
  return executor
    .delete(invites)
    .where(or(eq(invites.invitedByUserId, person.userId), isTo))
    .returning({
      id: invites.id,
      workspaceId: invites.workspaceId,
      state: invites.state,
      email: invites.email,
      isTo: sql<boolean>`coalesce(${isTo}, false)`,
    })
}
