import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { MemberPerson } from '../../areas/people/people.service.ts'
import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { mayActOn } from '../../domain/roles.ts'
import { renderEvent, type EventContext } from '../views/events.views.ts'
import { renderAction, renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderRole, renderRoleOptions, renderSuspended } from '../views/roles.views.ts'
import { renderSeedRow, type DueOf } from '../seeds/lists/seed-rows.views.ts'
import { renderDate, renderTime } from '../components/words.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** What the page of a person shows besides the member. */
interface OfPerson {
  /** The seeds that they created. */
  seeds: Seed[]
  dueOf: DueOf
  events: WorkspaceEvent[]
  eventContext: EventContext
}

/** The page of a member. */
export function renderPerson(visit: WorkspaceVisit, person: MemberPerson, shown: OfPerson): Page {
  const { base, principal, request } = visit
  const { kind, userId, name, email, image, role, suspended, joinedAt } = person
  const isSelf = userId === principal.user.id
  return {
    title: name,
    section: sectionOf(visit, 'People'),
    body: html`<div class="row">
        ${renderFace({ id: userId, name, image }, 64)}
        <div class="grow">
          <h1><bdi>${name}</bdi>${isSelf && ' (you)'}</h1>
          <span class="hint"
            >${kind === 'service' ? 'Service account' : email} · joined
            ${renderDate(joinedAt.toISOString())}</span
          >
        </div>
        ${suspended && renderSuspended()} ${renderRole(role)}
        ${isSelf && html`<a class="button quiet" href="/settings/profile">Edit your profile</a>`}
      </div>
      ${renderDone(request)}
      <div class="split">
        <div>
          ${
            shown.seeds.length > 0 &&
            html`<section aria-labelledby="seeds">
              <h2 id="seeds">Latest seeds</h2>
              ${renderRows(
                shown.seeds.map((seed) => renderSeedRow(base, seed, shown)),
                null,
              )}
            </section>`
          }
          ${renderActivity(base, person, shown)}
        </div>
        <div>${renderTeams(base, person)} ${renderManagement(visit, person)}</div>
      </div>`,
  }
}

function renderActivity(
  base: string,
  { userId, name }: MemberPerson,
  { events, eventContext }: OfPerson,
): Html {
  return html`<section aria-labelledby="events">
    <h2 id="events">Recent activity</h2>
    ${renderRows(
      events.map((event) => renderEvent(event, renderTime(event.createdAt), eventContext)),
      html`<p>No activity yet.</p>`,
    )}
    ${
      events.length > 0 &&
      html`<p>
        <a href="${base}/activity?actor=${userId}">All activity of <bdi>${name}</bdi></a>
      </p>`
    }
  </section>`
}

function renderTeams(base: string, { teams }: MemberPerson): Html {
  return html`<section class="card" aria-labelledby="teams">
    <h2 id="teams">Teams</h2>
    ${
      teams.length === 0
        ? html`<p class="hint">Not in a team.</p>`
        : html`<ul class="chips">
            ${teams.map(
              ({ id, name }) =>
                html`<li>
                  <a href="${base}/teams/${id}"><bdi>${name}</bdi></a>
                </li>`,
            )}
          </ul>`
    }
  </section>`
}

/** The role of the person, and their removal, for those who may change them. */
function renderManagement(visit: WorkspaceVisit, { kind, userId, name, role }: MemberPerson): Content {
  const { base, may, principal, request, workspace } = visit
  const isSelf = userId === principal.user.id
  if (kind === 'service') {
    const path = `${base}/settings/service-accounts`
    return may('serviceAccounts.list') && html`<p><a href="${path}">Manage service accounts</a></p>`
  }
  if (!may('members.updateRole') || !(isSelf || mayActOn(workspace.role, role))) return false
  const path = `${base}/members/${userId}`
  const canTransfer = !isSelf && may('workspaces.transferOwnership')
  return html`<section class="card" aria-labelledby="role">
    <h2 id="role">Role</h2>
    ${renderForm({
      request,
      action: `${path}/role`,
      body: html`${renderRoleOptions({ actor: workspace.role, current: role })}
        ${role !== 'viewer' && html`<p class="hint">Viewers lead no seeds: those that <bdi>${name}</bdi> leads would be without a lead.</p>`}
        <button class="quiet">Change role</button>`,
    })}
    ${
      canTransfer &&
      html`<hr />
        ${renderConfirmed({
          label: 'Transfer ownership',
          description: html`to <bdi>${name}</bdi>`,
          question: html`<bdi>${name}</bdi> becomes an owner, and you become an admin.`,
          action: renderAction(request, {
            action: `${path}/transfer`,
            label: html`Make <bdi>${name}</bdi> the owner`,
            isDangerous: true,
          }),
        })}`
    }
    ${
      !isSelf &&
      html`<hr />
        ${renderConfirmed({
          label: 'Remove',
          description: html`<bdi>${name}</bdi> from the workspace`,
          question: html`<bdi>${name}</bdi> and their agents lose access to this workspace immediately. Seeds
            that they lead are then without a lead.`,
          action: renderAction(request, {
            action: `${path}/remove`,
            label: html`Remove <bdi>${name}</bdi>`,
            isDangerous: true,
          }),
        })}`
    }
  </section>`
}
