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
  await join(tx, principal, { domain, workspaceId, isNew: true, now })
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
  const { email, emailVerifiedAt } = principal.user
  const domain = emailVerifiedAt === null ? undefined : canonicalDomainOf(email)
  if (domain === undefined) throw errors.notFound()
  const joined = await join(tx, principal, { domain, workspaceId, now })
  if (joined === 'not offered') throw errors.notFound()
  if (joined === 'too many') throw errors.workspaceLimit()
  return joined.slug
}

async function join(
  tx: Executor,
  principal: Principal,
  input: { domain: string; workspaceId: string; isNew?: boolean; now: Date },
): Promise<{ slug: string } | 'not offered' | 'too many'> {
  const { user } = principal
  const { domain, workspaceId, isNew = false, now } = input
  await lockUser(tx, user.id)
  await lockMembersOfWorkspace(tx, workspaceId)
  const offer = await findOffer(tx, { userId: user.id, domain, workspaceId, isNew })
  if (!offer) return 'not offered'
  if ((await countMembershipsOfUser(tx, user.id)) >= membershipsMax) return 'too many'
  const row = { workspaceId, userId: user.id, role: 'member' as const, joinedAt: now, lastUsedAt: never }
  await insertMemberIfNew(tx, row)
  await forgetDeparture(tx, workspaceId, { userId: user.id })
  await insertEvent(tx, principal, {
    workspaceId,
    type: 'member.joined',
    data: {
      userId: user.id,
      name: user.name,
      role: row.role,
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
