import type { Executor } from '../../db/client.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import type { RequestOfVisitor } from '../../domain/principal.ts'
import { parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import { parseName } from '../../kernel/text.ts'
import type { ExternalIdentity } from '../../platform/identity/identity.port.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { findUserByEmail, insertUserIfNew, lockUser, type UserRow } from '../../users/users.repository.ts'
import { requireAdmission } from './admission.ts'
import { insertIdentityIfNew } from './credentials.repository.ts'
import { verifyWithoutPassword } from './verify-without-password.ts'

/**
 * Finds or creates the person with an email address that a provider has verified, and links the provider's account.
 * Throws `identity_unverified`, `account_suspended`, and `sign_up_disabled` instead of creating or first verifying one.
 */
export async function linkIdentity(
  tx: Executor,
  identity: ExternalIdentity,
  {
    now,
    jobs,
    signUp,
    requestId,
  }: { now: Date; jobs: JobQueue } & RequestOfVisitor & Pick<EntryRules, 'signUp'>,
): Promise<UserRow> {
  const email = identity.emailFault ? undefined : parseEmail(identity.email ?? '')
  if (email === undefined) throw errors.identityUnverified()
  const fallbackName = email.slice(0, email.indexOf('@'))
  const name = parseName(identity.name ?? '') ?? parseName(fallbackName) ?? 'New user'
  const person = { id: createId(), email, name, emailVerifiedAt: now, createdAt: now }
  const isNew = await insertUserIfNew(tx, person)
  if (isNew && signUp === 'off') throw errors.signUpDisabled()
  const found = await findUserByEmail(tx, email)
  const locked = found && (await lockUser(tx, found.id))
  if (!locked) throw errors.identityUnverified()
  // Before anything of the account changes: a second step would follow.
  if (locked.suspendedAt !== null) throw errors.accountSuspended()
  // With `invited`, the provider admits its people.
  if (signUp === 'off') await requireAdmission(tx, locked, { signUp, now })
  const user = withAddressOfLink(locked, email)
  if (user.emailVerifiedAt === null) await verifyWithoutPassword(tx, user, now)
  await insertIdentityIfNew(tx, {
    issuer: identity.issuer,
    subject: identity.subject,
    userId: user.id,
    createdAt: now,
  })
  if (!isNew) {
    const detail = new URL(identity.issuer).host
    const notice = { userId: user.id, notice: 'provider_linked' as const, detail }
    await jobs.enqueue(tx, 'send_security_notice', notice, { requestId })
  }
  return { ...user, emailVerifiedAt: user.emailVerifiedAt ?? now }
}

/**
 * The person with the email address that a link was sent to. Until an address is verified, the stored spelling may
 * belong to another mailbox.
 */
export function withAddressOfLink(user: UserRow, email: string | null): UserRow {
  return user.emailVerifiedAt === null && email !== null ? { ...user, email } : user
}
