import { and, eq, isNotNull, sql, type SQL } from 'drizzle-orm'
import { isStaying } from '../schema/account-deletions.ts'
import { isActive, users } from '../schema/users.ts'

/**
 * Whether a person gets mails about their workspaces: they have not turned them off, are neither leaving nor suspended, and somebody has
 * verified that the address is theirs. Otherwise a stranger would read the names of others.
 */
export const getsNotices = and(
  eq(users.workspaceActivity, true),
  isNotNull(users.emailVerifiedAt),
  isStaying(users.id),
  isActive,
)

/** The preferences of people, by their names in the API. */
export const preferenceColumns = {
  mentions: users.notifyMentions,
  digest: users.notifyDigest,
  roleChanges: users.notifyRoleChanges,
  acceptedInvites: users.notifyAcceptedInvites,
  agents: users.notifyAgents,
  agentRequests: users.notifyAgentRequests,
  decisions: users.notifyDecisions,
}

/** Whether a person gets mails about something. */
export function getsMailsAbout(what: Exclude<keyof typeof preferenceColumns, 'digest'>): SQL | undefined {
  return and(getsNotices, sql`${preferenceColumns[what]} = 'mail'`)
}
