import type { Services } from '../../services/services.ts'
import type { Person } from '../../areas/people/people.service.ts'
import type { Seed } from '../../areas/seeds/seeds.service.ts'
import type { SeedsRequest } from '../../areas/seeds/seed-lists.ts'
import type { Team } from '../../areas/teams/teams.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import { renderField, renderForm } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import { renderRows } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import {
  readListView,
  renderCount,
  renderNotices,
  renderPager,
  resetNotice,
  type ListView,
} from '../components/pager.ts'
import { readSearch } from '../views/search-form.views.ts'
import { renderTeam } from './team.views.ts'
import { countOf, renderDate } from '../components/words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const foundMax = 20
const seedsMax = 5
/** A workspace with more members is searched for people to add. */
const smallMax = 50

/** The teams of a workspace and their members. */
export function teamsPages(
  { page, action, creation }: WorkspacePages,
  { people, seeds, teams }: Pick<Services, 'people' | 'seeds' | 'teams'>,
): void {
  const showTeams = async (visit: WorkspaceVisit): Promise<Page> => {
    const list = await readListView(visit.request, (position) =>
      teams.list(visit.principal, visit.workspace.slug, position),
    )
    return renderTeams(visit, list)
  }

  const showTeam = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const path = pathOf(visit)
    const q = readSearch(request)
    const search = async () => {
      const found = await people.list(principal, workspace.slug, { q, kind: 'member', limit: foundMax })
      return { people: parseJson(found.items).filter(isMember), hasMore: found.nextCursor !== null }
    }
    const listAll = async () => {
      const all = await people.list(principal, workspace.slug, { kind: 'member', limit: smallMax })
      return all.nextCursor === null ? parseJson(all.items).filter(isMember) : []
    }
    const list = async (filter: Pick<SeedsRequest, 'due' | 'sort'>) => {
      const { items } = await seeds.list(principal, workspace.slug, {
        ...{ teamId: path.teamId, limit: seedsMax },
        ...filter,
      })
      return parseJson(items)
    }
    const [team, overdue, due, recent, inTeam, found, all] = await Promise.all([
      teams.get(principal, path),
      list({ due: 'overdue', sort: 'decideBy' }),
      list({ due: 'week', sort: 'decideBy' }),
      list({ sort: 'activityAt' }),
      readListView(request, (position) => teams.listMembers(principal, path, position)),
      q === '' ? undefined : search(),
      q === '' && visit.may('teams.addMember') ? listAll() : [],
    ])
    const others = all.filter(({ teams: ofPerson }) => !ofPerson.some(({ id }) => id === team.id))
    const ofTeam = { due: [...overdue, ...due], recent, dueOf: (seed: Seed) => seeds.dueOf(seed) }
    return renderTeam(visit, { team, seeds: ofTeam, inTeam, q, found, others })
  }

  const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
    slug: workspace.slug,
    teamId: request.params.id,
  })

  page('/teams', showTeams)

  creation('/teams', '/teams', async ({ base, principal, request, workspace }) => {
    const name = readField(request, 'name')
    const { id } = await teams.create(principal, workspace.slug, { name })
    return `${base}/teams/${id}`
  })

  page('/teams/:id', showTeam)

  action('/teams/:id/rename', '/teams/:id', async (visit) => {
    const name = readField(visit.request, 'name')
    await teams.rename(visit.principal, pathOf(visit), { name })
    return { path: `${visit.base}/teams/${visit.request.params.id}`, notice: notice`Saved.` }
  })

  action('/teams/:id/delete', '/teams/:id', async (visit) => {
    const name = await teams.delete(visit.principal, pathOf(visit))
    return { path: `${visit.base}/teams`, notice: notice`“${name}” was deleted.` }
  })

  action('/teams/:id/members', '/teams/:id', async (visit) => {
    const { base, principal, request } = visit
    const userId = readField(request, 'userId')
    const name = await teams.addMember(principal, pathOf(visit), { userId })
    return {
      path: `${base}/teams/${request.params.id}`,
      notice:
        userId === principal.user.id ? notice`You joined the team.` : notice`${name} was added to the team.`,
    }
  })

  action('/teams/:id/members/:userId/remove', '/teams/:id', async (visit) => {
    const { base, principal, request } = visit
    const { id, userId } = request.params
    const name = await teams.removeMember(principal, pathOf(visit), userId)
    return {
      path: `${base}/teams/${id}`,
      notice:
        userId === principal.user.id
          ? notice`You left the team.`
          : notice`${name} was removed from the team.`,
    }
  })
}

function isMember(person: Person): person is Person & { userId: string } {
  return person.userId !== null
}

function renderTeams(visit: WorkspaceVisit, list: ListView<Team>): Page {
  const { base, may, request, state } = visit
  const teams = parseJson(list.items)
  return {
    title: 'Teams',
    section: sectionOf(visit, 'Teams'),
    body: html`<h1>Teams</h1>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])}
      ${
        may('teams.create') &&
        renderForm({
          request,
          action: `${base}/teams`,
          state,
          fields: ['name'],
          className: 'line',
          body: html`${renderField({
              name: 'name',
              label: 'Team name',
              maxLength: labelLengthMax,
              autocomplete: 'off',
              state,
            })}<button>Create team</button>`,
        })
      }
      ${renderCount(list, teams.length, ['team', 'teams'])}
      ${renderRows(
        teams.map(
          ({ id, name, memberCount, createdAt }) =>
            html`<div class="row">
              <div class="grow">
                <a class="title" href="${base}/teams/${id}"><bdi>${name}</bdi></a>
                <span class="hint"
                  >${memberCount === 0 ? 'No members yet' : countOf(memberCount, 'member')} · created
                  ${renderDate(createdAt)}</span
                >
              </div>
            </div>`,
        ),
        html`<p>No teams yet. A team is a named group of members.</p>`,
      )}
      ${renderPager(list, { path: `${base}/teams` })}`,
  }
}
