import { and, asc, desc, eq, inArray, isNotNull, isNull, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comments, commentMentions } from '../../db/schema/comments.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter, isBefore } from '../../db/sql/keyset.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import type { Comment } from './comments.schemas.ts'

/** Whom a comment mentions, as a JSON array, with the names that they have now. */
export const mentionsOfComment = sql`coalesce((
  select json_agg(json_build_object('userId', ${users.id}, 'name', ${users.name}) order by ${users.id})
  from ${commentMentions} join ${users} on ${users.id} = ${commentMentions.userId}
  where ${commentMentions.commentId} = ${comments.id}
), '[]')`

const columns = {
  id: comments.id,
  seedId: comments.seedId,
  evidenceId: comments.evidenceId,
  body: comments.body,
  mentions: mentionsOfComment,
  authorUserId: comments.authorUserId,
  authorName: comments.authorName,
  agentName: comments.agentName,
  createdAt: comments.createdAt,
  editedAt: comments.editedAt,
}

const selectOfSeed = prepared((executor) => prepareList(executor, { name: 'comments_select_of_seed' }))
const selectNewest = prepared((executor) =>
  prepareList(executor, { name: 'comments_select_newest_of_seed', order: 'newestFirst' }),
)
const selectOfEvidence = prepared((executor) =>
  prepareList(executor, {
    name: 'comments_select_of_evidence',
    filter: eq(comments.evidenceId, sql.placeholder('evidenceId')),
  }),
)

/** Without a name, the statement is for one use. */
function prepareList(
  executor: Executor,
  options: { name?: string; filter?: SQL; order?: 'oldestFirst' | 'newestFirst' },
) {
  const { name = '', filter, order = 'oldestFirst' } = options
  const [direct, follows] = order === 'oldestFirst' ? [asc, isAfter] : [desc, isBefore]
  const rows = executor
    .select(itemColumns<Comment>(columns))
    .from(comments)
    .where(
      and(eq(comments.seedId, sql.placeholder('seedId')), filter, follows(comments.createdAt, comments.id)),
    )
    .orderBy(direct(comments.createdAt), direct(comments.id))
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare(name)
}

/** Comments on a seed, or on one piece of its evidence, oldest first. Their bodies are as they are stored. */
export function listComments(
  executor: Executor,
  { evidenceId, ...values }: { seedId: string; evidenceId?: string } & PageRange,
): Promise<JsonRows> {
  return readOne(
    evidenceId === undefined
      ? selectOfSeed(executor).execute(values)
      : selectOfEvidence(executor).execute({ ...values, evidenceId }),
  )
}

/** Comments on a seed, newest first, or those that people wrote themselves or agents for them. */
export function listNewestComments(
  executor: Executor,
  { by, ...values }: { seedId: string; by?: EvidenceAuthors } & PageRange,
): Promise<JsonRows> {
  if (by === undefined) return readOne(selectNewest(executor).execute(values))
  const filter = by === 'agents' ? isNotNull(comments.agentName) : isNull(comments.agentName)
  return readOne(prepareList(executor, { filter, order: 'newestFirst' }).execute(values))
}

/** A comment as it is stored. */
export async function findComment(executor: Executor, commentId: string): Promise<Comment | undefined> {
  const rows = executor.select(itemColumns<Comment>(columns)).from(comments).where(eq(comments.id, commentId))
  const { text } = await readOne(selectJsonRows(executor, rows))
  return text === '' ? undefined : (JSON.parse(text) as Comment)
}

const selectMembersAmong = prepared((executor) =>
  executor
    .select({ userId: users.id, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
        sql`${memberships.userId} = any(${keysParameter('userIds', 'uuid')})`,
      ),
    )
    .orderBy(asc(users.id))
    // The person first, whom their mention refers to: deleting a person locks them in this order.
    .for('key share', { of: [users, memberships] })
    .prepare('memberships_lock_among'),
)

/** Which of some people are members of a workspace, which they stay until the transaction ends. Sorted by id. */
export async function lockMembersAmong(
  executor: Executor,
  workspaceId: string,
  userIds: readonly string[],
): Promise<{ userId: string; name: string }[]> {
  if (userIds.length === 0) return []
  return selectMembersAmong(executor).execute({ workspaceId, userIds: [...userIds] })
}

const selectEvidence = prepared((executor) =>
  executor
    .select({ id: evidence.id })
    .from(evidence)
    .where(
      and(eq(evidence.id, sql.placeholder('evidenceId')), eq(evidence.seedId, sql.placeholder('seedId'))),
    )
    .prepare('evidence_select_id_of_seed'),
)

/** Whether a piece of evidence is of the seed. */
export async function isEvidenceOf(executor: Executor, seedId: string, evidenceId: string): Promise<boolean> {
  const rows = await selectEvidence(executor).execute({ seedId, evidenceId })
  return rows.length > 0
}

const insertIntoComments = prepared((executor) =>
  executor.insert(comments).values(placeholdersOf(comments, 'editedAt')).prepare('comments_insert'),
)

export async function insertComment(
  executor: Executor,
  row: Omit<typeof comments.$inferSelect, 'editedAt'>,
): Promise<void> {
  await insertIntoComments(executor).execute(row)
}

const insertIntoMentions = prepared((executor) =>
  executor
    .insert(commentMentions)
    .select((query) =>
      query
        .select({
          commentId: sql<string>`${sql.placeholder('commentId')}::uuid`.as('comment_id'),
          userId: users.id,
        })
        .from(users)
        .where(sql`${users.id} = any(${keysParameter('userIds', 'uuid')})`),
    )
    .onConflictDoNothing()
    .prepare('comment_mentions_insert'),
)

/** Records whom a comment mentions. One prepared statement. */
export async function insertMentions(
  executor: Executor,
  commentId: string,
  userIds: readonly string[],
): Promise<void> {
  await insertIntoMentions(executor).execute({ commentId, userIds: [...userIds] })
}

/** Removes the mentions of a comment but those of some people. Returns whom it mentioned. */
export async function keepMentions(
  executor: Executor,
  commentId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const before = await executor
    .select({ userId: commentMentions.userId })
    .from(commentMentions)
    .where(eq(commentMentions.commentId, commentId))
  const gone = before.map(({ userId }) => userId).filter((userId) => !userIds.includes(userId))
  if (gone.length > 0) {
    await executor
      .delete(commentMentions)
      .where(and(eq(commentMentions.commentId, commentId), inArray(commentMentions.userId, gone)))
  }
  return before.map(({ userId }) => userId)
}

/** A comment that is locked, with the title of its seed. */
export interface LockedComment {
  seedId: string
  title: string
  evidenceId: string | null
  body: string
  authorUserId: string | null
  authorName: string
}

/** Reads a comment and locks it until the transaction ends. */
export async function lockComment(executor: Executor, commentId: string): Promise<LockedComment | undefined> {
  const [row] = await executor
    .select({
      seedId: comments.seedId,
      title: seeds.title,
      evidenceId: comments.evidenceId,
      body: comments.body,
      authorUserId: comments.authorUserId,
      authorName: comments.authorName,
    })
    .from(comments)
    .innerJoin(seeds, eq(seeds.id, comments.seedId))
    .where(eq(comments.id, commentId))
    .for('update', { of: comments })
  return row
}

export async function updateComment(
  executor: Executor,
  commentId: string,
  values: { body: string; editedAt: Date },
): Promise<void> {
  await executor.update(comments).set(values).where(eq(comments.id, commentId))
}

/** Deletes a comment with its mentions and the notifications of it. */
export async function deleteComment(executor: Executor, commentId: string): Promise<void> {
  await executor.delete(comments).where(eq(comments.id, commentId))
}

/** Changes the author's name on all their comments. Returns the names that it replaced. */
export async function renameCommenter(executor: Executor, userId: string, name: string): Promise<string[]> {
  const isAuthor = eq(comments.authorUserId, userId)
  const names = await executor.selectDistinct({ name: comments.authorName }).from(comments).where(isAuthor)
  await executor.update(comments).set({ authorName: name }).where(isAuthor)
  return names.map((row) => row.name)
}
