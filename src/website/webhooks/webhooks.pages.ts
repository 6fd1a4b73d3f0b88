import type { FastifyRequest } from 'fastify'
import type { Services } from '../../services/services.ts'
import type { WebhookTest } from '../../areas/webhooks/deliveries.service.ts'
import { eventKinds } from '../../domain/events.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { webhookFormats, webhookScopeMax, webhookStatuses, type WebhookScope } from '../../domain/webhooks.ts'
import { readOpened } from '../components/edits.ts'
import { readField, readText, requireChoice } from '../components/sent-form.ts'
import { notice } from '../components/notice.ts'
import { readListView } from '../components/pager.ts'
import { formatDay } from '../components/words.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { readSorting } from '../seeds/lists/seed-sorting.views.ts'
import { renderWebhook, renderWebhooks, scopeField, sinceChoices, typeField } from './webhooks.views.ts'

const path = '/settings/webhooks'

/** The webhooks of a workspace, in its settings. */
export function webhooksPages(
  { page, action, creation }: WorkspacePages,
  services: Pick<Services, 'webhooks' | 'deliveries' | 'seeds' | 'labels'>,
): void {
  const { webhooks, deliveries, seeds } = services
  page(path, async (visit) => {
    const [list, sorting] = await Promise.all([
      webhooks.list(visit.principal, visit.workspace.slug),
      readSorting(services, visit),
    ])
    return renderWebhooks(visit, list, { seeds: [], ...sorting })
  })

  creation(path, path, async (visit) => {
    const { base, principal, workspace } = visit
    const { webhook, secret } = await webhooks.create(principal, workspace.slug, await readWebhook(visit))
    return { path: `${base}${path}/${webhook.id}`, shown: { secret } }
  })

  page(`${path}/:id`, async (visit) => {
    const [webhook, sorting, list] = await Promise.all([
      webhooks.get(visit.principal, pathOf(visit)),
      readSorting(services, visit),
      readListView(visit.request, (position) =>
        deliveries.list(visit.principal, pathOf(visit), { ...position, limit: 50 }),
      ),
    ])
    return renderWebhook(visit, webhook, {
      list,
      deliveries: parseJson(list.items),
      choices: { seeds: await listSeeds(visit, webhook.seedIds), ...sorting },
    })
  })

  async function listSeeds({ principal, workspace }: WorkspaceVisit, ids: readonly string[]) {
    if (ids.length === 0) return []
    const { items } = await seeds.list(principal, workspace.slug, { ids, limit: webhookScopeMax })
    return parseJson(items).map(({ id, title }) => ({ id, name: title }))
  }

  /** The fields of the form. */
  async function readWebhook(visit: WorkspaceVisit) {
    const { request } = visit
    const added = readSeedLinks(readField(request, 'seedIds'))
    if ((await listSeeds(visit, added)).length < added.length)
      throw errors.textInvalid({
        field: 'seedIds',
        message: 'These must be links to seeds of this workspace.',
      })
    return {
      url: readField(request, 'url').trim(),
      description: readText(request, 'description'),
      format: webhookFormats.find((format) => format === readField(request, 'format')) ?? null,
      types: Object.keys(eventKinds).filter((type) => readField(request, typeField(type)) !== ''),
      seedIds: [...new Set([...readChosen(request, 'seedIds'), ...added])],
      teamIds: readChosen(request, 'teamIds'),
      labelIds: readChosen(request, 'labelIds'),
    }
  }

  action(`${path}/:id`, `${path}/:id`, async (visit) => {
    const { principal, request } = visit
    await webhooks.update(principal, pathOf(visit), await readWebhook(visit), readOpened(request))
    return { path: pageOf(visit), notice: notice`Saved.` }
  })

  action(`${path}/:id/status`, `${path}/:id`, async (visit) => {
    const status = requireChoice(visit.request, 'status', webhookStatuses)
    await webhooks.update(visit.principal, pathOf(visit), { status })
    return {
      path: pageOf(visit),
      notice: status === 'active' ? notice`The webhook was enabled.` : notice`The webhook was disabled.`,
    }
  })

  action(`${path}/:id/resume`, `${path}/:id`, async (visit) => {
    await webhooks.resume(visit.principal, pathOf(visit))
    return { path: pageOf(visit), notice: notice`The pause was ended.` }
  })

  creation(`${path}/:id/rotate-secret`, `${path}/:id`, async (visit) => {
    const { secret } = await webhooks.rotateSecret(visit.principal, pathOf(visit), {})
    return { path: pageOf(visit), shown: { secret, isRotated: 'yes' } }
  })

  action(`${path}/:id/test`, `${path}/:id`, async (visit) => ({
    path: pageOf(visit),
    notice: describeTest(await deliveries.test(visit.principal, pathOf(visit))),
  }))

  action(`${path}/:id/sample`, `${path}/:id`, async (visit) => {
    const type = requireChoice(visit.request, 'type', Object.keys(eventKinds))
    return {
      path: pageOf(visit),
      notice: describeTest(await deliveries.sample(visit.principal, pathOf(visit), type)),
    }
  })

  action(`${path}/:id/redeliver`, `${path}/:id`, async (visit) => {
    const deliveryId = readField(visit.request, 'deliveryId')
    await deliveries.redeliver(visit.principal, pathOf(visit), deliveryId)
    return { path: pageOf(visit), notice: notice`The event is sent again.` }
  })

  action(`${path}/:id/redeliver-since`, `${path}/:id`, async (visit) => {
    const hours = requireChoice(
      visit.request,
      'hours',
      sinceChoices.map(({ value }) => value),
    )
    const since = new Date(Date.now() - Number(hours) * 60 * 60 * 1000).toISOString()
    const { deliveries: count, keptSince } = await deliveries.redeliverSince(visit.principal, pathOf(visit), {
      since,
    })
    const sent = count === 1 ? 'One event is sent again.' : `${count} events are sent again.`
    const gone = keptSince === null ? '' : ` Those of before ${formatDay(keptSince)} are gone.`
    return { path: pageOf(visit), notice: [sent + gone] }
  })

  action(`${path}/:id/delete`, `${path}/:id`, async (visit) => {
    const host = await webhooks.delete(visit.principal, pathOf(visit))
    return { path: `${visit.base}${path}`, notice: notice`The webhook to ${host} was deleted.` }
  })
}

const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
  slug: workspace.slug,
  webhookId: request.params.id,
})

const pageOf = ({ base, request }: WorkspaceVisit) => `${base}${path}/${request.params.id}`

/** The ids whose checkboxes are checked. */
function readChosen({ body }: Pick<FastifyRequest, 'body'>, scope: WebhookScope): string[] {
  const start = scopeField(scope, '')
  return Object.keys(body ?? {})
    .filter((name) => name.startsWith(start) && readField({ body }, name) !== '')
    .map((name) => name.slice(start.length))
}

/** The ids at the ends of links to seeds; what is no link stays as it is. */
function readSeedLinks(text: string): string[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  return [...new Set(parts.map((part) => /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i.exec(part)?.[0] ?? part))]
}

function describeTest({ delivered, error, status }: WebhookTest) {
  if (delivered) return notice`The receiver answered ${String(status)}: the test was delivered.`
  if (status !== null) return notice`The test failed: the receiver answered ${String(status)}.`
  if (error === 'timeout') return notice`The test failed: the receiver did not answer within 15 seconds.`
  if (error === 'tls') return notice`The test failed: the certificate of the receiver is not valid.`
  if (error === 'secret_unreadable')
    return notice`The test failed: the secret cannot be read. Replace the secret.`
  return notice`The test failed: the receiver cannot be reached.`
}
