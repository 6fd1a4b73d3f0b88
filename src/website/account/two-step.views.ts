import type { FastifyRequest } from 'fastify'
import type { AppSetup, SecondFactorState } from '../../accounts/second-factor/second-factor.service.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { html } from '../components/html.ts'
import { renderConfirmed } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage } from './security.views.ts'
import { recoveryCodeLengthMax } from '../views/code-field.views.ts'
import { countOf, renderDate } from '../components/words.ts'

export const twoStepPath = '/settings/security/two-step'

export function renderTwoStepOff(request: FastifyRequest): Page {
  return securityPage(
    'Two-step sign-in',
    request,
    html`<p>
        When it is on, signing in also requires a code from an app on your phone. Someone who learns your
        password or reads your email still cannot sign in.
      </p>
      <p>
        You need an authenticator app, such as Google Authenticator, Microsoft Authenticator, 1Password or the
        passwords app of your phone.
      </p>
      ${renderForm({ request, action: `${twoStepPath}/begin`, body: html`<button>Set up two-step sign-in</button>` })}`,
  )
}

/** The setup. `qrCode` is a data URL. */
export function renderSetup(request: FastifyRequest, { secret }: AppSetup, qrCode: string): Page {
  const action = `${twoStepPath}/confirm`
  const state = stateOf(request.flash.state, action)
  return securityPage(
    'Set up two-step sign-in',
    request,
    html`<p>Scan this code with your authenticator app, or type the key into it.</p>
      <img class="qr" src="${qrCode}" alt="QR code with the key below" width="200" height="200" />
      <p class="copy">
        <label class="visually-hidden" for="secret">Key</label>
        <input
          id="secret"
          class="mono"
          readonly
          value="${secret.replaceAll(/(.{4})(?!$)/g, '$1 ')}"
          data-copy
          autocomplete="off"
        />
      </p>
      ${renderForm({
        request,
        action,
        state,
        fields: ['code'],
        body: html`${renderField({
            name: 'code',
            label: 'Code from the app',
            autocomplete: 'one-time-code',
            inputMode: 'numeric',
            maxLength: recoveryCodeLengthMax,
            state,
          })} <button>Turn on</button>`,
      })}`,
  )
}

export function renderTwoStepOn(
  request: FastifyRequest,
  { since, recoveryCodesLeft }: SecondFactorState,
): Page {
  return securityPage(
    'Two-step sign-in',
    request,
    html`<p>On. Turned on ${since !== null && renderDate(since)}.</p>
      <section aria-labelledby="recovery-codes">
        <h2 id="recovery-codes">Recovery codes</h2>
        <p>
          You have ${countOf(recoveryCodesLeft, 'recovery code')} left. Each signs you in once without your
          phone.
        </p>
        ${renderConfirmed({
          label: 'Create new codes',
          description: 'for recovery',
          question: 'Your current codes stop working.',
          action: renderAction(request, {
            action: `${twoStepPath}/recovery-codes`,
            label: 'Create new recovery codes',
          }),
        })}
      </section>
      <section aria-labelledby="turn-off">
        <h2 id="turn-off">Turn it off</h2>
        <p>To use another app, turn it off and set it up again.</p>
        ${renderConfirmed({
          label: 'Turn off',
          description: 'two-step sign-in',
          question: 'You will sign in without a code. Your recovery codes stop working.',
          action: renderAction(request, {
            action: `${twoStepPath}/remove`,
            label: 'Turn off two-step sign-in',
            isDangerous: true,
          }),
        })}
      </section>`,
  )
}

/** The recovery codes, which are shown once. */
export function renderRecoveryCodes(request: FastifyRequest, codes: string): Page {
  return securityPage(
    'Recovery codes',
    request,
    html`<p>
        Store these codes where you can find them without your phone, such as in a password manager or on
        paper. Each signs you in once. They are not shown again.
      </p>
      <div class="copy">
        <label class="visually-hidden" for="codes">Recovery codes</label>
        <textarea
          id="codes"
          class="mono"
          readonly
          rows="${codes.split('\n').length}"
          data-copy
          autocomplete="off"
        >
${codes}</textarea>
      </div>
      <p><a class="button" href="${twoStepPath}">I have stored them</a></p>`,
  )
}
