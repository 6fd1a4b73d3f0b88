import type { Person } from '../../areas/people/people.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { isId } from '../../kernel/ids.ts'
import { mayActOn, roles, type Role } from '../../domain/roles.ts'
import type { Team } from '../../areas/teams/teams.service.ts'
import type { Services } from '../../services/services.ts'
import { renderSelect } from '../components/forms.ts'
import { readEventContext, withoutRepeated } from '../views/events.views.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { readOneOf, readQuery, renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { membersPages } from './members.pages.ts'
import type { Page } from '../plugins/pages.ts'
import {
  readListView,
  renderCount,
  renderNotices,
  renderPager,
  resetNotice,
  type ListView,
} from '../components/pager.ts'
import { renderPerson } from './person.views.ts'
import { renderRole, renderSuspended, roleNames } from '../views/roles.views.ts'
import { readSearch, searchLengthMax } from '../views/search-form.views.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const peoplePerPage = 50
const shownTeams = 4
const shownSeeds = 5
const shownEvents = 10

/** The directory of a workspace, and a page for each member, with their role. */
export function peoplePages(
  pages: WorkspacePages,
  services: Pick<Services, 'people' | 'events' | 'grants' | 'members' | 'seeds' | 'teams'>,
): void {
  const { people, events, grants, seeds, teams } = services

  const showPeople = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const { slug } = workspace
    const search = readPeopleSearch(request)
    const { q, role, teamId } = search
    const filter = { ...(q && { q }), ...(role && { role }), ...(teamId && { teamId }) }
    const [list, ofTeams] = await Promise.all([
      readListView(request, (position) =>
        people.list(principal, slug, { ...position, ...filter, kind: 'here', limit: peoplePerPage }),
      ),
      teams.list(principal, slug, {}),
    ])
    return renderPeople(visit, search, { list, teams: parseJson(ofTeams.items) })
  }

  const showPerson = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const { slug } = workspace
    const { userId } = request.params
    const [person, created, feed] = await Promise.all([
      people.get(principal, slug, userId),
      seeds.list(principal, slug, { createdByUserId: userId, limit: shownSeeds }),
      events.list(principal, slug, { actorUserId: userId, limit: shownEvents }),
    ])
    const shown = withoutRepeated(parseJson(feed.items))
    const eventContext = await readEventContext({ events, grants }, visit, shown)
    return renderPerson(visit, person, {
      ...{ seeds: parseJson(created.items), dueOf: (seed) => seeds.dueOf(seed) },
      ...{ events: shown, eventContext },
    })
  }

  pages.page('/people', showPeople)
  // The former URL of the list of members.
  pages.page('/members', showPeople)
  pages.page('/people/:userId', showPerson)
  membersPages(pages, services)
}

/** What the page was asked for. Parameters that are invalid are empty. */
interface PeopleSearch {
  q: string
  role: Role | undefined
  teamId: string
}

function readPeopleSearch(request: { query: unknown }): PeopleSearch {
  const teamId = readQuery(request, 'team')
  return {
    q: readSearch(request),
    role: readOneOf(request, 'role', roles),
    teamId: isId(teamId) ? teamId : '',
  }
}

function renderPeople(
  visit: WorkspaceVisit,
  search: PeopleSearch,
  { list, teams }: { list: ListView<Person>; teams: Team[] },
): Page {
  const { base, may, request } = visit
  const path = `${base}/people`
  const { q, role, teamId } = search
  const shown = parseJson(list.items)
  return {
    title: 'People',
    section: sectionOf(visit, 'People'),
    body: html`<div class="head">
        <h1>People</h1>
        ${may('invites.create') && html`<a class="button" href="${base}/invites">Invite people</a>`}
      </div>
      ${renderDone(request)} ${renderFilters(path, search, teams)}
      ${renderNotices([list.isReset && resetNotice])} ${renderCount(list, shown.length, ['person', 'people'])}
      ${renderRows(
        shown.map((person) => renderPersonRow(visit, person)),
        renderNobody(visit, search),
      )}
      ${renderPager(list, {
        path,
        parameters: { q, role: role ?? '', team: teamId },
        labels: { first: 'First page', previous: 'Previous', next: 'Next' },
      })}`,
  }
}

function renderFilters(path: string, { q, role, teamId }: PeopleSearch, teams: readonly Team[]): Html {
  const isFiltered = q !== '' || role !== undefined || teamId !== ''
  return html`<form class="line filters" role="search" action="${path}" data-instant>
    <div class="field">
      <label for="q">Name or email</label>
      <input id="q" name="q" type="search" value="${q}" maxlength="${searchLengthMax}" autocomplete="off" />
    </div>
    ${renderSelect({
      name: 'role',
      label: 'Role',
      value: role ?? '',
      choices: [{ value: '', label: 'Any' }, ...roles.map((value) => ({ value, label: roleNames[value] }))],
    })}
    ${
      teams.length > 0 &&
      renderSelect({
        name: 'team',
        label: 'Team',
        value: teamId,
        choices: [{ value: '', label: 'Any' }, ...teams.map(({ id, name }) => ({ value: id, label: name }))],
      })
    }
    <button class="quiet">Apply</button>
    ${isFiltered && html`<a class="button quiet" href="${path}">Clear</a>`}
  </form>`
}

/** Why the list is empty. */
function renderNobody({ base, may }: WorkspaceVisit, { q, role, teamId }: PeopleSearch): Content {
  if (q === '' && role === undefined && teamId === '') return html`<p>Nobody here.</p>`
  const isShort = q !== '' && Array.from(q).length <= 2
  return html`${
    role === undefined && teamId === ''
      ? html`<p>Nobody matches “<bdi>${q}</bdi>”.</p>`
      : html`<p>Nobody matches these filters.</p>`
  }
  ${isShort && html`<p>One or two letters match only the beginning of words.</p>`}
  ${
    may('invites.list') &&
    html`<p>People who have not accepted yet are under <a href="${base}/invites">Invites</a>.</p>`
  }`
}

function renderPersonRow(visit: WorkspaceVisit, person: Person): Html {
  const { base, may, principal, workspace } = visit
  const { kind, userId, name, email, image, role, suspended, teams } = person
  const isService = kind === 'service'
  const isSelf = userId === principal.user.id
  const path = `${base}/people/${String(userId)}`
  return html`<div class="row">
    ${renderFace({ id: userId, name, image }, 40)}
    <div class="grow">
      <a class="title" href="${path}"><bdi>${name}</bdi></a
      >${isSelf && ' (you)'}
      <span class="hint">${isService ? 'Service account' : email}</span> ${renderTeams(base, teams)}
    </div>
    ${suspended && renderSuspended()} ${renderRole(role)}
    ${
      !isSelf &&
      !isService &&
      may('members.updateRole') &&
      mayActOn(workspace.role, role) &&
      html`<a class="button small" aria-label="Manage ${name}" href="${path}#role">Manage</a>`
    }
  </div>`
}

/** The first teams of a person. */
function renderTeams(base: string, teams: Person['teams']): Content {
  if (teams.length === 0) return false
  const more = teams.length - shownTeams
  return html`<span class="hint"
    >${teams
      .slice(0, shownTeams)
      .map(
        ({ id, name }, i) => html`${i > 0 && ' · '}<a href="${base}/teams/${id}"><bdi>${name}</bdi></a>`,
      )}${more > 0 && ` · ${more} more`}</span
  >`
}
