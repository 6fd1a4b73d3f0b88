/** What a person can be in a workspace, most powerful first. */
export const roles = ['owner', 'admin', 'member', 'viewer'] as const

export type Role = (typeof roles)[number]

/** Whether one role is above another. */
export function isAbove(role: Role, other: Role): boolean {
  return roles.indexOf(role) < roles.indexOf(other)
}

/** Whether somebody may change or remove somebody else: those below, and an owner also owners. */
export function mayActOn(actor: Role, target: Role): boolean {
  return actor === 'owner' || isAbove(actor, target)
}

/** Whether somebody may give a role: at most their own. */
export function mayGrant(actor: Role, granted: Role): boolean {
  return !isAbove(granted, actor)
}
