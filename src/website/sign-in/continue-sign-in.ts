import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  secondStepMs,
  type Browser,
  type SignInResult,
  type StartedSession,
} from '../../accounts/sign-in/start-session.ts'
import { parseLocalPath } from '../components/local-path.ts'
import { findPendingConsent } from '../plugins/pending-consent.ts'
import { browserCookieSeconds } from '../plugins/web-session.ts'

// The path to continue at after a sign-in that takes several steps, such as a link in a mail, which may be opened in
// another tab.
const nextCookie = 'next'
const secondStepCookie = 'second-step'

/** Remembers the path to continue at after the sign-in. */
export function rememberNext(reply: FastifyReply, next: string | undefined): FastifyReply {
  return reply.remember(nextCookie, next)
}

/** The path to continue at after the sign-in, or that of a consent page that waits. */
export function findNext(request: FastifyRequest): string | undefined {
  return parseLocalPath(request.visit.recall(nextCookie)) ?? findPendingConsent(request)
}

/** The token of the sign-in of this browser that waits for its second step. */
export function findPendingToken({ visit }: FastifyRequest): string | undefined {
  return visit.recall(secondStepCookie)
}

/** Continues after the first step: at the second step if there is one, otherwise at `next`. */
export function continueSignIn(
  reply: FastifyReply,
  result: SignInResult,
  next: string | undefined,
): FastifyReply {
  if ('sessionToken' in result) return finishSignIn(reply, result, next)
  noteWhoSignsIn(reply, result)
  reply.server.meter.count('signIns', 'second_step')
  return rememberNext(reply, next)
    .remember(secondStepCookie, result.pendingToken, secondStepMs / 1000)
    .remember('browser', reply.request.visit.browserToken, browserCookieSeconds)
    .redirect('/sign-in/second-step', 303)
}

/** Signs in, and redirects to `next` or to the home page. */
export function finishSignIn(
  reply: FastifyReply,
  started: StartedSession,
  next: string | undefined,
): FastifyReply {
  noteWhoSignsIn(reply, started)
  reply.server.meter.count('signIns', 'succeeded')
  return rememberNext(endSecondStep(reply.signIn(started.sessionToken)), undefined).redirect(next ?? '/', 303)
}

/** For the audit. */
function noteWhoSignsIn({ request }: FastifyReply, { userId }: { userId: string }): void {
  request.audited = { ...request.audited, userId }
}

/** Forgets the sign-in that waits for its second step. */
export function endSecondStep(reply: FastifyReply): FastifyReply {
  return reply.remember(secondStepCookie, undefined)
}

/** The browser that signs in. */
export function browserOf({ id: requestId, headers, visit }: FastifyRequest): Browser {
  const { sessionToken, browserToken } = visit
  return { userAgent: headers['user-agent'] ?? '', sessionToken, browserToken, requestId }
}
