import type { Person } from '../../areas/people/people.service.ts'
import type { Seed } from '../../areas/seeds/seeds.service.ts'
import type { Team, TeamMember } from '../../areas/teams/teams.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { renderAction, renderNameForm, stateOf } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { renderSearchForm } from '../views/search-form.views.ts'
import { renderSeedRow, type DueOf } from '../seeds/lists/seed-rows.views.ts'
import { countOf, renderDate } from '../components/words.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

interface TeamPage {
  team: Team
  /** Some seeds of the team: those that are due, and those with the latest activity. */
  seeds: { due: readonly Seed[]; recent: readonly Seed[]; dueOf: DueOf }
  inTeam: ListView<TeamMember>
  /** What the person searches for among the members of the workspace. */
  q: string
  found: { people: Candidate[]; hasMore: boolean } | undefined
  /** The members of a small workspace who are not in the team. */
  others: Candidate[]
}

type Candidate = Person & { userId: string }

/** The page of a team: its members, and a search for members of the workspace to add. */
export function renderTeam(visit: WorkspaceVisit, { team, seeds, inTeam, q, found, others }: TeamPage): Page {
  const { base, may, request } = visit
  const path = `${base}/teams/${team.id}`
  return {
    title: team.name,
    section: sectionOf(visit, 'Teams'),
    body: html`<div>
        <h1><bdi>${team.name}</bdi></h1>
        <span class="hint"
          >${team.memberCount === 0 ? 'No members' : countOf(team.memberCount, 'member')}</span
        >
      </div>
      ${renderDone(request)}
      ${renderSearchForm({ path, label: may('teams.addMember') ? 'Find people to add' : 'Find people', value: q })}
      ${
        found
          ? renderFound(visit, team, { q, ...found })
          : html`${renderSeeds(visit, team, seeds)} ${renderMembers(visit, team, inTeam)}
            ${others.length > 0 && renderOthers(visit, team, others)}`
      }
      ${may('teams.rename') && renderManagement(visit, team)}`,
  }
}

function renderSeeds(
  { base }: WorkspaceVisit,
  { id }: Team,
  { due, recent, dueOf }: TeamPage['seeds'],
): Html {
  const render = (heading: string, place: string, seeds: readonly Seed[]) =>
    seeds.length > 0 &&
    html`<section class="stack" aria-labelledby="${place}">
      <h2 id="${place}">${heading}</h2>
      ${renderRows(
        seeds.map((seed) => renderSeedRow(base, seed, { dueOf })),
        null,
      )}
    </section>`
  return html`${render('Due', 'due', due)} ${render('Seeds', 'seeds', recent)}
  ${recent.length > 0 && html`<p><a href="${base}/seeds?team=${id}">All seeds of the team</a>, <a href="${base}/activity?team=${id}">their activity</a></p>`}
  ${recent.length > 0 && html`<h2>Members</h2>`}`
}

function renderMembers(visit: WorkspaceVisit, { id }: Team, list: ListView<TeamMember>): Html {
  const { base, may, principal, request } = visit
  return html`${renderNotices([list.isReset && resetNotice])}
  ${renderRows(
    parseJson(list.items).map((member) =>
      renderMember(visit, id, {
        ...member,
        detail: html`added ${renderDate(member.addedAt)}`,
        isInTeam: true,
      }),
    ),
    html`<p>No members yet.</p>
      ${may('teams.addMember') && renderAction(request, { action: `${base}/teams/${id}/members`, label: 'Add yourself', fields: { userId: principal.user.id } })}`,
  )}
  ${renderPager(list, { path: `${base}/teams/${id}` })}`
}

/** Everybody who can be added, in a workspace where that is a short list. */
function renderOthers(visit: WorkspaceVisit, { id }: Team, others: readonly Candidate[]): Html {
  return html`<section class="stack" aria-labelledby="others">
    <h2 id="others">Add people</h2>
    ${renderRows(
      others.map(({ userId, name, image, email }) =>
        renderMember(visit, id, { userId, name, image, detail: email, isInTeam: false }),
      ),
      null,
    )}
  </section>`
}

function renderFound(
  visit: WorkspaceVisit,
  { id }: Team,
  { q, people, hasMore }: { q: string } & NonNullable<TeamPage['found']>,
): Html {
  return html`${renderRows(
    people.map(({ userId, name, image, email, teams }) =>
      renderMember(visit, id, {
        userId,
        name,
        image,
        detail: email,
        isInTeam: teams.some((team) => team.id === id),
      }),
    ),
    html`<p>No member of the workspace matches “<bdi>${q}</bdi>”.</p>`,
  )}
  ${hasMore && html`<p class="hint">More people match. Type more of the name.</p>`}`
}

function renderMember(
  visit: WorkspaceVisit,
  teamId: string,
  member: Pick<TeamMember, 'userId' | 'name' | 'image'> & { detail: Content; isInTeam: boolean },
): Html {
  const { base, may, principal, request } = visit
  const { userId, name, image, detail, isInTeam } = member
  const isSelf = userId === principal.user.id
  const path = `${base}/teams/${teamId}/members`
  const description = isSelf ? 'the team' : html`<bdi>${name}</bdi>`
  return html`<div class="row">
    ${renderFace({ id: userId, name, image }, 40)}
    <div class="grow">
      <a class="title" href="${base}/people/${userId}"><bdi>${name}</bdi></a
      >${isSelf && ' (you)'}
      <span class="hint">${detail}</span>
    </div>
    ${
      isInTeam
        ? (isSelf || may('teams.removeMember')) &&
          renderAction(request, {
            action: `${path}/${userId}/remove`,
            label: isSelf ? 'Leave' : 'Remove',
            description,
          })
        : may('teams.addMember') &&
          renderAction(request, {
            action: path,
            label: 'Add',
            description: html`<bdi>${name}</bdi>`,
            fields: { userId },
          })
    }
  </div>`
}

function renderManagement(visit: WorkspaceVisit, { id, name }: Team): Html {
  const { base, request } = visit
  const path = `${base}/teams/${id}`
  const state = stateOf(visit.state, `${path}/rename`)
  return html`<section class="card" aria-labelledby="manage">
    <h2 id="manage">Manage the team</h2>
    ${renderNameForm(request, { action: `${path}/rename`, state, name })}
    ${renderConfirmed({
      label: 'Delete team',
      description: html`<bdi>${name}</bdi>`,
      question: 'Its members stay in the workspace.',
      action: renderAction(request, {
        action: `${path}/delete`,
        label: 'Delete team',
        isDangerous: true,
      }),
    })}
  </section>`
}
