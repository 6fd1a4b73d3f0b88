import type { Services } from '../../services/services.ts'
import type { AgentGrant, RevokedAgent, ToolUse } from '../../agents/grants/grants.service.ts'
import type { AgentRequest } from '../../areas/agentRequests/agentRequests.service.ts'
import { mayServeMembers } from '../../domain/agent-requests.ts'
import { grantDays, grantDaysDefault, type AgentScope } from '../../domain/agent.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { renderAgent, renderEndsSoon, renderGiver, renderRevoke, type NameOfIssuer } from './agent.views.ts'
import { agentPolicyPath } from '../settings/agent-policy.pages.ts'
import { renderConnectAgent } from './connect-agent.views.ts'
import { renderRequests } from '../seeds/thread/agent-requests.views.ts'
import { readScopes, renderScopeChoice, renderScopes } from '../views/scopes.views.ts'
import { renderAction, renderForm, renderRefusal } from '../components/forms.ts'
import { html, type Content } from '../components/html.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { confirmPathTo } from '../plugins/web-session.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

// A run of more calls is parted into pages.
const callsShown = 100
// The newest.
const requestsShown = 20

/** The agents that have access to a workspace: owners and admins see all, others their own. */
export function agentsPages(
  { page, action }: WorkspacePages,
  {
    agentRequests,
    grants,
    mcpUrl,
    scopesOfRole,
    nameOfIssuer,
    areAssertionsOn,
  }: Pick<Services, 'agentRequests' | 'grants' | 'scopesOfRole' | 'nameOfIssuer' | 'areAssertionsOn'> & {
    mcpUrl: string
  },
): void {
  const show = async (visit: WorkspaceVisit): Promise<Page> => {
    const list = await readListView(visit.request, (position) =>
      grants.list(visit.principal, visit.workspace.slug, position),
    )
    const listed = parseJson(list.items)
    const [requests, uses, revoked] = await Promise.all([
      agentRequests.list(visit.principal, visit.workspace.slug, { limit: requestsShown }),
      grants.listToolUses(
        visit.principal,
        visit.workspace.slug,
        listed.map(({ id }) => id),
      ),
      areAssertionsOn ? grants.listRevoked(visit.principal, visit.workspace.slug) : [],
    ])
    const offered = scopesOfRole(visit.workspace.role)
    const asked = parseJson(requests.items)
    const shown = {
      grants: listed,
      list,
      requests: asked,
      uses,
      revoked,
      offered,
      nameOfIssuer,
      areAssertionsOn,
    }
    return renderAgents(visit, shown, mcpUrl)
  }

  page('/agents', show)

  page('/agents/:id', async (visit) => {
    const { principal, request, workspace } = visit
    const { id } = request.params
    const grant = await grants.get(principal, workspace.slug, id)
    const requests = await agentRequests.list(principal, workspace.slug, {
      grantId: id,
      limit: requestsShown,
    })
    const list = await readListView(request, (position) =>
      grants.listCalls(principal, workspace.slug, id, { ...position, limit: callsShown }),
    )
    return renderAgent(visit, {
      ...{ grant, list, calls: parseJson(list.items), now: new Date(), nameOfIssuer },
      requests: parseJson(requests.items),
    })
  })

  action('/agents/:id/revoke', '/agents', async ({ base, principal, request, workspace }) => {
    const agent = await grants.revoke(principal, workspace.slug, request.params.id)
    return { path: `${base}/agents`, notice: notice`The access of ${agent} was revoked.` }
  })

  action('/agents/:id/allow-again', '/agents', async ({ base, principal, request, workspace }) => {
    // As for allowing an agent.
    if (!request.visit.isProven) return confirmPathTo(`${base}/agents`)
    const agent = await grants.allowAgain(principal, workspace.slug, request.params.id)
    return { path: `${base}/agents`, notice: notice`The organization can give ${agent} access again.` }
  })

  action('/agents/:id/scopes', '/agents', async ({ base, principal, request, workspace }) => {
    const { id } = request.params
    // As for allowing an agent. Revoking it needs no proof.
    if (!request.visit.isProven) return confirmPathTo(`${base}/agents`)
    const { membersMayAsk } = await grants.get(principal, workspace.slug, id)
    const scopes = readScopes(request, scopesOfRole(workspace.role))
    const agent = await grants.updateScopes(principal, workspace.slug, id, scopes)
    return {
      path: `${base}/agents`,
      notice:
        membersMayAsk && !mayServeMembers(scopes)
          ? notice`The access of ${agent} was changed. Members may no longer ask it.`
          : notice`The access of ${agent} was changed.`,
    }
  })

  action('/agents/:id/asking', '/agents/:id', async ({ base, principal, request, workspace }) => {
    const { id } = request.params
    const path = `${base}/agents/${id}`
    const membersMayAsk = readField(request, 'membersMayAsk') === 'on'
    // As for allowing an agent. Taking it back needs no proof.
    if (membersMayAsk && !request.visit.isProven) return confirmPathTo(path)
    const agent = await grants.updateAsking(principal, workspace.slug, id, membersMayAsk)
    return {
      path,
      notice: membersMayAsk ? notice`Members may ask ${agent} now.` : notice`Only you can ask ${agent} now.`,
    }
  })

  action('/agents/:id/prolong', '/agents/:id', async ({ base, principal, request, workspace }) => {
    const { id } = request.params
    const path = `${base}/agents/${id}`
    const chosen = requireChoice(request, 'days', grantDays.map(String))
    // As for allowing an agent.
    if (!request.visit.isProven) return confirmPathTo(path)
    const days = grantDays.find((each) => String(each) === chosen) ?? grantDaysDefault
    const agent = await grants.prolong(principal, workspace.slug, id, days)
    return { path, notice: notice`The access of ${agent} was prolonged.` }
  })
}

function renderAgents(
  visit: WorkspaceVisit,
  {
    grants,
    list,
    requests,
    uses,
    revoked,
    offered,
    nameOfIssuer,
    areAssertionsOn,
  }: {
    grants: AgentGrant[]
    list: ListView<AgentGrant>
    requests: readonly AgentRequest[]
    uses: ToolUse[]
    /** Of the organization, by the person alone. */
    revoked: readonly RevokedAgent[]
    /** The scopes that the person's role allows. */
    offered: readonly AgentScope[]
    nameOfIssuer: NameOfIssuer
    areAssertionsOn: boolean
  },
  mcpUrl: string,
): Page {
  const { base, may, principal, request } = visit
  const now = new Date()
  return {
    title: 'Agents',
    section: sectionOf(visit, 'Agents'),
    body: html`<h1>Agents</h1>
      <p>
        ${
          may('integrations.listAll')
            ? 'Agents that members have allowed to act in this workspace on their behalf.'
            : 'Agents that you have allowed to act in this workspace on your behalf.'
        }
        ${
          areAssertionsOn &&
          may('workspaces.agentPolicy') &&
          html`<a href="${base}${agentPolicyPath}">Agents of the organization</a>`
        }
      </p>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])} ${renderRefusal(request)}
      ${renderRows(
        grants.map((grant) => {
          const { id, clientName, clientUri, userId, scopes, createdAt, lastUsedAt, expiresAt } = grant
          const isOwn = userId === principal.user.id
          return html`<div class="row">
            <div class="grow">
              <a href="${base}/agents/${id}"
                ><strong><bdi>${clientName}</bdi></strong></a
              >
              <span class="hint">
                ${renderGiver(grant, { isOwn, nameOfIssuer })} ${renderDate(createdAt)} · expires on
                ${renderDate(expiresAt)} ·
                ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
              </span>
              ${grant.assertedIssuer === null && renderEndsSoon(expiresAt, now)} ${renderScopes(scopes)}
              ${clientUri !== null && html`<span class="hint"><bdi>${clientUri}</bdi></span>`}
              ${renderUses(uses.filter(({ grantId }) => grantId === id))}
            </div>
            <div class="choices">
              ${
                isOwn &&
                grant.assertedIssuer === null &&
                renderConfirmed({
                  label: 'Change',
                  description: html`what <bdi>${clientName}</bdi> may do`,
                  question: 'It takes effect immediately.',
                  action: renderForm({
                    request,
                    action: `${base}/agents/${id}/scopes`,
                    className: 'spread',
                    body: html`${renderScopeChoice({
                        chosen: scopes,
                        role: visit.workspace.role,
                        offered,
                        idPrefix: `${id}-`,
                      })} <button class="small">Save</button>`,
                  }),
                })
              }
              ${renderRevoke(visit, grant)}
            </div>
          </div>`
        }),
        html`<p>
            ${
              may('integrations.listAll')
                ? 'No agent has access to this workspace.'
                : 'No agent of yours has access now.'
            }
          </p>
          <p>
            An agent is a program such as Claude or ChatGPT. It can read the seeds of the workspace with their
            evidence, and more if you allow it.
          </p>`,
      )}
      ${renderPager(list, { path: `${base}/agents` })} ${renderRequests(visit, requests)}
      ${renderRevoked(visit, revoked)} ${renderConnectAgent(mcpUrl)}`,
  }
}

/** The agents that the organization cannot give access, since it was revoked. */
function renderRevoked({ base, request }: WorkspaceVisit, revoked: readonly RevokedAgent[]): Content {
  if (revoked.length === 0) return false
  return html`<section class="stack" aria-labelledby="revoked">
    <h2 id="revoked">Revoked agents of the organization</h2>
    <p class="hint">
      Your organization gave them access to act for you. It cannot do that again until you allow it.
    </p>
    ${renderRows(
      revoked.map(
        ({ id, clientName, revokedAt }) =>
          html`<div class="row">
            <div class="grow">
              <bdi>${clientName}</bdi>
              <span class="hint">revoked ${renderTime(revokedAt.toISOString())}</span>
            </div>
            ${renderAction(request, {
              action: `${base}/agents/${id}/allow-again`,
              label: 'Allow again',
              description: clientName,
            })}
          </div>`,
      ),
      html``,
    )}
  </section>`
}

/** The calls of the last 30 days, by tool. */
function renderUses(uses: readonly ToolUse[]): Content {
  return uses.map(
    ({ tool, calls, failures, lastCalledAt, lastFailure, lastFailureAt }) =>
      html`<span class="hint"
        ><code>${tool}</code>: ${calls} ${calls === 1 ? 'call' : 'calls'} in 30 days, the last
        ${renderTime(lastCalledAt.toISOString())}${
          lastFailureAt !== null &&
          html` · ${failures} failed, the last ${renderTime(lastFailureAt.toISOString())}
          (<code>${lastFailure}</code>)`
        }</span
      >`,
  )
}
