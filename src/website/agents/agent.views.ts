import type { AgentCall, GrantDetails } from '../../agents/grants/grants.service.ts'
import type { AgentRequest } from '../../areas/agentRequests/agentRequests.service.ts'
import { askedConsentVersion, mayServeMembers, ownPersonScope } from '../../domain/agent-requests.ts'
import { grantDays, grantDaysDefault, grantEndNoticedMs } from '../../domain/agent.ts'
import { renderAction, renderCheckbox, renderForm, renderRefusal, renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { countOf, renderClock, renderDate, renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderRequests } from '../seeds/thread/agent-requests.views.ts'
import { renderScopes } from '../views/scopes.views.ts'
import { toRuns, type AgentRun } from './agent-runs.ts'

const dayMs = 24 * 60 * 60 * 1000

/** One agent: its access, where its tokens are fetched, and what it did. */
export function renderAgent(
  visit: WorkspaceVisit,
  {
    grant,
    list,
    calls,
    requests,
    now,
    nameOfIssuer,
  }: {
    grant: GrantDetails
    list: ListView<AgentCall>
    calls: AgentCall[]
    /** The newest of what was asked of it. */
    requests: readonly AgentRequest[]
    now: Date
    nameOfIssuer: NameOfIssuer
  },
): Page {
  const { base, principal, request } = visit
  const { id, clientName, clientUri, userId, scopes, createdAt, expiresAt, endedAt, lastUsedAt } = grant
  const isOwn = userId === principal.user.id
  const isChangeable = isOwn && endedAt === null && grant.assertedIssuer === null
  return {
    title: clientName,
    section: sectionOf(visit, 'Agents'),
    body: html`<h1><bdi>${clientName}</bdi></h1>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])} ${renderRefusal(request)}
      <p>
        ${renderGiver(grant, { isOwn, nameOfIssuer })} ${renderDate(createdAt)} ·
        ${endedAt === null ? html`expires on ${renderDate(expiresAt)}` : html`ended ${renderTime(endedAt)}`} ·
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
        ${endedAt === null && grant.assertedIssuer === null && renderEndsSoon(expiresAt, now)}
        ${clientUri !== null && html`<span class="hint"><bdi>${clientUri}</bdi></span>`}
      </p>
      ${renderScopes(scopes)} ${isChangeable && renderAsking(visit, grant)}
      ${isChangeable && renderProlong(visit, grant, now)}
      ${endedAt === null && html`<div class="choices">${renderRevoke(visit, grant)}</div>`}
      ${renderAddresses(grant)} ${renderRequests(visit, requests)}
      <section class="stack" aria-labelledby="runs">
        <h2 id="runs">What it did</h2>
        <p class="hint">
          The calls of the last 30 days, at most the last 1,000, without their arguments. What it changed is
          also in the <a href="${base}/activity?agent=${id}">activity</a>.
        </p>
        ${
          calls.length === 0
            ? html`<div class="empty"><p>It has called no tool in the last 30 days.</p></div>`
            : toRuns(calls).map((run) => renderRun(base, run))
        }
        ${renderPager(list, {
          path: `${base}/agents/${id}`,
          fragment: 'runs',
          labels: { first: 'Newest', previous: 'Newer', next: 'Older' },
        })}
      </section>
      <p><a href="${base}/agents">All agents</a></p>`,
  }
}

/** Names an identity provider by its issuer. */
export type NameOfIssuer = (issuer: string) => string

/** Who gave the access: the person, or an identity provider, for the organization of the person. */
export function renderGiver(
  { assertedIssuer, userName }: Pick<GrantDetails, 'assertedIssuer' | 'userName'>,
  { isOwn, nameOfIssuer }: { isOwn: boolean; nameOfIssuer: NameOfIssuer },
): Html {
  const person = isOwn ? 'you' : html`<bdi>${userName}</bdi>`
  return assertedIssuer === null
    ? html`Allowed by ${person}`
    : html`Given by <bdi>${nameOfIssuer(assertedIssuer)}</bdi> to act for ${person}`
}

/** A mark on access that ends within two weeks. */
export function renderEndsSoon(expiresAt: string, now: Date): Content {
  const leftMs = Date.parse(expiresAt) - now.getTime()
  if (leftMs > grantEndNoticedMs) return false
  return html`<span class="tag warn">
    ${leftMs < dayMs ? 'ends within a day' : `ends in ${countOf(Math.round(leftMs / dayMs), 'day')}`}
  </span>`
}

/** Lets a person choose whether others may ask the agent, or says why they cannot. */
function renderAsking({ base, request }: WorkspaceVisit, grant: GrantDetails): Content {
  const { id, clientName, scopes, consentVersion, membersMayAsk } = grant
  const name = html`<bdi>${clientName}</bdi>`
  if (!mayServeMembers(scopes) || consentVersion < askedConsentVersion) {
    const why = scopes.includes(ownPersonScope)
      ? 'Only you can ask it, since it may change teams and invite people.'
      : 'Nobody can ask it by a comment: it must be allowed to read the workspace and to write, with what that means now.'
    return html`<p class="hint">${why} You change this under <a href="${base}/agents">Agents</a>.</p>`
  }
  return renderForm({
    request,
    action: `${base}/agents/${id}/asking`,
    body: html`${renderCheckbox({
        name: 'membersMayAsk',
        label: 'Members may ask it',
        isChecked: membersMayAsk,
      })}
      <p class="hint">
        By @ and its name in a comment, as you can. Members then see the name of ${name} and that it acts for
        you. What they ask reaches it as content by them. It then sees what a member sees, whatever your role
        is.
      </p>
      <button>Save</button>`,
  })
}

/** Lets a person choose a later end. */
function renderProlong({ base, request }: WorkspaceVisit, grant: GrantDetails, now: Date): Content {
  // By a day or more.
  const later = grantDays.filter((days) => now.getTime() + (days - 1) * dayMs > Date.parse(grant.expiresAt))
  if (later.length === 0) return false
  const chosen = later.find((days) => days === grantDaysDefault) ?? later[0]
  return renderForm({
    request,
    action: `${base}/agents/${grant.id}/prolong`,
    body: html`${renderSelect({
        name: 'days',
        label: 'From now on, for',
        choices: later.map((days) => ({ value: String(days), label: `${days} days` })),
        value: String(chosen),
      })} <button class="quiet">Prolong access</button>`,
  })
}

/** The button that revokes the access of an agent, with its question. */
export function renderRevoke(
  { base, request }: WorkspaceVisit,
  { id, clientName, assertedIssuer }: Pick<GrantDetails, 'id' | 'clientName' | 'assertedIssuer'>,
): Html {
  return renderConfirmed({
    label: 'Revoke',
    description: html`the access of <bdi>${clientName}</bdi>`,
    question: html`<bdi>${clientName}</bdi> loses access
      immediately.${
        assertedIssuer !== null &&
        ' The organization cannot give it again until the person for whom it acts allows that on this page.'
      }`,
    action: renderAction(request, {
      action: `${base}/agents/${id}/revoke`,
      label: 'Revoke access',
      isDangerous: true,
    }),
  })
}

/** The addresses of the person's own agent. */
function renderAddresses({ addresses }: GrantDetails): Content {
  if (!addresses) return false
  return html`<section class="stack" aria-labelledby="addresses">
    <h2 id="addresses">Where it is used</h2>
    <p class="hint">
      The addresses from which its tokens were fetched in the last 90 days. An agent on the web has those of
      its provider. All of them use the same chain of tokens: if you do not know one, revoke the access and
      connect the agent again.
    </p>
    ${renderRows(
      addresses.map(
        ({ address, firstSeenAt, lastSeenAt }) =>
          html`<div class="row">
            <div class="grow">
              <code>${address}${address.includes(':') && '/64'}</code>
              <span class="hint">
                first ${renderTime(firstSeenAt.toISOString())} · last ${renderTime(lastSeenAt.toISOString())}
              </span>
            </div>
          </div>`,
      ),
      html`<p>Its tokens were not fetched in the last 90 days.</p>`,
    )}
  </section>`
}

function renderRun(base: string, run: AgentRun): Html {
  const [first] = run
  const failures = run.filter(({ code }) => code !== 'ok').length
  return html`<section>
    <h3>
      ${first && renderTime(first.calledAt)}
      <span class="hint"
        >${countOf(run.length, 'call')}${failures > 0 && `, ${countOf(failures, 'of them failed', 'of them failed')}`}</span
      >
    </h3>
    <ol class="rows">
      ${run.map((call) => html`<li>${renderCall(base, call)}</li>`)}
    </ol>
  </section>`
}

function renderCall(base: string, { calledAt, tool, code, seedId, seedTitle }: AgentCall): Html {
  return html`<p class="event">
    <span
      ><code>${tool}</code>${
        seedId !== null && html` <a href="${base}/seeds/${seedId}"><bdi>${seedTitle}</bdi></a>`
      }${code !== 'ok' && html` <span class="tag warn">${code}</span>`}</span
    ><span class="hint">${renderClock(calledAt)}</span>
  </p>`
}
