import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../kernel/errors.ts'
import { html, type Content } from './html.ts'
import { parseLocalPath } from './local-path.ts'
import { describeError } from './words.ts'

/** A way on from an error. */
interface Step {
  label: string
  href: string
}

const titlesOfCode: Record<string, string> = {
  consent_expired: 'This request has ended',
  form_expired: 'Please try again',
  form_sent: 'This form was already sent',
  link_invalid: 'This link has expired',
  passwords_disabled: 'Passwords are not used here',
  account_suspended: 'This account is suspended',
  sign_up_disabled: 'You cannot sign up here',
  invite_required: 'You need an invite',
}
const titlesOfStatus: Record<number, string> = {
  403: 'You do not have access',
  404: 'Page not found',
  409: 'This is not possible now',
  413: 'Too large',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'The service is unavailable',
}

// The form that sends a new link, by the route of the expired one.
const linkForms: Record<string, string> = {
  '/verify-email/:token': '/verify',
  '/reset/:token': '/forgot',
  '/sign-in/link/:token': '/sign-in/link',
}

const stepsOfCode: Record<string, Step> = {
  not_a_member: { label: 'Go to your workspaces', href: '/onboarding' },
  provider_failed: { label: 'Back to sign-in', href: '/sign-in' },
  identity_unverified: { label: 'Back to sign-in', href: '/sign-in' },
  passwords_disabled: { label: 'Back to sign-in', href: '/sign-in' },
  account_suspended: { label: 'Back to sign-in', href: '/sign-in' },
  sign_up_disabled: { label: 'Back to sign-in', href: '/sign-in' },
  invite_required: { label: 'Back to sign-in', href: '/sign-in' },
}

/** The page of an error: what went wrong, and what the person can do next. A member stays in the workspace. */
export function renderErrorPage(error: ApiError, request: FastifyRequest) {
  const { status, code } = error
  const { section } = request
  const isOfInvite = isInvite(error, request)
  const whyMissing = code === 'not_found' ? request.whyMissing : null
  const title = isOfInvite
    ? 'This invite is not valid'
    : (whyMissing?.title ?? titlesOfCode[code] ?? titlesOfStatus[status] ?? 'This did not work')
  const { label, href } = findNextStep(error, request)
  return {
    title,
    error,
    isOnTheWay: isOfInvite,
    ...(section && { section }),
    // In line with the pages of the section, if there is one.
    body: html`<section class="${section ? 'stack' : 'narrow'}">
      <h1>${title}</h1>
      <div class="stack" data-problem>${whyMissing?.body ?? renderExplanation(error, request)}</div>
      <p><a class="button" href="${href}">${label}</a></p>
      ${status >= 500 && html`<p class="hint">Request <code>${request.id}</code></p>`}
    </section>`,
  }
}

function renderExplanation(error: ApiError, request: FastifyRequest): Content {
  if (isInvite(error, request))
    return html`<p>The invite was replaced or revoked. Ask the person who invited you for a new link.</p>`
  return html`<p>${describeRefused(error, request)}</p>`
}

function describeRefused(error: ApiError, { refusedRole, routeOptions }: FastifyRequest): Content {
  const { code } = error
  if (code === 'not_a_member') return `${describeError(error)} Ask an owner or an admin to invite you.`
  if (code === 'role_insufficient' && refusedRole) {
    const { role, owners } = refusedRole
    const names = owners.map((name, i) => html`${i > 0 && ' or '}<bdi>${name}</bdi>`)
    return html`You are ${role === 'admin' ? 'an' : 'a'} ${role}, and this role does not allow this. Ask an
    owner${role !== 'admin' && ' or an admin'}${names.length > 0 && html`, such as ${names}`}.`
  }
  if (code !== 'not_found') return describeError(error)
  const path = routeOptions.url ?? ''
  if (path.startsWith('/w/:slug/seeds/:id'))
    return 'There is no seed at this address, or it is in a workspace that you are not in.'
  return path.startsWith('/w/:slug')
    ? 'There is nothing at this address. It may have been deleted or renamed.'
    : describeError(error)
}

function findNextStep({ code, status }: ApiError, request: FastifyRequest): Step {
  const { method, routeOptions, section, url } = request
  const linkForm = code === 'link_invalid' ? linkForms[routeOptions.url ?? ''] : undefined
  if (linkForm !== undefined) return { label: 'Send me a new link', href: linkForm }
  const step = stepsOfCode[code]
  if (step) return step
  // Null before the session is read.
  const referringPage = (request.visit as typeof request.visit | null)?.referringPage
  if (code === 'form_expired' && referringPage !== undefined)
    return { label: 'Back to the form', href: referringPage }
  if (status === 503 && method === 'GET') return { label: 'Try again', href: parseLocalPath(url) ?? '/' }
  const base = section?.base
  return base === undefined
    ? { label: 'Go to the home page', href: '/' }
    : { label: 'Go to the workspace', href: base }
}

function isInvite({ status }: ApiError, { routeOptions }: FastifyRequest): boolean {
  return status === 404 && routeOptions.url?.startsWith('/invites/:token') === true
}
