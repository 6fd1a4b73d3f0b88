import type { Role } from '../kernel/roles.ts'

const everybody = ['owner', 'admin', 'member', 'viewer'] as const
const managers = ['owner', 'admin'] as const
const writers = ['owner', 'admin', 'member'] as const

/** Who may do what in a workspace: the one table that decides, a row for each operation on a workspace. */
export const permissions = {
  'workspaces.get': everybody,
  'workspaces.slugAvailability': everybody,
  'workspaces.update': managers,
  'workspaces.uploadIcon': managers,
  'members.list': everybody,
  'members.updateRole': managers,
  /** Somebody else; whose role must be below as well. */
  'members.remove': managers,
  /** Oneself. */
  'members.leave': everybody,
  'invites.list': managers,
  'invites.create': managers,
  'invites.resend': managers,
  'invites.revoke': managers,
  'invites.updateRole': managers,
  'teams.list': everybody,
  'teams.create': managers,
  'teams.rename': managers,
  'teams.delete': managers,
  'teams.listMembers': everybody,
  'teams.addMember': managers,
  /** Somebody else. */
  'teams.removeMember': managers,
  /** Oneself. */
  'teams.leave': everybody,
  'events.list': everybody,
  'people.list': everybody,
  'seeds.list': everybody,
  'seeds.create': writers,
  'seeds.get': everybody,
  'seeds.update': writers,
  'seeds.join': writers,
  'seeds.leave': writers,
  'seeds.listEvidence': everybody,
  'seeds.addEvidence': writers,
  /** One's own. */
  'integrations.list': everybody,
  /** Everybody's. */
  'integrations.listAll': managers,
  /** One's own. */
  'integrations.revoke': everybody,
  /** On the website, for oneself. */
  'integrations.grant': everybody,
  /** Everybody's. */
  'integrations.revokeAny': managers,
} as const satisfies Record<string, readonly Role[]>

/** The id of an operation that happens in a workspace. */
export type WorkspaceAction = keyof typeof permissions

/** Whether a role suffices for an operation. */
export function isAllowed(role: Role, action: WorkspaceAction): boolean {
  return (permissions[action] as readonly Role[]).includes(role)
}
