import type { Changes } from '../../access/change.ts'
import { lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { isAllowed } from '../../access/permissions.ts'
import type {
  AccessibleWorkspace,
  RequireSeedOf,
  RequireWorkspace,
  RequireWorkspaceOfSeed,
} from '../../access/workspace-access.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Principal } from '../../domain/principal.ts'
import { mergesUndoneMs } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteAskedOfSeed } from '../notifications/asked.repository.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { narrowScopes, widenScopes } from './merged-webhooks.repository.ts'
import {
  lockSeedPair,
  moveBack,
  moveParts,
  setMerged,
  setUnmerged,
  type MergeableSeed,
} from './seed-merging.repository.ts'
import { assertNotMerged } from './seeds.repository.ts'

/** Merging seeds, for owners and admins, and for who leads both. Both methods throw `not_found` and `role_insufficient`. */
export interface SeedMerging {
  /**
   * Moves evidence, comments, participants and followers of a seed to another one, which is all that is seen then, and whose
   * events the webhooks of the seed get too. Throws
   * `seed_merged`, `merge_same_seed`, `merge_target_deleted` and `merge_target_merged`. Returns both titles.
   */
  merge(
    principal: Principal,
    seedId: string,
    input: { into: string },
  ): Promise<{ title: string; into: string }>
  /**
   * Takes a merged seed out again, with what was moved. Idempotent. Throws `seed_merged_again` if the other seed was merged
   * since, and `merge_expired` after 14 days. Returns its title.
   */
  unmerge(principal: Principal, seedId: string): Promise<string>
  /** The id of the seed of a workspace that another one is now, through all merges; undefined if it was not merged. */
  findMergedInto(principal: Principal, path: { slug: string; seedId: string }): Promise<string | undefined>
}

interface SeedMergingOptions {
  changes: Changes
  requireWorkspace: RequireWorkspace
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
}

export function createSeedMerging(options: SeedMergingOptions): SeedMerging {
  const { changes, requireWorkspace, requireWorkspaceOfSeed, requireSeedOf } = options

  return {
    async merge(principal, seedId, { into: intoSeedId }) {
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.merge')
      if (!isId(intoSeedId)) throw errors.notFound()
      if (intoSeedId === seedId) throw errors.mergeSameSeed()
      const pair = { seedId, intoSeedId }
      const lock = async (tx: Executor) => {
        const { seed, other } = await lockBoth(tx, { ...pair, workspaceId: workspace.id })
        return seed && other && { seed, other }
      }
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, { seed, other }) => {
        assertNotMerged(seed.mergedIntoSeedId)
        // Deleted by somebody else meanwhile.
        if (seed.deletedAt !== null) throw errors.notFound()
        assertMayMerge(principal, workspace, [seed, other])
        if (other.mergedIntoSeedId !== null)
          throw errors.mergeTargetMerged({ addition: `It is now the seed ${other.mergedIntoSeedId}.` })
        if (other.deletedAt !== null) throw errors.mergeTargetDeleted()
        await deleteAskedOfSeed(tx, { workspaceId: workspace.id, seedId })
        const moved = await moveParts(tx, pair)
        await setMerged(tx, pair, { userId: principal.user.id, now })
        await notifyFollowers(tx, {
          ...{ kind: 'merged', data: { fromSeedId: seedId, isUndone: false } },
          ...{ workspaceId: workspace.id, seedId: intoSeedId, actor: principal, at: now },
        })
        const widened = await widenScopes(tx, { workspaceId: workspace.id, ...pair })
        const counts = { evidenceCount: moved.evidence, commentCount: moved.comment }
        appendEvent({
          type: 'seed.merged',
          data: { seedId, title: seed.title, intoSeedId, intoTitle: other.title, ...counts },
        })
        for (const data of widened) appendEvent({ type: 'webhook.updated', data })
        return { title: seed.title, into: other.title }
      })
    },

    async unmerge(principal, seedId) {
      const workspace = await requireSeedOf(principal, { kind: 'seed', id: seedId }, 'seeds.unmerge')
      const lock = async (tx: Executor) => {
        const { seed, other } = await lockBoth(tx, { seedId, workspaceId: workspace.id })
        return seed && { seed, other }
      }
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, { seed, other }) => {
        const { title, mergedAt, mergedIntoSeedId } = seed
        if (mergedIntoSeedId === null || mergedAt === null) {
          if (seed.deletedAt !== null) throw errors.notFound()
          assertMayMerge(principal, workspace, [seed])
          return title
        }
        // Merged into another one while this waited for the lock.
        if (other?.id !== mergedIntoSeedId) throw errors.notFound()
        assertMayMerge(principal, workspace, [seed, other])
        if (other.mergedIntoSeedId !== null) throw errors.seedMergedAgain()
        if (other.deletedAt !== null) throw errors.notFound()
        if (now.getTime() - mergedAt.getTime() > mergesUndoneMs) throw errors.mergeExpired()
        const pair = { seedId, intoSeedId: other.id }
        await notifyFollowers(tx, {
          ...{ kind: 'merged', data: { fromSeedId: seedId, isUndone: true } },
          ...{ workspaceId: workspace.id, seedId: other.id, actor: principal, at: now },
        })
        const narrowed = await narrowScopes(tx, { workspaceId: workspace.id, ...pair })
        const moved = await moveBack(tx, pair)
        await setUnmerged(tx, pair, now)
        const counts = { evidenceCount: moved.evidence, commentCount: moved.comment }
        appendEvent({
          type: 'seed.unmerged',
          data: { seedId, title, fromSeedId: other.id, fromTitle: other.title, ...counts },
        })
        for (const data of narrowed) appendEvent({ type: 'webhook.updated', data })
        return title
      })
    },

    async findMergedInto(principal, { slug, seedId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      const seed = await requireWorkspaceOfSeed(principal, seedId, 'seeds.get')
      return seed.id === workspaceId && seed.seedId !== seedId ? seed.seedId : undefined
    },
  }
}

/** Locks the members, as removals of members do before they end participations, and then the seeds. */
async function lockBoth(tx: Executor, pair: Parameters<typeof lockSeedPair>[1]) {
  const [, seeds] = await together([lockMembersOfWorkspace(tx, pair.workspaceId), lockSeedPair(tx, pair)])
  return seeds
}

function assertMayMerge(
  { user }: Principal,
  { role }: AccessibleWorkspace,
  seeds: readonly Pick<MergeableSeed, 'leadUserId'>[],
): void {
  if (isAllowed(role, 'seeds.mergeOthers')) return
  if (seeds.some(({ leadUserId }) => leadUserId !== user.id)) throw errors.roleInsufficient()
}
