import type { FastifyRequest } from 'fastify'
import type { EntryRules } from '../../domain/accounts.ts'
import type { InvitePreview } from '../../areas/invites/received-invites.service.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import { renderPasskeyForm } from '../views/passkey-form.views.ts'
import { renderAlert, renderField, renderForm, stateOf, type FormState } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderIcon } from '../components/layout.ts'
import type { Page } from '../plugins/pages.ts'
import { renderDate } from '../components/words.ts'
import { roleNames } from '../views/roles.views.ts'
import { renderNewPasswordField, renderProviders, type ProviderLink } from './sign-in.views.ts'

interface WithInvite {
  request: FastifyRequest
  invite: InvitePreview
  token: string
}

/** The path of the page of an invite. Encoded again, since the token of a forged link may contain any character. */
export const invitePath = (token: string) => `/invites/${encodeURIComponent(token)}`

const endings = {
  expired: 'This invite has expired.',
  accepted: 'This invite was already accepted.',
  declined: 'This invite was declined.',
  revoked: 'This invite was revoked.',
}

/** For a signed-in person. */
export function renderInvitePage({ request, invite, token }: WithInvite): Page {
  const { workspaceSlug, status, expiresAt } = invite
  const renderWhatNow = (): Content => {
    if (!invite.emailMatches) {
      const { email } = request.principal.user
      return html`${renderAlert(`You are signed in as ${email}, but this invite is for another email address.`)}
      ${renderForm({
        request,
        action: `${invitePath(token)}/switch`,
        body: html`<button class="quiet">Sign in with another account</button>`,
      })}`
    }
    if (status === 'accepted') {
      return html`<p>${endings.accepted}</p>
        <p><a class="button" href="/w/${workspaceSlug}">Open the workspace</a></p>`
    }
    if (status !== 'pending') {
      return html`${renderEnding(status)}
        <p><a class="button" href="/">Go to the home page</a></p>`
    }
    return html`${renderForm({
        request,
        action: invitePath(token),
        body: html`<button>Accept invite</button>`,
      })}
      ${renderForm({
        request,
        action: `${invitePath(token)}/decline`,
        body: html`<button class="quiet">Decline</button>`,
      })}
      <p class="hint">Expires on ${renderDate(expiresAt)}.</p>`
  }
  return renderInvite(invite, renderWhatNow())
}

/** For somebody who is not signed in. With `canSignUp`, one form creates their account and accepts the invite. */
export function renderInviteForVisitor(
  options: WithInvite & { canSignUp: boolean; providers: readonly ProviderLink[]; entry: EntryRules },
): Page {
  const { request, invite, token, canSignUp, providers, entry } = options
  const { status, workspaceSlug } = invite
  const signIn = (next: string, text: string) =>
    html`<p><a class="button wide" href="/sign-in?next=${encodeURIComponent(next)}">${text}</a></p>`
  const renderWhatNow = (): Content => {
    if (status === 'accepted')
      return html`<p>${endings.accepted}</p>
        ${signIn(`/w/${workspaceSlug}`, 'Sign in')}`
    if (status !== 'pending') return renderEnding(status)
    const next = invitePath(token)
    if (canSignUp) {
      if (entry.hasPasswords) return renderSignUp(request, token)
      return html`${renderProviders(providers, next)} ${renderPasskeySignUp(request, token, entry)}`
    }
    if (entry.signUp === 'off')
      return html`<p>To accept, sign in with this email address.</p>
        ${signIn(next, 'Sign in')}`
    return html`<p>To accept, sign in with this email address, or sign up with it.</p>
      ${signIn(next, 'Sign in')}
      <p><a class="button quiet wide" href="/sign-up?next=${encodeURIComponent(next)}">Sign up</a></p>`
  }
  const page = renderInvite(invite, renderWhatNow())
  return { ...page, hasPasskeys: canSignUp }
}

function renderInvite(invite: InvitePreview, whatNow: Content): Page {
  const { workspaceName, workspaceIconUrl, role, invitedByName } = invite
  return {
    title: `Invite to ${workspaceName}`,
    isOnTheWay: true,
    body: html`<section class="narrow">
      ${renderIcon({ name: workspaceName, iconUrl: workspaceIconUrl }, 64)}
      <h1><bdi>${workspaceName}</bdi></h1>
      <p>
        <bdi>${invitedByName}</bdi> invited <strong>${invite.email}</strong> to join this workspace as
        <strong>${roleNames[role]}</strong>.
      </p>
      ${whatNow}
    </section>`,
  }
}

function renderEnding(status: keyof typeof endings): Html {
  return renderAlert(`${endings[status]} Ask the person who invited you for a new one.`)
}

function renderSignUp(request: FastifyRequest, token: string): Html {
  const action = `${invitePath(token)}/sign-up`
  const state = stateOf(request.flash.state, action)
  return html`${renderForm({
    request,
    action,
    state,
    fields: ['name', 'password'],
    body: html`${renderNameField(request, state)} ${renderNewPasswordField(state)}
      <button>Create account and join</button>`,
  })}
  ${renderPasskeySignUp(request, token, { hasPasswords: true })}`
}

/** With passwords, the form shares the name with that of the password. */
function renderPasskeySignUp(
  request: FastifyRequest,
  token: string,
  { hasPasswords }: Pick<EntryRules, 'hasPasswords'>,
): Html {
  const action = `${invitePath(token)}/passkey`
  return renderPasskeyForm({
    request,
    action,
    kind: 'create',
    optionsPath: `${invitePath(token)}/passkey/options`,
    ...(!hasPasswords && { fields: ['name'] }),
    body: hasPasswords
      ? html`<input type="hidden" name="name" data-from="name" />
          <button class="quiet wide">Join with a passkey instead of a password</button>`
      : html`${renderNameField(request, stateOf(request.flash.state, action))}
          <button class="quiet wide">Join with a passkey</button>`,
  })
}

function renderNameField(request: FastifyRequest, state: FormState): Html {
  return renderField({
    name: 'name',
    label: 'Your name',
    autocomplete: 'name',
    maxLength: nameLengthMax,
    value: request.flash.state.values.name ?? '',
    state,
  })
}
