import { isAbove, lowerOf, type Role } from './roles.ts'

/** What an API key may do: everything that its owner may, or only read. */
export const keyAccesses = ['full', 'read'] as const
export type KeyAccess = (typeof keyAccesses)[number]

/** How long after its last change in a workspace a key that is not bound to it counts as acting in it. */
export const actingKeyMs = 90 * 24 * 60 * 60 * 1000

/** The most workspaces that a key can be bound to. They are read with the key at each request. */
export const keyWorkspacesMax = 100

/** How long a rotated key works on: if nothing else was asked for, and at most. */
export const overlapSecondsDefault = 24 * 60 * 60
export const overlapSecondsMax = 7 * 24 * 60 * 60

/** What an API key may not do of what its owner may. */
export interface KeyRestrictions {
  /** When the key stops working; null for never. */
  expiresAt: Date | null
  access: KeyAccess
  /** The ids of the only workspaces that the key reaches; null for all that its owner is in. */
  workspaceIds: readonly string[] | null
  /** The highest role that the key acts with in a workspace; null for that of its owner. */
  maxRole: Role | null
}

export const unrestricted: KeyRestrictions = {
  expiresAt: null,
  access: 'full',
  workspaceIds: null,
  maxRole: null,
}

/** Whether a key may do less than its owner. */
export function isRestricted(restrictions: KeyRestrictions): boolean {
  const { expiresAt, access, workspaceIds } = restrictions
  return expiresAt !== null || access !== 'full' || workspaceIds !== null || isBelowOwner(restrictions)
}

/** Whether a key never acts with the highest role, so that it may not act for its owner outside of workspaces either. */
export function isBelowOwner({ maxRole }: KeyRestrictions): boolean {
  return maxRole !== null && maxRole !== 'owner'
}

/** The role that a caller acts with, who has a role in a workspace: the lower of it and that of their key. */
export function roleWith(restrictions: KeyRestrictions | undefined, role: Role): Role {
  return lowerOf(role, restrictions?.maxRole ?? role)
}

/** Whether a key with the `inner` restrictions may do nothing that one with the `outer` ones may not. */
export function isWithin(inner: KeyRestrictions, outer: KeyRestrictions): boolean {
  const { workspaceIds } = outer
  return (
    (outer.expiresAt === null || (inner.expiresAt !== null && inner.expiresAt <= outer.expiresAt)) &&
    (outer.access === 'full' || inner.access === 'read') &&
    !isAbove(inner.maxRole ?? 'owner', outer.maxRole ?? 'owner') &&
    (workspaceIds === null || (inner.workspaceIds?.every((id) => workspaceIds.includes(id)) ?? false))
  )
}
