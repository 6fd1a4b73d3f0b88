import type { Person } from '../../areas/people/people.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { mayActOn } from '../../kernel/roles.ts'
import type { Services } from '../../services/services.ts'
import { readEventContext, withoutRepeated } from '../views/events.views.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderPicture } from '../components/layout.ts'
import { renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { membersPages } from './members.pages.ts'
import type { Page } from '../plugins/pages.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { renderPerson } from './person.views.ts'
import { renderRole } from '../views/roles.views.ts'
import { readSearch, renderSearchForm } from '../views/search-form.views.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const peoplePerPage = 50
const shownTeams = 4
const shownSeeds = 5
const shownEvents = 10

/** The directory of a workspace, and a page for each member, with their role. */
export function peoplePages(
  pages: WorkspacePages,
  services: Pick<Services, 'people' | 'events' | 'integrations' | 'members' | 'seeds'>,
): void {
  const { people, events, integrations, seeds } = services

  const showPeople = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const q = readSearch(request)
    const list = await readListView(request, (position) =>
      people.list(principal, workspace.slug, { ...position, ...(q !== '' && { q }), limit: peoplePerPage }),
    )
    return renderPeople(visit, q, list)
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
    const eventContext = await readEventContext({ events, integrations }, visit, shown)
    return renderPerson(visit, person, { seeds: parseJson(created.items), events: shown, eventContext })
  }

  pages.page('/people', showPeople)
  // The former URL of the list of members.
  pages.page('/members', showPeople)
  pages.page('/people/:userId', showPerson)
  membersPages(pages, services)
}

function renderPeople(visit: WorkspaceVisit, q: string, list: ListView<Person>): Page {
  const { base, may, request } = visit
  const path = `${base}/people`
  return {
    title: 'People',
    section: sectionOf(visit, 'People'),
    body: html`<div class="head">
        <h1>People</h1>
        ${may('invites.create') && html`<a class="button" href="${base}/invites">Invite people</a>`}
      </div>
      ${renderDone(request)} ${renderSearchForm({ path, label: 'Search by name or email', value: q })}
      ${renderNotices([list.isReset && resetNotice])}
      ${renderRows(
        parseJson(list.items).map((person) => renderPersonRow(visit, person)),
        q === ''
          ? html`<p>Nobody here.</p>`
          : html`<p>Nobody matches “<bdi>${q}</bdi>”.</p>
              ${Array.from(q).length <= 2 && html`<p>One or two letters match only the beginning of words.</p>`}`,
      )}
      ${renderPager(list, {
        path,
        parameters: { q },
        labels: { first: 'First page', previous: 'Previous', next: 'Next' },
      })}`,
  }
}

function renderPersonRow(visit: WorkspaceVisit, person: Person): Html {
  const { base, may, principal, workspace } = visit
  const { userId, name, email, image, role, teams } = person
  const isSelf = userId === principal.user.id
  const path = `${base}/people/${String(userId)}`
  return html`<div class="row">
    ${renderPicture(image, name, 40)}
    <div class="grow">
      ${
        userId === null
          ? html`<bdi>${name}</bdi>`
          : html`<a class="title" href="${path}"><bdi>${name}</bdi></a>`
      }${isSelf && ' (you)'}
      ${userId !== null && html`<span class="hint">${email}</span>`} ${renderTeams(base, teams)}
    </div>
    ${userId === null && html`<span class="tag invited">Invited</span>`} ${renderRole(role)}
    ${
      userId !== null &&
      !isSelf &&
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
