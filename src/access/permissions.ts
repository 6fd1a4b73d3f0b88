import type { Role } from '../domain/roles.ts'

const everybody = ['owner', 'admin', 'member', 'viewer'] as const
const owners = ['owner'] as const
const managers = ['owner', 'admin'] as const
const writers = ['owner', 'admin', 'member'] as const

/** The permission table: the roles that may run each operation of a workspace. */
export const permissions = {
  'workspaces.get': everybody,
  'workspaces.slugAvailability': everybody,
  'workspaces.update': managers,
  'workspaces.uploadIcon': managers,
  'workspaces.removeIcon': managers,
  'workspaces.transferOwnership': owners,
  'workspaces.delete': owners,
  'workspaces.agentPolicy': owners,
  'workspaces.updateAgentPolicy': owners,
  'workspaces.export': owners,
  'workspaces.search': everybody,
  'workspaces.searchCounts': everybody,
  'members.list': everybody,
  'members.get': everybody,
  'members.updateRole': managers,
  /** Of another person, whose role must be lower too. */
  'members.remove': managers,
  /** Of the caller. */
  'members.leave': everybody,
  'invites.list': managers,
  'invites.getById': managers,
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
  'labels.list': everybody,
  'labels.get': everybody,
  'labels.create': writers,
  'labels.update': writers,
  'labels.delete': managers,
  'savedFilters.list': everybody,
  'savedFilters.get': everybody,
  /** Of the caller alone. */
  'savedFilters.create': everybody,
  /** The caller's own. */
  'savedFilters.update': everybody,
  /** The caller's own. */
  'savedFilters.delete': everybody,
  /** Sharing the caller's own with the workspace, and changing and deleting them then. */
  'savedFilters.share': writers,
  /** Changing and deleting shared ones of another person, and of the workspace. */
  'savedFilters.changeShared': managers,
  'events.list': everybody,
  'events.get': everybody,
  'events.changes': everybody,
  'events.stream': everybody,
  'people.list': everybody,
  'apiKeys.listOfWorkspace': managers,
  'webhooks.list': managers,
  'webhooks.get': managers,
  'webhooks.create': managers,
  'webhooks.update': managers,
  'webhooks.resume': managers,
  'webhooks.delete': managers,
  'webhooks.rotateSecret': managers,
  'webhooks.test': managers,
  'webhooks.sample': managers,
  'webhooks.listDeliveries': managers,
  'webhooks.redeliver': managers,
  'webhooks.redeliverSince': managers,
  'serviceAccounts.list': managers,
  'serviceAccounts.get': managers,
  'serviceAccounts.create': managers,
  'serviceAccounts.update': managers,
  'serviceAccounts.delete': managers,
  'serviceAccounts.listKeys': managers,
  'serviceAccounts.createKey': managers,
  'serviceAccounts.rotateKey': managers,
  'serviceAccounts.revokeKey': managers,
  'serviceAccounts.listClients': managers,
  'serviceAccounts.createClient': managers,
  'serviceAccounts.rotateClient': managers,
  'serviceAccounts.revokeClient': managers,
  /** On the website. */
  'serviceAccounts.prolongClient': managers,
  'seeds.list': everybody,
  'seeds.count': everybody,
  'seeds.create': writers,
  'seeds.get': everybody,
  'seeds.update': writers,
  /** The caller's own, while nobody else added to it. */
  'seeds.delete': writers,
  'seeds.restore': writers,
  /** Of another person, or that others added to: deleting and restoring it. */
  'seeds.deleteOthers': managers,
  'seeds.import': writers,
  'seeds.importStatus': everybody,
  /** The caller's own. */
  'seeds.undoImport': writers,
  /** Of another person. */
  'seeds.undoImportOthers': managers,
  'seeds.exportCsv': everybody,
  'seeds.exportEvidenceCsv': everybody,
  'seeds.similar': everybody,
  /** Of two seeds that the caller leads. */
  'seeds.merge': writers,
  'seeds.unmerge': writers,
  /** Of seeds that others lead too. */
  'seeds.mergeOthers': managers,
  'seeds.follow': everybody,
  'seeds.unfollow': everybody,
  'seeds.join': writers,
  'seeds.leave': writers,
  'seeds.invitePerson': writers,
  'seeds.listParticipants': everybody,
  'seeds.listEvidence': everybody,
  'seeds.addEvidence': writers,
  'evidence.get': everybody,
  /** The caller's own. */
  'evidence.update': writers,
  /** The caller's own. */
  'evidence.withdraw': writers,
  /** Of another person. */
  'evidence.withdrawOthers': managers,
  'evidence.see': writers,
  'evidence.unsee': writers,
  'comments.list': everybody,
  'comments.listOfWorkspace': everybody,
  'comments.get': everybody,
  'comments.create': writers,
  /** The caller's own. */
  'comments.update': writers,
  /** The caller's own. */
  'comments.delete': writers,
  /** Of another person. */
  'comments.deleteOthers': managers,
  'attachments.create': writers,
  'attachments.get': everybody,
  'attachments.content': everybody,
  'attachments.link': everybody,
  /** The caller's own, while nothing uses it. */
  'attachments.delete': writers,
  /** Of another person, or in use. */
  'attachments.deleteOthers': managers,
  'agentRequests.list': everybody,
  'agentRequests.get': everybody,
  /** The caller's own. */
  'agentRequests.cancel': everybody,
  /** Of another person. */
  'agentRequests.cancelOthers': managers,
  'agentRequests.askable': writers,
  /** The caller's own. */
  'integrations.list': everybody,
  /** One that the caller lists. */
  'integrations.get': everybody,
  /** Of all people. */
  'integrations.listAll': managers,
  /** The caller's own. */
  'integrations.revoke': everybody,
  /** Of the grants that the caller lists. */
  'integrations.listCalls': everybody,
  /** The caller's own, on the website. */
  'integrations.updateScopes': everybody,
  /** The caller's own, on the website. */
  'integrations.updateAsking': everybody,
  /** The caller's own, on the website. */
  'integrations.prolong': everybody,
  /** On the website, for the caller. */
  'integrations.grant': everybody,
  /** The caller's own, on the website. */
  'integrations.allowAgain': everybody,
  /** Of all people. */
  'integrations.revokeAny': managers,
} as const satisfies Record<string, readonly Role[]>

/** The id of an operation of a workspace. */
export type WorkspaceAction = keyof typeof permissions

/**
 * What service accounts may not do in their workspace, whatever their role: what concerns the workspace as a whole, and saying
 * what a person saw.
 */
const ofPeopleOnly: readonly WorkspaceAction[] = [
  'workspaces.delete',
  'workspaces.transferOwnership',
  'workspaces.export',
  'workspaces.agentPolicy',
  'workspaces.updateAgentPolicy',
  'evidence.see',
  'evidence.unsee',
]

/** Whether an operation is for people, and not for service accounts. */
export function isOfPeopleOnly(action: WorkspaceAction): boolean {
  return ofPeopleOnly.includes(action)
}

/** Whether a role may run an operation. */
export function isAllowed(role: Role, action: WorkspaceAction): boolean {
  return (permissions[action] as readonly Role[]).includes(role)
}
