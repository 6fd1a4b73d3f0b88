import { noLock, type Changes, type Lock, type WorkspaceChangeContext } from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { noRows, pageLimitMax, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import {
  evidenceSummaryLengthMax,
  exampleTitlePrefix,
  isClosed,
  isSourceUrl,
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
  type EvidenceAuthors,
  type EvidenceKind,
  type SeedSort,
  type SeedStatus,
  type Verdict,
} from '../../kernel/seeds.ts'
import { normalizeText, requireLine, requireLines } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import {
  countEvidence,
  countSeeds,
  deleteExampleSeeds,
  deleteParticipant,
  findSeed,
  findSeedDetails,
  insertEvidence,
  insertParticipantIfNew,
  insertSeed,
  listEvidence,
  listParticipants,
  listSeeds,
  listSeedsChangedByOthers,
  lockParticipant,
  lockSeed,
  touchSeed,
  updateSeed,
  type ChangedSeed,
  type EvidenceCount,
  type LockedSeed,
  type SeedFields,
  type SeedRow,
} from './seeds.repository.ts'
import type { Evidence, Seed, SeedParticipant } from './seeds.schemas.ts'

export type { ChangedSeed, Evidence, EvidenceCount, Seed, SeedParticipant }

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

/** The filter and the page of a list of evidence. */
export interface EvidenceRequest extends PageRequest {
  by?: EvidenceAuthors
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

/** What people write about a seed. An empty text counts as none. */
export interface SeedInput {
  title: string
  /** May have several lines, like the fields below. */
  summary: string
  problem?: string
  audience?: string
  hypothesis?: string
  successCriteria?: string[]
}

export interface EvidenceInput {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  /** An http or https URL. */
  sourceUrl?: string
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
  /** Newest first. It can be read backward. */
  listEvidence(principal: Principal, seedId: string, request: EvidenceRequest): Promise<Page<Evidence>>
  /** Throws `not_a_participant`, `text_invalid` and `source_url_invalid`. */
  addEvidence(principal: Principal, seedId: string, input: EvidenceInput): Promise<Evidence>
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

  function readEvidence(seedId: string, { by, ...page }: EvidenceRequest): Promise<Page<Evidence>> {
    const query = { seedId, ...(by !== undefined && { by }) }
    return readPage<Evidence>(page, {
      listId: `seeds.listEvidence ${seedId}${by === undefined ? '' : ` ${by}`}`,
      order: 'newestFirst',
      read: (range) => listEvidence(db, { ...query, ...range }),
      readBackward: (range) => listEvidence(db, { ...query, isBackward: true, ...range }),
      positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
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
        readBackward: async (range) =>
          hasNone ? noRows : listSeeds(db, { ...query, isBackward: true, ...range }),
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
        title: requireTitle(input.title),
        summary: requireText(input.summary, 'summary'),
        problem: parseOptional(input.problem ?? '', 'problem'),
        audience: parseOptional(input.audience ?? '', 'audience'),
        hypothesis: parseOptional(input.hypothesis ?? '', 'hypothesis'),
        successCriteria: requireCriteria(input.successCriteria ?? []),
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
        readEvidence(seedId, page),
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

    async listEvidence(principal, seedId, request) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.listEvidence')
      return readEvidence(seedId, request)
    },

    async addEvidence(principal, seedId, input) {
      if (input.sourceUrl !== undefined && !isSourceUrl(input.sourceUrl)) {
        throw errors.sourceUrlInvalid({ field: 'sourceUrl' })
      }
      const { user, agentName = null } = principal
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.addEvidence')
      const lock: Lock<{ title: string; isParticipant: boolean }> = async (tx) => {
        const [seed, isParticipant] = await together([
          lockSeed(tx, seedId, 'no key update'),
          lockParticipant(tx, seedId, user.id),
        ])
        return seed && { title: seed.title, isParticipant }
      }
      return changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, seed) => {
        const row = {
          id: createId(),
          seedId,
          kind: input.kind,
          verdict: input.verdict,
          summary: requireLines(input.summary, evidenceSummaryLengthMax, 'summary'),
          sourceUrl: input.sourceUrl ?? null,
          authorUserId: user.id,
          authorName: user.name,
          agentName,
          createdAt: now,
        }
        if (!seed.isParticipant) throw errors.notAParticipant()
        write((tx) => insertEvidence(tx, row))
        write((tx) => touchSeed(tx, seedId, now))
        appendEvent({
          type: 'evidence.added',
          target: { type: 'evidence', id: row.id },
          summary: `${user.name} added ${describeEvidence(row)} the seed ${seed.title}`,
        })
        return { ...row, createdAt: now.toISOString() }
      })
    },
  }
}

function toSeed(row: SeedRow): Seed {
  return { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() }
}

function requireTitle(text: string): string {
  return requireLine(text, seedTitleLengthMax, 'title')
}

function requireText(text: string, field: string): string {
  return requireLines(text, seedTextLengthMax, field)
}

function parseOptional(text: string, field: string): string | null {
  return text === '' ? null : requireText(text, field)
}

function requireCriteria(criteria: readonly string[]): string[] {
  const field = 'successCriteria'
  if (criteria.length > successCriteriaMax) throw errors.textInvalid({ field })
  return criteria.map((criterion) => requireLine(criterion, successCriterionLengthMax, field))
}

/** Normalizes the given texts. Throws `text_invalid`. */
function parseTexts(input: Partial<SeedInput>): Partial<SeedFields> {
  const { title, summary, problem, audience, hypothesis, successCriteria } = input
  return {
    ...(title !== undefined && { title: requireTitle(title) }),
    ...(summary !== undefined && { summary: requireText(summary, 'summary') }),
    ...(problem !== undefined && { problem: parseOptional(problem, 'problem') }),
    ...(audience !== undefined && { audience: parseOptional(audience, 'audience') }),
    ...(hypothesis !== undefined && { hypothesis: parseOptional(hypothesis, 'hypothesis') }),
    ...(successCriteria !== undefined && { successCriteria: requireCriteria(successCriteria) }),
  }
}

const fieldNames: Record<keyof SeedFields, string> = {
  title: 'the title',
  summary: 'the summary',
  problem: 'the problem',
  audience: 'the audience',
  hypothesis: 'the hypothesis',
  successCriteria: 'the success criteria',
  status: 'the status',
}

function describeChanges(seed: SeedFields, { status, ...texts }: Partial<SeedFields>): string {
  const names = [...Object.keys(texts), ...(status === undefined ? [] : ['status'])]
  const parts = names.map((name) => fieldNames[name as keyof SeedFields])
  const list =
    parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${String(parts.at(-1))}`
  const change = status === undefined ? '' : ` from ${seed.status} to ${status}`
  return `changed ${list} of the seed ${seed.title}${change}`
}

function describeEvidence({ kind, verdict }: Pick<EvidenceInput, 'kind' | 'verdict'>): string {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  return `${article} ${kind} that ${verdict === 'neutral' ? 'is neutral about' : verdict}`
}
