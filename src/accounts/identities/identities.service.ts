import { revokeAssertedGrants } from '../../agents/oauth/records/grant-records.repository.ts'
import { lockUser } from '../../users/users.repository.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { Database } from '../../db/client.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import type { ExternalIdentity, IdentityProvider } from '../../platform/identity/identity.port.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { findPasswordHash } from '../sign-in/credentials.repository.ts'
import { linkIdentity, listIdentities, unlinkIdentities, type IdentityRow } from './identities.repository.ts'
import { listPasskeys } from '../passkeys/passkeys.repository.ts'

type Provider = Pick<IdentityProvider, 'issuer' | 'name'>

/** The accounts at identity providers that a person signs in with. */
export interface IdentitiesService {
  /** Since when the caller has linked an account of the provider; undefined if they have none. */
  findLinked(principal: Principal, provider: Provider): Promise<string | undefined>
  /** Links an account, whatever its email address. Throws `identity_taken` if somebody else has linked it. */
  link(principal: Principal, provider: Provider, identity: ExternalIdentity): Promise<void>
  /**
   * Unlinks the accounts of a provider, which then no longer sign in. Does nothing if there are none. Throws
   * `last_sign_in_way` if the caller has no password, no passkey and no account of another provider.
   */
  unlink(principal: Principal, provider: Provider): Promise<void>
}

export function createIdentitiesService(options: {
  db: Database
  clock: Clock
  jobs: JobQueue
  entry: EntryRules
}): IdentitiesService {
  const { db, clock, jobs, entry } = options
  const isOf = ({ issuer }: Provider, row: IdentityRow) => new URL(row.issuer).href === new URL(issuer).href

  return {
    async findLinked({ user }, provider) {
      const rows = await listIdentities(db, user.id)
      return rows.find((row) => isOf(provider, row))?.createdAt.toISOString()
    },

    link: (principal, provider, { issuer, subject }) =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const userId = principal.user.id
        await lockUser(tx, userId)
        await requireLiveCredential(tx, principal, now)
        if (!(await linkIdentity(tx, { issuer, subject, userId, createdAt: now })))
          throw errors.identityTaken()
        const notice = { userId, notice: 'provider_linked' as const, detail: provider.name }
        await jobs.enqueue(tx, 'send_security_notice', notice, { requestId: principal.requestId })
      }),

    unlink: ({ user, requestId }, provider) =>
      db.transaction(async (tx) => {
        await lockUser(tx, user.id)
        const rows = await listIdentities(tx, user.id)
        const [linked] = rows.filter((row) => isOf(provider, row))
        if (!linked) return
        const hasOther =
          rows.some((row) => !isOf(provider, row)) ||
          (entry.hasPasswords && (await findPasswordHash(tx, user.id)) !== undefined) ||
          (await listPasskeys(tx, user.id)).length > 0
        if (!hasOther) throw errors.lastSignInWay()
        const now = clock.now()
        await unlinkIdentities(tx, { userId: user.id, issuer: linked.issuer, at: now })
        // What they let in goes by this account alone.
        await revokeAssertedGrants(tx, { userId: user.id, issuer: linked.issuer }, now)
        const notice = { userId: user.id, notice: 'provider_unlinked' as const, detail: provider.name }
        await jobs.enqueue(tx, 'send_security_notice', notice, { requestId })
      }),
  }
}
