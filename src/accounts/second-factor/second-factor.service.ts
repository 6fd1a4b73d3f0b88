import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { SecurityNotice } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { lockUser } from '../../users/users.repository.ts'
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts'
import {
  confirmApp,
  countRecoveryCodes,
  deleteSecondFactor,
  findAuthenticatorApp,
  hasSecondFactor,
  replaceRecoveryCodes,
  upsertUnconfirmedApp,
  useStep,
} from './second-factor.repository.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { renewSessionOf } from '../sessions/prove-session.ts'
import { createTotpSecret, findTotpStep, totpUriOf } from './totp.ts'

/** Whether two-step sign-in is on, and how many recovery codes are left. */
export interface SecondFactorState {
  /** Since when it is on; null if it is off. */
  since: string | null
  recoveryCodesLeft: number
}

/** What an authenticator app needs to be set up. */
export interface AppSetup {
  /** In base32, for typing. */
  secret: string
  /** For a QR code. */
  uri: string
}

export interface SecondFactorService {
  state(principal: Principal): Promise<SecondFactorState>
  /** Begins to set up an authenticator app. Does nothing if two-step sign-in is on. */
  begin(principal: Principal): Promise<void>
  /** The app that is being set up; undefined if there is none. */
  findSetup(principal: Principal): Promise<AppSetup | undefined>
  /**
   * Turns two-step sign-in on with a code of the app that is being set up. Returns the recovery codes, which are not
   * shown again. Throws `code_wrong`, and `two_step_changed` if no app is being set up.
   */
  confirm(principal: Principal, code: string): Promise<string[]>
  /** Replaces the recovery codes. Throws `two_step_changed` if two-step sign-in is off. */
  renewRecoveryCodes(principal: Principal): Promise<string[]>
  /** Turns two-step sign-in off. Does nothing if it is off. */
  remove(principal: Principal): Promise<void>
  /** Turns two-step sign-in of a person off, for operators. Returns whether it was on. */
  removeOf(userId: string): Promise<boolean>
}

export interface SecondFactorServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  secretBox: SecretBox
}

/** Two-step sign-in: the authenticator app of a person, and their recovery codes. */
export function createSecondFactorService(options: SecondFactorServiceOptions): SecondFactorService {
  const { db, clock, jobs, secretBox } = options

  /** Runs a change of the caller's second factor, one at a time, and renews the session of the caller. */
  function change<Result>(principal: Principal, run: (tx: Executor, now: Date) => Promise<Result>) {
    return db.transaction(async (tx) => {
      const now = clock.now()
      await lockUser(tx, principal.user.id)
      await requireLiveCredential(tx, principal, now)
      const result = await run(tx, now)
      await renewSessionOf(tx, principal, { at: now })
      return result
    })
  }

  async function tell(
    tx: Executor,
    userId: string,
    notice: SecurityNotice,
    { requestId }: Pick<Principal, 'requestId'>,
  ): Promise<void> {
    await jobs.enqueue(tx, 'send_security_notice', { userId, notice }, { requestId })
  }

  async function makeRecoveryCodes(tx: Executor, userId: string): Promise<string[]> {
    const codes = createRecoveryCodes()
    await replaceRecoveryCodes(
      tx,
      userId,
      codes.flatMap((code) => hashRecoveryCode(code) ?? []),
    )
    return codes
  }

  return {
    async state({ user }) {
      const [app, recoveryCodesLeft] = await Promise.all([
        findAuthenticatorApp(db, user.id),
        countRecoveryCodes(db, user.id),
      ])
      return { since: app?.confirmedAt?.toISOString() ?? null, recoveryCodesLeft }
    },

    begin: (principal) =>
      change(principal, async (tx, now) => {
        const sealedSecret = secretBox.seal(await createTotpSecret())
        await upsertUnconfirmedApp(tx, { userId: principal.user.id, sealedSecret, createdAt: now })
      }),

    async findSetup({ user }) {
      const app = await findAuthenticatorApp(db, user.id)
      const secret = app && !app.confirmedAt ? secretBox.open(app.sealedSecret) : undefined
      return secret === undefined ? undefined : { secret, uri: await totpUriOf(secret, user.email) }
    },

    confirm: (principal, code) =>
      change(principal, async (tx, now) => {
        const userId = principal.user.id
        const app = await findAuthenticatorApp(tx, userId)
        const secret = app && !app.confirmedAt ? secretBox.open(app.sealedSecret) : undefined
        if (secret === undefined) throw errors.twoStepChanged()
        const step = await findTotpStep(secret, code, now)
        if (step === undefined || !(await useStep(tx, userId, step)))
          throw errors.codeWrong({ field: 'code' })
        await confirmApp(tx, { userId, at: now })
        await tell(tx, userId, 'two_step_on', principal)
        return makeRecoveryCodes(tx, userId)
      }),

    renewRecoveryCodes: (principal) =>
      change(principal, async (tx) => {
        const userId = principal.user.id
        if (!(await hasSecondFactor(tx, userId))) throw errors.twoStepChanged()
        await tell(tx, userId, 'recovery_codes_renewed', principal)
        return makeRecoveryCodes(tx, userId)
      }),

    remove: (principal) =>
      change(principal, async (tx) => {
        const userId = principal.user.id
        if (await deleteSecondFactor(tx, userId)) await tell(tx, userId, 'two_step_off', principal)
      }),

    removeOf: (userId) =>
      db.transaction(async (tx) => {
        await lockUser(tx, userId)
        const wasOn = await deleteSecondFactor(tx, userId)
        if (wasOn) await tell(tx, userId, 'two_step_off_by_operator', {})
        return wasOn
      }),
  }
}
