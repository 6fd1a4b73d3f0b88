import { noLock, type Changes, type WorkspaceChangeContext } from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { requireLabel } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { findMember } from '../members/members.repository.ts'
import { lockWorkspace } from '../workspaces/workspaces.repository.ts'
import {
  deleteTeam,
  deleteTeamMember,
  hasTeam,
  insertTeam,
  insertTeamMember,
  listTeamMembers,
  listTeams,
  lockTeam,
  renameTeam,
  type LockedTeam,
} from './teams.repository.ts'

export interface Team {
  id: string
  name: string
  memberCount: number
  createdAt: string
}

export interface TeamMember {
  userId: string
  name: string
  image: string | null
  addedAt: string
}

/** A team of a workspace that was reached by its slug. Its methods throw `not_found` for a team of another one. */
export interface TeamPath {
  slug: string
  teamId: string
}

export interface TeamsService {
  /** Oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Team>>
  /** Throws `label_invalid` and `team_name_taken`. */
  create(principal: Principal, slug: string, input: { name: string }): Promise<Team>
  /** Throws `label_invalid` and `team_name_taken`. */
  rename(principal: Principal, path: TeamPath, input: { name: string }): Promise<void>
  delete(principal: Principal, path: TeamPath): Promise<void>
  /** In the order in which they were added. */
  listMembers(principal: Principal, path: TeamPath, page: PageRequest): Promise<Page<TeamMember>>
  /** Throws `already_team_member`, and `not_found` for somebody who is not in the workspace. */
  addMember(principal: Principal, path: TeamPath, input: { userId: string }): Promise<void>
  /** Takes somebody out, or the caller themselves. Throws `not_found` for somebody who is not in the team. */
  removeMember(principal: Principal, path: TeamPath, userId: string): Promise<void>
}

export interface TeamsServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
}

export function createTeamsService(options: TeamsServiceOptions): TeamsService {
  const { db, changes, requireWorkspace, pictures } = options

  /** Makes a change of a team, with the team locked. */
  async function change(
    principal: Principal,
    { slug, teamId }: TeamPath,
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, team: LockedTeam) => Promise<void>,
  ): Promise<void> {
    const workspace = await requireWorkspace(principal, slug, action)
    if (!isId(teamId)) throw errors.notFound()
    const lock = (tx: Executor) => lockTeam(tx, workspace.id, teamId)
    await changes.makeIn(principal, workspace, lock, run)
  }

  return {
    async list(principal, slug, { limit = pageLimitDefault, cursor }) {
      const { id } = await requireWorkspace(principal, slug, 'teams.list')
      const listId = `teams.list ${id}`
      const rows = await listTeams(db, {
        workspaceId: id,
        after: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: (row) => ({ ...row, createdAt: row.createdAt.toISOString() }),
      })
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'teams.create')
      const team = { id: createId(), name: requireLabel(input.name) }
      return changes.makeIn(principal, workspace, noLock, async ({ tx, now, tell }) => {
        await insertTeam(tx, { ...team, workspaceId: workspace.id, createdAt: now })
        await tell({
          type: 'team.created',
          target: { type: 'team', id: team.id },
          summary: `${principal.user.name} created the team ${team.name}`,
        })
        return { ...team, memberCount: 0, createdAt: now.toISOString() }
      })
    },

    async rename(principal, path, input) {
      const name = requireLabel(input.name)
      await change(principal, path, 'teams.rename', async ({ tx, tell }, team) => {
        if (name === team.name) return
        // Renames take turns: two that wait for each other's name would be a deadlock.
        await lockWorkspace(tx, team.workspaceId)
        await renameTeam(tx, team.id, name)
        await tell({
          type: 'team.renamed',
          target: { type: 'team', id: team.id },
          summary: `${principal.user.name} renamed the team ${team.name} to ${name}`,
        })
      })
    },

    async delete(principal, path) {
      await change(principal, path, 'teams.delete', async ({ tx, tell }, team) => {
        await deleteTeam(tx, team.id)
        await tell({
          type: 'team.deleted',
          target: { type: 'team', id: team.id },
          summary: `${principal.user.name} deleted the team ${team.name}`,
        })
      })
    },

    async listMembers(principal, { slug, teamId }, { limit = pageLimitDefault, cursor }) {
      const { id } = await requireWorkspace(principal, slug, 'teams.listMembers')
      if (!isId(teamId) || !(await hasTeam(db, id, teamId))) throw errors.notFound()
      const listId = `teams.listMembers ${teamId}`
      const rows = await listTeamMembers(db, {
        teamId,
        after: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.addedAt.toISOString(), row.userId],
        toItem: ({ imageKey, addedAt, ...row }) => ({
          ...row,
          image: pictures.urlOf(imageKey),
          addedAt: addedAt.toISOString(),
        }),
      })
    },

    async addMember(principal, path, { userId }) {
      await change(
        principal,
        path,
        'teams.addMember',
        async ({ tx, now, tell }, { id: teamId, name, workspaceId }) => {
          const member = isId(userId) ? await findMember(tx, workspaceId, userId) : undefined
          if (!member) throw errors.notFound()
          await insertTeamMember(tx, { teamId, userId, workspaceId, addedAt: now })
          await tell({
            type: 'team.member_added',
            target: { type: 'team', id: teamId },
            summary: `${principal.user.name} added ${member.name} to the team ${name}`,
          })
        },
      )
    },

    async removeMember(principal, path, userId) {
      const isSelf = userId === principal.user.id
      const action = isSelf ? 'teams.leave' : 'teams.removeMember'
      await change(principal, path, action, async ({ tx, tell }, team) => {
        const member = isId(userId) ? await findMember(tx, team.workspaceId, userId) : undefined
        if (!member || !(await deleteTeamMember(tx, team.id, userId))) throw errors.notFound()
        await tell({
          type: 'team.member_removed',
          target: { type: 'team', id: team.id },
          summary: isSelf
            ? `${member.name} left the team ${team.name}`
            : `${principal.user.name} took ${member.name} out of the team ${team.name}`,
        })
      })
    },
  }
}
