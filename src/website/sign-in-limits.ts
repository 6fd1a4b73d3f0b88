import fastifyPlugin from 'fastify-plugin'
import type { App } from '../http/app-types.ts'
import { addressOf, createRateLimiter } from '../http/rate-limits.ts'
import { errors } from '../kernel/errors.ts'
import { readField } from './forms.ts'

const windowSeconds = 60

/**
 * Bounds the forms of the scope that it is registered in, by client address and by the account they are about: passwords
 * are guessed from many addresses, and one address guesses those of many people.
 */
export const signInLimits = fastifyPlugin(
  async (app: App, { limitPerMinute }: { limitPerMinute: number }) => {
    const accountOf = (text: string) => text.normalize('NFC').trim().toLowerCase().slice(0, 254)
    const byAddress = createRateLimiter(app, {
      name: 'sign-in-address',
      max: limitPerMinute,
      windowSeconds,
      callerOf: addressOf,
    })
    const byAccount = createRateLimiter(app, {
      name: 'sign-in-account',
      max: limitPerMinute,
      windowSeconds,
      callerOf: (request) =>
        (request.principal as typeof request.principal | null)?.user.id ??
        accountOf(readField(request, 'email')),
    })
    app.addHook('preHandler', async (request) => {
      if (request.method !== 'POST') return
      const hasAccount = request.visit.sessionId !== undefined || readField(request, 'email') !== ''
      for (const limiter of hasAccount ? [byAddress, byAccount] : [byAddress]) {
        const state = await limiter?.count(request)
        if (state?.isExceeded) throw errors.tooManySignIns({ retryAfterSeconds: state.resetSeconds })
      }
    })
  },
  { name: 'sign-in-limits', dependencies: ['web-session'] },
)
