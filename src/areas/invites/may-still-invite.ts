import { isAllowed } from '../../access/permissions.ts'
import { mayGrant, type Role } from '../../domain/roles.ts'

/** Whether somebody of a role may still be invited by a member of another, whose role may have changed since. */
export function mayStillInvite(inviterRole: Role, role: Role): boolean {
  return isAllowed(inviterRole, 'invites.create') && mayGrant(inviterRole, role)
}
