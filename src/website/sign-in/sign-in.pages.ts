import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { errors } from '../../kernel/errors.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { browserOf, continueSignIn, findNext, rememberNext } from './continue-sign-in.ts'
import { attempt, form, readField, readFields } from '../components/sent-form.ts'
import { withQuery } from '../components/lists.ts'
import { parseLocalPath } from '../components/local-path.ts'
import { findPendingConsent } from '../plugins/pending-consent.ts'
import { browserCookieSeconds } from '../plugins/web-session.ts'
import type { SignInLimits } from '../plugins/sign-in-limits.ts'
import {
  renderCheckMail,
  renderForgot,
  renderLinkRequest,
  readRevokeAccess,
  renderNewPassword,
  renderSignIn,
  renderSignInByLink,
  renderSignUp,
  renderVerify,
  renderVerifyRequest,
  type CheckMail,
  type ProviderLink,
} from './sign-in.views.ts'

interface WithToken {
  Params: { token: string }
}

const notices = new Map([
  ['signed-out', 'You are signed out.'],
  ['form-kept', 'Sign in to continue. What you wrote is kept for an hour.'],
  ['second-step-expired', errors.secondStepExpired.message],
  ['address-taken-back', 'The address is yours again. Sign in with it.'],
  ['password-set', 'Your password is set. Sign in with it.'],
  ['account-leaving', 'Your account will be deleted in seven days. We sent you a link that keeps it.'],
  ['account-kept', 'Your account is not deleted. Sign in again.'],
])

export interface SignInPagesOptions {
  services: Pick<Services, 'credentials' | 'entry' | 'sessions'>
  /** The identity providers that people can sign in with. */
  providers: readonly ProviderLink[]
  limits: SignInLimits
}

/** Signing up, in and out, and the pages that links in mails open. */
export function signInPages(app: App, { services, providers, limits }: SignInPagesOptions): void {
  const { credentials, entry, sessions } = services
  /** For the pages that are about a password. */
  const assertPasswords = () => {
    if (!entry.hasPasswords) throw errors.passwordsDisabled()
  }

  app.get<{ Querystring: { next?: string; done?: string } }>('/sign-in', async (request, reply) => {
    const next = parseLocalPath(request.query.next) ?? findPendingConsent(request)
    if (request.visit.sessionId !== undefined) return reply.redirect(next ?? '/', 303)
    const notice = notices.get(request.query.done ?? '')
    return reply.showPage(
      renderSignIn({ request, next, providers, entry, notice, state: request.flash.state }),
    )
  })

  app.post('/sign-in', form, async (request, reply) => {
    const { email, password, next: text } = readFields(request, 'email', 'password', 'next')
    const next = parseLocalPath(text)
    const { result, error } = await attempt(() =>
      limits.attemptPassword(request, email, () =>
        credentials.signIn({ email, password }, browserOf(request)),
      ),
    )
    if (error) return reply.refuse(withQuery('/sign-in', { next: next ?? '' }), error)
    if (result !== undefined) return continueSignIn(reply, result, next)
    rememberNext(reply, next)
    return showCheckMail(reply, { email, isSent: true, isUnverified: true })
  })

  app.post('/sign-out', form, async (request, reply) => {
    const { sessionToken } = request.visit
    if (sessionToken !== undefined) await sessions.endByToken(sessionToken)
    return reply.signOut().redirect('/sign-in?done=signed-out', 303)
  })

  app.get<{ Querystring: { next?: string } }>('/sign-up', async (request, reply) => {
    if (entry.signUp === 'off') throw errors.signUpDisabled()
    const next = parseLocalPath(request.query.next) ?? findPendingConsent(request)
    if (request.visit.sessionId !== undefined) return reply.redirect(next ?? '/', 303)
    return reply.showPage(renderSignUp({ request, next, providers, entry, state: request.flash.state }))
  })

  app.post('/sign-up', form, async (request, reply) => {
    const { name, email, password, next: text } = readFields(request, 'name', 'email', 'password', 'next')
    const next = parseLocalPath(text)
    const { error } = await attempt(async () => {
      await limits.countMail(request, email)
      await credentials.signUp({ name, email, password }, browserOf(request))
    })
    if (error) return reply.refuse(withQuery('/sign-up', { next: next ?? '' }), error)
    // The link in the mail does not ask this browser for the password again.
    reply.remember('browser', request.visit.browserToken, browserCookieSeconds)
    rememberNext(reply, next)
    return showCheckMail(reply, { email, isSent: true, isOfInvited: entry.signUp === 'invited' })
  })

  app.get(checkMailPath, async (request, reply) => reply.showPage(renderCheckMail(readCheckMail(request))))

  app.get('/verify', async (request, reply) => {
    assertPasswords()
    return reply.showPage(renderVerifyRequest({ request, state: request.flash.state }))
  })
  app.post('/verify', form, requestLink('verify_email', '/verify'))

  app.get<WithToken>('/verify-email/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await credentials.findLinkOwner('verify_email', token)
    const needsPassword = await credentials.needsPassword(token, browserOf(request))
    return reply.showPage(renderVerify({ request, owner, token, needsPassword, state: request.flash.state }))
  })

  app.post<WithToken>('/verify-email/:token', form, async (request, reply) => {
    const password = readField(request, 'password')
    const { token } = request.params
    const { result, error } = await attempt(() =>
      limits.attemptPassword(request, token, () =>
        credentials.verifyEmail(token, { password }, browserOf(request)),
      ),
    )
    if (error) return reply.refuse(`/verify-email/${encodeURIComponent(token)}`, error)
    return continueSignIn(reply, result, findNext(request))
  })

  app.get('/forgot', async (request, reply) => {
    assertPasswords()
    return reply.showPage(renderForgot({ request, state: request.flash.state }))
  })
  app.post('/forgot', form, requestLink('reset_password', '/forgot'))

  app.get<WithToken>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await credentials.findLinkOwner('reset_password', token)
    return reply.showPage(renderNewPassword({ request, owner, token, state: request.flash.state }))
  })

  app.post<WithToken>('/reset/:token', form, async (request, reply) => {
    const { token } = request.params
    return answerForm(request, reply, `/reset/${encodeURIComponent(token)}`, async () => {
      const input = { password: readField(request, 'password'), revokeAccess: readRevokeAccess(request) }
      const { email } = await credentials.findLinkOwner('reset_password', token)
      await credentials.resetPassword(token, input, { requestId: request.id })
      await limits.clearCodes(request, email)
      return '/sign-in?done=password-set'
    })
  })

  app.get<{ Querystring: { next?: string } }>('/sign-in/link', async (request, reply) => {
    const { state } = request.flash
    // A refused form comes back without the parameter.
    if (!state.error) rememberNext(reply, parseLocalPath(request.query.next))
    return reply.showPage(renderLinkRequest({ request, state }))
  })
  app.post('/sign-in/link', form, requestLink('sign_in', '/sign-in/link'))

  app.get<WithToken>('/sign-in/link/:token', async (request, reply) => {
    const owner = await credentials.findLinkOwner('sign_in', request.params.token)
    return reply.showPage(renderSignInByLink({ request, owner, token: request.params.token }))
  })

  app.post<WithToken>('/sign-in/link/:token', form, async (request, reply) => {
    const result = await credentials.signInByLink(request.params.token, browserOf(request))
    return continueSignIn(reply, result, findNext(request))
  })

  /** Sends a link by mail. The answer does not reveal whether an account has the address. */
  function requestLink(purpose: Parameters<typeof credentials.requestLink>[0], page: string) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const email = readField(request, 'email')
      const { error } = await attempt(async () => {
        await limits.countMail(request, email)
        await credentials.requestLink(purpose, email, { requestId: request.id })
      })
      if (error) return reply.refuse(page, error)
      return showCheckMail(reply, { email, isSent: false })
    }
  }
}

const checkMailPath = '/sign-in/check-email'

/** Redirects to the page that asks to open the link in a mail. */
export function showCheckMail(reply: FastifyReply, { email, ...flags }: CheckMail) {
  const { isSent, isUnverified = false, isOfInvited = false } = flags
  const values = {
    email,
    isSent: String(isSent),
    isUnverified: String(isUnverified),
    isOfInvited: String(isOfInvited),
  }
  return reply.redirectWith(checkMailPath, { state: { values } })
}

function readCheckMail({ flash }: FastifyRequest): CheckMail {
  const { email = '', isSent, isUnverified, isOfInvited } = flash.state.values
  return {
    email,
    isSent: isSent === 'true',
    isUnverified: isUnverified === 'true',
    isOfInvited: isOfInvited === 'true',
  }
}
