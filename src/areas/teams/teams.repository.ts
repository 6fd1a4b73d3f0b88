import { and, asc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts'
import { prepared } from '../../db/prepared.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { errors } from '../../kernel/errors.ts'
import type { Position } from '../../kernel/pagination.ts'

export interface TeamRow {
  id: string
  name: string
  memberCount: number
  createdAt: Date
}

export interface TeamMemberRow {
  userId: string
  name: string
  imageKey: string | null
  addedAt: Date
}

const beginning: Position = ['-infinity', '00000000-0000-0000-0000-000000000000']

const selectTeams = prepared((executor) =>
  executor
    .select({
      id: teams.id,
      name: teams.name,
      memberCount: sql<number>`(select count(*)::int from ${teamMembers} where ${teamMembers.teamId} = ${teams.id})`,
      createdAt: teams.createdAt,
    })
    .from(teams)
    .where(
      and(
        eq(teams.workspaceId, sql.placeholder('workspaceId')),
        sql`(${teams.createdAt}, ${teams.id}) > (${sql.placeholder('createdAt')}::timestamptz, ${sql.placeholder('id')}::uuid)`,
      ),
    )
    .orderBy(asc(teams.createdAt), asc(teams.id))
    .limit(sql.placeholder('limit'))
    .prepare('teams_select_of_workspace'),
)

/** Teams of a workspace, oldest first, from after a position on. */
export function listTeams(
  executor: Executor,
  input: { workspaceId: string; after: Position | undefined; limit: number },
): Promise<TeamRow[]> {
  const [createdAt, id] = input.after ?? beginning
  return selectTeams(executor).execute({ workspaceId: input.workspaceId, createdAt, id, limit: input.limit })
}

/** Throws `team_name_taken`. */
export async function insertTeam(executor: Executor, row: typeof teams.$inferInsert): Promise<void> {
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

/** Whether a workspace has a team. */
export async function hasTeam(executor: Executor, workspaceId: string, teamId: string): Promise<boolean> {
  const rows = await executor
    .select({ id: teams.id })
    .from(teams)
    .where(and(eq(teams.id, teamId), eq(teams.workspaceId, workspaceId)))
  return rows.length > 0
}

/** Throws `team_name_taken`. */
export async function renameTeam(executor: Executor, teamId: string, name: string): Promise<void> {
  await translatingNameTaken(executor.update(teams).set({ name }).where(eq(teams.id, teamId)))
}

export async function deleteTeam(executor: Executor, teamId: string): Promise<void> {
  await executor.delete(teams).where(eq(teams.id, teamId))
}

const selectTeamMembers = prepared((executor) =>
  executor
    .select({
      userId: teamMembers.userId,
      name: users.name,
      imageKey: users.imageKey,
      addedAt: teamMembers.addedAt,
    })
    .from(teamMembers)
    .innerJoin(users, eq(users.id, teamMembers.userId))
    .where(
      and(
        eq(teamMembers.teamId, sql.placeholder('teamId')),
        sql`(${teamMembers.addedAt}, ${teamMembers.userId}) > (${sql.placeholder('addedAt')}::timestamptz, ${sql.placeholder('userId')}::uuid)`,
      ),
    )
    .orderBy(asc(teamMembers.addedAt), asc(teamMembers.userId))
    .limit(sql.placeholder('limit'))
    .prepare('team_members_select_of_team'),
)

/** Members of a team, in the order in which they were added, from after a position on. */
export function listTeamMembers(
  executor: Executor,
  input: { teamId: string; after: Position | undefined; limit: number },
): Promise<TeamMemberRow[]> {
  const [addedAt, userId] = input.after ?? beginning
  return selectTeamMembers(executor).execute({ teamId: input.teamId, addedAt, userId, limit: input.limit })
}

/** Throws `already_team_member`, and `not_found` for somebody who is not, or no longer, in the workspace. */
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

/** Returns whether the person was in the team. */
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
