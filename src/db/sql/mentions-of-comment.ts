import { sql, type Column, type SQL } from 'drizzle-orm'
import { commentMentions, comments } from '../schema/comments.ts'
import { teams } from '../schema/teams.ts'
import { users } from '../schema/users.ts'
import { subquery } from '../schema/subquery.ts'

/** Whom a comment mentions, as a JSON array, with the names that they have now. */
export const mentionsOfComment = subquery(sql<{ userId: string; name: string }[]>`coalesce((
  select json_agg(json_build_object('userId', ${users.id}, 'name', ${users.name}) order by ${users.id})
  from ${commentMentions} join ${users} on ${users.id} = ${commentMentions.userId}
  where ${commentMentions.commentId} = ${comments.id}
), '[]')`)

/**
 * The teams of the workspace that the text of a comment names, as a JSON array, with the names that they have now. Which of
 * them it mentions is read from the text (`teamNamesIn`). Most texts name none, and cost one look for the characters.
 */
export const teamsNamedInComment = subquery(sql<{ teamId: string; name: string }[]>`case
  when position('](team:' in ${comments.body}) = 0 then '[]'
  else coalesce((
    select json_agg(json_build_object('teamId', ${teams.id}, 'name', ${teams.name}) order by ${teams.id})
    from ${teams}
    where ${teams.workspaceId} = ${comments.workspaceId} and ${teams.id} in (
      select found[1]::uuid
      from regexp_matches(${comments.body}, '\\]\\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\)', 'g') as found
    )
  ), '[]')
end`)

/** Whether a comment, as it is stored, mentions a team: with a name that is not marked as none (domain/comments.ts). */
export function mentionsTeam(teamId: Column): SQL {
  return sql`${comments.body} ~ ('\\[@(?!\\u0001)([^][\\\\\\n]|\\\\[^\\n])*\\]\\(team:' || ${teamId} || '\\)')`
}
