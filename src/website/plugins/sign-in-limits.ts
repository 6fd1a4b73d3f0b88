import type { FastifyRequest } from 'fastify'
import { isRecoveryCode } from '../../accounts/second-factor/recovery-codes.ts'
import type { SessionsService } from '../../accounts/sessions/sessions.service.ts'
import type { App } from '../../http/app-types.ts'
import { addressOf, createRateLimiter, type RateLimiter } from '../../http/limits/rate-limits.ts'
import { canonicalizeEmail, parseEmail } from '../../kernel/email.ts'
import { ApiError, errors, type ErrorFactory } from '../../kernel/errors.ts'
import { hashSecret } from '../../kernel/tokens.ts'

const windowSeconds = 60
const mailWindowSeconds = 60 * 60
const dayInSeconds = 24 * 60 * 60
// Colleagues share a client address, and people have several devices: limits over all accounts of an address, or over
// all addresses of an account, are this many times higher.
const widerFactor = 10
// Each of these is a mail that somebody did not ask for.
const widerMailFactor = 4
const clearedPerDay = 3

export interface SignInLimitsOptions {
  /** Failed attempts per minute, account and client address; 0 = no limit. */
  signInLimitPerMinute: number
  /** Mails per hour, recipient and client address; 0 = no limit. */
  mailLimitPerHour: number
}

/**
 * Rate limits of attempts to enter a password or a code, and of requested mails. A browser in which the person has
 * signed in before has limits of its own, so that nobody can lock them out of it
 * (docs/design/limits.md#known-browsers).
 */
export interface SignInLimits {
  /**
   * Runs an attempt to enter the password of an account, and counts it if the password was wrong. Throws
   * `too_many_sign_ins` after too many failures from the client's address, for this account or for all accounts; and
   * `sign_in_by_link` after too many failures for the account from all addresses, since its owner can still sign in by
   * mail. `account` is an email address, or what else identifies it.
   */
  attemptPassword<T>(request: FastifyRequest, account: string, attempt: () => Promise<T>): Promise<T>
  /**
   * Runs an attempt to enter a code of the second step, and counts it if the code was wrong. Throws `too_many_sign_ins`
   * after too many failures in a minute from the client's address, or in a day from all addresses: whoever gets here
   * knows the password, and a code of an app has six digits. A recovery code is too long to guess, and counts for the
   * address alone. `account` is the email address.
   */
  attemptCode<T>(
    request: FastifyRequest,
    input: { account: string; code: string },
    attempt: () => Promise<T>,
  ): Promise<T>
  /**
   * Ends what was counted in a day against the codes of an account, from all addresses and in this browser. For a person
   * who has proven the mailbox by a new password; does nothing after a few times in a day, since whoever reads the mail
   * of somebody else could go on guessing.
   */
  clearCodes(request: FastifyRequest, account: string): Promise<void>
  /**
   * Counts a mail to a recipient, whether or not an account has the address. Throws `too_many_mails` after too many
   * requests from the client's address, for this recipient or for all, or from all addresses for this recipient.
   */
  countMail(request: FastifyRequest, recipient: string): Promise<void>
}

interface Bound {
  name: string
  max: number
  callerOf: (request: FastifyRequest) => string
  exceeded: ErrorFactory
}

interface CountedBound extends Bound {
  limiter: RateLimiter | undefined
  /** The attempts in progress. */
  pending: Map<string, number>
}

const wrongPasswordCodes: readonly string[] = [errors.signInFailed.code, errors.passwordWrong.code]
const wrongCodeCodes: readonly string[] = [errors.codeWrong.code, errors.secondStepExpired.code]

export function createSignInLimits(
  app: App,
  sessions: Pick<SessionsService, 'isKnownBrowser'>,
  options: SignInLimitsOptions,
): SignInLimits {
  const { signInLimitPerMinute: limit, mailLimitPerHour } = options
  // Counters are named by digests, since Redis must not hold email addresses and tokens of links.
  const accounts = new WeakMap<FastifyRequest, string>()
  const setAccount = (request: FastifyRequest, account: string) => {
    const email = parseEmail(account)
    const canonical = (email !== undefined && canonicalizeEmail(email)) || account.trim()
    accounts.set(request, hashSecret(canonical).toString('base64url'))
  }
  const accountOf = (request: FastifyRequest) => accounts.get(request) ?? ''
  const accountAndAddressOf = (request: FastifyRequest) => `${accountOf(request)}:${addressOf(request)}`
  const accountAndBrowserOf = (request: FastifyRequest) =>
    `${accountOf(request)}:${hashSecret(request.visit.browserToken).toString('base64url')}`
  const isKnownBrowser = ({ visit }: FastifyRequest, account: string) =>
    sessions.isKnownBrowser(account, visit.browserToken)
  const toLimiter = ({ name, max, callerOf }: Omit<Bound, 'exceeded'>, seconds = windowSeconds) =>
    createRateLimiter(app, { name, max, windowSeconds: seconds, callerOf })
  const toCounted = (bound: Bound, seconds?: number): CountedBound => ({
    ...bound,
    limiter: toLimiter(bound, seconds),
    pending: new Map(),
  })

  const tooMany = errors.tooManySignIns
  const passwordBounds: Bound[] = [
    {
      name: 'sign-in',
      max: limit,
      callerOf: accountAndAddressOf,
      exceeded: tooMany,
    },
    { name: 'sign-in-address', max: widerFactor * limit, callerOf: addressOf, exceeded: tooMany },
    { name: 'sign-in-account', max: widerFactor * limit, callerOf: accountOf, exceeded: errors.signInByLink },
  ]
  const countedPasswordBounds = passwordBounds.map((bound) => toCounted(bound))
  const knownPasswordBounds = [
    toCounted({ name: 'sign-in-browser', max: limit, callerOf: accountAndBrowserOf, exceeded: tooMany }),
  ]
  const toCodeBound = (name: string, factor: number, callerOf: Bound['callerOf'], seconds?: number) =>
    toCounted({ name, max: factor * limit, callerOf, exceeded: tooMany }, seconds)
  const accountCodes = toCodeBound('code-account', widerFactor, accountOf, dayInSeconds)
  const browserCodes = toCodeBound('code-browser-day', widerFactor, accountAndBrowserOf, dayInSeconds)
  const codeBounds = [toCodeBound('code', 1, accountAndAddressOf), accountCodes]
  const knownCodeBounds = [toCodeBound('code-browser', 1, accountAndBrowserOf), browserCodes]
  const recoveryCodeBounds = [toCodeBound('recovery-code', widerFactor, addressOf)]
  const clearings = createRateLimiter(app, {
    name: 'code-cleared',
    max: clearedPerDay,
    windowSeconds: dayInSeconds,
    callerOf: accountOf,
  })

  const toMailLimiter = (name: string, factor: number, callerOf: Bound['callerOf']) =>
    toLimiter({ name, max: factor * mailLimitPerHour, callerOf }, mailWindowSeconds)
  // A request that one of these refuses does not count for the next.
  const mailLimiters = [
    toMailLimiter('mail', 1, accountAndAddressOf),
    toMailLimiter('mail-address', widerFactor, addressOf),
    toMailLimiter('mail-recipient', widerMailFactor, accountOf),
  ]
  const knownMailLimiters = [toMailLimiter('mail-browser', 1, accountAndBrowserOf)]

  return {
    async attemptPassword(request, account, attempt) {
      setAccount(request, account)
      const isKnown = await isKnownBrowser(request, account)
      const bounds = isKnown ? knownPasswordBounds : countedPasswordBounds
      return attemptWithin(bounds, wrongPasswordCodes, request, attempt)
    },

    async attemptCode(request, { account, code }, attempt) {
      setAccount(request, account)
      const isKnown = await isKnownBrowser(request, account)
      const appBounds = isKnown ? knownCodeBounds : codeBounds
      const bounds = isRecoveryCode(code) ? recoveryCodeBounds : appBounds
      return attemptWithin(bounds, wrongCodeCodes, request, attempt)
    },

    async clearCodes(request, account) {
      setAccount(request, account)
      if ((await clearings?.count(request))?.isExceeded) return
      for (const { limiter } of [accountCodes, browserCodes]) await limiter?.clear(request)
    },

    async countMail(request, recipient) {
      setAccount(request, recipient)
      const isKnown = await isKnownBrowser(request, recipient)
      for (const limiter of isKnown ? knownMailLimiters : mailLimiters) {
        const state = await limiter?.count(request)
        if (state?.isExceeded) throw errors.tooManyMails({ retryAfterSeconds: state.resetSeconds })
      }
    },
  }
}

/** Runs an attempt unless a bound is exceeded. Counts it if it fails with one of the codes. */
async function attemptWithin<T>(
  bounds: readonly CountedBound[],
  failureCodes: readonly string[],
  request: FastifyRequest,
  attempt: () => Promise<T>,
): Promise<T> {
  const releases: (() => void)[] = []
  try {
    for (const { limiter, pending, callerOf, exceeded } of bounds) {
      if (!limiter) continue
      const caller = callerOf(request)
      const { remaining, resetSeconds } = await limiter.peek(request)
      // Attempts in progress count as failures, so that parallel ones cannot exceed the limit.
      const count = pending.get(caller) ?? 0
      if (remaining <= count) throw exceeded({ retryAfterSeconds: Math.max(resetSeconds, 1) })
      pending.set(caller, count + 1)
      releases.push(() => {
        const left = (pending.get(caller) ?? 1) - 1
        if (left === 0) pending.delete(caller)
        else pending.set(caller, left)
      })
    }
    return await attempt()
  } catch (error) {
    if (error instanceof ApiError && failureCodes.includes(error.code))
      for (const { limiter } of bounds) await limiter?.count(request)
    throw error
  } finally {
    for (const release of releases) release()
  }
}
