import type { Invite } from '../../areas/invites/invites.service.ts'
import type { Team } from '../../areas/teams/teams.service.ts'
import { inviteTeamsMax } from '../../kernel/invites.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { mayGrant, type Role } from '../../domain/roles.ts'
import { renderField, renderForm, renderSelect } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { renderRows } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { renderCount, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { renderDate } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { grantable, renderRole } from '../views/roles.views.ts'
import { teamFieldOf, type InviteOutcome } from './invite-each.ts'

/** The open invites of a workspace, and the form that invites people. */
export function renderInvites(visit: WorkspaceVisit, list: ListView<Invite>, teams: readonly Team[]): Page {
  const { base, request } = visit
  const { email, inviteUrl, outcomes } = request.flash.shown
  const shown = outcomes === undefined ? [] : (JSON.parse(outcomes) as InviteOutcome[])
  const invites = parseJson(list.items)
  const { correct } = request.query as Record<string, unknown>
  const corrected = invites.find(({ id, delivery }) => id === correct && delivery === 'refused')
  return {
    title: 'Invites',
    section: sectionOf(visit, 'Invites'),
    body: html`<h1>Invites</h1>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])}
      ${
        inviteUrl !== undefined &&
        html`<div class="notice" role="status">
          <p>
            Invite sent to ${email}. You can also share this link. It works only for that email address and is
            not shown again.
          </p>
          ${renderLink(String(email), inviteUrl)}
        </div>`
      }
      ${shown.length > 0 && renderOutcomes(shown)} ${renderInviteForm(visit, teams, shown, corrected)}
      <h2>Pending invites</h2>
      ${renderCount(list, invites.length, ['invite', 'invites'])}
      ${renderForm({
        request,
        action: `${base}/invites`,
        className: 'whole',
        body: renderRows(
          invites.map((invite) => renderInvite(visit, invite)),
          html`<p>No pending invites.</p>`,
        ),
      })}
      ${renderPager(list, { path: `${base}/invites` })}`,
  }
}

function renderLink(email: string, inviteUrl: string, id = 'invite-link'): Html {
  return html`<p class="copy">
    <label class="visually-hidden" for="${id}">Link for ${email}</label>
    <input id="${id}" class="mono" readonly value="${inviteUrl}" data-copy />
  </p>`
}

/** What happened to each of several addresses. */
function renderOutcomes(outcomes: readonly InviteOutcome[]): Html {
  const invited = outcomes.filter(({ inviteUrl }) => inviteUrl !== undefined)
  return html`<section class="card" aria-labelledby="outcomes">
    <h2 id="outcomes">
      <span role="status">${invited.length} of ${outcomes.length} addresses invited</span>
    </h2>
    ${invited.length > 0 && html`<p class="hint">The links are not shown again. Each works only for its address.</p>`}
    ${renderRows(
      outcomes.map(
        ({ email, text, inviteUrl }, i) =>
          html`<div class="row">
            <div class="grow"><strong>${email}</strong> <span class="hint">${text}</span></div>
            ${inviteUrl !== undefined && renderLink(email, inviteUrl, `invite-link-${i}`)}
          </div>`,
      ),
      null,
    )}
  </section>`
}

function renderInviteForm(
  { base, request, state, workspace }: WorkspaceVisit,
  teams: readonly Team[],
  outcomes: readonly InviteOutcome[],
  corrected: Invite | undefined,
): Html {
  const again = outcomes.filter(({ isOpen }) => isOpen).map(({ email }) => email)
  const isChosen = ({ id }: Team) => state.values[teamFieldOf(id)] !== undefined
  return html`<section class="card" aria-labelledby="invite">
    <h2 id="invite">Invite people</h2>
    ${renderForm({
      request,
      action: `${base}/invites`,
      state,
      fields: ['email'],
      body: html`${renderField({
          name: 'email',
          label: 'Email addresses',
          rows: 3,
          autocomplete: 'off',
          hint: corrected
            ? 'Correct the address. The invite to the wrong one stays until you revoke it.'
            : 'Separate several with commas, spaces or lines.',
          value: corrected?.email ?? again.join('\n'),
          state,
        })}
        ${renderSelect({
          name: 'role',
          label: 'Role',
          value: state.values.role ?? corrected?.role ?? 'member',
          choices: grantable(workspace.role),
        })}
        ${
          teams.length > 0 &&
          html`<details class="reveal" ${teams.some(isChosen) && html`open`}>
            <summary>Add them to teams</summary>
            <fieldset class="choices">
              <legend>Teams that they join, at most ${inviteTeamsMax}</legend>
              ${teams.map(
                (team) =>
                  html`<label class="choice"
                    ><input
                      type="checkbox"
                      name="${teamFieldOf(team.id)}"
                      ${isChosen(team) && html`checked`}
                    />
                    <bdi>${team.name}</bdi></label
                  >`,
              )}
            </fieldset>
          </details>`
        } <button>Send invites</button>`,
    })}
  </section>`
}

/** A row of the list, which is one form: each button of the menu has its own address. */
function renderInvite({ base, workspace }: WorkspaceVisit, invite: Invite): Html {
  const { id, email, role, status, invitedByName, expiresAt, delivery } = invite
  const path = `${base}/invites/${id}`
  const isExpired = status === 'expired'
  const isRefused = delivery === 'refused'
  const tags = [isExpired && 'expired', isRefused && 'not delivered'].filter((tag) => tag !== false)
  const hint = html`by <bdi>${invitedByName}</bdi> · ${isExpired ? 'expired' : 'expires'}
    ${renderDate(expiresAt)}`
  const text = html`<strong>${email}</strong>
    ${tags.map((tag) => html`<span class="tag warn">${tag}</span> `)}`
  return html`<div class="row">
    <div class="grow">
      ${text}<span class="hint">${hint}</span>${isRefused && renderUndeliverable(base, id)}
    </div>
    ${renderRole(role)}${mayGrant(workspace.role, role) && renderMenu(path, invite, workspace.role)}
  </div>`
}

/** What to do about an address that does not exist. */
function renderUndeliverable(base: string, id: string): Html {
  return html`<p class="hint">
    Its mail server says that there is no such address.
    <a href="${base}/invites?correct=${id}#invite">Correct the address</a>, or send it again once it exists.
  </p>`
}

function renderMenu(path: string, { email, role }: Invite, actor: Role): Html {
  const others = grantable(actor).filter(({ value }) => value !== role)
  const buttons = [
    ...others.map(
      ({ value }) =>
        html`<button formaction="${path}/role" name="role" value="${value}">Invite as ${value}</button>`,
    ),
    html`<button formaction="${path}/resend">Send again</button>`,
    html`<button formaction="${path}/revoke">Revoke</button>`,
  ]
  return html`<details class="menu" name="menu">
    <summary aria-label="Manage the invite to ${email}">⋯</summary>
    <div class="panel">${buttons}</div>
  </details>`
}
