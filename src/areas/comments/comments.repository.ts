import { and, asc, eq, inArray, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comments, commentMentions } from '../../db/schema/comments.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readItem, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { keysetOf } from '../../db/sql/keyset.ts'
import { commentUrl } from '../../db/sql/page-urls.ts'
import { attachmentsOfComment } from '../../db/sql/attachments-of.ts'
import { mentionsOfComment, teamsNamedInComment } from '../../db/sql/mentions-of-comment.ts'
import { isOfSeed, isPiece, type SeedKey } from '../../db/sql/seed-keys.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { JsonRows, ListOrder, PageRange } from '../../kernel/pagination.ts'
import type { Comment } from './comments.schemas.ts'

/** The columns of a comment, with the statement's `seedUrlPrefix`. Its body is as it is stored. */
export const commentColumns = {
  id: comments.id,
  workspaceId: comments.workspaceId,
  url: commentUrl(comments),
  seedId: comments.seedId,
  evidenceId: comments.evidenceId,
  body: comments.body,
  mentions: mentionsOfComment,
  teamMentions: teamsNamedInComment,
  attachments: attachmentsOfComment(comments.id),
  authorUserId: comments.authorUserId,
  authorName: comments.authorName,
  agentName: comments.agentName,
  createdAt: comments.createdAt,
  editedAt: comments.editedAt,
}

const select = {
  oldestFirst: prepareLists('oldestFirst', ''),
  newestFirst: prepareLists('newestFirst', '_backward'),
}

function prepareLists(order: ListOrder, suffix: string) {
  const filter = eq(comments.evidenceId, sql.placeholder('evidenceId'))
  return {
    ofSeed: prepared((executor) =>
      prepareList(executor, { name: `comments_select_of_seed${suffix}`, order }),
    ),
    ofEvidence: prepared((executor) =>
      prepareList(executor, { name: `comments_select_of_evidence${suffix}`, order, filter }),
    ),
  }
}

function prepareList(
  executor: Executor,
  { name, order, filter }: { name: string; order: ListOrder; filter?: SQL },
) {
  const { isOnPage, orderBy } = keysetOf(order, comments.createdAt, comments.id)
  const rows = executor
    .select(itemColumns<Comment>(commentColumns))
    .from(comments)
    .where(and(isOfSeed(comments), filter, isOnPage))
    .orderBy(...orderBy)
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare(name)
}

/** Comments on a seed, or on one piece of its evidence. Their bodies are as they are stored. */
export function listComments(
  executor: Executor,
  {
    evidenceId,
    order,
    ...values
  }: SeedKey & { evidenceId?: string; order: ListOrder; seedUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  const { ofSeed, ofEvidence } = select[order]
  return readOne(
    evidenceId === undefined
      ? ofSeed(executor).execute(values)
      : ofEvidence(executor).execute({ ...values, evidenceId }),
  )
}

const selectComment = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<Comment>(commentColumns))
      .from(comments)
      .where(
        and(
          eq(comments.workspaceId, sql.placeholder('workspaceId')),
          eq(comments.id, sql.placeholder('commentId')),
        ),
      ),
  ).prepare('comments_select'),
)

/** A comment as it is stored. */
export async function findComment(
  executor: Executor,
  input: { workspaceId: string; commentId: string; seedUrlPrefix: string },
): Promise<Comment | undefined> {
  return (await readItem(selectComment(executor).execute(input))) as Comment | undefined
}

const isMentioned = subquery(sql`exists (
  select from ${commentMentions}
  where ${commentMentions.commentId} = ${hiddenParameter('editedCommentId', 'uuid')} and ${commentMentions.userId} = ${users.id}
)`)

const selectMembersAmong = prepared((executor) =>
  executor
    .select({ userId: users.id, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
        sql`${memberships.userId} = any(${keysParameter('userIds', 'uuid')})`,
        eq(users.kind, 'person'),
        or(isActive, isMentioned),
      ),
    )
    .orderBy(asc(users.id))
    // The person first, whom their mention refers to: deleting a person locks them in this order.
    .for('key share', { of: [users, memberships] })
    .prepare('memberships_lock_among'),
)

/**
 * Which of some members of a workspace a comment may mention: people who are not suspended, or whom it mentioned before it
 * was edited. They are members, which they stay until the transaction ends. Sorted by id.
 */
export async function lockMembersAmong(
  executor: Executor,
  workspaceId: string,
  userIds: readonly string[],
  editedCommentId: string | null = null,
): Promise<{ userId: string; name: string }[]> {
  if (userIds.length === 0) return []
  return selectMembersAmong(executor).execute({ workspaceId, userIds: [...userIds], editedCommentId })
}

const selectEvidence = prepared((executor) =>
  executor
    .select({ id: evidence.id })
    .from(evidence)
    .where(and(isPiece, eq(evidence.seedId, sql.placeholder('seedId'))))
    .prepare('evidence_select_id_of_seed'),
)

/** Whether a piece of evidence is of the seed. */
export async function isEvidenceOf(executor: Executor, seed: SeedKey, evidenceId: string): Promise<boolean> {
  const rows = await selectEvidence(executor).execute({ ...seed, evidenceId })
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
  /** The agent that wrote it, by its grant. */
  grantId: string | null
}

/** Reads a comment and locks it until the transaction ends. */
export async function lockComment(executor: Executor, commentId: string): Promise<LockedComment | undefined> {
  // Again for one that moved to another seed while this waited for it: the join is of the time before.
  return (await selectLocked(executor, commentId)) ?? selectLocked(executor, commentId)
}

async function selectLocked(executor: Executor, commentId: string): Promise<LockedComment | undefined> {
  const [row] = await executor
    .select({
      seedId: comments.seedId,
      title: seeds.title,
      evidenceId: comments.evidenceId,
      body: comments.body,
      authorUserId: comments.authorUserId,
      authorName: comments.authorName,
      grantId: comments.grantId,
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
