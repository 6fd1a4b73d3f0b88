import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { AgentGrant } from '../../agents/grants/grants.service.ts'
import type { Principal } from '../../domain/principal.ts'
import { ignoreNotFound } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { pageLimitMax } from '../../kernel/pagination.ts'
import type { Services } from '../../services/services.ts'
import {
  changesPath,
  readChangesUrl,
  readEventContext,
  renderEvent,
  withoutRepeated,
  type EventContext,
} from '../views/events.views.ts'
import { html, type Html } from '../components/html.ts'
import { withQuery } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { formatDay, renderClock } from '../components/words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { readSorting } from '../seeds/lists/seed-sorting.views.ts'
import { readFilters, toEventsRequest, type ActivityFilters } from './activity-filters.ts'
import { renderChoices, renderFilters, type Choice, type ShownFilters } from './activity-filters.views.ts'

const eventsPerPage = 50
const choicesMax = 20

type ActivityServices = Pick<Services, 'events' | 'people' | 'seeds' | 'grants' | 'labels'>

/** Everything that happened in a workspace, with filters. */
export function activityPages({ page, changes }: WorkspacePages, services: ActivityServices): void {
  const { events, people, seeds, grants } = services

  page('/activity', async (visit) => {
    const { principal, request, workspace } = visit
    const { slug } = workspace
    const asked = readFilters(request)
    const changesUrl = await readChangesUrl(services, visit)
    const [members, about] = await Promise.all([
      asked.person === '' ? [] : findMembers(people.list(principal, slug, limited(asked.person))),
      asked.about === '' ? [] : findSeeds(seeds.list(principal, slug, limited(asked.about))),
    ])
    const [member, seed] = [onlyOf(members), onlyOf(about)]
    const parameters = {
      ...asked.parameters,
      ...(member && { actor: member.id }),
      ...(seed && { seed: seed.id }),
    }
    const [list, granted, sorting] = await Promise.all([
      readListView(request, (position) =>
        events.list(principal, slug, { ...position, ...toEventsRequest(parameters), limit: eventsPerPage }),
      ),
      grants.list(principal, slug, { limit: pageLimitMax }),
      readSorting(services, visit),
    ])
    const listed = parseJson(list.items)
    // Who asks for the uses of tools gets all of them.
    const shown = parameters.type === '' ? withoutRepeated(listed) : listed
    const agents = parseJson(granted.items)
    const context = await readEventContext(services, visit, shown, agents)
    const names = await readNames(services, visit, { parameters, shown, targets: context.targets })
    return renderActivity(visit, {
      filters: {
        ...asked,
        parameters,
        agents: toAgentChoices(agents, { principal, chosen: parameters.agent, names: context.agentNames }),
        ...names,
        sorting,
        isFiltered: Object.entries(parameters).some(([name, value]) => name !== 'zone' && value !== ''),
      },
      choices: { members: member ? [] : members, seeds: seed ? [] : about },
      list,
      changesUrl,
      events: shown,
      context,
    })
  })

  changes(changesPath, ({ principal, workspace }, listener, after) => {
    const position = /^\d{1,15}$/.test(after) ? Number(after) : undefined
    return events.watch(principal, workspace.slug, listener, position)
  })
}

const limited = (q: string) => ({ q, limit: choicesMax })

function onlyOf(choices: readonly Choice[]): Choice | undefined {
  return choices.length === 1 ? choices[0] : undefined
}

/** The members among the people of a page. */
async function findMembers(page: ReturnType<Services['people']['list']>): Promise<Choice[]> {
  return parseJson((await page).items).flatMap(({ userId, name, email }) =>
    userId === null ? [] : { id: userId, name, hint: email },
  )
}

async function findSeeds(page: ReturnType<Services['seeds']['list']>): Promise<Choice[]> {
  return parseJson((await page).items).map(({ id, title }) => ({ id, name: title }))
}

/** The names of the member and the seed that are filtered by. Of those that are gone, only the events still have them. */
async function readNames(
  { people, seeds }: Pick<Services, 'people' | 'seeds'>,
  { principal, workspace: { slug } }: WorkspaceVisit,
  found: {
    parameters: ActivityFilters['parameters']
    shown: WorkspaceEvent[]
    targets: EventContext['targets']
  },
): Promise<Pick<ShownFilters, 'actorName' | 'seedTitle'>> {
  const { parameters, shown, targets } = found
  const { actor, seed } = parameters
  const [first] = shown
  const titleThen = first?.data.title
  const isAsked = (id: string) => id !== '' && !first
  const [member, foundSeed] = await Promise.all([
    isAsked(actor) ? people.get(principal, slug, actor).catch(ignoreNotFound) : undefined,
    isAsked(seed) ? seeds.getOfWorkspace(principal, { slug, seedId: seed }).catch(ignoreNotFound) : undefined,
  ])
  return {
    actorName: targets.get(actor)?.name ?? member?.name ?? first?.actorName ?? 'a former member',
    seedTitle:
      targets.get(seed)?.name ??
      foundSeed?.title ??
      (typeof titleThen === 'string' ? titleThen : 'a deleted seed'),
  }
}

/** The agents that the reader may know of, and the one that was asked for, of whom only the events may have the name. */
function toAgentChoices(
  agents: readonly AgentGrant[],
  { principal, chosen, names }: { principal: Principal; chosen: string; names: EventContext['agentNames'] },
): ShownFilters['agents'] {
  const choices = agents.map(({ id, clientName, userId, userName }) => ({
    value: id,
    label: userId === principal.user.id ? clientName : `${clientName} for ${userName}`,
  }))
  if (chosen === '' || choices.some(({ value }) => value === chosen)) return choices
  return [...choices, { value: chosen, label: names.get(chosen) ?? 'Another agent' }]
}

interface Activity {
  filters: ShownFilters
  /** The members and seeds that match what was typed, if they are several. */
  choices: { members: Choice[]; seeds: Choice[] }
  list: ListView<WorkspaceEvent>
  changesUrl: string
  events: WorkspaceEvent[]
  context: EventContext
}

function renderActivity(visit: WorkspaceVisit, activity: Activity): Page {
  const { filters, choices, list, events } = activity
  const { parameters, person, about, notices, isFiltered } = filters
  const path = `${visit.base}/activity`
  const hasNobody = person !== '' && parameters.actor === '' && choices.members.length === 0
  const hasNoSeed = about !== '' && parameters.seed === '' && choices.seeds.length === 0
  const isLatest = list.cursor === '' && parameters.to === ''
  return {
    title: 'Activity',
    section: sectionOf(visit, 'Activity'),
    isLive: isLatest,
    body: html`<div class="row">
        <h1 class="grow">Activity</h1>
        ${
          isLatest &&
          html`<div class="check scripted">
            <input type="checkbox" id="live" checked />
            <label for="live">Show new activity automatically</label>
          </div>`
        }
      </div>
      ${renderFilters(visit, filters)}
      ${renderNotices([
        ...notices,
        hasNobody && `No member matches “${person}”. This is the activity of everyone.`,
        hasNoSeed && `No seed has the words “${about}”. This is the activity of all seeds.`,
        list.isReset && resetNotice,
      ])}
      ${
        choices.members.length > 0 &&
        renderChoices({ noun: 'members', typed: person, choices: choices.members }, (actor) =>
          withQuery(path, { ...parameters, actor }),
        )
      }
      ${
        choices.seeds.length > 0 &&
        renderChoices({ noun: 'seeds', typed: about, choices: choices.seeds }, (seed) =>
          withQuery(path, { ...parameters, seed }),
        )
      }
      <div class="stack" ${isLatest && html`data-live="${activity.changesUrl}"`}>
        ${
          events.length === 0
            ? html`<div class="empty">
                ${
                  isFiltered
                    ? html`<p>No activity matches the filter.</p>
                        <p><a href="${path}">Show all activity</a></p>`
                    : html`<p>No activity yet. What members and agents do in this workspace appears here.</p>`
                }
              </div>`
            : html`<div class="days" data-days>${renderDays(activity)}</div>`
        }
        ${renderPager(list, {
          path,
          parameters: { ...parameters },
          labels: { first: 'Newest', previous: 'Newer', next: 'Older' },
        })}
      </div>`,
  }
}

/** The events of each day, in UTC. public/site.js sorts them into the days of the reader. */
function renderDays({ events, context }: Activity): Html[] {
  const days = new Map<string, WorkspaceEvent[]>()
  for (const event of events) {
    const day = formatDay(event.createdAt)
    days.set(day, [...(days.get(day) ?? []), event])
  }
  return Array.from(
    days,
    ([day, ofDay]) =>
      html`<section>
        <h2>${day}</h2>
        <ul class="rows">
          ${ofDay.map((event) => html`<li>${renderEvent(event, renderClock(event.createdAt), context)}</li>`)}
        </ul>
      </section>`,
  )
}
