import type { RequireWorkspace, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
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
  type EvidenceKind,
  type SeedStatus,
  type Verdict,
} from '../../kernel/seeds.ts'
import { requireLine, requireLines } from '../../kernel/text.ts'
import { appendEvent, appendServiceEvent, type NewEvent } from '../events/events.repository.ts'
import {
  deleteExampleSeeds,
  deleteParticipant,
  findSeed,
  insertEvidence,
  insertParticipantIfNew,
  insertSeed,
  listEvidence,
  listSeeds,
  lockParticipant,
  lockSeed,
  updateSeed,
  type EvidenceRow,
  type SeedFields,
  type SeedRow,
} from './seeds.repository.ts'

export interface Seed extends SeedFields {
  id: string
  createdByUserId: string | null
  participantCount: number
  joined: boolean
  createdAt: string
  updatedAt: string
}

/** What people write of a seed. An empty text stands for none. */
export interface SeedInput {
  title: string
  /** Of several lines, as all that follow. */
  summary: string
  problem?: string
  audience?: string
  hypothesis?: string
  successCriteria?: string[]
}

export interface Evidence {
  id: string
  seedId: string
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  sourceUrl: string | null
  authorUserId: string | null
  authorName: string
  createdAt: string
}

export interface EvidenceInput {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  /** An http or https URL. */
  sourceUrl?: string
}

/** All that takes a seed's id throws `not_found` for one that is in no workspace of the caller's. */
export interface SeedsService {
  /** Newest first. */
  list(
    principal: Principal,
    slug: string,
    request: PageRequest & { status?: SeedStatus },
  ): Promise<Page<Seed>>
  /** Makes an open seed, which nobody has joined yet. Throws `text_invalid`. */
  create(principal: Principal, slug: string, input: SeedInput): Promise<Seed>
  get(principal: Principal, seedId: string): Promise<Seed>
  /** Changes the fields that are given. Throws `text_invalid`. */
  update(
    principal: Principal,
    seedId: string,
    input: Partial<SeedInput> & { status?: SeedStatus },
  ): Promise<void>
  /** Idempotent. Throws `seed_closed`. */
  join(principal: Principal, seedId: string): Promise<void>
  /** Idempotent. */
  leave(principal: Principal, seedId: string): Promise<void>
  /** Deletes the examples of the first run, for operators. Returns their titles. */
  deleteExamples(): Promise<string[]>
  /** Newest first. */
  listEvidence(principal: Principal, seedId: string, page: PageRequest): Promise<Page<Evidence>>
  /** Throws `not_a_participant`, `text_invalid` and `source_url_invalid`. */
  addEvidence(principal: Principal, seedId: string, input: EvidenceInput): Promise<Evidence>
}

export interface SeedsServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
}

export function createSeedsService(options: SeedsServiceOptions): SeedsService {
  const { db, clock, requireWorkspace, requireWorkspaceOfSeed } = options

  /** Runs a change of a seed, with the seed locked, and tells of it what `run` returns. Returns when that was. */
  async function change(
    principal: Principal,
    target: { seedId: string; workspaceId: string; strength: 'share' | 'no key update' },
    run: (
      tx: Executor,
      seed: SeedFields,
      now: Date,
    ) => Promise<Pick<NewEvent, 'type' | 'target' | 'summary'> | undefined>,
  ): Promise<Date> {
    return db.transaction(async (tx) => {
      const seed = await lockSeed(tx, target.seedId, target.strength)
      if (!seed) throw errors.notFound()
      const now = clock.now()
      const told = await run(tx, seed, now)
      if (told) {
        await appendEvent(tx, principal, {
          workspaceId: target.workspaceId,
          target: { type: 'seed', id: target.seedId },
          at: now,
          ...told,
        })
      }
      return now
    })
  }

  return {
    async list(principal, slug, { limit = pageLimitDefault, cursor, status }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const listId = `seeds.list ${workspaceId} ${status ?? ''}`
      const rows = await listSeeds(db, {
        workspaceId,
        userId: principal.user.id,
        status,
        before: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: toSeed,
      })
    },

    async create(principal, slug, input) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.create')
      const { user } = principal
      const now = clock.now()
      const row = {
        id: createId(),
        title: requireTitle(input.title),
        summary: requireText(input.summary, 'summary'),
        problem: parseOptional(input.problem ?? '', 'problem'),
        audience: parseOptional(input.audience ?? '', 'audience'),
        hypothesis: parseOptional(input.hypothesis ?? '', 'hypothesis'),
        successCriteria: requireCriteria(input.successCriteria ?? []),
        status: 'open' as const,
        createdByUserId: user.id,
        createdAt: now,
        updatedAt: now,
      }
      await db.transaction(async (tx) => {
        await insertSeed(tx, { ...row, workspaceId })
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'seed.created',
          target: { type: 'seed', id: row.id },
          summary: `${user.name} created the seed ${row.title}`,
          at: now,
        })
      })
      return toSeed({ ...row, participantCount: 0, joined: false })
    },

    async get(principal, seedId) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.get')
      const seed = await findSeed(db, { seedId, userId: principal.user.id })
      if (!seed) throw errors.notFound()
      return toSeed(seed)
    },

    async update(principal, seedId, input) {
      const { status } = input
      const given = { ...parseTexts(input), ...(status !== undefined && { status }) }
      const { id: workspaceId } = await requireWorkspaceOfSeed(principal, seedId, 'seeds.update')
      await change(principal, { seedId, workspaceId, strength: 'no key update' }, async (tx, seed, now) => {
        const changes = findChanges(seed, given)
        if (Object.keys(changes).length === 0) return undefined
        await updateSeed(tx, seedId, { ...changes, updatedAt: now })
        return {
          type: 'seed.updated',
          summary: `${principal.user.name} changed ${describeChanges(seed, changes)} of the seed ${seed.title}`,
        }
      })
    },

    async join(principal, seedId) {
      const { id: workspaceId } = await requireWorkspaceOfSeed(principal, seedId, 'seeds.join')
      const { user } = principal
      // Locked, so that it does not close between the look at its status and the place in it.
      await change(principal, { seedId, workspaceId, strength: 'share' }, async (tx, seed, now) => {
        if (isClosed(seed.status)) {
          if (await lockParticipant(tx, seedId, user.id)) return undefined
          throw errors.seedClosed()
        }
        const isNew = await insertParticipantIfNew(tx, {
          seedId,
          userId: user.id,
          workspaceId,
          joinedAt: now,
        })
        if (!isNew) return undefined
        return { type: 'seed.joined', summary: `${user.name} joined the seed ${seed.title}` }
      })
    },

    async leave(principal, seedId) {
      const { id: workspaceId } = await requireWorkspaceOfSeed(principal, seedId, 'seeds.leave')
      const { user } = principal
      await change(principal, { seedId, workspaceId, strength: 'share' }, async (tx, seed) => {
        if (!(await deleteParticipant(tx, seedId, user.id))) return undefined
        return { type: 'seed.left', summary: `${user.name} left the seed ${seed.title}` }
      })
    },

    async deleteExamples() {
      return db.transaction(async (tx) => {
        const deleted = await deleteExampleSeeds(tx, exampleTitlePrefix)
        for (const { id, title, workspaceId } of deleted) {
          await appendServiceEvent(tx, {
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

    async listEvidence(principal, seedId, { limit = pageLimitDefault, cursor }) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.listEvidence')
      const listId = `seeds.listEvidence ${seedId}`
      const rows = await listEvidence(db, { seedId, before: decodeCursor(listId, cursor), limit: limit + 1 })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: toEvidence,
      })
    },

    async addEvidence(principal, seedId, input) {
      if (input.sourceUrl !== undefined && !isSourceUrl(input.sourceUrl)) {
        throw errors.sourceUrlInvalid({ field: 'sourceUrl' })
      }
      const { id: workspaceId } = await requireWorkspaceOfSeed(principal, seedId, 'seeds.addEvidence')
      const { user } = principal
      const fields = {
        id: createId(),
        seedId,
        kind: input.kind,
        verdict: input.verdict,
        summary: requireLines(input.summary, evidenceSummaryLengthMax, 'summary'),
        sourceUrl: input.sourceUrl ?? null,
        authorUserId: user.id,
        authorName: user.name,
      }
      const createdAt = await change(
        principal,
        { seedId, workspaceId, strength: 'no key update' },
        async (tx, seed, now) => {
          if (!(await lockParticipant(tx, seedId, user.id))) throw errors.notAParticipant()
          await insertEvidence(tx, { ...fields, createdAt: now })
          await updateSeed(tx, seedId, { updatedAt: now })
          return {
            type: 'evidence.added',
            target: { type: 'evidence', id: fields.id },
            summary: `${user.name} added ${describeEvidence(fields)} to the seed ${seed.title}`,
          }
        },
      )
      return toEvidence({ ...fields, createdAt })
    },
  }
}

function toSeed(row: SeedRow): Seed {
  return { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() }
}

function toEvidence(row: EvidenceRow): Evidence {
  return { ...row, createdAt: row.createdAt.toISOString() }
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

/** The texts that are given, as they are stored. Throws `text_invalid`. */
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

/** The fields that are not what they were. */
function findChanges(seed: SeedFields, given: Partial<SeedFields>): Partial<SeedFields> {
  const changed = Object.entries(given).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(seed[name as keyof SeedFields]),
  )
  return Object.fromEntries(changed)
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

function describeChanges(seed: SeedFields, changes: Partial<SeedFields>): string {
  const parts = (Object.keys(changes) as (keyof SeedFields)[]).map((name) =>
    name === 'status' ? `the status (from ${seed.status} to ${String(changes.status)})` : fieldNames[name],
  )
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${String(parts.at(-1))}`
}

function describeEvidence({ kind, verdict }: Pick<EvidenceInput, 'kind' | 'verdict'>): string {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  return `${article} ${kind} that ${verdict === 'neutral' ? 'is neutral' : `${verdict} it`}`
}
