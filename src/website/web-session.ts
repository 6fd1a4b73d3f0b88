import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie'
import fastifyFormbody from '@fastify/formbody'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SessionsService } from '../accounts/sessions.service.ts'
import type { App } from '../http/app-types.ts'
import { createLateBodyCheck } from '../http/late-body.ts'
import { errors } from '../kernel/errors.ts'
import { createToken } from '../kernel/tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The browser that asks. Only there on routes of the website. */
    visit: Visit
  }
  interface FastifyReply {
    /** Signs the browser in with a new session's token. Only there on routes of the website. */
    signIn(sessionToken: string): FastifyReply
    /** Ends what the browser knows of its session. */
    signOut(): FastifyReply
    /** Remembers something in the browser until it is closed, or forgets it. */
    remember(name: string, value: string | undefined): FastifyReply
  }
}

/** What is known of a browser. */
export interface Visit {
  /** The session, for somebody who is signed in. */
  sessionId: string | undefined
  /** The cookie of the session, live or not. */
  sessionToken: string | undefined
  /** What the browser is known by to people who have signed in with it. */
  browserToken: string
  /** What each form has to carry, in a field named as `csrfFieldName`. */
  csrfToken: string
  /** What the browser was told to remember. It may have been changed there. */
  recall: (name: string) => string | undefined
}

export interface WebSessionOptions {
  sessions: SessionsService
  /** The public origin of the website. */
  webUrl: string
}

/** The form field of the token that proves that a form comes from the browser it was made for. */
export const csrfFieldName = '_csrf'

const sessionCookieSeconds = 30 * 24 * 60 * 60
// The longest that browsers keep a cookie (RFC 6265bis §5.6.1).
const browserCookieSeconds = 400 * 24 * 60 * 60

/**
 * Knows who is signed in on every route of the scope that it is registered in: `request.principal`, or null for nobody,
 * and `request.visit`. Every POST has to come from this website and carry the CSRF token of the browser. Routes that
 * are only for people who are signed in add `signedInOnly`.
 */
export const webSession = fastifyPlugin(
  async (app: App, { sessions, webUrl }: WebSessionOptions) => {
    const isSecure = webUrl.startsWith('https:')
    // RFC 6265bis §4.1.3.2: a cookie of this prefix was set by this very host, over TLS, for all of it.
    const cookieName = (name: string) => (isSecure ? `__Host-${name}` : name)
    const cookieOptions: CookieSerializeOptions = {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure,
    }

    await app.register(fastifyCookie)
    app.removeAllContentTypeParsers()
    await app.register(fastifyFormbody)

    app.decorateRequest('visit', null as unknown as Visit)
    app.decorateReply('signIn', function (this: FastifyReply, token: string) {
      return this.clearCookie(cookieName('visitor'), cookieOptions)
        .setCookie(cookieName('session'), token, { ...cookieOptions, maxAge: sessionCookieSeconds })
        .setCookie(cookieName('browser'), this.request.visit.browserToken, {
          ...cookieOptions,
          maxAge: browserCookieSeconds,
        })
    })
    app.decorateReply('signOut', function (this: FastifyReply) {
      return this.clearCookie(cookieName('session'), cookieOptions)
    })
    app.decorateReply('remember', function (this: FastifyReply, name: string, value: string | undefined) {
      return value === undefined
        ? this.clearCookie(cookieName(name), cookieOptions)
        : this.setCookie(cookieName(name), value, cookieOptions)
    })

    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'web' }
      route.schema = { ...route.schema, hide: true }
    })

    const noteBody = createLateBodyCheck(app, async ({ visit }) => {
      if (!(await sessions.find(visit.sessionToken ?? ''))) throw errors.signInRequired()
    })
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'private, no-store')
      if (request.method === 'POST') assertSameOrigin(request, webUrl)
      const sessionToken = request.cookies[cookieName('session')]
      const signedIn = sessionToken === undefined ? undefined : await sessions.find(sessionToken)
      if (signedIn && sessionToken !== undefined) {
        request.principal = signedIn.principal
        noteBody(request)
      }
      const secret =
        signedIn && sessionToken !== undefined
          ? sessionToken
          : findVisitorToken(request, reply, cookieName('visitor'), cookieOptions)
      request.visit = {
        sessionId: signedIn?.sessionId,
        sessionToken,
        browserToken: findToken(request, cookieName('browser')) ?? createToken(),
        csrfToken: createHmac('sha256', secret).update('csrf').digest('base64url'),
        recall: (name) => request.cookies[cookieName(name)],
      }
      if (signedIn?.isProlonged && sessionToken !== undefined) void reply.signIn(sessionToken)
    })

    // Once the body is there, of whatever kind the form is, and before anything is done.
    app.addHook('preHandler', async (request) => {
      if (request.method === 'POST') assertCsrfToken(request)
    })
  },
  { name: 'web-session' },
)

/** Leads people who are not signed in to the sign-in page, from every route of the scope, and back afterwards. */
export const signedInOnly = fastifyPlugin(
  async (app: App) => {
    app.addHook('onRequest', async (request) => {
      if (request.visit.sessionId === undefined) throw errors.signInRequired()
    })
  },
  { name: 'signed-in-only', dependencies: ['web-session'] },
)

/** What somebody who has not signed in is known by, to their browser and to nobody else: enough to bind forms to it. */
function findVisitorToken(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  options: CookieSerializeOptions,
): string {
  const known = findToken(request, name)
  if (known !== undefined) return known
  const token = createToken()
  void reply.setCookie(name, token, options)
  return token
}

/** A cookie that may be one of our tokens: it is long enough to be hard to guess, and not too long to be worth keeping. */
function findToken(request: FastifyRequest, name: string): string | undefined {
  const token = request.cookies[name]
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/**
 * Refuses forms that other sites have sent. Browsers say so in Sec-Fetch-Site (Fetch Metadata §2.1), or older ones, and
 * those on plain http, in Origin (RFC 6454 §7); who says nothing still needs the token.
 */
function assertSameOrigin({ headers }: FastifyRequest, webUrl: string): void {
  const site = headers['sec-fetch-site']
  const isOurs =
    site === undefined
      ? headers.origin === undefined || headers.origin === webUrl
      : site === 'same-origin' || site === 'none'
  if (!isOurs) throw errors.formExpired()
}

function assertCsrfToken({ body, visit }: FastifyRequest): void {
  const given = (body as Record<string, unknown> | null | undefined)?.[csrfFieldName]
  // Digests have one length, whatever was sent.
  const isRight = typeof given === 'string' && timingSafeEqual(sha256(given), sha256(visit.csrfToken))
  if (!isRight) throw errors.formExpired()
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
