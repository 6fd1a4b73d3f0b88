import type { AgentPolicy, PolicyClient } from '../../agents/policy/agent-policy.service.ts'
import type { Services } from '../../services/services.ts'
import {
  assertedAgentsStates,
  assertedGrantDays,
  assertedScopes,
  policyClientsMax,
} from '../../domain/agent.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import { renderField, renderForm, renderSelect, stateOf } from '../components/forms.ts'
import { html, type Content } from '../components/html.ts'
import { renderRows } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import type { Page } from '../plugins/pages.ts'
import { confirmPathTo } from '../plugins/web-session.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderServiceScopes } from '../views/scopes.views.ts'

/** The path of the page in a workspace. */
export const agentPolicyPath = '/settings/agents'
const path = agentPolicyPath
const clientsLengthMax = 4000

/** Which agents get access by assertions of identity providers, in the settings of a workspace. For owners. */
export function agentPolicyPages(
  { page, action }: WorkspacePages,
  { agentPolicy, identityProviders }: Pick<Services, 'agentPolicy' | 'identityProviders'>,
): void {
  const providers = identityProviders
    .filter(({ isTrustedForAgents }) => isTrustedForAgents)
    .map(({ name }) => name)

  page(path, async (visit) => {
    const { principal, workspace } = visit
    const [policy, clients] = await Promise.all([
      agentPolicy.get(principal, workspace.slug),
      agentPolicy.listClients(principal, workspace.slug),
    ])
    return renderPolicy(visit, { policy, clients, providers })
  })

  action(path, path, async ({ base, principal, request, workspace }) => {
    const change = {
      assertedAgents: requireChoice(request, 'assertedAgents', assertedAgentsStates),
      scopes: assertedScopes.filter((scope) => readField(request, scope) !== ''),
      clients: readField(request, 'clients').split(/\s+/).filter(Boolean),
    }
    // As for allowing an agent.
    if (!request.visit.isProven) return confirmPathTo(`${base}${path}`)
    try {
      await agentPolicy.update(principal, workspace.slug, change)
    } catch (error) {
      // Here the person has typed it.
      if (error instanceof ApiError && error.code === 'not_found')
        throw errors.clientUnusable({
          field: 'clients',
          message: 'There is no client with one of these ids.',
        })
      throw error
    }
    return { path: `${base}${path}`, notice: notice`Saved.` }
  })
}

function renderPolicy(
  visit: WorkspaceVisit,
  {
    policy,
    clients,
    providers,
  }: { policy: AgentPolicy; clients: readonly PolicyClient[]; providers: readonly string[] },
): Page {
  const { base, request } = visit
  const action = `${base}${path}`
  const state = stateOf(visit.state, action)
  const chosen =
    state.action === undefined ? policy.scopes : assertedScopes.filter((scope) => state.values[scope])
  return {
    title: 'Agents of the organization',
    section: sectionOf(visit, 'Agents'),
    body: html`<h1>Agents of the organization</h1>
      <p>
        Your identity provider can let agents in for members who have linked their account there, without
        their consent. They are told, and can revoke the access. It ends ${assertedGrantDays} days after the
        provider last asked for it.
      </p>
      <p>
        ${
          providers.length === 0
            ? 'The operator of this service trusts no identity provider for this, so it has no effect.'
            : html`The operator of this service trusts
              ${providers.map((name, i) => html`${i > 0 && ', '}<bdi>${name}</bdi>`)} for this.`
        }
      </p>
      ${renderDone(request)}
      ${renderForm({
        request,
        action,
        state,
        fields: ['assertedAgents', 'clients'],
        body: html`${renderSelect({
            name: 'assertedAgents',
            label: 'Agents of the organization',
            choices: [
              { value: 'off', label: 'Get no access' },
              { value: 'on', label: 'Get the access below' },
            ],
            value: state.values.assertedAgents ?? policy.assertedAgents,
          })}
          ${renderServiceScopes(chosen, assertedScopes)}
          ${renderField({
            name: 'clients',
            label: 'Client ids',
            value: policy.clients.join(' '),
            maxLength: clientsLengthMax,
            autocomplete: 'off',
            isOptional: true,
            hint: `The OAuth clients that get it, separated by spaces, at most ${policyClientsMax}. Each authenticates by a secret or a key.`,
            state,
          })} <button>Save</button>`,
      })}
      ${renderClients(clients)}
      <p><a href="${base}/agents">All agents</a></p>`,
  }
}

/** The clients as people know them: by the names that they gave, or the hosts of their documents. */
function renderClients(clients: readonly PolicyClient[]): Content {
  if (clients.length === 0) return false
  const nameOf = ({ id, name }: PolicyClient) =>
    name ?? (URL.canParse(id) ? new URL(id).host : 'A client that does not exist any more')
  return html`<section class="stack" aria-labelledby="clients-of-policy">
    <h2 id="clients-of-policy">Clients</h2>
    ${renderRows(
      clients.map(
        (client) =>
          html`<div class="row">
            <div class="grow">
              <bdi>${nameOf(client)}</bdi>
              <span class="hint"><code>${client.id}</code></span>
            </div>
          </div>`,
      ),
      html``,
    )}
  </section>`
}
