import { asc, desc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { attachments } from '../../db/schema/attachments.ts'
import { comments } from '../../db/schema/comments.ts'
import { seedParticipants } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { itemColumns, readOne } from '../../db/sql/json-rows.ts'
import { mentionsOfComment } from '../../db/sql/mentions-of-comment.ts'
import { isOfSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { kitAttachmentsMax, kitCommentsMax, kitParticipantsMax } from '../../domain/agent.ts'
import type { KitAttachment, KitComment, KitParticipant } from './kit.schemas.ts'

/** A comment with the names for its mentions, which are not in its stored body. */
export type StoredKitComment = KitComment & { mentions: { userId: string; name: string }[] }

export interface DiscussionRows {
  /** The newest first. */
  comments: StoredKitComment[]
  commentCount: number
  /** In the order in which they joined. */
  participants: KitParticipant[]
  /** The newest first. */
  attachments: KitAttachment[]
}

const selectDiscussion = prepared((executor) => {
  const newest = executor
    .select(
      itemColumns<StoredKitComment>({
        id: comments.id,
        evidenceId: comments.evidenceId,
        body: comments.body,
        mentions: mentionsOfComment,
        authorUserId: comments.authorUserId,
        authorName: comments.authorName,
        agentName: comments.agentName,
        createdAt: comments.createdAt,
      }),
    )
    .from(comments)
    .where(isOfSeed(comments))
    .orderBy(desc(comments.createdAt), desc(comments.id))
    .limit(kitCommentsMax)
    .as('newest')
  const first = executor
    .select(itemColumns<KitParticipant>({ userId: seedParticipants.userId, name: users.name }))
    .from(seedParticipants)
    .innerJoin(users, eq(users.id, seedParticipants.userId))
    .where(isOfSeed(seedParticipants))
    .orderBy(asc(seedParticipants.joinedAt), asc(seedParticipants.userId))
    .limit(kitParticipantsMax)
    .as('first')
  const files = executor
    .select(
      itemColumns<KitAttachment>({
        id: attachments.id,
        name: attachments.name,
        type: attachments.type,
        bytes: attachments.bytes,
        evidenceId: attachments.evidenceId,
        commentId: attachments.commentId,
      }),
    )
    .from(attachments)
    .where(isOfSeed(attachments))
    .orderBy(desc(attachments.createdAt), desc(attachments.id))
    .limit(kitAttachmentsMax)
    .as('files')
  return executor
    .select({
      comments: sql<StoredKitComment[]>`(select coalesce(json_agg(newest), '[]') from ${newest})`.as(
        'comments',
      ),
      commentCount: sql<number>`(select count(*)::int from ${comments} where ${isOfSeed(comments)})`.as(
        'comment_count',
      ),
      participants: sql<KitParticipant[]>`(select coalesce(json_agg(first), '[]') from ${first})`.as(
        'participants',
      ),
      attachments: sql<KitAttachment[]>`(select coalesce(json_agg(files), '[]') from ${files})`.as(
        'attachments',
      ),
    })
    .from(sql`(select) as nothing`)
    .prepare('kit_select_discussion')
})

/** The newest comments on a seed and its evidence, their number, its first participants and newest files. One statement. */
export function readDiscussionRows(executor: Executor, seed: SeedKey): Promise<DiscussionRows> {
  return readOne(selectDiscussion(executor).execute({ ...seed }))
}
