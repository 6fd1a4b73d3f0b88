import {
  and,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  or,
  sql,
  type Column,
  type SQL,
} from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { dateText, jsonArray, jsonItem, jsonRows, readOne, timestampText } from '../../db/sql/json-rows.ts'
import { isBefore, keysetOf, orderByOf } from '../../db/sql/keyset.ts'
import { seedUrl } from '../../db/sql/page-urls.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/sql/text-bytes.ts'
import { labels } from '../../db/schema/labels.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import type { JsonRows } from '../../kernel/pagination.ts'
import type { DueCondition, SeedTime, SeedStatus } from '../../domain/seeds.ts'
import { isCounted } from '../../areas/seeds/evidence-counts.repository.ts'
import { hasJoined } from '../../areas/seeds/participants.repository.ts'
import { hasWords, isDue } from '../../areas/seeds/seed-lists.repository.ts'
import { evidenceCountsOf, isKept, isSeedLead, seedLeads } from '../../areas/seeds/seeds.repository.ts'
import type { KitEvidence, KitOutlineItem, KitSeed, KitSummary } from './kit.schemas.ts'

/** What is read of a kit. */
export interface KitRows {
  /** The seeds in full: the first ones that were found. */
  seeds: JsonRows
  /** The number of pieces of evidence in `seeds`. */
  evidenceCount: number
  /** Whether one of `seeds` has more evidence after what is shown. */
  isCut: boolean
  /** The outline of the seeds that were found, or their summaries (`KitSummary`). */
  outline: Pick<JsonRows, 'text'>
  /** The positions of the seeds that were found in their order, as `TIME ID`, separated by commas. */
  positions: string
  /** The number of seeds that were found. */
  found: number
  /** The numbers of seeds that match, and of all their evidence. */
  totals: { seeds: number; evidence: number }
}

interface KitStatement {
  /** Without one, the statement is for one use. */
  name?: string
  condition?: SQL | undefined
  sort?: SeedTime | undefined
  isOldestFirst?: boolean | undefined
  /** Whether the outline has summaries. */
  hasSummaries?: boolean | undefined
}

function prepareKit(
  executor: Executor,
  { name = '', condition, sort = 'updatedAt', isOldestFirst = false, hasSummaries = false }: KitStatement,
) {
  const status = hiddenParameter('status', 'text')
  const isMatch = and(
    eq(seeds.workspaceId, hiddenParameter('workspaceId', 'uuid')),
    isKept,
    gte(seeds.updatedAt, hiddenParameter('updatedSince', 'timestamptz')),
    or(sql`${status} is null`, eq(seeds.status, status)),
    condition,
  )
  const order = isOldestFirst ? 'oldestFirst' : 'newestFirst'
  const { isOnPage, orderBy } = keysetOf(order, seeds[sort], seeds.id)
  const recent = executor
    .select({
      id: seeds.id,
      at: sql`${seeds[sort]}`.as('sorted_at'),
      size: seedBytes.as('seed_size'),
    })
    .from(seeds)
    .where(and(isMatch, isOnPage))
    .orderBy(...orderBy)
    .limit(hiddenParameter('seedsLimit', 'int') as unknown as number)
    .as('recent')
  const recentOrder = sql.join(orderByOf(order, recent.at, recent.id), sql`, `)
  const found = executor.$with('found').as(
    executor
      .select({
        id: recent.id,
        position: positionText(recent.at, recent.id).as('seed_position'),
        rank: sql<number>`row_number() over (order by ${recentOrder})`.as('seed_rank'),
        bytesBefore: bytesBefore(recent.size, recentOrder).as('seeds_before'),
      })
      .from(recent),
  )
  const latest = executor.$with('latest').as(
    executor
      .select({ ...getTableColumns(seeds), rank: found.rank })
      .from(found)
      .innerJoin(seeds, eq(seeds.id, found.id))
      .where(
        and(
          lte(found.rank, sql.placeholder('inFullMax')),
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
      criterionIds: newest.criterionIds,
      authorUserId: newest.authorUserId,
      authorName: newest.authorName,
      agentName: newest.agentName,
      createdAt: newest.createdAt,
      editedAt: newest.editedAt,
      round: newest.round,
      bytesBefore: bytesBefore(newest.size, sql`${newest.round}, ${latest.rank}`).as('evidence_before'),
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
    .orderBy(latest.rank)
    .as('rows')
  const inFull = executor.select(jsonRows(rows.item)).from(rows).as('in_full')
  const outlineRows = executor
    .select({
      item: hasSummaries ? jsonItem<KitSummary>(summaryOf) : jsonItem<KitOutlineItem>(outlineItemOf),
    })
    .from(found)
    .innerJoin(seeds, eq(seeds.id, found.id))
    .leftJoin(seedLeads, isSeedLead)
    .where(lte(found.rank, sql.placeholder('outlineMax')))
    .orderBy(found.rank)
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
      positions: sql<string>`(select coalesce(string_agg(${found.position}, ',' order by ${found.rank}), '') from ${found})`,
      found: sql<number>`(select count(*)::int from ${found})`,
      totals: { seeds: totals.seeds, evidence: totals.evidence },
    })
    .from(inFull)
    .crossJoin(evidenceShown)
    .crossJoin(outline)
    .crossJoin(totals)
    .prepare(name)
}

const selectKit = prepared((executor) => prepareKit(executor, { name: 'seeds_select_kit' }))

// Apart, since the planner would make a plan of each call of a statement that may search or not.
const selectKitOfWords = prepared((executor) =>
  prepareKit(executor, {
    name: 'seeds_select_kit_of_words',
    condition: hasWords(hiddenParameter('workspaceId', 'uuid'), hiddenParameter('asked', 'text')),
  }),
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
      position: positionText(seeds.updatedAt, seeds.id),
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

/** The position of a seed in a list by a time. */
function positionText(at: Column | SQL.Aliased, id: Column): SQL<string> {
  return sql<string>`${timestampText(at)} || ' ' || ${id}`
}

const { id, title, summary, hypothesis, status, createdAt, updatedAt, participantCount, commentCount } = seeds
const leadName = seedLeads.name
const activeOn = dateText(seeds.activityAt)

const outlineItemOf = {
  ...{ id, title, status, evidenceCounts: evidenceCountsOf(seeds), updatedAt },
  ...{ createdAt, leadName, participantCount, commentCount, activeOn },
}

const summaryOf = {
  ...{ id, title, status, leadName, createdOn: dateText(createdAt), activeOn },
  ...{ supports: seeds.supportsCount, contradicts: seeds.contradictsCount, neutral: seeds.neutralCount },
  ...{ participantCount, commentCount, summary, hypothesis },
}

/** The columns of a seed as an item. */
function seedItemOf(seed: Record<keyof typeof seeds.$inferSelect, Column>, shownEvidence: SQL.Aliased) {
  return {
    ...{ id: seed.id, title: seed.title, summary: seed.summary, problem: seed.problem },
    ...{ audience: seed.audience, hypothesis: seed.hypothesis, successCriteria: seed.successCriteria },
    criteria: seed.criteria,
    ...{ status: seed.status, question: seed.question, decideBy: seed.decideBy },
    agentName: seed.agentName,
    leadUserId: seed.leadUserId,
    participantCount: seed.participantCount,
    joined: hasJoined(seed.id),
    createdAt: timestampText(seed.createdAt),
    updatedAt: timestampText(seed.updatedAt),
    url: seedUrl(seed.id),
    evidenceCounts: evidenceCountsOf(seed),
    // The last property, which `splitSeed` relies on.
    evidence: sql`coalesce(${shownEvidence}, '[]')`,
  }
}

type PieceColumns = Record<keyof KitEvidence, Column> & Record<'round' | 'bytesBefore', SQL.Aliased<number>>

/** What is shown of the pieces of evidence of a seed. An aggregate. */
function shownOf(pieces: PieceColumns) {
  const { seedId, kind, verdict, sourceUrl, authorUserId, authorName, agentName } = pieces
  const isShown = and(
    lte(pieces.round, sql`${sql.placeholder('evidenceLimit')}::int`),
    lt(pieces.bytesBefore, sql.placeholder('evidenceBytesMax')),
  )
  const asJson = jsonArray<KitEvidence>(
    {
      id: pieces.id,
      seedId,
      kind,
      verdict,
      summary: pieces.summary,
      sourceUrl,
      criterionIds: pieces.criterionIds,
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
  /** One of them at least. */
  statuses?: readonly SeedStatus[] | undefined
  /** Only seeds with these words, or words that begin with them. */
  text?: string | undefined
  updatedSince?: Date | undefined
  leadUserId?: string | undefined
  /** Only seeds of the team with this name. */
  team?: string | undefined
  /** Only seeds with the label of this name. */
  label?: string | undefined
  /** Only seeds that are not decided, and are due. */
  due?: DueCondition | undefined
  /** Only seeds without evidence at or after this time. */
  noEvidenceSince?: Date | undefined
  /** By default `updatedAt`. */
  sort?: SeedTime | undefined
  /** By default the latest first. */
  isOldestFirst?: boolean | undefined
  /** Whether `outline` has summaries. */
  hasSummaries?: boolean | undefined
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
 * The seeds of a workspace, or one of them, the latest first, each with its newest evidence and the counts of all of
 * its evidence. One statement, so that all numbers are from one snapshot. Seeds in full end with the one that brings their
 * texts to `seedsBytesMax`; evidence, taken in rounds of one piece for each seed, with the piece that brings it to
 * `evidenceBytesMax`.
 */
export async function readKitRows(executor: Executor, query: KitQuery): Promise<KitRows> {
  const { seedId, statuses = [], text, updatedSince, leadUserId, noEvidenceSince, ...others } = query
  const { team, label, due, sort, isOldestFirst, hasSummaries, ...rest } = others
  const values = { ...rest, evidenceRead: rest.evidenceLimit + 1 }
  if (seedId !== undefined) {
    const [seed] = await selectKitOfSeed(executor).execute({ ...values, seedId })
    return toKitRows(seed)
  }
  const [status = null, ...further] = statuses
  const filter = { status, updatedSince: updatedSince?.toISOString() ?? '-infinity' }
  const isPlain = [leadUserId, team, label, due, noEvidenceSince, sort].every((value) => value === undefined)
  if (!isPlain || further.length > 0 || hasSummaries) {
    // There are too many combinations to prepare each once.
    const condition = and(
      statuses.length > 0 ? inArray(seeds.status, [...statuses]) : undefined,
      // As text: a malformed id leads nothing.
      leadUserId === undefined ? undefined : sql`${seeds.leadUserId}::text = ${leadUserId}`,
      team === undefined ? undefined : inArray(seeds.teamId, selectNamed(executor, teams, team)),
      label === undefined
        ? undefined
        : sql`${seeds.labelIds} && array(${selectNamed(executor, labels, label)})`,
      due && isDue(due),
      noEvidenceSince && or(isNull(seeds.lastEvidenceAt), lt(seeds.lastEvidenceAt, noEvidenceSince)),
      text === undefined ? undefined : hasWords(hiddenParameter('workspaceId', 'uuid'), sql`${text}::text`),
    )
    const statement = prepareKit(executor, { condition, sort, isOldestFirst, hasSummaries })
    return readOne(statement.execute({ ...values, ...filter, status: null }))
  }
  return readOne(
    text === undefined
      ? selectKit(executor).execute({ ...values, ...filter })
      : selectKitOfWords(executor).execute({ ...values, ...filter, asked: text }),
  )
}

/** The id of the team or label of the workspace that has this name, in any case. */
function selectNamed(executor: Executor, table: typeof teams | typeof labels, name: string) {
  return executor
    .select({ id: table.id })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, hiddenParameter('workspaceId', 'uuid')),
        sql`lower(${table.name}) = lower(${name})`,
      ),
    )
}

/** The rows of a kit of one seed, or of none. */
function toKitRows(
  seed:
    | { text: string; evidenceCount: number; isCut: boolean; position: string; evidenceTotal: number }
    | undefined,
): KitRows {
  const found = seed ? 1 : 0
  return {
    seeds: { text: seed?.text ?? '', count: found },
    evidenceCount: seed?.evidenceCount ?? 0,
    isCut: seed?.isCut ?? false,
    outline: { text: '' },
    positions: seed?.position ?? '',
    found,
    totals: { seeds: found, evidence: seed?.evidenceTotal ?? 0 },
  }
}
