import type { FastifyRequest } from 'fastify'
import type { Passkey } from '../../accounts/passkeys/passkeys.service.ts'
import type { App } from '../../http/app-types.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { browserOf, findNext, finishSignIn } from '../sign-in/continue-sign-in.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { attempt, form, readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows, withQuery } from '../components/lists.ts'
import { parseLocalPath } from '../components/local-path.ts'
import type { Page } from '../plugins/pages.ts'
import {
  readPasskeyAnswer,
  renderPasskeyForm,
  sendChallenge,
  usePasskeyOptionsPath,
} from '../views/passkey-form.views.ts'
import { securityPage } from './security.views.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { notice } from '../components/notice.ts'

interface WithId {
  Params: { id: string }
}

export const passkeysPath = '/settings/security/passkeys'
const optionsPath = `${passkeysPath}/options`

/** Signing in with a passkey. */
export function passkeySignInPages(app: App, { passkeys }: Pick<Services, 'passkeys'>): void {
  app.post(usePasskeyOptionsPath, form, async (_request, reply) =>
    sendChallenge(reply, await passkeys.beginUse()),
  )

  app.post('/sign-in/passkey', form, async (request, reply) => {
    const next = parseLocalPath(readField(request, 'next'))
    const { result, error } = await attempt(() =>
      passkeys.signIn(readPasskeyAnswer(request), browserOf(request)),
    )
    if (error) return reply.refuse(withQuery('/sign-in', { next: next ?? '' }), error)
    return finishSignIn(reply, result, next ?? findNext(request))
  })
}

/** A person's passkeys. */
export async function passkeysPages(app: App, { passkeys }: Pick<Services, 'passkeys'>): Promise<void> {
  await app.register(provenOnly, { page: passkeysPath })

  app.get(passkeysPath, async (request, reply) =>
    reply.showPage(renderPasskeys(request, await passkeys.list(request.principal))),
  )

  app.post(optionsPath, form, async (request, reply) =>
    sendChallenge(reply, await passkeys.beginRegistration(request.principal)),
  )

  app.post(passkeysPath, form, async (request, reply) =>
    answerForm(request, reply, passkeysPath, async () => {
      const label = readField(request, 'name')
      const answer = readPasskeyAnswer(request)
      const name = await passkeys.register(request.principal, { ...answer, name: label })
      return { path: passkeysPath, notice: notice`The passkey “${name}” was added.` }
    }),
  )

  app.post<WithId>(`${passkeysPath}/:id/rename`, form, async (request, reply) =>
    answerForm(request, reply, passkeysPath, async () => {
      const label = readField(request, 'newName')
      const name = await passkeys.rename(request.principal, request.params.id, label)
      return { path: passkeysPath, notice: notice`The passkey is now called “${name}”.` }
    }),
  )

  app.post<WithId>(`${passkeysPath}/:id/remove`, form, async (request, reply) => {
    const name = await passkeys.remove(request.principal, request.params.id)
    return reply.redirectWith(passkeysPath, { notice: notice`The passkey “${name}” was removed.` })
  })
}

function renderPasskeys(request: FastifyRequest, passkeys: readonly Passkey[]): Page {
  const page = securityPage(
    'Passkeys',
    request,
    html`<p>
        A passkey signs you in with your fingerprint, your face or the PIN of your device, without a password
        and without a code. It works on this website only, so nobody can trick you into entering it elsewhere.
      </p>
      ${renderRows(
        passkeys.map((passkey) => renderPasskey(request, passkey)),
        html`<p>You have no passkeys.</p>`,
      )}
      <p data-without-passkeys>Adding a passkey needs JavaScript and a browser that supports passkeys.</p>
      ${renderPasskeyForm({
        request,
        action: passkeysPath,
        kind: 'create',
        optionsPath,
        fields: ['name'],
        body: html`${renderField({
            name: 'name',
            label: 'Name of the new passkey',
            hint: 'A name that you will recognize, such as "My phone".',
            maxLength: labelLengthMax,
            autocomplete: 'off',
            state: stateOf(request.flash.state, passkeysPath),
          })}<button>Add passkey</button>`,
      })}`,
  )
  return { ...page, hasPasskeys: true }
}

function renderPasskey(request: FastifyRequest, { id, name, createdAt, lastUsedAt }: Passkey): Html {
  return html`<div class="row">
    <div class="grow">
      <strong><bdi>${name}</bdi></strong>
      <span class="hint">
        added ${renderDate(createdAt)} ·
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
      </span>
    </div>
    <div class="choices">
      ${renderConfirmed({
        label: 'Rename',
        description: html`the passkey <bdi>${name}</bdi>`,
        question: 'Only you see the name.',
        action: renderForm({
          request,
          action: `${passkeysPath}/${id}/rename`,
          body: html`<div class="field">
              <label for="name-${id}">New name</label>
              <input id="name-${id}" name="newName" value="${name}" required maxlength="${labelLengthMax}" />
            </div>
            <button class="small">Rename passkey</button>`,
        }),
      })}
      ${renderConfirmed({
        label: 'Remove',
        description: html`the passkey <bdi>${name}</bdi>`,
        question: 'You can no longer sign in with it. Delete it from your device too.',
        action: renderAction(request, {
          action: `${passkeysPath}/${id}/remove`,
          label: 'Remove passkey',
          isDangerous: true,
        }),
      })}
    </div>
  </div>`
}
