import { appendEvent } from '../areas/events/events.repository.ts'
import { insertMemberIfNew, lockMembersOfWorkspace } from '../areas/members/members.repository.ts'
import { listWorkspacesAllowing, membershipsMax } from '../areas/workspaces/workspaces.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { parseDomains } from '../kernel/domains.ts'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal, PrincipalUser } from '../kernel/principal.ts'
import { nameLengthMax, parseLine } from '../kernel/text.ts'
import { findUserByEmail, hasUsers, insertUser, listUsers } from './accounts.repository.ts'

/** A person, as operators see them. */
export interface Account extends PrincipalUser {
  createdAt: Date
}

export interface AccountsService {
  /** Throws `email_invalid`, `name_invalid` and `email_taken`. A verified person counts as having proven the address. */
  create(input: { email: string; name: string; isVerified: boolean }): Promise<Account>
  findByEmail(email: string): Promise<Account | undefined>
  list(): Promise<Account[]>
  /** Whether there is nobody yet. */
  isEmpty(): Promise<boolean>
}

/** People, whichever way they come: the command line, the first run, the website. */
export function createAccountsService({ db, clock }: { db: Database; clock: Clock }): AccountsService {
  return {
    async create(input) {
      const email = parseEmail(input.email)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      const name = parseLine(input.name, nameLengthMax)
      if (name === undefined) throw errors.nameInvalid({ field: 'name' })
      const now = clock.now()
      const account = {
        id: createId(),
        email,
        emailVerifiedAt: input.isVerified ? now : null,
        name,
        imageKey: null,
        createdAt: now,
      }
      await db.transaction(async (tx) => {
        await insertUser(tx, account)
        if (account.emailVerifiedAt) await joinAllowingWorkspaces(tx, account, now)
      })
      return account
    },
    findByEmail: (email) => findUserByEmail(db, email.trim()),
    list: () => listUsers(db),
    isEmpty: async () => !(await hasUsers(db)),
  }
}

/** Makes a person a member wherever the domain of their address, known to be theirs, is allowed. */
async function joinAllowingWorkspaces(tx: Executor, user: PrincipalUser, now: Date): Promise<void> {
  const [domain] = parseDomains(user.email.slice(user.email.lastIndexOf('@')))
  if (domain === undefined) return
  const principal: Principal = { user, source: 'system', apiKeyId: null, grantId: null }
  for (const workspaceId of await listWorkspacesAllowing(tx, domain, membershipsMax)) {
    await lockMembersOfWorkspace(tx, workspaceId)
    const row = { workspaceId, userId: user.id, role: 'member' as const, joinedAt: now, lastUsedAt: now }
    if (!(await insertMemberIfNew(tx, row))) continue
    await appendEvent(tx, principal, {
      workspaceId,
      type: 'member.joined',
      target: { type: 'user', id: user.id },
      summary: `${user.name} joined, having an address at ${domain}`,
      at: now,
    })
  }
}
