import type { FastifyRequest } from 'fastify'
import type { CreatedApiKey } from '../areas/apiKeys/apiKeys.service.ts'
import type { App } from '../http/app-types.ts'
import type { Services } from '../services.ts'
import { emptyForm, form, readField, readFields } from './forms.ts'
import type { Page } from './pages.ts'
import { renderSecurity, type SecurityVisit } from './security.views.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { readRevokeAccess } from './sign-in.views.ts'
import { answer } from './workspace-visit.ts'

type SecurityServices = Pick<Services, 'apiKeys' | 'credentials' | 'sessions'>

/** A person's API keys and sessions. */
export function securityPages(app: App, services: SecurityServices, { baseUrl }: { baseUrl: string }): void {
  const { apiKeys, sessions } = services
  const visit = (request: FastifyRequest): SecurityVisit => ({ request, state: emptyForm })

  const showSecurity = createSecurityPage(services, baseUrl)
  app.get('/settings/security', async (request, reply) => reply.showPage(await showSecurity(visit(request))))

  app.post('/settings/security/api-keys', form, async (request, reply) =>
    answer(
      reply,
      visit(request),
      (shown) => showSecurity(shown),
      async () => {
        const name = readField(request, 'name')
        return showSecurity(visit(request), await apiKeys.create(request.principal, { name }))
      },
    ),
  )

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
  services: SecurityServices,
  { baseUrl, limits }: { baseUrl: string; limits: SignInLimits },
): void {
  const { credentials } = services
  const show = createSecurityPage(services, baseUrl)

  app.post('/settings/security/password', form, async (request, reply) =>
    answer(
      reply,
      { request, state: emptyForm },
      (shown) => show(shown),
      async () => {
        const fields = readFields(request, 'currentPassword', 'password')
        const input = { ...fields, revokeAccess: readRevokeAccess(request) }
        const { principal } = request
        await limits.attemptPassword(request, principal.user.id, () =>
          credentials.changePassword(principal, input),
        )
        return '/settings/security?done=password-changed'
      },
    ),
  )

  app.post('/settings/security/password-link', form, async (request, reply) => {
    const { email } = request.principal.user
    await limits.countMail(request, email)
    await credentials.requestLink('reset_password', email)
    return reply.redirect('/settings/security?done=mail-sent', 303)
  })
}

/** Returns the function that renders the security page. A new key is shown once. */
function createSecurityPage({ apiKeys, credentials, sessions }: SecurityServices, baseUrl: string) {
  return async (shown: SecurityVisit, createdKey?: CreatedApiKey): Promise<Page> => {
    const { principal } = shown.request
    const [keys, browsers, hasPassword] = await Promise.all([
      apiKeys.list(principal),
      sessions.list(principal),
      credentials.hasPassword(principal),
    ])
    return renderSecurity(shown, { keys, browsers, hasPassword, createdKey, baseUrl })
  }
}
