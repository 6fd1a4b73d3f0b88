import type { EventsRequest, EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { Person } from '../../areas/people/people.service.ts'
import { managerEventTypes } from '../../kernel/events.ts'
import { ApiError } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import {
  changesPath,
  eventTypeNames,
  readEventContext,
  renderEvent,
  withoutRepeated,
  type EventContext,
} from '../views/events.views.ts'
import { renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { readQuery, withQuery } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { readSearch, searchLengthMax } from '../views/search-form.views.ts'
import { isTimeZone, startOfDay } from '../components/time-zones.ts'
import { formatDay, renderClock } from '../components/words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const eventsPerPage = 50
const choicesMax = 20
const dayMs = 24 * 60 * 60 * 1000

/** What the URL asks for. Parameters that are invalid are empty. */
interface Filters {
  parameters: { type: string; actor: string; from: string; to: string; zone: string }
  /** What the person typed to find somebody. */
  person: string
  notices: string[]
}

/** Everything that happened in a workspace, with filters. */
export function activityPages(
  { page, changes }: WorkspacePages,
  { events, people, integrations }: Pick<Services, 'events' | 'people' | 'integrations'>,
): void {
  page('/activity', async (visit) => {
    const { principal, request, workspace } = visit
    const { slug } = workspace
    const asked = readFilters(request)
    const found =
      asked.person === ''
        ? []
        : await findMembers(people.list(principal, slug, { q: asked.person, limit: choicesMax }))
    const [only] = found.length === 1 ? found : []
    const parameters = { ...asked.parameters, actor: only?.userId ?? asked.parameters.actor }
    const { actor } = parameters
    const [list, member] = await Promise.all([
      readListView(request, (position) =>
        events.list(principal, slug, { ...position, ...toRequest(parameters), limit: eventsPerPage }),
      ),
      actor === '' || only ? only : people.get(principal, slug, actor).catch(ignoreNotFound),
    ])
    const listed = parseJson(list.items)
    // Who asks for the uses of tools gets all of them.
    const shown = parameters.type === '' ? withoutRepeated(listed) : listed
    const context = await readEventContext({ events, integrations }, visit, shown)
    return renderActivity(visit, {
      filters: { ...asked, parameters },
      // Of a former member, only the events still have the name.
      actorName: member?.name ?? shown[0]?.actorName ?? 'a former member',
      choices: only ? [] : found,
      list,
      events: shown,
      context,
    })
  })

  changes(changesPath, ({ principal, workspace }, listener) =>
    events.watch(principal, workspace.slug, listener),
  )
}

function readFilters(request: { query: unknown }): Filters {
  const notices: string[] = []
  const read = (name: string, isValid: (value: string) => boolean, notice: string) => {
    const value = readQuery(request, name)
    if (value === '' || isValid(value)) return value
    notices.push(notice)
    return ''
  }
  const parameters = {
    type: read(
      'type',
      (type) => Object.hasOwn(eventTypeNames, type),
      'That kind of activity does not exist.',
    ),
    actor: read('actor', isId, 'That person does not exist.'),
    from: read('from', isDay, 'The first day is not a date.'),
    to: read('to', isDay, 'The last day is not a date.'),
    // public/site.js sets it. Without it, days are in UTC.
    zone: isTimeZone(readQuery(request, 'zone')) ? readQuery(request, 'zone') : '',
  }
  if (parameters.from !== '' && parameters.to !== '' && parameters.from > parameters.to)
    notices.push('The first day is after the last day.')
  const person = parameters.actor === '' ? readSearch(request, { name: 'person' }) : ''
  return { parameters, person, notices }
}

/** Whether a text is a day of a four-digit year, as `YYYY-MM-DD`. */
function isDay(text: string): boolean {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function toRequest({ type, actor, from, to, zone }: Filters['parameters']): EventsRequest {
  return {
    ...(type !== '' && { type }),
    ...(actor !== '' && { actorUserId: actor }),
    ...(from !== '' && { since: startOfDay(from, zone) }),
    // The last day is included.
    ...(to !== '' && {
      until: startOfDay(new Date(Date.parse(to) + dayMs).toISOString().slice(0, 10), zone),
    }),
  }
}

type FoundMember = Person & { userId: string }

/** The members among the people of a page. */
async function findMembers(page: ReturnType<Services['people']['list']>): Promise<FoundMember[]> {
  return parseJson((await page).items).filter((person): person is FoundMember => person.userId !== null)
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
}

interface Activity {
  filters: Filters
  actorName: string
  /** The members who match the typed name, if they are several. */
  choices: FoundMember[]
  list: ListView<WorkspaceEvent>
  events: WorkspaceEvent[]
  context: EventContext
}

function renderActivity(visit: WorkspaceVisit, activity: Activity): Page {
  const { filters, choices, list, events } = activity
  const { parameters, person, notices } = filters
  const path = `${visit.base}/activity`
  const isFiltered = Object.entries(parameters).some(([name, value]) => name !== 'zone' && value !== '')
  const hasNobody = person !== '' && parameters.actor === '' && choices.length === 0
  const isLatest = list.cursor === '' && parameters.to === ''
  return {
    title: 'Activity',
    section: sectionOf(visit, 'Activity'),
    body: html`<div class="row">
        <h1 class="grow">Activity</h1>
        ${
          isLatest &&
          html`<div class="check" hidden>
            <input type="checkbox" id="live" checked />
            <label for="live">Show new activity automatically</label>
          </div>`
        }
      </div>
      ${renderFilters(visit, activity, isFiltered)}
      ${renderNotices([
        ...notices,
        hasNobody && `No member matches “${person}”. This is the activity of everyone.`,
        list.isReset && resetNotice,
      ])}
      ${choices.length > 0 && renderChoices(path, filters, choices)}
      <div class="stack" ${isLatest && html`data-live="${visit.base}${changesPath}"`}>
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
          parameters,
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

function renderFilters(visit: WorkspaceVisit, { filters, actorName }: Activity, isFiltered: boolean): Html {
  const { parameters, person } = filters
  const { type, actor, from, to, zone } = parameters
  const path = `${visit.base}/activity`
  const hidden = visit.may('invites.list') ? [] : (managerEventTypes as readonly EventType[])
  const types = (Object.entries(eventTypeNames) as [EventType, string][]).filter(
    ([value]) => !hidden.includes(value),
  )
  return html`<details class="filters" ${(isFiltered || person !== '') && html`open`}>
    <summary>Filter</summary>
    <form action="${path}">
      ${renderSelect({
        name: 'type',
        label: 'Kind',
        value: type,
        choices: [{ value: '', label: 'Everything' }, ...types.map(([value, label]) => ({ value, label }))],
      })}
      ${
        actor === ''
          ? html`<div class="field">
              <label for="person">Member</label>
              <input
                id="person"
                name="person"
                value="${person}"
                maxlength="${searchLengthMax}"
                autocomplete="off"
                aria-describedby="person-hint"
              />
              <p class="hint" id="person-hint">Name or email</p>
            </div>`
          : html`<div class="field">
              <strong>Member</strong>
              <p><input type="hidden" name="actor" value="${actor}" /><bdi>${actorName}</bdi></p>
              <p>
                <a href="${withQuery(path, { ...parameters, actor: '' })}">Show everyone</a>
              </p>
            </div>`
      }
      ${renderDay({ name: 'from', label: 'From', value: from, zone })}
      ${renderDay({ name: 'to', label: 'To', value: to, zone })}
      <input type="hidden" name="zone" value="${zone}" data-zone />
      <div class="line">
        <button>Apply filter</button>
        ${isFiltered && html`<a class="button quiet" href="${path}">Clear</a>`}
      </div>
    </form>
  </details>`
}

function renderDay(field: { name: string; label: string; value: string; zone: string }): Content {
  const { name, label, value, zone } = field
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="date" value="${value}" aria-describedby="${name}-hint" />
    <p class="hint" id="${name}-hint">Day in <span data-zone-name>${zone || 'UTC'}</span></p>
  </div>`
}

function renderChoices(path: string, { parameters, person }: Filters, choices: readonly FoundMember[]): Html {
  return html`<div class="notice" role="status">
    <p>Several members match “<bdi>${person}</bdi>”. Choose one:</p>
    <ul class="chips">
      ${choices.map(
        ({ userId, name, email }) =>
          html`<li>
            <a href="${withQuery(path, { ...parameters, actor: userId })}"><bdi>${name}</bdi></a>
            <span class="hint">${email}</span>
          </li>`,
      )}
    </ul>
  </div>`
}
