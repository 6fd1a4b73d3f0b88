import { and, asc, desc, eq, isNull, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comments } from '../../db/schema/comments.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, evidenceSeen } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readItem, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter, isBefore } from '../../db/sql/keyset.ts'
import { isOfSeed, isPiece, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import { evidenceColumns, isBy, selectEvidencePage } from '../evidence/evidence.repository.ts'
import type { Evidence } from '../evidence/evidence.schemas.ts'
import { commentColumns } from './comments.repository.ts'
import type { Comment } from './comments.schemas.ts'

/** What somebody wrote, with the URL of their picture, which members alone have. */
export type WithPicture<Item> = Item & { authorPicture: string | null }

/** The discussion of a piece of evidence. */
export interface Discussion {
  /** The first comments, oldest first. */
  comments: WithPicture<Comment>[]
  /** The number of all comments. */
  total: number
}

/** A piece of evidence with the first other people who saw it too, in the order in which they said so. */
export type ShownEvidence = WithPicture<Evidence> & { seenBy: { userId: string; name: string }[] }

/** A piece of evidence with its discussion. */
export type DiscussedEvidence = ShownEvidence & { discussion: Discussion }

/** How many comments stand under a piece of evidence. */
const firstCommentsMax = 3

/** How many others who saw it too are named with a piece of evidence among others, and on its own page. */
const [seenNamedMax, seenListedMax] = [3, 200]

/** The values that all statements of threads have. */
export interface ThreadValues extends SeedKey {
  /** The reader. */
  userId: string
  pictureUrlPrefix: string
  seedUrlPrefix: string
}

function pictureOf(authorUserId: Column): SQL<string | null> {
  return subquery(sql`(
    select ${pictureUrl(users.imageKey)} from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
    where ${memberships.userId} = ${authorUserId} and ${memberships.workspaceId} = ${sql.placeholder('workspaceId')}::uuid
  )`)
}

const threadCommentColumns = { ...commentColumns, authorPicture: pictureOf(comments.authorUserId) }

const selectAboutSeed = prepared((executor) =>
  prepareNewest(executor, { name: 'comments_select_about_seed', filter: isNull(comments.evidenceId) }),
)
const selectNewest = prepared((executor) =>
  prepareNewest(executor, { name: 'comments_select_newest_of_seed' }),
)

/** Without a name, the statement is for one use. */
function prepareNewest(executor: Executor, { name = '', filter }: { name?: string; filter?: SQL }) {
  const rows = executor
    .select(itemColumns<WithPicture<Comment>>(threadCommentColumns))
    .from(comments)
    .where(and(isOfSeed(comments), filter, isBefore(comments.createdAt, comments.id)))
    .orderBy(desc(comments.createdAt), desc(comments.id))
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare(name)
}

/** Which items a thread contains. */
export interface ThreadFilter {
  /** Only what people wrote themselves, or agents for them. */
  by?: EvidenceAuthors
}

/** Comments of a seed, newest first. Their bodies are as they are stored. */
export function listThreadComments(
  executor: Executor,
  { isAboutSeed, by, ...values }: ThreadValues & ThreadFilter & { isAboutSeed: boolean } & PageRange,
): Promise<JsonRows> {
  if (by !== undefined) {
    return readOne(prepareNewest(executor, { filter: isBy(by, comments.agentName) }).execute(values))
  }
  return readOne((isAboutSeed ? selectAboutSeed : selectNewest)(executor).execute(values))
}

/** The first people but the reader who saw a piece of evidence too. */
function seenBy(max: number): SQL {
  const ofOthers = sql`${evidenceSeen.evidenceId} = ${evidence.id} and ${evidenceSeen.userId} <> ${sql.placeholder('userId')}::uuid`
  return sql`(
    select coalesce(json_agg(json_build_object('userId', seer.user_id, 'name', ${users.name}) order by seer.seen_at, seer.user_id), '[]')
    from (
      select ${evidenceSeen.userId}, ${evidenceSeen.seenAt} from ${evidenceSeen} where ${ofOthers}
      order by ${evidenceSeen.seenAt}, ${evidenceSeen.userId} limit ${sql.raw(String(max))}
    ) as seer join ${users} on ${users.id} = seer.user_id
  )`
}

const pieceColumns = {
  ...evidenceColumns,
  authorPicture: pictureOf(evidence.authorUserId),
  seenBy: seenBy(seenNamedMax),
}

const selectPieces = prepared((executor) => {
  const first = executor
    .select(itemColumns<WithPicture<Comment>>(threadCommentColumns))
    .from(comments)
    .where(eq(comments.evidenceId, evidence.id))
    .orderBy(asc(comments.createdAt), asc(comments.id))
    .limit(sql.raw(String(firstCommentsMax)) as unknown as number)
    .as('first')
  const discussion = sql`json_build_object(
    'total', (select count(*)::int from ${comments} where ${comments.evidenceId} = ${evidence.id}),
    'comments', (select coalesce(json_agg(row_to_json("first") order by "first"."createdAt", "first"."id"), '[]') from ${first})
  )`
  const columns = { ...pieceColumns, discussion }
  return selectEvidencePage<DiscussedEvidence>(executor, columns, undefined).prepare(
    'evidence_select_of_thread',
  )
})

/**
 * Evidence of a seed, newest first, also what was withdrawn; no more than `pageBytesMax`. Without `by`, with the first
 * comments on each piece, whose bodies are as they are stored.
 */
export function listPieces(
  executor: Executor,
  { by, ...values }: ThreadValues & ThreadFilter & PageRange,
): Promise<JsonRows> {
  if (by === undefined) return readOne(selectPieces(executor).execute(values))
  const filter = isBy(by, evidence.agentName)
  return readOne(
    selectEvidencePage<ShownEvidence>(executor, pieceColumns, filter).prepare('').execute(values),
  )
}

const selectDiscussion = prepared((executor) => {
  const isOfPiece = eq(comments.evidenceId, sql.placeholder('evidenceId'))
  const rows = executor
    .select(itemColumns<WithPicture<Comment>>(threadCommentColumns))
    .from(comments)
    .where(and(isOfSeed(comments), isOfPiece, isAfter(comments.createdAt, comments.id)))
    .orderBy(asc(comments.createdAt), asc(comments.id))
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare('comments_select_of_discussion')
})

/** The comments on a piece of evidence of a seed, oldest first. Their bodies are as they are stored. */
export function listDiscussion(
  executor: Executor,
  values: ThreadValues & { evidenceId: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectDiscussion(executor).execute({ ...values }))
}

const selectPiece = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<ShownEvidence>({ ...pieceColumns, seenBy: seenBy(seenListedMax) }))
      .from(evidence)
      .where(and(isPiece, eq(evidence.seedId, sql.placeholder('seedId')))),
  ).prepare('evidence_select_piece'),
)

/** A piece of evidence of a seed, also when it is withdrawn. */
export async function findPiece(
  executor: Executor,
  values: ThreadValues & { evidenceId: string },
): Promise<ShownEvidence | undefined> {
  return (await readItem(selectPiece(executor).execute({ ...values }))) as ShownEvidence | undefined
}
