import type { Role } from '../kernel/roles.ts'

const everybody = ['owner', 'admin', 'member', 'viewer'] as const
const managers = ['owner', 'admin'] as const
const writers = ['owner', 'admin', 'member'] as const

/** The permission table: the roles that may run each operation of a workspace. */
export const permissions = {
  'workspaces.get': everybody,
  'workspaces.slugAvailability': everybody,
  'workspaces.update': managers,
  'workspaces.uploadIcon': managers,
  'members.list': everybody,
  'members.updateRole': managers,
  /** Of another person, whose role must be lower too. */
  'members.remove': managers,
  /** Of the caller. */
  'members.leave': everybody,
  'invites.list': managers,
  'invites.create': managers,
  'invites.resend': managers,
  'invites.revoke': managers,
  'invites.updateRole': managers,
  'teams.list': everybody,
  'teams.get': everybody,
  'teams.create': managers,
  'teams.rename': managers,
  'teams.delete': managers,
  'teams.listMembers': everybody,
  'teams.addMember': managers,
  /** Of another person. */
  'teams.removeMember': managers,
  /** Of the caller. */
  'teams.leave': everybody,
  'events.list': everybody,
  'events.get': everybody,
  'people.list': everybody,
  'seeds.list': everybody,
  'seeds.create': writers,
  'seeds.get': everybody,
  'seeds.update': writers,
  'seeds.join': writers,
  'seeds.leave': writers,
  'seeds.listParticipants': everybody,
  'seeds.listEvidence': everybody,
  'seeds.addEvidence': writers,
  /** The caller's own. */
  'integrations.list': everybody,
  /** Of all people. */
  'integrations.listAll': managers,
  /** The caller's own. */
  'integrations.revoke': everybody,
  /** The caller's own, on the website. */
  'integrations.updateScopes': everybody,
  /** On the website, for the caller. */
  'integrations.grant': everybody,
  /** Of all people. */
  'integrations.revokeAny': managers,
} as const satisfies Record<string, readonly Role[]>

/** The id of an operation of a workspace. */
export type WorkspaceAction = keyof typeof permissions

/** Whether a role may run an operation. */
export function isAllowed(role: Role, action: WorkspaceAction): boolean {
  return (permissions[action] as readonly Role[]).includes(role)
}
