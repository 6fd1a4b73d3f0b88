import type { FastifyRequest } from 'fastify'
import type { PendingSignIn } from '../../accounts/sign-in/second-step.service.ts'
import type { App } from '../../http/app-types.ts'
import { errors } from '../../kernel/errors.ts'
import type { Services } from '../../services/services.ts'
import { browserOf, findNext, findPendingToken, finishSignIn } from './continue-sign-in.ts'
import { renderForm } from '../components/forms.ts'
import { attempt, form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'
import { renderPasskeySignIn } from '../views/passkey-form.views.ts'
import type { SignInLimits } from '../plugins/sign-in-limits.ts'
import { renderCodeField } from '../views/code-field.views.ts'

const path = '/sign-in/second-step'

/** The second step of a sign-in. Throws `second_step_expired`, which redirects to the sign-in page. */
export function secondStepPages(
  app: App,
  { secondStep }: Pick<Services, 'secondStep'>,
  limits: SignInLimits,
): void {
  async function requirePending(request: FastifyRequest) {
    const token = findPendingToken(request)
    const pending = token === undefined ? undefined : await secondStep.find(token, browserOf(request))
    if (!pending || token === undefined) throw errors.secondStepExpired()
    return { ...pending, token }
  }

  app.get(path, async (request, reply) => {
    const pending = await requirePending(request)
    return reply.showPage(renderSecondStep(request, pending))
  })

  app.post(path, form, async (request, reply) => {
    const { token, email } = await requirePending(request)
    const code = readField(request, 'code')
    const { result, error } = await attempt(() =>
      limits.attemptCode(request, { account: email, code }, () =>
        secondStep.finishWithCode(token, code, browserOf(request)),
      ),
    )
    if (error) return reply.refuse(path, error)
    return finishSignIn(reply, result, findNext(request))
  })
}

function renderSecondStep(request: FastifyRequest, { email, hasPasskey }: PendingSignIn): Page {
  const { state } = request.flash
  const title = 'Two-step sign-in'
  return {
    title,
    isOnTheWay: true,
    hasPasskeys: hasPasskey,
    // An authorization request may end with a redirect to an agent's own URL.
    mayLeave: findNext(request)?.startsWith('/agent/') === true,
    body: html`<section class="narrow">
      <h1>${title}</h1>
      <p>You are signing in as <strong>${email}</strong>.</p>
      ${renderForm({
        request,
        action: path,
        state,
        fields: ['code'],
        body: html`${renderCodeField(state)} <button>Sign in</button>`,
      })}
      ${hasPasskey && renderPasskeySignIn(request, undefined)}
      <p class="hint">
        Without your phone, enter one of your recovery codes. If you have lost these too, ask the people who
        run this service to turn off two-step sign-in for you.
      </p>
      <p><a href="/sign-in">Back to sign-in</a></p>
    </section>`,
  }
}
