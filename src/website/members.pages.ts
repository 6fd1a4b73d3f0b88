import type { Services } from '../services.ts'
import type { Member } from '../areas/members/members.service.ts'
import { parseJson } from '../kernel/json-text.ts'
import type { Page as ListPage } from '../kernel/pagination.ts'
import { mayActOn, mayGrant, roles } from '../kernel/roles.ts'
import { renderAction, renderForm, renderAlert, renderSelect, requireRole } from './forms.ts'
import { html, type Html } from './html.ts'
import { renderPicture } from './layout.ts'
import { renderConfirmed, renderDone, renderMore, renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { renderDate } from './words.ts'
import { renderRole } from './workspace.pages.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from './workspace-visit.ts'

/** The members of a workspace, with their roles. */
export function membersPages({ page, action }: WorkspacePages, { members }: Pick<Services, 'members'>): void {
  const show = async (visit: WorkspaceVisit): Promise<Page> => {
    const { cursor } = visit.request.query
    const list = await members.list(visit.principal, visit.workspace.slug, {
      ...(cursor !== undefined && { cursor }),
    })
    return renderMembers(visit, list)
  }

  page('/members', show)

  action('/members/:userId/role', '/members', async ({ principal, request, workspace, base }) => {
    await members.updateRole(principal, workspace.slug, request.params.userId, { role: requireRole(request) })
    return `${base}/members?done=saved`
  })

  action('/members/:userId/remove', '/members', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    await members.remove(principal, workspace.slug, userId)
    return userId === principal.user.id ? '/' : `${base}/members?done=removed`
  })
}

function renderMembers(visit: WorkspaceVisit, { items, nextCursor }: ListPage<Member>): Page {
  const { base, may, request, state } = visit
  return {
    title: 'Members',
    section: sectionOf(visit, 'Members'),
    body: html`<h1>Members</h1>
      ${renderDone(request)} ${state.error && renderAlert(state.error)}
      ${may('invites.create') && html`<p><a class="button" href="${base}/invites">Invite people</a></p>`}
      ${renderRows(
        parseJson(items).map((member) => renderMember(visit, member)),
        html`<p>No members.</p>`,
      )}
      ${renderMore(`${base}/members`, nextCursor)}`,
  }
}

function renderMember(visit: WorkspaceVisit, member: Member): Html {
  const { base, may, principal, request, workspace } = visit
  const { userId, name, email, image, role, joinedAt } = member
  const isSelf = userId === principal.user.id
  const mayChange = may('members.updateRole') && (isSelf || mayActOn(workspace.role, role))
  const path = `${base}/members/${userId}`
  return html`<div class="row">
    ${renderPicture(image, name, 40)}
    <div class="grow">
      <strong><bdi>${name}</bdi></strong
      >${isSelf && ' (you)'}
      <span class="hint">${email} · joined ${renderDate(joinedAt)}</span>
    </div>
    ${
      mayChange
        ? renderForm({
            request,
            action: `${path}/role`,
            className: 'inline',
            body: html`${renderSelect({
                name: 'role',
                id: `role-${userId}`,
                label: html`Role of <bdi>${name}</bdi>`,
                isLabelHidden: true,
                value: role,
                choices: grantable(workspace.role),
              })}<button class="small quiet">
                Change<span class="visually-hidden"> the role of <bdi>${name}</bdi></span>
              </button>`,
          })
        : renderRole(role)
    }
    ${
      isSelf
        ? renderConfirmed({
            label: 'Leave',
            description: html`<bdi>${workspace.name}</bdi>`,
            question: 'You and your agents lose access to this workspace immediately.',
            action: renderAction(request, {
              action: `${path}/remove`,
              label: 'Leave workspace',
              isDangerous: true,
            }),
          })
        : mayChange &&
          renderConfirmed({
            label: 'Remove',
            description: html`<bdi>${name}</bdi>`,
            question: html`<bdi>${name}</bdi> and their agents lose access to this workspace immediately.`,
            action: renderAction(request, {
              action: `${path}/remove`,
              label: html`Remove <bdi>${name}</bdi>`,
              isDangerous: true,
            }),
          })
    }
  </div>`
}

/** The roles that a member may grant, lowest first, so that the default grants the least. */
export function grantable(role: Member['role']): { value: string; label: string }[] {
  return roles
    .filter((candidate) => mayGrant(role, candidate))
    .toReversed()
    .map((value) => ({ value, label: value }))
}
