import type { Changes } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Role } from '../../kernel/roles.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import {
  acceptInvite,
  isSameAddress,
  mayStillInvite,
  statusOf,
  type AcceptedInvite,
  type FindInvite,
} from './accept-invite.ts'
import type { InvitePreview } from './invites.schemas.ts'
import { findInviteByToken, findInviteTo, listInvitesTo } from './received-invites.repository.ts'

/** The most invites in the list of a recipient. */
const listMax = 20

export type { InvitePreview }

/** An invite that the caller can accept. */
export interface OwnInvite {
  id: string
  workspaceId: string
  workspaceName: string
  workspaceIconUrl: string | null
  role: Role
  invitedByName: string
  expiresAt: string
}

/** What people do with the invites to them. */
export interface ReceivedInvitesService {
  /** The invite of a link, also for somebody who is not signed in. Throws `not_found`. */
  preview(principal: Principal | undefined, token: string): Promise<InvitePreview>
  /**
   * Makes the caller a member. Throws `not_found`, `invite_expired`, `invite_revoked`, `invite_used`,
   * `invite_email_mismatch`, `email_unverified` and `workspace_limit`.
   */
  accept(principal: Principal, token: string): Promise<AcceptedInvite>
  /**
   * The invites to the caller's verified address that they can accept, newest first, at most `listMax`. Without
   * those to workspaces that they are a member of.
   */
  list(principal: Principal): Promise<OwnInvite[]>
  /** Accepts an invite to the caller's verified address, as `accept` does. Throws `not_found` for any other invite. */
  acceptById(principal: Principal, inviteId: string): Promise<AcceptedInvite>
}

export interface ReceivedInvitesServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  pictures: PictureStore
  jobs: JobQueue
}

export function createReceivedInvitesService(options: ReceivedInvitesServiceOptions): ReceivedInvitesService {
  const { db, clock, changes, pictures, jobs } = options

  /** Accepts the invite that `find` finds, and finds again under the lock. Throws `not_found` if there is none. */
  async function acceptFound(principal: Principal, find: FindInvite): Promise<AcceptedInvite> {
    const found = await find(db)
    if (!found) throw errors.notFound()
    return changes.make(principal, (context) => acceptInvite(context, { principal, found, find, jobs }))
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

    async accept(principal, token) {
      const tokenHash = hashSecret(token)
      return acceptFound(principal, (executor) => findInviteByToken(executor, tokenHash))
    },

    async list({ user }) {
      if (user.emailVerifiedAt === null) return []
      const query = { email: user.email, userId: user.id, now: clock.now(), limit: listMax }
      const rows = await listInvitesTo(db, query)
      return rows
        .filter(({ inviterRole, role }) => mayStillInvite(inviterRole, role))
        .map(({ id, workspaceId, workspaceName, workspaceIconKey, role, invitedByName, expiresAt }) => ({
          ...{ id, workspaceId, workspaceName, role, invitedByName },
          workspaceIconUrl: pictures.urlOf(workspaceIconKey),
          expiresAt: expiresAt.toISOString(),
        }))
    },

    async acceptById(principal, inviteId) {
      const { email, emailVerifiedAt } = principal.user
      if (emailVerifiedAt === null || !isId(inviteId)) throw errors.notFound()
      return acceptFound(principal, (executor) => findInviteTo(executor, email, inviteId))
    },
  }
}
