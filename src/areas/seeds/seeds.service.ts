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
import { operatorName, type ExpectingCall, type Principal } from '../../domain/principal.ts'
import { correctableMs, exampleTitlePrefix, isClosed, type SeedStatus } from '../../domain/seeds.ts'
import { assertExpected } from '../../kernel/versions.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import { deleteAsked, deleteAskedOfSeed, findAsked, type Asked } from '../notifications/asked.repository.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { countEvidence, type EvidenceCount } from './evidence-counts.repository.ts'
import { deleteFollower, insertFollowers } from './followers.repository.ts'
import { clearLeadOf, describeClearedLead, findLead, findParticipant } from './leads.repository.ts'
import {
  deleteParticipant,
  insertParticipant,
  insertParticipantIfNew,
  listParticipants,
  lockParticipant,
} from './participants.repository.ts'
import type { SeedFace } from './seed-lists.repository.ts'
import { createSeedLists, type SeedLists } from './seed-lists.ts'
import { createSeedAsking, type SeedAsking } from './seed-asking.ts'
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
export interface SeedsService extends SeedLists, SeedDeletion, SeedAsking {
  /** Creates an open seed. The caller takes part in it and follows it, and leads it unless it is a service account. Throws `text_invalid`. */
  create(principal: Principal, slug: string, input: SeedInput): Promise<Seed>
  get(principal: Principal, seedId: string): Promise<Seed>
  /** The slug of the workspace of a seed, also of one that is deleted. */
  getSlug(principal: Principal, seedId: string): Promise<string>
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
  /**
   * Also follows it, and accepts that the caller was asked to. Who was asked to lead it does, if nobody led it but who
   * asked, and that person may still change seeds. Idempotent. Throws `seed_closed`.
   */
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
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
}

export function createSeedsService(options: SeedsServiceOptions): SeedsService {
  const { db, clock, changes, requireWorkspace, requireWorkspaceOfSeed, requireSeedOf } = options
  const { pictures, seedUrlPrefix } = options

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

  /** Locks a seed. If its lead is to change, reads who leads it, and the new lead, who cannot leave meanwhile. */
  function lockForUpdate(seedId: string, leadUserId: string | null | undefined) {
    const newLead = leadUserId != null && isId(leadUserId) ? leadUserId : undefined
    return async (tx: Executor, { workspace }: LockInput) => {
      const [, seed, lead, leadBefore] = await together([
        // As for removals and changes of roles, and before the seed, as they do.
        newLead && lockMembersOfWorkspace(tx, workspace.id),
        lockSeed(tx, seedId, 'no key update'),
        newLead ? findParticipant(tx, seedId, newLead) : undefined,
        leadUserId === undefined ? undefined : findLead(tx, seedId),
      ])
      return seed && { ...seed, lead, leadBefore }
    }
  }

  /**
   * Locks a seed, so that its status cannot change before the participant is inserted, which changes its number of
   * participants. Who may become its lead cannot leave meanwhile.
   */
  const lockForJoining =
    (seedId: string, wasAsked: boolean) =>
    async (tx: Executor, { principal, workspace }: LockInput) => {
      const [, seed, lead, asked] = await together([
        wasAsked && lockMembersOfWorkspace(tx, workspace.id),
        lockSeed(tx, seedId, 'no key update'),
        wasAsked ? findLead(tx, seedId) : undefined,
        wasAsked ? findAsked(tx, seedId, principal.user.id) : undefined,
      ])
      return seed && { ...seed, lead, asked }
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
    ...createSeedAsking(options),

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.create')
      const { user, agentName = null, isService = false, grantId } = principal
      const lead = isService ? undefined : user
      const fields = {
        id: createId(),
        ...parseNewTexts(input),
        status: 'open' as const,
        createdByUserId: user.id,
        leadUserId: lead?.id ?? null,
        agentName,
      }
      return changes.makeIn(principal, workspace, noLock, async ({ now, write, appendEvent }) => {
        const row = { ...fields, createdAt: now, updatedAt: now }
        const place = { seedId: row.id, workspaceId: workspace.id }
        write((tx) => insertSeed(tx, { ...row, grantId, workspaceId: workspace.id }))
        write((tx) => insertParticipant(tx, { ...place, userId: user.id, joinedAt: now }))
        write((tx) => insertFollowers(tx, place, [user.id]))
        appendEvent({
          type: 'seed.created',
          data: { seedId: row.id, title: row.title },
        })
        return toSeed({
          ...{ ...row, workspaceId: workspace.id, url: `${seedUrlPrefix}${row.id}` },
          ...{ statusReason: null, decidedAt: null, decidedByUserId: null, decidedByName: null },
          ...{ createdByName: user.name, leadName: lead?.name ?? null },
          ...{ participantCount: 1, joined: true, following: true },
          evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
          commentCount: 0,
          ...{ lastEvidenceAt: null, lastCommentAt: null, activityAt: now },
        })
      })
    },

    async get(principal, seedId) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.get')
      const seed = await findSeed(db, { seedId, userId: principal.user.id, seedUrlPrefix })
      if (!seed) throw errors.notFound()
      return toSeed(seed)
    },

    async getSlug(principal, seedId) {
      const { slug } = await requireSeedOf(principal, { kind: 'seed', id: seedId }, 'seeds.get')
      return slug
    },

    async getDetails(principal, { slug, seedId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      if (!isId(seedId)) throw errors.notFound()
      const [found, participants, evidenceCounts] = await Promise.all([
        findSeedOfWorkspace(db, { seedId, workspaceId, userId: principal.user.id, seedUrlPrefix }),
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
      const lock = lockForUpdate(seedId, leadUserId)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, locked) => {
        const { lead, leadBefore, ...seed } = locked
        assertExpected(principal, versionOfSeed(seed))
        const { changes: changed, conflicts } = compareEdit<SeedFields>(seed, given, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        principal.onVersion?.(versionOfSeed({ ...seed, ...changed }))
        if (Object.keys(changed).length === 0) return
        if (changed.leadUserId != null && !(lead && isAllowed(lead.role, 'seeds.update')))
          throw errors.leadInvalid({ field: 'leadUserId' })
        const described = describeChanges(seed, changed)
        const { user } = principal
        await updateSeed(tx, seedId, {
          ...changed,
          ...(described.status && {
            ...{ statusChangedAt: now, statusReason },
            ...{ statusChangedByUserId: user.id, statusChangedByName: user.name },
          }),
          updatedAt: now,
        })
        const leadName = changed.leadUserId == null ? null : (lead?.name ?? null)
        if (described.status) {
          const notice = { kind: 'status', data: described.status } as const
          const about = { workspaceId: workspace.id, seedId, actor: principal, at: now }
          write((executor) => notifyFollowers(executor, { ...notice, ...about }))
          if (isClosed(described.status.to)) write((executor) => deleteAskedOfSeed(executor, seedId))
        }
        appendEvent({
          type: 'seed.updated',
          data: {
            ...{ seedId, ...described, statusReason: described.status && statusReason, leadName },
            ...(changed.leadUserId !== undefined && {
              leadUserIdBefore: leadBefore?.id ?? null,
              leadNameBefore: leadBefore?.name ?? null,
            }),
          },
        })
      })
    },

    async join(principal, seedId) {
      const { user } = principal
      const [workspace, before] = await Promise.all([
        requireWorkspaceOfSeed(principal, seedId, 'seeds.join'),
        isId(seedId) ? findAsked(db, seedId, user.id) : undefined,
      ])
      const lock = lockForJoining(seedId, before !== undefined)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, seed) => {
        const { status, title, workspaceId, leadUserId, lead, asked } = seed
        if (isClosed(status)) {
          if (await lockParticipant(tx, seedId, user.id)) return
          throw errors.seedClosed()
        }
        const row = { seedId, userId: user.id, workspaceId, joinedAt: now }
        const isNew = await insertParticipantIfNew(tx, row)
        if (isNew) {
          write((executor) => insertFollowers(executor, row, [user.id]))
          appendEvent({ type: 'seed.joined', data: { seedId, title } })
        }
        if (!asked) return
        write((executor) => deleteAsked(executor, seedId, user.id))
        if (!isToLead(asked, leadUserId) || leadUserId === user.id) return
        await updateSeed(tx, seedId, { leadUserId: user.id, updatedAt: now })
        appendEvent({
          type: 'seed.updated',
          data: {
            ...{ seedId, ...describeChanges(seed, { leadUserId: user.id }), statusReason: null },
            ...{
              leadName: user.name,
              leadUserIdBefore: lead?.id ?? null,
              leadNameBefore: lead?.name ?? null,
            },
          },
        })
      })
    },

    async leave(principal, seedId) {
      const { user } = principal
      // Locked, so that the person cannot become the lead meanwhile.
      const how = { action: 'seeds.leave', strength: 'no key update' } as const
      await change(principal, seedId, how, async ({ tx, write, appendEvent }, { title, leadUserId }) => {
        if (!(await deleteParticipant(tx, seedId, user.id))) return
        write((executor) => deleteFollower(executor, seedId, user.id))
        appendEvent({
          type: 'seed.left',
          data: { seedId, title },
        })
        if (leadUserId !== user.id) return
        write((executor) => clearLeadOf(executor, seedId))
        const lead = { userId: user.id, name: user.name }
        appendEvent({ type: 'seed.updated', data: describeClearedLead({ seedId, title }, lead) })
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
          await insertServiceEvent(tx, { ...event, workspaceId, at: clock.now() }, operatorName)
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

/**
 * Whether somebody who was asked leads the seed once they join. Who asked gave what they could give then and can give now:
 * a seed that somebody else leads keeps its lead.
 */
function isToLead({ as, askedByUserId, askedByRole }: Asked, leadUserId: string | null): boolean {
  if (as !== 'lead' || askedByRole === null || !isAllowed(askedByRole, 'seeds.update')) return false
  return leadUserId === null || leadUserId === askedByUserId
}

function toSeed(row: SeedRow): Seed {
  return {
    ...row,
    lastEvidenceAt: row.lastEvidenceAt?.toISOString() ?? null,
    lastCommentAt: row.lastCommentAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    activityAt: row.activityAt.toISOString(),
  }
}
