import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { comparableAddress } from '../../db/sql/has-address.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { jsonItem, jsonRows, pictureUrl, readOne, timesOf } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { invites, inviteTokens, isOpen } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import { roles, type Role } from '../../domain/roles.ts'
import type { InviteState } from './invites.repository.ts'
import type { OwnInvite } from './invites.schemas.ts'
import { mayStillInvite } from './may-still-invite.ts'

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
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
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
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
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

// As literals, which are part of the statement.
const grants = roles.flatMap((inviterRole) =>
  roles.filter((role) => mayStillInvite(inviterRole, role)).map((role) => `('${inviterRole}', '${role}')`),
)

const workspaceIds = hiddenParameter('workspaceIds', 'text')

const selectInvitesToAddress = prepared((executor) => {
  const rows = executor
    .select({
      item: jsonItem<OwnInvite>({
        id: invites.id,
        workspaceName: workspaces.name,
        workspaceSlug: workspaces.slug,
        workspaceIconUrl: pictureUrl(workspaces.iconKey),
        role: invites.role,
        invitedByName: users.name,
        expiresAt: invites.expiresAt,
      }),
      at: invites.createdAt,
      id: invites.id,
    })
    .from(invites)
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
    .innerJoin(users, and(eq(users.id, invites.invitedByUserId), isActive))
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
      and(
        isToAddress,
        isOpen,
        gt(invites.expiresAt, sql.placeholder('now')),
        isNull(memberships.userId),
        sql`(${inviters.role}, ${invites.role}) in (${sql.raw(grants.join(', '))})`,
        sql`(${workspaceIds} is null or ${invites.workspaceId} = any(${workspaceIds}::uuid[]))`,
        isBefore(invites.createdAt, invites.id),
      ),
    )
    .orderBy(desc(invites.createdAt), desc(invites.id))
    .limit(pageLimit)
    .as('rows')
  return executor
    .select({ ...jsonRows(rows.item), times: timesOf(rows.at) })
    .from(rows)
    .prepare('invites_select_of_person')
})

/**
 * The invites to an address that can be accepted, newest first: pending, to workspaces that a person is not a member of,
 * from members who may still give the role and are not suspended. With `workspaceIds`, only to these workspaces.
 */
export function listInvitesTo(
  executor: Executor,
  input: {
    email: string
    userId: string
    workspaceIds: readonly string[] | null
    now: Date
    pictureUrlPrefix: string
  } & PageRange,
): Promise<JsonRows & { times: string }> {
  const { email, workspaceIds: ids, now, ...values } = input
  return readOne(
    selectInvitesToAddress(executor).execute({
      ...values,
      address: comparableAddress(email),
      workspaceIds: ids && `{${ids.join()}}`,
      now: now.toISOString(),
    }),
  )
}

const close = prepared((executor) =>
  executor
    .update(invites)
    .set({ state: sql`${sql.placeholder('state')}` })
    .where(
      and(eq(invites.workspaceId, sql.placeholder('workspaceId')), eq(invites.id, sql.placeholder('id'))),
    )
    .prepare('invites_close'),
)

/** Ends an invite by what its recipient does. */
export async function closeInvite(
  executor: Executor,
  { id, workspaceId }: { id: string; workspaceId: string },
  state: 'accepted' | 'declined',
): Promise<void> {
  await close(executor).execute({ id, workspaceId, state })
}
