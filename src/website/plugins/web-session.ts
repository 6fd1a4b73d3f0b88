import { parse as parseForm } from 'node:querystring'
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { endedSessionKnownMs } from '../../forms/flashes.service.ts'
import type { SessionsService, Shell } from '../../accounts/sessions/sessions.service.ts'
import type { App } from '../../http/app-types.ts'
import { createLateBodyCheck } from '../../http/credentials/late-body.ts'
import { decodeForm } from '../../http/requests/text-encoding.ts'
import { errors } from '../../kernel/errors.ts'
import { createToken } from '../../kernel/tokens.ts'
import { csrfFieldName, isOfScript } from '../components/sent-form.ts'
import { createCsrfToken, isCsrfToken } from './csrf.ts'
import { findReferringPage } from './referrer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session and tokens of the browser. Only on routes of the website. */
    visit: Visit
  }
  interface FastifyReply {
    /** Sets the cookie of a new session. Only on routes of the website. */
    signIn(sessionToken: string): FastifyReply
    /** Sets the cookie that the session needs since it was renewed (`renewSessionOf`). Only for signed-in people. */
    renewSession(): Promise<void>
    /** Clears the cookie of the session. */
    signOut(): FastifyReply
    /** Sets a cookie that lasts until the browser is closed, or as long as is said; undefined clears it. */
    remember(name: string, value: string | undefined, maxAgeSeconds?: number): FastifyReply
  }
}

/** The session and tokens of a browser. */
export interface Visit {
  /** Undefined if the person is not signed in. */
  sessionId: string | undefined
  /** Whether the person has recently proven who they are (`provenOnly`). */
  isProven: boolean
  /** The cookie of the session. Undefined if the person is not signed in. */
  sessionToken: string | undefined
  /** The cookie of the last session of this browser that has ended. */
  formerToken: string | undefined
  /** Whether the form needs a sign-in and came without one, so that it is kept, and not handled. */
  isToKeep: boolean
  /** Whether the form has taken effect: what its script keeps of it is not needed any more. */
  isFormDone: boolean
  /** The cookie that forms are bound to: of the live session, or of the visitor. */
  secret: string
  /** Identifies the browser, so that a sign-in with a new one can be reported. */
  browserToken: string
  /** What pages show of the person. Undefined if the person is not signed in. */
  shell: Shell | undefined
  /** Required in every form, in the field `csrfFieldName`. Another one for each request. */
  csrfToken: string
  isCsrfToken: (value: unknown) => boolean
  /** The path of our page that a form was sent from, with its query, if it is known. */
  referringPage: string | undefined
  /** Reads a cookie that `remember` has set. Untrusted: it may have been changed in the browser. */
  recall: (name: string) => string | undefined
}

export interface WebSessionOptions {
  sessions: SessionsService
  /** The public origin of the website. */
  webUrl: string
}

/** The cookie of what a redirect leaves for a visitor. It ends at the sign-in, since its key is the visitor cookie. */
export const flashCookie = 'flash'

/** The cookie of the last renewal of the session, without which that of the session is worth nothing. */
const renewalCookie = 'session-renewal'

/** The cookie of a session that has ended, by which a form that was sent after that can be read again. */
const formerCookie = 'former-session'

const formType = 'application/x-www-form-urlencoded'
const sessionCookieSeconds = 30 * 24 * 60 * 60
/** How long a browser keeps the cookie that identifies it: the longest lifetime that browsers accept (RFC 6265bis §5.6.1). */
export const browserCookieSeconds = 400 * 24 * 60 * 60

/**
 * Reads the session on every route of its scope: sets `request.visit` and, if the person is signed in,
 * `request.principal`. Throws `form_expired` for a POST from another site or without the browser's CSRF token. Routes
 * that require a sign-in add `signedInOnly`.
 */
export const webSession = fastifyPlugin(
  async (app: App, { sessions, webUrl }: WebSessionOptions) => {
    const cookieName = createCookieNames(webUrl)
    const cookieOptions: CookieSerializeOptions = {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure(webUrl),
    }

    await app.register(fastifyCookie)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(formType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
      parseForm(decodeForm(body)),
    )

    app.decorateRequest('visit', null as unknown as Visit)
    const keepSession = (reply: FastifyReply, renewal: string | undefined): FastifyReply =>
      reply.remember(renewalCookie, renewal, sessionCookieSeconds)
    app.decorateReply('signIn', function (this: FastifyReply, token: string) {
      const { formerToken } = this.request.visit
      if (formerToken !== undefined) this.remember(formerCookie, formerToken, endedSessionKnownMs / 1000)
      return keepSession(this, undefined)
        .clearCookie(cookieName('visitor'), cookieOptions)
        .clearCookie(cookieName(flashCookie), cookieOptions)
        .setCookie(cookieName('session'), token, { ...cookieOptions, maxAge: sessionCookieSeconds })
        .setCookie(cookieName('browser'), this.request.visit.browserToken, {
          ...cookieOptions,
          maxAge: browserCookieSeconds,
        })
    })
    app.decorateReply('renewSession', async function (this: FastifyReply) {
      const { sessionId, sessionToken } = this.request.visit
      if (sessionId === undefined || sessionToken === undefined) throw errors.signInRequired()
      // Returns nothing: who awaits a reply waits until it is sent.
      keepSession(this, await sessions.findRenewal({ sessionId, token: sessionToken }))
    })
    app.decorateReply('signOut', function (this: FastifyReply) {
      this.remember(formerCookie, this.request.visit.sessionToken, endedSessionKnownMs / 1000)
      // What scripts have kept: drafts, and the API key at /docs.
      void this.header('clear-site-data', '"storage"')
      return keepSession(this, undefined).clearCookie(cookieName('session'), cookieOptions)
    })
    app.decorateReply('remember', function (this: FastifyReply, name, value, maxAgeSeconds) {
      return value === undefined
        ? this.clearCookie(cookieName(name), cookieOptions)
        : this.setCookie(cookieName(name), value, {
            ...cookieOptions,
            ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
          })
    })

    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'web' }
      route.schema = { ...route.schema, hide: true }
    })

    const noteBody = createLateBodyCheck(app, async ({ visit }) => {
      if (!(await sessions.find(visit.sessionToken ?? '', visit.recall(renewalCookie))))
        throw errors.signInRequired()
    })
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'private, no-store')
      if (request.method === 'POST') assertSameOrigin(request, webUrl)
      const cookie = request.cookies[cookieName('session')]
      const renewal = request.cookies[cookieName(renewalCookie)]
      const signedIn = cookie === undefined ? undefined : await sessions.find(cookie, renewal)
      const sessionToken = signedIn && cookie
      if (signedIn && sessionToken !== undefined) {
        request.noteCaller({ credential: sessionToken, standsFor: `session ${signedIn.sessionId}` })
        request.principal = { ...signedIn.principal, isOfOneRequest: true, requestId: request.id }
        noteBody(request)
      } else {
        request.noteCaller()
      }
      const secret =
        signedIn && sessionToken !== undefined
          ? sessionToken
          : ensureVisitorToken(request, reply, cookieName('visitor'), cookieOptions)
      request.visit = {
        sessionId: signedIn?.sessionId,
        shell: signedIn?.shell,
        isProven: signedIn?.isProven === true,
        sessionToken,
        formerToken: signedIn
          ? findToken(request, cookieName(formerCookie))
          : (findToken(request, cookieName('session')) ?? findToken(request, cookieName(formerCookie))),
        isToKeep: false,
        isFormDone: false,
        secret,
        browserToken: findToken(request, cookieName('browser')) ?? createToken(),
        csrfToken: createCsrfToken(secret),
        isCsrfToken: (value) => isCsrfToken(value, secret),
        referringPage: findReferringPage(request, webUrl),
        recall: (name) => request.cookies[cookieName(name)],
      }
      if (signedIn?.isExtended && sessionToken !== undefined)
        keepSession(reply.signIn(sessionToken), signedIn.renewal)
    })

    // After the body has been parsed, multipart included, and before the handler.
    app.addHook('preHandler', async (request, reply) => {
      if (request.visit.isToKeep) return keepForm(request, reply)
      if (request.method !== 'POST' || hasCsrfToken(request)) return
      const { referringPage, sessionId } = request.visit
      // A form of ours that was open while the session changed. What was typed is kept.
      if (referringPage !== undefined && sessionId !== undefined)
        return reply.refuse(referringPage, errors.formExpired())
      throw errors.formExpired()
    })

    // Of a redirect, a script learns neither where it leads nor why (Fetch §4.4, opaque-redirect filtered response).
    app.addHook('onSend', async (request, reply, payload) => {
      if (request.method !== 'POST' || reply.statusCode !== 303 || !isOfScript(request)) return payload
      const location = reply.getHeader('location')
      void reply.code(200).removeHeader('location').type('application/json; charset=utf-8')
      return JSON.stringify({ location, done: request.visit.isFormDone })
    })
  },
  { name: 'web-session' },
)

/** The name of the cookie of the session. */
export const sessionCookie = (webUrl: string) => createCookieNames(webUrl)('session')

const isSecure = (webUrl: string) => webUrl.startsWith('https:')

/** RFC 6265bis §4.1.3.2: only this host can set a cookie of this prefix, over TLS and for all paths. */
function createCookieNames(webUrl: string): (name: string) => string {
  return (name) => (isSecure(webUrl) ? `__Host-${name}` : name)
}

/** Requires a sign-in on every route of its scope. A form that is sent after the session has ended is kept. */
export const signedInOnly = fastifyPlugin(
  async (app: App) => {
    app.addHook('onRequest', async (request) => {
      const { formerToken, sessionId } = request.visit
      const isForm = request.headers['content-type']?.startsWith(formType)
      request.visit.isToKeep =
        sessionId === undefined && formerToken !== undefined && request.method === 'POST' && isForm === true
      if (!request.visit.isToKeep) assertSignedIn(request)
    })
  },
  { name: 'signed-in-only', dependencies: ['web-session'] },
)

/** Where people prove again that it is them. */
export const confirmPath = '/settings/security/confirm'

/** Where people prove again that it is them, and continue from there to a path. */
export function confirmPathTo(next: string): string {
  return `${confirmPath}?next=${encodeURIComponent(next)}`
}

/**
 * Requires on every route of its scope that the person has recently proven who they are. Otherwise leads to the page
 * that asks for it, and from there back to the requested page, or after a form to `page`.
 */
export const provenOnly = fastifyPlugin(
  async (app: App, { page }: { page: string }) => {
    app.addHook('onRequest', async ({ method, url, visit }, reply) => {
      if (visit.isProven || visit.isToKeep) return
      return reply.redirect(confirmPathTo(method === 'GET' ? url : page), 303)
    })
  },
  { name: 'proven-only', dependencies: ['signed-in-only'] },
)

/**
 * Keeps a form of the session that this browser had, and redirects to the sign-in page, which leads back to the form.
 * Throws `sign_in_required` if it is no such form.
 */
async function keepForm({ body, visit }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const token = (body as Record<string, unknown> | null | undefined)?.[csrfFieldName]
  const isOurs = visit.formerToken !== undefined && isCsrfToken(token, visit.formerToken)
  const next = isOurs ? await reply.keepForSignIn() : undefined
  if (next === undefined) throw errors.signInRequired()
  return reply.redirect(`/sign-in?done=form-kept&next=${encodeURIComponent(next)}`, 303)
}

/** Throws `sign_in_required`, which redirects to the sign-in page. */
export function assertSignedIn({ visit }: FastifyRequest): void {
  if (visit.sessionId === undefined) throw errors.signInRequired()
}

/** The token that forms are bound to before a sign-in. Sets its cookie if the browser has none. */
function ensureVisitorToken(
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

/** The value of a cookie, if it has the form of our tokens. */
function findToken(request: FastifyRequest, name: string): string | undefined {
  const token = request.cookies[name]
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/**
 * Throws `form_expired` for a form from another site. Browsers send Sec-Fetch-Site (Fetch Metadata §2.1); older ones,
 * and all on plain http, send Origin (RFC 6454 §7). A request with neither still needs the CSRF token.
 */
function assertSameOrigin({ headers }: FastifyRequest, webUrl: string): void {
  const site = headers['sec-fetch-site']
  const isOurs =
    site === undefined
      ? headers.origin === undefined || headers.origin === webUrl
      : site === 'same-origin' || site === 'none'
  if (!isOurs) throw errors.formExpired()
}

function hasCsrfToken({ body, visit }: FastifyRequest): boolean {
  return visit.isCsrfToken((body as Record<string, unknown> | null | undefined)?.[csrfFieldName])
}
