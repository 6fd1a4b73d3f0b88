import { noLock, type Changes, type WorkspaceChangeContext } from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { requireLabel } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { findMember } from '../../access/memberships.repository.ts'
import { lockWorkspace } from '../workspaces/workspaces.repository.ts'
import {
  deleteTeam,
  deleteTeamMember,
  findTeam,
  hasTeam,
  insertTeam,
  insertTeamMember,
  isTeamMember,
  listTeamMembers,
  listTeams,
  listTeamsNamed,
  type LockedTeam,
  lockTeam,
  type NamedTeam,
  renameTeam,
} from './teams.repository.ts'
import type { Team, TeamMember } from './teams.schemas.ts'

export type { Team, TeamMember }

/** A team and its workspace. Methods throw `not_found` for a team of another workspace. */
export interface TeamPath {
  slug: string
  teamId: string
}

export interface TeamsService {
  /** Oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Team>>
  /** The first `limit` teams whose names have a text, whatever its case, by name. */
  listNamed(principal: Principal, slug: string, named: { q: string; limit: number }): Promise<NamedTeam[]>
  get(principal: Principal, path: TeamPath): Promise<Team>
  /** Throws `label_invalid` and `team_name_taken`. */
  create(principal: Principal, slug: string, input: { name: string }): Promise<Team>
  /** Throws `label_invalid`, `team_name_taken` and `precondition_failed`. */
  rename(principal: ExpectingCall, path: TeamPath, input: { name: string }): Promise<void>
  /** Returns the name of the team. */
  delete(principal: Principal, path: TeamPath): Promise<string>
  /** In the order in which they were added. */
  listMembers(principal: Principal, path: TeamPath, page: PageRequest): Promise<Page<TeamMember>>
  /** Returns the name of the person. Throws `already_team_member`, and `not_found` for one who is not in the workspace. */
  addMember(principal: Principal, path: TeamPath, input: { userId: string }): Promise<string>
  /**
   * Removes a person, or lets the caller leave. Returns the name of the person. Throws `not_found` for one who is not in the
   * team.
   */
  removeMember(principal: Principal, path: TeamPath, userId: string): Promise<string>
}

/** The version of a team: of what `rename` changes. */
export const versionOfTeam = (team: { name: string }) => versionOfFields(team, ['name'])

export interface TeamsServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
}

export function createTeamsService(options: TeamsServiceOptions): TeamsService {
  const { db, changes, requireWorkspace, pictures } = options

  /** Changes a team while it is locked. */
  async function change<Result>(
    principal: Principal,
    { slug, teamId }: TeamPath,
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, team: LockedTeam) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspace(principal, slug, action)
    if (!isId(teamId)) throw errors.notFound()
    // Everybody may ask for this, as often as they like.
    if (action === 'teams.leave' && !(await isTeamMember(db, teamId, principal.user.id)))
      throw errors.notFound()
    const lock = (tx: Executor) => lockTeam(tx, workspace.id, teamId)
    return changes.makeIn(principal, workspace, lock, run)
  }

  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'teams.list')
      return readPage<Team>(page, {
        listId: `teams.list ${workspaceId}`,
        order: 'oldestFirst',
        read: (range) => listTeams(db, { workspaceId, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listNamed(principal, slug, named) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'teams.list')
      return listTeamsNamed(db, { workspaceId, ...named })
    },

    async get(principal, { slug, teamId }) {
      const { id } = await requireWorkspace(principal, slug, 'teams.get')
      const team = isId(teamId) ? await findTeam(db, id, teamId) : undefined
      if (!team) throw errors.notFound()
      return { ...team, createdAt: team.createdAt.toISOString() }
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'teams.create')
      const team = { id: createId(), name: requireLabel(input.name) }
      return changes.makeIn(principal, workspace, noLock, async ({ tx, now, appendEvent }) => {
        await insertTeam(tx, { ...team, workspaceId: workspace.id, createdAt: now })
        appendEvent({
          type: 'team.created',
          data: { teamId: team.id, teamName: team.name },
        })
        return { ...team, memberCount: 0, createdAt: now.toISOString() }
      })
    },

    async rename(principal, path, input) {
      const name = requireLabel(input.name)
      await change(principal, path, 'teams.rename', async ({ tx, appendEvent }, team) => {
        assertExpected(principal, versionOfTeam(team))
        principal.onVersion?.(versionOfTeam({ name }))
        if (name === team.name) return
        // Serializes renames: two that swap names would deadlock on the unique index.
        await lockWorkspace(tx, team.workspaceId)
        await renameTeam(tx, { ...team, name })
        appendEvent({
          type: 'team.renamed',
          data: { teamId: team.id, from: team.name, to: name },
        })
      })
    },

    async delete(principal, path) {
      return change(principal, path, 'teams.delete', async ({ tx, appendEvent }, team) => {
        await deleteTeam(tx, team.id)
        appendEvent({
          type: 'team.deleted',
          data: { teamId: team.id, teamName: team.name },
        })
        return team.name
      })
    },

    async listMembers(principal, { slug, teamId }, page) {
      const { id } = await requireWorkspace(principal, slug, 'teams.listMembers')
      if (!isId(teamId) || !(await hasTeam(db, id, teamId))) throw errors.notFound()
      const pictureUrlPrefix = pictures.urlPrefix
      return readPage<TeamMember>(page, {
        listId: `teams.listMembers ${teamId}`,
        order: 'oldestFirst',
        read: (range) => listTeamMembers(db, { workspaceId: id, teamId, pictureUrlPrefix, ...range }),
        positionOf: ({ addedAt, userId }) => ({ at: addedAt, id: userId }),
      })
    },

    async addMember(principal, path, { userId }) {
      return change(
        principal,
        path,
        'teams.addMember',
        async ({ tx, now, appendEvent }, { id: teamId, name, workspaceId }) => {
          const member = isId(userId) ? await findMember(tx, workspaceId, userId) : undefined
          if (!member) throw errors.notFound()
          await insertTeamMember(tx, { teamId, userId, workspaceId, addedAt: now })
          appendEvent({
            type: 'team.member_added',
            data: { teamId, teamName: name, userId, name: member.name, isSelf: userId === principal.user.id },
          })
          return member.name
        },
      )
    },

    async removeMember(principal, path, userId) {
      const isSelf = userId === principal.user.id
      const action = isSelf ? 'teams.leave' : 'teams.removeMember'
      return change(principal, path, action, async ({ tx, appendEvent }, team) => {
        const member = isId(userId) ? await findMember(tx, team.workspaceId, userId) : undefined
        if (!member || !(await deleteTeamMember(tx, team.id, userId))) throw errors.notFound()
        appendEvent({
          type: 'team.member_removed',
          data: { teamId: team.id, teamName: team.name, userId, name: member.name, isSelf },
        })
        return member.name
      })
    },
  }
}
