import { appendEvent } from '../areas/events/events.repository.ts'
import { findMember, insertMemberIfNew, lockMembersOfWorkspace } from '../areas/members/members.repository.ts'
import { listWorkspacesAllowing, membershipsMax } from '../areas/workspaces/workspaces.repository.ts'
import type { Executor } from '../db/client.ts'
import { canonicalDomainOf } from '../kernel/email.ts'
import type { Principal, PrincipalUser } from '../kernel/principal.ts'

/** Makes a person a member wherever the domain of their address, known to be theirs, is allowed. */
export async function joinAllowingWorkspaces(tx: Executor, user: PrincipalUser, now: Date): Promise<void> {
  const domain = canonicalDomainOf(user.email)
  if (domain === undefined) return
  const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
  for (const workspaceId of await listWorkspacesAllowing(tx, domain, membershipsMax)) {
    // Asked first, so that signing in does not make the changes of a whole workspace wait.
    if (await findMember(tx, workspaceId, user.id)) continue
    await lockMembersOfWorkspace(tx, workspaceId)
    const row = { workspaceId, userId: user.id, role: 'member' as const, joinedAt: now, lastUsedAt: now }
    if (!(await insertMemberIfNew(tx, row))) continue
    await appendEvent(tx, principal, {
      workspaceId,
      type: 'member.joined',
      target: { type: 'user', id: user.id },
      summary: `${user.name} joined, having an address at ${domain}`,
      at: now,
    })
  }
}
