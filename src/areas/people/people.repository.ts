import { and, asc, eq, lt, or, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { contains, escapeLike, isLike } from '../../db/contains.ts'
import { invites } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { bytesBefore } from '../../db/text-bytes.ts'
import { pageBytesMax, type Position } from '../../kernel/pagination.ts'
import type { Role } from '../../kernel/roles.ts'

export interface PersonRow {
  id: string
  name: string
  email: string
  imageKey: string | null
  role: Role
  teams: { id: string; name: string }[]
  /** What the list is sorted by. */
  at: Date
}

interface PeopleQuery {
  workspaceId: string
  /** Only people whose name or address holds this. */
  text: string | undefined
  after: Position | undefined
  limit: number
}

const teamsOfMember = sql<{ id: string; name: string }[]>`(
  select coalesce(json_agg(json_build_object('id', ${teams.id}, 'name', ${teams.name}) order by ${teams.createdAt}, ${teams.id}), '[]')
  from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.workspaceId} = ${memberships.workspaceId} and ${teamMembers.userId} = ${memberships.userId}
)`

/**
 * Members of a workspace with their teams, in the order in which they joined, from after a position on; no more than a
 * page can show.
 */
export function listMemberPeople(executor: Executor, query: PeopleQuery): Promise<PersonRow[]> {
  const { workspaceId, text, after, limit } = query
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
        after &&
          sql`(${memberships.joinedAt}, ${memberships.userId}) > (${after[0]}::timestamptz, ${after[1]}::uuid)`,
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

/** People with an open invite that has not expired, oldest invite first, from after a position on. */
export async function listInvitedPeople(
  executor: Executor,
  query: PeopleQuery & { now: Date },
): Promise<PersonRow[]> {
  const { workspaceId, text, after, limit, now } = query
  const rows = await executor
    .select({ id: invites.id, email: invites.email, role: invites.role, at: invites.createdAt })
    .from(invites)
    .where(
      and(
        eq(invites.workspaceId, workspaceId),
        eq(invites.state, 'open'),
        sql`${invites.expiresAt} > ${now.toISOString()}`,
        text === undefined ? undefined : matches(invites.searchText, text),
        after && sql`(${invites.createdAt}, ${invites.id}) > (${after[0]}::timestamptz, ${after[1]}::uuid)`,
      ),
    )
    .orderBy(asc(invites.createdAt), asc(invites.id))
    .limit(limit)
  return rows.map((row) => ({ ...row, name: row.email, imageKey: null, teams: [] }))
}

/**
 * Whether a column holds a text. One or two characters are looked for at the beginning of words only: anywhere else the
 * trigram index, which needs three, could not help.
 */
function matches(column: AnyPgColumn, text: string): SQL | undefined {
  if (Array.from(text).length > 2) return contains(column, text)
  const escaped = escapeLike(text)
  return or(isLike(column, `${escaped}%`), isLike(column, `% ${escaped}%`))
}
