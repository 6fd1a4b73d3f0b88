import type { FastifyRequest } from 'fastify'
import type { Preferences, Profile } from '../../areas/me/me.service.ts'
import { noticeChoices, personalChoices, type NotificationPreferences } from '../../domain/notifications.ts'
import type { App } from '../../http/app-types.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { accountSection } from './account-section.ts'
import { emailPath } from './email.pages.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { mergeEdit, readOpened, renderOpened } from '../components/edits.ts'
import {
  renderAction,
  renderField,
  renderForm,
  renderCheckbox,
  renderSelect,
  stateOf,
} from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { notice, renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderPictureForm } from '../settings/workspace-settings.pages.ts'

type AccountServices = Pick<Services, 'me' | 'notifications'>

const profilePath = '/settings/profile'
const photoPath = '/settings/profile/photo'
const noticesPath = '/settings/notifications'

/** The settings of a person: profile and notifications. */
export function accountPages(app: App, { me, notifications }: AccountServices): void {
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

  app.get(noticesPath, async (request, reply) => {
    const { principal } = request
    const [preferences, kinds] = await Promise.all([
      me.preferences(principal),
      notifications.preferences(principal),
    ])
    return reply.showPage(renderNotifications(request, preferences, kinds))
  })
  app.post(noticesPath, form, async (request, reply) => {
    await me.updatePreferences(request.principal, {
      productUpdates: readField(request, 'productUpdates') === 'on',
      workspaceActivity: readField(request, 'workspaceActivity') === 'on',
    })
    return reply.redirectWith(noticesPath, { notice: notice`Saved.` })
  })
  app.post(`${noticesPath}/kinds`, form, async (request, reply) => {
    const read = <Value extends string>(name: string, choices: readonly Value[]) =>
      choices.find((choice) => choice === readField(request, name))
    const chosen = {
      mentions: read('mentions', personalChoices),
      roleChanges: read('roleChanges', personalChoices),
      acceptedInvites: read('acceptedInvites', noticeChoices),
      agents: read('agents', noticeChoices),
      agentRequests: read('agentRequests', noticeChoices),
      decisions: read('decisions', noticeChoices),
    }
    await notifications.updatePreferences(request.principal, {
      // Of a page from before a choice, without it.
      ...Object.fromEntries(Object.entries(chosen).filter(([, choice]) => choice !== undefined)),
      digest: readField(request, 'digest') === 'on',
    })
    return reply.redirectWith(noticesPath, { notice: notice`Saved.` })
  })
}

/** The upload form of the profile photo. */
export function profilePhotoForm(app: App, { me }: Pick<Services, 'me'>): void {
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

function renderNotifications(
  request: FastifyRequest,
  { productUpdates, workspaceActivity }: Preferences,
  kinds: NotificationPreferences,
): Page {
  const choose = (name: Exclude<keyof NotificationPreferences, 'digest'>, label: string) => {
    const isPersonal = name === 'mentions' || name === 'roleChanges'
    const choices = (isPersonal ? personalChoices : noticeChoices).map((value) => ({
      value,
      label: choiceNames[value],
    }))
    return renderSelect({ name, label, choices, value: kinds[name] })
  }
  return {
    title: 'Email settings',
    section: accountSection('Email settings'),
    body: html`<h1>Email settings</h1>
      ${renderDone(request)}
      <div class="settings">
        <section aria-labelledby="emails">
          <h2 id="emails">Emails</h2>
          ${renderForm({
            request,
            action: noticesPath,
            body: html`<fieldset>
                <legend>Email me about</legend>
                ${renderCheckbox({
                  name: 'productUpdates',
                  label: 'Product updates',
                  isChecked: productUpdates,
                })}
                ${renderCheckbox({
                  name: 'workspaceActivity',
                  label: 'My workspaces, as chosen below',
                  isChecked: workspaceActivity,
                })}
              </fieldset>
              <p class="hint">Links that you request and security notices are always sent.</p>
              <button>Save</button>`,
          })}
        </section>
        <section aria-labelledby="kinds">
          <h2 id="kinds">My workspaces</h2>
          ${renderForm({
            request,
            action: `${noticesPath}/kinds`,
            body: html`${
                !workspaceActivity &&
                html`<p>Emails about your workspaces are off. These choices hold when they are on again.</p>`
              }
              ${choose('mentions', 'Somebody mentions me')}
              <p class="hint">Mailed after five minutes, unless you have read it by then.</p>
              ${choose('roleChanges', 'My role is changed')}
              ${choose('acceptedInvites', 'People accept my invites')}
              <p class="hint">One email an hour at most.</p>
              ${choose('agents', 'The access of my agents ends')}
              ${choose('agentRequests', 'Others ask my agents')}
              ${choose('decisions', 'Seeds that I lead or follow are to be decided within three days')}
              ${renderCheckbox({
                name: 'digest',
                label: 'One email a day about what else I have not read',
                isChecked: kinds.digest,
              })}
              <p class="hint">What is not “off” is in your <a href="/notifications">notifications</a>.</p>
              <button>Save</button>`,
          })}
        </section>
      </div>`,
  }
}

const choiceNames: Record<(typeof noticeChoices)[number], string> = {
  mail: 'Notification and email',
  inbox: 'Notification only',
  off: 'Off',
}
