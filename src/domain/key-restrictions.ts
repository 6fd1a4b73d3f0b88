/** What an API key may do: everything that its owner may, or only read. */
export const keyAccesses = ['full', 'read'] as const
export type KeyAccess = (typeof keyAccesses)[number]

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
}

export const unrestricted: KeyRestrictions = { expiresAt: null, access: 'full', workspaceIds: null }

/** Whether a key may do less than its owner. */
export function isRestricted({ expiresAt, access, workspaceIds }: KeyRestrictions): boolean {
  return expiresAt !== null || access !== 'full' || workspaceIds !== null
}

/** Whether a key with the `inner` restrictions may do nothing that one with the `outer` ones may not. */
export function isWithin(inner: KeyRestrictions, outer: KeyRestrictions): boolean {
  const { workspaceIds } = outer
  return (
    (outer.expiresAt === null || (inner.expiresAt !== null && inner.expiresAt <= outer.expiresAt)) &&
    (outer.access === 'full' || inner.access === 'read') &&
    (workspaceIds === null || (inner.workspaceIds?.every((id) => workspaceIds.includes(id)) ?? false))
  )
}
