import type { FastifyRequest } from 'fastify'
import type { Preferences, Profile } from '../../areas/me/me.service.ts'
import type { App } from '../../http/app-types.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { accountSection } from './account-section.ts'
import { emailPath } from './email.pages.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { mergeEdit, readOpened, renderOpened } from '../components/edits.ts'
import { renderAction, renderField, renderForm, renderCheckbox, stateOf } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { notice, renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderPictureForm } from '../settings/workspace-settings.pages.ts'

type AccountServices = Pick<Services, 'me'>

const profilePath = '/settings/profile'
const photoPath = '/settings/profile/photo'

/** The settings of a person: profile and notifications. */
export function accountPages(app: App, { me }: AccountServices): void {
  app.get('/settings', async (_request, reply) => reply.redirect(profilePath, 302))

  app.get(profilePath, async (request, reply) =>
    reply.showPage(renderProfile(request, me.profile(request.principal))),
  )
  app.post(profilePath, form, async (request, reply) =>
    answerForm(request, reply, profilePath, async () => {
      await me.updateProfile(request.principal, readProfile(request), readOpened(request))
      return { path: profilePath, notice: notice`Saved.` }
    }),
  )

  app.post(`${photoPath}/remove`, form, async (request, reply) => {
    await me.removePhoto(request.principal)
    return reply.redirectWith(profilePath, { notice: notice`Your photo was removed.` })
  })

  app.get('/settings/notifications', async (request, reply) =>
    reply.showPage(renderNotifications(request, await me.preferences(request.principal))),
  )
  app.post('/settings/notifications', form, async (request, reply) => {
    await me.updatePreferences(request.principal, {
      productUpdates: readField(request, 'productUpdates') === 'on',
      workspaceActivity: readField(request, 'workspaceActivity') === 'on',
    })
    return reply.redirectWith('/settings/notifications', { notice: notice`Saved.` })
  })
}

/** The upload form of the profile photo. */
export function profilePhotoForm(app: App, { me }: AccountServices): void {
  app.post(photoPath, async (request, reply) =>
    answerForm(request, reply, profilePath, async () => {
      await me.uploadPhoto(request.principal, request.takeFile())
      return { path: profilePath, notice: notice`Saved.` }
    }),
  )
}

function renderProfile(request: FastifyRequest, { id, name, email, image }: Profile): Page {
  const { state, conflicts } = mergeEdit(stateOf(request.flash.state, profilePath), { name }, readProfile)
  return {
    title: 'Profile',
    section: accountSection('Profile'),
    body: html`<h1>Profile</h1>
      ${renderDone(request)}
      <div class="settings">
        <section aria-labelledby="general">
          <h2 id="general">General</h2>
          ${renderForm({
            request,
            action: profilePath,
            state,
            fields: ['name'],
            body: html`${renderOpened({ name })}
              ${renderField({
                name: 'name',
                label: 'Name',
                value: name,
                autocomplete: 'name',
                maxLength: nameLengthMax,
                state,
                ...(conflicts.includes('name') && { savedMeanwhile: name }),
              })} <button>Save</button>`,
          })}
        </section>
        <section aria-labelledby="email">
          <h2 id="email">Email address</h2>
          <div>
            <p><strong>${email}</strong></p>
            <p><a href="${emailPath}">Change the email address</a></p>
          </div>
        </section>
        <section aria-labelledby="photo">
          <h2 id="photo">Photo</h2>
          <div>
            ${renderFace({ id, name, image }, 64)}
            ${renderPictureForm({ request, action: photoPath, label: 'New photo' })}
            ${
              image !== null &&
              renderAction(request, {
                action: `${photoPath}/remove`,
                label: 'Remove',
                description: 'the photo',
              })
            }
          </div>
        </section>
      </div>`,
  }
}

function readProfile(form: Pick<FastifyRequest, 'body'>): { name: string } {
  return { name: readField(form, 'name') }
}

function renderNotifications(request: FastifyRequest, preferences: Preferences): Page {
  return {
    title: 'Email settings',
    section: accountSection('Email settings'),
    body: html`<h1>Email settings</h1>
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
              label:
                'My workspaces: mentions, a daily digest, changes of my role, and people who accept my invites',
              isChecked: preferences.workspaceActivity,
            })}
          </fieldset>
          <p class="hint">
            A mention is mailed after five minutes, unless you have read it by then. What else you have not
            read comes in one digest a day. Everything is in your <a href="/notifications">notifications</a>,
            with and without emails.
          </p>
          <p class="hint">Links that you request and security notices are always sent.</p>
          <button>Save</button>`,
      })}`,
  }
}
