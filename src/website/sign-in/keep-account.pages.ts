import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction } from '../components/forms.ts'
import { form } from '../components/sent-form.ts'
import { html } from '../components/html.ts'

interface WithToken {
  Params: { token: string }
}

const path = '/sign-in/keep-account'

/**
 * The page that the link in the mail about a deletion opens: it keeps the account. Opening it does nothing yet, since mail
 * scanners open links.
 */
export function keepAccountPages(app: App, { accountDeletion }: Pick<Services, 'accountDeletion'>): void {
  app.get<WithToken>(`${path}/:token`, async (request, reply) => {
    const { token } = request.params
    const { email } = await accountDeletion.findByLink(token)
    const title = 'Keep your account'
    return reply.showPage({
      title,
      body: html`<section class="narrow">
        <h1>${title}</h1>
        <p>
          The account <strong>${email}</strong> is not deleted, and you can sign in again. Your API keys and
          agents must be set up again.
        </p>
        ${renderAction(request, {
          action: `${path}/${encodeURIComponent(token)}`,
          label: 'Keep the account',
        })}
      </section>`,
    })
  })

  app.post<WithToken>(`${path}/:token`, form, async (request, reply) => {
    const { token } = request.params
    return answerForm(request, reply, `${path}/${encodeURIComponent(token)}`, async () => {
      await accountDeletion.cancel(token)
      return '/sign-in?done=account-kept'
    })
  })
}
