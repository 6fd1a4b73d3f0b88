import type { App } from '../http/app-types.ts'
import type { Services } from '../services.ts'
import { answerForm } from './answer-form.ts'
import { form, readField, readFields } from './forms.ts'
import { renderSecurity } from './security.views.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { readRevokeAccess } from './sign-in.views.ts'

type SecurityServices = Pick<Services, 'apiKeys' | 'credentials' | 'sentForms' | 'sessions'>

const page = '/settings/security'

/** A person's API keys and sessions. */
export function securityPages(app: App, services: SecurityServices, { baseUrl }: { baseUrl: string }): void {
  const { apiKeys, credentials, sentForms, sessions } = services

  app.get(page, async (request, reply) => {
    const { principal } = request
    const [keys, browsers, hasPassword] = await Promise.all([
      apiKeys.list(principal),
      sessions.list(principal),
      credentials.hasPassword(principal),
    ])
    return reply.showPage(renderSecurity(request, { keys, browsers, hasPassword, baseUrl }))
  })

  app.post(`${page}/api-keys`, form, async (request, reply) => {
    const create = async () => {
      const { name, secret } = await apiKeys.create(request.principal, { name: readField(request, 'name') })
      return { path: page, shown: { name, secret } }
    }
    return answerForm(request, reply, page, create, sentForms)
  })

  app.post<{ Params: { id: string } }>(
    '/settings/security/api-keys/:id/revoke',
    form,
    async (request, reply) => {
      await apiKeys.revoke(request.principal, request.params.id)
      return reply.redirect('/settings/security?done=revoked', 303)
    },
  )

  app.post<{ Params: { id: string } }>(
    '/settings/security/sessions/:id/end',
    form,
    async (request, reply) => {
      await sessions.end(request.principal, request.params.id)
      return reply.redirect('/settings/security?done=ended', 303)
    },
  )

  app.post('/settings/security/sessions/end-others', form, async (request, reply) => {
    await sessions.endOthers(request.principal, String(request.visit.sessionId))
    return reply.redirect('/settings/security?done=others-ended', 303)
  })
}

/** The forms that change the password, or request a link to set one. */
export function passwordForms(
  app: App,
  { credentials }: SecurityServices,
  { limits }: { limits: SignInLimits },
): void {
  app.post('/settings/security/password', form, async (request, reply) =>
    answerForm(request, reply, page, async () => {
      const fields = readFields(request, 'currentPassword', 'password')
      const input = { ...fields, revokeAccess: readRevokeAccess(request) }
      const { principal } = request
      await limits.attemptPassword(request, principal.user.id, () =>
        credentials.changePassword(principal, input),
      )
      return '/settings/security?done=password-changed'
    }),
  )

  app.post('/settings/security/password-link', form, async (request, reply) =>
    answerForm(request, reply, page, async () => {
      const { email } = request.principal.user
      await limits.countMail(request, email)
      await credentials.requestLink('reset_password', email)
      return '/settings/security?done=mail-sent'
    }),
  )
}
