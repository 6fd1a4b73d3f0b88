import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { AgentGrant, ToolUse } from '../../areas/integrations/integrations.service.ts'
import type { Seed, SeedParticipant } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { isClosed, seedStatuses, type SeedStatus } from '../../kernel/seeds.ts'
import { renderAuthor } from '../views/author.views.ts'
import { renderEvent, type EventContext } from '../views/events.views.ts'
import { renderOpened } from '../components/edits.ts'
import { renderAction, renderForm, renderRefusal } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderPicture } from '../components/layout.ts'
import { renderRows, withQuery } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { isAboutEvidence, renderEvidence, type ShownEvidence } from './evidence.views.ts'
import { renderStatus } from './seeds.views.ts'
import { countOf, renderTime } from '../components/words.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The tools that return the text of seeds. Reading an MCP resource is counted as the first. */
const readingTools = new Set(['read_validation_kit', 'fetch'])

/** What the button of a status says. */
const statusActions: Record<SeedStatus, string> = {
  open: 'Reopen',
  validating: 'Start validating',
  validated: 'Mark as validated',
  dropped: 'Drop',
}

interface SeedPage extends ShownEvidence {
  /** What happened to the seed, newest first. */
  events: ListPage<WorkspaceEvent>
  places: EventContext['places']
  /** The agents that the reader may know of, and what they called. */
  agents: AgentGrant[]
  uses: ToolUse[]
}

/** The page of a seed. */
export function renderSeed(visit: WorkspaceVisit, shown: SeedPage): Page {
  const { base, may, request, state } = visit
  const { seed, createdByName } = shown
  const path = `${base}/seeds/${seed.id}`
  const creator = renderAuthor(createdByName, seed.agentName)
  return {
    title: seed.title,
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <div class="head">
        <h1><bdi>${seed.title}</bdi></h1>
        ${may('seeds.update') && html`<a class="button quiet" href="${path}/edit">Edit</a>`}
      </div>
      <p class="hint">
        ${renderStatus(seed.status)} Created ${creator && html`by ${creator}`} ${renderTime(seed.createdAt)} ·
        changed ${renderTime(seed.updatedAt)}
      </p>
      ${renderDone(request)} ${!isAboutEvidence(state) && renderRefusal(request)}
      <div class="seed">
        <div class="stack about">${renderTexts(seed)}</div>
        <div class="stack side">
          ${renderPeople(visit, seed, parseJson(shown.participants.items))}
          ${may('seeds.update') && renderStatusForm(visit, seed)} ${renderAgents(visit, shown)}
        </div>
        <div class="stack findings">${renderEvidence(visit, shown)} ${renderHistory(visit, shown)}</div>
      </div>`,
  }
}

function renderTexts({ summary, problem, audience, hypothesis, successCriteria }: Seed): Html {
  const texts: [label: string, text: string | null][] = [
    ['Problem', problem],
    ['Audience', audience],
    ['Hypothesis', hypothesis],
  ]
  return html`<p class="prose"><bdi>${summary}</bdi></p>
    ${texts.map(
      ([label, text]) =>
        text !== null &&
        html`<section>
          <h2>${label}</h2>
          <p class="prose"><bdi>${text}</bdi></p>
        </section>`,
    )}
    ${
      successCriteria.length > 0 &&
      html`<section>
        <h2>Success criteria</h2>
        <ul class="bullets">
          ${successCriteria.map((criterion) => html`<li><bdi>${criterion}</bdi></li>`)}
        </ul>
      </section>`
    }`
}

function renderPeople({ base, may, request }: WorkspaceVisit, seed: Seed, people: SeedParticipant[]): Html {
  const path = `${base}/seeds/${seed.id}`
  const rest = seed.participantCount - people.length
  return html`<section class="card" aria-labelledby="people">
    <h2 id="people">Participants</h2>
    ${
      people.length === 0
        ? html`<p class="hint">Nobody has joined yet.</p>`
        : html`<ul class="faces">
            ${people.map(
              ({ userId, name, image }) =>
                html`<li>
                  ${renderPicture(image, name, 28)} <a href="${base}/people/${userId}"><bdi>${name}</bdi></a>
                </li>`,
            )}
          </ul>`
    }
    ${rest > 0 && html`<p class="hint">and ${countOf(rest, 'other')}</p>`}
    ${
      seed.joined
        ? may('seeds.leave') &&
          renderAction(request, { action: `${path}/leave`, label: 'Leave', description: 'the seed' })
        : isClosed(seed.status)
          ? html`<p class="hint">
              ${seed.status === 'dropped' ? 'Dropped' : 'Validated'} seeds cannot be joined. Reopen it first.
            </p>`
          : may('seeds.join') &&
            renderForm({
              request,
              action: `${path}/join`,
              body: html`<button class="wide">Join this seed</button>`,
            })
    }
  </section>`
}

function renderStatusForm({ base, request }: WorkspaceVisit, seed: Seed): Html {
  return html`<section class="card" aria-labelledby="status">
    <h2 id="status">Change status</h2>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/status`,
      className: 'choices',
      body: html`${renderOpened({ status: seed.status })}
      ${seedStatuses
        .filter((status) => status !== seed.status)
        .map(
          (status) =>
            html`<button class="small" name="status" value="${status}">${statusActions[status]}</button>`,
        )}`,
    })}
  </section>`
}

function renderAgents({ base, may }: WorkspaceVisit, { agents, uses }: SeedPage): Html {
  const readings = agents.map((agent) => ({
    agent,
    last: findLastReading(uses.filter(({ grantId }) => grantId === agent.id)),
  }))
  return html`<section class="card" aria-labelledby="agents">
    <h2 id="agents">Agents that can read it</h2>
    ${
      readings.length === 0
        ? html`<p class="hint">
            ${may('integrations.listAll') ? 'No agent can' : 'None of your agents can'} read this seed.
          </p>`
        : html`<ul class="faces">
            ${readings.map(
              ({ agent, last }) =>
                html`<li>
                  <div>
                    <bdi>${agent.clientName}</bdi> <span class="hint">of <bdi>${agent.userName}</bdi></span>
                    <p class="hint">
                      ${
                        last
                          ? html`last read seeds ${renderTime(last.toISOString())}`
                          : 'has not read seeds in the last 30 days'
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

function renderHistory({ base }: WorkspaceVisit, { seed, events, places, agents }: SeedPage): Content {
  const { items, nextCursor } = events
  const path = `${base}/seeds/${seed.id}`
  const agentNames = new Map(agents.map(({ id, clientName }) => [id, clientName]))
  const context = { base, agentNames, places, seedTitle: seed.title }
  return html`<section aria-labelledby="history">
    <h2 id="history">History</h2>
    ${renderRows(
      parseJson(items).map((event) => renderEvent(event, renderTime(event.createdAt), context)),
      html`<p>No earlier changes.</p>`,
    )}
    ${
      nextCursor !== null &&
      html`<p>
        <a class="button quiet" href="${withQuery(path, { history: nextCursor })}#history">Earlier changes</a>
      </p>`
    }
  </section>`
}
