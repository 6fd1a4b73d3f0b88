import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import { addressOf, createRateLimiter } from '../http/rate-limits.ts'
import { canonicalizeEmail, parseEmail } from '../kernel/email.ts'
import { ApiError, errors, type ErrorFactory } from '../kernel/errors.ts'
import { hashSecret } from '../kernel/tokens.ts'

const windowSeconds = 60
const mailWindowSeconds = 60 * 60
// Several people share an office's address, and a person has several devices: what is counted over all accounts of an
// address, or all addresses of an account, may be this many times as much.
const widerBy = 10

export interface SignInLimitsOptions {
  /** Failed attempts a minute for each account from one client address; 0 = no limit. */
  signInLimitPerMinute: number
  /** Mails an hour for each recipient; 0 = no limit. */
  mailLimitPerHour: number
}

/** Bounds what strangers can try without being signed in: guessing passwords, and having mails sent. */
export interface SignInLimits {
  /**
   * Runs an attempt to give the password of an account, and counts it if the password was wrong. Successes are not
   * counted. Throws `too_many_sign_ins` after too many failures for the account from the request's address, or for any
   * accounts from that address; `sign_in_by_link` after too many for the account from all addresses, since then the
   * owner, who has the mailbox, is not the one who guesses.
   */
  guess<T>(request: FastifyRequest, account: string, attempt: () => Promise<T>): Promise<T>
  /** Counts a mail for a recipient, whether or not anybody has the address. Throws `too_many_mails`. */
  countMail(request: FastifyRequest, recipient: string): Promise<void>
}

interface Bound {
  name: string
  max: number
  callerOf: (request: FastifyRequest) => string
  exceeded: ErrorFactory
}

const guessCodes: readonly string[] = [errors.signInFailed.code, errors.passwordWrong.code]

export function createSignInLimits(app: App, options: SignInLimitsOptions): SignInLimits {
  const { signInLimitPerMinute: limit, mailLimitPerHour } = options
  // Only digests are counted by: addresses of people and tokens of links are not for the memory of another server.
  const accounts = new WeakMap<FastifyRequest, string>()
  const setAccount = (request: FastifyRequest, account: string) => {
    const email = parseEmail(account)
    const canonical = (email !== undefined && canonicalizeEmail(email)) || account.trim()
    accounts.set(request, hashSecret(canonical).toString('base64url'))
  }
  const accountOf = (request: FastifyRequest) => accounts.get(request) ?? ''
  const toLimiter = ({ name, max, callerOf }: Bound, seconds = windowSeconds) =>
    createRateLimiter(app, { name, max, windowSeconds: seconds, callerOf })

  const tooMany = errors.tooManySignIns
  const guessBounds: Bound[] = [
    {
      name: 'sign-in',
      max: limit,
      callerOf: (request) => `${accountOf(request)}:${addressOf(request)}`,
      exceeded: tooMany,
    },
    { name: 'sign-in-address', max: widerBy * limit, callerOf: addressOf, exceeded: tooMany },
    { name: 'sign-in-account', max: widerBy * limit, callerOf: accountOf, exceeded: errors.signInByLink },
  ]
  const bounds = guessBounds.map((bound) => ({
    ...bound,
    limiter: toLimiter(bound),
    pending: new Map<string, number>(),
  }))

  const mailBounds = [
    { name: 'mail', max: mailLimitPerHour, callerOf: accountOf, exceeded: errors.tooManyMails },
    {
      name: 'mail-address',
      max: widerBy * mailLimitPerHour,
      callerOf: addressOf,
      exceeded: errors.tooManyMails,
    },
  ].map((bound: Bound) => ({ ...bound, limiter: toLimiter(bound, mailWindowSeconds) }))

  return {
    async guess(request, account, attempt) {
      setAccount(request, account)
      const begun: (() => void)[] = []
      try {
        for (const { limiter, pending, callerOf, exceeded } of bounds) {
          if (!limiter) continue
          const caller = callerOf(request)
          const { remaining, resetSeconds } = await limiter.peek(request)
          // Attempts whose outcome is not known yet count as failures: many at once must not all get in.
          const count = pending.get(caller) ?? 0
          if (remaining <= count) throw exceeded({ retryAfterSeconds: Math.max(resetSeconds, 1) })
          pending.set(caller, count + 1)
          begun.push(() => {
            const left = (pending.get(caller) ?? 1) - 1
            if (left === 0) pending.delete(caller)
            else pending.set(caller, left)
          })
        }
        return await attempt()
      } catch (error) {
        if (error instanceof ApiError && guessCodes.includes(error.code))
          for (const { limiter } of bounds) await limiter?.count(request)
        throw error
      } finally {
        for (const end of begun) end()
      }
    },

    async countMail(request, recipient) {
      setAccount(request, recipient)
      for (const { limiter, exceeded } of mailBounds) {
        const state = await limiter?.count(request)
        if (state?.isExceeded) throw exceeded({ retryAfterSeconds: state.resetSeconds })
      }
    },
  }
}
