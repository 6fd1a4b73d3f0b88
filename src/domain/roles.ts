import { Type } from '@sinclair/typebox'
/** The roles of members, highest first. */
export const roles = ['owner', 'admin', 'member', 'viewer'] as const

export type Role = (typeof roles)[number]

/** The schema of a role. */
export const Role = Type.Unsafe<Role>({
  $id: 'Role',
  type: 'string',
  enum: [...roles],
  description: 'What a person may do in a workspace, most powerful first.',
})

/** Whether the first role is above the second. */
export function isAbove(role: Role, other: Role): boolean {
  return roles.indexOf(role) < roles.indexOf(other)
}

/** The lower one of two roles. */
export function lowerOf(role: Role, other: Role): Role {
  return isAbove(role, other) ? other : role
}

/** Whether an actor may change or remove another member: one with a lower role, and an owner also other owners. */
export function mayActOn(actor: Role, target: Role): boolean {
  return actor === 'owner' || isAbove(actor, target)
}

/** Whether an actor may grant a role: at most their own. */
export function mayGrant(actor: Role, granted: Role): boolean {
  return !isAbove(granted, actor)
}
