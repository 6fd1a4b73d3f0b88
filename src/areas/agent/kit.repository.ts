import { and, desc, eq, getTableColumns, gte, lt, lte, or, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { jsonArray, jsonItem, jsonRows, readOne, timestampText } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/sql/text-bytes.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import type { JsonRows } from '../../kernel/pagination.ts'
import type { SeedStatus } from '../../domain/seeds.ts'
import { isCounted } from '../seeds/evidence-counts.repository.ts'
import { participationIn } from '../seeds/participants.repository.ts'
import { hasWords } from '../seeds/seed-lists.repository.ts'
import { evidenceCountsOf, isKept } from '../seeds/seeds.repository.ts'
import type { KitEvidence, KitOutlineItem, KitSeed } from './agent.schemas.ts'

/** What is read of a kit. */
export interface KitRows {
  /** The seeds in full: the first ones that were found. */
  seeds: JsonRows
  /** The number of pieces of evidence in `seeds`. */
  evidenceCount: number
  /** Whether one of `seeds` has more evidence after what is shown. */
  isCut: boolean
  /** The outline of the seeds that were found. */
  outline: Pick<JsonRows, 'text'>
  /** The number of seeds that were found. */
  found: number
  /** The numbers of seeds that match, and of all their evidence. */
  totals: { seeds: number; evidence: number }
}

function prepareKit(executor: Executor, name: string, condition?: SQL) {
  const status = hiddenParameter('status', 'text')
  const isMatch = and(
    eq(seeds.workspaceId, hiddenParameter('workspaceId', 'uuid')),
    isKept,
    gte(seeds.updatedAt, hiddenParameter('updatedSince', 'timestamptz')),
    or(sql`${status} is null`, eq(seeds.status, status)),
    condition,
  )
  const recent = executor
    .select({
      id: seeds.id,
      updatedAt: seeds.updatedAt,
      size: seedBytes.as('seed_size'),
    })
    .from(seeds)
    .where(and(isMatch, isBefore(seeds.updatedAt, seeds.id)))
    .orderBy(desc(seeds.updatedAt), desc(seeds.id))
    .limit(hiddenParameter('seedsLimit', 'int') as unknown as number)
    .as('recent')
  const order = sql`${recent.updatedAt} desc, ${recent.id} desc`
  const found = executor.$with('found').as(
    executor
      .select({
        id: recent.id,
        place: sql<number>`row_number() over (order by ${order})`.as('seed_place'),
        bytesBefore: bytesBefore(recent.size, order).as('seeds_before'),
      })
      .from(recent),
  )
  const latest = executor.$with('latest').as(
    executor
      .select({ ...getTableColumns(seeds), place: found.place })
      .from(found)
      .innerJoin(seeds, eq(seeds.id, found.id))
      .where(
        and(
          lte(found.place, sql.placeholder('inFullMax')),
          lt(found.bytesBefore, sql.placeholder('seedsBytesMax')),
        ),
      ),
  )
  const newest = executor
    .select({
      ...getTableColumns(evidence),
      round: sql<number>`row_number() over (order by ${evidence.createdAt} desc, ${evidence.id} desc)`.as(
        'round',
      ),
      size: evidenceBytes.as('evidence_size'),
    })
    .from(evidence)
    .where(and(eq(evidence.seedId, latest.id), isCounted))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
    // One more than is shown, which tells whether there is more.
    .limit(hiddenParameter('evidenceRead', 'int') as unknown as number)
    .as('newest')
  const pieces = executor
    .select({
      id: newest.id,
      seedId: newest.seedId,
      kind: newest.kind,
      verdict: newest.verdict,
      summary: newest.summary,
      sourceUrl: newest.sourceUrl,
      authorUserId: newest.authorUserId,
      authorName: newest.authorName,
      agentName: newest.agentName,
      createdAt: newest.createdAt,
      editedAt: newest.editedAt,
      round: newest.round,
      bytesBefore: bytesBefore(newest.size, sql`${newest.round}, ${latest.place}`).as('evidence_before'),
    })
    .from(latest)
    .crossJoinLateral(newest)
    .as('pieces')
  // Used twice, so that PostgreSQL keeps its rows. It would aggregate them again for each seed if it expected few seeds.
  const shown = executor.$with('shown').as(
    executor
      .select({ seedId: pieces.seedId, ...shownOf(pieces) })
      .from(pieces)
      .groupBy(pieces.seedId),
  )
  const evidenceShown = executor
    .select({
      count: sql<number>`coalesce(sum(${shown.count}), 0)::int`.as('evidence_count'),
      isCut: sql<boolean>`coalesce(bool_or(${shown.isCut}), false)`.as('any_is_cut'),
    })
    .from(shown)
    .as('evidence_shown')
  const rows = executor
    .select({
      item: jsonItem<KitSeed>(seedItemOf(latest, shown.evidence)),
    })
    .from(latest)
    .leftJoin(shown, eq(shown.seedId, latest.id))
    .orderBy(latest.place)
    .as('rows')
  const inFull = executor.select(jsonRows(rows.item)).from(rows).as('in_full')
  const outlineRows = executor
    .select({
      item: jsonItem<KitOutlineItem>({
        id: seeds.id,
        title: seeds.title,
        status: seeds.status,
        evidenceCounts: evidenceCountsOf(seeds),
        updatedAt: seeds.updatedAt,
      }),
    })
    .from(found)
    .innerJoin(seeds, eq(seeds.id, found.id))
    .where(lte(found.place, sql.placeholder('outlineMax')))
    .orderBy(found.place)
    .as('outline_rows')
  const outline = executor
    .select({ text: sql<string>`${jsonRows(outlineRows.item).text.sql}`.as('outline_text') })
    .from(outlineRows)
    .as('outline')
  const totals = executor
    .select({
      seeds: sql<number>`count(*)::int`.as('all_seeds'),
      evidence: sql<number>`coalesce(sum(${evidenceTotal}), 0)::int`.as('all_evidence'),
    })
    .from(seeds)
    .where(isMatch)
    .as('totals')
  return executor
    .with(found, latest, shown)
    .select({
      seeds: { text: inFull.text, count: inFull.count },
      evidenceCount: evidenceShown.count,
      isCut: evidenceShown.isCut,
      outline: { text: outline.text },
      found: sql<number>`(select count(*)::int from ${found})`,
      totals: { seeds: totals.seeds, evidence: totals.evidence },
    })
    .from(inFull)
    .crossJoin(evidenceShown)
    .crossJoin(outline)
    .crossJoin(totals)
    .prepare(name)
}

const selectKit = prepared((executor) => prepareKit(executor, 'seeds_select_kit'))

// Apart, since the planner would make a plan of each call of a statement that may search or not.
const selectKitOfWords = prepared((executor) =>
  prepareKit(
    executor,
    'seeds_select_kit_of_words',
    hasWords(hiddenParameter('workspaceId', 'uuid'), hiddenParameter('asked', 'text')),
  ),
)

// The statement for many seeds would take twice as long for one: it sorts, outlines and totals what is a single row here.
const selectKitOfSeed = prepared((executor) => {
  const newestFirst = sql`${evidence.createdAt} desc, ${evidence.id} desc`
  const newest = executor
    .select({
      ...getTableColumns(evidence),
      round: sql<number>`row_number() over (order by ${newestFirst})`.as('round'),
      bytesBefore: bytesBefore(evidenceBytes, newestFirst).as('evidence_before'),
    })
    .from(evidence)
    .where(and(eq(evidence.seedId, seeds.id), isCounted, isBefore(evidence.createdAt, evidence.id)))
    .orderBy(newestFirst)
    .limit(sql.placeholder('evidenceRead'))
    .as('newest')
  const shown = executor.select(shownOf(newest)).from(newest).as('shown')
  return executor
    .select({
      text: sql<string>`${jsonItem<KitSeed>(seedItemOf(seeds, shown.evidence)).sql}::text`,
      evidenceCount: sql<number>`${shown.count}::int`,
      isCut: sql<boolean>`coalesce(${shown.isCut}, false)`,
      evidenceTotal,
    })
    .from(seeds)
    .crossJoinLateral(shown)
    .where(
      and(
        eq(seeds.workspaceId, sql.placeholder('workspaceId')),
        eq(seeds.id, sql.placeholder('seedId')),
        isKept,
      ),
    )
    .prepare('seeds_select_kit_of_seed')
})

/** The columns of a seed as an item. */
function seedItemOf(seed: Record<keyof typeof seeds.$inferSelect, Column>, shownEvidence: SQL.Aliased) {
  const { id, title, summary, problem, audience, hypothesis, successCriteria, status, updatedAt } = seed
  return {
    id,
    title,
    summary,
    problem,
    audience,
    hypothesis,
    successCriteria,
    status,
    agentName: seed.agentName,
    leadUserId: seed.leadUserId,
    ...participationIn(id),
    createdAt: timestampText(seed.createdAt),
    updatedAt: timestampText(updatedAt),
    url: sql`${sql.placeholder('seedUrlPrefix')}::text || ${id}`,
    evidenceCounts: evidenceCountsOf(seed),
    // The last property, which `splitSeed` relies on.
    evidence: sql`coalesce(${shownEvidence}, '[]')`,
  }
}

type PieceColumns = Record<keyof KitEvidence, Column> & Record<'round' | 'bytesBefore', SQL.Aliased<number>>

/** What is shown of the pieces of evidence of a seed. An aggregate. */
function shownOf(pieces: PieceColumns) {
  const { id, seedId, kind, verdict, summary, sourceUrl, authorUserId, authorName, agentName } = pieces
  const isShown = and(
    lte(pieces.round, sql`${sql.placeholder('evidenceLimit')}::int`),
    lt(pieces.bytesBefore, sql.placeholder('evidenceBytesMax')),
  )
  const asJson = jsonArray<KitEvidence>(
    {
      id,
      seedId,
      kind,
      verdict,
      summary,
      sourceUrl,
      authorUserId,
      authorName,
      agentName,
      createdAt: timestampText(pieces.createdAt),
      editedAt: timestampText(pieces.editedAt),
    },
    pieces.round,
  )
  return {
    count: sql<number>`count(*) filter (where ${isShown})`.as('shown_count'),
    isCut: sql<boolean>`not bool_and(${isShown})`.as('is_cut'),
    evidence: sql`${asJson} filter (where ${isShown})`.as('shown_evidence'),
  }
}

/** The number of all pieces of evidence of a seed. */
const evidenceTotal = sql<number>`${seeds.supportsCount} + ${seeds.contradictsCount} + ${seeds.neutralCount}`

/** Which seeds and which evidence are read. */
export interface KitQuery {
  workspaceId: string
  userId: string
  /** This seed alone; the filters have no effect then. */
  seedId?: string | undefined
  status?: SeedStatus | undefined
  /** Only seeds with these words, or words that begin with them. */
  text?: string | undefined
  updatedSince?: Date | undefined
  /** The position after which the seeds begin; with `seedId`, the evidence. */
  at: string
  id: string
  /** The most seeds that are found, that are read in full, and that are in the outline. */
  seedsLimit: number
  inFullMax: number
  outlineMax: number
  /** The most pieces of evidence of each seed. */
  evidenceLimit: number
  seedsBytesMax: number
  evidenceBytesMax: number
  /** What the URL of a seed starts with, before its id. */
  seedUrlPrefix: string
}

/**
 * The seeds of a workspace, or one of them, latest change first, each with its newest evidence and the counts of all of
 * its evidence. One statement, so that all numbers are from one snapshot. Seeds in full end with the one that brings their
 * texts to `seedsBytesMax`; evidence, taken in rounds of one piece for each seed, with the piece that brings it to
 * `evidenceBytesMax`.
 */
export async function readKitRows(executor: Executor, query: KitQuery): Promise<KitRows> {
  const { seedId, status = null, text, updatedSince, ...rest } = query
  const values = { ...rest, evidenceRead: rest.evidenceLimit + 1 }
  if (seedId !== undefined) {
    const [seed] = await selectKitOfSeed(executor).execute({ ...values, seedId })
    return toKitRows(seed)
  }
  const filter = { status, updatedSince: updatedSince?.toISOString() ?? '-infinity' }
  return readOne(
    text === undefined
      ? selectKit(executor).execute({ ...values, ...filter })
      : selectKitOfWords(executor).execute({ ...values, ...filter, asked: text }),
  )
}

/** The rows of a kit of one seed, or of none. */
function toKitRows(
  seed: { text: string; evidenceCount: number; isCut: boolean; evidenceTotal: number } | undefined,
): KitRows {
  const found = seed ? 1 : 0
  return {
    seeds: { text: seed?.text ?? '', count: found },
    evidenceCount: seed?.evidenceCount ?? 0,
    isCut: seed?.isCut ?? false,
    outline: { text: '' },
    found,
    totals: { seeds: found, evidence: seed?.evidenceTotal ?? 0 },
  }
}
