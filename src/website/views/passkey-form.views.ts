import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PasskeyAnswer, PasskeyChallenge } from '../../accounts/passkeys/passkeys.service.ts'
import { renderForm, stateOf } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html, type Content, type Html } from '../components/html.ts'

const ticketCookie = 'passkey'
const ticketSeconds = 5 * 60

/** Where public/passkeys.js asks for a challenge to use a passkey. */
export const usePasskeyOptionsPath = '/sign-in/passkey/options'

/**
 * A form that public/passkeys.js shows in browsers that support passkeys. It asks for a challenge at `optionsPath`, has
 * the person create or use a passkey, and sends it. The page needs `hasPasskeys`.
 */
export function renderPasskeyForm(options: {
  request: FastifyRequest
  action: string
  kind: 'create' | 'get'
  optionsPath: string
  fields?: readonly string[]
  body: Content
}): Html {
  const { request, action, kind, optionsPath, fields = [], body } = options
  return renderForm({
    request,
    action,
    state: stateOf(request.flash.state, action),
    fields,
    attributes: html`hidden data-passkey="${kind}" data-options="${optionsPath}"`,
    body: html`<input type="hidden" name="credential" value="" />
      ${body}
      <p class="error" data-passkey-error aria-live="polite"></p>`,
  })
}

/** Answers public/passkeys.js with a challenge, which the browser keeps encrypted in a cookie. */
export function sendChallenge(reply: FastifyReply, { options, ticket }: PasskeyChallenge): FastifyReply {
  return reply.remember(ticketCookie, ticket, ticketSeconds).send(options)
}

/** The answer of the browser to the challenge that it keeps. */
export function readPasskeyAnswer(request: FastifyRequest): PasskeyAnswer {
  return { ticket: request.visit.recall(ticketCookie) ?? '', credential: readField(request, 'credential') }
}

/** The button that signs in with a passkey. */
export function renderPasskeySignIn(request: FastifyRequest, next: string | undefined): Html {
  return renderPasskeyForm({
    request,
    action: '/sign-in/passkey',
    kind: 'get',
    optionsPath: usePasskeyOptionsPath,
    body: html`${next !== undefined && html`<input type="hidden" name="next" value="${next}" />`}
      <button class="quiet wide">Sign in with a passkey</button>`,
  })
}
