import { sql } from 'drizzle-orm'
import { commentMentions, comments } from '../schema/comments.ts'
import { users } from '../schema/users.ts'

/** Whom a comment mentions, as a JSON array, with the names that they have now. */
export const mentionsOfComment = sql<{ userId: string; name: string }[]>`coalesce((
  select json_agg(json_build_object('userId', ${users.id}, 'name', ${users.name}) order by ${users.id})
  from ${commentMentions} join ${users} on ${users.id} = ${commentMentions.userId}
  where ${commentMentions.commentId} = ${comments.id}
), '[]')`
