import type { App } from '../../http/app-types.ts'
import { describeBrowser } from '../../kernel/browsers.ts'
import { errors } from '../../kernel/errors.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { form, readFields } from '../components/sent-form.ts'
import { notice } from '../components/notice.ts'
import { listSecurityRows, passwordPath, sessionsPath, type OverviewServices } from './security-overview.ts'
import { renderPasswordPage, renderSecurity, renderSessions, securityPath } from './security.views.ts'
import type { SignInLimits } from '../plugins/sign-in-limits.ts'
import { readRevokeAccess } from '../sign-in/sign-in.views.ts'

/** The security page, and the page of the sessions. */
export function securityPages(app: App, services: OverviewServices & Pick<Services, 'sessions'>): void {
  const { sessions } = services

  app.get(securityPath, async (request, reply) =>
    reply.showPage(renderSecurity(request, await listSecurityRows(services, request))),
  )

  app.get(sessionsPath, async (request, reply) =>
    reply.showPage(renderSessions(request, await sessions.list(request.principal))),
  )

  app.post<{ Params: { id: string } }>(`${sessionsPath}/:id/end`, form, async (request, reply) => {
    const userAgent = await sessions.end(request.principal, request.params.id)
    return reply.redirectWith(sessionsPath, { notice: notice`Signed out on ${describeBrowser(userAgent)}.` })
  })

  app.post(`${sessionsPath}/end-others`, form, async (request, reply) => {
    await sessions.endOthers(request.principal)
    await reply.renewSession()
    return reply.redirectWith(sessionsPath, { notice: notice`Signed out on all other devices.` })
  })
}

/** The page that changes the password, or requests a link to set one. */
export function passwordPages(
  app: App,
  { credentials, entry }: Pick<Services, 'credentials' | 'entry'>,
  limits: SignInLimits,
): void {
  app.get(passwordPath, async (request, reply) => {
    if (!entry.hasPasswords) throw errors.passwordsDisabled()
    return reply.showPage(renderPasswordPage(request, await credentials.hasPassword(request.principal)))
  })

  app.post(passwordPath, form, async (request, reply) =>
    answerForm(request, reply, passwordPath, async () => {
      const fields = readFields(request, 'currentPassword', 'password')
      const input = { ...fields, revokeAccess: readRevokeAccess(request) }
      const { principal } = request
      await limits.attemptPassword(request, principal.user.email, () =>
        credentials.changePassword(principal, input),
      )
      await reply.renewSession()
      return {
        path: securityPath,
        notice: notice`Password changed. You are signed out on all other devices.`,
      }
    }),
  )

  app.post(`${securityPath}/password-link`, form, async (request, reply) =>
    answerForm(request, reply, passwordPath, async () => {
      const { email } = request.principal.user
      await limits.countMail(request, email)
      await credentials.requestLink('reset_password', email, { requestId: request.id })
      return {
        path: passwordPath,
        notice: notice`We sent you an email. Open the link in it to set a password.`,
      }
    }),
  )
}
