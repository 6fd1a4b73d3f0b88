import type { Executor } from '../../db/client.ts'
import type { UserRow } from '../../users/users.repository.ts'
import { deletePassword, markEmailVerified } from './credentials.repository.ts'

/**
 * Marks an email address as verified by a link or an identity provider. Deletes the password, since somebody else
 * may have signed up with the address and chosen it (docs/design/accounts.md#addresses-are-verified-with-the-password).
 */
export async function verifyWithoutPassword(
  tx: Executor,
  user: Pick<UserRow, 'id' | 'email' | 'name'>,
  now: Date,
): Promise<void> {
  await deletePassword(tx, user.id)
  await markEmailVerified(tx, user, now)
}
