import type { Services } from '../../services/services.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { notice } from '../components/notice.ts'
import { readListView } from '../components/pager.ts'
import { readText, requireRole } from '../components/sent-form.ts'
import type { WorkspacePages } from '../plugins/workspace-visit.ts'
import { roleNouns } from '../views/roles.views.ts'
import { inviteEach, readAddresses, readTeamIds } from './invite-each.ts'
import { renderInvites } from './invites.views.ts'

/** The invites of a workspace. */
export function invitesPages(
  { page, action, creation }: WorkspacePages,
  { invites, teams }: Pick<Services, 'invites' | 'teams'>,
): void {
  page('/invites', async (visit) => {
    const { may, principal, request, workspace } = visit
    const { slug } = workspace
    const [list, ofTeams] = await Promise.all([
      readListView(request, (position) => invites.list(principal, slug, position)),
      // Without the permission, the other one throws.
      may('invites.list') ? teams.list(principal, slug, {}) : undefined,
    ])
    return renderInvites(visit, list, ofTeams ? parseJson(ofTeams.items) : [])
  })

  creation('/invites', '/invites', async (visit) => {
    const { base, principal, request, workspace } = visit
    const input = { role: requireRole(request), teamIds: readTeamIds(request) }
    const [email = '', ...others] = readAddresses(readText(request, 'email'))
    const create = (address: string) =>
      invites.create(principal, workspace.slug, { ...input, email: address })
    if (others.length === 0) {
      const { inviteUrl } = await create(email)
      return { path: `${base}/invites`, shown: { email, inviteUrl } }
    }
    const outcomes = await inviteEach([email, ...others], create)
    return { path: `${base}/invites`, shown: { outcomes: JSON.stringify(outcomes) } }
  })

  creation('/invites/:id/resend', '/invites', async ({ base, principal, request, workspace }) => {
    const { email, inviteUrl } = await invites.resend(principal, workspace.slug, request.params.id)
    return { path: `${base}/invites`, shown: { email, inviteUrl } }
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
