import { noLock, type Changes, type WorkspaceChangeContext } from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { noRows, pageLimitMax, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { exampleTitlePrefix, isClosed, type SeedSort, type SeedStatus } from '../../kernel/seeds.ts'
import { normalizeText } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import { countEvidence, type EvidenceCount } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'
import {
  deleteParticipant,
  insertParticipantIfNew,
  listParticipants,
  lockParticipant,
} from './participants.repository.ts'
import { readEvidence, type EvidenceRequest } from './read-evidence.ts'
import { countSeeds, listSeeds, listSeedsChangedByOthers, type ChangedSeed } from './seed-lists.repository.ts'
import { describeChanges, parseNewTexts, parseTexts, type SeedInput } from './seed-texts.ts'
import {
  deleteExampleSeeds,
  findSeed,
  findSeedDetails,
  insertSeed,
  lockSeed,
  updateSeed,
  type LockedSeed,
  type SeedFields,
  type SeedRow,
} from './seeds.repository.ts'
import type { Seed, SeedParticipant } from './seeds.schemas.ts'

export type { ChangedSeed, EvidenceCount, Seed, SeedInput, SeedParticipant }

/** The filters and the order of a list of seeds. */
export interface SeedsRequest extends PageRequest {
  status?: SeedStatus
  /** Only seeds whose title, summary or problem contains this, ignoring case. */
  q?: string
  createdByUserId?: string
  /** Whether the caller has joined the seeds. */
  joined?: boolean
  /** By default `createdAt`. */
  sort?: SeedSort
}

/** A seed with what people look at beside it. */
export interface SeedDetails {
  seed: Seed
  /** The name of the creator; null if their account is deleted. */
  createdByName: string | null
  /** The first page of participants. */
  participants: Page<SeedParticipant>
  /** Newest first. */
  evidence: Page<Evidence>
  /** All evidence, counted by day and verdict, the earliest day first. */
  evidenceCounts: EvidenceCount[]
}

/** Methods that take a seed's id throw `not_found` unless it is in a workspace of the caller. */
export interface SeedsService {
  /** The latest first. It can be read backward. */
  list(principal: Principal, slug: string, request: SeedsRequest): Promise<Page<Seed>>
  /** The number of seeds whose title, summary or problem contains a text, ignoring case. */
  count(principal: Principal, slug: string, q: string): Promise<number>
  /** The seeds that the caller has joined and that others changed in the last seven days: the latest five. */
  listChangedByOthers(principal: Principal, slug: string): Promise<ChangedSeed[]>
  /** Creates an open seed without participants. Throws `text_invalid`. */
  create(principal: Principal, slug: string, input: SeedInput): Promise<Seed>
  get(principal: Principal, seedId: string): Promise<Seed>
  /**
   * A seed with its participants and a page of its evidence. Throws `not_found` unless it is in the workspace of the slug,
   * and what access to a workspace throws.
   */
  getDetails(
    principal: Principal,
    path: { slug: string; seedId: string },
    evidence: EvidenceRequest,
  ): Promise<SeedDetails>
  /**
   * Changes the fields that are given; with `opened`, those of them that differ from the versions of then. Throws
   * `text_invalid`, and `changed_meanwhile` if one of these has another version now.
   */
  update(
    principal: Principal,
    seedId: string,
    input: Partial<SeedInput> & { status?: SeedStatus },
    opened?: FieldVersions,
  ): Promise<void>
  /** Idempotent. Throws `seed_closed`. */
  join(principal: Principal, seedId: string): Promise<void>
  /** Idempotent. */
  leave(principal: Principal, seedId: string): Promise<void>
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
  pictures: PictureStore
}

const changedLatelyMs = 7 * 24 * 60 * 60 * 1000

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
    async list(principal, slug, { status, q, createdByUserId, joined, sort = 'createdAt', ...page }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const text = q === undefined ? undefined : normalizeText(q) || undefined
      const filter = {
        ...(status !== undefined && { status }),
        ...(text !== undefined && { text }),
        ...(createdByUserId !== undefined && { createdByUserId }),
        ...(joined !== undefined && { joined }),
      }
      // A malformed id belongs to nobody: the list is empty.
      const hasNone = createdByUserId !== undefined && !isId(createdByUserId)
      const query = { workspaceId, userId: principal.user.id, filter, sort }
      return readPage<Seed>(page, {
        listId: `seeds.list ${workspaceId} ${JSON.stringify([status, text?.toLowerCase(), createdByUserId, joined, sort])}`,
        order: 'newestFirst',
        read: async (range) => (hasNone ? noRows : listSeeds(db, { ...query, ...range })),
        positionOf: (seed) => ({ at: seed[sort], id: seed.id }),
      })
    },

    async count(principal, slug, q) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const filter = { text: normalizeText(q) }
      return countSeeds(db, { workspaceId, userId: principal.user.id, filter })
    },

    async listChangedByOthers(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const since = new Date(clock.now().getTime() - changedLatelyMs)
      return listSeedsChangedByOthers(db, { workspaceId, userId: principal.user.id, since })
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.create')
      const { user, agentName = null } = principal
      const fields = {
        id: createId(),
        ...parseNewTexts(input),
        status: 'open' as const,
        createdByUserId: user.id,
        agentName,
      }
      return changes.makeIn(principal, workspace, noLock, async ({ now, write, appendEvent }) => {
        const row = { ...fields, createdAt: now, updatedAt: now }
        write((tx) => insertSeed(tx, { ...row, workspaceId: workspace.id }))
        appendEvent({
          type: 'seed.created',
          target: { type: 'seed', id: row.id },
          summary: `${user.name} created the seed ${row.title}`,
        })
        return toSeed({ ...row, participantCount: 0, joined: false })
      })
    },

    async get(principal, seedId) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.get')
      const seed = await findSeed(db, { seedId, userId: principal.user.id })
      if (!seed) throw errors.notFound()
      return toSeed(seed)
    },

    async getDetails(principal, { slug, seedId }, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.get')
      if (!isId(seedId)) throw errors.notFound()
      const [found, participants, pieces, evidenceCounts] = await Promise.all([
        findSeedDetails(db, { seedId, workspaceId, userId: principal.user.id }),
        readParticipants(seedId, { limit: pageLimitMax }),
        readEvidence(db, seedId, page),
        countEvidence(db, seedId),
      ])
      if (!found) throw errors.notFound()
      const { createdByName, ...seed } = found
      return { seed: toSeed(seed), createdByName, participants, evidence: pieces, evidenceCounts }
    },

    async update(principal, seedId, input, opened) {
      const { status } = input
      const given = { ...parseTexts(input), ...(status !== undefined && { status }) }
      const how = { action: 'seeds.update', strength: 'no key update' } as const
      await change(principal, seedId, how, async ({ tx, now, appendEvent }, seed) => {
        const { changes: changed, conflicts } = compareEdit<SeedFields>(seed, given, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        if (Object.keys(changed).length === 0) return
        await updateSeed(tx, seedId, { ...changed, updatedAt: now })
        appendEvent({
          type: 'seed.updated',
          target: { type: 'seed', id: seedId },
          summary: `${principal.user.name} ${describeChanges(seed, changed)}`,
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
        async ({ tx, now, appendEvent }, { status, title, workspaceId }) => {
          if (isClosed(status)) {
            if (await lockParticipant(tx, seedId, user.id)) return
            throw errors.seedClosed()
          }
          const row = { seedId, userId: user.id, workspaceId, joinedAt: now }
          if (!(await insertParticipantIfNew(tx, row))) return
          appendEvent({
            type: 'seed.joined',
            target: { type: 'seed', id: seedId },
            summary: `${user.name} joined the seed ${title}`,
          })
        },
      )
    },

    async leave(principal, seedId) {
      const { user } = principal
      const how = { action: 'seeds.leave', strength: 'share' } as const
      await change(principal, seedId, how, async ({ tx, appendEvent }, { title }) => {
        if (!(await deleteParticipant(tx, seedId, user.id))) return
        appendEvent({
          type: 'seed.left',
          target: { type: 'seed', id: seedId },
          summary: `${user.name} left the seed ${title}`,
        })
      })
    },

    async deleteExamples() {
      // eslint-disable-next-line no-restricted-syntax -- a command of operators has no principal
      return db.transaction(async (tx) => {
        const deleted = await deleteExampleSeeds(tx, exampleTitlePrefix)
        for (const { id, title, workspaceId } of deleted) {
          await insertServiceEvent(tx, {
            workspaceId,
            type: 'seed.deleted',
            target: { type: 'seed', id },
            summary: `An operator deleted the seed ${title}`,
            at: clock.now(),
          })
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
