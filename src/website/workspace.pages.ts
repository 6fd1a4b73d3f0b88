import type { Services } from '../services.ts'
import type { WorkspaceEvent } from '../areas/events/events.service.ts'
import type { Member } from '../areas/members/members.service.ts'
import type { Team } from '../areas/teams/teams.service.ts'
import type { Seed } from '../areas/seeds/seeds.service.ts'
import { parseJson } from '../kernel/json-text.ts'
import { findGrants, renderEvent, type AgentNames } from './events.views.ts'
import { html, type Html } from './html.ts'
import { renderPicture } from './layout.ts'
import { renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { renderSeedRow } from './seeds.views.ts'
import { countOf, renderTime } from './words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from './workspace-visit.ts'

const shownMembers = 12
const shownSeeds = 5
const shownEvents = 20

/** The overview of a workspace: seeds in progress, members, teams and activity. */
export function workspacePages(
  { page }: WorkspacePages,
  {
    events,
    integrations,
    members,
    seeds,
    teams,
  }: Pick<Services, 'events' | 'integrations' | 'members' | 'seeds' | 'teams'>,
): void {
  page('', async (visit) => {
    const { principal, workspace } = visit
    const listSeeds = (status: 'open' | 'validating') =>
      seeds.list(principal, workspace.slug, { status, sort: 'updatedAt', limit: shownSeeds })
    const [open, validating, people, groups, feed] = await Promise.all([
      listSeeds('open'),
      listSeeds('validating'),
      members.list(principal, workspace.slug, { limit: shownMembers }),
      teams.list(principal, workspace.slug, { limit: shownMembers }),
      events.list(principal, workspace.slug, { limit: shownEvents }),
    ])
    const shown = parseJson(feed.items)
    return renderOverview(visit, {
      seeds: [...parseJson(open.items), ...parseJson(validating.items)]
        .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
        .slice(0, shownSeeds),
      members: parseJson(people.items),
      hasMoreMembers: people.nextCursor !== null,
      teams: parseJson(groups.items),
      events: shown,
      agentNames: await integrations.findClientNames(principal, workspace.slug, findGrants(shown)),
    })
  })
}

function renderOverview(
  visit: WorkspaceVisit,
  shown: {
    seeds: Seed[]
    members: Member[]
    hasMoreMembers: boolean
    teams: Team[]
    events: WorkspaceEvent[]
    agentNames: AgentNames
  },
): Page {
  const { base, may, workspace } = visit
  const isAlone = shown.members.length === 1
  return {
    title: 'Overview',
    section: sectionOf(visit, 'Overview'),
    body: html`<h1><bdi>${workspace.name}</bdi></h1>
      <section aria-labelledby="seeds">
        <h2 id="seeds">Seeds in progress</h2>
        ${renderRows(
          shown.seeds.map((seed) => renderSeedRow(base, seed)),
          html`<p>A seed is an early idea that you want to test before you build it. None is in progress.</p>
            ${may('seeds.create') && html`<p><a class="button" href="${base}/seeds/new">New seed</a></p>`}`,
        )}
        <p><a href="${base}/seeds">All seeds</a></p>
      </section>
      <div class="columns">
        <section class="card" aria-labelledby="members">
          <h2 id="members">Members</h2>
          <ul class="faces">
            ${shown.members.map(
              ({ name, image, role }) =>
                html`<li>${renderPicture(image, name, 32)} <bdi>${name}</bdi> ${renderRole(role)}</li>`,
            )}
          </ul>
          <p>
            ${
              isAlone && may('invites.create')
                ? html`You are the only member. <a href="${base}/invites">Invite people</a>`
                : html`<a href="${base}/members">${shown.hasMoreMembers ? 'All members' : 'View members'}</a>`
            }
          </p>
        </section>
        <section class="card" aria-labelledby="teams">
          <h2 id="teams">Teams</h2>
          ${
            shown.teams.length === 0
              ? html`<p>No teams yet.</p>`
              : html`<ul class="faces">
                  ${shown.teams.map(
                    ({ id, name, memberCount }) =>
                      html`<li>
                        <a href="${base}/teams/${id}"><bdi>${name}</bdi></a>
                        <span class="hint">${countOf(memberCount, 'member')}</span>
                      </li>`,
                  )}
                </ul>`
          }
          <p><a href="${base}/teams">${may('teams.create') ? 'Manage teams' : 'View teams'}</a></p>
        </section>
      </div>
      <section aria-labelledby="events">
        <h2 id="events">Activity</h2>
        ${renderRows(
          shown.events.map((event) => renderEvent(event, renderTime(event.createdAt), shown.agentNames)),
          html`<p>No activity yet.</p>`,
        )}
        <p><a href="${base}/activity">All activity</a></p>
      </section>`,
  }
}

export function renderRole(role: string): Html {
  return html`<span class="tag">${role}</span>`
}
