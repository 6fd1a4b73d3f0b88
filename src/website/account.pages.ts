import type { FastifyRequest } from 'fastify'
import type { Preferences, Profile } from '../areas/me/me.service.ts'
import type { App } from '../http/app-types.ts'
import { nameLengthMax } from '../kernel/text.ts'
import type { Services } from '../services.ts'
import { accountSection } from './account-section.ts'
import {
  emptyForm,
  form,
  readField,
  renderField,
  renderForm,
  type FormState,
  renderCheckbox,
} from './forms.ts'
import { html } from './html.ts'
import { renderPicture } from './layout.ts'
import { renderDone } from './lists.ts'
import type { Page } from './pages.ts'
import { renderPictureForm } from './workspace-settings.pages.ts'
import { answer } from './workspace-visit.ts'

interface AccountVisit {
  request: FastifyRequest
  state: FormState
}

type AccountServices = Pick<Services, 'me'>

/** The settings of a person: profile and notifications. */
export function accountPages(app: App, { me }: AccountServices): void {
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

function renderProfile({ request, state }: AccountVisit, { name, email, image }: Profile): Page {
  const isAboutFile = state.error?.field === 'file'
  const formState = isAboutFile ? emptyForm : state
  return {
    title: 'Profile',
    section: accountSection('Profile'),
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
    section: accountSection('Notifications'),
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
