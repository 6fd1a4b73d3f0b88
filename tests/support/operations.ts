import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import {
  callRows,
  commentRows,
  eventRows,
  evidenceRows,
  grantRows,
  deliveryRows,
  inviteRows,
  keyRows,
  labelRows,
  filterRows,
  memberRows,
  offerRows,
  ownInviteRows,
  notificationRows,
  participantRows,
  requestRows,
  searchRows,
  seedRows,
  teamMemberRows,
  teamRows,
  workspaceCommentRows,
  type Rows,
} from './list-rows.ts'
import {
  allowDomainOfOffered,
  allowLeaving,
  allowOwnership,
  allowTwoDomains,
  endImports,
  followSeed,
  giveIcon,
  joinSeed,
  joinTeam,
  joinUnledSeed,
  leaveSeed,
  seeEvidence,
  tellActor,
  unfollowSeed,
  type Given,
} from './prepare-request.ts'

/** An operation of the API, and what the tests have to know to try it. */
export interface Operation {
  /** Method and path, with the parameters that are required. For names in braces, here, in the body and in the summary of the event, see prepare-request.ts. */
  request: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`
  body?: object
  /** The body is a form with a picture. */
  hasPicture?: true
  /** The body is a form with this table in CSV. */
  table?: string
  /** It concerns no workspace that exists already: no role is needed, and no workspace gets an event. */
  isOutside?: true
  /** It is outside of workspaces, and yet API keys that are bound to workspaces may use it; of keys, on themselves. */
  isForBoundKeys?: true
  /** It is outside of workspaces, and yet API keys with a role below owner may use it, as they may what is for bound keys. */
  isForKeysBelowOwner?: true
  /** It is for the person whom an invite is addressed to. */
  isForInvited?: true
  /** It is for a person whose domain a workspace allows. */
  isForOffered?: true
  /** It revokes the API key of its caller, so that a retry is refused. */
  endsKey?: true
  /** The owner can do less in the workspace afterwards, or nothing. */
  endsCompany?: true
  /** What has to be true beforehand, besides that what the request names exists. */
  given?: Given
  /** For what changes a workspace. */
  event?: ExpectedEvent
  /** It changes only what concerns the caller, of which there is no event. */
  hasNoEvent?: true
  /** For a list that comes in pages. */
  list?: Rows
}

/** The event of a change, when the owner makes it. */
export interface ExpectedEvent {
  type: string
  /** The type of the target, and which value its id is; a target that the change creates has a new id. */
  target: [type: string, id?: string]
  summary: string
  /** The types of further events, which come before it: what members show, for those who do not see it. */
  also?: string[]
  /** The answer to the same request, sent again, when that is an error or makes another change. */
  again?: ErrorFactory | 'changes'
  /** The answer to a viewer, when it is not `role_insufficient`. */
  refused?: ErrorFactory
}

/**
 * Every operation of the API, by its id. An operation in a workspace also has rows in `permissionTable`, below. What is
 * tested of all operations is tested of those that are here: tests/contract/operations.test.ts fails when one is missing.
 */
export const operations: Record<string, Operation> = {
  'system.health': { request: 'GET /health', isOutside: true },
  'system.ready': { request: 'GET /ready', isOutside: true },

  'agentOAuth.serverMetadata': {
    request: 'GET /.well-known/oauth-authorization-server',
    isOutside: true,
  },
  'agentOAuth.resourceMetadata': { request: 'GET /.well-known/oauth-protected-resource', isOutside: true },
  'agentOAuth.jwks': { request: 'GET /agent/oauth/jwks', isOutside: true },
  'agentOAuth.register': { request: 'POST /agent/oauth/register', isOutside: true },
  'agentOAuth.token': { request: 'POST /agent/oauth/token', isOutside: true },
  'agentOAuth.revoke': { request: 'POST /agent/oauth/revoke', isOutside: true },
  'agent.readValidationKit': { request: 'POST /agent/v1/validation-kit:read', isOutside: true },
  'agent.search': { request: 'POST /agent/v1/seeds:search', body: { query: '{name}' }, isOutside: true },
  'agent.fetch': { request: 'POST /agent/v1/seeds:fetch', body: { id: '{seedId}' }, isOutside: true },
  'agent.listPeople': { request: 'POST /agent/v1/people:list', body: {}, isOutside: true },
  'agent.listEvents': { request: 'POST /agent/v1/events:list', body: {}, isOutside: true },
  'agent.listInbox': { request: 'POST /agent/v1/inbox:list', body: {}, isOutside: true },
  'agent.markRead': {
    request: 'POST /agent/v1/inbox:markRead',
    body: { ids: ['{readNotification}'] },
    isOutside: true,
  },
  'agent.declineRequest': {
    request: 'POST /agent/v1/requests:decline',
    body: { requestId: '{agentRequestId}', reason: 'No source says so.' },
    isOutside: true,
  },
  'agent.listComments': {
    request: 'POST /agent/v1/comments:list',
    body: { seedId: '{seedId}' },
    isOutside: true,
  },
  'agent.updateComment': {
    request: 'POST /agent/v1/comments:update',
    body: { commentId: '{ownCommentId}', body: 'Who says this?' },
    isOutside: true,
  },
  'agent.deleteComment': {
    request: 'POST /agent/v1/comments:delete',
    body: { commentId: '{ownCommentId}' },
    isOutside: true,
  },
  'agent.askToJoin': {
    request: 'POST /agent/v1/seeds:askToJoin',
    body: { seedId: '{seedId}', userId: '{userId}', as: 'participant' },
    isOutside: true,
  },
  'agent.followSeed': {
    request: 'POST /agent/v1/seeds:follow',
    body: { seedId: '{seedId}', follow: true },
    isOutside: true,
  },
  'agent.deleteSeed': {
    request: 'POST /agent/v1/seeds:delete',
    body: { seedId: '{seedId}' },
    isOutside: true,
  },
  'agent.restoreSeed': {
    request: 'POST /agent/v1/seeds:restore',
    body: { seedId: '{deletedSeedId}' },
    isOutside: true,
  },
  'agent.createSeed': {
    request: 'POST /agent/v1/seeds:create',
    body: { title: '{name}', summary: 'A summary' },
    isOutside: true,
  },
  'agent.updateSeed': {
    request: 'POST /agent/v1/seeds:update',
    body: { seedId: '{seedId}', status: 'validating' },
    isOutside: true,
  },
  'agent.addEvidence': {
    request: 'POST /agent/v1/evidence:add',
    body: { seedId: '{seedId}', kind: 'note', verdict: 'neutral', summary: 'A finding' },
    isOutside: true,
  },
  'agent.setStatuses': {
    request: 'POST /agent/v1/seeds:setStatuses',
    body: { changes: [{ seedId: '{seedId}', status: 'validating' }] },
    isOutside: true,
  },
  'agent.addEvidenceList': {
    request: 'POST /agent/v1/evidence:addList',
    body: { evidence: [{ seedId: '{seedId}', kind: 'note', verdict: 'neutral', summary: 'A finding' }] },
    isOutside: true,
  },
  'agent.addComment': {
    request: 'POST /agent/v1/comments:add',
    body: { seedId: '{seedId}', body: 'Who says so?' },
    isOutside: true,
  },
  'agent.joinSeed': { request: 'POST /agent/v1/seeds:join', body: { seedId: '{seedId}' }, isOutside: true },
  'agent.leaveSeed': { request: 'POST /agent/v1/seeds:leave', body: { seedId: '{seedId}' }, isOutside: true },
  'agent.updateEvidence': {
    request: 'POST /agent/v1/evidence:update',
    body: { evidenceId: '{evidenceId}', verdict: 'neutral' },
    isOutside: true,
  },
  'agent.withdrawEvidence': {
    request: 'POST /agent/v1/evidence:withdraw',
    body: { evidenceId: '{evidenceId}' },
    isOutside: true,
  },
  'agent.listTeams': { request: 'POST /agent/v1/teams:list', body: {}, isOutside: true },
  'agent.createTeam': { request: 'POST /agent/v1/teams:create', body: { name: '{name}' }, isOutside: true },
  'agent.renameTeam': {
    request: 'POST /agent/v1/teams:rename',
    body: { teamId: '{teamId}', name: '{name}' },
    isOutside: true,
  },
  'agent.deleteTeam': {
    request: 'POST /agent/v1/teams:delete',
    body: { teamId: '{teamId}' },
    isOutside: true,
  },
  'agent.addTeamMember': {
    request: 'POST /agent/v1/teams:addMember',
    body: { teamId: '{teamId}', userId: '{userId}' },
    isOutside: true,
  },
  'agent.removeTeamMember': {
    request: 'POST /agent/v1/teams:removeMember',
    body: { teamId: '{teamId}', userId: '{userId}' },
    isOutside: true,
  },
  'agent.listInvites': { request: 'POST /agent/v1/invites:list', body: {}, isOutside: true },
  'agent.createInvite': {
    request: 'POST /agent/v1/invites:create',
    body: { email: '{invitedEmail}', role: 'member' },
    isOutside: true,
  },
  'agent.resendInvite': {
    request: 'POST /agent/v1/invites:resend',
    body: { inviteId: '{inviteId}' },
    isOutside: true,
  },
  'agent.updateInvite': {
    request: 'POST /agent/v1/invites:update',
    body: { inviteId: '{inviteId}', role: 'viewer' },
    isOutside: true,
  },
  'agent.revokeInvite': {
    request: 'POST /agent/v1/invites:revoke',
    body: { inviteId: '{inviteId}' },
    isOutside: true,
  },

  'apiKeys.list': { request: 'GET /v1/api-keys', isOutside: true, isForBoundKeys: true },
  // Without a `maxRole`, the new key would do more than one that has it.
  'apiKeys.create': { request: 'POST /v1/api-keys', body: { name: '{name}' }, isOutside: true },
  'apiKeys.createRestricted': {
    request: 'POST /v1/api-keys/restricted',
    body: { name: '{name}', expiresAt: null, access: 'read', workspaceIds: null, maxRole: 'viewer' },
    isOutside: true,
    isForKeysBelowOwner: true,
  },
  'apiKeys.get': { request: 'GET /v1/api-keys/{apiKeyId}', isOutside: true, isForBoundKeys: true },
  'apiKeys.restrictions': {
    request: 'GET /v1/api-keys/{apiKeyId}/restrictions',
    isOutside: true,
    isForBoundKeys: true,
  },
  'apiKeys.restrict': {
    request: 'PUT /v1/api-keys/{apiKeyId}/restrictions',
    body: { expiresAt: null, access: 'read', workspaceIds: null },
    isOutside: true,
    isForKeysBelowOwner: true,
  },
  'apiKeys.rotate': {
    request: 'POST /v1/api-keys/{apiKeyId}/rotate',
    body: { overlapSeconds: 60 },
    isOutside: true,
    isForBoundKeys: true,
  },
  'apiKeys.revoke': {
    request: 'POST /v1/api-keys/{apiKeyId}/revoke',
    isOutside: true,
    isForBoundKeys: true,
  },

  'apiKeys.listOfWorkspace': { request: 'GET /v1/workspaces/{slug}/api-keys', list: keyRows },

  'me.profile': { request: 'GET /v1/me', isOutside: true, isForBoundKeys: true },
  'me.updateProfile': { request: 'PATCH /v1/me', body: { name: '{name}' }, isOutside: true },
  'me.uploadPhoto': { request: 'POST /v1/me/photo', hasPicture: true, isOutside: true },
  'me.preferences': { request: 'GET /v1/me/preferences', isOutside: true, isForKeysBelowOwner: true },
  'me.updatePreferences': {
    request: 'PATCH /v1/me/preferences',
    body: { productUpdates: false, workspaceActivity: false },
    isOutside: true,
  },
  'me.home': { request: 'GET /v1/me/home', isOutside: true, isForBoundKeys: true },
  'me.onboarding': { request: 'GET /v1/me/onboarding', isOutside: true, isForBoundKeys: true },

  'me.delete': {
    request: 'POST /v1/me/delete',
    body: { confirmEmail: '{actorEmail}' },
    given: allowLeaving,
    isOutside: true,
    hasNoEvent: true,
    endsCompany: true,
    endsKey: true,
  },
  'me.export': { request: 'GET /v1/me/export', given: allowLeaving, isOutside: true },
  'me.removePhoto': { request: 'DELETE /v1/me/photo', isOutside: true },
  'me.listInvites': {
    request: 'GET /v1/me/invites',
    isOutside: true,
    isForBoundKeys: true,
    list: ownInviteRows,
  },
  'me.acceptInvite': {
    request: 'POST /v1/me/invites/{inviteId}/accept',
    isForInvited: true,
    event: {
      type: 'member.joined',
      target: ['user', 'actorId'],
      summary: 'Ivy Invited accepted the invite of Olga Owner and joined as member',
      again: errors.inviteUsed,
      refused: errors.notFound,
    },
  },
  'me.declineInvite': {
    request: 'POST /v1/me/invites/{inviteId}/decline',
    isForInvited: true,
    event: {
      type: 'invite.declined',
      target: ['invite', 'inviteId'],
      summary: 'Ivy Invited declined the invite to {invitedEmail}',
      refused: errors.notFound,
    },
  },
  'me.listOffers': {
    request: 'GET /v1/me/offers',
    isOutside: true,
    isForKeysBelowOwner: true,
    list: offerRows,
  },
  'me.acceptOffer': {
    request: 'POST /v1/me/offers/{workspaceId}/accept',
    isForOffered: true,
    given: allowDomainOfOffered,
    event: {
      type: 'member.joined',
      target: ['user', 'actorId'],
      summary: 'Ivy Invited joined with an email address at {domain}',
      again: errors.notFound,
      refused: errors.notFound,
    },
  },
  'me.declineOffer': {
    request: 'POST /v1/me/offers/{workspaceId}/decline',
    isOutside: true,
    isForOffered: true,
    given: allowDomainOfOffered,
  },

  'notifications.list': {
    request: 'GET /v1/me/notifications',
    isOutside: true,
    isForBoundKeys: true,
    list: notificationRows,
  },
  'notifications.count': { request: 'GET /v1/me/notifications/count', isOutside: true, isForBoundKeys: true },
  'notifications.markRead': {
    request: 'POST /v1/me/notifications/read',
    body: { until: '9999-01-01T00:00:00.000Z' },
    isOutside: true,
    isForBoundKeys: true,
    given: tellActor,
  },

  'notifications.markUnread': {
    request: 'POST /v1/me/notifications/unread',
    body: { ids: ['{readNotification}'] },
    isOutside: true,
    isForBoundKeys: true,
  },
  'notifications.preferences': {
    request: 'GET /v1/me/notifications/preferences',
    isOutside: true,
    isForKeysBelowOwner: true,
  },
  'notifications.updatePreferences': {
    request: 'PATCH /v1/me/notifications/preferences',
    body: { acceptedInvites: 'inbox' },
    isOutside: true,
  },

  'workspaces.list': { request: 'GET /v1/workspaces', isOutside: true, isForBoundKeys: true },
  'workspaces.create': {
    request: 'POST /v1/workspaces',
    body: { name: '{name}', slug: '{newSlug}' },
    isOutside: true,
  },
  'workspaces.slugAvailable': { request: 'GET /v1/slugs/{slug}', isOutside: true, isForKeysBelowOwner: true },
  'workspaces.get': { request: 'GET /v1/workspaces/{slug}' },
  'workspaces.slugAvailability': { request: 'GET /v1/workspaces/{slug}/slug-availability' },
  'workspaces.update': {
    request: 'PATCH /v1/workspaces/{slug}',
    body: { name: '{name}', slug: '{keptSlug}', allowedDomains: 'beta.example' },
    given: allowTwoDomains,
    event: {
      type: 'workspace.updated',
      target: ['workspace', 'workspaceId'],
      summary:
        'Olga Owner renamed the workspace from Acme to {name} and set the allowed email domains to beta.example',
    },
  },
  'workspaces.uploadIcon': {
    request: 'POST /v1/workspaces/{slug}/icon',
    hasPicture: true,
    event: {
      type: 'workspace.icon_changed',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner changed the icon of Acme',
      again: 'changes',
    },
  },
  'workspaces.removeIcon': {
    request: 'DELETE /v1/workspaces/{slug}/icon',
    given: giveIcon,
    event: {
      type: 'workspace.icon_removed',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner removed the icon of Acme',
    },
  },

  'workspaces.transferOwnership': {
    request: 'POST /v1/workspaces/{slug}/transfer-ownership',
    body: { userId: '{userId}' },
    given: allowOwnership,
    endsCompany: true,
    event: {
      type: 'workspace.ownership_transferred',
      target: ['user', 'userId'],
      summary: 'Olga Owner transferred the ownership of the workspace to Tina Target',
      again: errors.roleInsufficient,
    },
  },
  'workspaces.delete': {
    request: 'POST /v1/workspaces/{slug}/delete',
    body: { confirmSlug: '{slug}' },
    given: allowOwnership,
    endsCompany: true,
    event: {
      type: 'workspace.deleted',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner deleted the workspace Acme',
      again: errors.notFound,
    },
  },
  'workspaces.export': { request: 'GET /v1/workspaces/{slug}/export' },
  'workspaces.agentPolicy': { request: 'GET /v1/workspaces/{slug}/agent-policy' },
  'workspaces.updateAgentPolicy': {
    request: 'PATCH /v1/workspaces/{slug}/agent-policy',
    body: { assertedAgents: 'on', scopes: ['workspace:read'], clients: [] },
    event: {
      type: 'workspace.agent_policy_changed',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner let identity providers give agents access',
    },
  },

  'workspaces.search': { request: 'GET /v1/workspaces/{slug}/search?q=filler', list: searchRows },
  'workspaces.searchCounts': { request: 'GET /v1/workspaces/{slug}/search/counts?q=filler' },

  'members.list': { request: 'GET /v1/workspaces/{slug}/members', list: memberRows },
  'members.get': { request: 'GET /v1/workspaces/{slug}/members/{userId}' },
  'members.updateRole': {
    request: 'PATCH /v1/workspaces/{slug}/members/{userId}',
    body: { role: '{role}' },
    event: {
      type: 'member.role_changed',
      target: ['user', 'userId'],
      summary: 'Olga Owner changed the role of Tina Target from member to admin',
    },
  },
  'members.remove': {
    request: 'DELETE /v1/workspaces/{slug}/members/{userId}',
    event: {
      type: 'member.removed',
      target: ['user', 'userId'],
      summary: 'Olga Owner removed Tina Target',
      again: errors.notFound,
    },
  },

  'invites.list': { request: 'GET /v1/workspaces/{slug}/invites', list: inviteRows },
  'invites.getById': { request: 'GET /v1/workspaces/{slug}/invites/{inviteId}' },
  'invites.create': {
    request: 'POST /v1/workspaces/{slug}/invites',
    body: { email: '{email}', role: '{role}' },
    event: {
      type: 'invite.created',
      target: ['invite'],
      summary: 'Olga Owner invited {email} as admin',
      again: errors.alreadyInvited,
    },
  },
  'invites.resend': {
    request: 'POST /v1/workspaces/{slug}/invites/{inviteId}/resend',
    event: {
      type: 'invite.resent',
      target: ['invite', 'inviteId'],
      summary: 'Olga Owner sent the invite to {invitedEmail} again',
      again: 'changes',
    },
  },
  'invites.revoke': {
    request: 'POST /v1/workspaces/{slug}/invites/{inviteId}/revoke',
    event: {
      type: 'invite.revoked',
      target: ['invite', 'inviteId'],
      summary: 'Olga Owner revoked the invite to {invitedEmail}',
    },
  },
  'invites.updateRole': {
    request: 'PATCH /v1/workspaces/{slug}/invites/{inviteId}',
    body: { role: '{role}' },
    event: {
      type: 'invite.role_changed',
      target: ['invite', 'inviteId'],
      summary: 'Olga Owner changed the role of the invite to {invitedEmail} from member to admin',
    },
  },
  'invites.get': { request: 'GET /v1/invites/{token}' },
  'invites.decline': {
    request: 'POST /v1/invites/{token}/decline',
    isForInvited: true,
    event: {
      type: 'invite.declined',
      target: ['invite', 'inviteId'],
      summary: 'Ivy Invited declined the invite to {invitedEmail}',
      refused: errors.inviteEmailMismatch,
    },
  },
  'invites.accept': {
    request: 'POST /v1/invites/{token}/accept',
    isForInvited: true,
    event: {
      type: 'member.joined',
      target: ['user', 'actorId'],
      summary: 'Ivy Invited accepted the invite of Olga Owner and joined as member',
      again: errors.inviteUsed,
      refused: errors.inviteEmailMismatch,
    },
  },

  'teams.list': { request: 'GET /v1/workspaces/{slug}/teams', list: teamRows },
  'teams.get': { request: 'GET /v1/workspaces/{slug}/teams/{teamId}' },
  'teams.create': {
    request: 'POST /v1/workspaces/{slug}/teams',
    body: { name: ' {name} ' },
    event: {
      type: 'team.created',
      target: ['team'],
      summary: 'Olga Owner created the team {name}',
      again: errors.teamNameTaken,
    },
  },
  'teams.rename': {
    request: 'PATCH /v1/workspaces/{slug}/teams/{teamId}',
    body: { name: '{name}' },
    event: {
      type: 'team.renamed',
      target: ['team', 'teamId'],
      summary: 'Olga Owner renamed the team {label} to {name}',
    },
  },
  'teams.delete': {
    request: 'DELETE /v1/workspaces/{slug}/teams/{teamId}',
    event: {
      type: 'team.deleted',
      target: ['team', 'teamId'],
      summary: 'Olga Owner deleted the team {label}',
      again: errors.notFound,
    },
  },
  'teams.listMembers': {
    request: 'GET /v1/workspaces/{slug}/teams/{teamId}/members',
    list: teamMemberRows,
  },
  'teams.addMember': {
    request: 'POST /v1/workspaces/{slug}/teams/{teamId}/members',
    body: { userId: '{userId}' },
    event: {
      type: 'team.member_added',
      target: ['team', 'teamId'],
      summary: 'Olga Owner added Tina Target to the team {label}',
      again: errors.alreadyTeamMember,
    },
  },
  'teams.removeMember': {
    request: 'DELETE /v1/workspaces/{slug}/teams/{teamId}/members/{userId}',
    given: joinTeam,
    event: {
      type: 'team.member_removed',
      target: ['team', 'teamId'],
      summary: 'Olga Owner removed Tina Target from the team {label}',
      again: errors.notFound,
    },
  },

  'labels.list': { request: 'GET /v1/workspaces/{slug}/labels', list: labelRows },
  'labels.get': { request: 'GET /v1/workspaces/{slug}/labels/{labelId}' },
  'labels.create': {
    request: 'POST /v1/workspaces/{slug}/labels',
    body: { name: ' {name} ' },
    event: {
      type: 'label.created',
      target: ['label'],
      summary: 'Olga Owner created the label {name}',
      again: errors.labelNameTaken,
    },
  },
  'labels.update': {
    request: 'PATCH /v1/workspaces/{slug}/labels/{labelId}',
    body: { name: '{name}' },
    event: {
      type: 'label.updated',
      target: ['label', 'labelId'],
      summary: 'Olga Owner renamed the label {label} to {name}',
    },
  },
  'labels.delete': {
    request: 'DELETE /v1/workspaces/{slug}/labels/{labelId}',
    event: {
      type: 'label.deleted',
      target: ['label', 'labelId'],
      summary: 'Olga Owner deleted the label {label}',
      again: errors.notFound,
    },
  },

  'savedFilters.list': { request: 'GET /v1/workspaces/{slug}/saved-filters', list: filterRows },
  'savedFilters.get': { request: 'GET /v1/workspaces/{slug}/saved-filters/{filterId}' },
  'savedFilters.create': {
    request: 'POST /v1/workspaces/{slug}/saved-filters',
    body: { name: ' {name} ', shared: true, filters: { due: 'week' } },
    event: {
      type: 'saved_filter.created',
      target: ['saved_filter'],
      summary: 'Olga Owner shared the saved filter {name}',
      again: errors.savedFilterNameTaken,
    },
  },
  'savedFilters.update': {
    request: 'PATCH /v1/workspaces/{slug}/saved-filters/{filterId}',
    body: { name: '{name}' },
    event: {
      type: 'saved_filter.updated',
      target: ['saved_filter', 'filterId'],
      summary: 'Olga Owner renamed the saved filter {label} to {name}',
    },
  },
  'savedFilters.delete': {
    request: 'DELETE /v1/workspaces/{slug}/saved-filters/{filterId}',
    event: {
      type: 'saved_filter.deleted',
      target: ['saved_filter', 'filterId'],
      summary: 'Olga Owner removed the shared saved filter {label}',
      again: errors.notFound,
    },
  },

  'events.list': { request: 'GET /v1/workspaces/{slug}/events', list: eventRows },
  'events.get': { request: 'GET /v1/workspaces/{slug}/events/{eventId}' },
  'events.changes': { request: 'GET /v1/workspaces/{slug}/events/changes' },
  'events.stream': { request: 'GET /v1/workspaces/{slug}/events/stream' },
  'webhooks.list': { request: 'GET /v1/workspaces/{slug}/webhooks' },
  'webhooks.create': {
    request: 'POST /v1/workspaces/{slug}/webhooks',
    body: { url: 'https://127.0.0.1:1/{name}', types: ['seed.created'], description: '{name}' },
    event: {
      type: 'webhook.created',
      target: ['webhook'],
      summary: 'Olga Owner added a webhook to 127.0.0.1:1',
      again: 'changes',
    },
  },
  'webhooks.get': { request: 'GET /v1/workspaces/{slug}/webhooks/{webhookId}' },
  'webhooks.update': {
    request: 'PATCH /v1/workspaces/{slug}/webhooks/{webhookId}',
    body: { url: 'https://127.0.0.2:1/{name}', description: '{name}' },
    event: {
      type: 'webhook.updated',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner changed the webhook to 127.0.0.2:1',
    },
  },
  'webhooks.resume': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{pausedWebhookId}/resume',
    event: {
      type: 'webhook.resumed',
      target: ['webhook', 'pausedWebhookId'],
      summary: 'Olga Owner ended the pause of the webhook to 127.0.0.1:1',
    },
  },
  'webhooks.delete': {
    request: 'DELETE /v1/workspaces/{slug}/webhooks/{webhookId}',
    event: {
      type: 'webhook.deleted',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner deleted the webhook to 127.0.0.1:1',
      again: errors.notFound,
    },
  },
  'webhooks.rotateSecret': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{webhookId}/rotate-secret',
    body: { overlapSeconds: 60 },
    event: {
      type: 'webhook.secret_rotated',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner rotated the secret of the webhook to 127.0.0.1:1',
      again: 'changes',
    },
  },
  'webhooks.test': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{webhookId}/test',
    event: {
      type: 'webhook.tested',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner sent a test to the webhook to 127.0.0.1:1',
      again: 'changes',
    },
  },
  'webhooks.sample': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{webhookId}/sample',
    body: { type: 'comment.added' },
    event: {
      type: 'webhook.tested',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner sent a sample of comment.added to the webhook to 127.0.0.1:1',
      again: 'changes',
    },
  },
  'webhooks.listDeliveries': {
    request: 'GET /v1/workspaces/{slug}/webhooks/{webhookId}/deliveries',
    list: deliveryRows,
  },
  'webhooks.redeliver': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    event: {
      type: 'webhook.redelivered',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner sent 1 event to the webhook to 127.0.0.1:1 again',
      again: 'changes',
    },
  },
  'webhooks.redeliverSince': {
    request: 'POST /v1/workspaces/{slug}/webhooks/{webhookId}/redeliver',
    body: { since: '2026-01-01T00:00:00.000Z', until: '9999-01-01T00:00:00.000Z' },
    event: {
      type: 'webhook.redelivered',
      target: ['webhook', 'webhookId'],
      summary: 'Olga Owner sent 2 events to the webhook to 127.0.0.1:1 again',
      again: 'changes',
    },
  },

  'serviceAccounts.list': { request: 'GET /v1/workspaces/{slug}/service-accounts' },
  'serviceAccounts.get': { request: 'GET /v1/workspaces/{slug}/service-accounts/{serviceAccountId}' },
  'serviceAccounts.create': {
    request: 'POST /v1/workspaces/{slug}/service-accounts',
    body: { name: '{name}', role: '{role}' },
    event: {
      type: 'service_account.created',
      target: ['user'],
      summary: 'Olga Owner created the service account {name} as admin',
      also: ['member.joined'],
      again: 'changes',
    },
  },
  'serviceAccounts.update': {
    request: 'PATCH /v1/workspaces/{slug}/service-accounts/{serviceAccountId}',
    body: { name: '{name}', role: '{role}' },
    event: {
      type: 'service_account.updated',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner changed the name and the role of the service account {name}',
      also: ['member.updated', 'member.role_changed'],
    },
  },
  'serviceAccounts.delete': {
    request: 'DELETE /v1/workspaces/{slug}/service-accounts/{serviceAccountId}',
    event: {
      type: 'service_account.deleted',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner deleted the service account {label}',
      also: ['member.removed'],
      again: errors.notFound,
    },
  },
  'serviceAccounts.listKeys': {
    request: 'GET /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/api-keys',
  },
  'serviceAccounts.createKey': {
    request: 'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/api-keys',
    body: { name: '{name}' },
    event: {
      type: 'service_account.key_created',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner created the API key {name} of the service account {label}',
      again: 'changes',
    },
  },
  'serviceAccounts.rotateKey': {
    request: 'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/api-keys/{serviceKeyId}/rotate',
    body: { overlapSeconds: 60 },
    event: {
      type: 'service_account.key_rotated',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner rotated the API key Production of the service account {label}',
      again: errors.keyRotated,
    },
  },
  'serviceAccounts.revokeKey': {
    request: 'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/api-keys/{serviceKeyId}/revoke',
    event: {
      type: 'service_account.key_revoked',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner revoked the API key Production of the service account {label}',
    },
  },
  'serviceAccounts.listClients': {
    request: 'GET /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/clients',
  },
  'serviceAccounts.createClient': {
    request: 'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/clients',
    body: { name: '{name}', method: 'client_secret_basic', scopes: ['workspace:read'] },
    event: {
      type: 'service_account.client_created',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner created the OAuth client {name} of the service account {label}',
      again: 'changes',
    },
  },
  'serviceAccounts.rotateClient': {
    request:
      'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/clients/{serviceClientId}/rotate',
    body: { overlapSeconds: 60 },
    event: {
      type: 'service_account.client_rotated',
      target: ['user', 'serviceUserId'],
      summary:
        'Olga Owner rotated the secret of the OAuth client Nightly import of the service account {label}',
      again: errors.clientRotated,
    },
  },
  'serviceAccounts.revokeClient': {
    request:
      'POST /v1/workspaces/{slug}/service-accounts/{serviceAccountId}/clients/{serviceClientId}/revoke',
    event: {
      type: 'service_account.client_revoked',
      target: ['user', 'serviceUserId'],
      summary: 'Olga Owner revoked the OAuth client Nightly import of the service account {label}',
    },
  },

  'people.list': { request: 'GET /v1/workspaces/{slug}/people', list: { ...memberRows, key: 'id' } },

  'seeds.list': { request: 'GET /v1/workspaces/{slug}/seeds', list: seedRows },
  'seeds.create': {
    request: 'POST /v1/workspaces/{slug}/seeds',
    body: { title: '{name}', summary: 'An idea' },
    event: {
      type: 'seed.created',
      target: ['seed'],
      summary: 'Olga Owner created the seed {name}',
      again: 'changes',
    },
  },
  'seeds.get': { request: 'GET /v1/seeds/{seedId}' },
  'seeds.update': {
    request: 'PATCH /v1/seeds/{seedId}',
    body: { problem: 'It is dry', status: 'validating' },
    event: {
      type: 'seed.updated',
      target: ['seed', 'seedId'],
      summary: 'Olga Owner changed the seed {label}: the problem and the status from open to validating',
    },
  },
  'seeds.delete': {
    request: 'DELETE /v1/seeds/{createdSeedId}',
    event: {
      type: 'seed.deleted',
      target: ['seed', 'createdSeedId'],
      summary: 'Olga Owner deleted the seed {label}',
      again: errors.notFound,
    },
  },
  'seeds.restore': {
    request: 'POST /v1/seeds/{deletedSeedId}/restore',
    event: {
      type: 'seed.restored',
      target: ['seed', 'deletedSeedId'],
      summary: 'Olga Owner restored the seed {label}',
    },
  },
  'seeds.import': {
    request: 'POST /v1/workspaces/{slug}/seeds/import',
    given: endImports,
    table: 'Title,Summary\r\nLending library,Borrow tools\r\n',
    event: {
      type: 'workspace.imported',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner began an import of 1 seed',
      again: errors.importInProgress,
    },
  },
  'seeds.importStatus': { request: 'GET /v1/workspaces/{slug}/seeds/imports/{importId}' },
  'seeds.undoImport': {
    request: 'POST /v1/workspaces/{slug}/seeds/imports/{importId}/undo',
    given: endImports,
    event: {
      type: 'workspace.import_undone',
      target: ['workspace', 'workspaceId'],
      summary: 'Olga Owner began to undo an import of seeds',
      again: errors.importInProgress,
    },
  },
  'seeds.exportCsv': { request: 'GET /v1/workspaces/{slug}/seeds/export' },
  'seeds.exportEvidenceCsv': { request: 'GET /v1/seeds/{seedId}/evidence/export' },
  'seeds.count': { request: 'GET /v1/workspaces/{slug}/seeds/count' },
  'seeds.similar': { request: 'GET /v1/workspaces/{slug}/seeds/similar?title={name}' },
  'seeds.merge': {
    request: 'POST /v1/seeds/{mergeableSeedId}/merge',
    body: { into: '{targetSeedId}' },
    event: {
      type: 'seed.merged',
      target: ['seed', 'targetSeedId'],
      summary: 'Olga Owner merged the seed {label} into {label}',
      again: errors.seedMerged,
    },
  },
  'seeds.unmerge': {
    request: 'POST /v1/seeds/{mergedSeedId}/unmerge',
    event: {
      type: 'seed.unmerged',
      target: ['seed', 'targetSeedId'],
      summary: 'Olga Owner took the seed {label} out of {label} again',
    },
  },
  'seeds.follow': { request: 'POST /v1/seeds/{seedId}/follow', given: unfollowSeed, hasNoEvent: true },
  'seeds.unfollow': { request: 'POST /v1/seeds/{seedId}/unfollow', given: followSeed, hasNoEvent: true },
  'seeds.join': {
    request: 'POST /v1/seeds/{seedId}/join',
    given: leaveSeed,
    event: {
      type: 'seed.joined',
      target: ['seed', 'seedId'],
      summary: 'Olga Owner joined the seed {label}',
    },
  },
  'seeds.invitePerson': {
    request: 'POST /v1/seeds/{seedId}/invite-person',
    body: { userId: '{userId}', as: 'participant' },
    event: {
      type: 'seed.person_asked',
      target: ['seed', 'seedId'],
      summary: 'Olga Owner asked Tina Target to join the seed {label}',
    },
  },
  'seeds.leave': {
    request: 'POST /v1/seeds/{seedId}/leave',
    // Who leads it causes a further event.
    given: joinUnledSeed,
    event: { type: 'seed.left', target: ['seed', 'seedId'], summary: 'Olga Owner left the seed {label}' },
  },
  'seeds.listParticipants': { request: 'GET /v1/seeds/{seedId}/participants', list: participantRows },
  'seeds.listEvidence': { request: 'GET /v1/seeds/{seedId}/evidence', list: evidenceRows },
  'seeds.addEvidence': {
    request: 'POST /v1/seeds/{seedId}/evidence',
    body: { kind: 'interview', verdict: 'supports', summary: 'They like it' },
    given: joinSeed,
    event: {
      type: 'evidence.added',
      target: ['evidence'],
      summary: 'Olga Owner added an interview that supports the seed {label}',
      again: 'changes',
    },
  },

  'evidence.get': { request: 'GET /v1/evidence/{evidenceId}' },
  'evidence.update': {
    request: 'PATCH /v1/evidence/{ownEvidenceId}',
    body: { verdict: 'contradicts', summary: 'They do not like it' },
    event: {
      type: 'evidence.updated',
      target: ['evidence', 'ownEvidenceId'],
      summary: 'Olga Owner corrected the verdict and the summary of evidence of the seed {label}',
    },
  },
  'evidence.withdraw': {
    request: 'POST /v1/evidence/{evidenceId}/withdraw',
    body: { reason: 'They were paid' },
    event: {
      type: 'evidence.withdrawn',
      target: ['evidence', 'evidenceId'],
      summary: 'Olga Owner withdrew an interview by Tina Target that supports the seed {label}',
    },
  },

  'evidence.see': {
    request: 'POST /v1/evidence/{evidenceId}/see',
    event: {
      type: 'evidence.seen',
      target: ['evidence', 'evidenceId'],
      summary: 'Olga Owner has seen this too: an interview that supports the seed {label}',
    },
  },
  'evidence.unsee': {
    request: 'POST /v1/evidence/{evidenceId}/unsee',
    given: seeEvidence,
    event: {
      type: 'evidence.unseen',
      target: ['evidence', 'evidenceId'],
      summary: 'Olga Owner took back that they saw this too: an interview that supports the seed {label}',
    },
  },

  'comments.list': { request: 'GET /v1/seeds/{seedId}/comments', list: commentRows },
  'comments.listOfWorkspace': {
    request: 'GET /v1/workspaces/{slug}/comments',
    list: workspaceCommentRows,
  },
  'comments.get': { request: 'GET /v1/comments/{commentId}' },
  'comments.create': {
    request: 'POST /v1/seeds/{seedId}/comments',
    body: { body: 'Who says so?' },
    event: {
      type: 'comment.added',
      target: ['comment'],
      summary: 'Olga Owner commented on the seed {label}',
      again: 'changes',
    },
  },
  'comments.update': {
    request: 'PATCH /v1/comments/{ownCommentId}',
    body: { body: 'Who said so?' },
    event: {
      type: 'comment.updated',
      target: ['comment', 'ownCommentId'],
      summary: 'Olga Owner edited a comment on the seed {label}',
    },
  },
  'comments.delete': {
    request: 'DELETE /v1/comments/{commentId}',
    event: {
      type: 'comment.deleted',
      target: ['comment', 'commentId'],
      summary: 'Olga Owner deleted a comment by Tina Target on the seed {label}',
      again: errors.notFound,
    },
  },

  'attachments.create': {
    request: 'POST /v1/workspaces/{slug}/attachments',
    hasPicture: true,
    hasNoEvent: true,
  },
  'attachments.get': { request: 'GET /v1/workspaces/{slug}/attachments/{attachmentId}' },
  'attachments.content': { request: 'GET /v1/workspaces/{slug}/attachments/{attachmentId}/content' },
  'attachments.link': { request: 'GET /v1/workspaces/{slug}/attachments/{attachmentId}/link' },
  'attachments.delete': {
    request: 'DELETE /v1/workspaces/{slug}/attachments/{attachmentId}',
    event: {
      type: 'attachment.deleted',
      target: ['seed', 'seedOfAttachmentId'],
      summary: 'Olga Owner deleted the file notes.txt of the seed {label}',
      again: errors.notFound,
    },
  },

  'agentRequests.list': { request: 'GET /v1/workspaces/{slug}/agent-requests', list: requestRows },
  'agentRequests.get': { request: 'GET /v1/workspaces/{slug}/agent-requests/{agentRequestId}' },
  'agentRequests.askable': { request: 'GET /v1/workspaces/{slug}/agent-requests/agents' },
  'agentRequests.cancel': {
    request: 'POST /v1/workspaces/{slug}/agent-requests/{agentRequestId}/cancel',
    event: {
      type: 'agent_request.cancelled',
      target: ['comment', 'askingCommentId'],
      summary: 'Olga Owner cancelled a request to Claude on the seed {label}',
      refused: errors.notTheAuthor,
    },
  },

  'integrations.list': { request: 'GET /v1/workspaces/{slug}/integrations', list: grantRows },
  'integrations.get': { request: 'GET /v1/workspaces/{slug}/integrations/{grantId}' },
  'integrations.listCalls': {
    request: 'GET /v1/workspaces/{slug}/integrations/{grantId}/calls',
    list: callRows,
  },
  'integrations.revoke': {
    request: 'POST /v1/workspaces/{slug}/integrations/{grantId}/revoke',
    event: {
      type: 'integration.revoked',
      target: ['integration', 'grantId'],
      summary: 'Olga Owner revoked the access of {label}',
      refused: errors.notFound,
    },
  },
}

/**
 * Who may do what in a workspace. The target is somebody else of that role, or the caller (`self`); or the role that an
 * invite gives. `to` is the role that is to be given.
 *
 * ok, or: role = role_insufficient, high = role_too_high, out = not_a_member, none = not_found, key = api_key_required,
 * other = invite_email_mismatch, author = not_the_author.
 */
export const permissionTable = `
  operation                    target  to      | owner  admin  member viewer | stranger nobody
  workspaces.get               -       -       | ok     ok     ok     ok     | out      key
  workspaces.slugAvailability  -       -       | ok     ok     ok     ok     | out      key
  workspaces.update            -       -       | ok     ok     role   role   | out      key
  workspaces.uploadIcon        -       -       | ok     ok     role   role   | out      key
  workspaces.removeIcon        -       -       | ok     ok     role   role   | out      key
  workspaces.transferOwnership member  -       | ok     role   role   role   | out      key
  workspaces.delete            -       -       | ok     role   role   role   | out      key
  workspaces.export            -       -       | ok     role   role   role   | out      key
  workspaces.agentPolicy       -       -       | ok     role   role   role   | out      key
  workspaces.updateAgentPolicy -       -       | ok     role   role   role   | out      key

  me.acceptInvite              member  -       | none   none   none   none   | none     key
  me.declineInvite             member  -       | none   none   none   none   | none     key
  me.acceptOffer               -       -       | none   none   none   none   | none     key

  workspaces.search            -       -       | ok     ok     ok     ok     | out      key
  workspaces.searchCounts      -       -       | ok     ok     ok     ok     | out      key

  members.list                 -       -       | ok     ok     ok     ok     | out      key
  members.get                  member  -       | ok     ok     ok     ok     | out      key
  members.updateRole           self    owner   | ok     high   role   role   | out      key
  members.updateRole           self    admin   | ok     ok     role   role   | out      key
  members.updateRole           self    member  | ok     ok     role   role   | out      key
  members.updateRole           self    viewer  | ok     ok     role   role   | out      key
  members.updateRole           owner   owner   | ok     high   role   role   | out      key
  members.updateRole           owner   admin   | ok     high   role   role   | out      key
  members.updateRole           owner   member  | ok     high   role   role   | out      key
  members.updateRole           owner   viewer  | ok     high   role   role   | out      key
  members.updateRole           admin   owner   | ok     high   role   role   | out      key
  members.updateRole           admin   admin   | ok     high   role   role   | out      key
  members.updateRole           admin   member  | ok     high   role   role   | out      key
  members.updateRole           admin   viewer  | ok     high   role   role   | out      key
  members.updateRole           member  owner   | ok     high   role   role   | out      key
  members.updateRole           member  admin   | ok     ok     role   role   | out      key
  members.updateRole           member  member  | ok     ok     role   role   | out      key
  members.updateRole           member  viewer  | ok     ok     role   role   | out      key
  members.updateRole           viewer  owner   | ok     high   role   role   | out      key
  members.updateRole           viewer  admin   | ok     ok     role   role   | out      key
  members.updateRole           viewer  member  | ok     ok     role   role   | out      key
  members.updateRole           viewer  viewer  | ok     ok     role   role   | out      key
  members.remove               self    -       | ok     ok     ok     ok     | out      key
  members.remove               owner   -       | ok     high   role   role   | out      key
  members.remove               admin   -       | ok     high   role   role   | out      key
  members.remove               member  -       | ok     ok     role   role   | out      key
  members.remove               viewer  -       | ok     ok     role   role   | out      key

  invites.list                 -       -       | ok     ok     role   role   | out      key
  invites.getById              owner   -       | ok     ok     role   role   | out      key
  invites.create               -       owner   | ok     high   role   role   | out      key
  invites.create               -       admin   | ok     ok     role   role   | out      key
  invites.create               -       member  | ok     ok     role   role   | out      key
  invites.create               -       viewer  | ok     ok     role   role   | out      key
  invites.resend               owner   -       | ok     high   role   role   | out      key
  invites.resend               admin   -       | ok     ok     role   role   | out      key
  invites.resend               member  -       | ok     ok     role   role   | out      key
  invites.resend               viewer  -       | ok     ok     role   role   | out      key
  invites.revoke               owner   -       | ok     high   role   role   | out      key
  invites.revoke               admin   -       | ok     ok     role   role   | out      key
  invites.revoke               member  -       | ok     ok     role   role   | out      key
  invites.revoke               viewer  -       | ok     ok     role   role   | out      key
  invites.updateRole           owner   viewer  | ok     high   role   role   | out      key
  invites.updateRole           admin   owner   | ok     high   role   role   | out      key
  invites.updateRole           admin   viewer  | ok     ok     role   role   | out      key
  invites.updateRole           member  owner   | ok     high   role   role   | out      key
  invites.updateRole           member  admin   | ok     ok     role   role   | out      key
  invites.updateRole           viewer  member  | ok     ok     role   role   | out      key
  invites.updateRole           viewer  owner   | ok     high   role   role   | out      key
  invites.get                  member  -       | ok     ok     ok     ok     | ok       key
  invites.accept               member  -       | other  other  other  other  | other    key
  invites.decline              member  -       | other  other  other  other  | other    key

  teams.list                   -       -       | ok     ok     ok     ok     | out      key
  teams.get                    -       -       | ok     ok     ok     ok     | out      key
  teams.create                 -       -       | ok     ok     role   role   | out      key
  teams.rename                 -       -       | ok     ok     role   role   | out      key
  teams.delete                 -       -       | ok     ok     role   role   | out      key
  teams.listMembers            -       -       | ok     ok     ok     ok     | out      key
  teams.addMember              self    -       | ok     ok     role   role   | out      key
  teams.addMember              owner   -       | ok     ok     role   role   | out      key
  teams.addMember              admin   -       | ok     ok     role   role   | out      key
  teams.addMember              viewer  -       | ok     ok     role   role   | out      key
  teams.removeMember           self    -       | ok     ok     ok     ok     | out      key
  teams.removeMember           owner   -       | ok     ok     role   role   | out      key
  teams.removeMember           admin   -       | ok     ok     role   role   | out      key
  teams.removeMember           member  -       | ok     ok     role   role   | out      key
  teams.removeMember           viewer  -       | ok     ok     role   role   | out      key

  labels.list                  -       -       | ok     ok     ok     ok     | out      key
  labels.get                   -       -       | ok     ok     ok     ok     | out      key
  labels.create                -       -       | ok     ok     ok     role   | out      key
  labels.update                -       -       | ok     ok     ok     role   | out      key
  labels.delete                -       -       | ok     ok     role   role   | out      key

  savedFilters.list            -       -       | ok     ok     ok     ok     | out      key
  savedFilters.get             -       -       | ok     ok     ok     ok     | out      key
  savedFilters.create          -       -       | ok     ok     ok     role   | out      key
  savedFilters.update          self    -       | ok     ok     ok     role   | out      key
  savedFilters.update          owner   -       | ok     ok     role   role   | out      key
  savedFilters.update          viewer  -       | ok     ok     role   role   | out      key
  savedFilters.delete          self    -       | ok     ok     ok     role   | out      key
  savedFilters.delete          owner   -       | ok     ok     role   role   | out      key
  savedFilters.delete          viewer  -       | ok     ok     role   role   | out      key

  events.list                  -       -       | ok     ok     ok     ok     | out      key
  events.get                   -       -       | ok     ok     ok     ok     | out      key
  events.changes               -       -       | ok     ok     ok     ok     | out      key
  events.stream                -       -       | ok     ok     ok     ok     | out      key
  webhooks.list                -       -       | ok     ok     role   role   | out      key
  webhooks.create              -       -       | ok     ok     role   role   | out      key
  webhooks.get                 -       -       | ok     ok     role   role   | out      key
  webhooks.update              -       -       | ok     ok     role   role   | out      key
  webhooks.resume              -       -       | ok     ok     role   role   | out      key
  webhooks.delete              -       -       | ok     ok     role   role   | out      key
  webhooks.rotateSecret        -       -       | ok     ok     role   role   | out      key
  webhooks.test                -       -       | ok     ok     role   role   | out      key
  webhooks.sample              -       -       | ok     ok     role   role   | out      key
  webhooks.listDeliveries      -       -       | ok     ok     role   role   | out      key
  webhooks.redeliver           -       -       | ok     ok     role   role   | out      key
  webhooks.redeliverSince      -       -       | ok     ok     role   role   | out      key

  serviceAccounts.list         -       -       | ok     ok     role   role   | out      key
  serviceAccounts.get          -       -       | ok     ok     role   role   | out      key
  serviceAccounts.create       -       admin   | ok     ok     role   role   | out      key
  serviceAccounts.create       -       viewer  | ok     ok     role   role   | out      key
  serviceAccounts.update       admin   member  | ok     ok     role   role   | out      key
  serviceAccounts.update       viewer  admin   | ok     ok     role   role   | out      key
  serviceAccounts.delete       admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.listKeys     admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.createKey    admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.rotateKey    admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.revokeKey    admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.listClients  admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.createClient admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.rotateClient admin   -       | ok     ok     role   role   | out      key
  serviceAccounts.revokeClient admin   -       | ok     ok     role   role   | out      key

  people.list                  -       -       | ok     ok     ok     ok     | out      key
  apiKeys.listOfWorkspace      -       -       | ok     ok     role   role   | out      key

  seeds.list                   -       -       | ok     ok     ok     ok     | out      key
  seeds.create                 -       -       | ok     ok     ok     role   | out      key
  seeds.get                    -       -       | ok     ok     ok     ok     | none     key
  seeds.update                 -       -       | ok     ok     ok     role   | none     key
  seeds.delete                 self    -       | ok     ok     ok     role   | none     key
  seeds.delete                 owner   -       | ok     ok     role   role   | none     key
  seeds.restore                self    -       | ok     ok     ok     role   | none     key
  seeds.restore                owner   -       | ok     ok     role   role   | none     key
  seeds.import                 -       -       | ok     ok     ok     role   | out      key
  seeds.importStatus           -       -       | ok     ok     ok     ok     | out      key
  seeds.undoImport             self    -       | ok     ok     ok     role   | out      key
  seeds.undoImport             owner   -       | ok     ok     role   role   | out      key
  seeds.exportCsv              -       -       | ok     ok     ok     ok     | out      key
  seeds.exportEvidenceCsv      -       -       | ok     ok     ok     ok     | none     key
  seeds.count                  -       -       | ok     ok     ok     ok     | out      key
  seeds.similar                -       -       | ok     ok     ok     ok     | out      key
  seeds.merge                  self    -       | ok     ok     ok     role   | none     key
  seeds.merge                  owner   -       | ok     ok     role   role   | none     key
  seeds.unmerge                self    -       | ok     ok     ok     role   | none     key
  seeds.unmerge                owner   -       | ok     ok     role   role   | none     key
  seeds.follow                 -       -       | ok     ok     ok     ok     | none     key
  seeds.unfollow               -       -       | ok     ok     ok     ok     | none     key
  seeds.join                   -       -       | ok     ok     ok     role   | none     key
  seeds.leave                  -       -       | ok     ok     ok     role   | none     key
  seeds.invitePerson           -       -       | ok     ok     ok     role   | none     key
  seeds.listParticipants       -       -       | ok     ok     ok     ok     | none     key
  seeds.listEvidence           -       -       | ok     ok     ok     ok     | none     key
  seeds.addEvidence            -       -       | ok     ok     ok     role   | none     key

  evidence.get                 -       -       | ok     ok     ok     ok     | none     key
  evidence.update              -       -       | ok     ok     ok     role   | none     key
  evidence.withdraw            self    -       | ok     ok     ok     role   | none     key
  evidence.withdraw            owner   -       | ok     ok     author role   | none     key
  evidence.withdraw            viewer  -       | ok     ok     author role   | none     key
  evidence.see                 -       -       | ok     ok     ok     role   | none     key
  evidence.unsee               -       -       | ok     ok     ok     role   | none     key

  comments.list                -       -       | ok     ok     ok     ok     | none     key
  comments.listOfWorkspace     -       -       | ok     ok     ok     ok     | out      key
  comments.get                 -       -       | ok     ok     ok     ok     | none     key
  comments.create              -       -       | ok     ok     ok     role   | none     key
  comments.update              -       -       | ok     ok     ok     role   | none     key
  comments.delete              self    -       | ok     ok     ok     role   | none     key
  comments.delete              owner   -       | ok     ok     author role   | none     key
  comments.delete              viewer  -       | ok     ok     author role   | none     key

  attachments.create           -       -       | ok     ok     ok     role   | out      key
  attachments.get              -       -       | ok     ok     ok     ok     | out      key
  attachments.content          -       -       | ok     ok     ok     ok     | out      key
  attachments.link             -       -       | ok     ok     ok     ok     | out      key
  attachments.delete           self    -       | ok     ok     ok     role   | out      key
  attachments.delete           owner   -       | ok     ok     role   role   | out      key

  agentRequests.list           -       -       | ok     ok     ok     ok     | out      key
  agentRequests.get            -       -       | ok     ok     ok     ok     | out      key
  agentRequests.askable        -       -       | ok     ok     ok     role   | out      key
  agentRequests.cancel         self    -       | ok     ok     ok     ok     | out      key
  agentRequests.cancel         owner   -       | ok     ok     author author | out      key
  agentRequests.cancel         viewer  -       | ok     ok     author author | out      key

  integrations.list            -       -       | ok     ok     ok     ok     | out      key
  integrations.get             self    -       | ok     ok     ok     ok     | out      key
  integrations.get             owner   -       | ok     ok     none   none   | out      key
  integrations.get             member  -       | ok     ok     none   none   | out      key
  integrations.listCalls       self    -       | ok     ok     ok     ok     | out      key
  integrations.listCalls       owner   -       | ok     ok     none   none   | out      key
  integrations.listCalls       admin   -       | ok     ok     none   none   | out      key
  integrations.listCalls       member  -       | ok     ok     none   none   | out      key
  integrations.listCalls       viewer  -       | ok     ok     none   none   | out      key
  integrations.revoke          self    -       | ok     ok     ok     ok     | out      key
  integrations.revoke          owner   -       | ok     ok     none   none   | out      key
  integrations.revoke          admin   -       | ok     ok     none   none   | out      key
  integrations.revoke          member  -       | ok     ok     none   none   | out      key
  integrations.revoke          viewer  -       | ok     ok     none   none   | out      key
`

/** The operation with an id. */
export function findOperation(id: string): Operation {
  const operation = operations[id]
  if (!operation) throw new Error(`${id} is missing in tests/support/operations.ts`)
  return operation
}
