import type { FastifyRequest } from 'fastify'
import type { LinkOwner } from '../accounts/credentials.service.ts'
import { passwordLengthMax, passwordLengthMin } from '../kernel/accounts.ts'
import { emailLengthMax } from '../kernel/email.ts'
import { nameLengthMax } from '../kernel/text.ts'
import { readField, renderField, renderForm, type FormState } from './forms.ts'
import { html, type Content, type Html } from './html.ts'
import type { Page } from './pages.ts'

interface WithForm {
  request: FastifyRequest
  state?: FormState
}

interface WithNext extends WithForm {
  /** Where to go on afterwards. */
  next: string | undefined
  providers: readonly { id: string; name: string }[]
}

interface WithLink extends WithForm {
  owner: LinkOwner
  token: string
}

export function renderSignIn({
  request,
  state,
  next,
  providers,
  notice,
}: WithNext & { notice?: string | undefined }): Page {
  return narrow('Sign in', state, {
    // What asked for the sign-in may be on its way to an agent's own address.
    mayLeave: next?.startsWith('/agent/') === true,
    body: html`<h1>Sign in</h1>
      ${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
      ${renderForm({
        request,
        action: '/sign-in',
        ...(state && { state }),
        fields: ['email', 'password'],
        body: html`${renderNext(next)} ${renderEmail(state)}
          ${renderPassword({ state, label: 'Password', autocomplete: 'current-password' })}
          <button>Sign in</button>`,
      })}
      <p><a href="${withNext('/forgot', undefined)}">Forgot your password?</a></p>
      <p><a href="${withNext('/sign-in/link', next)}">Sign in by a link in a mail</a></p>
      ${renderProviders(providers, next)}
      <hr />
      <p>New here? <a href="${withNext('/sign-up', next)}">Sign up</a></p>`,
  })
}

export function renderSignUp({ request, state, next, providers }: WithNext): Page {
  return narrow('Sign up', state, {
    body: html`<h1>Sign up</h1>
      ${renderForm({
        request,
        action: '/sign-up',
        ...(state && { state }),
        fields: ['name', 'email', 'password'],
        body: html`${renderNext(next)}
          ${renderField({
            name: 'name',
            label: 'Your name',
            autocomplete: 'name',
            maxLength: nameLengthMax,
            ...(state && { state }),
          })}
          ${renderEmail(state)} ${renderNewPasswordField(state)} <button>Sign up</button>`,
      })}
      ${renderProviders(providers, next)}
      <hr />
      <p>You have an account? <a href="${withNext('/sign-in', next)}">Sign in</a></p>`,
  })
}

/** Says the same whether or not anybody has the address. */
export function renderCheckMail({ email, isUnverified }: { email: string; isUnverified?: boolean }): Page {
  return {
    title: 'Check your mail',
    body: html`<section class="narrow">
      <h1>Check your mail</h1>
      ${isUnverified && html`<p>Your address has to be confirmed before you can sign in.</p>`}
      <p>We have sent a mail to <strong>${email}</strong>. Follow the link in it to go on.</p>
      <p class="hint">
        Nothing there after a few minutes? Look among unwanted mail, and whether the address is right. You can
        <a href="/verify">have the confirmation sent again</a>.
      </p>
    </section>`,
  }
}

export function renderVerifyRequest({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Confirm your address',
    text: 'We send you a mail with a link that confirms your e-mail address.',
    action: '/verify',
    label: 'Send the mail',
  })
}

export function renderForgot({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Forgot your password?',
    text: 'We send you a mail with a link by which you choose a new one.',
    action: '/forgot',
    label: 'Send the mail',
  })
}

export function renderLinkRequest({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Sign in by mail',
    text: 'We send you a mail with a link that signs you in, without a password.',
    action: '/sign-in/link',
    label: 'Send the mail',
  })
}

/** Asks for the password: the link alone may have been followed by somebody who never signed up. */
export function renderVerify({ request, state, owner, token }: WithLink): Page {
  return narrow('Confirm your address', state, {
    body: html`<h1>Confirm your address</h1>
      <p>Enter the password that you chose for <strong>${owner.email}</strong> when you signed up.</p>
      ${renderForm({
        request,
        action: `/verify-email/${token}`,
        ...(state && { state }),
        fields: ['password'],
        body: html`${renderUsername(owner)}
          ${renderPassword({ state, label: 'Password', autocomplete: 'current-password' })}
          <button>Confirm and sign in</button>`,
      })}
      <p class="hint">
        Not your password, or not you who signed up? <a href="/forgot">Choose a new one</a>.
      </p>`,
  })
}

export function renderNewPassword({ request, state, owner, token }: WithLink): Page {
  return narrow('Choose a new password', state, {
    body: html`<h1>Choose a new password</h1>
      <p>For <strong>${owner.email}</strong>. You will be signed out everywhere.</p>
      ${renderForm({
        request,
        action: `/reset/${token}`,
        ...(state && { state }),
        fields: ['password'],
        body: html`${renderUsername(owner)} ${renderNewPasswordField(state)} ${renderRevokeAccess()}
          <button>Set the password</button>`,
      })}`,
  })
}

/** Offers to end with the old password what it may have let in. */
export function renderRevokeAccess(): Html {
  return html`<div class="check">
    <input type="checkbox" id="revokeAccess" name="revokeAccess" />
    <label for="revokeAccess">Also revoke my API keys and end the access of agents</label>
  </div>`
}

/** Whether that was chosen. */
export const readRevokeAccess = (request: FastifyRequest) => readField(request, 'revokeAccess') === 'on'

/** Waits for a click: what reads mail before people do may follow the link. */
export function renderSignInByLink({ request, owner, token }: WithLink): Page {
  return narrow('Sign in', undefined, {
    body: html`<h1>Sign in</h1>
      <p>
        You sign in as <strong><bdi>${owner.name}</bdi></strong> (${owner.email}).
      </p>
      ${renderForm({ request, action: `/sign-in/link/${token}`, body: html`<button>Sign in</button>` })}`,
  })
}

function narrow(
  title: string,
  state: FormState | undefined,
  { body, mayLeave = false }: { body: Html; mayLeave?: boolean },
): Page {
  return {
    title: state?.error ? `Error: ${title}` : title,
    error: state?.error,
    mayLeave,
    body: html`<section class="narrow">${body}</section>`,
  }
}

function renderMailRequest(options: {
  request: FastifyRequest
  state: FormState | undefined
  title: string
  text: string
  action: string
  label: string
}): Page {
  const { request, state, title, text, action, label } = options
  return narrow(title, state, {
    body: html`<h1>${title}</h1>
      <p>${text}</p>
      ${renderForm({
        request,
        action,
        ...(state && { state }),
        fields: ['email'],
        body: html`${renderEmail(state)}<button>${label}</button>`,
      })}
      <p><a href="/sign-in">Back to signing in</a></p>`,
  })
}

function renderEmail(state: FormState | undefined): Html {
  return renderField({
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    maxLength: emailLengthMax,
    ...(state && { state }),
  })
}

/** A field for a password; the present one or a new one, as `autocomplete` tells password managers. */
export function renderPassword(options: {
  state: FormState | undefined
  label: string
  autocomplete: 'current-password' | 'new-password'
  name?: string
  hint?: string
}): Html {
  const { state, name = 'password', ...rest } = options
  return renderField({
    name,
    type: 'password',
    maxLength: passwordLengthMax,
    ...rest,
    ...(state && { state }),
  })
}

/** A field for a new password. */
export function renderNewPasswordField(state: FormState | undefined, label = 'Password'): Html {
  return renderPassword({
    state,
    label,
    autocomplete: 'new-password',
    hint: `At least ${passwordLengthMin} characters. Several words are easy to remember and hard to guess.`,
  })
}

/** Tells password managers whose password it is. */
function renderUsername({ email }: LinkOwner): Html {
  return html`<input type="hidden" name="username" autocomplete="username" value="${email}" />`
}

function renderNext(next: string | undefined): Content {
  return next !== undefined && html`<input type="hidden" name="next" value="${next}" />`
}

function withNext(path: string, next: string | undefined): string {
  return next === undefined ? path : `${path}?next=${encodeURIComponent(next)}`
}

function renderProviders(providers: WithNext['providers'], next: string | undefined): Content {
  return providers.map(
    ({ id, name }) =>
      html`<p>
        <a class="button quiet wide" href="${withNext(`/sign-in/with/${encodeURIComponent(id)}`, next)}">
          Continue with ${name}
        </a>
      </p>`,
  )
}
