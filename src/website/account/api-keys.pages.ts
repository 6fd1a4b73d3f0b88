import type { FastifyRequest } from 'fastify'
import type { RestrictedApiKey } from '../../areas/apiKeys/apiKeys.service.ts'
import type { Membership } from '../../areas/workspaces/workspaces.service.ts'
import type { App } from '../../http/app-types.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Principal } from '../../domain/principal.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction, renderField, renderForm, renderSelect, stateOf } from '../components/forms.ts'
import { form, readField, requireChoice } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage } from './security.views.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { notice, renderNewSecret } from '../components/notice.ts'
import { readRestrictions, renderRestrictionFields, renderRestrictions } from './key-restrictions.views.ts'

export const apiKeysPath = '/settings/security/api-keys'

interface KeyRoute {
  Params: { id: string }
}

/** How long a rotated key works on, in seconds. */
const overlaps = [
  { value: '86400', label: 'For a day' },
  { value: '604800', label: 'For a week' },
  { value: '3600', label: 'For an hour' },
  { value: '0', label: 'No longer' },
] as const

/** A person's API keys. Revoking one requires no proof, since it must be quick. */
export async function apiKeysPages(
  app: App,
  { apiKeys, sentForms, workspaces }: Pick<Services, 'apiKeys' | 'sentForms' | 'workspaces'>,
  { baseUrl }: { baseUrl: string },
): Promise<void> {
  const listWorkspaces = async (principal: Principal) => parseJson(await workspaces.list(principal))

  app.post<KeyRoute>(`${apiKeysPath}/:id/revoke`, form, async (request, reply) => {
    const { name, replacedId } = await apiKeys.revoke(request.principal, request.params.id)
    return reply.redirectWith(apiKeysPath, {
      notice: notice`The key “${name}” was revoked.`,
      ...(replacedId !== undefined && { shown: { replacedId } }),
    })
  })

  await app.register(async (scope: App) => {
    await scope.register(provenOnly, { page: apiKeysPath })

    scope.get(apiKeysPath, async (request, reply) => {
      const { principal } = request
      const [keys, joined] = await Promise.all([apiKeys.listRestricted(principal), listWorkspaces(principal)])
      return reply.showPage(renderApiKeys(request, { keys, workspaces: joined, baseUrl }))
    })

    scope.post(apiKeysPath, form, async (request, reply) => {
      const create = async () => {
        const { principal } = request
        const restrictions = readRestrictions(request, await listWorkspaces(principal))
        const input = { name: readField(request, 'name'), ...restrictions }
        const { name, secret } = await apiKeys.createRestricted(principal, input)
        return { path: apiKeysPath, shown: { name, secret } }
      }
      return answerForm(request, reply, apiKeysPath, create, sentForms)
    })

    scope.get<KeyRoute>(`${apiKeysPath}/:id`, async (request, reply) => {
      const { principal, params } = request
      const [key, joined] = await Promise.all([apiKeys.get(principal, params.id), listWorkspaces(principal)])
      return reply.showPage(renderApiKey(request, key, joined))
    })

    scope.post<KeyRoute>(`${apiKeysPath}/:id/restrict`, form, async (request, reply) => {
      const { principal, params } = request
      return answerForm(request, reply, `${apiKeysPath}/${params.id}`, async () => {
        const key = await apiKeys.get(principal, params.id)
        const restrictions = readRestrictions(request, await listWorkspaces(principal), key)
        const name = await apiKeys.restrict(principal, params.id, restrictions)
        return { path: apiKeysPath, notice: notice`The key “${name}” was changed.` }
      })
    })

    scope.post<KeyRoute>(`${apiKeysPath}/:id/rotate`, form, async (request, reply) => {
      const { principal, params } = request
      const rotate = async () => {
        await apiKeys.get(principal, params.id)
        const seconds = requireChoice(
          request,
          'overlap',
          overlaps.map(({ value }) => value),
        )
        const input = { overlapSeconds: Number(seconds) }
        const { name, secret } = await apiKeys.rotate(principal, params.id, input)
        return { path: apiKeysPath, shown: { name, secret } }
      }
      return answerForm(request, reply, `${apiKeysPath}/${params.id}`, rotate, sentForms)
    })
  })
}

/** The page. A new key is shown once. */
function renderApiKeys(
  request: FastifyRequest,
  input: { keys: readonly RestrictedApiKey[]; workspaces: readonly Membership[]; baseUrl: string },
): Page {
  const { keys, workspaces, baseUrl } = input
  const { name, secret, replacedId } = request.flash.shown
  const replaced = keys.find(({ id }) => id === replacedId)
  const state = stateOf(request.flash.state, apiKeysPath)
  return securityPage(
    'API keys',
    request,
    html`<p>
        An API key lets a program act as you, with all your permissions unless you restrict it. Keep it
        secret. The <a href="/docs">API</a> is at ${baseUrl}.
      </p>
      ${name !== undefined && secret !== undefined && renderCreatedKey({ name, secret })}
      ${replaced && renderReplacedKey(request, replaced)}
      ${renderForm({
        request,
        action: apiKeysPath,
        state,
        fields: ['name'],
        body: html`${renderField({
            name: 'name',
            label: 'Key name',
            maxLength: labelLengthMax,
            autocomplete: 'off',
            state,
          })}
          <details class="reveal" ${'access' in state.values && html`open`}>
            <summary>Restrict what the key may do</summary>
            <div class="stack">${renderRestrictionFields(state, workspaces)}</div>
          </details>
          <button>Create key</button>`,
      })}
      ${renderRows(
        keys.map((key) => renderKey(request, key, workspaces)),
        html`<p>You have no API keys.</p>`,
      )}`,
  )
}

function renderCreatedKey({ name, secret }: { name: string; secret: string }): Html {
  return renderNewSecret({
    text: html`Copy the key <strong><bdi>${name}</bdi></strong> now. It is not shown again.`,
    label: html`API key <bdi>${name}</bdi>`,
    secret,
  })
}

/** The rotated key that works on after the one that took its place was revoked. */
function renderReplacedKey(
  request: FastifyRequest,
  { id, name, lastFour, expiresAt }: RestrictedApiKey,
): Html {
  return html`<div class="notice" role="status">
    <p>
      It took the place of an older key <bdi>${name}</bdi>, which ends in <code>${lastFour}</code> and still
      works until ${expiresAt !== null && renderDate(expiresAt)}.
    </p>
    ${renderAction(request, {
      action: `${apiKeysPath}/${id}/revoke`,
      label: 'Revoke the older key too',
      isDangerous: true,
    })}
  </div>`
}

function renderKey(request: FastifyRequest, key: RestrictedApiKey, workspaces: readonly Membership[]): Html {
  const { id, name } = key
  return html`<div class="row">
    <div class="grow">${describeKey(key, workspaces)}</div>
    <a class="button small quiet" href="${apiKeysPath}/${id}"
      >Change<span class="visually-hidden"> the key <bdi>${name}</bdi></span></a
    >
    ${renderConfirmed({
      label: 'Revoke',
      description: html`the key <bdi>${name}</bdi>`,
      question: 'Programs that use this key lose access immediately.',
      action: renderAction(request, {
        action: `${apiKeysPath}/${id}/revoke`,
        label: 'Revoke key',
        isDangerous: true,
      }),
    })}
  </div>`
}

function describeKey(key: RestrictedApiKey, workspaces: readonly Membership[]): Html {
  const { name, tokenPrefix, lastFour, createdAt, lastUsedAt } = key
  return html`<strong><bdi>${name}</bdi></strong> <code>${tokenPrefix}…${lastFour}</code>
    <span class="hint">
      created ${renderDate(createdAt)} ·
      ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
      ${renderRestrictions(key, workspaces)}
    </span>`
}

/** The page that restricts and rotates a key. */
function renderApiKey(
  request: FastifyRequest,
  key: RestrictedApiKey,
  workspaces: readonly Membership[],
): Page {
  const path = `${apiKeysPath}/${key.id}`
  const restrict = `${path}/restrict`
  const rotate = `${path}/rotate`
  const state = stateOf(request.flash.state, restrict)
  return securityPage(
    'Change an API key',
    request,
    html`<p>${describeKey(key, workspaces)}</p>
      ${renderForm({
        request,
        action: restrict,
        state,
        body: html`${renderRestrictionFields(state, workspaces, key)} <button>Save</button>`,
      })}
      <h2>Rotate</h2>
      ${
        key.isRotated
          ? html`<p>This key was rotated: another one took its place.</p>`
          : renderForm({
              request,
              action: rotate,
              state: stateOf(request.flash.state, rotate),
              body: html`<p>
                  Rotating creates a new key with the same name and the same restrictions, to use in place of
                  this one.
                </p>
                ${renderSelect({
                  name: 'overlap',
                  label: 'How long this key works on',
                  value: overlaps[0].value,
                  choices: overlaps,
                })}
                <button class="quiet">Rotate key</button>`,
            })
      }
      <p><a href="${apiKeysPath}">All API keys</a></p>`,
  )
}
