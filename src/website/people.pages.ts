import type { WorkspaceEvent } from '../areas/events/events.service.ts'
import type { MemberPerson, Person } from '../areas/people/people.service.ts'
import { parseJson } from '../kernel/json-text.ts'
import { cleanLine } from '../kernel/text.ts'
import type { Services } from '../services.ts'
import { findGrants, renderEvent, type AgentNames } from './events.views.ts'
import { html, type Content, type Html } from './html.ts'
import { renderPicture } from './layout.ts'
import { readQuery, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from './pager.ts'
import { renderDate, renderTime } from './words.ts'
import { renderRole } from './workspace.pages.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from './workspace-visit.ts'

const peoplePerPage = 50
const shownTeams = 4
const shownEvents = 10
const searchLengthMax = 100

/** The directory of a workspace, and a page for each member. */
export function peoplePages(
  { page }: WorkspacePages,
  { people, events, integrations }: Pick<Services, 'people' | 'events' | 'integrations'>,
): void {
  page('/people', async (visit) => {
    const { principal, request, workspace } = visit
    const q = cleanLine(readQuery(request, 'q'), searchLengthMax) ?? ''
    const list = await readListView(request, (position) =>
      people.list(principal, workspace.slug, { ...position, ...(q !== '' && { q }), limit: peoplePerPage }),
    )
    return renderPeople(visit, q, list)
  })

  page('/people/:userId', async (visit) => {
    const { principal, request, workspace } = visit
    const { userId } = request.params
    const person = await people.get(principal, workspace.slug, userId)
    const feed = await events.list(principal, workspace.slug, { actorUserId: userId, limit: shownEvents })
    const shown = parseJson(feed.items)
    const agentNames = await integrations.findClientNames(principal, workspace.slug, findGrants(shown))
    return renderPerson(visit, person, { events: shown, agentNames })
  })
}

function renderPeople(visit: WorkspaceVisit, q: string, list: ListView<Person>): Page {
  const { base, may } = visit
  const path = `${base}/people`
  return {
    title: 'People',
    section: sectionOf(visit, 'People'),
    body: html`<h1>People</h1>
      <form class="line" role="search" action="${path}">
        <div class="field">
          <label for="q">Search by name or email</label>
          <input
            id="q"
            name="q"
            type="search"
            value="${q}"
            maxlength="${searchLengthMax}"
            autocomplete="off"
          />
        </div>
        <button>Search</button>
        ${q !== '' && html`<a class="button quiet" href="${path}">Show everyone</a>`}
      </form>
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
      })}
      ${may('invites.create') && html`<p><a href="${base}/invites">Invite people</a></p>`}`,
  }
}

function renderPersonRow({ base, principal }: WorkspaceVisit, person: Person): Html {
  const { userId, name, email, image, role, teams } = person
  return html`<div class="row">
    ${renderPicture(image, name, 40)}
    <div class="grow">
      ${
        userId === null
          ? html`<bdi>${name}</bdi>`
          : html`<a href="${base}/people/${userId}"
              ><strong><bdi>${name}</bdi></strong></a
            >`
      }${userId === principal.user.id && ' (you)'}
      ${userId !== null && html`<span class="hint">${email}</span>`} ${renderTeams(base, teams)}
    </div>
    ${userId === null && html`<span class="tag">invited</span>`} ${renderRole(role)}
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

function renderPerson(
  visit: WorkspaceVisit,
  person: MemberPerson,
  { events, agentNames }: { events: WorkspaceEvent[]; agentNames: AgentNames },
): Page {
  const { base, may, principal } = visit
  const { userId, name, email, image, role, teams, joinedAt } = person
  const isSelf = userId === principal.user.id
  return {
    title: name,
    section: sectionOf(visit, 'People'),
    body: html`<p><a href="${base}/people">All people</a></p>
      <div class="row">
        ${renderPicture(image, name, 64)}
        <div class="grow">
          <h1><bdi>${name}</bdi>${isSelf && ' (you)'}</h1>
          <span class="hint">${role} · ${email} · joined ${renderDate(joinedAt.toISOString())}</span>
        </div>
      </div>
      ${
        isSelf
          ? html`<p><a href="/settings/profile">Edit your profile</a></p>`
          : may('members.updateRole') &&
            html`<p><a href="${base}/members">Change roles and remove members</a></p>`
      }
      <section aria-labelledby="teams">
        <h2 id="teams">Teams</h2>
        ${
          teams.length === 0
            ? html`<p class="hint">In no team.</p>`
            : html`<ul class="chips">
                ${teams.map(
                  ({ id, name: teamName }) =>
                    html`<li>
                      <a href="${base}/teams/${id}"><bdi>${teamName}</bdi></a>
                    </li>`,
                )}
              </ul>`
        }
      </section>
      <section aria-labelledby="events">
        <h2 id="events">Recent activity</h2>
        ${renderRows(
          events.map((event) => renderEvent(event, renderTime(event.createdAt), agentNames)),
          html`<p>No activity yet.</p>`,
        )}
        ${
          events.length > 0 &&
          html`<p>
            <a href="${base}/activity?actor=${userId}">All activity of <bdi>${name}</bdi></a>
          </p>`
        }
      </section>`,
  }
}
