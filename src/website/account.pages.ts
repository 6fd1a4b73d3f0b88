import type { FastifyRequest } from 'fastify'
import type { ApiKey, CreatedApiKey } from '../areas/apiKeys/apiKeys.service.ts'
import type { Preferences, Profile } from '../areas/me/me.service.ts'
import type { Session } from '../accounts/sessions.service.ts'
import type { App } from '../http/app-types.ts'
import { describeBrowser } from '../kernel/browsers.ts'
import { labelLengthMax, nameLengthMax } from '../kernel/text.ts'
import type { Services } from '../services.ts'
import {
  emptyForm,
  form,
  readField,
  readFields,
  renderAction,
  renderField,
  renderForm,
  type FormState,
  renderCheckbox,
} from './forms.ts'
import { html, type Content, type Html } from './html.ts'
import { renderPicture, type Section } from './layout.ts'
import { renderConfirmed, renderDone, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import {
  readRevokeAccess,
  renderNewPasswordField,
  renderPassword,
  renderRevokeAccess,
} from './sign-in.views.ts'
import { renderDate, renderTime } from './words.ts'
import { renderPictureForm } from './workspace-settings.pages.ts'
import { answer } from './workspace-visit.ts'

interface AccountVisit {
  request: FastifyRequest
  state: FormState
}

type AccountServices = Pick<Services, 'apiKeys' | 'credentials' | 'me' | 'sessions'>

/** The settings of a person: profile, notifications and security. */
export function accountPages(app: App, services: AccountServices, { baseUrl }: { baseUrl: string }): void {
  const { apiKeys, me, sessions } = services
  const visit = (request: FastifyRequest): AccountVisit => ({ request, state: emptyForm })

  app.get('/settings', async (_request, reply) => reply.redirect('/settings/profile', 302))

  const showProfile = async (shown: AccountVisit) => renderProfile(shown, me.profile(shown.request.principal))
  app.get('/settings/profile', async (request, reply) => reply.showPage(await showProfile(visit(request))))
  app.post('/settings/profile', form, async (request, reply) =>
    answer(reply, visit(request), showProfile, async () => {
      await me.updateProfile(request.principal, { name: readField(request, 'name') })
      return '/settings/profile?done=saved'
    }),
  )

  app.get('/settings/notifications', async (request, reply) =>
    reply.showPage(renderNotifications(visit(request), await me.preferences(request.principal))),
  )
  app.post('/settings/notifications', form, async (request, reply) => {
    await me.updatePreferences(request.principal, {
      productUpdates: readField(request, 'productUpdates') === 'on',
      workspaceActivity: readField(request, 'workspaceActivity') === 'on',
    })
    return reply.redirect('/settings/notifications?done=saved', 303)
  })

  const showSecurity = createSecurityPage(services, baseUrl)
  app.get('/settings/security', async (request, reply) => reply.showPage(await showSecurity(visit(request))))

  app.post('/settings/security/api-keys', form, async (request, reply) =>
    answer(
      reply,
      visit(request),
      (shown) => showSecurity(shown),
      async () => {
        const name = readField(request, 'name')
        return showSecurity(visit(request), await apiKeys.create(request.principal, { name }))
      },
    ),
  )

  app.post<{ Params: { id: string } }>(
    '/settings/security/api-keys/:id/revoke',
    form,
    async (request, reply) => {
      await apiKeys.revoke(request.principal, request.params.id)
      return reply.redirect('/settings/security?done=revoked', 303)
    },
  )

  app.post<{ Params: { id: string } }>(
    '/settings/security/sessions/:id/end',
    form,
    async (request, reply) => {
      await sessions.end(request.principal, request.params.id)
      return reply.redirect('/settings/security?done=ended', 303)
    },
  )

  app.post('/settings/security/sessions/end-others', form, async (request, reply) => {
    await sessions.endOthers(request.principal, String(request.visit.sessionId))
    return reply.redirect('/settings/security?done=others-ended', 303)
  })
}

/** The upload form of the profile photo. */
export function profilePhotoForm(app: App, { me }: AccountServices): void {
  const show = async (shown: AccountVisit) => renderProfile(shown, me.profile(shown.request.principal))
  app.post('/settings/profile/photo', async (request, reply) =>
    answer(reply, { request, state: emptyForm }, show, async () => {
      await me.uploadPhoto(request.principal, request.takeFile())
      return '/settings/profile?done=saved'
    }),
  )
}

/** The forms that change the password, or request a link to set one. */
export function passwordForms(
  app: App,
  services: AccountServices,
  { baseUrl, limits }: { baseUrl: string; limits: SignInLimits },
): void {
  const { credentials } = services
  const show = createSecurityPage(services, baseUrl)

  app.post('/settings/security/password', form, async (request, reply) =>
    answer(
      reply,
      { request, state: emptyForm },
      (shown) => show(shown),
      async () => {
        const fields = readFields(request, 'currentPassword', 'password')
        const input = { ...fields, revokeAccess: readRevokeAccess(request) }
        const { principal } = request
        await limits.attemptPassword(request, principal.user.id, () =>
          credentials.changePassword(principal, input),
        )
        return '/settings/security?done=password-changed'
      },
    ),
  )

  app.post('/settings/security/password-link', form, async (request, reply) => {
    const { email } = request.principal.user
    await limits.countMail(request, email)
    await credentials.requestLink('reset_password', email)
    return reply.redirect('/settings/security?done=mail-sent', 303)
  })
}

/** Returns the function that renders the security page. A new key is shown once. */
function createSecurityPage({ apiKeys, credentials, sessions }: AccountServices, baseUrl: string) {
  return async (shown: AccountVisit, createdKey?: CreatedApiKey): Promise<Page> => {
    const { principal } = shown.request
    const [keys, browsers, hasPassword] = await Promise.all([
      apiKeys.list(principal),
      sessions.list(principal),
      credentials.hasPassword(principal),
    ])
    return renderSecurity(shown, { keys, browsers, hasPassword, createdKey, baseUrl })
  }
}

function renderProfile({ request, state }: AccountVisit, { name, email, image }: Profile): Page {
  const isAboutFile = state.error?.field === 'file'
  const formState = isAboutFile ? emptyForm : state
  return {
    title: 'Profile',
    section: sectionOf('Profile'),
    body: html`<h1>Profile</h1>
      ${renderDone(request)}
      ${renderForm({
        request,
        action: '/settings/profile',
        state: formState,
        fields: ['name'],
        body: html`${renderField({
            name: 'name',
            label: 'Name',
            value: name,
            autocomplete: 'name',
            maxLength: nameLengthMax,
            state: formState,
          })}
          <p>Your email address is <strong>${email}</strong>.</p>
          <button>Save</button>`,
      })}
      <section class="card" aria-labelledby="photo">
        <h2 id="photo">Photo</h2>
        ${renderPicture(image, name, 64)}
        ${renderPictureForm({
          visit: { request, state },
          action: '/settings/profile/photo',
          label: 'New photo',
          isAboutFile,
        })}
      </section>`,
  }
}

function renderNotifications({ request }: AccountVisit, preferences: Preferences): Page {
  return {
    title: 'Notifications',
    section: sectionOf('Notifications'),
    body: html`<h1>Notifications</h1>
      ${renderDone(request)}
      ${renderForm({
        request,
        action: '/settings/notifications',
        body: html`<fieldset>
            <legend>Email me about</legend>
            ${renderCheckbox({
              name: 'productUpdates',
              label: 'Product updates',
              isChecked: preferences.productUpdates,
            })}
            ${renderCheckbox({
              name: 'workspaceActivity',
              label: 'Activity in my workspaces',
              isChecked: preferences.workspaceActivity,
            })}
          </fieldset>
          <p class="hint">Links that you request and security notices are always sent.</p>
          <button>Save</button>`,
      })}`,
  }
}

function renderSecurity(
  { request, state }: AccountVisit,
  shown: {
    keys: ApiKey[]
    browsers: Session[]
    hasPassword: boolean
    createdKey: CreatedApiKey | undefined
    baseUrl: string
  },
): Page {
  const { keys, browsers, hasPassword, createdKey, baseUrl } = shown
  const isAboutKey = 'name' in state.values
  return {
    title: 'Security',
    section: sectionOf('Security'),
    body: html`<h1>Security</h1>
      ${renderDone(request)}
      <section aria-labelledby="api-keys">
        <h2 id="api-keys">API keys</h2>
        <p>
          An API key lets a program act as you, with all your permissions. Keep it secret. The
          <a href="/docs">API</a> is at ${baseUrl}.
        </p>
        ${createdKey && renderCreatedKey(createdKey)}
        ${renderForm({
          request,
          action: '/settings/security/api-keys',
          ...(isAboutKey && { state }),
          fields: ['name'],
          className: 'line',
          body: html`${renderField({
              name: 'name',
              label: 'Key name',
              maxLength: labelLengthMax,
              autocomplete: 'off',
              ...(isAboutKey && { state }),
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
        ${hasPassword ? renderPasswordForm(request, isAboutKey ? undefined : state) : renderNoPassword(request)}
      </section>`,
  }
}

function renderCreatedKey({ name, secret }: CreatedApiKey): Html {
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

function renderPasswordForm(request: FastifyRequest, state: FormState | undefined): Content {
  return renderForm({
    request,
    action: '/settings/security/password',
    ...(state && { state }),
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
      action: '/settings/security/password-link',
      label: 'Email me a link to set a password',
    })}`
}

function sectionOf(current: string): Section {
  const links = [
    ['Profile', '/settings/profile'],
    ['Notifications', '/settings/notifications'],
    ['Security', '/settings/security'],
  ] as const
  return {
    name: 'Your settings',
    links: links.map(([label, href]) => ({ label, href, isCurrent: label === current })),
  }
}
