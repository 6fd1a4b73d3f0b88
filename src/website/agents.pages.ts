import type { Services } from '../services.ts'
import type { AgentGrant } from '../areas/integrations/integrations.service.ts'
import { parseJson } from '../kernel/json-text.ts'
import type { Page as ListPage } from '../kernel/pagination.ts'
import { describeScope } from './consent.views.ts'
import { renderAction, renderAlert } from './forms.ts'
import { html } from './html.ts'
import { renderConfirmed, renderDone, renderMore, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { renderDate, renderTime } from './words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from './workspace-visit.ts'

/** The agents that have access to a workspace: owners and admins see all, others their own. */
export function agentsPages(
  { page, action }: WorkspacePages,
  { integrations, mcpUrl }: Pick<Services, 'integrations'> & { mcpUrl: string },
): void {
  const show = async (visit: WorkspaceVisit): Promise<Page> => {
    const { cursor } = visit.request.query
    const list = await integrations.list(visit.principal, visit.workspace.slug, {
      ...(cursor !== undefined && { cursor }),
    })
    return renderAgents(visit, list, mcpUrl)
  }

  page('/agents', show)

  action('/agents/:id/revoke', show, async ({ base, principal, request, workspace }) => {
    await integrations.revoke(principal, workspace.slug, request.params.id)
    return `${base}/agents?done=revoked`
  })
}

function renderAgents(
  visit: WorkspaceVisit,
  { items, nextCursor }: ListPage<AgentGrant>,
  mcpUrl: string,
): Page {
  const { base, may, principal, request, state } = visit
  return {
    title: 'Agents',
    section: sectionOf(visit, 'Agents'),
    body: html`<h1>Agents</h1>
      <p>
        ${
          may('integrations.listAll')
            ? 'Agents that members have allowed to read this workspace on their behalf.'
            : 'Agents that you have allowed to read this workspace on your behalf.'
        }
      </p>
      ${renderDone(request)} ${state.error && renderAlert(state.error)}
      ${renderRows(
        parseJson(items).map(
          ({ id, clientName, clientUri, userId, userName, scopes, createdAt, lastUsedAt, expiresAt }) =>
            html`<div class="row">
              <div class="grow">
                <strong><bdi>${clientName}</bdi></strong>
                <span class="hint">
                  allowed by ${userId === principal.user.id ? 'you' : html`<bdi>${userName}</bdi>`} on
                  ${renderDate(createdAt)} · expires on ${renderDate(expiresAt)} ·
                  ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
                </span>
                <span class="hint"
                  >${scopes.map(describeScope).join(', ')}${clientUri !== null && html` · <bdi>${clientUri}</bdi>`}</span
                >
              </div>
              ${renderConfirmed({
                label: 'Revoke',
                description: html`the access of <bdi>${clientName}</bdi>`,
                question: html`<bdi>${clientName}</bdi> loses access immediately.`,
                action: renderAction(request, {
                  action: `${base}/agents/${id}/revoke`,
                  label: 'Revoke access',
                  isDangerous: true,
                }),
              })}
            </div>`,
        ),
        html`<p>No agent has access to this workspace.</p>
          <p>To connect an agent, give it this MCP server URL. It asks for your consent here.</p>
          <p class="copy">
            <label class="visually-hidden" for="mcp-url">MCP server URL</label>
            <input id="mcp-url" class="mono" readonly value="${mcpUrl}" data-copy />
          </p>`,
      )}
      ${renderMore(`${base}/agents`, nextCursor)}`,
  }
}
