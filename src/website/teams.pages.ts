import type { Services } from '../services.ts'
import type { Member } from '../areas/members/members.service.ts'
import type { Team, TeamMember } from '../areas/teams/teams.service.ts'
import { parseJson } from '../kernel/json-text.ts'
import { pageLimitMax, type Page as ListPage } from '../kernel/pagination.ts'
import { labelLengthMax } from '../kernel/text.ts'
import { readField, renderAction, renderAlert, renderField, renderForm, renderSelect } from './forms.ts'
import { html } from './html.ts'
import { renderPicture } from './layout.ts'
import { renderConfirmed, renderDone, renderMore, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { countOf, renderDate } from './words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from './workspace-visit.ts'

/** The teams of a workspace and their members. */
export function teamsPages(
  { page, action, creation }: WorkspacePages,
  { members, teams }: Pick<Services, 'members' | 'teams'>,
): void {
  const showTeams = async (visit: WorkspaceVisit): Promise<Page> => {
    const { cursor } = visit.request.query
    return renderTeams(
      visit,
      await teams.list(visit.principal, visit.workspace.slug, { ...(cursor !== undefined && { cursor }) }),
    )
  }

  const showTeam = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const path = { slug: workspace.slug, teamId: request.params.id }
    const { cursor } = request.query
    const [team, inTeam, inWorkspace] = await Promise.all([
      teams.get(principal, path),
      teams.listMembers(principal, path, { ...(cursor !== undefined && { cursor }) }),
      members.list(principal, workspace.slug, { limit: pageLimitMax }),
    ])
    return renderTeam(visit, { team, inTeam, inWorkspace: parseJson(inWorkspace.items) })
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
    return `${visit.base}/teams/${visit.request.params.id}?done=saved`
  })

  action('/teams/:id/delete', '/teams/:id', async (visit) => {
    await teams.delete(visit.principal, pathOf(visit))
    return `${visit.base}/teams?done=deleted`
  })

  action('/teams/:id/members', '/teams/:id', async (visit) => {
    await teams.addMember(visit.principal, pathOf(visit), { userId: readField(visit.request, 'userId') })
    return `${visit.base}/teams/${visit.request.params.id}?done=added`
  })

  action('/teams/:id/members/:userId/remove', '/teams/:id', async (visit) => {
    const { base, principal, request } = visit
    const { id, userId } = request.params
    await teams.removeMember(principal, pathOf(visit), userId)
    return `${base}/teams/${id}?done=${userId === principal.user.id ? 'left' : 'removed'}`
  })
}

function renderTeams(visit: WorkspaceVisit, { items, nextCursor }: ListPage<Team>): Page {
  const { base, may, request, state } = visit
  return {
    title: 'Teams',
    section: sectionOf(visit, 'Teams'),
    body: html`<h1>Teams</h1>
      ${renderDone(request)}
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
      ${renderRows(
        parseJson(items).map(
          ({ id, name, memberCount, createdAt }) =>
            html`<div class="row">
              <div class="grow">
                <a href="${base}/teams/${id}"
                  ><strong><bdi>${name}</bdi></strong></a
                >
                <span class="hint">${countOf(memberCount, 'member')} · since ${renderDate(createdAt)}</span>
              </div>
            </div>`,
        ),
        html`<p>No teams yet. A team is a named group of members.</p>`,
      )}
      ${renderMore(`${base}/teams`, nextCursor)}`,
  }
}

function renderTeam(
  visit: WorkspaceVisit,
  { team, inTeam, inWorkspace }: { team: Team; inTeam: ListPage<TeamMember>; inWorkspace: Member[] },
): Page {
  const { base, may, principal, request, state } = visit
  const path = `${base}/teams/${team.id}`
  const teamMembers = parseJson(inTeam.items)
  const isIn = new Set(teamMembers.map(({ userId }) => userId))
  const others = inWorkspace.filter(({ userId }) => !isIn.has(userId))
  const isAboutName = state.values.name !== undefined
  return {
    title: team.name,
    section: sectionOf(visit, 'Teams'),
    body: html`<p><a href="${base}/teams">All teams</a></p>
      <h1><bdi>${team.name}</bdi></h1>
      ${renderDone(request)} ${state.error && !isAboutName && renderAlert(state.error)}
      ${renderRows(
        teamMembers.map(({ userId, name, image, addedAt }) => {
          const isSelf = userId === principal.user.id
          return html`<div class="row">
            ${renderPicture(image, name, 40)}
            <div class="grow">
              <strong><bdi>${name}</bdi></strong
              >${isSelf && ' (you)'}
              <span class="hint">added ${renderDate(addedAt)}</span>
            </div>
            ${
              (isSelf || may('teams.removeMember')) &&
              renderAction(request, {
                action: `${path}/members/${userId}/remove`,
                label: isSelf ? 'Leave' : 'Remove',
                description: isSelf ? 'the team' : name,
              })
            }
          </div>`
        }),
        html`<p>No members yet.</p>`,
      )}
      ${renderMore(path, inTeam.nextCursor)}
      ${
        may('teams.addMember') &&
        others.length > 0 &&
        renderForm({
          request,
          action: `${path}/members`,
          className: 'line',
          body: html`${renderSelect({
              name: 'userId',
              label: 'Add a member',
              value: '',
              choices: others.map(({ userId, name, email }) => ({
                value: userId,
                label: `${name} (${email})`,
              })),
            })}<button>Add</button>`,
        })
      }
      ${
        may('teams.rename') &&
        html`<section class="card" aria-labelledby="rename">
            <h2 id="rename">Rename</h2>
            ${renderForm({
              request,
              action: `${path}/rename`,
              ...(isAboutName && { state }),
              fields: ['name'],
              className: 'line',
              body: html`${renderField({
                  name: 'name',
                  label: 'Name',
                  value: team.name,
                  maxLength: labelLengthMax,
                  autocomplete: 'off',
                  state,
                })}<button>Save</button>`,
            })}
          </section>
          ${renderConfirmed({
            label: 'Delete team',
            description: team.name,
            question: 'Its members stay in the workspace.',
            action: renderAction(request, {
              action: `${path}/delete`,
              label: 'Delete team',
              isDangerous: true,
            }),
          })}`
      }`,
  }
}
