import type { EndedAgent } from '../../agents/grants/grants.service.ts'
import type { Member } from '../../areas/members/members.service.ts'
import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { renderEvent, type EventContext, type ShownEvent } from '../views/events.views.ts'
import { renderFirstSteps, type DoneSteps } from './first-steps.ts'
import { renderToDo, type ToDo } from './to-do.views.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { roleNames } from '../views/roles.views.ts'
import { renderSeedRow, type DueOf } from '../seeds/lists/seed-rows.views.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { whatIsSeed } from '../seeds/seed-words.ts'

interface Home {
  changesUrl: string
  /** The open and validating seeds that changed last. */
  seeds: Seed[]
  dueOf: DueOf
  /** The agents of the person that lost access lately. */
  endedAgents: EndedAgent[]
  toDo: ToDo
  members: Member[]
  hasMoreMembers: boolean
  events: ShownEvent[]
  eventContext: EventContext
  /** Whether events of example seeds are left out. */
  hasExamples: boolean
  /** What the person has done of the first steps, if these are shown. */
  doneSteps: DoneSteps | undefined
}

/** The home of a workspace. */
export function renderHome(visit: WorkspaceVisit, shown: Home): Page {
  const { base, request, workspace } = visit
  return {
    title: 'Home',
    section: sectionOf(visit, 'Home'),
    isLive: true,
    body: html`<h1 class="truncate" title="${workspace.name}"><bdi>${workspace.name}</bdi></h1>
      ${renderDone(request)} ${shown.endedAgents.length > 0 && renderEndedAgents(base, shown.endedAgents)}
      <div class="split">
        ${shown.doneSteps && renderFirstSteps(visit, { done: shown.doneSteps, seedId: shown.seeds[0]?.id })}
        <div data-live="${shown.changesUrl}">
          ${renderToDo(visit, shown.toDo)} ${renderInProgress(visit, shown)} ${renderActivity(base, shown)}
        </div>
        <div>${renderPeople(visit, shown)}</div>
      </div>`,
  }
}

function renderEndedAgents(base: string, agents: readonly EndedAgent[]): Html {
  return html`<div class="notice warn">
    ${agents.map(
      ({ clientName, endedAt }) =>
        html`<p>
          <bdi>${clientName}</bdi> lost its access to this workspace, ${renderDate(endedAt.toISOString())}.
        </p>`,
    )}
    <p><a href="${base}/agents">Connect it again</a></p>
  </div>`
}

function renderInProgress({ base, may }: WorkspaceVisit, { seeds, dueOf }: Home): Html {
  const isEmpty = seeds.length === 0
  return html`<section aria-labelledby="seeds">
    <div class="head">
      <h2 id="seeds">Seeds in progress</h2>
      ${!isEmpty && may('seeds.create') && html`<a class="button" href="${base}/seeds/new">New seed</a>`}
    </div>
    ${renderRows(
      seeds.map((seed) => renderSeedRow(base, seed, { dueOf })),
      html`<p><strong>${whatIsSeed}</strong></p>
        <p>People join it and add evidence for and against it. None is in progress.</p>
        ${may('seeds.create') && html`<p><a class="button" href="${base}/seeds/new">New seed</a></p>`}`,
    )}
    <p><a href="${base}/seeds">All seeds</a></p>
  </section>`
}

function renderActivity(base: string, { events, eventContext, hasExamples }: Home): Html {
  return html`<section aria-labelledby="events">
    <h2 id="events">Activity</h2>
    ${renderRows(
      events.map((event) => renderEvent(event, renderTime(event.createdAt), eventContext)),
      html`<p>${hasExamples ? 'Nothing yet, but for the examples.' : 'No activity yet.'}</p>`,
    )}
    <p><a href="${base}/activity">All activity</a></p>
  </section>`
}

function renderPeople({ base, may }: WorkspaceVisit, { members, hasMoreMembers }: Home): Html {
  return html`<section class="card" aria-labelledby="people">
    <h2 id="people">People</h2>
    <ul class="faces">
      ${members.map((member) => renderMember(base, member))}
    </ul>
    ${members.length === 1 && html`<p class="hint">You are the only member.</p>`}
    <p><a href="${base}/people">${hasMoreMembers ? 'All people' : 'View people'}</a></p>
    ${renderInvite(base, may('invites.create'))}
  </section>`
}

function renderMember(base: string, { userId, name, image, role }: Member): Html {
  return html`<li>
    ${renderFace({ id: userId, name, image }, 28)}
    <a class="title truncate" href="${base}/people/${userId}" title="${name}"><bdi>${name}</bdi></a>
    <span class="hint">${roleNames[role]}</span>
  </li>`
}

function renderInvite(base: string, mayInvite: boolean): Content {
  return mayInvite && html`<p><a class="button quiet" href="${base}/invites">Invite people</a></p>`
}
