import { inviteLifetimeMs, inviteUrlOf } from '../../domain/links.ts'
import {
  lockMembersWithCredential,
  type Changes,
  type Lock,
  type LockInput,
  type WorkspaceChangeContext,
} from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Write } from '../../db/transactions.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { inviteTeamsMax } from '../../kernel/invites.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { isAbove, mayGrant, type Role } from '../../domain/roles.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { tellOfInviteByKnown } from '../apiKeys/known-secrets.ts'
import { insertInviteTeams, lockTeams } from './invite-teams.repository.ts'
import {
  countInvitesSince,
  countInvitesToRecipientSince,
  deleteInviteTokens,
  findInvite,
  hasMemberWithEmail,
  insertInvite,
  insertInviteToken,
  listPendingInvites,
  lockInvite,
  replaceExpiredInvite,
  updateInvite,
  type LockedInvite,
} from './invites.repository.ts'
import type { Invite } from './invites.schemas.ts'

const limitWindowMs = 60 * 60 * 1000

export type { Invite }

export interface NewInvite {
  email: string
  role: Role
  /** The teams that the person joins with the workspace. */
  teamIds?: readonly string[]
}

/** What those who manage the people of a workspace do with its invites. To agents, the role `admin` is too high already. */
export interface InvitesService {
  /** Pending invites, expired ones included, oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Invite>>
  /** Also an invite that has ended. Throws `not_found` for one of another workspace. */
  get(principal: Principal, slug: string, inviteId: string): Promise<Invite>
  /**
   * Throws `not_found` for a team that is not in the workspace, `email_invalid`, `invite_team_limit`, `role_too_high`,
   * `already_member`, `already_invited`, `too_many_invites` and `too_many_invites_to_recipient`.
   */
  create(principal: Principal, slug: string, input: NewInvite): Promise<{ invite: Invite; inviteUrl: string }>
  /**
   * Sends the invite again with a new link, valid for seven days from now; earlier links become invalid. Returns the
   * address too. Throws `not_found`, `role_too_high`, `invite_used`, `invite_declined`, `invite_revoked`,
   * `too_many_invites` and `too_many_invites_to_recipient`.
   */
  resend(
    principal: Principal,
    slug: string,
    inviteId: string,
  ): Promise<{ email: string; inviteUrl: string; expiresAt: string }>
  /**
   * Idempotent, and does nothing to an invite that was declined. Returns the address. Throws `not_found`, `role_too_high`
   * and `invite_used`.
   */
  revoke(principal: Principal, slug: string, inviteId: string): Promise<string>
  /**
   * Returns the address. Throws `not_found`, `role_too_high`, `invite_used`, `invite_declined`, `invite_revoked` and
   * `precondition_failed`.
   */
  updateRole(principal: ExpectingCall, slug: string, inviteId: string, input: { role: Role }): Promise<string>
}

/** The version of an invite: of what `updateRole` changes. */
export const versionOfInvite = (invite: { role: Role }) => versionOfFields(invite, ['role'])

export interface InvitesServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  jobs: JobQueue
  webUrl: string
  /** The most invites of a workspace an hour; 0 = no limit. */
  inviteLimitPerHour: number
  /** The most invites to one address an hour, of all workspaces; 0 = no limit. */
  mailLimitPerHour: number
}

export function createInvitesService(options: InvitesServiceOptions): InvitesService {
  const { db, clock, changes, requireWorkspace, jobs, webUrl } = options
  const { inviteLimitPerHour, mailLimitPerHour } = options

  /** Changes an invite that the caller may change, while the members of the workspace are locked. */
  async function change<Result>(
    principal: Principal,
    { slug, inviteId }: { slug: string; inviteId: string },
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, invite: LockedInvite & { actorRole: Role }) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspace(principal, slug, action)
    const lock: Lock<LockedInvite & { actorRole: Role }> = async (tx, input) => {
      const actorRole = await lockMembersWithCredential(tx, input)
      const invite = isId(inviteId) ? await lockInvite(tx, workspace.id, inviteId) : undefined
      if (invite && !mayInviteAs(principal, actorRole, invite.role)) throw errors.roleTooHigh()
      if (invite?.state === 'accepted') throw errors.inviteUsed()
      return invite && { ...invite, actorRole }
    }
    return changes.makeIn(principal, workspace, lock, run)
  }

  async function assertWithinLimits(tx: Executor, workspaceId: string, email: string): Promise<void> {
    const now = clock.now().getTime()
    const since = new Date(now - limitWindowMs)
    const retryAfterSeconds = (firstAt: Date) =>
      Math.max(1, Math.ceil((firstAt.getTime() + limitWindowMs - now) / 1000))
    const [ofWorkspace, toRecipient] = await together([
      inviteLimitPerHour > 0 ? countInvitesSince(tx, workspaceId, since) : undefined,
      mailLimitPerHour > 0 ? countInvitesToRecipientSince(tx, email, since) : undefined,
    ])
    if (ofWorkspace?.firstAt && ofWorkspace.count >= inviteLimitPerHour)
      throw errors.tooManyInvites({ retryAfterSeconds: retryAfterSeconds(ofWorkspace.firstAt) })
    if (toRecipient?.firstAt && toRecipient.count >= mailLimitPerHour)
      throw errors.tooManyInvitesToRecipient({ retryAfterSeconds: retryAfterSeconds(toRecipient.firstAt) })
  }

  /** Locks the members of a workspace for a caller who may give a role. Throws `role_too_high`. */
  async function lockForGrant(tx: Executor, input: LockInput, role: Role): Promise<void> {
    const actorRole = await lockMembersWithCredential(tx, input)
    if (!mayInviteAs(input.principal, actorRole, role)) throw errors.roleTooHigh()
  }

  async function assertNoMember(tx: Executor, workspaceId: string, email: string): Promise<void> {
    if (await hasMemberWithEmail(tx, workspaceId, email)) throw errors.alreadyMember()
  }

  async function lockTeamsOf(tx: Executor, workspaceId: string, teamIds: readonly string[]): Promise<void> {
    if ((await lockTeams(tx, workspaceId, teamIds)).length < teamIds.length) throw errors.notFound()
  }

  /** Creates the link of an invite and enqueues its mail. Returns the link, which is not stored. */
  function send(write: Write, inviteId: string, { requestId }: Principal): string {
    const token = createToken()
    write((tx) => insertInviteToken(tx, { inviteId, tokenHash: hashSecret(token), isMailed: false }))
    write((tx) => jobs.enqueue(tx, 'send_invite', { inviteId }, { requestId }))
    return inviteUrlOf(webUrl, token)
  }

  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.list')
      const now = clock.now()
      return readPage<Invite>(page, {
        listId: `invites.list ${workspaceId}`,
        order: 'oldestFirst',
        read: (range) => listPendingInvites(db, { workspaceId, now, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, slug, inviteId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.getById')
      const query = { workspaceId, inviteId, now: clock.now() }
      const invite = isId(inviteId) ? await findInvite(db, query) : undefined
      if (!invite) throw errors.notFound()
      return invite
    },

    async create(principal, slug, input) {
      const email = parseEmail(input.email)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      const teamIds = [...new Set(input.teamIds)]
      if (teamIds.length > inviteTeamsMax) throw errors.inviteTeamLimit({ field: 'teamIds' })
      const workspace = await requireWorkspace(principal, slug, 'invites.create')
      const { id: workspaceId } = workspace
      if (!teamIds.every(isId)) throw errors.notFound()
      const { user } = principal
      const lock: Lock<unknown> = (tx, lockInput) =>
        together([
          lockForGrant(tx, lockInput, input.role),
          assertNoMember(tx, workspaceId, email),
          assertWithinLimits(tx, workspaceId, email),
          teamIds.length > 0 && lockTeamsOf(tx, workspaceId, teamIds),
        ])
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }) => {
        write((tx) => replaceExpiredInvite(tx, { workspaceId, email, now }))
        const expiresAt = new Date(now.getTime() + inviteLifetimeMs)
        const row = { id: createId(), email, role: input.role, invitedByUserId: user.id }
        write((tx) => insertInvite(tx, { ...row, workspaceId, state: 'open', createdAt: now, expiresAt }))
        if (teamIds.length > 0) write((tx) => insertInviteTeams(tx, { id: row.id, workspaceId }, teamIds))
        const inviteUrl = send(write, row.id, principal)
        await tellOfInviteByKnown(tx, principal, { workspaceId, inviteId: row.id, now })
        appendEvent({
          type: 'invite.created',
          data: { inviteId: row.id, email, role: input.role },
        })
        return {
          invite: {
            ...row,
            status: 'pending',
            invitedByName: user.name,
            createdAt: now.toISOString(),
            expiresAt: expiresAt.toISOString(),
            lastSentAt: null,
            delivery: 'waiting',
          },
          inviteUrl,
        }
      })
    },

    async resend(principal, slug, inviteId) {
      return change(
        principal,
        { slug, inviteId },
        'invites.resend',
        async ({ tx, now, write, appendEvent }, invite) => {
          assertOpen(invite)
          await assertWithinLimits(tx, invite.workspaceId, invite.email)
          const expiresAt = new Date(now.getTime() + inviteLifetimeMs)
          await deleteInviteTokens(tx, invite.id)
          await updateInvite(tx, invite.id, { expiresAt, resentAt: now, refusedAt: null })
          const inviteUrl = send(write, invite.id, principal)
          appendEvent({
            type: 'invite.resent',
            data: { inviteId: invite.id, email: invite.email },
          })
          return { email: invite.email, inviteUrl, expiresAt: expiresAt.toISOString() }
        },
      )
    },

    async revoke(principal, slug, inviteId) {
      return change(principal, { slug, inviteId }, 'invites.revoke', async ({ tx, appendEvent }, invite) => {
        if (invite.state !== 'open') return invite.email
        await updateInvite(tx, invite.id, { state: 'revoked' })
        appendEvent({
          type: 'invite.revoked',
          data: { inviteId: invite.id, email: invite.email },
        })
        return invite.email
      })
    },

    async updateRole(principal, slug, inviteId, { role }) {
      return change(
        principal,
        { slug, inviteId },
        'invites.updateRole',
        async ({ tx, appendEvent }, invite) => {
          if (!mayInviteAs(principal, invite.actorRole, role)) throw errors.roleTooHigh()
          assertOpen(invite)
          assertExpected(principal, versionOfInvite(invite))
          principal.onVersion?.(versionOfInvite({ role }))
          if (invite.role === role) return invite.email
          await updateInvite(tx, invite.id, { role })
          appendEvent({
            type: 'invite.role_changed',
            data: { inviteId: invite.id, email: invite.email, from: invite.role, to: role },
          })
          return invite.email
        },
      )
    },
  }
}

/** Whether an invite may give a role: up to the role of the actor, and that of agents up to `member`. */
function mayInviteAs({ grantId }: Principal, actorRole: Role, role: Role): boolean {
  return mayGrant(actorRole, role) && (grantId === null || !isAbove(role, 'member'))
}

/** Throws `invite_declined` and `invite_revoked`. */
function assertOpen({ state }: LockedInvite): void {
  if (state === 'declined') throw errors.inviteDeclined()
  if (state !== 'open') throw errors.inviteRevoked()
}
