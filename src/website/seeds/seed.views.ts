import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { AgentGrant, ToolUse } from '../../agents/grants/grants.service.ts'
import type { Seed, SeedDetails } from '../../areas/seeds/seeds.service.ts'
import type { DatedDue } from '../../domain/seeds.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { renderAuthor } from '../views/author.views.ts'
import { renderEvent, type EventContext } from '../views/events.views.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderMarkdown } from '../components/markdown.ts'
import { renderRows, withQuery } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderAttachments } from './thread/attachments.views.ts'
import { renderEvidenceLink } from './thread/evidence.views.ts'
import { renderCriteria } from './seed-criteria.views.ts'
import { renderDeletion } from './seed-deletion.views.ts'
import { renderMerged, renderMergeLink } from './seed-merging.views.ts'
import { renderFollowing } from './seed-following.views.ts'
import { renderParticipants } from './seed-people.views.ts'
import { renderSorting } from './lists/seed-sorting.views.ts'
import { renderDecision, renderStatus, renderStatusForm, renderStatusReason } from './seed-status.views.ts'
import { renderThread, type ShownThread } from './thread/thread.views.ts'
import { renderTime } from '../components/words.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import type { ThreadVisit } from './thread/comments.views.ts'

/** The tools that return the text of seeds. Reading an MCP resource is counted as the first. */
const readingTools = new Set(['read_validation_kit', 'fetch'])

interface SeedPage extends SeedDetails, ShownThread {
  /** What happened to the seed, newest first. */
  events: ListPage<WorkspaceEvent>
  targets: EventContext['targets']
  due: DatedDue | undefined
  /** The agents that the reader may know of, and what they called. */
  agents: AgentGrant[]
  uses: ToolUse[]
}

/** The page of a seed. */
export function renderSeed(visit: ThreadVisit, shown: SeedPage): Page {
  const { base, may, request } = visit
  const { seed } = shown
  const people = parseJson(shown.participants.items)
  const lead = people.find(({ userId }) => userId === seed.leadUserId)
  const creator = renderAuthor(seed.createdByName, seed.agentName)
  return {
    title: seed.title,
    section: sectionOf(visit, 'Seeds'),
    hasMentions: true,
    hasLostForms: true,
    isLive: true,
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <div class="head">
        <h1 id="title" data-live><bdi>${seed.title}</bdi></h1>
        <div class="choices">
          <div class="subtle">${renderFollowing(visit, seed)}</div>
          ${renderEvidenceLink(visit, seed)} ${renderMenu(visit, seed)}
        </div>
      </div>
      <div class="hint" id="state" data-live>
        <p>
          <a href="#status">${renderStatus(seed.status)}</a>
          ${lead && html`Led by <a href="#people"><bdi>${lead.name}</bdi></a>`}
        </p>
        ${renderSorting(base, seed)} ${renderDecision(seed, shown.due)} ${renderStatusReason(seed)}
        <p>
          Created ${creator && html`by ${creator}`} ${renderTime(seed.createdAt)} · changed
          ${renderTime(seed.updatedAt)}
        </p>
      </div>
      ${renderDone(request)} ${renderMerged(visit, shown)}
      <div class="seed">
        <div class="stack about" id="texts" data-live>
          ${renderTexts(seed, base)} ${renderCriteria(visit, seed, shown.criterionEvidence)}
          ${renderAttachments(visit, seed.attachments, { isAlone: true })}
        </div>
        <div class="card side" id="side" data-live>
          ${may('seeds.update') && renderStatusForm(visit, seed)} ${renderParticipants(visit, seed, people)}
          ${renderAgents(visit, shown)}
        </div>
        <div class="stack findings">${renderThread(visit, shown)} ${renderHistory(visit, shown)}</div>
      </div>`,
  }
}

/** What is done with a seed less often, if the reader may. Outside of what `data-live` replaces, so that it stays open. */
function renderMenu(visit: WorkspaceVisit, seed: Seed): Content {
  const deletion = renderDeletion(visit, seed)
  const mayEdit = visit.may('seeds.update')
  if (!mayEdit && deletion === false) return false
  return html`<details class="menu" name="menu">
    <summary aria-label="Manage the seed">⋯</summary>
    <div class="panel">
      ${mayEdit && html`<a href="${visit.base}/seeds/${seed.id}/edit">Edit</a>`}
      ${renderMergeLink(visit, seed)} ${deletion}
    </div>
  </details>`
}

function renderTexts({ summary, problem, audience, hypothesis }: Seed, base: string): Html {
  const texts: [label: string, text: string | null][] = [
    ['Problem', problem],
    ['Audience', audience],
    ['Hypothesis', hypothesis],
  ]
  return html`${renderMarkdown(summary, base)}
  ${texts.map(
    ([label, text]) =>
      text !== null &&
      html`<section>
        <h2>${label}</h2>
        ${renderMarkdown(text, base)}
      </section>`,
  )}`
}

function renderAgents({ base, may }: WorkspaceVisit, { agents, uses }: SeedPage): Html {
  const readings = agents.map((agent) => ({
    agent,
    last: findLastReading(uses.filter(({ grantId }) => grantId === agent.id)),
    lastUsedAt: agent.lastUsedAt,
  }))
  return html`<section aria-labelledby="agents">
    <h2 id="agents">Agents that can read it</h2>
    ${
      readings.length === 0
        ? html`<p class="hint">
            ${may('integrations.listAll') ? 'No agent can' : 'None of your agents can'} read this seed.
          </p>`
        : html`<ul class="faces">
            ${readings.map(
              ({ agent, last, lastUsedAt }) =>
                html`<li>
                  <div>
                    <bdi>${agent.clientName}</bdi> <span class="hint">of <bdi>${agent.userName}</bdi></span>
                    <p class="hint">
                      ${
                        last
                          ? html`last read seeds ${renderTime(last.toISOString())}`
                          : lastUsedAt === null
                            ? 'has not been used'
                            : html`last used ${renderTime(lastUsedAt)}, has not read seeds in the last 30 days`
                      }
                    </p>
                  </div>
                </li>`,
            )}
          </ul>`
    }
    <p><a href="${base}/agents">Agents</a></p>
  </section>`
}

/** When an agent last read seeds. Calls are counted by tool, not by seed. */
function findLastReading(uses: readonly ToolUse[]): Date | undefined {
  const readings = uses.filter(({ tool, calls, failures }) => readingTools.has(tool) && calls > failures)
  return readings.map(({ lastCalledAt }) => lastCalledAt).sort((a, b) => b.getTime() - a.getTime())[0]
}

function renderHistory({ base }: WorkspaceVisit, { seed, events, targets, agents }: SeedPage): Content {
  const { items, nextCursor } = events
  const path = `${base}/seeds/${seed.id}`
  const agentNames = new Map(agents.map(({ id, clientName }) => [id, clientName]))
  const context = { base, agentNames, targets, seedId: seed.id }
  return html`<section aria-labelledby="history">
    <h2 id="history">History</h2>
    <div class="stack" id="events" data-live>
      ${renderRows(
        parseJson(items).map((event) => renderEvent(event, renderTime(event.createdAt), context)),
        html`<p>No earlier changes.</p>`,
      )}
      ${
        nextCursor !== null &&
        html`<p>
          <a class="button quiet" href="${withQuery(path, { history: nextCursor })}#history"
            >Earlier changes</a
          >
        </p>`
      }
    </div>
    <p>
      <a href="${base}/activity?seed=${seed.id}">All activity of this seed</a> ·
      <a href="${path}/evidence.csv" download>Export evidence as CSV</a>
    </p>
  </section>`
}
