import type { Role } from '../kernel/roles.ts'

const everybody = ['owner', 'admin', 'member', 'viewer'] as const
const managers = ['owner', 'admin'] as const

/** Who may do what in a workspace: the one table that decides, a row for each operation on a workspace. */
export const permissions = {
  'workspaces.get': everybody,
  'workspaces.slugAvailability': everybody,
  'workspaces.update': managers,
  'workspaces.uploadIcon': managers,
} as const satisfies Record<string, readonly Role[]>

/** The id of an operation that happens in a workspace. */
export type WorkspaceAction = keyof typeof permissions

/** Whether a role suffices for an operation. */
export function isAllowed(role: Role, action: WorkspaceAction): boolean {
  return (permissions[action] as readonly Role[]).includes(role)
}
