import { insertEvent } from '../../access/event-log.repository.ts'
import { forgetDeparture } from './departures.repository.ts'
import { insertMemberIfNew, lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { countMembershipsOfUser, membershipsMax } from '../workspaces/workspaces.repository.ts'
import type { Executor } from '../../db/client.ts'
import { canonicalDomainOf } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal, PrincipalUser } from '../../domain/principal.ts'
import { findOffer, listWorkspacesAllowing } from './offers.repository.ts'
import { lockUser } from '../../users/users.repository.ts'

/** The last use of a new membership, so that it does not become the person's home. */
const never = new Date(0)

/**
 * Joins the workspace that allows the domain of a verified email address, if there is exactly one. Does nothing
 * otherwise, or if the person left the workspace before: a sign-in must not fail because of it. The number of queries
 * does not depend on the number of workspaces.
 */
export async function autoJoinByDomain(tx: Executor, user: PrincipalUser, now: Date): Promise<void> {
  const domain = canonicalDomainOf(user.email)
  if (domain === undefined) return
  const [workspaceId, ...others] = await listWorkspacesAllowing(tx, domain, 2)
  if (workspaceId === undefined || others.length > 0) return
  const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
  await join(tx, principal, { workspaceId, isNew: true, now })
}

/**
 * Joins a workspace that allows the domain of the person's verified email address. Returns its slug. Throws `not_found`
 * for any other workspace, and `workspace_limit`.
 */
export async function joinByDomain(
  tx: Executor,
  principal: Principal,
  { workspaceId, now }: { workspaceId: string; now: Date },
): Promise<string> {
  const joined = await join(tx, principal, { workspaceId, now })
  if (joined === 'not offered') throw errors.notFound()
  if (joined === 'too many') throw errors.workspaceLimit()
  return joined.slug
}

async function join(
  tx: Executor,
  principal: Principal,
  input: { workspaceId: string; isNew?: boolean; now: Date },
): Promise<{ slug: string } | 'not offered' | 'too many'> {
  const { user } = principal
  const { workspaceId, isNew = false, now } = input
  const locked = await lockUser(tx, user.id)
  await lockMembersOfWorkspace(tx, workspaceId)
  // By the address of now: they may have changed it since the request began.
  const isEntitled = locked?.emailVerifiedAt && locked.suspendedAt === null
  const domain = isEntitled ? canonicalDomainOf(locked.email) : undefined
  if (domain === undefined) return 'not offered'
  const offer = await findOffer(tx, { userId: user.id, domain, workspaceId, isNew })
  if (!offer) return 'not offered'
  if ((await countMembershipsOfUser(tx, user.id)) >= membershipsMax) return 'too many'
  // Leaving does not undo that somebody made them a viewer.
  const role = offer.departure === 'left_as_viewer' ? 'viewer' : 'member'
  const row = { workspaceId, userId: user.id, role, joinedAt: now, lastUsedAt: never } as const
  await insertMemberIfNew(tx, row)
  await forgetDeparture(tx, workspaceId, user.id)
  await insertEvent(tx, principal, {
    workspaceId,
    type: 'member.joined',
    data: {
      userId: user.id,
      name: user.name,
      role,
      domain,
      inviteId: null,
      invitedByUserId: null,
      invitedByName: null,
      teamIds: [],
    },
    at: now,
  })
  return offer
}
