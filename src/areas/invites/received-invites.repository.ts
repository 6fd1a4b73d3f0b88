import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { comparableAddress } from '../../db/sql/has-address.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { invites, inviteTokens, isOpen } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import type { Role } from '../../kernel/roles.ts'
import type { InviteState } from './invites.repository.ts'

/** An invite, as its recipient finds it. */
export interface ReceivedInvite {
  id: string
  workspaceId: string
  workspaceName: string
  workspaceSlug: string
  workspaceIconKey: string | null
  email: string
  role: Role
  state: InviteState
  invitedByUserId: string
  invitedByName: string
  expiresAt: Date
}

const receivedInviteColumns = {
  id: invites.id,
  workspaceId: invites.workspaceId,
  workspaceName: workspaces.name,
  workspaceSlug: workspaces.slug,
  workspaceIconKey: workspaces.iconKey,
  email: invites.email,
  role: invites.role,
  state: invites.state,
  invitedByUserId: invites.invitedByUserId,
  invitedByName: users.name,
  expiresAt: invites.expiresAt,
}

const selectInviteByToken = prepared((executor) =>
  executor
    .select({ ...receivedInviteColumns, isMailed: inviteTokens.isMailed })
    .from(inviteTokens)
    .innerJoin(invites, eq(invites.id, inviteTokens.inviteId))
    .innerJoin(workspaces, eq(workspaces.id, invites.workspaceId))
    .innerJoin(users, eq(users.id, invites.invitedByUserId))
    .where(eq(inviteTokens.tokenHash, sql.placeholder('tokenHash')))
    .prepare('invites_select_by_token'),
)

/** The invite of a link, and whether the link was mailed. */
export async function findInviteByToken(
  executor: Executor,
  tokenHash: Buffer,
): Promise<(ReceivedInvite & { isMailed: boolean }) | undefined> {
  const [invite] = await selectInviteByToken(executor).execute({ tokenHash })
  return invite
}

const isToAddress = eq(invites.canonicalEmail, sql.placeholder('address'))

const selectInviteToAddress = prepared((executor) =>
  executor
    .select(receivedInviteColumns)
    .from(invites)
    .innerJoin(workspaces, eq(workspaces.id, invites.workspaceId))
    .innerJoin(users, eq(users.id, invites.invitedByUserId))
    .where(and(eq(invites.id, sql.placeholder('inviteId')), isToAddress))
    .prepare('invites_select_to_address'),
)

/** An invite by its id, if it is to an address. */
export async function findInviteTo(
  executor: Executor,
  email: string,
  inviteId: string,
): Promise<ReceivedInvite | undefined> {
  const address = comparableAddress(email)
  const [invite] = await selectInviteToAddress(executor).execute({ address, inviteId })
  return invite
}

const inviters = alias(memberships, 'inviters')

const selectInvitesToAddress = prepared((executor) =>
  executor
    .select({ ...receivedInviteColumns, inviterRole: inviters.role })
    .from(invites)
    .innerJoin(workspaces, eq(workspaces.id, invites.workspaceId))
    .innerJoin(users, eq(users.id, invites.invitedByUserId))
    .innerJoin(
      inviters,
      and(eq(inviters.workspaceId, invites.workspaceId), eq(inviters.userId, invites.invitedByUserId)),
    )
    .leftJoin(
      memberships,
      and(
        eq(memberships.workspaceId, invites.workspaceId),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    )
    .where(
      and(isToAddress, isOpen, gt(invites.expiresAt, sql.placeholder('now')), isNull(memberships.userId)),
    )
    .orderBy(desc(invites.createdAt), desc(invites.id))
    .limit(pageLimit)
    .prepare('invites_select_of_person'),
)

/**
 * The pending invites to an address, newest first, to workspaces that a person is not a member of, with the roles that
 * the members who invited have now.
 */
export function listInvitesTo(
  executor: Executor,
  input: { email: string; userId: string; now: Date; limit: number },
): Promise<(ReceivedInvite & { inviterRole: Role })[]> {
  const { email, userId, now, limit } = input
  return selectInvitesToAddress(executor).execute({
    address: comparableAddress(email),
    userId,
    now: now.toISOString(),
    limit,
  })
}

const accept = prepared((executor) =>
  executor
    .update(invites)
    .set({ state: 'accepted' })
    .where(eq(invites.id, sql.placeholder('inviteId')))
    .prepare('invites_accept'),
)

export async function markInviteAccepted(executor: Executor, inviteId: string): Promise<void> {
  await accept(executor).execute({ inviteId })
}
