import type { FastifyRequest } from 'fastify'
import type { Session } from '../../accounts/sessions/sessions.service.ts'
import { describeBrowser } from '../../kernel/browsers.ts'
import { accountSection } from './account-section.ts'
import { renderAction, renderForm, stateOf } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderNewPasswordField, renderPassword, renderRevokeAccess } from '../sign-in/sign-in.views.ts'
import { renderDate, renderTime } from '../components/words.ts'

export const securityPath = '/settings/security'

/** A page below the security page. */
export function securityPage(title: string, request: FastifyRequest, body: Content): Page {
  return {
    title,
    section: accountSection('Security'),
    body: html`<p><a href="${securityPath}">Security</a></p>
      <h1>${title}</h1>
      ${renderDone(request)} ${body}`,
  }
}

/** A part of the security page, which leads to a page of its own. */
export interface SecurityRow {
  label: string
  state: Content
  action: string
  href: string
}

/** The security page: how the person signs in, and who can act as them. */
export function renderSecurity(request: FastifyRequest, rows: readonly SecurityRow[]): Page {
  return {
    title: 'Security',
    section: accountSection('Security'),
    body: html`<h1>Security</h1>
      ${renderDone(request)} ${renderRows(rows.map(renderSecurityRow), null)}`,
  }
}

function renderSecurityRow({ label, state, action, href }: SecurityRow): Html {
  return html`<div class="row">
    <div class="grow">
      <strong>${label}</strong>
      <span class="hint">${state}</span>
    </div>
    <a class="button small quiet" href="${href}">${action}<span class="visually-hidden"> ${label}</span></a>
  </div>`
}

/** The page of the password. */
export function renderPasswordPage(request: FastifyRequest, hasPassword: boolean): Page {
  return securityPage(
    'Password',
    request,
    hasPassword ? renderPasswordForm(request) : renderNoPassword(request),
  )
}

/** The page of the sessions. */
export function renderSessions(request: FastifyRequest, browsers: readonly Session[]): Page {
  return securityPage(
    'Where you are signed in',
    request,
    html`${renderRows(
      browsers.map((browser) => renderBrowser(request, browser)),
      null,
    )}
    ${
      browsers.length > 1 &&
      renderAction(request, {
        action: `${securityPath}/sessions/end-others`,
        label: 'Sign out on all other devices',
      })
    }`,
  )
}

function renderBrowser(request: FastifyRequest, { id, userAgent, createdAt, lastUsedAt }: Session): Html {
  const isThis = id === request.visit.sessionId
  const name = describeBrowser(userAgent)
  return html`<div class="row">
    <div class="grow">
      <strong>${name}</strong> ${isThis && html`<span class="tag">this device</span>`}
      <span class="hint">signed in ${renderDate(createdAt)} · last used ${renderTime(lastUsedAt)}</span>
    </div>
    ${
      !isThis &&
      renderAction(request, {
        action: `${securityPath}/sessions/${id}/end`,
        label: 'Sign out',
        description: `on ${name}`,
      })
    }
  </div>`
}

function renderPasswordForm(request: FastifyRequest): Content {
  const action = `${securityPath}/password`
  const state = stateOf(request.flash.state, action)
  return renderForm({
    request,
    action,
    state,
    fields: ['currentPassword', 'password'],
    body: html`${renderPassword({
        state,
        name: 'currentPassword',
        label: 'Current password',
        autocomplete: 'current-password',
      })}
      ${renderNewPasswordField(state, 'New password')} ${renderRevokeAccess()}
      <p class="hint">Changing it signs you out on all other devices.</p>
      <button>Change password</button>`,
  })
}

function renderNoPassword(request: FastifyRequest): Content {
  return html`<p>You do not have a password. You sign in with a link or an identity provider.</p>
    ${renderAction(request, {
      action: `${securityPath}/password-link`,
      label: 'Email me a link to set a password',
    })}`
}
