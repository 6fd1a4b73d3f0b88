import { and, asc, eq, lt, or, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { contains, escapeLike, isLike } from '../../db/contains.ts'
import { isAfter } from '../../db/keyset.ts'
import { invites } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { bytesBefore } from '../../db/text-bytes.ts'
import { pageBytesMax, type PageRange } from '../../kernel/pagination.ts'
import type { Role } from '../../kernel/roles.ts'

export interface PersonRow {
  id: string
  name: string
  email: string
  imageKey: string | null
  role: Role
  teams: { id: string; name: string }[]
  /** The sort key, before `id`. */
  at: Date
}

interface PeopleQuery extends PageRange {
  workspaceId: string
  /** Only people whose name or email address contains this. */
  text: string | undefined
}

const teamsOfMember = sql<{ id: string; name: string }[]>`(
  select coalesce(json_agg(json_build_object('id', ${teams.id}, 'name', ${teams.name}) order by ${teams.createdAt}, ${teams.id}), '[]')
  from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.workspaceId} = ${memberships.workspaceId} and ${teamMembers.userId} = ${memberships.userId}
)`

/** Members of a workspace with their teams, in the order in which they joined; no more than `pageBytesMax`. */
export function listMemberPeople(executor: Executor, query: PeopleQuery): Promise<PersonRow[]> {
  const { workspaceId, text, limit } = query
  const page = executor
    .select({
      id: users.id,
      name: users.name,
      email: users.email,
      imageKey: users.imageKey,
      role: memberships.role,
      teams: teamsOfMember.as('teams_of_member'),
      at: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        text === undefined ? undefined : matches(users.searchText, text),
        isAfter(memberships.joinedAt, memberships.userId, query),
      ),
    )
    .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
    .limit(limit)
    .as('page')
  const { id, name, email, imageKey, role, teams: teamsOfPage, at } = page
  const placed = executor
    .select({
      id,
      name,
      email,
      imageKey,
      role,
      teams: teamsOfPage,
      at,
      bytesBefore: bytesBefore(sql`octet_length(${teamsOfPage}::text)`, sql`${at}, ${id}`).as('teams_before'),
    })
    .from(page)
    .as('placed')
  return executor
    .select({
      id: placed.id,
      name: placed.name,
      email: placed.email,
      imageKey: placed.imageKey,
      role: placed.role,
      teams: placed.teams,
      at: placed.at,
    })
    .from(placed)
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(asc(placed.at), asc(placed.id))
}

/** People with a pending invite that has not expired, oldest invite first. */
export async function listInvitedPeople(
  executor: Executor,
  query: PeopleQuery & { now: Date },
): Promise<PersonRow[]> {
  const { workspaceId, text, limit, now } = query
  const rows = await executor
    .select({ id: invites.id, email: invites.email, role: invites.role, at: invites.createdAt })
    .from(invites)
    .where(
      and(
        eq(invites.workspaceId, workspaceId),
        eq(invites.state, 'open'),
        sql`${invites.expiresAt} > ${now.toISOString()}`,
        text === undefined ? undefined : matches(invites.searchText, text),
        isAfter(invites.createdAt, invites.id, query),
      ),
    )
    .orderBy(asc(invites.createdAt), asc(invites.id))
    .limit(limit)
  return rows.map((row) => ({ ...row, name: row.email, imageKey: null, teams: [] }))
}

/**
 * Whether a column contains a text. One or two characters match only the beginning of words, because the trigram index
 * needs three.
 */
function matches(column: AnyPgColumn, text: string): SQL | undefined {
  if (Array.from(text).length > 2) return contains(column, text)
  const escaped = escapeLike(text)
  return or(isLike(column, `${escaped}%`), isLike(column, `% ${escaped}%`))
}
