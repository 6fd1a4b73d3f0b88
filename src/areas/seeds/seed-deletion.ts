import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type {
  AccessibleWorkspace,
  RequireSeedOf,
  RequireWorkspaceOfSeed,
} from '../../access/workspace-access.ts'
import type { SeedKey } from '../../db/sql/seed-keys.ts'
import { together } from '../../db/together.ts'
import type { Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import { deletedSeedsKeptMs } from '../../domain/seeds.ts'
import {
  findUseOfSeed,
  lockDeletableSeed,
  setDeletedAt,
  type DeletableSeed,
} from './seed-deletion.repository.ts'
import { assertNotMerged } from './seeds.repository.ts'

/** Deleting seeds, and restoring them. Both throw `not_found`, `role_insufficient`, `seed_in_use` and `seed_merged`. */
export interface SeedDeletion {
  /**
   * Deletes a seed: nobody sees it until it is restored. For owners and admins, and for its creator while nobody else has
   * added to it. For an agent, only one that it created, and to which its person has not added by hand either: it throws
   * `not_the_author`. Returns its title.
   */
  delete(principal: Principal, seedId: string): Promise<string>
  /** Restores a seed that was deleted in the last 14 days, for those who may delete it. Idempotent. */
  restore(principal: Principal, seedId: string): Promise<void>
}

interface SeedDeletionOptions {
  changes: Changes
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
}

export function createSeedDeletion(options: SeedDeletionOptions): SeedDeletion {
  const { changes, requireWorkspaceOfSeed, requireSeedOf } = options

  /** Locks a seed, and then looks who has added to it: nobody can do so meanwhile. */
  const lockSeedOf = (key: SeedKey) => async (tx: Executor) => {
    const [seed, use] = await together([lockDeletableSeed(tx, key), findUseOfSeed(tx, key)])
    if (seed) assertNotMerged(seed.mergedIntoSeedId)
    return seed && { ...seed, ...use }
  }

  return {
    async delete(principal, seedId) {
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.delete')
      const key = { workspaceId: workspace.id, seedId }
      return changes.makeIn(
        principal,
        workspace,
        lockSeedOf(key),
        async ({ now, write, appendEvent }, seed) => {
          // Deleted by somebody else meanwhile.
          if (seed.deletedAt !== null) throw errors.notFound()
          assertMayDelete(principal, workspace, seed)
          write((tx) => setDeletedAt(tx, key, { deletedAt: now, now }))
          appendEvent({ type: 'seed.deleted', data: { seedId, title: seed.title } })
          return seed.title
        },
      )
    },

    async restore(principal, seedId) {
      const workspace = await requireSeedOf(principal, { kind: 'seed', id: seedId }, 'seeds.restore')
      const key = { workspaceId: workspace.id, seedId }
      await changes.makeIn(
        principal,
        workspace,
        lockSeedOf(key),
        async ({ now, write, appendEvent }, seed) => {
          const { deletedAt, title } = seed
          if (deletedAt !== null && now.getTime() - deletedAt.getTime() > deletedSeedsKeptMs)
            throw errors.notFound()
          assertMayDelete(principal, workspace, seed)
          if (deletedAt === null) return
          write((tx) => setDeletedAt(tx, key, { deletedAt: null, now }))
          appendEvent({ type: 'seed.restored', data: { seedId, title } })
        },
      )
    },
  }
}

function assertMayDelete(
  { user, grantId }: Principal,
  { role }: AccessibleWorkspace,
  seed: DeletableSeed & { isInUse: boolean; isUsedByHand: boolean },
): void {
  const { createdByUserId, isInUse, isUsedByHand } = seed
  if (grantId !== null) {
    if (seed.grantId !== grantId || createdByUserId !== user.id) throw errors.notTheAuthor()
    if (isInUse || isUsedByHand) throw errors.seedInUse()
    return
  }
  if (isAllowed(role, 'seeds.deleteOthers')) return
  if (createdByUserId !== user.id) throw errors.roleInsufficient()
  if (isInUse) throw errors.seedInUse()
}
