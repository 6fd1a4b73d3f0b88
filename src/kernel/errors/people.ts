import { inviteTeamsMax } from '../invites.ts'
import { error } from './error.ts'

/** What is wrong with members, invites and teams. */
export const errorsOfPeople = {
  lastOwner: error(
    'Conflict',
    'last_owner',
    'A workspace must have an owner. Make another member an owner first.',
    'The only owner of the workspace who is not suspended would leave or lose the role. When an account is deleted, `message` names the workspaces.',
  ),
  memberSuspended: error(
    'Conflict',
    'member_suspended',
    'This member is suspended, and cannot be made an owner.',
    'The request makes a suspended member an owner.',
  ),
  alreadyMember: error(
    'Conflict',
    'already_member',
    'A member already has this email address.',
    'A member of the workspace already has this email address.',
  ),
  alreadyInvited: error(
    'Conflict',
    'already_invited',
    'There is already a pending invite for this email address.',
    'The workspace already has a pending invite for this email address.',
  ),
  inviteExpired: error(
    'Conflict',
    'invite_expired',
    'This invite has expired. Ask for a new one.',
    'The invite is older than seven days.',
  ),
  inviteRevoked: error(
    'Conflict',
    'invite_revoked',
    'This invite has been revoked.',
    'The invite was revoked, or the person who sent it may no longer invite.',
  ),
  inviteUsed: error(
    'Conflict',
    'invite_used',
    'This invite has already been accepted.',
    'The invite has already been accepted.',
  ),
  inviteDeclined: error(
    'Conflict',
    'invite_declined',
    'This invite was declined. Ask for a new one.',
    'The person for whom the invite is has declined it.',
  ),
  inviteTeamLimit: error(
    'InvalidInput',
    'invite_team_limit',
    `An invite can have at most ${inviteTeamsMax} teams.`,
    'A form of the website has more teams for an invite than `invites.create` takes.',
  ),
  inviteEmailMismatch: error(
    'Forbidden',
    'invite_email_mismatch',
    'This invite is for another email address.',
    'The caller accepts or declines an invite that was sent to another email address.',
  ),
  tooManyInvites: error(
    'TooManyRequests',
    'too_many_invites',
    'Too many invites from this workspace. Try again later.',
    'The workspace has sent more invites than `INVITE_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  tooManyInvitesToRecipient: error(
    'TooManyRequests',
    'too_many_invites_to_recipient',
    'Too many invites to this email address. Try again later.',
    'All workspaces together have sent more invites to the email address than `MAIL_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  teamNameTaken: error(
    'Conflict',
    'team_name_taken',
    'Another team in this workspace already has this name.',
    'Another team of the workspace already has this name, ignoring case.',
  ),
  alreadyTeamMember: error(
    'Conflict',
    'already_team_member',
    'This person is already in the team.',
    'The person is already in the team.',
  ),
}
