import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { canonicalizeEmail, parseEmail } from '../../kernel/email.ts'
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
import { mayGrant, type Role } from '../../kernel/roles.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { appendEvent } from '../events/events.repository.ts'
import { forgetDeparture } from '../members/departures.repository.ts'
import {
  findMember,
  insertMemberIfNew,
  lockMembersOfWorkspace,
  requireRoleNow,
} from '../members/members.repository.ts'
import {
  countMembershipsOfUser,
  lockUserForNewMembership,
  membershipsMax,
} from '../workspaces/workspaces.repository.ts'
import {
  countInvitesSince,
  countInvitesToRecipientSince,
  deleteInviteTokens,
  findInviteByToken,
  hasMemberWithEmail,
  insertInvite,
  insertInviteToken,
  listOpenInvites,
  lockInvite,
  replaceExpiredInvite,
  updateInvite,
  type InviteByToken,
  type InviteRow,
} from './invites.repository.ts'

/** How long an invite can be accepted. */
export const inviteLifetimeMs = 7 * 24 * 60 * 60 * 1000
const limitWindowMs = 60 * 60 * 1000

export interface Invite {
  id: string
  email: string
  role: Role
  status: 'pending' | 'expired'
  invitedByUserId: string
  invitedByName: string
  createdAt: string
  expiresAt: string
  lastSentAt: string | null
}

/** An invite as whoever holds its link sees it. */
export interface InvitePreview {
  workspaceName: string
  workspaceSlug: string
  workspaceIconUrl: string | null
  email: string
  role: Role
  status: 'pending' | 'expired' | 'accepted' | 'revoked'
  invitedByName: string
  expiresAt: string
  /** Whether it is for the caller's address. */
  emailMatches: boolean
}

export interface InvitesService {
  /** Those that are neither accepted nor revoked, oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Invite>>
  /**
   * Throws `email_invalid`, `role_too_high`, `already_member`, `already_invited`, `too_many_invites` and
   * `too_many_invites_to_recipient`.
   */
  create(
    principal: Principal,
    slug: string,
    input: { email: string; role: Role },
  ): Promise<{ invite: Invite; inviteUrl: string }>
  /** A new link and a new week; the links before lead nowhere. Throws what `create` throws, and for an ended invite. */
  resend(
    principal: Principal,
    slug: string,
    inviteId: string,
  ): Promise<{ inviteUrl: string; expiresAt: string }>
  /** Idempotent. Throws `not_found`, `role_too_high` and `invite_used`. */
  revoke(principal: Principal, slug: string, inviteId: string): Promise<void>
  /** Throws `not_found`, `role_too_high`, `invite_used` and `invite_revoked`. */
  updateRole(principal: Principal, slug: string, inviteId: string, input: { role: Role }): Promise<void>
  /** Throws `not_found`. */
  preview(principal: Principal, token: string): Promise<InvitePreview>
  /**
   * Makes the caller a member. Throws `not_found`, `invite_expired`, `invite_revoked`, `invite_used`,
   * `invite_email_mismatch`, `email_unverified` and `workspace_limit`.
   */
  accept(principal: Principal, token: string): Promise<{ workspaceId: string; slug: string; role: Role }>
}

export interface InvitesServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
  jobs: JobQueue
  webUrl: string
  /** The most invites of a workspace an hour; 0 = no limit. */
  inviteLimitPerHour: number
  /** The most invites to one address an hour, of all workspaces; 0 = no limit. */
  mailLimitPerHour: number
}

export function createInvitesService(options: InvitesServiceOptions): InvitesService {
  const { db, clock, requireWorkspace, pictures, jobs, webUrl, inviteLimitPerHour, mailLimitPerHour } =
    options

  /** Runs a change of a workspace's invites, once the caller may still make it, in its turn. */
  function change<T>(
    principal: Principal,
    workspaceId: string,
    action: WorkspaceAction,
    run: (tx: Executor, actorRole: Role) => Promise<T>,
  ): Promise<T> {
    return db.transaction(async (tx) => {
      await lockMembersOfWorkspace(tx, workspaceId)
      await requireLiveCredential(tx, principal, clock.now())
      const actorRole = await requireRoleNow(tx, workspaceId, principal.user.id)
      if (!isAllowed(actorRole, action)) throw errors.roleInsufficient()
      return run(tx, actorRole)
    })
  }

  /** An invite that the caller may change. */
  async function requireInvite(
    tx: Executor,
    input: { workspaceId: string; inviteId: string; actorRole: Role },
  ) {
    const invite = isId(input.inviteId) ? await lockInvite(tx, input.workspaceId, input.inviteId) : undefined
    if (!invite) throw errors.notFound()
    if (!mayGrant(input.actorRole, invite.role)) throw errors.roleTooHigh()
    if (invite.state === 'accepted') throw errors.inviteUsed()
    return invite
  }

  async function assertWithinLimits(tx: Executor, workspaceId: string, email: string): Promise<void> {
    const now = clock.now().getTime()
    const since = new Date(now - limitWindowMs)
    const retryAfterSeconds = (firstAt: Date) =>
      Math.max(1, Math.ceil((firstAt.getTime() + limitWindowMs - now) / 1000))
    if (inviteLimitPerHour > 0) {
      const { count, firstAt } = await countInvitesSince(tx, workspaceId, since)
      if (count >= inviteLimitPerHour && firstAt)
        throw errors.tooManyInvites({ retryAfterSeconds: retryAfterSeconds(firstAt) })
    }
    if (mailLimitPerHour > 0) {
      const { count, firstAt } = await countInvitesToRecipientSince(tx, email, since)
      if (count >= mailLimitPerHour && firstAt)
        throw errors.tooManyInvitesToRecipient({ retryAfterSeconds: retryAfterSeconds(firstAt) })
    }
  }

  /** Gives an invite a link, the only one that is told, and has it sent. */
  async function send(tx: Executor, inviteId: string): Promise<string> {
    const token = createToken()
    await insertInviteToken(tx, inviteId, hashSecret(token))
    await jobs.enqueue(tx, 'send_invite', { inviteId })
    return inviteUrlOf(webUrl, token)
  }

  return {
    async list(principal, slug, { limit = pageLimitDefault, cursor }) {
      const { id } = await requireWorkspace(principal, slug, 'invites.list')
      const listId = `invites.list ${id}`
      const rows = await listOpenInvites(db, {
        workspaceId: id,
        after: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: (row) => toInvite(row, clock.now()),
      })
    },

    async create(principal, slug, input) {
      const email = parseEmail(input.email)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.create')
      const { user } = principal
      return change(principal, workspaceId, 'invites.create', async (tx, actorRole) => {
        if (!mayGrant(actorRole, input.role)) throw errors.roleTooHigh()
        if (await hasMemberWithEmail(tx, workspaceId, email)) throw errors.alreadyMember()
        await assertWithinLimits(tx, workspaceId, email)
        const now = clock.now()
        await replaceExpiredInvite(tx, { workspaceId, email, now })
        const row = {
          id: createId(),
          email,
          role: input.role,
          state: 'open' as const,
          invitedByUserId: user.id,
          createdAt: now,
          expiresAt: new Date(now.getTime() + inviteLifetimeMs),
          lastSentAt: null,
        }
        await insertInvite(tx, { ...row, workspaceId })
        await forgetDeparture(tx, workspaceId, { email })
        const inviteUrl = await send(tx, row.id)
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'invite.created',
          target: { type: 'invite', id: row.id },
          summary: `${user.name} invited ${email} as ${input.role}`,
          at: now,
        })
        return { invite: toInvite({ ...row, invitedByName: user.name }, now), inviteUrl }
      })
    },

    async resend(principal, slug, inviteId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.resend')
      return change(principal, workspaceId, 'invites.resend', async (tx, actorRole) => {
        const invite = await requireInvite(tx, { workspaceId, inviteId, actorRole })
        if (invite.state !== 'open') throw errors.inviteRevoked()
        await assertWithinLimits(tx, workspaceId, invite.email)
        const now = clock.now()
        const expiresAt = new Date(now.getTime() + inviteLifetimeMs)
        await deleteInviteTokens(tx, invite.id)
        await updateInvite(tx, invite.id, { expiresAt })
        const inviteUrl = await send(tx, invite.id)
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'invite.resent',
          target: { type: 'invite', id: invite.id },
          summary: `${principal.user.name} sent the invite to ${invite.email} again`,
          at: now,
        })
        return { inviteUrl, expiresAt: expiresAt.toISOString() }
      })
    },

    async revoke(principal, slug, inviteId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.revoke')
      await change(principal, workspaceId, 'invites.revoke', async (tx, actorRole) => {
        const invite = await requireInvite(tx, { workspaceId, inviteId, actorRole })
        if (invite.state !== 'open') return
        await updateInvite(tx, invite.id, { state: 'revoked' })
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'invite.revoked',
          target: { type: 'invite', id: invite.id },
          summary: `${principal.user.name} withdrew the invite to ${invite.email}`,
          at: clock.now(),
        })
      })
    },

    async updateRole(principal, slug, inviteId, { role }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'invites.updateRole')
      await change(principal, workspaceId, 'invites.updateRole', async (tx, actorRole) => {
        const invite = await requireInvite(tx, { workspaceId, inviteId, actorRole })
        if (!mayGrant(actorRole, role)) throw errors.roleTooHigh()
        if (invite.state !== 'open') throw errors.inviteRevoked()
        if (invite.role === role) return
        await updateInvite(tx, invite.id, { role })
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'invite.role_changed',
          target: { type: 'invite', id: invite.id },
          summary: `${principal.user.name} changed the role of the invite to ${invite.email} from ${invite.role} to ${role}`,
          at: clock.now(),
        })
      })
    },

    async preview({ user }, token) {
      const invite = await findInviteByToken(db, hashSecret(token))
      if (!invite) throw errors.notFound()
      return {
        workspaceName: invite.workspaceName,
        workspaceSlug: invite.workspaceSlug,
        workspaceIconUrl: pictures.urlOf(invite.workspaceIconKey),
        email: invite.email,
        role: invite.role,
        status: statusOf(invite, clock.now()),
        invitedByName: invite.invitedByName,
        expiresAt: invite.expiresAt.toISOString(),
        emailMatches: isSameAddress(user.email, invite.email),
      }
    },

    async accept(principal, token) {
      const { user } = principal
      const tokenHash = hashSecret(token)
      const found = await findInviteByToken(db, tokenHash)
      if (!found) throw errors.notFound()
      return db.transaction(async (tx) => {
        await lockUserForNewMembership(tx, user.id)
        await lockMembersOfWorkspace(tx, found.workspaceId)
        // Looked up again in its turn: it may have been accepted, revoked, changed or sent again in the meantime.
        const invite = await findInviteByToken(tx, tokenHash)
        if (!invite) throw errors.notFound()
        assertAcceptable(invite, principal, clock.now())
        const inviter = await findMember(tx, invite.workspaceId, invite.invitedByUserId)
        const mayStillInvite =
          inviter && isAllowed(inviter.role, 'invites.create') && mayGrant(inviter.role, invite.role)
        if (!mayStillInvite) throw errors.inviteRevoked()
        if ((await countMembershipsOfUser(tx, user.id)) >= membershipsMax) throw errors.workspaceLimit()
        const now = clock.now()
        await updateInvite(tx, invite.id, { state: 'accepted' })
        const isNew = await insertMemberIfNew(tx, {
          workspaceId: invite.workspaceId,
          userId: user.id,
          role: invite.role,
          joinedAt: now,
          lastUsedAt: now,
        })
        const accepted = { workspaceId: invite.workspaceId, slug: invite.workspaceSlug }
        if (!isNew) {
          // They joined by themselves in the meantime, and keep the role that they have.
          await appendEvent(tx, principal, {
            workspaceId: invite.workspaceId,
            type: 'invite.accepted',
            target: { type: 'invite', id: invite.id },
            summary: `${user.name} accepted the invite of ${invite.invitedByName}, being a member already`,
            at: now,
          })
          const member = await findMember(tx, invite.workspaceId, user.id)
          return { ...accepted, role: member?.role ?? invite.role }
        }
        await appendEvent(tx, principal, {
          workspaceId: invite.workspaceId,
          type: 'member.joined',
          target: { type: 'user', id: user.id },
          summary: `${user.name} accepted the invite of ${invite.invitedByName} and joined as ${invite.role}`,
          at: now,
        })
        await jobs.enqueue(tx, 'send_invite_accepted', { inviteId: invite.id, memberName: user.name })
        return { ...accepted, role: invite.role }
      })
    },
  }
}

/** Where an invite is seen and accepted. */
export function inviteUrlOf(webUrl: string, token: string): string {
  return `${webUrl}/invites/${token}`
}

function assertAcceptable(invite: InviteByToken, { user }: Principal, now: Date): void {
  const status = statusOf(invite, now)
  if (!isSameAddress(user.email, invite.email)) throw errors.inviteEmailMismatch()
  if (user.emailVerifiedAt === null) throw errors.emailUnverified()
  if (status === 'accepted') throw errors.inviteUsed()
  if (status === 'revoked') throw errors.inviteRevoked()
  if (status === 'expired') throw errors.inviteExpired()
}

function statusOf(
  { state, expiresAt }: Pick<InviteByToken, 'state' | 'expiresAt'>,
  now: Date,
): InvitePreview['status'] {
  if (state === 'accepted' || state === 'revoked') return state
  return state === 'replaced' || expiresAt <= now ? 'expired' : 'pending'
}

function toInvite(row: InviteRow, now: Date): Invite {
  const { id, email, role, invitedByUserId, invitedByName } = row
  return {
    id,
    email,
    role,
    status: row.expiresAt <= now ? 'expired' : 'pending',
    invitedByUserId,
    invitedByName,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    lastSentAt: row.lastSentAt?.toISOString() ?? null,
  }
}

function isSameAddress(address: string, other: string): boolean {
  const canonical = canonicalizeEmail(address)
  return address === other || (canonical !== undefined && canonical === canonicalizeEmail(other))
}
