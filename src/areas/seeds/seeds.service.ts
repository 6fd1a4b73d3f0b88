import { type Changes, type LockInput, type WorkspaceChangeContext } from '../../access/change.ts'
import { lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type {
  RequireSeedOf,
  RequireWorkspace,
  RequireWorkspaceOfSeed,
} from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { SeedKey } from '../../db/sql/seed-keys.ts'
import { together } from '../../db/together.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { pageLimitMax, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { operatorName, type ExpectingCall, type Principal } from '../../domain/principal.ts'
import {
  correctableMs,
  exampleTitlePrefix,
  isClosed,
  mergesUndoneMs,
  type SeedStatus,
} from '../../domain/seeds.ts'
import { assertExpected } from '../../kernel/versions.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import {
  attach,
  listAttachmentsOf,
  parseAttachmentIds,
  setAttachments,
} from '../attachments/used-attachments.repository.ts'
import { deleteAsked, deleteAskedOfSeed, findAsked, type Asked } from '../notifications/asked.repository.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { findCriterionEvidence, type CriterionEvidence } from './criterion-evidence.repository.ts'
import { countEvidence, type EvidenceCount } from './evidence-counts.repository.ts'
import { deleteFollower, insertFollowers } from './followers.repository.ts'
import { clearLeadOf, describeClearedLead, findLead, findParticipant } from './leads.repository.ts'
import {
  deleteParticipant,
  insertParticipantIfNew,
  listParticipants,
  lockParticipant,
} from './participants.repository.ts'
import {
  findSorting,
  findTeamOfSeed,
  parseSorting,
  type AskedSorting,
  type FoundSorting,
  type Named,
} from './seed-sorting.repository.ts'
import type { SeedFace } from './seed-lists.repository.ts'
import { createSeedLists, type SeedLists } from './seed-lists.ts'
import type { SeedByTitle } from './similar-seeds.repository.ts'
import { createSimilarSeeds, findSimilarSeeds, type SimilarSeeds } from './similar-seeds.ts'
import { createSeedAsking, type SeedAsking } from './seed-asking.ts'
import { prepareSeed, writeSeed } from './seed-creation.ts'
import { createSeedDeletion, type SeedDeletion } from './seed-deletion.ts'
import { completeCriteria, describeStates, mergeCriteria, parseCriteria, textsOf } from './seed-criteria.ts'
import { listMergedInto, type MergedSeed } from './seed-merging.repository.ts'
import { createSeedMerging, type SeedMerging } from './seed-merging.ts'
import {
  describeChanges,
  parseStatusReason,
  parseTexts,
  versionOfSeed,
  type SeedInput,
} from './seed-texts.ts'
import {
  deleteExampleSeeds,
  findSeed,
  lockSeed,
  updateSeed,
  type LockedSeed,
  type SeedFields,
  type SeedRow,
} from './seeds.repository.ts'
import type { Seed, SeedParticipant } from './seeds.schemas.ts'

export { versionOfSeed }
export type {
  CriterionEvidence,
  EvidenceCount,
  MergedSeed,
  Seed,
  SeedByTitle,
  SeedFace,
  SeedInput,
  SeedParticipant,
}

/** What a change of a seed sets. */
export interface SeedChange extends Partial<SeedInput> {
  status?: SeedStatus
  /** Why the status is changed, for the activity. An empty one counts as none. */
  statusReason?: string
  /** A participant who may change the seed; null for nobody. */
  leadUserId?: string | null
  /** All files that it is to have. One that is left out is deleted. */
  attachmentIds?: readonly string[]
  /** A team of the workspace; null for none. */
  teamId?: string | null
  /** All labels that it is to have. */
  labelIds?: readonly string[]
}

/** What a seed is created with. */
export interface NewSeed extends SeedInput {
  /** Files that the caller has uploaded, and nothing uses. */
  attachmentIds?: readonly string[]
  /** A team of the workspace; null for none. */
  teamId?: string | null
  /** Labels of the workspace. */
  labelIds?: readonly string[]
}

/** A seed with what people look at beside it. */
export interface SeedDetails {
  seed: Seed
  /** The first page of participants. */
  participants: Page<SeedParticipant>
  /** All evidence, counted by day and verdict, the earliest day first. */
  evidenceCounts: EvidenceCount[]
  /** The evidence that speaks to its success criteria. */
  criterionEvidence: CriterionEvidence[]
  /** Evidence that was added since then can be corrected by its author. */
  correctableSince: Date
  /** Seeds that were merged into it, the last first. */
  merged: MergedSeed[]
  /** Merges since then can be undone. */
  unmergeableSince: Date
}

/** A new seed, with other seeds whose titles are similar. */
export interface CreatedSeed extends Seed {
  similar: SeedByTitle[]
}

/** Methods that take a seed's id throw `not_found` unless it is in a workspace of the caller. */
export interface SeedsService extends SeedLists, SimilarSeeds, SeedDeletion, SeedMerging, SeedAsking {
  /**
   * Creates an open seed. The caller takes part in it and follows it, and leads it unless it is a service account. Throws
   * `text_invalid`, `criteria_twice`, `criterion_not_found`, `attachment_limit`, `attachment_not_found`, `seed_label_limit`, and
   * `not_found` for a team or a label that the workspace does not have.
   */
  create(principal: Principal, slug: string, input: NewSeed): Promise<CreatedSeed>
  get(principal: Principal, seedId: string): Promise<Seed>
  /** The slug of the workspace of a seed, also of one that is deleted. */
  getSlug(principal: Principal, seedId: string): Promise<string>
  /** Throws `not_found` unless the seed is in the workspace of the slug, and what access to a workspace throws. */
  getOfWorkspace(principal: Principal, path: { slug: string; seedId: string }): Promise<Seed>
  /** A seed with what people look at beside it. Throws what `getOfWorkspace` throws. */
  getDetails(principal: Principal, path: { slug: string; seedId: string }): Promise<SeedDetails>
  /**
   * Changes the fields that are given; with `opened`, those of them that differ from the versions of then. Throws
   * `text_invalid`, `criteria_twice`, `criterion_not_found`, `attachment_limit`, `attachment_not_found`, `lead_invalid`,
   * `reason_without_status`, `seed_label_limit`, `precondition_failed`, `not_found` for a team or a label, and `changed_meanwhile` if one of these has another version now.
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
    const key = { workspaceId: workspace.id, seedId }
    return changes.makeIn(principal, workspace, (tx) => lockSeed(tx, key, strength), run)
  }

  /**
   * Locks a seed. If its lead is to change, reads who leads it, and the new lead, who cannot leave meanwhile; the same of its
   * team and labels.
   */
  function lockForUpdate(
    seedId: string,
    { leadUserId, ...sorting }: AskedSorting & { leadUserId?: string | null },
  ) {
    const newLead = leadUserId != null && isId(leadUserId) ? leadUserId : undefined
    return async (tx: Executor, { workspace }: LockInput) => {
      const key = { workspaceId: workspace.id, seedId }
      const [, seed, lead, leadBefore, sorted, teamBefore, attachments] = await together([
        // As for removals and changes of roles, and before the seed, as they do.
        newLead && lockMembersOfWorkspace(tx, workspace.id),
        lockSeed(tx, key, 'no key update'),
        newLead ? findParticipant(tx, key, newLead) : undefined,
        leadUserId === undefined ? undefined : findLead(tx, key),
        findSorting(tx, { workspaceId: workspace.id, ...sorting }),
        sorting.teamId === undefined ? undefined : findTeamOfSeed(tx, key),
        listAttachmentsOf(tx, key),
      ])
      return seed && { ...seed, attachments, lead, leadBefore, sorted, teamBefore }
    }
  }

  /**
   * Locks a seed, so that its status cannot change before the participant is inserted, which changes its number of
   * participants. Who may become its lead cannot leave meanwhile.
   */
  const lockForJoining =
    (seedId: string, wasAsked: boolean) =>
    async (tx: Executor, { principal, workspace }: LockInput) => {
      const key = { workspaceId: workspace.id, seedId }
      const [, seed, lead, asked] = await together([
        wasAsked && lockMembersOfWorkspace(tx, workspace.id),
        lockSeed(tx, key, 'no key update'),
        wasAsked ? findLead(tx, key) : undefined,
        wasAsked ? findAsked(tx, seedId, principal.user.id) : undefined,
      ])
      return seed && { ...seed, lead, asked }
    }

  function readParticipants(seed: SeedKey, page: PageRequest): Promise<Page<SeedParticipant>> {
    const pictureUrlPrefix = pictures.urlPrefix
    return readPage<SeedParticipant>(page, {
      listId: `seeds.listParticipants ${seed.seedId}`,
      order: 'oldestFirst',
      read: (range) => listParticipants(db, { ...seed, pictureUrlPrefix, ...range }),
      positionOf: ({ joinedAt, userId }) => ({ at: joinedAt, id: userId }),
    })
  }

  return {
    ...createSeedLists(options),
    ...createSimilarSeeds(options),
    ...createSeedDeletion(options),
    ...createSeedMerging(options),
    ...createSeedAsking(options),

    async create(principal, slug, input) {
      const attachmentIds = parseAttachmentIds(input.attachmentIds ?? [])
      const workspace = await requireWorkspace(principal, slug, 'seeds.create')
      const { user, grantId } = principal
      const sorting = parseSorting(input)
      const fields = prepareSeed(principal, input, sorting)
      const lead = fields.leadUserId === null ? undefined : user
      const read = async (tx: Executor) => {
        const [similar, sorted] = await together([
          findSimilarSeeds(tx, { workspaceId: workspace.id, title: fields.title, seedUrlPrefix }),
          findSorting(tx, { workspaceId: workspace.id, ...sorting }),
        ])
        return { similar, sorted }
      }
      return changes.makeIn(
        principal,
        workspace,
        read,
        async ({ tx, now, write, appendEvent }, { similar, sorted: { team, labels } }) => {
          const { labelIds, ...shown } = fields
          const row = { ...shown, createdAt: now, updatedAt: now }
          const place = { seedId: row.id, workspaceId: workspace.id }
          writeSeed({ now, write }, fields, { workspaceId: workspace.id, grantId })
          const attachments = await attach(tx, place, { ids: attachmentIds, userId: user.id })
          appendEvent({
            type: 'seed.created',
            data: {
              ...{ seedId: row.id, title: row.title },
              ...(attachmentIds.length > 0 && { attachmentIds }),
              ...(team && { teamId: team.id }),
              ...(labelIds.length > 0 && { labelIds }),
            },
          })
          for (const event of describeStates({ ...place, title: row.title }, [], row.criteria))
            appendEvent(event)
          const seed = toSeed({
            ...{ ...row, workspaceId: workspace.id, url: `${seedUrlPrefix}${row.id}` },
            ...{ statusReason: null, decidedAt: null, decidedByUserId: null, decidedByName: null },
            ...{ createdByName: user.name, leadName: lead?.name ?? null },
            ...{ teamName: team?.name ?? null, labels },
            ...{ participantCount: 1, joined: true, following: true },
            evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
            ...{ commentCount: 0, attachments },
            ...{ lastEvidenceAt: null, lastCommentAt: null, activityAt: now },
          })
          return { ...seed, similar }
        },
      )
    },

    async get(principal, id) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(principal, id, 'seeds.get')
      const seed = await findSeed(db, { workspaceId, seedId, userId: principal.user.id, seedUrlPrefix })
      if (!seed) throw errors.notFound()
      return toSeed(seed)
    },

    async getSlug(principal, seedId) {
      const { slug } = await requireSeedOf(principal, { kind: 'seed', id: seedId }, 'seeds.get')
      return slug
    },

    async getOfWorkspace(principal, { slug, seedId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      const found = isId(seedId)
        ? await findSeed(db, { seedId, workspaceId, userId: principal.user.id, seedUrlPrefix })
        : undefined
      if (!found) throw errors.notFound()
      return toSeed(found)
    },

    async getDetails(principal, { slug, seedId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      if (!isId(seedId)) throw errors.notFound()
      const key = { workspaceId, seedId }
      const [found, participants, evidenceCounts, criterionEvidence, merged] = await Promise.all([
        findSeed(db, { ...key, userId: principal.user.id, seedUrlPrefix }),
        readParticipants(key, { limit: pageLimitMax }),
        countEvidence(db, key),
        findCriterionEvidence(db, key),
        listMergedInto(db, key),
      ])
      if (!found) throw errors.notFound()
      const ago = (milliseconds: number) => new Date(clock.now().getTime() - milliseconds)
      const since = { correctableSince: ago(correctableMs), unmergeableSince: ago(mergesUndoneMs) }
      return { seed: toSeed(found), participants, evidenceCounts, criterionEvidence, merged, ...since }
    },

    async update(principal, seedId, input, opened) {
      const { status, leadUserId } = input
      const statusReason = parseStatusReason(input)
      const criteria = parseCriteria(input)
      const given = {
        ...parseTexts(input),
        ...(status !== undefined && { status }),
        ...(leadUserId !== undefined && { leadUserId }),
        ...parseSorting(input),
        ...(input.attachmentIds && { attachmentIds: parseAttachmentIds(input.attachmentIds) }),
      }
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.update')
      const lock = lockForUpdate(seedId, given)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, locked) => {
        const { lead, leadBefore, sorted, teamBefore, ...seed } = locked
        assertExpected(principal, versionOfSeed({ ...seed, labels: toItems(seed.labelIds) }))
        const asked = criteria && mergeCriteria(seed.criteria, criteria)
        // Of texts alone, only these are compared: the states are of the others too.
        const ofCriteria =
          asked && (input.criteria ? { criteria: asked } : { successCriteria: textsOf(asked) })
        const idsBefore = seed.attachments.map(({ id }) => id)
        const { changes, conflicts } = compareEdit<SeedFields & { attachmentIds: string[] }>(
          { ...seed, attachmentIds: idsBefore },
          { ...given, ...ofCriteria },
          opened,
        )
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        const edited = { ...changes, ...completeCriteria(seed, changes) }
        const { attachmentIds: ids, ...changed } = edited
        const after = { ...seed, ...changed }
        const parts = { attachments: toItems(ids ?? idsBefore), labels: toItems(after.labelIds) }
        principal.onVersion?.(versionOfSeed({ ...after, ...parts }))
        if (Object.keys(edited).length === 0) return
        if (changed.leadUserId != null && !(lead && isAllowed(lead.role, 'seeds.update')))
          throw errors.leadInvalid({ field: 'leadUserId' })
        const described = describeChanges(seed, edited)
        const { user } = principal
        const owner = { workspaceId: workspace.id, seedId }
        if (ids) await setAttachments(tx, owner, { ids, before: seed.attachments, userId: user.id })
        await updateSeed(tx, owner, {
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
          const about = { ...owner, actor: principal, at: now }
          write((executor) => notifyFollowers(executor, { ...notice, ...about }))
          if (isClosed(described.status.to)) write((executor) => deleteAskedOfSeed(executor, owner))
        }
        // The state of a criterion has an event of its own.
        if (described.fields.length > 0)
          appendEvent({
            type: 'seed.updated',
            data: {
              ...{ seedId, ...described, statusReason: described.status && statusReason, leadName },
              ...(changed.leadUserId !== undefined && {
                leadUserIdBefore: leadBefore?.id ?? null,
                leadNameBefore: leadBefore?.name ?? null,
              }),
              ...describeSorting(changed, sorted, teamBefore),
            },
          })
        const { title } = described
        for (const event of describeStates({ seedId, title }, seed.criteria, after.criteria))
          appendEvent(event)
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
        const key = { workspaceId, seedId }
        if (isClosed(status)) {
          if (await lockParticipant(tx, key, user.id)) return
          throw errors.seedClosed()
        }
        const isNew = await insertParticipantIfNew(tx, { ...key, userId: user.id, joinedAt: now })
        if (isNew) {
          write((executor) => insertFollowers(executor, key, [user.id]))
          appendEvent({ type: 'seed.joined', data: { seedId, title } })
        }
        if (!asked) return
        write((executor) => deleteAsked(executor, key, user.id))
        if (!isToLead(asked, leadUserId) || leadUserId === user.id) return
        await updateSeed(tx, key, { leadUserId: user.id, updatedAt: now })
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
      await change(principal, seedId, how, async ({ tx, write, appendEvent }, seed) => {
        const { title, workspaceId, leadUserId } = seed
        const key = { workspaceId, seedId }
        if (!(await deleteParticipant(tx, key, user.id))) return
        write((executor) => deleteFollower(executor, key, user.id))
        appendEvent({
          type: 'seed.left',
          data: { seedId, title },
        })
        if (leadUserId !== user.id) return
        write((executor) => clearLeadOf(executor, key))
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
      await change(principal, seedId, how, async ({ write }, { workspaceId }) => {
        write((tx) => deleteFollower(tx, { workspaceId, seedId }, user.id))
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

    async listParticipants(principal, id, page) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(
        principal,
        id,
        'seeds.listParticipants',
      )
      return readParticipants({ workspaceId, seedId }, page)
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

/** What the event says of a changed team and changed labels. */
function describeSorting(
  { teamId, labelIds }: Partial<Pick<SeedFields, 'teamId' | 'labelIds'>>,
  { team }: FoundSorting,
  teamBefore: Named | undefined,
) {
  return {
    ...(teamId !== undefined && {
      ...{ teamId, teamName: team?.name ?? null },
      ...{ teamIdBefore: teamBefore?.id ?? null, teamNameBefore: teamBefore?.name ?? null },
    }),
    ...(labelIds && { labelIds }),
  }
}

const toItems = (ids: readonly string[]) => ids.map((id) => ({ id }))

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
