import type { Services } from '../../services/services.ts'
import { agentScopes } from '../../domain/agent.ts'
import { keyAccesses } from '../../domain/key-restrictions.ts'
import { serviceClientMethods, serviceRoles } from '../../domain/service-accounts.ts'
import { notice } from '../components/notice.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { confirmPathTo } from '../plugins/web-session.ts'
import { roleNouns } from '../views/roles.views.ts'
import { readScopes } from '../views/scopes.views.ts'
import {
  keyLifetimes,
  renderServiceAccount,
  renderServiceAccounts,
  serviceAccountsPath as path,
} from './service-accounts.views.ts'

/** The service accounts of a workspace, in its settings. What shows a key requires a proof, as for keys of people. */
export function serviceAccountsPages(
  { page, action, creation }: WorkspacePages,
  { serviceAccounts, serviceClients }: Pick<Services, 'serviceAccounts' | 'serviceClients'>,
): void {
  page(path, async (visit) =>
    renderServiceAccounts(visit, await serviceAccounts.list(visit.principal, visit.workspace.slug)),
  )

  creation(path, path, async ({ base, principal, request, workspace }) => {
    const input = { name: readField(request, 'name'), role: requireChoice(request, 'role', serviceRoles) }
    const { id } = await serviceAccounts.create(principal, workspace.slug, input)
    return { path: `${base}${path}/${id}`, notice: notice`${input.name} was created. It needs a key.` }
  })

  page(`${path}/:id`, async (visit) => {
    const at = pathOf(visit)
    const [account, keys, clients] = await Promise.all([
      serviceAccounts.get(visit.principal, at),
      serviceAccounts.listRestrictedKeys(visit.principal, at),
      serviceClients.list(visit.principal, at),
    ])
    return renderServiceAccount(visit, account, { keys, clients })
  })

  action(`${path}/:id`, `${path}/:id`, async (visit) => {
    await serviceAccounts.update(visit.principal, pathOf(visit), { name: readField(visit.request, 'name') })
    return { path: pageOf(visit), notice: notice`Saved.` }
  })

  action(`${path}/:id/role`, `${path}/:id`, async (visit) => {
    const role = requireChoice(visit.request, 'role', serviceRoles)
    await serviceAccounts.update(visit.principal, pathOf(visit), { role })
    return { path: pageOf(visit), notice: notice`It is now ${roleNouns[role]}.` }
  })

  action(`${path}/:id/delete`, `${path}/:id`, async (visit) => {
    const name = await serviceAccounts.delete(visit.principal, pathOf(visit))
    return { path: `${visit.base}${path}`, notice: notice`${name} was deleted.` }
  })

  creation(`${path}/:id/keys`, `${path}/:id`, async (visit) => {
    const { principal, request } = visit
    if (!request.visit.isProven) return confirmPathTo(pageOf(visit))
    const lifetime = requireChoice(
      request,
      'expires',
      keyLifetimes.map(({ value }) => value),
    )
    const { name, secret } = await serviceAccounts.createKey(principal, pathOf(visit), {
      name: readField(request, 'name'),
      access: requireChoice(request, 'access', keyAccesses),
      expiresAt: lifetime === '' ? null : { days: Number(lifetime) },
    })
    return { path: pageOf(visit), shown: { name, secret } }
  })

  creation(`${path}/:id/keys/rotate`, `${path}/:id`, async (visit) => {
    if (!visit.request.visit.isProven) return confirmPathTo(pageOf(visit))
    const { name, secret } = await serviceAccounts.rotateKey(visit.principal, pathOfKey(visit), {})
    return { path: pageOf(visit), shown: { name, secret, isRotated: 'yes' } }
  })

  action(`${path}/:id/keys/revoke`, `${path}/:id`, async (visit) => {
    const name = await serviceAccounts.revokeKey(visit.principal, pathOfKey(visit))
    return { path: pageOf(visit), notice: notice`The key “${name}” was revoked.` }
  })

  creation(`${path}/:id/clients`, `${path}/:id`, async (visit) => {
    const { principal, request } = visit
    if (!request.visit.isProven) return confirmPathTo(pageOf(visit))
    const jwksUri = readField(request, 'jwksUri').trim()
    const { client, secret } = await serviceClients.create(principal, pathOf(visit), {
      name: readField(request, 'name'),
      method: requireChoice(request, 'method', serviceClientMethods),
      scopes: readScopes(request, agentScopes),
      ...(jwksUri !== '' && { jwksUri }),
    })
    const { name, clientId } = client
    if (secret === null) return { path: pageOf(visit), notice: notice`The client “${name}” was created.` }
    return { path: pageOf(visit), shown: { name, clientId, secret } }
  })

  action(`${path}/:id/clients/prolong`, `${path}/:id`, async (visit) => {
    if (!visit.request.visit.isProven) return confirmPathTo(pageOf(visit))
    const name = await serviceClients.prolong(visit.principal, pathOfClient(visit))
    return { path: pageOf(visit), notice: notice`The client “${name}” has access for another year.` }
  })

  creation(`${path}/:id/clients/rotate`, `${path}/:id`, async (visit) => {
    if (!visit.request.visit.isProven) return confirmPathTo(pageOf(visit))
    const { name, clientId, secret } = await serviceClients.rotate(visit.principal, pathOfClient(visit), {})
    return { path: pageOf(visit), shown: { name, clientId, secret, isRotated: 'yes' } }
  })

  action(`${path}/:id/clients/revoke`, `${path}/:id`, async (visit) => {
    const name = await serviceClients.revoke(visit.principal, pathOfClient(visit))
    return { path: pageOf(visit), notice: notice`The client “${name}” was revoked.` }
  })
}

const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
  slug: workspace.slug,
  serviceAccountId: request.params.id,
})

const pathOfKey = (visit: WorkspaceVisit) => ({
  ...pathOf(visit),
  apiKeyId: readField(visit.request, 'apiKeyId'),
})

const pathOfClient = (visit: WorkspaceVisit) => ({
  ...pathOf(visit),
  serviceClientId: readField(visit.request, 'serviceClientId'),
})

const pageOf = ({ base, request }: WorkspaceVisit) => `${base}${path}/${request.params.id}`
