import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { mentionedTeamSizeMax } from '../../domain/comments.ts'

/** A team that a comment may mention, with the people whom it tells. */
export interface MentionedTeam {
  teamId: string
  name: string
  /** Members who are neither suspended nor service accounts. */
  userIds: string[]
}

/**
 * Which of some teams are of the workspace, with their members, or none where those are too many. They stay until the
 * transaction ends.
 */
export async function lockTeamsAmong(
  executor: Executor,
  workspaceId: string,
  teamIds: readonly string[],
): Promise<(MentionedTeam & { isTooLarge: boolean })[]> {
  if (teamIds.length === 0) return []
  const members = executor
    .select({ userId: teamMembers.userId })
    .from(teamMembers)
    .innerJoin(users, eq(users.id, teamMembers.userId))
    .where(and(eq(teamMembers.teamId, teams.id), eq(users.kind, 'person'), isActive))
    .limit(mentionedTeamSizeMax + 1)
  const rows = await executor
    .select({ teamId: teams.id, name: teams.name, userIds: sql<string[]>`array(${members})` })
    .from(teams)
    .where(and(eq(teams.workspaceId, workspaceId), inArray(teams.id, [...teamIds])))
    .orderBy(asc(teams.id))
    .for('key share', { of: teams })
  return rows.map((team) => {
    const isTooLarge = team.userIds.length > mentionedTeamSizeMax
    return { ...team, userIds: isTooLarge ? [] : team.userIds, isTooLarge }
  })
}
