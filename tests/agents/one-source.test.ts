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
  'seeds.update': ['update_seed'],
  'seeds.join': ['join_seed'],
  'seeds.leave': ['leave_seed'],
  'seeds.addEvidence': ['add_evidence'],
  'evidence.update': ['update_evidence'],
  'evidence.withdraw': ['withdraw_evidence'],
  'comments.list': ['read_validation_kit', 'fetch'],
  'comments.create': ['add_comment'],
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
const ofInbox = 'is what the person was told: an agent reads what happened by list_events'
const ofWorkspace = 'decides about the workspace itself: its owners and admins do that themselves'
const ofMembers = 'decides who may do what: no agent raises or removes people'
const inOtherForm = 'has nothing that another tool does not return'
const followsForever = 'is for programs that run for long: a model asks list_events since a time'
const ofPrograms = 'sends data elsewhere: people set that up'
const removesForOthers = 'takes away what others see: a person decides that'
const changesWords = 'changes what was said: a person does that, an agent adds a comment that corrects'
const ofAttention = 'is about what the person wants to be told'
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
  ...fill(ofInbox, ['notifications.list', 'notifications.count', 'notifications.markRead']),
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
    ...['teams.get', 'teams.listMembers'],
  ]),
  ...fill(followsForever, ['events.changes', 'events.stream']),
  ...fill(ofPrograms, [
    ...['webhooks.list', 'webhooks.create', 'webhooks.get', 'webhooks.update', 'webhooks.delete'],
    ...['webhooks.rotateSecret', 'webhooks.test', 'webhooks.listDeliveries', 'webhooks.redeliver'],
    'webhooks.redeliverSince',
  ]),
  ...fill(removesForOthers, ['seeds.delete', 'seeds.restore']),
  ...fill(changesWords, ['comments.update', 'comments.delete']),
  ...fill(ofAttention, ['seeds.follow', 'seeds.unfollow']),
  ...fill(ofGrants, ['integrations.list', 'integrations.revoke']),
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

describe('every tool of agents', () => {
  it('does what an operation does, by the permission of that operation', () => {
    const named = new Set(Object.values(toolsOfOperation).flat())
    expect([...named].toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
    for (const { name, action } of tools) expect(toolsOfOperation[action], name).toContain(name)
  })

  it('takes what the operation takes, but for what is left out on purpose', () => {
    const { operations } = createDescriptionReader(app.swagger())
    const changes = tools.filter(({ hints }) => !hints.readOnlyHint)
    expect(changes).toHaveLength(17)
    for (const { name, action, input } of changes) {
      const operation = operations.find(({ operationId }) => operationId === action)
      const schema = operation?.requestBody?.content['application/json']?.schema as
        { properties?: object } | undefined
      // In the path of the operation.
      const ids = ['seedId', 'evidenceId', 'teamId', 'inviteId', name === 'remove_team_member' && 'userId']
      const given = Object.keys(input.properties).filter((field) => !ids.includes(field))
      const wanted = Object.keys(schema?.properties ?? {}).filter((field) => field !== 'evidenceId')
      expect(given.toSorted(), name).toEqual(wanted.toSorted())
    }
  })
})
