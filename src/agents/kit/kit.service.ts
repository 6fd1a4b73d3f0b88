import type { Database } from '../../db/client.ts'
import {
  kitEvidenceMax,
  kitOutlineMax,
  kitSeedsMax,
  kitSummaryColumns,
  mayReadDiscussions,
  type AgentPrincipal,
} from '../../domain/agent.ts'
import { findWorkspaceOfMerged } from '../../access/access.repository.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import { conditionOfDue, type SeedTime } from '../../domain/seeds.ts'
import { decodeCursor, encodeCursor, rowsOf, startOf, type ListOrder } from '../../kernel/pagination.ts'
import { normalizeLine } from '../../kernel/text.ts'
import { parseTime } from '../../kernel/times.ts'
import type { KitOutlineItem, KitSeed, KitSummary, ValidationKit, ValidationKitInput } from './kit.schemas.ts'
import { noDiscussion, readDiscussion, type KitDiscussion } from './kit-discussion.ts'
import { countFitting, joinItems, joinSeed, splitSeed } from './kit-text.ts'
import { readKitRows, type KitRows } from './kit.repository.ts'
import type { SeedLinks } from './seed-links.ts'

export type { ValidationKit }

/** The size and the parts of a kit. */
export interface KitForm {
  /** The most bytes of the kit as JSON. */
  bytesMax: number
  /** Whether the seeds that are not shown in full are shown in outline. Otherwise the next page has them. */
  hasOutline: boolean
  /** Whether seeds in outline are the table `summaries`, which takes a third of the tokens of `outline`. */
  hasTable: boolean
}

/** The form of the kit over HTTP. */
export const httpForm: KitForm = { bytesMax: 512 * 1024, hasOutline: false, hasTable: false }

// For what follows the workspace and the grant, but the seeds: fields whose length is known.
const restBytesMax = 1024

export interface KitService {
  /**
   * Reads the kit of the workspace of the grant; with `seedId`, only that seed. A kit that does not fit `form.bytesMax` is
   * cut: `nextCursor` continues it, or a call for one seed. One seed with one piece of evidence is never cut. Of a seed that
   * was merged it has the one that it is now. Throws `not_found` for a seed that is not in the workspace, and
   * `cursor_invalid` for a cursor of other input.
   */
  read(agent: AgentPrincipal, input?: ValidationKitInput, form?: KitForm): Promise<Json<ValidationKit>>
}

export interface KitServiceOptions {
  db: Database
  clock: Clock
  links: SeedLinks
}

/** What a kit shows of what there is. */
interface KitPart {
  /** A JSON array. */
  seeds: string
  seedCount: number
  evidenceCount: number
  /** Each item as JSON. */
  outline: readonly string[]
  nextCursor: string | null
  /** Whether a seed has more evidence than is shown. */
  isCut: boolean
}

export function createKitService({ db, clock, links }: KitServiceOptions): KitService {
  /** The seed of the workspace that another one is now. Throws `not_found` for one that was not merged. */
  async function findMergedInto({ user, workspace }: AgentPrincipal, seedId: string, now: Date) {
    const found = await findWorkspaceOfMerged(db, { seedId, userId: user.id }, { recordedSince: now })
    if (found?.id !== workspace.id) throw errors.notFound()
    return found.seedId
  }

  return {
    async read(agent, input = {}, form = httpForm) {
      const now = clock.now()
      const head = JSON.stringify(headOf(agent, now)).slice(0, -1)
      const bytesMax = form.bytesMax - Buffer.byteLength(head) - restBytesMax
      const isOneSeed = input.seedId !== undefined
      const plan = isOneSeed ? planSeed(agent, input) : planSeeds(agent, input, form, now)
      const query = {
        ...plan,
        workspaceId: agent.workspace.id,
        userId: agent.user.id,
        evidenceLimit: input.evidenceLimit ?? kitEvidenceMax,
        seedsBytesMax: Math.floor(bytesMax / 2),
        evidenceBytesMax: bytesMax,
        seedUrlPrefix: links.urlOf(agent, ''),
      }
      let { seedId } = input
      let rows = await readKitRows(db, query)
      if (seedId !== undefined && rows.found === 0) {
        seedId = await findMergedInto(agent, seedId, now)
        rows = await readKitRows(db, { ...query, seedId })
        if (rows.found === 0) throw errors.notFound()
      }
      const discussion =
        seedId !== undefined && input.cursor === undefined && mayReadDiscussions(agent)
          ? await readDiscussion(db, { workspaceId: agent.workspace.id, seedId }, bytesMax / 4)
          : noDiscussion
      const leftBytesMax = bytesMax - discussion.bytes
      const part = isOneSeed ? cutSeed(rows, leftBytesMax, plan.listId) : cutSeeds(rows, bytesMax, plan)
      return `${head},${toRest(part, rows.totals, discussion, { ...input, ...form })}}` as Json<ValidationKit>
    },
  }
}

function headOf({ grant, user, workspace, role }: AgentPrincipal, now: Date) {
  return {
    version: '1',
    generatedAt: now.toISOString(),
    workspace: { id: workspace.id, name: workspace.name, slug: workspace.slug },
    grant: {
      id: grant.id,
      clientName: grant.clientName,
      userId: user.id,
      userName: user.name,
      role,
      scopes: grant.scopes,
      expiresAt: grant.expiresAt.toISOString(),
    },
  } satisfies Partial<ValidationKit>
}

function toRest(
  part: KitPart,
  totals: KitRows['totals'],
  discussion: KitDiscussion,
  input: ValidationKitInput & KitForm,
): string {
  const { seeds, outline, nextCursor, isCut } = part
  const truncated = nextCursor !== null || isCut || (outline.length > 0 && !isBrief(input))
  const columns = isBrief(input) || outline.length > 0 ? columnsOf(input) : undefined
  const notes = [
    ...(totals.seeds === 0 ? [describeNothing(input)] : []),
    ...(truncated ? [describeRest(part, totals, input)] : []),
    ...(discussion.note === null ? [] : [discussion.note]),
  ]
  const rest = {
    totals: { ...totals, comments: discussion.commentCount },
    truncated,
    nextCursor,
    note: notes.length > 0 ? notes.join(' ') : null,
  } satisfies Partial<ValidationKit>
  const summaries = `{"columns":${JSON.stringify(columns)},"rows":${joinItems(outline)}}`
  return (
    `${JSON.stringify(rest).slice(1, -1)},"outline":${columns ? '[]' : joinItems(outline)},` +
    `"summaries":${columns ? summaries : 'null'},"comments":${discussion.comments},"participants":${discussion.participants},"attachments":${discussion.attachments},"seeds":${seeds}`
  )
}

/** Says why there are no seeds. */
function describeNothing({ query, ...filters }: ValidationKitInput): string {
  if (query !== undefined)
    return 'No seed matches. query finds seeds that have all of its words, or words that begin with them: try fewer words, or other ones.'
  const { status, updatedSince, leadUserId, team, label, due, noEvidenceSince } = filters
  if (
    [status, updatedSince, leadUserId, team, label, due, noEvidenceSince].some(
      (filter) => filter !== undefined,
    )
  )
    return 'No seed matches these filters.'
  return 'This workspace has no seeds yet.'
}

/** Says in numbers what is left out, and how to read it. */
function describeRest(
  part: KitPart,
  totals: KitRows['totals'],
  { seedId, detail }: ValidationKitInput,
): string {
  const isOneSeed = seedId !== undefined
  const { seedCount, evidenceCount, outline, nextCursor, isCut } = part
  const sentences = [
    `This answer has ${seedCount} of ${totals.seeds} seeds in full, ${outline.length} more in ${detail === 'summary' ? detail : 'outline'}, and ` +
      `${evidenceCount} of ${totals.evidence} pieces of evidence.`,
    !isOneSeed && (isCut || outline.length > 0) && 'To read a seed with its evidence, pass its id as seedId.',
    nextCursor !== null && 'To continue, pass nextCursor as cursor, with the same filters.',
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

/** Whether seeds are asked for without all of their texts. */
function isBrief({ detail = 'full' }: ValidationKitInput): boolean {
  return detail !== 'full'
}

/** The columns of the table of the seeds that are not in full; undefined if they are no table. */
function columnsOf({
  seedId,
  detail,
  sort,
  hasTable,
}: ValidationKitInput & Pick<KitForm, 'hasTable'>): readonly (keyof KitSummary)[] | undefined {
  if (seedId !== undefined) return undefined
  if (detail === 'summary') return kitSummaryColumns
  if (!hasTable) return undefined
  // What tells which seed to read.
  const sortedBy = sort?.endsWith('createdAt') === true ? 'createdOn' : 'activeOn'
  return ['id', 'title', 'status', 'leadName', sortedBy, 'supports', 'contradicts', 'neutral']
}

/** Which seeds are read, and the list that a cursor belongs to. */
interface Plan {
  listId: string
  at: string
  id: string
  /** The most seeds of the answer. */
  limit: number
  seedsLimit: number
  inFullMax: number
  outlineMax: number
  hasSummaries?: boolean
  columns?: readonly (keyof KitSummary)[] | undefined
}

function planSeed({ workspace }: AgentPrincipal, { seedId = '', cursor }: ValidationKitInput) {
  if (!isId(seedId)) throw errors.notFound()
  const listId = `agent.readValidationKit ${workspace.id} evidence ${seedId}`
  return {
    listId,
    seedId,
    ...positionOf(listId, cursor),
    limit: 1,
    seedsLimit: 1,
    inFullMax: 1,
    outlineMax: 0,
  }
}

function planSeeds(
  { workspace }: AgentPrincipal,
  input: ValidationKitInput,
  { hasOutline, hasTable }: KitForm,
  now: Date,
) {
  const { query = '', updatedSince, cursor, leadUserId, due, noEvidenceSince } = input
  const isOldestFirst = input.sort?.startsWith('-') === true
  const sort = input.sort?.replace('-', '') as SeedTime | undefined
  const [team, label] = [input.team, input.label].map((name) =>
    name === undefined ? undefined : normalizeLine(name),
  )
  const statuses = [...new Set([input.status ?? []].flat())].sort()
  const text = normalizeLine(query) || undefined
  const [status] = statuses
  // Cursors of older versions stay valid: what they do not know comes last.
  const further = Object.entries({ leadUserId, noEvidenceSince, sort: input.sort, due, team, label }).filter(
    ([, value]) => value !== undefined,
  )
  const filters = [statuses.length > 1 ? statuses : status, text, updatedSince, ...further]
  const listId = `agent.readValidationKit ${workspace.id} seeds ${JSON.stringify(filters)}`
  const limit = input.limit ?? (isBrief(input) || hasOutline ? kitOutlineMax : kitSeedsMax)
  return {
    ...{ listId, statuses, text, leadUserId, team, label, sort, limit },
    due: due === undefined ? undefined : conditionOfDue(due, now),
    ...positionOf(listId, cursor, isOldestFirst ? 'oldestFirst' : 'newestFirst'),
    updatedSince: updatedSince === undefined ? undefined : parseTime(updatedSince),
    noEvidenceSince: noEvidenceSince === undefined ? undefined : parseTime(noEvidenceSince),
    // One more than is shown, which tells whether there is more.
    seedsLimit: limit + 1,
    inFullMax: isBrief(input) ? 0 : Math.min(limit, kitSeedsMax),
    outlineMax: isBrief(input) || hasOutline ? limit : 0,
    hasSummaries: input.detail === 'summary',
    columns: columnsOf({ ...input, hasTable }),
    isOldestFirst,
  }
}

function positionOf(listId: string, cursor: string | undefined, order: ListOrder = 'newestFirst') {
  const [at = startOf[order].at, id = startOf[order].id] = decodeCursor(listId, cursor) ?? []
  return { at, id }
}

/** The part of a kit of one seed that fits into `bytesMax` bytes: the seed, and one piece of evidence or more. */
function cutSeed(rows: KitRows, bytesMax: number, listId: string): KitPart {
  const whole = joinItems([rows.seeds.text])
  if (!rows.isCut && Buffer.byteLength(whole) <= bytesMax) {
    return {
      seeds: whole,
      seedCount: 1,
      evidenceCount: rows.evidenceCount,
      outline: [],
      nextCursor: null,
      isCut: false,
    }
  }
  const { bare, pieces } = splitSeed(rows.seeds.text)
  const shown = pieces.slice(0, Math.max(1, countFitting(pieces, bytesMax - Buffer.byteLength(bare))))
  const isCut = rows.isCut || shown.length < pieces.length
  const nextAfter = (piece: string) => {
    const { createdAt, id } = parseJson(piece as Json<KitSeed['evidence'][number]>)
    return encodeCursor(listId, [createdAt, id])
  }
  const last = shown.at(-1)
  return {
    seeds: joinItems([joinSeed(bare, shown)]),
    seedCount: 1,
    evidenceCount: shown.length,
    outline: [],
    nextCursor: isCut && last !== undefined ? nextAfter(last) : null,
    isCut,
  }
}

/**
 * The part of a kit that fits into `bytesMax` bytes. An outline of all seeds takes half of it at most, if there are seeds in
 * full as well; those are then taken out of it.
 */
function cutSeeds(rows: KitRows, bytesMax: number, plan: Plan): KitPart {
  const limit = Math.min(rows.found, plan.limit)
  const positions = rows.positions.split(',')
  const nextAfter = (count: number) => encodeCursor(plan.listId, String(positions[count - 1]).split(' '))
  // Taken apart only if it has to be cut. PostgreSQL puts some spaces between tokens, which are left out then.
  const whole = joinItems([rows.seeds.text])
  if (rows.seeds.count === limit && Buffer.byteLength(whole) <= bytesMax) {
    return {
      seeds: whole,
      seedCount: limit,
      evidenceCount: rows.evidenceCount,
      outline: [],
      nextCursor: limit < rows.found ? nextAfter(limit) : null,
      isCut: rows.isCut,
    }
  }
  const found = rowsOf(rows.outline.text)
  const { columns } = plan
  const items = columns ? found.map((item) => toTableRow(item, columns)) : found
  const outline = items.slice(0, countFitting(items, plan.inFullMax > 0 ? bytesMax / 2 : bytesMax))
  const all = rowsOf(rows.seeds.text)
  const inFull = outline.length > 0 ? all.slice(0, outline.length) : all
  /** Seeds in full beside an outline of all but the first ones. */
  const cutBeside = (left: number) =>
    cutDetail(inFull, bytesMax - Buffer.byteLength(joinItems(outline.slice(left))))
  const largest = cutBeside(inFull.length)
  const cut = largest.seeds.length === inFull.length ? largest : cutBeside(0)
  const shown = outline.length > 0 ? outline : cut.seeds
  return {
    seeds: joinItems(cut.seeds),
    seedCount: cut.seeds.length,
    evidenceCount: cut.evidenceCount,
    outline: outline.slice(cut.seeds.length),
    nextCursor: shown.length > 0 && shown.length < rows.found ? nextAfter(shown.length) : null,
    isCut: rows.isCut || cut.isCut,
  }
}

/** A seed in outline, or its summary, as a row of a table. */
function toTableRow(item: string, columns: readonly (keyof KitSummary)[]): string {
  const { evidenceCounts, createdAt, ...rest } = parseJson(item as Json<Partial<KitSummary & KitOutlineItem>>)
  const row = { createdOn: createdAt?.slice(0, 'YYYY-MM-DD'.length), ...evidenceCounts, ...rest }
  return JSON.stringify(columns.map((column) => row[column]))
}

/**
 * Removes what exceeds the budget: first seeds, the oldest change first, then evidence in rounds, so that every seed keeps
 * its newest piece before any keeps a second one. Seeds without their evidence take half of the budget at most, unless the
 * first one alone is larger.
 */
function cutDetail(found: readonly string[], bytesMax: number) {
  const all = found.map(splitSeed)
  const bare = all.map((seed) => seed.bare)
  const fitsAlone = countFitting(bare.slice(0, 1), bytesMax) > 0
  const seedCount = Math.max(fitsAlone ? 1 : 0, countFitting(bare, bytesMax / 2))
  const seeds = all.slice(0, seedCount).map((seed) => ({ ...seed, shown: [] as string[] }))
  const rounds = Array.from({ length: kitEvidenceMax }, (_, round) =>
    seeds.flatMap(({ pieces, shown }) => {
      const piece = pieces[round]
      return piece === undefined ? [] : [{ piece, shown }]
    }),
  ).flat()
  const pieces = rounds.map(({ piece }) => piece)
  const fitting = countFitting(pieces, bytesMax - Buffer.byteLength(joinItems(bare.slice(0, seedCount))))
  for (const { piece, shown } of rounds.slice(0, fitting)) shown.push(piece)
  return {
    seeds: seeds.map((seed) => joinSeed(seed.bare, seed.shown)),
    evidenceCount: fitting,
    isCut: fitting < pieces.length,
  }
}
