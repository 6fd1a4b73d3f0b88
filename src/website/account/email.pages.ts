import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage, securityPath } from './security.views.ts'
import type { SignInLimits } from '../plugins/sign-in-limits.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { notice } from '../components/notice.ts'

interface WithToken {
  Params: { token: string }
}

export const emailPath = `${securityPath}/email`

/** Changing the email address, and the page that the link in the mail opens. */
export async function emailPages(
  app: App,
  { emailChanges }: Pick<Services, 'emailChanges'>,
  limits: SignInLimits,
): Promise<void> {
  app.get<WithToken>(`${emailPath}/confirm/:token`, async (request, reply) => {
    const { token } = request.params
    const email = await emailChanges.findByLink(request.principal, token)
    return reply.showPage(renderConfirmEmail(request, email, token))
  })

  app.post<WithToken>(`${emailPath}/confirm/:token`, form, async (request, reply) => {
    await emailChanges.confirm(request.principal, request.params.token)
    return reply.redirectWith(securityPath, { notice: notice`Email address changed.` })
  })

  app.post(`${emailPath}/cancel`, form, async (request, reply) => {
    await emailChanges.cancel(request.principal)
    return reply.redirectWith(securityPath, {
      notice: notice`Change cancelled. Your email address stays the same.`,
    })
  })

  await app.register(async (scope: App) => {
    await scope.register(provenOnly, { page: emailPath })

    scope.get(emailPath, async (request, reply) =>
      reply.showPage(renderEmail(request, await emailChanges.findPending(request.principal))),
    )

    scope.post(emailPath, form, async (request, reply) =>
      answerForm(request, reply, emailPath, async () => {
        const email = readField(request, 'email')
        await limits.countMail(request, email)
        await emailChanges.request(request.principal, email)
        return { path: emailPath, notice: notice`We sent you an email. Open the link in it.` }
      }),
    )
  })
}

function renderEmail(request: FastifyRequest, pending: string | undefined): Page {
  const state = stateOf(request.flash.state, emailPath)
  return securityPage(
    'Email address',
    request,
    html`<p>Your email address is <strong>${request.principal.user.email}</strong>.</p>
      ${
        pending !== undefined &&
        html`<section class="card" aria-labelledby="pending">
          <h2 id="pending">Waiting for confirmation</h2>
          <p>
            We sent an email to <strong>${pending}</strong>. Your address changes when you open the link in
            it, in a browser where you are signed in.
          </p>
          ${renderAction(request, { action: `${emailPath}/cancel`, label: 'Cancel the change' })}
        </section>`
      }
      ${renderForm({
        request,
        action: emailPath,
        state,
        fields: ['email'],
        body: html`${renderField({
            name: 'email',
            label: 'New email address',
            type: 'email',
            autocomplete: 'email',
            maxLength: emailLengthMax,
            hint: 'We will send a link to it, and notify your current address.',
            state,
          })} <button>Send link</button>`,
      })}`,
  )
}

/** Requires a click, since mail scanners may open the link. */
function renderConfirmEmail(request: FastifyRequest, email: string, token: string): Page {
  return securityPage(
    'Confirm your new email address',
    request,
    html`<p>
        The address of your account changes from <strong>${request.principal.user.email}</strong> to
        <strong>${email}</strong>.
      </p>
      ${renderForm({
        request,
        action: `${emailPath}/confirm/${token}`,
        body: html`<button>Change the address</button>`,
      })}`,
  )
}
