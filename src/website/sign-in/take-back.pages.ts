import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderForm } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { readRevokeAccess, renderNewPasswordField, renderRevokeAccess } from './sign-in.views.ts'

interface WithToken {
  Params: { token: string }
}

const path = '/sign-in/take-back'

/** The page that the link in the mail about a changed email address opens: it takes the former address back. */
export function takeBackPages(
  app: App,
  { emailChanges, entry }: Pick<Services, 'emailChanges' | 'entry'>,
): void {
  app.get<WithToken>(`${path}/:token`, async (request, reply) => {
    const { token } = request.params
    const { email, currentEmail } = await emailChanges.findTakeBack(token)
    const { state } = request.flash
    const title = 'Take your email address back'
    return reply.showPage({
      title,
      body: html`<section class="narrow">
        <h1>${title}</h1>
        <p>
          The email address of your account was changed to <strong>${currentEmail}</strong>. It becomes
          <strong>${email}</strong> again, and you are signed out on all devices.
        </p>
        ${renderForm({
          request,
          action: `${path}/${encodeURIComponent(token)}`,
          state,
          fields: ['password'],
          body: html`${entry.hasPasswords && renderNewPasswordField(state, 'New password')}
            ${renderRevokeAccess(true)} <button>Take the address back</button>`,
        })}
      </section>`,
    })
  })

  app.post<WithToken>(`${path}/:token`, form, async (request, reply) => {
    const { token } = request.params
    return answerForm(request, reply, `${path}/${encodeURIComponent(token)}`, async () => {
      const input = { password: readField(request, 'password'), revokeAccess: readRevokeAccess(request) }
      await emailChanges.takeBack(token, input, { requestId: request.id })
      return `/sign-in?done=${entry.hasPasswords ? 'password-set' : 'address-taken-back'}`
    })
  })
}
