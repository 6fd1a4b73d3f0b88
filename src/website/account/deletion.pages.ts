import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage, securityPath } from './security.views.ts'

export const leavingPath = `${securityPath}/leaving`

/** Exporting and deleting one's own account, after a proof. */
export async function deletionPages(
  app: App,
  { accountDeletion }: Pick<Services, 'accountDeletion'>,
): Promise<void> {
  await app.register(provenOnly, { page: leavingPath })

  app.get(leavingPath, async (request, reply) =>
    reply.showPage(renderLeaving(request, await accountDeletion.findAllowance(request.principal))),
  )

  // Without HEAD, which would read everything.
  app.get(`${leavingPath}/export`, { exposeHeadRoute: false }, async ({ principal }, reply) => {
    const { name, json } = await accountDeletion.exportPerson(principal)
    return reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(Readable.from(json))
  })

  app.post(`${leavingPath}/allow`, form, async (request, reply) => {
    await accountDeletion.allow(request.principal)
    return reply.redirectWith(leavingPath, { notice: notice`Allowed for ten minutes.` })
  })

  app.post(`${leavingPath}/delete`, form, async (request, reply) =>
    answerForm(request, reply, leavingPath, async () => {
      const confirmEmail = readField(request, 'confirmEmail')
      await accountDeletion.requestDeletion(request.principal, { confirmEmail })
      return '/sign-in?done=account-leaving'
    }),
  )
}

function renderLeaving(request: FastifyRequest, allowedUntil: Date | undefined): Page {
  const action = `${leavingPath}/delete`
  const state = stateOf(request.flash.state, action)
  return securityPage(
    'Leaving',
    request,
    html`<div class="settings">
      <section aria-labelledby="export">
        <h2 id="export">Export</h2>
        <div>
          <p>
            <a class="button quiet" href="${leavingPath}/export" download>Export your data</a>
          </p>
          <p class="hint">
            Your account, what gives access to it, and what you wrote and did in workspaces, as JSON.
          </p>
        </div>
      </section>
      <section aria-labelledby="delete">
        <h2 id="delete">Delete your account</h2>
        <div>
          <p>
            You are signed out everywhere, and your API keys and agents lose access at once. We send you a
            link that keeps the account. After seven days, it is deleted. Your seeds, evidence and comments
            stay, without your name.
          </p>
          <p class="hint">
            If you are the only owner of a workspace, make another member an owner or delete the workspace
            first.
          </p>
          ${renderForm({
            request,
            action,
            state,
            fields: ['confirmEmail'],
            body: html`${renderField({
                name: 'confirmEmail',
                label: 'Enter your email address to confirm',
                type: 'email',
                maxLength: emailLengthMax,
                autocomplete: 'off',
                state,
              })} <button class="danger">Delete the account</button>`,
          })}
        </div>
      </section>
      <section aria-labelledby="programs">
        <h2 id="programs">By API</h2>
        <div>
          <p>
            ${
              allowedUntil
                ? html`Your API keys may export and delete the account until
                  ${renderTime(allowedUntil.toISOString())}.`
                : 'Your API keys may neither export nor delete the account, unless you allow it.'
            }
          </p>
          ${renderAction(request, { action: `${leavingPath}/allow`, label: 'Allow it for ten minutes' })}
        </div>
      </section>
    </div>`,
  )
}
