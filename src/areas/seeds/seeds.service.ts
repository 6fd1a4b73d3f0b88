import { noLock, type Changes, type LockInput, type WorkspaceChangeContext } from '../../access/change.ts'
import { lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type {
  RequireSeedOf,
  RequireWorkspace,
  RequireWorkspaceOfSeed,
} from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { pageLimitMax, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { correctableMs, exampleTitlePrefix, isClosed, type SeedStatus } from '../../domain/seeds.ts'
import { assertExpected } from '../../kernel/versions.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { countEvidence, type EvidenceCount } from './evidence-counts.repository.ts'
import { deleteFollower, insertFollowers } from './followers.repository.ts'
import { clearLeadOf, findParticipant } from './leads.repository.ts'
import {
  deleteParticipant,
  insertParticipant,
  insertParticipantIfNew,
  listParticipants,
  lockParticipant,
} from './participants.repository.ts'
import type { SeedFace } from './seed-lists.repository.ts'
import { createSeedLists, type SeedLists } from './seed-lists.ts'
import { createSeedDeletion, type SeedDeletion } from './seed-deletion.ts'
import {
  describeChanges,
  parseNewTexts,
  parseStatusReason,
  parseTexts,
  versionOfSeed,
  type SeedInput,
} from './seed-texts.ts'
import {
  deleteExampleSeeds,
  findSeed,
  findSeedOfWorkspace,
  insertSeed,
  lockSeed,
  updateSeed,
  type LockedSeed,
  type SeedFields,
  type SeedRow,
} from './seeds.repository.ts'
import type { Seed, SeedParticipant } from './seeds.schemas.ts'

export { versionOfSeed }
export type { EvidenceCount, Seed, SeedFace, SeedInput, SeedParticipant }

/** What a change of a seed sets. */
export interface SeedChange extends Partial<SeedInput> {
  status?: SeedStatus
  /** Why the status is changed, for the activity. An empty one counts as none. */
  statusReason?: string
  /** A participant who may change the seed; null for nobody. */
  leadUserId?: string | null
}

/** A seed with what people look at beside it. */
export interface SeedDetails {
  seed: Seed
  /** The first page of participants. */
  participants: Page<SeedParticipant>
  /** All evidence, counted by day and verdict, the earliest day first. */
  evidenceCounts: EvidenceCount[]
  /** Evidence that was added since then can be corrected by its author. */
  correctableSince: Date
}

/** Methods that take a seed's id throw `not_found` unless it is in a workspace of the caller. */
export interface SeedsService extends SeedLists, SeedDeletion {
  /** Creates an open seed. The caller takes part in it, leads and follows it. Throws `text_invalid`. */
  create(principal: Principal, slug: string, input: SeedInput): Promise<Seed>
  get(principal: Principal, seedId: string): Promise<Seed>
  /**
   * A seed with its participants and the counts of its evidence. Throws `not_found` unless it is in the workspace of the slug,
   * and what access to a workspace throws.
   */
  getDetails(principal: Principal, path: { slug: string; seedId: string }): Promise<SeedDetails>
  /**
   * Changes the fields that are given; with `opened`, those of them that differ from the versions of then. Throws
   * `text_invalid`, `lead_invalid`, `reason_without_status`, `precondition_failed`, and `changed_meanwhile` if one of these
   * has another version now.
   */
  update(principal: ExpectingCall, seedId: string, input: SeedChange, opened?: FieldVersions): Promise<void>
  /** Also follows it. Idempotent. Throws `seed_closed`. */
  join(principal: Principal, seedId: string): Promise<void>
  /** Also ends that the caller leads and follows it. Idempotent. */
  leave(principal: Principal, seedId: string): Promise<void>
  /** The caller is notified of what happens to it. Idempotent. */
  follow(principal: Principal, seedId: string): Promise<void>
  /** Idempotent. */
  unfollow(principal: Principal, seedId: string): Promise<void>
  /** Deletes the example seeds of the first run, for operators. Returns their titles. */
  deleteExamples(): Promise<string[]>
  /** In the order in which they joined. */
  listParticipants(principal: Principal, seedId: string, page: PageRequest): Promise<Page<SeedParticipant>>
}

export interface SeedsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
  pictures: PictureStore
}

export function createSeedsService(options: SeedsServiceOptions): SeedsService {
  const { db, clock, changes, requireWorkspace, requireWorkspaceOfSeed, pictures } = options

  /** Changes a seed while it is locked. */
  async function change<Result>(
    principal: Principal,
    seedId: string,
    { action, strength }: { action: WorkspaceAction; strength: 'share' | 'no key update' },
    run: (context: WorkspaceChangeContext, seed: LockedSeed) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspaceOfSeed(principal, seedId, action)
    return changes.makeIn(principal, workspace, (tx) => lockSeed(tx, seedId, strength), run)
  }

  /** Locks a seed, and reads the participant who is to lead it, who cannot leave meanwhile. */
  function lockForUpdate(seedId: string, leadUserId: string | null) {
    const newLead = leadUserId !== null && isId(leadUserId) ? leadUserId : undefined
    return async (tx: Executor, { workspace }: LockInput) => {
      const [, seed, lead] = await together([
        // As for removals and changes of roles, and before the seed, as they do.
        newLead && lockMembersOfWorkspace(tx, workspace.id),
        lockSeed(tx, seedId, 'no key update'),
        newLead ? findParticipant(tx, seedId, newLead) : undefined,
      ])
      return seed && { ...seed, lead }
    }
  }

  function readParticipants(seedId: string, page: PageRequest): Promise<Page<SeedParticipant>> {
    const pictureUrlPrefix = pictures.urlPrefix
    return readPage<SeedParticipant>(page, {
      listId: `seeds.listParticipants ${seedId}`,
      order: 'oldestFirst',
      read: (range) => listParticipants(db, { seedId, pictureUrlPrefix, ...range }),
      positionOf: ({ joinedAt, userId }) => ({ at: joinedAt, id: userId }),
    })
  }

  return {
    ...createSeedLists(options),
    ...createSeedDeletion(options),

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.create')
      const { user, agentName = null } = principal
      const fields = {
        id: createId(),
        ...parseNewTexts(input),
        status: 'open' as const,
        createdByUserId: user.id,
        leadUserId: user.id,
        agentName,
      }
      return changes.makeIn(principal, workspace, noLock, async ({ now, write, appendEvent }) => {
        const row = { ...fields, createdAt: now, updatedAt: now }
        const place = { seedId: row.id, workspaceId: workspace.id }
        write((tx) => insertSeed(tx, { ...row, workspaceId: workspace.id }))
        write((tx) => insertParticipant(tx, { ...place, userId: user.id, joinedAt: now }))
        write((tx) => insertFollowers(tx, place, [user.id]))
        appendEvent({
          type: 'seed.created',
          data: { seedId: row.id, title: row.title },
        })
        return toSeed({
          ...{ ...row, createdByName: user.name, participantCount: 1, joined: true, following: true },
          evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
          commentCount: 0,
        })
      })
    },

    async get(principal, seedId) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.get')
      const seed = await findSeed(db, { seedId, userId: principal.user.id })
      if (!seed) throw errors.notFound()
      return toSeed(seed)
    },

    async getDetails(principal, { slug, seedId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      if (!isId(seedId)) throw errors.notFound()
      const [found, participants, evidenceCounts] = await Promise.all([
        findSeedOfWorkspace(db, { seedId, workspaceId, userId: principal.user.id }),
        readParticipants(seedId, { limit: pageLimitMax }),
        countEvidence(db, seedId),
      ])
      if (!found) throw errors.notFound()
      const correctableSince = new Date(clock.now().getTime() - correctableMs)
      return { seed: toSeed(found), participants, evidenceCounts, correctableSince }
    },

    async update(principal, seedId, input, opened) {
      const { status, leadUserId } = input
      const statusReason = parseStatusReason(input)
      const given = {
        ...parseTexts(input),
        ...(status !== undefined && { status }),
        ...(leadUserId !== undefined && { leadUserId }),
      }
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.update')
      const lock = lockForUpdate(seedId, leadUserId ?? null)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, locked) => {
        const { lead, ...seed } = locked
        assertExpected(principal, versionOfSeed(seed))
        const { changes: changed, conflicts } = compareEdit<SeedFields>(seed, given, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        if (Object.keys(changed).length === 0) return
        if (changed.leadUserId != null && !(lead && isAllowed(lead.role, 'seeds.update')))
          throw errors.leadInvalid({ field: 'leadUserId' })
        await updateSeed(tx, seedId, { ...changed, updatedAt: now })
        const described = describeChanges(seed, changed)
        const leadName = changed.leadUserId == null ? null : (lead?.name ?? null)
        if (described.status) {
          const notice = { kind: 'status', data: described.status } as const
          const about = { workspaceId: workspace.id, seedId, actor: principal, at: now }
          write((executor) => notifyFollowers(executor, { ...notice, ...about }))
        }
        appendEvent({
          type: 'seed.updated',
          data: { seedId, ...described, statusReason: described.status && statusReason, leadName },
        })
      })
    },

    async join(principal, seedId) {
      const { user } = principal
      // Locked, so that its status cannot change before the participant is inserted.
      const how = { action: 'seeds.join', strength: 'share' } as const
      await change(
        principal,
        seedId,
        how,
        async ({ tx, now, write, appendEvent }, { status, title, workspaceId }) => {
          if (isClosed(status)) {
            if (await lockParticipant(tx, seedId, user.id)) return
            throw errors.seedClosed()
          }
          const row = { seedId, userId: user.id, workspaceId, joinedAt: now }
          if (!(await insertParticipantIfNew(tx, row))) return
          write((executor) => insertFollowers(executor, row, [user.id]))
          appendEvent({
            type: 'seed.joined',
            data: { seedId, title },
          })
        },
      )
    },

    async leave(principal, seedId) {
      const { user } = principal
      // Locked, so that the person cannot become the lead meanwhile.
      const how = { action: 'seeds.leave', strength: 'no key update' } as const
      await change(principal, seedId, how, async ({ tx, write, appendEvent }, { title, leadUserId }) => {
        if (!(await deleteParticipant(tx, seedId, user.id))) return
        if (leadUserId === user.id) write((executor) => clearLeadOf(executor, seedId))
        write((executor) => deleteFollower(executor, seedId, user.id))
        appendEvent({
          type: 'seed.left',
          data: { seedId, title },
        })
      })
    },

    async follow(principal, seedId) {
      const { user } = principal
      const how = { action: 'seeds.follow', strength: 'share' } as const
      await change(principal, seedId, how, async ({ write }, { workspaceId }) => {
        write((tx) => insertFollowers(tx, { seedId, workspaceId }, [user.id]))
      })
    },

    async unfollow(principal, seedId) {
      const { user } = principal
      const how = { action: 'seeds.unfollow', strength: 'share' } as const
      await change(principal, seedId, how, async ({ write }) => {
        write((tx) => deleteFollower(tx, seedId, user.id))
      })
    },

    async deleteExamples() {
      // eslint-disable-next-line no-restricted-syntax -- a command of operators has no principal
      return db.transaction(async (tx) => {
        const deleted = await deleteExampleSeeds(tx, exampleTitlePrefix)
        for (const { id, title, workspaceId } of deleted) {
          const event = { type: 'seed.deleted', data: { seedId: id, title } } as const
          await insertServiceEvent(tx, { ...event, workspaceId, at: clock.now() }, 'An operator')
        }
        return deleted.map(({ title }) => title)
      })
    },

    async listParticipants(principal, seedId, page) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.listParticipants')
      return readParticipants(seedId, page)
    },
  }
}

function toSeed(row: SeedRow): Seed {
  return { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() }
}
