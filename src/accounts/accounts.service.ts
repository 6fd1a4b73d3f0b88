import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { PrincipalUser } from '../kernel/principal.ts'
import { requireName } from '../kernel/text.ts'
import { findUserByEmail, hasUsers, insertUser, listUsers } from './accounts.repository.ts'
import { joinAllowingWorkspaces } from './join-allowing-workspaces.ts'

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
      const name = requireName(input.name)
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
