import type { Executor } from '../../db/client.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import { errors, type ApiError } from '../../kernel/errors.ts'
import type { UserRow } from '../../users/users.repository.ts'
import { findAdmission } from './admission.repository.ts'

type Applicant = Pick<UserRow, 'id' | 'email' | 'emailVerifiedAt'>

/**
 * Why a person may not come in, if so. `SIGN_UP` also holds where an address is verified for the first time: an account
 * of the sign-up form may wait since a time with another setting, or its invite may have been revoked. An account
 * without a password was created by a command, and comes in.
 */
export async function findRefusal(
  executor: Executor,
  user: Applicant,
  { signUp, now }: Pick<EntryRules, 'signUp'> & { now: Date },
): Promise<ApiError | undefined> {
  if (signUp === 'open' || user.emailVerifiedAt !== null) return undefined
  const { isOfSignUp, isExpected } = await findAdmission(executor, user, now)
  if (!isOfSignUp || (signUp === 'invited' && isExpected)) return undefined
  return signUp === 'off' ? errors.signUpDisabled() : errors.inviteRequired()
}

/** Throws `sign_up_disabled` or `invite_required` if the person may not come in. */
export async function requireAdmission(...args: Parameters<typeof findRefusal>): Promise<void> {
  const refusal = await findRefusal(...args)
  if (refusal) throw refusal
}
