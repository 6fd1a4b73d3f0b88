import type { Services } from '../../services.ts'
import { requireRole } from '../shared/forms.ts'
import type { WorkspacePages } from './workspace-visit.ts'

/** The forms that change and remove members. They are on the pages of people, and on that of the settings. */
export function membersPages({ action }: WorkspacePages, { members }: Pick<Services, 'members'>): void {
  action('/members/:userId/role', '/people/:userId', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    await members.updateRole(principal, workspace.slug, userId, { role: requireRole(request) })
    return `${base}/people/${userId}?done=saved`
  })

  action('/members/:userId/remove', '/people/:userId', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    await members.remove(principal, workspace.slug, userId)
    return userId === principal.user.id ? '/' : `${base}/people?done=removed`
  })
}
