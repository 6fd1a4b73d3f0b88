import type { Services } from '../../services/services.ts'
import type { Invite } from '../../areas/invites/invites.service.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { mayGrant } from '../../kernel/roles.ts'
import { renderAction, renderField, renderForm, renderSelect } from '../components/forms.ts'
import { readField, requireRole } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import { grantable, renderRole, roleNouns } from '../views/roles.views.ts'
import { renderDate } from '../components/words.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The invites of a workspace. */
export function invitesPages(
  { page, action, creation }: WorkspacePages,
  { invites }: Pick<Services, 'invites'>,
): void {
  page('/invites', async (visit) => {
    const list = await readListView(visit.request, (position) =>
      invites.list(visit.principal, visit.workspace.slug, position),
    )
    return renderInvites(visit, list)
  })

  creation('/invites', '/invites', async ({ base, principal, request, workspace }) => {
    const email = readField(request, 'email')
    const { inviteUrl } = await invites.create(principal, workspace.slug, {
      email,
      role: requireRole(request),
    })
    return { path: `${base}/invites`, shown: { email, inviteUrl } }
  })

  creation('/invites/:id/resend', '/invites', async ({ base, principal, request, workspace }) => {
    const { inviteUrl } = await invites.resend(principal, workspace.slug, request.params.id)
    return { path: `${base}/invites`, shown: { email: readField(request, 'email'), inviteUrl } }
  })

  action('/invites/:id/revoke', '/invites', async ({ base, principal, request, workspace }) => {
    const email = await invites.revoke(principal, workspace.slug, request.params.id)
    return { path: `${base}/invites`, notice: notice`The invite to ${email} was revoked.` }
  })

  action('/invites/:id/role', '/invites', async ({ base, principal, request, workspace }) => {
    const role = requireRole(request)
    const email = await invites.updateRole(principal, workspace.slug, request.params.id, { role })
    return { path: `${base}/invites`, notice: notice`${email} is now invited as ${roleNouns[role]}.` }
  })
}

function renderInvites(visit: WorkspaceVisit, list: ListView<Invite>): Page {
  const { base, request, state, workspace } = visit
  const { email, inviteUrl } = request.flash.shown
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
          <p class="copy">
            <label class="visually-hidden" for="invite-link">Link for ${email}</label>
            <input id="invite-link" class="mono" readonly value="${inviteUrl}" data-copy />
          </p>
        </div>`
      }
      <section class="card" aria-labelledby="invite">
        <h2 id="invite">Invite people</h2>
        ${renderForm({
          request,
          action: `${base}/invites`,
          state,
          fields: ['email'],
          className: 'line',
          body: html`${renderField({
              name: 'email',
              label: 'Email address',
              type: 'email',
              autocomplete: 'off',
              maxLength: emailLengthMax,
              state,
            })}
            ${renderSelect({
              name: 'role',
              label: 'Role',
              value: state.values.role ?? 'member',
              choices: grantable(workspace.role),
            })} <button>Send invite</button>`,
        })}
      </section>
      <h2>Pending invites</h2>
      ${renderRows(
        parseJson(list.items).map((invite) => renderInvite(visit, invite)),
        html`<p>No pending invites.</p>`,
      )}
      ${renderPager(list, { path: `${base}/invites` })}`,
  }
}

function renderInvite({ base, request, workspace }: WorkspaceVisit, invite: Invite): Html {
  const { id, email, role, status, invitedByName, expiresAt } = invite
  const path = `${base}/invites/${id}`
  return html`<div class="row">
    <div class="grow">
      <strong>${email}</strong> ${status === 'expired' && html`<span class="tag warn">expired</span>`}
      <span class="hint">
        invited by <bdi>${invitedByName}</bdi> · ${status === 'expired' ? 'expired' : 'expires'} on
        ${renderDate(expiresAt)}
      </span>
    </div>
    ${
      mayGrant(workspace.role, role)
        ? html`${renderForm({
            request,
            action: `${path}/role`,
            className: 'inline',
            body: html`${renderSelect({
                name: 'role',
                id: `role-${id}`,
                label: `Role of the invite to ${email}`,
                isLabelHidden: true,
                value: role,
                choices: grantable(workspace.role),
              })}<button class="small quiet">
                Change<span class="visually-hidden"> the role for ${email}</span>
              </button>`,
          })}
          ${renderAction(request, {
            action: `${path}/resend`,
            label: 'Resend',
            description: `the invite to ${email}`,
            fields: { email },
          })}
          ${renderConfirmed({
            label: 'Revoke',
            description: `the invite to ${email}`,
            question: 'Its link stops working.',
            action: renderAction(request, {
              action: `${path}/revoke`,
              label: 'Revoke invite',
              isDangerous: true,
            }),
          })}`
        : renderRole(role)
    }
  </div>`
}
