import type { FastifyRequest } from 'fastify'
import type { LinkOwner } from '../../accounts/sign-in/credentials.service.ts'
import { passwordLengthMax, passwordLengthMin, type EntryRules } from '../../domain/accounts.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import { renderField, renderForm, type FormState } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html, type Content, type Html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'
import { renderPasskeySignIn } from '../views/passkey-form.views.ts'

/** An identity provider, as the sign-in page shows it. */
export interface ProviderLink {
  id: string
  name: string
}

interface WithForm {
  request: FastifyRequest
  state?: FormState
}

interface WithNext extends WithForm {
  /** The path to continue at afterwards. */
  next: string | undefined
  providers: readonly ProviderLink[]
  entry: EntryRules
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
  entry,
  notice,
}: WithNext & { notice?: string | undefined }): Page {
  return narrow('Sign in', {
    // An authorization request may end with a redirect to an agent's own URL.
    mayLeave: next?.startsWith('/agent/') === true,
    hasPasskeys: true,
    isSignIn: true,
    body: html`<h1>Sign in</h1>
      <p>
        Workspace is where teams and their agents collect early ideas and the evidence for and against them.
      </p>
      ${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
      ${
        entry.hasPasswords &&
        html`${renderForm({
            request,
            action: '/sign-in',
            ...(state && { state }),
            fields: ['email', 'password'],
            body: html`${renderNext(next)} ${renderEmail(state)}
              ${renderPassword({ state, label: 'Password', autocomplete: 'current-password' })}
              <button>Sign in</button>`,
          })}
          <p><a href="${withNext('/forgot', undefined)}">Forgot your password?</a></p>`
      }
      <p><a href="${withNext('/sign-in/link', next)}">Email me a sign-in link</a></p>
      ${renderPasskeySignIn(request, next)} ${renderProviders(providers, next)}
      ${
        entry.signUp !== 'off' &&
        html`<hr />
          <p>New here? <a href="${withNext('/sign-up', next)}">Sign up</a></p>`
      }`,
  })
}

export function renderSignUp({ request, state, next, providers, entry }: WithNext): Page {
  return narrow('Sign up', {
    body: html`<h1>Sign up</h1>
      ${
        entry.hasPasswords &&
        entry.signUp === 'invited' &&
        html`<p>Use the email address that you were invited with, or one of the domain of your workspace.</p>`
      }
      ${
        entry.hasPasswords &&
        renderForm({
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
        })
      }
      ${renderProviders(providers, next)}
      <hr />
      <p>Already have an account? <a href="${withNext('/sign-in', next)}">Sign in</a></p>`,
  })
}

export interface CheckMail {
  /** Empty if the page was opened without a form. */
  email: string
  /** Whether a mail is sent in any case, or only if an account has the address, which the page must not reveal. */
  isSent: boolean
  isUnverified?: boolean
  /** Whether the mail may say that the address cannot sign up. */
  isOfInvited?: boolean
}

export function renderCheckMail({ email, isSent, isUnverified, isOfInvited }: CheckMail): Page {
  const address = email === '' ? 'your email address' : html`<strong>${email}</strong>`
  return {
    title: 'Check your email',
    isOnTheWay: true,
    body: html`<section class="narrow">
      <h1>Check your email</h1>
      ${isUnverified && html`<p>Verify your email address before you sign in.</p>`}
      <p>
        ${
          isOfInvited
            ? html`We sent an email to ${address}. It says how to continue.`
            : html`${isSent ? html`We sent a link to ${address}.` : html`If ${address} has an account, we sent a link to it.`}
              Open the link to continue.`
        }
      </p>
      <p class="hint">
        No email after a few minutes? Check your spam folder and the address above.
        ${isSent && html`You can <a href="/verify">request another verification email</a>.`}
      </p>
    </section>`,
  }
}

export function renderVerifyRequest({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Verify your email address',
    text: 'We will send you a link that verifies your email address.',
    action: '/verify',
  })
}

export function renderForgot({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Forgot your password?',
    text: 'We will send you a link to choose a new one.',
    action: '/forgot',
  })
}

export function renderLinkRequest({ request, state }: WithForm): Page {
  return renderMailRequest({
    request,
    state,
    title: 'Sign in with a link',
    text: 'We will send you a link that signs you in without a password.',
    action: '/sign-in/link',
  })
}

/** Requires a click, since mail scanners may open the link, and in another browser than that of the sign-up the password. */
export function renderVerify(options: WithLink & { needsPassword: boolean }): Page {
  const { request, state, owner, token, needsPassword } = options
  return narrow('Verify your email address', {
    body: html`<h1>Verify your email address</h1>
      ${
        needsPassword
          ? html`<p>
              Enter the password that you chose for <strong>${owner.email}</strong> when you signed up.
            </p>`
          : html`<p>You signed up with <strong>${owner.email}</strong> in this browser.</p>`
      }
      ${renderForm({
        request,
        action: `/verify-email/${token}`,
        ...(state && { state }),
        fields: ['password'],
        body: html`${
            needsPassword &&
            html`${renderUsername(owner)}
            ${renderPassword({ state, label: 'Password', autocomplete: 'current-password' })}`
          } <button>Verify and sign in</button>`,
      })}
      ${
        needsPassword &&
        html`<p class="hint">
          Forgot the password, or did not sign up yourself? <a href="/forgot">Choose a new password</a>.
        </p>`
      }`,
  })
}

export function renderNewPassword({ request, state, owner, token }: WithLink): Page {
  return narrow('Choose a new password', {
    body: html`<h1>Choose a new password</h1>
      <p>For <strong>${owner.email}</strong>. A new password signs you out on all devices.</p>
      ${renderForm({
        request,
        action: `/reset/${token}`,
        ...(state && { state }),
        fields: ['password'],
        body: html`${renderUsername(owner)} ${renderNewPasswordField(state)} ${renderRevokeAccess()}
          <button>Set password</button>`,
      })}`,
  })
}

/** Offers to revoke what somebody who had access to the account may have left to return. */
export function renderRevokeAccess(isChecked = false): Html {
  return html`<div class="check">
    <input type="checkbox" id="revokeAccess" name="revokeAccess" ${isChecked && html`checked`} />
    <label for="revokeAccess">
      Also revoke my API keys, agents, passkeys and linked accounts
      <span class="hint">
        This also cancels a pending change of your email address and an unfinished setup of an authenticator
        app.
      </span>
    </label>
  </div>`
}

export const readRevokeAccess = (request: FastifyRequest) => readField(request, 'revokeAccess') === 'on'

/** Requires a click, since mail scanners may open the link. */
export function renderSignInByLink({ request, owner, token }: WithLink): Page {
  return narrow('Sign in', {
    body: html`<h1>Sign in</h1>
      <p>
        You are signing in as <strong><bdi>${owner.name}</bdi></strong> (${owner.email}).
      </p>
      ${renderForm({ request, action: `/sign-in/link/${token}`, body: html`<button>Sign in</button>` })}`,
  })
}

function narrow(
  title: string,
  { body, ...options }: Pick<Page, 'body' | 'mayLeave' | 'hasPasskeys' | 'isSignIn'>,
): Page {
  return {
    title,
    ...options,
    isOnTheWay: true,
    body: html`<section class="narrow">${body}</section>`,
  }
}

function renderMailRequest(options: {
  request: FastifyRequest
  state: FormState | undefined
  title: string
  text: string
  action: string
}): Page {
  const { request, state, title, text, action } = options
  return narrow(title, {
    body: html`<h1>${title}</h1>
      <p>${text}</p>
      ${renderForm({
        request,
        action,
        ...(state && { state }),
        fields: ['email'],
        body: html`${renderEmail(state)}<button>Send link</button>`,
      })}
      <p><a href="/sign-in">Back to sign-in</a></p>`,
  })
}

function renderEmail(state: FormState | undefined): Html {
  return renderField({
    name: 'email',
    label: 'Email address',
    type: 'email',
    autocomplete: 'username',
    maxLength: emailLengthMax,
    ...(state && { state }),
  })
}

/** A password field. `autocomplete` tells password managers whether it is the current password or a new one. */
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

/** A password field with the rule for new passwords. */
export function renderNewPasswordField(state: FormState | undefined, label = 'Password'): Html {
  return renderPassword({
    state,
    label,
    autocomplete: 'new-password',
    hint: `At least ${passwordLengthMin} characters. A few random words are easy to remember and hard to guess.`,
  })
}

/** Tells password managers which account the password belongs to. */
function renderUsername({ email }: LinkOwner): Html {
  return html`<input type="hidden" name="username" autocomplete="username" value="${email}" />`
}

function renderNext(next: string | undefined): Content {
  return next !== undefined && html`<input type="hidden" name="next" value="${next}" />`
}

function withNext(path: string, next: string | undefined): string {
  return next === undefined ? path : `${path}?next=${encodeURIComponent(next)}`
}

export function renderProviders(providers: WithNext['providers'], next: string | undefined): Content {
  return providers.map(
    ({ id, name }) =>
      html`<p>
        <a class="button quiet wide" href="${withNext(`/sign-in/with/${encodeURIComponent(id)}`, next)}">
          Continue with ${name}
        </a>
      </p>`,
  )
}
