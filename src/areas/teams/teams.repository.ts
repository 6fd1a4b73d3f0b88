import { and, asc, eq, ne, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { errors } from '../../kernel/errors.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { Team, TeamMember } from './teams.schemas.ts'

const teamColumns = {
  id: teams.id,
  name: teams.name,
  memberCount: subquery(
    sql<number>`(select count(*)::int from ${teamMembers} where ${teamMembers.teamId} = ${teams.id})`,
  ),
  createdAt: teams.createdAt,
}

const selectTeams = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<Team>(teamColumns))
      .from(teams)
      .where(and(eq(teams.workspaceId, sql.placeholder('workspaceId')), isAfter(teams.createdAt, teams.id)))
      .orderBy(asc(teams.createdAt), asc(teams.id))
      .limit(pageLimit),
  ).prepare('teams_select_of_workspace'),
)

/** Teams of a workspace, oldest first. */
export function listTeams(executor: Executor, input: { workspaceId: string } & PageRange): Promise<JsonRows> {
  return readOne(selectTeams(executor).execute({ ...input }))
}

export type NamedTeam = Pick<Team, 'id' | 'name' | 'memberCount'>

/** The first teams of a workspace whose names have a text, whatever its case, by name. */
export function listTeamsNamed(
  executor: Executor,
  { workspaceId, q, limit }: { workspaceId: string; q: string; limit: number },
): Promise<NamedTeam[]> {
  const { id, name, memberCount } = teamColumns
  return executor
    .select({ id, name, memberCount })
    .from(teams)
    .where(and(eq(teams.workspaceId, workspaceId), sql`position(lower(${q}) in lower(${name})) > 0`))
    .orderBy(asc(sql`lower(${name})`))
    .limit(limit)
}

/** Throws `team_name_taken`. */
export async function insertTeam(executor: Executor, row: typeof teams.$inferInsert): Promise<void> {
  await assertNotTaken(executor, row)
  await translatingNameTaken(executor.insert(teams).values(row))
}

export interface LockedTeam {
  id: string
  name: string
  workspaceId: string
}

/** A team of a workspace, locked until the transaction ends. */
export async function lockTeam(
  executor: Executor,
  workspaceId: string,
  teamId: string,
): Promise<LockedTeam | undefined> {
  const [team] = await executor
    .select({ id: teams.id, name: teams.name, workspaceId: teams.workspaceId })
    .from(teams)
    .where(and(eq(teams.id, teamId), eq(teams.workspaceId, workspaceId)))
    .for('no key update')
  return team
}

/** A team of a workspace. */
export async function findTeam(executor: Executor, workspaceId: string, teamId: string) {
  const [team] = await executor
    .select(teamColumns)
    .from(teams)
    .where(and(eq(teams.id, teamId), eq(teams.workspaceId, workspaceId)))
  return team
}

/** Whether a workspace has a team. */
export async function hasTeam(executor: Executor, workspaceId: string, teamId: string): Promise<boolean> {
  const rows = await executor
    .select({ id: teams.id })
    .from(teams)
    .where(and(eq(teams.id, teamId), eq(teams.workspaceId, workspaceId)))
  return rows.length > 0
}

/** Throws `team_name_taken`. */
export async function renameTeam(
  executor: Executor,
  team: { id: string; workspaceId: string; name: string },
): Promise<void> {
  await assertNotTaken(executor, team)
  await translatingNameTaken(executor.update(teams).set({ name: team.name }).where(eq(teams.id, team.id)))
}

// All space separators of Unicode.
const spaces = '[\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]+'

/**
 * Throws `team_name_taken` if another team has the name in the form of before `normalizeLine`: with other spaces, or several.
 * The unique index compares names of now.
 */
async function assertNotTaken(
  executor: Executor,
  { id, workspaceId, name }: { id: string; workspaceId: string; name: string },
): Promise<void> {
  const normalized = sql`lower(regexp_replace(${teams.name}, ${spaces}, ' ', 'g'))`
  const taken = await executor
    .select({ id: teams.id })
    .from(teams)
    .where(
      and(eq(teams.workspaceId, workspaceId), ne(teams.id, id), eq(normalized, sql`lower(${name}::text)`)),
    )
    .limit(1)
  if (taken.length > 0) throw errors.teamNameTaken()
}

export async function deleteTeam(executor: Executor, teamId: string): Promise<void> {
  await executor.delete(teams).where(eq(teams.id, teamId))
}

const selectTeamMembers = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(
        itemColumns<TeamMember>({
          userId: teamMembers.userId,
          name: users.name,
          image: pictureUrl(users.imageKey),
          addedAt: teamMembers.addedAt,
        }),
      )
      .from(teamMembers)
      .innerJoin(users, eq(users.id, teamMembers.userId))
      .where(
        and(
          eq(teamMembers.workspaceId, hiddenParameter('workspaceId', 'uuid')),
          eq(teamMembers.teamId, sql.placeholder('teamId')),
          isAfter(teamMembers.addedAt, teamMembers.userId),
        ),
      )
      .orderBy(asc(teamMembers.addedAt), asc(teamMembers.userId))
      .limit(pageLimit),
  ).prepare('team_members_select_of_team'),
)

/** Members of a team, in the order in which they were added. */
export function listTeamMembers(
  executor: Executor,
  input: { workspaceId: string; teamId: string; pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectTeamMembers(executor).execute({ ...input }))
}

/** Throws `already_team_member`, and `not_found` for a person who is not a member of the workspace. */
export async function insertTeamMember(
  executor: Executor,
  row: typeof teamMembers.$inferInsert,
): Promise<void> {
  try {
    await executor.insert(teamMembers).values(row)
  } catch (error) {
    if (isUniqueViolation(error, 'team_members_team_id_user_id_pk'))
      throw errors.alreadyTeamMember({ cause: error })
    if (isForeignKeyViolation(error, 'team_members_membership_fk')) throw errors.notFound({ cause: error })
    throw error
  }
}

/** Whether a person is in a team. */
export async function isTeamMember(executor: Executor, teamId: string, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ userId: teamMembers.userId })
    .from(teamMembers)
    .where(and(eq(teamMembers.teamId, teamId), eq(teamMembers.userId, userId)))
  return rows.length > 0
}

/** Removes a person from a team. Returns whether they were in it. */
export async function deleteTeamMember(executor: Executor, teamId: string, userId: string): Promise<boolean> {
  const { rowCount } = await executor
    .delete(teamMembers)
    .where(and(eq(teamMembers.teamId, teamId), eq(teamMembers.userId, userId)))
  return rowCount === 1
}

async function translatingNameTaken(statement: PromiseLike<unknown>): Promise<void> {
  try {
    await statement
  } catch (error) {
    if (isUniqueViolation(error, 'teams_name_key')) throw errors.teamNameTaken({ cause: error })
    throw error
  }
}
