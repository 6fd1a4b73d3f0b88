/**
 * The types of events that tell of open invites, with the addresses in them. An accepted invite is told by its member,
 * who is in the list of members.
 */
export const inviteEventTypes = [
  'invite.created',
  'invite.resent',
  'invite.revoked',
  'invite.role_changed',
] as const

/** The types of events that tell what somebody has allowed an agent. */
export const grantEventTypes = ['integration.granted', 'integration.revoked'] as const
