import { hash } from 'node:crypto'
import type { FastifyRequest, onSendHookHandler } from 'fastify'
import { errors, type ApiError } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { readBearerToken } from '../bearer.ts'
import { hasBody } from '../has-body.ts'
import { createLoad, type Load } from './load.ts'
import { addressOf } from './rate-limits.ts'
import { createRecentCallers } from './recent-callers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is exempt from overload protection: the health checks of load balancers and orchestrators. */
    vital?: boolean
  }
  interface FastifyRequest {
    /**
     * Is called when a credential has been verified, with what it stands for, such as the id of a key; with nothing when a
     * request is served without one. Throws `overloaded` and `too_many_at_once`.
     */
    noteCaller(verified?: { credential: string; standsFor: string }): void
    /** Waits for others. Meanwhile the request does not count as in progress. */
    whileWaiting<Result>(wait: () => Promise<Result>): Promise<Result>
    /** As whom the request counts. Only for overload protection. */
    counted: Counted | null
  }
}

interface Counted {
  caller: string
  credential: string | undefined
  /** The digest of the credential. */
  digest: string | undefined
  hasEnded: boolean
}

export interface OverloadOptions {
  /** A process keeps up while its oldest request is younger than this, in milliseconds. */
  keepsUpMs: number
}

export const overloadDefaults: OverloadOptions = { keepsUpMs: 100 }

/** Multiplies the limit while the process keeps up. */
const keepsUpFactor = 10
/** Multiplies the limit for callers with few requests, while the process does not keep up. */
const fairFactor = 2
/** The fraction of the limit that one caller may use during an overload. */
const fairShare = 0.1

const verifiedMs = 60 * 60 * 1000
const verifiedMax = 50_000

/**
 * Refuses requests while more than `max` are in progress, so that accepted requests stay fast. A burst is accepted: the
 * limit applies once the oldest request is older than `keepsUpMs`. Callers with many requests are refused first, with
 * 429; all others with 503 at twice the limit (docs/design/overload.md#callers). A caller is a credential that was
 * verified lately, otherwise an address. Requests that wait for their body, for `whileWaiting` or for the verification
 * of their credential, or whose response is being sent, do not count.
 */
export function registerOverloadProtection(
  app: App,
  max: number,
  { keepsUpMs, sessionCookie }: OverloadOptions & { sessionCookie: string },
): void {
  const inProgress = createLoad({
    max,
    keepsUpMs,
    burstMax: max * keepsUpFactor,
    overloadMax: max * fairFactor,
    callerMax: max * fairShare,
    onOverload: (requests) => app.log.warn({ requests }, 'overload: requests are refused'),
    onEnd: () => app.log.info('overload ended'),
  })
  // Verifying a credential is little work. Many clients behind one address may come at once, such as after a restart.
  const verifying = createLoad({
    max,
    keepsUpMs,
    burstMax: max * keepsUpFactor,
    overloadMax: max * keepsUpFactor,
    callerMax: max * fairFactor,
    onOverload: (requests) => app.log.warn({ requests }, 'overload: requests of unknown callers are refused'),
    onEnd: () => app.log.info('overload by unknown callers ended'),
  })
  const verified = createRecentCallers({ windowMs: verifiedMs, max: verifiedMax })
  const readCredential = createCredentialReader(sessionCookie)

  app.decorateRequest('counted', null)
  app.decorateRequest('noteCaller', noteCaller)
  app.decorateRequest('whileWaiting', whileWaiting)

  const end: onSendHookHandler = (request, _reply, payload, done) => {
    pause(request)
    done(null, payload)
  }
  app.addHook('onRoute', (route) => {
    if (route.config?.vital) return
    declareAnswers(route, { errors: [errors.overloaded, errors.tooManyAtOnce] })
    // Compressing the response is part of the work.
    route.onSend = [...[route.onSend ?? []].flat(), end]
  })
  app.addHook('onRequest', (request, { raw }, done) => {
    const { vital, access } = request.routeOptions.config
    if (vital) {
      done()
      return
    }
    const credential = readCredential(request)
    const digest = credential === undefined ? undefined : hash('sha256', credential, 'base64url')
    const known = digest === undefined ? undefined : verified.find(digest)
    const counted = { caller: known ?? addressOf(request), credential, digest, hasEnded: false }
    request.counted = counted
    const isVerifiedNext =
      digest !== undefined && known === undefined && access !== undefined && access !== 'public'
    const load = isVerifiedNext ? verifying : inProgress
    const refusal = findRefusal(load, counted.caller)
    if (refusal) {
      done(refusal)
      return
    }
    load.add(counted, counted.caller)
    raw.once('close', () => {
      counted.hasEnded = true
      verifying.delete(counted)
      inProgress.delete(counted)
    })
    done()
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (hasBody(request)) pause(request)
    done(null, payload)
  })
  app.addHook('preHandler', (request, _reply, done) => {
    if (hasBody(request)) resume(request)
    done()
  })

  function noteCaller(this: FastifyRequest, known?: { credential: string; standsFor: string }): void {
    const { counted } = this
    if (!counted) return
    const { digest, credential } = counted
    // The one that was read may be another, such as a second cookie.
    if (known && digest !== undefined && known.credential === credential)
      verified.add(digest, known.standsFor)
    if (!verifying.delete(counted)) return
    if (known) counted.caller = known.standsFor
    const refusal = findRefusal(inProgress, counted.caller)
    if (refusal) throw refusal
    inProgress.add(counted, counted.caller)
  }

  async function whileWaiting<Result>(this: FastifyRequest, wait: () => Promise<Result>): Promise<Result> {
    pause(this)
    const result = await wait()
    // One that has waited in vain has only its refusal left, which is little work: many of them may end at once.
    resume(this)
    return result
  }

  function pause({ counted }: FastifyRequest): void {
    if (counted) inProgress.delete(counted)
  }

  function resume({ counted }: FastifyRequest): void {
    if (counted && !counted.hasEnded) inProgress.add(counted, counted.caller)
  }
}

/** What is wrong with a further request of a caller: the service is overloaded, or the caller alone sends too many. */
function findRefusal(load: Load, caller: string): ApiError | undefined {
  const excess = load.findExcess(caller)
  if (excess === undefined) return undefined
  return (excess === 'ofAll' ? errors.overloaded : errors.tooManyAtOnce)({ retryAfterSeconds: 1 })
}

/** Reads the credential that the route verifies, or for a public route any credential, in one spelling. */
function createCredentialReader(sessionCookie: string): (request: FastifyRequest) => string | undefined {
  const session = new RegExp(`(?:^|; ?)${sessionCookie}=([^;]+)`)
  return ({ headers, routeOptions: { config } }) => {
    const header = readBearerToken(headers.authorization) ?? (headers['x-api-key'] as string | undefined)
    if (header && config.access !== 'web') return header
    return headers.cookie === undefined ? undefined : session.exec(headers.cookie)?.[1]
  }
}
