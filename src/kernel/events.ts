/**
 * The types of events that reveal invites, with the invited addresses. `invite.accepted` is not among them: its user is
 * in the list of members.
 */
export const inviteEventTypes = [
  'invite.created',
  'invite.resent',
  'invite.revoked',
  'invite.role_changed',
] as const

/** The types of events that reveal the grants of agents. */
export const grantEventTypes = [
  'integration.granted',
  'integration.changed',
  'integration.used',
  'integration.revoked',
] as const
