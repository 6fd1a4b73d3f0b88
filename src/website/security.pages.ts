import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import type { Services } from '../services.ts'
import { answerForm } from './answer-form.ts'
import { apiKeysPath } from './api-keys.pages.ts'
import { form, readFields } from './forms.ts'
import { passkeysPath } from './passkeys.pages.ts'
import {
  renderPasswordPage,
  renderSecurity,
  renderSessions,
  securityPath,
  type SecurityRow,
} from './security.views.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { readRevokeAccess } from './sign-in.views.ts'
import { twoStepPath } from './two-step.views.ts'
import { countOf, renderDate } from './words.ts'
import { html } from './html.ts'

type SecurityServices = Pick<Services, 'apiKeys' | 'credentials' | 'passkeys' | 'secondFactor' | 'sessions'>

const passwordPath = `${securityPath}/password`
const sessionsPath = `${securityPath}/sessions`

/** The security page, and the page of the sessions. */
export function securityPages(app: App, services: SecurityServices): void {
  const { sessions } = services

  app.get(securityPath, async (request, reply) =>
    reply.showPage(renderSecurity(request, await listRows(services, request))),
  )

  app.get(sessionsPath, async (request, reply) =>
    reply.showPage(renderSessions(request, await sessions.list(request.principal))),
  )

  app.post<{ Params: { id: string } }>(`${sessionsPath}/:id/end`, form, async (request, reply) => {
    await sessions.end(request.principal, request.params.id)
    return reply.redirect(`${sessionsPath}?done=ended`, 303)
  })

  app.post(`${sessionsPath}/end-others`, form, async (request, reply) => {
    await sessions.endOthers(request.principal, String(request.visit.sessionId))
    return reply.redirect(`${sessionsPath}?done=others-ended`, 303)
  })
}

/** The page that changes the password, or requests a link to set one. */
export function passwordPages(
  app: App,
  { credentials }: Pick<Services, 'credentials'>,
  limits: SignInLimits,
): void {
  app.get(passwordPath, async (request, reply) =>
    reply.showPage(renderPasswordPage(request, await credentials.hasPassword(request.principal))),
  )

  app.post(passwordPath, form, async (request, reply) =>
    answerForm(request, reply, passwordPath, async () => {
      const fields = readFields(request, 'currentPassword', 'password')
      const input = { ...fields, revokeAccess: readRevokeAccess(request) }
      const { principal } = request
      await limits.attemptPassword(request, principal.user.id, () =>
        credentials.changePassword(principal, input),
      )
      return `${securityPath}?done=password-changed`
    }),
  )

  app.post(`${securityPath}/password-link`, form, async (request, reply) =>
    answerForm(request, reply, passwordPath, async () => {
      const { email } = request.principal.user
      await limits.countMail(request, email)
      await credentials.requestLink('reset_password', email)
      return `${passwordPath}?done=mail-sent`
    }),
  )
}

async function listRows(services: SecurityServices, { principal }: FastifyRequest): Promise<SecurityRow[]> {
  const [hasPassword, { since }, passkeys, keys, browsers] = await Promise.all([
    services.credentials.hasPassword(principal),
    services.secondFactor.state(principal),
    services.passkeys.list(principal),
    services.apiKeys.list(principal),
    services.sessions.list(principal),
  ])
  return [
    {
      label: 'Password',
      state: hasPassword ? 'You have a password.' : 'You have no password.',
      action: hasPassword ? 'Change' : 'Set',
      href: passwordPath,
    },
    {
      label: 'Two-step sign-in',
      state: since === null ? 'Off.' : html`On since ${renderDate(since)}.`,
      action: since === null ? 'Set up' : 'Manage',
      href: twoStepPath,
    },
    {
      label: 'Passkeys',
      state:
        passkeys.length === 0 ? 'You have no passkeys.' : `You have ${countOf(passkeys.length, 'passkey')}.`,
      action: passkeys.length === 0 ? 'Add' : 'Manage',
      href: passkeysPath,
    },
    {
      label: 'API keys',
      state: keys.length === 0 ? 'You have no API keys.' : `You have ${countOf(keys.length, 'API key')}.`,
      action: 'Manage',
      href: apiKeysPath,
    },
    {
      label: 'Where you are signed in',
      state: `On ${countOf(browsers.length, 'device')}.`,
      action: 'Show',
      href: sessionsPath,
    },
  ]
}
