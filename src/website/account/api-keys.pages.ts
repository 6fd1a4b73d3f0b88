import type { FastifyRequest } from 'fastify'
import type { ApiKey } from '../../areas/apiKeys/apiKeys.service.ts'
import type { App } from '../../http/app-types.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage } from './security.views.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { notice } from '../components/notice.ts'

export const apiKeysPath = '/settings/security/api-keys'

/** A person's API keys. Revoking one requires no proof, since it must be quick. */
export async function apiKeysPages(
  app: App,
  { apiKeys, sentForms }: Pick<Services, 'apiKeys' | 'sentForms'>,
  { baseUrl }: { baseUrl: string },
): Promise<void> {
  app.post<{ Params: { id: string } }>(`${apiKeysPath}/:id/revoke`, form, async (request, reply) => {
    const name = await apiKeys.revoke(request.principal, request.params.id)
    return reply.redirectWith(apiKeysPath, { notice: notice`The key “${name}” was revoked.` })
  })

  await app.register(async (scope: App) => {
    await scope.register(provenOnly, { page: apiKeysPath })

    scope.get(apiKeysPath, async (request, reply) =>
      reply.showPage(renderApiKeys(request, await apiKeys.list(request.principal), baseUrl)),
    )

    scope.post(apiKeysPath, form, async (request, reply) => {
      const create = async () => {
        const { name, secret } = await apiKeys.create(request.principal, { name: readField(request, 'name') })
        return { path: apiKeysPath, shown: { name, secret } }
      }
      return answerForm(request, reply, apiKeysPath, create, sentForms)
    })
  })
}

/** The page. A new key is shown once. */
function renderApiKeys(request: FastifyRequest, keys: readonly ApiKey[], baseUrl: string): Page {
  const { name, secret } = request.flash.shown
  const state = stateOf(request.flash.state, apiKeysPath)
  return securityPage(
    'API keys',
    request,
    html`<p>
        An API key lets a program act as you, with all your permissions. Keep it secret. The
        <a href="/docs">API</a> is at ${baseUrl}.
      </p>
      ${name !== undefined && secret !== undefined && renderCreatedKey({ name, secret })}
      ${renderForm({
        request,
        action: apiKeysPath,
        state,
        fields: ['name'],
        className: 'line',
        body: html`${renderField({
            name: 'name',
            label: 'Key name',
            maxLength: labelLengthMax,
            autocomplete: 'off',
            state,
          })}<button>Create key</button>`,
      })}
      ${renderRows(
        keys.map((key) => renderKey(request, key)),
        html`<p>You have no API keys.</p>`,
      )}`,
  )
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
        action: `${apiKeysPath}/${id}/revoke`,
        label: 'Revoke key',
        isDangerous: true,
      }),
    })}
  </div>`
}
