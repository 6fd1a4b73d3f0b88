import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { rememberNext } from '../sign-in/continue-sign-in.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction, renderForm, stateOf } from '../components/forms.ts'
import { attempt, form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { readQuery, withQuery } from '../components/lists.ts'
import { parseLocalPath } from '../components/local-path.ts'
import type { Page } from '../plugins/pages.ts'
import { readPasskeyAnswer, renderPasskeyForm, usePasskeyOptionsPath } from '../views/passkey-form.views.ts'
import { securityPage, securityPath } from './security.views.ts'
import type { SignInLimits } from '../plugins/sign-in-limits.ts'
import { showCheckMail } from '../sign-in/sign-in.pages.ts'
import { renderPassword } from '../sign-in/sign-in.views.ts'
import { renderCodeField } from '../views/code-field.views.ts'
import { confirmPath } from '../plugins/web-session.ts'

type ConfirmServices = Pick<Services, 'credentials' | 'passkeys' | 'proofs' | 'secondFactor'>

/** The page on which signed-in people prove that it is them, before they change how they sign in. */
export function confirmPages(app: App, services: ConfirmServices, limits: SignInLimits): void {
  const { credentials, passkeys, proofs, secondFactor } = services

  app.get(confirmPath, async (request, reply) => {
    const next = nextOf(readQuery(request, 'next'))
    if (request.visit.isProven) return reply.redirect(next, 303)
    const [hasPassword, { since }, { length: passkeyCount }] = await Promise.all([
      credentials.hasPassword(request.principal),
      secondFactor.state(request.principal),
      passkeys.list(request.principal),
    ])
    // A password alone must not turn off the second step, or add a way around it.
    const hasCodes = since !== null
    const ways = { hasPassword: hasPassword && !hasCodes, hasCodes, hasPasskeys: passkeyCount > 0 }
    return reply.showPage(renderConfirm(request, next, ways))
  })

  /** A form that leads on once `prove` has succeeded, and is shown again otherwise. */
  function proof(name: string, prove: (request: FastifyRequest) => Promise<void>) {
    app.post(`${confirmPath}/${name}`, form, async (request, reply) => {
      const next = nextOf(readField(request, 'next'))
      return answerForm(request, reply, withQuery(confirmPath, { next }), async () => {
        await prove(request)
        await reply.renewSession()
        return next
      })
    })
  }

  proof('password', (request) =>
    limits.attemptPassword(request, request.principal.user.email, () =>
      proofs.provePassword(request.principal, readField(request, 'password')),
    ),
  )

  proof('code', (request) => {
    const code = readField(request, 'code')
    return limits.attemptCode(request, { account: request.principal.user.email, code }, () =>
      proofs.proveCode(request.principal, code),
    )
  })

  proof('passkey', (request) => passkeys.prove(request.principal, readPasskeyAnswer(request)))

  app.post(`${confirmPath}/link`, form, async (request, reply) => {
    const { email } = request.principal.user
    const next = nextOf(readField(request, 'next'))
    const { error } = await attempt(async () => {
      await limits.countMail(request, email)
      await credentials.requestLink('sign_in', email, { requestId: request.id })
    })
    if (error) return reply.refuse(withQuery(confirmPath, { next }), error)
    rememberNext(reply, next)
    return showCheckMail(reply, { email, isSent: true })
  })
}

/** The path to continue at. */
function nextOf(text: string): string {
  return parseLocalPath(text) ?? securityPath
}

function renderConfirm(
  request: FastifyRequest,
  next: string,
  { hasPassword, hasCodes, hasPasskeys }: Record<'hasPassword' | 'hasCodes' | 'hasPasskeys', boolean>,
): Page {
  const nextField = html`<input type="hidden" name="next" value="${next}" />`
  const formOf = (name: string) => {
    const action = `${confirmPath}/${name}`
    return { request, action, state: stateOf(request.flash.state, action), fields: [name] }
  }
  const [password, code] = [formOf('password'), formOf('code')]
  const page = securityPage(
    'Confirm that it is you',
    request,
    html`<p>
        This changes access to your account <strong>${request.principal.user.email}</strong>. Confirm that it
        is you first.
      </p>
      ${
        hasPassword &&
        renderForm({
          ...password,
          body: html`${nextField}
            ${renderPassword({ state: password.state, label: 'Password', autocomplete: 'current-password' })}
            <button>Confirm</button>`,
        })
      }
      ${
        hasCodes &&
        renderForm({
          ...code,
          body: html`${nextField} ${renderCodeField(code.state)} <button>Confirm with the code</button>`,
        })
      }
      ${
        hasPasskeys &&
        renderPasskeyForm({
          request,
          action: `${confirmPath}/passkey`,
          kind: 'get',
          optionsPath: usePasskeyOptionsPath,
          body: html`${nextField}<button class="quiet">Confirm with a passkey</button>`,
        })
      }
      ${
        !hasPassword &&
        !hasCodes &&
        html`<p>You do not have a password. We can send you a link that confirms that it is you.</p>
          ${renderAction(request, { action: `${confirmPath}/link`, label: 'Email me a link', fields: { next } })}`
      }`,
  )
  return { ...page, hasPasskeys, isOnTheWay: true }
}
