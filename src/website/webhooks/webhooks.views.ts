import type { FastifyRequest } from 'fastify'
import type { WebhookDelivery } from '../../areas/webhooks/deliveries.service.ts'
import type { Webhook } from '../../areas/webhooks/webhooks.service.ts'
import type { EventType } from '../../areas/events/events.service.ts'
import {
  webhookDescriptionLengthMax,
  webhookScopes,
  webhookUrlLengthMax,
  type WebhookFormat,
  type WebhookPauseReason,
  type WebhookScope,
} from '../../domain/webhooks.ts'
import { mergeEdit, renderOpened } from '../components/edits.ts'
import {
  renderAction,
  renderCheckbox,
  renderField,
  renderForm,
  renderRefusal,
  renderSelect,
  stateOf,
  type FormState,
} from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderDone, renderNewSecret } from '../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { readField, readText } from '../components/sent-form.ts'
import { countOf, renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import type { SeedSorting } from '../seeds/lists/seed-sorting.views.ts'
import { eventTypeNames } from '../views/events.views.ts'

/** How far back events can be sent again, in hours. */
export const sinceChoices = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last day' },
  { value: '168', label: 'the last 7 days' },
  { value: '720', label: 'the last 30 days' },
] as const

/** The name of the checkbox of a type of events. */
export const typeField = (type: string) => `type:${type}`

/** What a webhook can be limited to: the words for one and for several. */
const scopeNames: Record<WebhookScope, { one: string; many: string }> = {
  seedIds: { one: 'seed', many: 'Seeds' },
  teamIds: { one: 'team', many: 'Teams' },
  labelIds: { one: 'label', many: 'Labels' },
}

/** The name of the checkbox of a seed, a team or a label. */
export const scopeField = (scope: WebhookScope, id: string) => `${scopeNames[scope].one}:${id}`

const formatNames: Record<WebhookFormat, string> = {
  slack: 'Messages to Slack',
  teams: 'Messages to Microsoft Teams',
  discord: 'Messages to Discord',
  mattermost: 'Messages to Mattermost',
}

/** The list of webhooks, with a form for a new one. */
export function renderWebhooks(
  visit: WorkspaceVisit,
  webhooks: readonly Webhook[],
  choices: ScopeChoices,
): Page {
  const { base, request } = visit
  const action = `${base}/settings/webhooks`
  const state = stateOf(visit.state, action)
  return {
    title: 'Webhooks',
    section: sectionOf(visit, 'Webhooks'),
    body: html`<h1>Webhooks</h1>
      <p>
        A webhook sends the events of this workspace to a URL of yours, as signed requests, or tells them in a
        channel of a chat.
      </p>
      ${renderDone(request)}
      ${renderRows(
        webhooks.map((webhook) => renderRow(`${action}/${webhook.id}`, webhook)),
        html`<p>No webhooks yet.</p>`,
      )}
      <section class="card" aria-labelledby="add">
        <h2 id="add">Add a webhook</h2>
        ${renderForm({
          request,
          action,
          state,
          fields: ['url', 'description', 'seedIds'],
          body: html`${renderFields(state, noFields, { choices })}<button>Add webhook</button>`,
        })}
      </section>`,
  }
}

function renderRow(path: string, webhook: Webhook): Html {
  const { url, description, format, types, lastDeliveryAt } = webhook
  return html`<div class="row">
    <div class="grow">
      <a class="title" href="${path}"><bdi>${new URL(url).host}</bdi></a>
      ${description !== null && html`<span><bdi>${description}</bdi></span>`}
      <span class="hint">
        ${describeStatus(webhook)} · ${format !== null && html`${formatNames[format]} · `}
        ${types.length === 0 ? 'all events' : countOf(types.length, 'type of events', 'types of events')} ·
        ${lastDeliveryAt === null ? 'nothing delivered yet' : html`last delivery ${renderTime(lastDeliveryAt)}`}
      </span>
    </div>
  </div>`
}

/** The page of a webhook: its settings, its secret and its deliveries. */
export function renderWebhook(
  visit: WorkspaceVisit,
  webhook: Webhook,
  {
    list,
    deliveries,
    choices,
  }: {
    list: ListView<WebhookDelivery>
    deliveries: readonly WebhookDelivery[]
    choices: ScopeChoices
  },
): Page {
  const { base, request } = visit
  const path = `${base}/settings/webhooks/${webhook.id}`
  return {
    title: `Webhook to ${new URL(webhook.url).host}`,
    section: sectionOf(visit, 'Webhooks'),
    body: html`<div>
        <h1><bdi>${new URL(webhook.url).host}</bdi></h1>
        <span class="hint">${describeStatus(webhook)}</span>
      </div>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])} ${renderSecret(request)}
      ${request.flash.state.action !== path && renderRefusal(request)}
      <div class="settings">
        ${renderSettings(visit, { webhook, choices, path })} ${renderManagement(request, webhook, path)}
      </div>
      <h2>Deliveries</h2>
      ${renderRows(
        deliveries.map((delivery) => renderDelivery(request, webhook, { delivery, path })),
        html`<p>No events yet.</p>`,
      )}
      ${renderPager(list, {
        path,
        labels: { first: 'Newest', previous: 'Newer', next: 'Older' },
      })}`,
  }
}

/** A new secret, which is shown once. */
function renderSecret({ flash }: FastifyRequest): Content {
  const { secret, isRotated } = flash.shown
  if (secret === undefined) return false
  return renderNewSecret({
    text: html`Copy the secret now. It is not shown again. The receiver verifies requests with
    it${isRotated !== undefined && '; for a day, requests are signed with the old one too'}.`,
    label: 'Secret of the webhook',
    secret,
  })
}

type Fields = Pick<Webhook, 'url' | 'description' | 'format' | 'types' | WebhookScope>

const noFields: Fields = {
  ...{ url: '', description: null, format: null, types: [] },
  ...{ seedIds: [], teamIds: [], labelIds: [] },
}

/** What the form offers by its name: of seeds those that the webhook is limited to. */
interface ScopeChoices extends SeedSorting {
  seeds: SeedSorting['teams']
}

function renderSettings(
  visit: WorkspaceVisit,
  { webhook, choices, path }: { webhook: Webhook; choices: ScopeChoices; path: string },
): Html {
  const { url, description, format, types, seedIds, teamIds, labelIds } = webhook
  const stored: Fields = { url, description, format, types, seedIds, teamIds, labelIds }
  const { state, conflicts } = mergeEdit(stateOf(visit.state, path), stored, (form) => ({
    url: readField(form, 'url').trim(),
    description: readText(form, 'description') || null,
  }))
  return html`<section aria-labelledby="general">
    <h2 id="general">Settings</h2>
    ${renderForm({
      request: visit.request,
      action: path,
      state,
      fields: ['url', 'description', 'seedIds'],
      body: html`${renderOpened(stored)} ${renderFields(state, stored, { conflicts, choices })}
        <button>Save</button>`,
    })}
  </section>`
}

function renderFields(
  state: FormState,
  stored: Fields,
  { conflicts = [], choices }: { conflicts?: readonly (keyof Fields)[]; choices: ScopeChoices },
): Html {
  const { url, description, format, types } = stored
  const wasSent = state.action !== undefined
  const isChosen = (type: string) =>
    wasSent ? state.values[typeField(type)] !== undefined : types.includes(type)
  return html`${renderSelect({
      name: 'format',
      label: 'What it sends',
      value: state.values.format ?? format ?? '',
      choices: [
        { value: '', label: 'Signed events (Standard Webhooks)' },
        ...Object.entries(formatNames).map(([value, label]) => ({ value, label })),
      ],
    })}
    ${renderField({
      name: 'url',
      label: 'URL',
      type: 'url',
      value: url,
      maxLength: webhookUrlLengthMax,
      autocomplete: 'off',
      hint: 'An https URL, such as https://hooks.example.com/workspace. A chat gives you one for an incoming webhook.',
      state,
      savedMeanwhile: conflicts.includes('url') ? url : undefined,
    })}
    ${renderField({
      name: 'description',
      label: 'Description',
      value: description ?? '',
      maxLength: webhookDescriptionLengthMax,
      autocomplete: 'off',
      isOptional: true,
      state,
      savedMeanwhile: conflicts.includes('description') ? (description ?? '') : undefined,
    })}
    <details ${types.length > 0 && html`open`}>
      <summary>Only some types of events</summary>
      <fieldset>
        <legend>
          Without a choice, all events are sent; to a chat, those that everybody in the workspace may see.
        </legend>
        ${(Object.entries(eventTypeNames) as [EventType, string][]).map(([type, name]) =>
          renderCheckbox({ name: typeField(type), label: name, isChecked: isChosen(type) }),
        )}
      </fieldset>
    </details>
    <details ${(wasSent || webhookScopes.some((scope) => stored[scope].length > 0)) && html`open`}>
      <summary>Only some seeds</summary>
      <p class="hint">
        Without a choice, all events are sent. Otherwise, a seed has to match each of the lists in which
        something is chosen.
      </p>
      ${renderScope('seedIds', choices.seeds, { state, stored })}
      ${renderField({
        name: 'seedIds',
        label: stored.seedIds.length > 0 ? 'Further seeds' : 'Seeds',
        autocomplete: 'off',
        isOptional: true,
        hint: 'Links to seeds, with spaces between them.',
        state,
      })}
      ${renderScope('teamIds', choices.teams, { state, stored })}
      ${renderScope('labelIds', choices.labels, { state, stored })}
    </details>`
}

/** The choices of seeds, teams or labels. What the webhook has and is not among them stays, unless a person takes it out. */
function renderScope(
  scope: WebhookScope,
  named: SeedSorting['teams'],
  { state, stored }: { state: FormState; stored: Fields },
): Content {
  const { one, many } = scopeNames[scope]
  const unknown = stored[scope].filter((id) => !named.some((choice) => choice.id === id))
  const choices = [
    ...named,
    ...unknown.map((id) => ({ id, name: `A ${one} that is not listed, or deleted` })),
  ]
  if (choices.length === 0) return false
  const isChosen = (id: string) =>
    state.action === undefined
      ? stored[scope].includes(id)
      : state.values[scopeField(scope, id)] !== undefined
  return html`<fieldset>
    <legend>${many}</legend>
    ${choices.map(({ id, name }) =>
      renderCheckbox({
        name: scopeField(scope, id),
        label: html`<bdi>${name}</bdi>`,
        isChecked: isChosen(id),
      }),
    )}
  </fieldset>`
}

function renderManagement(
  request: FastifyRequest,
  { status, pausedUntil, formerSecretsUntil }: Webhook,
  path: string,
): Html {
  const isActive = status === 'active'
  return html`<section aria-labelledby="manage">
    <h2 id="manage">Manage the webhook</h2>
    <div>
      <div class="choices">
        ${pausedUntil !== null && renderAction(request, { action: `${path}/resume`, label: 'Resume' })}
        ${renderAction(request, { action: `${path}/test`, label: 'Send a test' })}
        ${renderAction(request, {
          action: `${path}/status`,
          label: isActive ? 'Disable' : 'Enable',
          fields: { status: isActive ? 'disabled' : 'active' },
        })}
        ${renderConfirmed({
          label: 'Replace',
          description: 'the secret',
          question: 'For a day, requests are signed with the old secret too.',
          action: renderAction(request, { action: `${path}/rotate-secret`, label: 'Replace secret' }),
        })}
        ${renderConfirmed({
          label: 'Delete',
          description: 'the webhook',
          question: 'No more events are sent, and the list of deliveries is deleted.',
          action: renderAction(request, {
            action: `${path}/delete`,
            label: 'Delete webhook',
            isDangerous: true,
          }),
        })}
      </div>
      ${
        formerSecretsUntil.length > 0 &&
        html`<p class="hint">
          Requests are signed with ${formerSecretsUntil.length === 1 ? 'the former secret' : 'former secrets'}
          too, until ${formerSecretsUntil.map((time, i) => html`${i > 0 && ', '}${renderTime(time)}`)}.
        </p>`
      }
      ${renderForm({
        request,
        action: `${path}/sample`,
        className: 'line',
        body: html`${renderSelect({
            name: 'type',
            label: 'Send a sample of the event',
            value: 'comment.added',
            choices: Object.entries(eventTypeNames).map(([value, label]) => ({ value, label })),
          })}<button class="quiet">Send the sample</button>`,
      })}
      ${
        isActive &&
        renderForm({
          request,
          action: `${path}/redeliver-since`,
          className: 'line',
          body: html`${renderSelect({
              name: 'hours',
              label: 'Send all events again of',
              value: '24',
              choices: sinceChoices,
            })}<button class="quiet">Send again</button>`,
        })
      }
    </div>
  </section>`
}

function renderDelivery(
  request: FastifyRequest,
  webhook: Webhook,
  { delivery, path }: { delivery: WebhookDelivery; path: string },
): Html {
  const { id, type, attempts, createdAt, nextAttemptAt } = delivery
  const name = (eventTypeNames as Record<string, string>)[type] ?? type
  return html`<div class="row">
    <div class="grow">
      <strong>${name}</strong> ${describeDelivery(delivery)}
      <span class="hint">
        ${renderTime(createdAt)} · ${countOf(attempts, 'attempt')}
        ${nextAttemptAt !== null && attempts > 0 && html` · next attempt ${renderTime(nextAttemptAt)}`}
      </span>
    </div>
    ${
      webhook.status === 'active' &&
      renderAction(request, {
        action: `${path}/redeliver`,
        label: 'Send again',
        description: html`the event “${name}” of ${renderTime(createdAt)}`,
        fields: { deliveryId: id },
      })
    }
  </div>`
}

const pauseTexts: Record<WebhookPauseReason, string> = {
  retry_after: 'because the receiver asked for it',
  overloaded: 'because the receiver has too much to do',
}

function describeStatus({
  status,
  disabledReason,
  failingSince,
  pausedUntil,
  pauseReason,
}: Webhook): Content {
  if (pausedUntil !== null && pauseReason !== null)
    return html`Paused until ${renderTime(pausedUntil)}, ${pauseTexts[pauseReason]}`
  if (status === 'active')
    return failingSince === null ? 'Active' : html`Active, but failing since ${renderTime(failingSince)}`
  if (disabledReason === 'gone') return 'Disabled, because the receiver answered that it is gone (410)'
  if (disabledReason === 'failing') return 'Disabled, because nothing could be delivered for three days'
  return 'Disabled'
}

const errorTexts = {
  refused: 'not reached',
  timeout: 'no answer within 15 seconds',
  tls: 'no valid certificate',
  secret_unreadable: 'secret not readable',
}

function describeDelivery({ status, lastStatus, lastError }: WebhookDelivery): Html {
  const result =
    lastError === null
      ? ''
      : lastError === 'status'
        ? `answered ${String(lastStatus)}`
        : errorTexts[lastError]
  return html`<span class="tag">${status}</span>
    ${result !== '' && html`<span class="hint">${result}</span>`}`
}
