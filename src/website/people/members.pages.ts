import type { Services } from '../../services/services.ts'
import { requireRole } from '../components/sent-form.ts'
import { notice } from '../components/notice.ts'
import { roleNouns } from '../views/roles.views.ts'
import type { WorkspacePages } from '../plugins/workspace-visit.ts'

/** The forms that change and remove members. They are on the pages of people, and on that of the settings. */
export function membersPages({ action }: WorkspacePages, { members }: Pick<Services, 'members'>): void {
  action('/members/:userId/role', '/people/:userId', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    const role = requireRole(request)
    const name = await members.updateRole(principal, workspace.slug, userId, { role })
    const isSelf = userId === principal.user.id
    return {
      path: `${base}/people/${userId}`,
      notice: isSelf ? notice`You are now ${roleNouns[role]}.` : notice`${name} is now ${roleNouns[role]}.`,
    }
  })

  action('/members/:userId/remove', '/people/:userId', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    const name = await members.remove(principal, workspace.slug, userId)
    if (userId === principal.user.id) return '/'
    return { path: `${base}/people`, notice: notice`${name} was removed from the workspace.` }
  })
}
