import type { AcceptedInvite } from '../../areas/invites/received-invites.service.ts'
import { notice, type Notice } from '../components/notice.ts'
import { roleNouns } from './roles.views.ts'

/** What the home of a workspace tells a person who has just accepted an invite to it. */
export function describeJoined({ workspaceName, role, invitedByName }: AcceptedInvite): Notice {
  return notice`You joined ${workspaceName} as ${roleNouns[role]}. ${invitedByName} invited you.`
}
