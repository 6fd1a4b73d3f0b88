import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { startTestApp } from '../support/test-app.ts'

const { app, services } = await startTestApp()
const operationIds = createDescriptionReader(app.swagger())
  .operations.map(({ operationId }) => operationId)
  // Those of agents themselves, and of how they and operators get in.
  .filter((id) => !/^(agent|agentOAuth|system)\./.test(id))
const tools = services.agentTools

/** Each operation that agents can do too, and the tools that do it. */
const toolsOfOperation: Record<string, string[]> = {
  'workspaces.search': ['search'],
  'events.list': ['list_events'],
  'people.list': ['list_people'],
  'seeds.list': ['read_validation_kit'],
  'seeds.get': ['read_validation_kit', 'fetch'],
  'seeds.listParticipants': ['read_validation_kit', 'fetch'],
  'seeds.listEvidence': ['read_validation_kit', 'fetch'],
  'seeds.create': ['create_seed'],
  'seeds.update': ['update_seed', 'set_statuses'],
  'seeds.join': ['join_seed'],
  'seeds.leave': ['leave_seed'],
  'seeds.invitePerson': ['ask_to_join'],
  'seeds.addEvidence': ['add_evidence', 'add_evidence_list'],
  'evidence.update': ['update_evidence'],
  'evidence.withdraw': ['withdraw_evidence'],
  'seeds.delete': ['delete_seed'],
  'seeds.restore': ['restore_seed'],
  'seeds.follow': ['follow_seed'],
  'seeds.unfollow': ['follow_seed'],
  'notifications.list': ['inbox'],
  'notifications.markRead': ['mark_read'],
  'agentRequests.list': ['inbox'],
  'comments.list': ['read_validation_kit', 'fetch', 'list_comments'],
  'comments.listOfWorkspace': ['list_comments'],
  'comments.update': ['update_comment'],
  'comments.delete': ['delete_comment'],
  // What was asked is answered or declined.
  'comments.create': ['add_comment', 'decline_request'],
  'invites.list': ['list_invites'],
  'invites.create': ['create_invite'],
  'invites.resend': ['resend_invite'],
  'invites.revoke': ['revoke_invite'],
  'invites.updateRole': ['update_invite'],
  'teams.list': ['list_teams'],
  'teams.create': ['create_team'],
  'teams.rename': ['rename_team'],
  'teams.delete': ['delete_team'],
  'teams.addMember': ['add_team_member'],
  'teams.removeMember': ['remove_team_member'],
}

const ofCredentials = 'gives access to an account: no agent makes or changes credentials'
const ofPerson = "is the person's own: an agent acts in one workspace, and not on the account"
const ofPage = 'is for a page: an agent counts what inbox returns, and marks as read only what it is told to'
const ofWorkspace = 'decides about the workspace itself: its owners and admins do that themselves'
const ofMembers = 'decides who may do what: no agent raises or removes people'
const movesTexts = 'moves what others wrote to another seed: people decide that'
const ofWitnesses = 'is what a person saw: no agent says that for them'
const inOtherForm = 'has nothing that another tool does not return'
const ofLabels = 'makes the vocabulary of a team: agents use the labels that people made'
const ofReaders = 'is for people who open the same list again: a model filters as it needs'
const ofFiles = 'has bytes, which a model neither sends nor decides about'
const ofTables = 'has a table with up to 5,000 seeds: a person looks at what it would do first'
const followsForever = 'is for programs that run for long: a model asks list_events since a time'
const ofPrograms = 'sends data elsewhere: people set that up'
const ofAskers = 'is for who asks agents: what an agent writes asks nobody'
const ofServices = 'gives programs access that stays: people decide that'
const ofGrants = 'is about the access of agents: no agent widens or ends it'
const watchesAgents = 'is for people who watch what agents did'

/** The operations that agents do not have, and why. */
const reasons: Record<string, string> = {
  ...fill(ofCredentials, [
    ...['apiKeys.list', 'apiKeys.create', 'apiKeys.createRestricted', 'apiKeys.get', 'apiKeys.restrictions'],
    ...['apiKeys.restrict', 'apiKeys.rotate', 'apiKeys.revoke'],
  ]),
  ...fill(ofPerson, [
    ...[
      'me.profile',
      'me.updateProfile',
      'me.preferences',
      'me.updatePreferences',
      'me.home',
      'me.onboarding',
    ],
    ...['me.removePhoto', 'me.uploadPhoto', 'me.listInvites', 'me.acceptInvite', 'me.declineInvite'],
    ...['me.listOffers', 'me.acceptOffer', 'me.declineOffer', 'workspaces.list', 'workspaces.create'],
    ...['invites.get', 'invites.accept', 'invites.decline', 'me.delete', 'me.export'],
  ]),
  ...fill(ofPage, ['notifications.count', 'notifications.markUnread']),
  ...fill(ofPerson, ['notifications.preferences', 'notifications.updatePreferences']),
  ...fill(ofWorkspace, [
    ...['workspaces.slugAvailable', 'workspaces.slugAvailability', 'workspaces.update'],
    ...[
      'workspaces.removeIcon',
      'workspaces.uploadIcon',
      'workspaces.transferOwnership',
      'workspaces.delete',
    ],
    'workspaces.export',
  ]),
  ...fill(ofMembers, ['members.updateRole', 'members.remove']),
  ...fill(inOtherForm, [
    ...['workspaces.get', 'workspaces.searchCounts', 'members.list', 'events.get'],
    ...['teams.get', 'teams.listMembers', 'members.get', 'invites.getById'],
    ...['labels.list', 'labels.get', 'seeds.exportCsv', 'seeds.exportEvidenceCsv'],
    ...['evidence.get', 'comments.get', 'attachments.get', 'attachments.content', 'attachments.link'],
  ]),
  ...fill(ofTables, ['seeds.import', 'seeds.importStatus', 'seeds.undoImport']),
  ...fill(ofLabels, ['labels.create', 'labels.update', 'labels.delete']),
  ...fill(inOtherForm, ['savedFilters.list', 'savedFilters.get']),
  ...fill(ofReaders, ['savedFilters.create', 'savedFilters.update', 'savedFilters.delete']),
  ...fill(ofFiles, ['attachments.create', 'attachments.delete']),
  ...fill(inOtherForm, ['seeds.count', 'seeds.similar']),
  ...fill(ofWitnesses, ['evidence.see', 'evidence.unsee']),
  ...fill(movesTexts, ['seeds.merge', 'seeds.unmerge']),
  ...fill(followsForever, ['events.changes', 'events.stream']),
  ...fill(ofPrograms, [
    'apiKeys.listOfWorkspace',
    ...['webhooks.list', 'webhooks.create', 'webhooks.get', 'webhooks.update', 'webhooks.delete'],
    ...[
      'webhooks.resume',
      'webhooks.rotateSecret',
      'webhooks.test',
      'webhooks.sample',
      'webhooks.listDeliveries',
      'webhooks.redeliver',
    ],
    'webhooks.redeliverSince',
  ]),
  ...fill(ofServices, [
    ...['serviceAccounts.list', 'serviceAccounts.get', 'serviceAccounts.create', 'serviceAccounts.update'],
    ...['serviceAccounts.delete', 'serviceAccounts.listKeys', 'serviceAccounts.createKey'],
    ...['serviceAccounts.rotateKey', 'serviceAccounts.revokeKey', 'serviceAccounts.listClients'],
    ...['serviceAccounts.createClient', 'serviceAccounts.rotateClient', 'serviceAccounts.revokeClient'],
  ]),
  ...fill(ofGrants, ['integrations.list', 'integrations.get', 'integrations.revoke']),
  ...fill(ofGrants, ['workspaces.agentPolicy', 'workspaces.updateAgentPolicy']),
  ...fill(inOtherForm, ['agentRequests.get']),
  ...fill(ofAskers, ['agentRequests.askable', 'agentRequests.cancel']),
  ...fill(watchesAgents, ['integrations.listCalls']),
}

function fill(reason: string, ids: readonly string[]): Record<string, string> {
  return Object.fromEntries(ids.map((id) => [id, reason]))
}

describe('every operation of the API', () => {
  const entries = [...Object.keys(toolsOfOperation), ...Object.keys(reasons)]

  it('is a tool of agents, or there is a reason', () => {
    expect(operationIds.length).toBeGreaterThan(80)
    expect(operationIds.filter((id) => !entries.includes(id))).toEqual([])
  })

  it('is listed once, and only while it exists', () => {
    expect(entries.filter((id) => !operationIds.includes(id))).toEqual([])
    expect(entries.filter((id, i) => entries.indexOf(id) !== i)).toEqual([])
  })
})

/** People sort seeds: a tool that names teams and labels would need tokens of every request. */
const sorting = ['teamId', 'labelIds']

/** The fields that a tool leaves to another one, or to people. */
const leftOutOf: Record<string, string[]> = {
  set_statuses: [
    'title',
    'summary',
    'problem',
    'audience',
    'hypothesis',
    'successCriteria',
    'criteria',
    'leadUserId',
    'question',
    'decideBy',
    ...sorting,
  ],
  update_seed: sorting,
  // New ones have no states yet.
  create_seed: ['criteria', ...sorting],
  decline_request: ['body'],
}

describe('every tool of agents', () => {
  /** What a tool does: by its permission, or, for what is the person's own, the only operation that is that tool. */
  const operationOf = ({ name, action }: (typeof tools)[number]) =>
    action ?? Object.keys(toolsOfOperation).find((id) => toolsOfOperation[id]?.includes(name))

  it('does what an operation does, by the permission of that operation', () => {
    const named = new Set(Object.values(toolsOfOperation).flat())
    expect([...named].toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
    for (const tool of tools)
      expect(toolsOfOperation[operationOf(tool) ?? ''], tool.name).toContain(tool.name)
    // Whoever may do what has no row of the permission table is anybody, about what is theirs.
    expect(tools.filter(({ action }) => action === undefined).map(operationOf)).toEqual([
      ...['notifications.list', 'notifications.markRead'],
    ])
  })

  it('takes what the operation takes, but for what is left out on purpose', () => {
    const { operations } = createDescriptionReader(app.swagger())
    const changes = tools.filter(({ hints }) => !hints.readOnlyHint)
    expect(changes).toHaveLength(27)
    for (const tool of changes) {
      const { name, action, input } = tool
      const operation = operations.find(({ operationId }) => operationId === operationOf(tool))
      const schema = operation?.requestBody?.content['application/json']?.schema as
        { properties?: object } | undefined
      // In the path of the operation.
      const ids = [
        ...['seedId', 'evidenceId', 'commentId', 'teamId', 'inviteId', 'requestId'],
        name === 'decline_request' && 'reason',
        name === 'remove_team_member' && 'userId',
        // One tool for both operations.
        name === 'follow_seed' && 'follow',
      ]
      // Of a tool that makes several changes, each entry takes it.
      const [list] = Object.values(input.properties)
      const { properties } = (list?.items as { properties?: object } | undefined) ?? {}
      const given = Object.keys(properties ?? input.properties).filter((field) => !ids.includes(field))
      // Agents join by a tool of its own.
      // Models have no files to upload.
      const leftOut = [
        'evidenceId',
        'attachmentIds',
        action === 'seeds.addEvidence' && 'join',
        ...(leftOutOf[name] ?? []),
      ]
      const wanted = Object.keys(schema?.properties ?? {}).filter((field) => !leftOut.includes(field))
      expect(given.toSorted(), name).toEqual(wanted.toSorted())
    }
  })
})
