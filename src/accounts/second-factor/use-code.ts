import type { Executor } from '../../db/client.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { findAuthenticatorApp, useRecoveryCode, useStep } from './second-factor.repository.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { findTotpStep } from './totp.ts'

/**
 * Uses a code of the person's authenticator app, or one of their recovery codes. Each counts once. Returns false for a
 * wrong or used one. A mail tells the person of a used recovery code.
 */
export async function useCode(
  tx: Executor,
  use: { userId: string; code: string; now: Date; requestId: string | undefined },
  { secretBox, jobs }: { secretBox: SecretBox; jobs: JobQueue },
): Promise<boolean> {
  const { userId, code, now, requestId } = use
  const app = await findAuthenticatorApp(tx, userId)
  if (!app?.confirmedAt) return false
  const recoveryHash = hashRecoveryCode(code)
  if (recoveryHash) {
    const isUsed = await useRecoveryCode(tx, userId, recoveryHash)
    const notice = { userId, notice: 'recovery_code_used' } as const
    if (isUsed) await jobs.enqueue(tx, 'send_security_notice', notice, { requestId })
    return isUsed
  }
  const secret = secretBox.open(app.sealedSecret)
  const step = secret === undefined ? undefined : await findTotpStep(secret, code, now)
  return step !== undefined && useStep(tx, userId, step)
}
