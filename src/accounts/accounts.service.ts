import { tellStoppedKeys } from '../areas/apiKeys/stopped-keys.ts'
import { erasePersonFromEvents, findTracesInEvents } from '../areas/events/events.repository.ts'
import { insertServiceEvent } from '../access/event-log.repository.ts'
import { deleteInvitesOfPerson } from '../areas/invites/invites.repository.ts'
import { lockMembersOfWorkspace } from '../access/memberships.repository.ts'
import { tellOfKnownSecrets, type FormerManager } from '../areas/apiKeys/known-secrets.ts'
import { nameSecrets } from '../domain/known-secrets.ts'
import { deleteUnusedAttachmentsOf } from '../areas/attachments/attachments.repository.ts'
import { deleteDraftsOf } from '../areas/seeds/tables/imports.repository.ts'
import { renameCommenter } from '../areas/comments/comments.repository.ts'
import { clearPersonOfSeeds } from '../areas/seeds/leads.repository.ts'
import { renameActor } from '../areas/notifications/notifications.repository.ts'
import { renameAuthor } from '../areas/evidence/evidence.repository.ts'
import {
  forgetCreator,
  listCrowdedMemberships,
  type CrowdedMembershipRow,
} from '../areas/workspaces/workspaces.repository.ts'
import { eraseWorkspace } from '../areas/workspaces/ownership/ownership.repository.ts'
import { deleteRecordsOfPerson } from '../agents/oauth/records/oauth-records.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import { prepareErasure } from '../db/sql/erasures.ts'
import { deletedUserName } from '../domain/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import { operatorName, type PrincipalUser } from '../domain/principal.ts'
import { parseQuery, requireName } from '../kernel/text.ts'
import { markUsedPictureForDeletion } from '../pictures/pictures.repository.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  hasUsers,
  insertUser,
  listUsers,
  lockUser,
  setSuspended,
  type UserRow,
} from '../users/users.repository.ts'
import { deleteAccountTokens, markEmailVerified } from './sign-in/credentials.repository.ts'
import { listFormerEmails } from './email-changes/email-changes.repository.ts'
import { autoJoinByDomain } from '../areas/members/join-by-domain.ts'

/** A person, as operators see them. */
export interface Account extends PrincipalUser {
  createdAt: Date
  /** Since when the person is suspended. */
  suspendedAt: Date | null
}

/** A person in the operators' list. */
export interface ListedAccount {
  id: string
  email: string
  name: string
  isVerified: boolean
  isSuspended: boolean
  workspaceCount: number
  createdAt: string
}

export interface WorkspaceOfPerson {
  slug: string
  name: string
  memberCount: number
}

/** The secrets of a workspace that a person was shown and that still work, in words. */
export interface SecretsOfWorkspace {
  slug: string
  secrets: string[]
}

/** The result of deleting a person, or the workspaces that prevent it. */
export type Deletion =
  | {
      isDeleted: true
      /** The workspaces that the person was removed from. */
      left: WorkspaceOfPerson[]
      /** The workspaces that were deleted with them. */
      deleted: WorkspaceOfPerson[]
      /** What they know of those that stay. */
      known: SecretsOfWorkspace[]
    }
  | {
      isDeleted: false
      /** Workspaces with other members of which the person is the only owner. */
      lastOwnerOf: WorkspaceOfPerson[]
      /** Workspaces without other members, unless `withWorkspaces`. */
      aloneIn: WorkspaceOfPerson[]
    }

/** The result of suspending a person, or the workspaces that prevent it. */
export type Suspension =
  | {
      isSuspended: true
      /** False if they were suspended before. */
      changed: boolean
      /** The workspaces that nobody owns who is not suspended. */
      withoutOwner: WorkspaceOfPerson[]
      /** What they know of their workspaces; of nothing if they were suspended before. */
      known: SecretsOfWorkspace[]
    }
  | { isSuspended: false; lastOwnerOf: WorkspaceOfPerson[] }

export interface AccountsService {
  /** Creates a person. Throws `email_invalid`, `name_invalid` and `email_taken`. */
  create(input: { email: string; name: string; isVerified: boolean }): Promise<Account>
  findByEmail(email: string): Promise<Account | undefined>
  /** For an id that `isId` accepts. */
  findById(id: string): Promise<Account | undefined>
  /** Lists people, newest first, with the total number of matches. Throws `email_invalid` and `text_invalid`. */
  list(filter: {
    email?: string
    /** A part of the name or the address. */
    query?: string
    limit?: number
  }): Promise<{ items: ListedAccount[]; total: number }>
  /**
   * Marks the email address of a person as verified. The person joins the workspace that allows its domain, if there is
   * exactly one. Returns false if the address was verified before. Throws `not_found`.
   */
  verify(userId: string): Promise<boolean>
  /**
   * Deletes a person with their credentials, memberships, grants, photo, and invites from and to them. Their seeds and
   * evidence and the events about them stay, without their name. Deletes nothing if a workspace would be left without
   * an owner or, unless `withWorkspaces`, without members. Throws `not_found`.
   */
  delete(userId: string, options: { withWorkspaces: boolean }): Promise<Deletion>
  /**
   * Suspends a person (docs/design/accounts.md#suspended-people), with an event in each of their workspaces, whose owners and
   * admins are told which secrets they know. Changes nothing if they are the only owner of a workspace, unless `isForced`. Throws `not_found`.
   */
  suspend(userId: string, options: { isForced: boolean }): Promise<Suspension>
  /** Ends the suspension of a person, with the same events. Returns false if they were not suspended. Throws `not_found`. */
  unsuspend(userId: string): Promise<boolean>
  /** Whether there are no people yet. */
  isEmpty(): Promise<boolean>
}

export interface AccountsServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
}

/** People, for the command line, the first run and the website. */
export function createAccountsService({ db, clock, jobs }: AccountsServiceOptions): AccountsService {
  async function lockPerson(tx: Executor, userId: string): Promise<UserRow> {
    const user = await lockUser(tx, userId)
    if (user?.kind !== 'person') throw errors.notFound()
    return user
  }

  return {
    async create(input) {
      const email = requireEmail(input.email)
      const name = requireName(input.name)
      const now = clock.now()
      const account = {
        id: createId(),
        email,
        emailVerifiedAt: input.isVerified ? now : null,
        name,
        imageKey: null,
        createdAt: now,
        suspendedAt: null,
      }
      await db.transaction(async (tx) => {
        await insertUser(tx, account)
        if (account.emailVerifiedAt) await autoJoinByDomain(tx, account, now)
      })
      return account
    },

    async findByEmail(text) {
      const email = parseEmail(text)
      return email === undefined ? undefined : findUserByEmail(db, email)
    },

    async findById(id) {
      const user = await findUserById(db, id)
      return user?.kind === 'person' ? user : undefined
    },

    async list({ email, query, limit }) {
      const rows = await listUsers(db, {
        email: email === undefined ? undefined : requireEmail(email),
        text: parseQuery(query),
        limit,
      })
      const items = rows.map((row) => ({
        id: row.id,
        email: row.email,
        name: row.name,
        isVerified: row.emailVerifiedAt !== null,
        isSuspended: row.suspendedAt !== null,
        workspaceCount: row.workspaceCount,
        createdAt: row.createdAt.toISOString(),
      }))
      return { items, total: rows[0]?.total ?? 0 }
    },

    verify: (userId) =>
      db.transaction(async (tx) => {
        const user = await lockPerson(tx, userId)
        if (user.emailVerifiedAt !== null) return false
        const now = clock.now()
        await markEmailVerified(tx, user, now)
        await deleteAccountTokens(tx, user.id, 'verify_email')
        await autoJoinByDomain(tx, { ...user, emailVerifiedAt: now }, now)
        return true
      }),

    delete: (userId, { withWorkspaces }) =>
      db.transaction(async (tx): Promise<Deletion> => {
        const user = await lockPerson(tx, userId)
        const memberships = await lockMemberships(tx, user.id)
        const alone = memberships.filter(({ memberCount }) => memberCount === 1)
        const shared = memberships.filter(({ memberCount }) => memberCount > 1)
        const lastOwnerOf = shared.filter(isOnlyOwner)
        if (lastOwnerOf.length > 0 || (alone.length > 0 && !withWorkspaces)) {
          return {
            isDeleted: false,
            lastOwnerOf: lastOwnerOf.map(toWorkspace),
            aloneIn: withWorkspaces ? [] : alone.map(toWorkspace),
          }
        }
        const known = await erase(tx, user, { alone, shared }, clock.now())
        await jobs.enqueue(tx, 'collect_pictures', {}, { requestId: undefined })
        return { isDeleted: true, left: shared.map(toWorkspace), deleted: alone.map(toWorkspace), known }
      }),

    suspend: (userId, { isForced }) =>
      db.transaction(async (tx): Promise<Suspension> => {
        const user = await lockPerson(tx, userId)
        const memberships = await lockMemberships(tx, userId)
        const lastOwnerOf = memberships.filter(isOnlyOwner).map(toWorkspace)
        if (user.suspendedAt !== null)
          return { isSuspended: true, changed: false, withoutOwner: lastOwnerOf, known: [] }
        if (lastOwnerOf.length > 0 && !isForced) return { isSuspended: false, lastOwnerOf }
        const now = clock.now()
        await setSuspended(tx, userId, now)
        await tellOfSuspension(tx, user, { type: 'member.suspended', memberships, now })
        const known: SecretsOfWorkspace[] = []
        for (const { id: workspaceId, slug, role } of memberships) {
          const former = { workspaceId, userId, name: user.name, from: role, isSuspended: true, now }
          known.push(...(await tellKnownSecrets(tx, slug, former, operatorName)))
        }
        return { isSuspended: true, changed: true, withoutOwner: lastOwnerOf, known }
      }),

    unsuspend: (userId) =>
      db.transaction(async (tx) => {
        const user = await lockPerson(tx, userId)
        if (user.suspendedAt === null) return false
        const memberships = await lockMemberships(tx, userId)
        await setSuspended(tx, userId, null)
        await tellOfSuspension(tx, user, { type: 'member.unsuspended', memberships, now: clock.now() })
        return true
      }),

    isEmpty: async () => !(await hasUsers(db)),
  }
}

/** The workspaces of a person. Locks the members of each, so that no other owner leaves or is suspended meanwhile. */
async function lockMemberships(tx: Executor, userId: string): Promise<CrowdedMembershipRow[]> {
  for (const { id } of await listCrowdedMemberships(tx, userId)) await lockMembersOfWorkspace(tx, id)
  return listCrowdedMemberships(tx, userId)
}

const isOnlyOwner = ({ role, ownerCount }: CrowdedMembershipRow) => role === 'owner' && ownerCount === 1

async function tellOfSuspension(
  tx: Executor,
  { id: userId, name }: UserRow,
  {
    type,
    memberships,
    now: at,
  }: {
    type: 'member.suspended' | 'member.unsuspended'
    memberships: readonly CrowdedMembershipRow[]
    now: Date
  },
): Promise<void> {
  for (const { id: workspaceId } of memberships)
    await insertServiceEvent(tx, { workspaceId, type, data: { userId, name }, at }, operatorName)
}

/** As `tellOfKnownSecrets`, with the event. Returns what the workspace was told of; nothing if there was nothing. */
async function tellKnownSecrets(
  tx: Executor,
  slug: string,
  former: Omit<FormerManager, 'to' | 'actor'>,
  actorName?: string,
): Promise<SecretsOfWorkspace[]> {
  const data = await tellOfKnownSecrets(tx, { ...former, to: null, actor: null })
  if (!data) return []
  const { workspaceId, now: at } = former
  await insertServiceEvent(tx, { workspaceId, type: 'service_account.keys_known', data, at }, actorName)
  return [{ slug, secrets: nameSecrets(data) }]
}

/** Deletes a person, and erases their name and email address from the data that stays. Returns which secrets they know. */
async function erase(
  tx: Executor,
  user: UserRow,
  { alone, shared }: Record<'alone' | 'shared', CrowdedMembershipRow[]>,
  now: Date,
): Promise<SecretsOfWorkspace[]> {
  await prepareErasure(tx)
  const secrets: SecretsOfWorkspace[] = []
  for (const workspace of alone) await eraseWorkspace(tx, workspace)
  const ownEmails = [user.email, ...(await listFormerEmails(tx, user.id))]
  const invites = await deleteInvitesOfPerson(tx, { userId: user.id, emails: ownEmails })
  for (const { id, workspaceId } of invites.filter(({ state }) => state === 'open')) {
    await insertServiceEvent(tx, {
      workspaceId,
      type: 'invite.revoked',
      data: { inviteId: id, email: null },
      at: now,
    })
  }
  for (const { id: workspaceId, slug, role } of shared) {
    const person = { userId: user.id, name: deletedUserName }
    const stopped = await tellStoppedKeys(tx, { workspaceId, userId: user.id, actor: null, now })
    for (const data of stopped)
      await insertServiceEvent(tx, { workspaceId, type: 'api_key.stopped', data, at: now })
    const removed = { ...person, reason: 'account_deleted' } as const
    await insertServiceEvent(tx, { workspaceId, type: 'member.removed', data: removed, at: now })
    secrets.push(...(await tellKnownSecrets(tx, slug, { workspaceId, ...person, from: role, now })))
  }
  await clearPersonOfSeeds(tx, user.id)
  const authorNames = [
    ...(await renameAuthor(tx, user.id, deletedUserName)),
    ...(await renameCommenter(tx, user.id, deletedUserName)),
  ]
  await renameActor(tx, user.id, deletedUserName)
  const traces = await findTracesInEvents(tx, user.id)
  const erasedFrom = new Set([...traces.workspaceIds, ...shared.map(({ id }) => id)])
  for (const workspaceId of erasedFrom)
    await insertServiceEvent(tx, { workspaceId, type: 'person.erased', data: { userId: user.id }, at: now })
  await erasePersonFromEvents(tx, {
    userId: user.id,
    names: [user.name, ...authorNames, ...traces.names],
    emails: [...ownEmails, ...invites.filter(({ isTo }) => isTo).map(({ email }) => email)],
    workspaceIds: [
      ...new Set([
        // The events that were appended above are inserted at the end of the transaction.
        ...erasedFrom,
        ...invites.map(({ workspaceId }) => workspaceId),
      ]),
    ],
    replacement: deletedUserName,
  })
  await forgetCreator(tx, user.id)
  await deleteRecordsOfPerson(tx, user.id)
  if (user.imageKey !== null) await markUsedPictureForDeletion(tx, user.imageKey)
  await deleteUnusedAttachmentsOf(tx, user.id)
  await deleteDraftsOf(tx, user.id)
  await deleteUser(tx, user.id)
  return secrets
}

function requireEmail(text: string): string {
  const email = parseEmail(text)
  if (email === undefined) throw errors.emailInvalid({ field: 'email' })
  return email
}

function toWorkspace({ slug, name, memberCount }: CrowdedMembershipRow): WorkspaceOfPerson {
  return { slug, name, memberCount }
}
