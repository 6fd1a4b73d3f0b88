import { and, asc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { inviteTeams } from '../../db/schema/invites.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'

const isOfWorkspace = eq(teams.workspaceId, sql.placeholder('workspaceId'))
const isGiven = sql`${teams.id} = any(${sql.placeholder('teamIds')}::uuid[])`

const selectGivenTeams = prepared((executor) =>
  executor
    .select({ id: teams.id })
    .from(teams)
    .where(and(isOfWorkspace, isGiven))
    .orderBy(asc(teams.id))
    .for('key share')
    .prepare('teams_lock_for_invite'),
)

/** The ids of those of some teams that a workspace has. They cannot be deleted until the transaction ends. */
export async function lockTeams(
  executor: Executor,
  workspaceId: string,
  teamIds: readonly string[],
): Promise<string[]> {
  const rows = await selectGivenTeams(executor).execute({ workspaceId, teamIds: [...teamIds] })
  return rows.map(({ id }) => id)
}

const insertIntoInviteTeams = prepared((executor) =>
  executor
    .insert(inviteTeams)
    .select((query) =>
      query
        .select({
          inviteId: sql<string>`${sql.placeholder('inviteId')}::uuid`.as('invite_id'),
          teamId: teams.id,
          workspaceId: teams.workspaceId,
        })
        .from(teams)
        .where(and(isOfWorkspace, isGiven)),
    )
    .prepare('invite_teams_insert'),
)

/** Stores the teams of its workspace that an invited person is to join. */
export async function insertInviteTeams(
  executor: Executor,
  { id: inviteId, workspaceId }: { id: string; workspaceId: string },
  teamIds: readonly string[],
): Promise<void> {
  await insertIntoInviteTeams(executor).execute({ inviteId, workspaceId, teamIds: [...teamIds] })
}

const selectTeamsOfInvite = prepared((executor) =>
  executor
    .select({ id: teams.id })
    .from(inviteTeams)
    .innerJoin(teams, and(eq(teams.workspaceId, inviteTeams.workspaceId), eq(teams.id, inviteTeams.teamId)))
    .where(and(eq(inviteTeams.inviteId, sql.placeholder('inviteId')), isOfWorkspace))
    .orderBy(asc(teams.id))
    .for('key share', { of: teams })
    .prepare('invite_teams_lock'),
)

/** The teams of an invite that have not been deleted. They cannot be deleted until the transaction ends. */
export async function lockTeamsOfInvite(
  executor: Executor,
  invite: { id: string; workspaceId: string },
): Promise<string[]> {
  const { id: inviteId, workspaceId } = invite
  const rows = await selectTeamsOfInvite(executor).execute({ inviteId, workspaceId })
  return rows.map(({ id }) => id)
}

const insertIntoTeams = prepared((executor) =>
  executor
    .insert(teamMembers)
    .select((query) =>
      query
        .select({
          teamId: teams.id,
          userId: sql<string>`${sql.placeholder('userId')}::uuid`.as('user_id'),
          workspaceId: teams.workspaceId,
          addedAt: sql<Date>`${sql.placeholder('at')}::timestamptz`.as('added_at'),
        })
        .from(teams)
        .where(and(isOfWorkspace, isGiven)),
    )
    .prepare('team_members_insert_of_invite'),
)

/** Makes a new member of a workspace a member of some of its teams. */
export async function insertMemberOfTeams(
  executor: Executor,
  row: { workspaceId: string; userId: string; teamIds: readonly string[]; at: Date },
): Promise<void> {
  const { at, teamIds, ...values } = row
  await insertIntoTeams(executor).execute({ ...values, teamIds: [...teamIds], at: at.toISOString() })
}
