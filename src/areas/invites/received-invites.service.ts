import type { Changes } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Json } from '../../kernel/json-text.ts'
import { readPage, timeAt, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  acceptInvite,
  declineInvite,
  isSameAddress,
  statusOf,
  type AcceptedInvite,
  type FindInvite,
} from './accept-invite.ts'
import type { InvitePreview, OwnInvite } from './invites.schemas.ts'
import { findInviteByToken, findInviteTo, listInvitesTo } from './received-invites.repository.ts'

export type { AcceptedInvite, InvitePreview, OwnInvite }

/** What people do with the invites to them. */
export interface ReceivedInvitesService {
  /** The invite of a link, also for somebody who is not signed in. Throws `not_found`. */
  preview(principal: Principal | undefined, token: string): Promise<InvitePreview>
  /**
   * Makes the caller a member. Throws `not_found`, `invite_expired`, `invite_revoked`, `invite_declined`, `invite_used`,
   * `invite_email_mismatch`, `email_unverified` and `workspace_limit`.
   */
  accept(principal: Principal, token: string): Promise<AcceptedInvite>
  /** Declines it for good. Idempotent. Throws what `accept` throws, except `workspace_limit`. */
  decline(principal: Principal, token: string): Promise<void>
  /**
   * The invites to the caller's verified address that they can accept, newest first. Without those to workspaces that they
   * are a member of. A key that is bound to workspaces gets only those to these.
   */
  list(principal: Principal, page: PageRequest): Promise<Page<OwnInvite>>
  /** Accepts an invite to the caller's verified address, as `accept` does. Throws `not_found` for any other invite. */
  acceptById(principal: Principal, inviteId: string): Promise<AcceptedInvite>
  /** Declines an invite to the caller's verified address, as `decline` does. Throws `not_found` for any other invite. */
  declineById(principal: Principal, inviteId: string): Promise<void>
}

export interface ReceivedInvitesServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  pictures: PictureStore
}

export function createReceivedInvitesService(options: ReceivedInvitesServiceOptions): ReceivedInvitesService {
  const { db, clock, changes, pictures } = options

  /** Accepts the invite that `find` finds, and finds again under the lock. Throws `not_found` if there is none. */
  async function acceptFound(principal: Principal, find: FindInvite): Promise<AcceptedInvite> {
    const found = await find(db)
    if (!found) throw errors.notFound()
    return changes.make(principal, (context) => acceptInvite(context, { principal, found, find }))
  }

  /** Declines the invite that `find` finds, and finds again under the lock. Throws `not_found` if there is none. */
  async function declineFound(principal: Principal, find: FindInvite): Promise<void> {
    const found = await find(db)
    if (!found) throw errors.notFound()
    await changes.make(principal, (context) => declineInvite(context, { principal, found, find }))
  }

  /** How an invite to the caller's verified address is found. Throws `not_found` without such an address. */
  function findOwn({ user }: Principal, inviteId: string): FindInvite {
    const { email, emailVerifiedAt } = user
    if (emailVerifiedAt === null || !isId(inviteId)) throw errors.notFound()
    return (executor) => findInviteTo(executor, email, inviteId)
  }

  const findByToken = (token: string): FindInvite => {
    const tokenHash = hashSecret(token)
    return (executor) => findInviteByToken(executor, tokenHash)
  }

  return {
    async preview(principal, token) {
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
        emailMatches: principal !== undefined && isSameAddress(principal.user.email, invite.email),
      }
    },

    accept: async (principal, token) => acceptFound(principal, findByToken(token)),

    decline: async (principal, token) => declineFound(principal, findByToken(token)),

    async list({ user, restrictions }, page) {
      const { id: userId, email } = user
      if (user.emailVerifiedAt === null) return { items: '[]' as Json<OwnInvite[]>, nextCursor: null }
      const workspaceIds = restrictions?.workspaceIds ?? null
      const pictureUrlPrefix = pictures.urlPrefix
      let times = ''
      return readPage<OwnInvite>(page, {
        listId: `me.listInvites ${userId}`,
        order: 'newestFirst',
        async read(range) {
          const query = { email, userId, workspaceIds, now: clock.now(), pictureUrlPrefix, ...range }
          const rows = await listInvitesTo(db, query)
          times = rows.times
          return rows
        },
        positionOf: ({ id }, index) => ({ at: timeAt(times, index), id }),
      })
    },

    acceptById: async (principal, inviteId) => acceptFound(principal, findOwn(principal, inviteId)),

    declineById: async (principal, inviteId) => declineFound(principal, findOwn(principal, inviteId)),
  }
}
