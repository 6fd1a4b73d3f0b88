import type { FastifyRequest } from 'fastify'
import type { Session } from '../accounts/sessions.service.ts'
import type { ApiKey } from '../areas/apiKeys/apiKeys.service.ts'
import { describeBrowser } from '../kernel/browsers.ts'
import { labelLengthMax } from '../kernel/text.ts'
import { accountSection } from './account-section.ts'
import { renderAction, renderAlert, renderField, renderForm, stateOf } from './forms.ts'
import { html, type Content, type Html } from './html.ts'
import { renderConfirmed, renderDone, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { renderNewPasswordField, renderPassword, renderRevokeAccess } from './sign-in.views.ts'
import { renderDate, renderTime } from './words.ts'

/** The security page. A new key is shown once. */
export function renderSecurity(
  request: FastifyRequest,
  shown: {
    keys: ApiKey[]
    browsers: Session[]
    hasPassword: boolean
    baseUrl: string
  },
): Page {
  const { keys, browsers, hasPassword, baseUrl } = shown
  const { name, secret } = request.flash.shown
  const keyAction = '/settings/security/api-keys'
  const keyState = stateOf(request.flash.state, keyAction)
  return {
    title: 'Security',
    section: accountSection('Security'),
    body: html`<h1>Security</h1>
      ${renderDone(request)}
      <section aria-labelledby="api-keys">
        <h2 id="api-keys">API keys</h2>
        <p>
          An API key lets a program act as you, with all your permissions. Keep it secret. The
          <a href="/docs">API</a> is at ${baseUrl}.
        </p>
        ${name !== undefined && secret !== undefined && renderCreatedKey({ name, secret })}
        ${renderForm({
          request,
          action: keyAction,
          state: keyState,
          fields: ['name'],
          className: 'line',
          body: html`${renderField({
              name: 'name',
              label: 'Key name',
              maxLength: labelLengthMax,
              autocomplete: 'off',
              state: keyState,
            })}<button>Create key</button>`,
        })}
        ${renderRows(
          keys.map((key) => renderKey(request, key)),
          html`<p>You have no API keys.</p>`,
        )}
      </section>
      <section aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        ${renderRows(
          browsers.map((browser) => renderBrowser(request, browser)),
          null,
        )}
        ${
          browsers.length > 1 &&
          renderAction(request, {
            action: '/settings/security/sessions/end-others',
            label: 'Sign out on all other devices',
          })
        }
      </section>
      <section class="card" aria-labelledby="password-heading">
        <h2 id="password-heading">Password</h2>
        ${hasPassword ? renderPasswordForm(request) : renderNoPassword(request)}
      </section>`,
  }
}

function renderCreatedKey({ name, secret }: { name: string; secret: string }): Html {
  return html`<div class="notice" role="status">
    <p>
      Copy the key <strong><bdi>${name}</bdi></strong> now. It is not shown again.
    </p>
    <p class="copy">
      <label class="visually-hidden" for="secret">API key <bdi>${name}</bdi></label>
      <input id="secret" class="mono" readonly value="${secret}" data-copy autocomplete="off" />
    </p>
  </div>`
}

function renderKey(request: FastifyRequest, key: ApiKey): Html {
  const { id, name, tokenPrefix, lastFour, createdAt, lastUsedAt } = key
  return html`<div class="row">
    <div class="grow">
      <strong><bdi>${name}</bdi></strong> <code>${tokenPrefix}…${lastFour}</code>
      <span class="hint">
        created ${renderDate(createdAt)} ·
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
      </span>
    </div>
    ${renderConfirmed({
      label: 'Revoke',
      description: html`the key <bdi>${name}</bdi>`,
      question: 'Programs that use this key lose access immediately.',
      action: renderAction(request, {
        action: `/settings/security/api-keys/${id}/revoke`,
        label: 'Revoke key',
        isDangerous: true,
      }),
    })}
  </div>`
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
        action: `/settings/security/sessions/${id}/end`,
        label: 'Sign out',
        description: `on ${name}`,
      })
    }
  </div>`
}

function renderPasswordForm(request: FastifyRequest): Content {
  const action = '/settings/security/password'
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
  const action = '/settings/security/password-link'
  const { error } = stateOf(request.flash.state, action)
  return html`<p>You do not have a password. You sign in with a link or an identity provider.</p>
    ${error && renderAlert(error)}
    ${renderAction(request, {
      action,
      label: 'Email me a link to set a password',
    })}`
}
