import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { assertedAgentsStates } from './agent.ts'
import { criterionStates } from './criteria.ts'
import { canonicalizeEmail } from '../kernel/email.ts'
import { exampleIds } from './example-ids.ts'
import { roles } from './roles.ts'
import { serviceRoles, userKinds } from './service-accounts.ts'
import { closed, nullableString, stringEnum } from '../kernel/schemas.ts'
import {
  askedAs,
  changedOfEvidence,
  changedOfSeed,
  evidenceKinds,
  seedStatuses,
  verdicts,
  type EvidenceKind,
  type Verdict,
} from './seeds.ts'
import { attachmentTargets } from './attachments.ts'
import { nameSecrets } from './known-secrets.ts'
import { webhookScopes, webhookStatuses } from './webhooks.ts'

/** Who may see events of a type: everybody in the workspace; who may list invites and webhooks; or who may list an agent's grant. */
export const eventReaders = ['everybody', 'managers', 'grantors'] as const
export type EventReaders = (typeof eventReaders)[number]

export type EventTargetType =
  | 'workspace'
  | 'user'
  | 'invite'
  | 'team'
  | 'label'
  | 'saved_filter'
  | 'seed'
  | 'evidence'
  | 'comment'
  | 'integration'
  | 'webhook'

/** What other members see of a person, and may have copied. */
export const memberFieldNames = ['name', 'email', 'image'] as const
export type MemberField = (typeof memberFieldNames)[number]

const memberFieldLabels: Record<MemberField, string> = {
  name: 'their name',
  email: 'their email address',
  image: 'their photo',
}

/** What there is to know about a type of events. */
export interface EventKind<Fields extends TProperties = TProperties> {
  /** The fields of `data`: ids, names as they were, and values. Never the text of evidence. */
  data: TObject<Fields>
  readers: EventReaders
  /** The kind of thing that the event is about, and the field of `data` that has its id. */
  target: readonly [type: EventTargetType, field: string]
  /** Further fields of `data` that are names, with the fields that have their ids: see `nameFields`. */
  names?: Readonly<Record<string, string>>
  /** The summary: a sentence for people that begins with the actor's name if there is an actor. */
  summarize: (data: Static<TObject<Fields>>, actor: string, actorUserId?: string | null) => string
  example: Static<TObject<Fields>>
}

const id = (of: string) => Type.String({ description: `The id of ${of}.` })
const text = (description: string) => Type.String({ description })
const role = (description: string) => stringEnum(roles, { description })

function kind<Fields extends TProperties>(
  fields: Fields,
  rest: Omit<EventKind<Fields>, 'data' | 'target'> & {
    target: readonly [type: EventTargetType, field: keyof Fields & string]
  },
): EventKind<Fields> {
  return { data: closed(fields), ...rest }
}

const person = { userId: id('the person'), name: text('Their name at the time.') }
const examplePerson = { userId: exampleIds.user, name: 'Ada Lovelace' }

const serviceKind = Type.Optional(
  stringEnum(userKinds, {
    description: 'Whether it is a person or a service account. Absent: a person.',
  }),
)

const service = {
  serviceAccountId: id('the service account'),
  userId: id('its member'),
  name: text('The name of the service account at the time.'),
}
const exampleService = {
  serviceAccountId: exampleIds.serviceAccount,
  userId: exampleIds.serviceUser,
  name: 'CRM sync',
}
const serviceKey = { ...service, apiKeyId: id('the API key'), keyName: text('The name of the API key.') }
const serviceClient = {
  ...service,
  grantId: id('the client, and of its access'),
  clientName: text('The name of the client.'),
}
const exampleServiceClient = {
  ...exampleService,
  grantId: exampleIds.grant,
  clientName: 'Nightly import',
}
const exampleServiceKey = { ...exampleService, apiKeyId: exampleIds.apiKey, keyName: 'Production' }

const workspace = {
  workspaceId: id('the workspace'),
  name: text('The name of the workspace at the time.'),
}
const exampleWorkspace = { workspaceId: exampleIds.workspace, name: 'Acme' }
const workspaceFields = (description: string) =>
  closed(
    { name: Type.String(), slug: Type.String(), allowedDomains: Type.Array(Type.String()) },
    { description },
  )

const agentPolicy = (description: string) =>
  closed(
    {
      assertedAgents: stringEnum(assertedAgentsStates),
      scopes: Type.Array(Type.String()),
      clients: Type.Array(Type.String()),
    },
    { description },
  )

const invite = { inviteId: id('the invite'), email: text('The invited address.') }
const exampleInvite = { inviteId: exampleIds.invite, email: 'ada@example.com' }
const inviter = {
  invitedByUserId: id('the person who invited them'),
  invitedByName: text('The name of that person at the time.'),
}
const exampleInviter = { invitedByUserId: exampleIds.actor, invitedByName: 'Grace Hopper' }

const team = { teamId: id('the team'), teamName: text('The name of the team at the time.') }
const exampleTeam = { teamId: exampleIds.team, teamName: 'Research' }

const label = { labelId: id('the label'), labelName: text('The name of the label at the time.') }
const savedFilter = {
  filterId: id('the saved filter'),
  filterName: text('The name of the saved filter at the time.'),
}
const exampleSavedFilter = { filterId: exampleIds.savedFilter, filterName: 'Due this week' }
const exampleLabel = { labelId: exampleIds.label, labelName: 'Pricing' }

const seed = { seedId: id('the seed'), title: text('The title of the seed at the time.') }
const exampleSeed = { seedId: exampleIds.seed, title: 'Lending library for tools' }

const movedCounts = {
  evidenceCount: Type.Integer({ description: 'How many pieces of evidence moved, also withdrawn ones.' }),
  commentCount: Type.Integer({ description: 'How many comments moved.' }),
}

const comment = {
  commentId: id('the comment'),
  ...seed,
  evidenceId: nullableString({ description: 'The evidence that it is about; null for the seed itself.' }),
}
const exampleComment = { commentId: exampleIds.comment, ...exampleSeed, evidenceId: null }
const seenPiece = {
  evidenceId: id('the evidence'),
  ...seed,
  kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
  verdict: stringEnum(verdicts, { description: 'Whether it is for or against the seed.' }),
}
const exampleSeenPiece = {
  evidenceId: exampleIds.evidence,
  ...exampleSeed,
  kind: 'interview' as const,
  verdict: 'supports' as const,
}
const attachmentIds = Type.Optional(
  Type.Array(Type.String(), { description: 'The ids of its files. Absent: it has none.' }),
)
const commented = (of: { title: string; evidenceId: string | null }) =>
  of.evidenceId === null ? `the seed ${of.title}` : `evidence of the seed ${of.title}`

const grant = {
  grantId: id('the grant'),
  clientName: text('The name of the agent.'),
  userId: id('the person for whom the agent acts'),
}
const exampleGrant = { grantId: exampleIds.grant, clientName: 'Claude', userId: exampleIds.user }

const agentRequest = {
  agentRequestId: id('the request'),
  ...comment,
  grantId: id('the grant of the agent'),
  clientName: text('The name of the agent.'),
}
const exampleAgentRequest = {
  agentRequestId: exampleIds.agentRequest,
  ...exampleComment,
  grantId: exampleIds.grant,
  clientName: 'Claude',
}

const webhook = {
  webhookId: id('the webhook'),
  host: text('The host of its URL at the time. The rest of the URL may be secret.'),
}
const exampleWebhook = { webhookId: exampleIds.webhook, host: 'hooks.example.com' }

/**
 * All types of events: `target.what_happened`. `data` may gain fields; a released field keeps its name and meaning. What is
 * needed to erase a person is in the names of the fields: see `withoutPerson`.
 */
export const eventKinds = {
  'workspace.created': kind(
    { ...workspace, slug: text('Its slug at the time.') },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: ({ name }, actor) => `${actor} created the workspace ${name}`,
      example: { ...exampleWorkspace, slug: 'acme' },
    },
  ),
  'workspace.updated': kind(
    {
      workspaceId: workspace.workspaceId,
      from: workspaceFields('Before the change.'),
      to: workspaceFields('After the change.'),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize({ from, to }, actor) {
        const domains = to.allowedDomains.join(', ')
        const changes = [
          from.name !== to.name && `renamed the workspace from ${from.name} to ${to.name}`,
          from.slug !== to.slug && `changed the workspace address from ${from.slug} to ${to.slug}`,
          from.allowedDomains.join(', ') !== domains &&
            `set the allowed email domains to ${domains || 'none'}`,
        ]
        return `${actor} ${changes.filter((change) => change !== false).join(' and ')}`
      },
      example: {
        workspaceId: exampleIds.workspace,
        from: { name: 'Acme', slug: 'acme', allowedDomains: [] },
        to: { name: 'Acme Labs', slug: 'acme', allowedDomains: ['acme.example'] },
      },
    },
  ),
  'workspace.icon_changed': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} changed the icon of ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.icon_removed': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} removed the icon of ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.agent_policy_changed': kind(
    {
      workspaceId: workspace.workspaceId,
      from: agentPolicy('Before the change.'),
      to: agentPolicy('After the change.'),
    },
    {
      readers: 'managers',
      target: ['workspace', 'workspaceId'],
      summarize({ from, to }, actor) {
        if (from.assertedAgents !== to.assertedAgents)
          return to.assertedAgents === 'on'
            ? `${actor} let identity providers give agents access`
            : `${actor} no longer lets identity providers give agents access`
        return `${actor} changed which agents identity providers give access, and what these may do`
      },
      example: {
        workspaceId: exampleIds.workspace,
        from: { assertedAgents: 'off', scopes: ['validation-kit:read'], clients: [] },
        to: {
          assertedAgents: 'on',
          scopes: ['validation-kit:read', 'workspace:read'],
          clients: ['r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez'],
        },
      },
    },
  ),
  'workspace.ownership_transferred': kind(
    {
      workspaceId: workspace.workspaceId,
      userId: id('the new owner'),
      name: text('Their name at the time.'),
      from: role('Their role before.'),
      formerOwnerUserId: id('the person who transferred the ownership, and is an admin now'),
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ name }, actor) => `${actor} transferred the ownership of the workspace to ${name}`,
      example: {
        workspaceId: exampleIds.workspace,
        ...examplePerson,
        from: 'admin',
        formerOwnerUserId: exampleIds.actor,
      },
    },
  ),
  'workspace.deleted': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} deleted the workspace ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.restored': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} restored the workspace ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.exported': kind(
    { workspaceId: workspace.workspaceId },
    {
      readers: 'managers',
      target: ['workspace', 'workspaceId'],
      summarize: (_, actor) => `${actor} began an export of the workspace`,
      example: { workspaceId: exampleIds.workspace },
    },
  ),
  'workspace.imported': kind(
    {
      workspaceId: workspace.workspaceId,
      importId: id('the import'),
      seedCount: Type.Integer({ description: 'How many seeds it creates. Each has its own event.' }),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: ({ seedCount }, actor) =>
        `${actor} began an import of ${seedCount} ${seedCount === 1 ? 'seed' : 'seeds'}`,
      example: { workspaceId: exampleIds.workspace, importId: exampleIds.seedImport, seedCount: 120 },
    },
  ),
  'workspace.import_undone': kind(
    {
      workspaceId: workspace.workspaceId,
      importId: id('the import'),
      keptCount: Type.Integer({
        description: 'How many of its seeds stay, since others have added to them.',
      }),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: (_, actor) => `${actor} began to undo an import of seeds`,
      example: { workspaceId: exampleIds.workspace, importId: exampleIds.seedImport, keptCount: 2 },
    },
  ),
  'member.joined': kind(
    {
      ...person,
      role: role('Their role.'),
      inviteId: nullableString({ description: 'The invite that they accepted.' }),
      invitedByUserId: nullableString({ description: 'The id of the person who invited them.' }),
      invitedByName: nullableString({ description: 'The name of that person at the time.' }),
      domain: nullableString({
        description: 'The allowed email domain by which they joined without an invite.',
      }),
      teamIds: Type.Array(Type.String(), {
        description: 'The teams of the invite, which they joined with the workspace.',
      }),
      kind: serviceKind,
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize({ name, kind: joined, role: joinedAs, invitedByName, domain }, actor) {
        if (joined === 'service') return `${actor} added the service account ${name} as ${joinedAs}`
        return domain === null
          ? `${actor} accepted the invite of ${invitedByName ?? 'somebody'} and joined as ${joinedAs}`
          : `${actor} joined with an email address at ${domain}`
      },
      example: {
        ...examplePerson,
        ...exampleInviter,
        role: 'member',
        inviteId: exampleIds.invite,
        domain: null,
        teamIds: [exampleIds.team],
      },
    },
  ),
  'member.role_changed': kind(
    { ...person, from: role('The role before.'), to: role('The role now.') },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ name, from, to }, actor) => `${actor} changed the role of ${name} from ${from} to ${to}`,
      example: { ...examplePerson, from: 'member', to: 'admin' },
    },
  ),
  'member.updated': kind(
    {
      userId: id('the person'),
      fields: Type.Array(stringEnum(memberFieldNames), {
        description: 'What of them has changed. `members.get` has the new values.',
      }),
      kind: serviceKind,
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ fields, kind: updated }, actor) => {
        if (updated === 'service') return `${actor} renamed a service account`
        const changed = fields.map((field) => memberFieldLabels[field])
        return `${actor} changed ${changed.length > 1 ? `${changed.slice(0, -1).join(', ')} and ` : ''}${changed.at(-1)}`
      },
      example: { userId: exampleIds.user, fields: ['name'] },
    },
  ),
  'person.erased': kind(
    { userId: id('the person') },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: (_, actor) => `${actor} erased the name of a person whose account was deleted`,
      example: { userId: exampleIds.user },
    },
  ),
  'member.removed': kind(
    {
      ...person,
      reason: stringEnum(['removed', 'account_deleted'], {
        description: 'Whether somebody removed them, or their account was deleted.',
      }),
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ name, reason }, actor) =>
        reason === 'removed'
          ? `${actor} removed ${name}`
          : 'A member was removed because their account was deleted',
      example: { ...examplePerson, reason: 'removed' },
    },
  ),
  'member.suspended': kind(person, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name }, actor) => `${actor} suspended ${name}`,
    example: examplePerson,
  }),
  'member.unsuspended': kind(person, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name }, actor) => `${actor} ended the suspension of ${name}`,
    example: examplePerson,
  }),
  'api_key.stopped': kind(
    { apiKeyId: id('the key'), userId: id('its owner') },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: (_, actor) => `${actor} stopped an API key, whose owner is not a member any more`,
      example: { apiKeyId: exampleIds.apiKey, userId: exampleIds.user },
    },
  ),
  'member.left': kind(
    { ...person, workspaceName: text('The name of the workspace at the time.') },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ workspaceName }, actor) => `${actor} left ${workspaceName}`,
      example: { ...examplePerson, workspaceName: 'Acme' },
    },
  ),
  'invite.created': kind(
    { ...invite, role: role('The role that they will have.') },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email, role: invitedAs }, actor) => `${actor} invited ${email} as ${invitedAs}`,
      example: { ...exampleInvite, role: 'member' },
    },
  ),
  'invite.resent': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} sent the invite to ${email} again`,
    example: exampleInvite,
  }),
  'invite.revoked': kind(
    {
      inviteId: invite.inviteId,
      email: nullableString({
        description:
          'The invited address. Null if the account of the invited or of the inviting person was deleted.',
      }),
    },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email }, actor) =>
        email === null
          ? 'An invite was revoked because an account was deleted'
          : `${actor} revoked the invite to ${email}`,
      example: exampleInvite,
    },
  ),
  'invite.declined': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} declined the invite to ${email}`,
    example: exampleInvite,
  }),
  'invite.undeliverable': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} could not deliver the invite to ${email}`,
    example: exampleInvite,
  }),
  'invite.role_changed': kind(
    { ...invite, from: role('The role before.'), to: role('The role now.') },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email, from, to }, actor) =>
        `${actor} changed the role of the invite to ${email} from ${from} to ${to}`,
      example: { ...exampleInvite, from: 'viewer', to: 'member' },
    },
  ),
  'invite.accepted': kind(
    { inviteId: invite.inviteId, ...inviter },
    {
      readers: 'everybody',
      target: ['invite', 'inviteId'],
      summarize: ({ invitedByName }, actor) =>
        `${actor} accepted the invite of ${invitedByName} but was already a member`,
      example: { inviteId: exampleIds.invite, ...exampleInviter },
    },
  ),
  'team.created': kind(team, {
    readers: 'everybody',
    target: ['team', 'teamId'],
    summarize: ({ teamName }, actor) => `${actor} created the team ${teamName}`,
    example: exampleTeam,
  }),
  'team.renamed': kind(
    { teamId: team.teamId, from: text('The name before.'), to: text('The name now.') },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      names: { from: '', to: 'teamId' },
      summarize: ({ from, to }, actor) => `${actor} renamed the team ${from} to ${to}`,
      example: { teamId: exampleIds.team, from: 'Research', to: 'Discovery' },
    },
  ),
  'team.deleted': kind(team, {
    readers: 'everybody',
    target: ['team', 'teamId'],
    summarize: ({ teamName }, actor) => `${actor} deleted the team ${teamName}`,
    example: exampleTeam,
  }),
  'team.member_added': kind(
    { ...team, ...person, isSelf: Type.Boolean({ description: 'Whether they did it themselves.' }) },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      summarize: ({ teamName, name, isSelf }, actor) =>
        isSelf ? `${actor} joined the team ${teamName}` : `${actor} added ${name} to the team ${teamName}`,
      example: { ...exampleTeam, ...examplePerson, isSelf: false },
    },
  ),
  'team.member_removed': kind(
    { ...team, ...person, isSelf: Type.Boolean({ description: 'Whether they did it themselves.' }) },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      summarize: ({ teamName, name, isSelf }, actor) =>
        isSelf ? `${actor} left the team ${teamName}` : `${actor} removed ${name} from the team ${teamName}`,
      example: { ...exampleTeam, ...examplePerson, isSelf: false },
    },
  ),
  'label.created': kind(label, {
    readers: 'everybody',
    target: ['label', 'labelId'],
    summarize: ({ labelName }, actor) => `${actor} created the label ${labelName}`,
    example: exampleLabel,
  }),
  'label.updated': kind(
    { labelId: label.labelId, from: text('The name before.'), to: text('The name now.') },
    {
      readers: 'everybody',
      target: ['label', 'labelId'],
      names: { from: '', to: 'labelId' },
      summarize: ({ from, to }, actor) => `${actor} renamed the label ${from} to ${to}`,
      example: { labelId: exampleIds.label, from: 'Pricing', to: 'Prices' },
    },
  ),
  'label.deleted': kind(label, {
    readers: 'everybody',
    target: ['label', 'labelId'],
    summarize: ({ labelName }, actor) => `${actor} deleted the label ${labelName}`,
    example: exampleLabel,
  }),
  'saved_filter.created': kind(savedFilter, {
    readers: 'everybody',
    target: ['saved_filter', 'filterId'],
    summarize: ({ filterName }, actor) => `${actor} shared the saved filter ${filterName}`,
    example: exampleSavedFilter,
  }),
  'saved_filter.updated': kind(
    {
      filterId: savedFilter.filterId,
      from: text('The name before.'),
      to: text('The name now.'),
      filtersChanged: Type.Boolean({ description: 'Whether it has other filters now.' }),
    },
    {
      readers: 'everybody',
      target: ['saved_filter', 'filterId'],
      names: { from: '', to: 'filterId' },
      summarize: ({ from, to, filtersChanged }, actor) =>
        from === to
          ? `${actor} changed the saved filter ${to}`
          : `${actor} renamed the saved filter ${from} to ${to}${filtersChanged ? ' and changed it' : ''}`,
      example: { filterId: exampleIds.savedFilter, from: 'Due', to: 'Due this week', filtersChanged: false },
    },
  ),
  'saved_filter.deleted': kind(savedFilter, {
    readers: 'everybody',
    target: ['saved_filter', 'filterId'],
    summarize: ({ filterName }, actor) => `${actor} removed the shared saved filter ${filterName}`,
    example: exampleSavedFilter,
  }),
  'seed.created': kind(
    {
      ...seed,
      attachmentIds,
      teamId: Type.Optional(Type.String({ description: 'The id of its team. Absent: it has none.' })),
      labelIds: Type.Optional(
        Type.Array(Type.String(), { description: 'The ids of its labels. Absent: it has none.' }),
      ),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title }, actor) => `${actor} created the seed ${title}`,
      example: exampleSeed,
    },
  ),
  'seed.updated': kind(
    {
      seedId: seed.seedId,
      title: text('The title of the seed after the change.'),
      titleBefore: nullableString({ description: 'The title before, if it was changed.' }),
      fields: Type.Array(stringEnum(changedOfSeed), { description: 'What was changed.' }),
      status: Type.Unsafe<{ from: (typeof seedStatuses)[number]; to: (typeof seedStatuses)[number] } | null>({
        type: ['object', 'null'],
        description: 'The status before and now, if it was changed.',
        properties: { from: stringEnum(seedStatuses), to: stringEnum(seedStatuses) },
        required: ['from', 'to'],
        additionalProperties: false,
      }),
      statusReason: nullableString({ description: 'Why the status was changed, if that was said.' }),
      leadUserId: nullableString({
        description: 'The id of the person who leads it now, if `fields` has `leadUserId`; null for nobody.',
      }),
      leadName: nullableString({ description: 'The name of that person at the time.' }),
      leadUserIdBefore: Type.Optional(
        nullableString({
          description:
            'The id of the person who led it before, if `fields` has `leadUserId`; null for nobody.',
        }),
      ),
      leadNameBefore: Type.Optional(nullableString({ description: 'The name of that person at the time.' })),
      teamId: Type.Optional(
        nullableString({ description: 'The id of its team now, if `fields` has `teamId`; null for none.' }),
      ),
      teamName: Type.Optional(nullableString({ description: 'The name of that team at the time.' })),
      teamIdBefore: Type.Optional(
        nullableString({
          description: 'The id of its team before, if `fields` has `teamId`; null for none.',
        }),
      ),
      teamNameBefore: Type.Optional(nullableString({ description: 'The name of that team at the time.' })),
      labelIds: Type.Optional(
        Type.Array(Type.String(), { description: 'The ids of its labels now, if `fields` has `labelIds`.' }),
      ),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      names: { teamNameBefore: 'teamIdBefore' },
      summarize(data, actor, actorUserId) {
        const { title, titleBefore, fields, status, leadName, leadUserIdBefore, leadNameBefore } = data
        const changes = fields.map((field) => `the ${seedFieldLabels[field]}${describeStep(field, data)}`)
        if (fields.length > 1)
          return fields.some((field) => describeStep(field, data) !== '')
            ? `${actor} changed the seed ${title}: ${listOf(changes)}`
            : `${actor} changed ${listOf(changes)} of the seed ${title}`
        if (titleBefore !== null)
          return `${actor} changed the title of the seed from ${titleBefore} to ${title}`
        if (status)
          return `${actor} changed the status of the seed ${title} from ${status.from} to ${status.to}`
        if (fields[0] === 'teamId') return `${actor} ${describeTeam(data)}`
        if (fields[0] !== 'leadUserId') return `${actor} changed ${listOf(changes)} of the seed ${title}`
        if (leadName !== null)
          return leadNameBefore == null
            ? `${actor} made ${leadName} the lead of the seed ${title}`
            : `${actor} changed the lead of the seed ${title} from ${leadNameBefore} to ${leadName}`
        if (leadUserIdBefore != null && leadUserIdBefore === actorUserId)
          return `${actor} stepped down as the lead of the seed ${title}`
        return leadNameBefore == null
          ? `${actor} removed the lead of the seed ${title}`
          : `${actor} removed ${leadNameBefore} as the lead of the seed ${title}`
      },
      example: {
        ...exampleSeed,
        titleBefore: null,
        fields: ['hypothesis', 'status'],
        status: { from: 'open', to: 'validating' },
        statusReason: 'Three teams want to try it.',
        leadUserId: null,
        leadName: null,
        leadUserIdBefore: null,
        leadNameBefore: null,
      },
    },
  ),
  'seed.criterion_changed': kind(
    {
      ...seed,
      criterionId: id('the success criterion'),
      text: text('What it says, after the change.'),
      from: stringEnum(criterionStates, { description: 'Its state before; `open` if it is new.' }),
      to: stringEnum(criterionStates, { description: 'Its state now.' }),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      // A text like a name, which may be in another direction than the sentence.
      names: { text: '' },
      summarize: ({ title, text: criterion, to }, actor) =>
        `${actor} marked “${criterion}” as ${to} in the seed ${title}`,
      example: {
        ...exampleSeed,
        criterionId: exampleIds.criterion,
        text: 'Ten of twelve would pay',
        from: 'open',
        to: 'met',
      },
    },
  ),
  'seed.joined': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} joined the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.person_asked': kind(
    { ...seed, ...person, as: stringEnum(askedAs, { description: 'What they are to be in the seed.' }) },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title, name, as }, actor) =>
        `${actor} asked ${name} to ${as === 'lead' ? 'join and lead' : 'join'} the seed ${title}`,
      example: { ...exampleSeed, ...examplePerson, as: 'participant' },
    },
  ),
  'seed.left': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} left the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.deleted': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} deleted the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.restored': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} restored the seed ${title}`,
    example: exampleSeed,
  }),
  'attachment.deleted': kind(
    {
      attachmentId: id('the file'),
      name: text('The name of the file.'),
      ...seed,
      targetType: stringEnum(attachmentTargets, { description: 'What it was attached to.' }),
      targetId: id('the seed, evidence or comment that it was attached to'),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title, name }, actor) => `${actor} deleted the file ${name} of the seed ${title}`,
      example: {
        ...{ attachmentId: exampleIds.attachment, name: 'interviews.csv', ...exampleSeed },
        ...{ targetType: 'evidence', targetId: exampleIds.evidence },
      },
    },
  ),
  'seed.merged': kind(
    {
      ...seed,
      intoSeedId: id('the seed that it was merged into'),
      intoTitle: text('The title of that seed at the time.'),
      ...movedCounts,
    },
    {
      readers: 'everybody',
      target: ['seed', 'intoSeedId'],
      names: { intoTitle: 'intoSeedId' },
      summarize: ({ title, intoTitle }, actor) => `${actor} merged the seed ${title} into ${intoTitle}`,
      example: {
        ...exampleSeed,
        ...{ intoSeedId: exampleIds.otherSeed, intoTitle: 'Library of things' },
        ...{ evidenceCount: 3, commentCount: 5 },
      },
    },
  ),
  'seed.unmerged': kind(
    {
      ...seed,
      fromSeedId: id('the seed that it had been merged into'),
      fromTitle: text('The title of that seed at the time.'),
      ...movedCounts,
    },
    {
      readers: 'everybody',
      target: ['seed', 'fromSeedId'],
      names: { fromTitle: 'fromSeedId' },
      summarize: ({ title, fromTitle }, actor) => `${actor} took the seed ${title} out of ${fromTitle} again`,
      example: {
        ...exampleSeed,
        ...{ fromSeedId: exampleIds.otherSeed, fromTitle: 'Library of things' },
        ...{ evidenceCount: 3, commentCount: 5 },
      },
    },
  ),
  'evidence.added': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
      verdict: stringEnum(verdicts, { description: 'Whether it is for or against the seed.' }),
      attachmentIds,
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize: ({ title, ...piece }, actor) =>
        `${actor} added ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
      example: { evidenceId: exampleIds.evidence, ...exampleSeed, kind: 'interview', verdict: 'supports' },
    },
  ),
  'evidence.updated': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      fields: Type.Array(stringEnum(changedOfEvidence), { description: 'What was corrected.' }),
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize({ title, fields }, actor) {
        const list = listOf(fields.map((field) => `the ${evidenceFieldLabels[field]}`))
        return `${actor} corrected ${list} of evidence of the seed ${title}`
      },
      example: { evidenceId: exampleIds.evidence, ...exampleSeed, fields: ['verdict'] },
    },
  ),
  'evidence.withdrawn': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
      verdict: stringEnum(verdicts, { description: 'Whether it was for or against the seed.' }),
      reason: nullableString({ description: 'Why it was withdrawn, if that was said.' }),
      userId: nullableString({ description: 'The id of its author. Null: the account was deleted.' }),
      name: text('The name of its author at the time.'),
      isSelf: Type.Boolean({ description: 'Whether the author withdrew it.' }),
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize: ({ title, name, isSelf, ...piece }, actor) =>
        `${actor} withdrew ${describeKind(piece)} ${isSelf ? '' : `by ${name} `}that ${describeVerdict(piece)} the seed ${title}`,
      example: {
        evidenceId: exampleIds.evidence,
        ...exampleSeed,
        kind: 'interview',
        verdict: 'supports',
        reason: 'The people asked were not customers.',
        ...examplePerson,
        isSelf: false,
      },
    },
  ),
  'evidence.seen': kind(seenPiece, {
    readers: 'everybody',
    target: ['evidence', 'evidenceId'],
    summarize: ({ title, ...piece }, actor) =>
      `${actor} has seen this too: ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
    example: exampleSeenPiece,
  }),
  'evidence.unseen': kind(seenPiece, {
    readers: 'everybody',
    target: ['evidence', 'evidenceId'],
    summarize: ({ title, ...piece }, actor) =>
      `${actor} took back that they saw this too: ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
    example: exampleSeenPiece,
  }),
  'comment.added': kind(
    { ...comment, attachmentIds },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: (data, actor) => `${actor} commented on ${commented(data)}`,
      example: exampleComment,
    },
  ),
  'comment.updated': kind(comment, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: (data, actor) => `${actor} edited a comment on ${commented(data)}`,
    example: exampleComment,
  }),
  'comment.deleted': kind(
    {
      ...comment,
      userId: nullableString({ description: 'The id of its author. Null: the account was deleted.' }),
      name: text('The name of its author at the time.'),
      isSelf: Type.Boolean({ description: 'Whether the author did it.' }),
    },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: ({ name, isSelf, ...data }, actor) =>
        `${actor} deleted a comment ${isSelf ? '' : `by ${name} `}on ${commented(data)}`,
      example: { ...exampleComment, userId: exampleIds.user, name: 'Ada Lovelace', isSelf: false },
    },
  ),
  'agent_request.created': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) => `${actor} asked ${clientName} on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.answered': kind(
    { ...agentRequest, answerCommentId: id('the comment that answers it') },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: ({ clientName, ...data }, actor) =>
        `${actor}, through ${clientName}, answered a request on ${commented(data)}`,
      example: { ...exampleAgentRequest, answerCommentId: exampleIds.comment },
    },
  ),
  'agent_request.declined': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor}, through ${clientName}, declined a request on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.cancelled': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor} cancelled a request to ${clientName} on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.expired': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor} ended a request to ${clientName} on ${commented(data)}, which had no answer`,
    example: exampleAgentRequest,
  }),
  'integration.granted': kind(
    {
      ...grant,
      scopes: Type.Array(Type.String(), { description: 'What the agent may do.' }),
      workspaceName: text('The name of the workspace at the time.'),
      membersMayAsk: Type.Optional(
        Type.Boolean({ description: 'Whether other members may ask it; only if they may.' }),
      ),
      assertedBy: Type.Optional(
        text(
          'The identity provider that gave the access, as the policy of the workspace allows; only if one did.',
        ),
      ),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, workspaceName, assertedBy }, actor) =>
        `${actor} gave ${clientName} access to ${workspaceName}${assertedBy === undefined ? '' : ' for a member'}`,
      example: { ...exampleGrant, scopes: ['validation-kit:read'], workspaceName: 'Acme' },
    },
  ),
  'integration.changed': kind(
    {
      ...grant,
      from: Type.Array(Type.String(), { description: 'The scopes before.' }),
      to: Type.Array(Type.String(), { description: 'The scopes now.' }),
      // A type of its own would be part of the conditions of indexes (docs/design/agents.md#prolonging-access).
      expiredAt: Type.Optional(text('When the access would have ended; only if the end was changed.')),
      expiresAt: Type.Optional(text('When it ends now; only if the end was changed.')),
      membersMayAsk: Type.Optional(
        Type.Boolean({ description: 'Whether other members may ask it now; only if that was changed.' }),
      ),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, from, to, expiredAt = '', expiresAt, membersMayAsk }, actor) => {
        const until = expiresAt === undefined ? '' : ` until ${expiresAt.slice(0, 10)}`
        if (from.join() !== to.join())
          return `${actor} changed the access of ${clientName} to ${to.join(', ')}${until}`
        if (expiresAt === undefined && membersMayAsk !== undefined)
          return `${actor} ${membersMayAsk ? 'let members ask' : 'no longer lets members ask'} ${clientName}`
        const verb = String(expiresAt) > expiredAt ? 'prolonged' : 'shortened'
        return `${actor} ${verb} the access of ${clientName}${until}`
      },
      example: {
        ...exampleGrant,
        from: ['validation-kit:read'],
        to: ['validation-kit:read', 'workspace:read'],
      },
    },
  ),
  'integration.used': kind(
    {
      ...grant,
      tool: text('The tool that the agent used for the first time that day.'),
      did: text('What it did with it, as the end of a sentence.'),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, did }, actor) => `${actor}, through ${clientName}, ${did}`,
      example: { ...exampleGrant, tool: 'read_validation_kit', did: 'read the validation kit' },
    },
  ),
  'integration.revoked': kind(
    {
      ...grant,
      reason: stringEnum(['revoked', 'replaced', 'reused', 'ended'], {
        description:
          'Whether somebody revoked it, a new grant of the same person replaced it, it ended because a code or token was ' +
          'used twice, or the agent or an operator ended it.',
      }),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize({ clientName, reason }, actor) {
        if (reason === 'reused')
          return `The access of ${clientName} ended, because a code or token that it had exchanged was used again`
        if (reason === 'ended') return `The access of ${clientName} was revoked by the agent or an operator`
        return `${actor} ${reason} the access of ${clientName}`
      },
      example: { ...exampleGrant, reason: 'revoked' },
    },
  ),
  'service_account.created': kind(
    { ...service, role: stringEnum(serviceRoles, { description: 'Its role.' }) },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, role: madeAs }, actor) =>
        `${actor} created the service account ${name} as ${madeAs}`,
      example: { ...exampleService, role: 'member' },
    },
  ),
  'service_account.updated': kind(
    {
      ...service,
      role: stringEnum(serviceRoles, { description: 'Its role after the change.' }),
      fields: Type.Array(stringEnum(['name', 'role']), { description: 'What was changed.' }),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, fields }, actor) =>
        `${actor} changed the ${fields.join(' and the ')} of the service account ${name}`,
      example: { ...exampleService, role: 'viewer', fields: ['role'] },
    },
  ),
  'service_account.deleted': kind(service, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name }, actor) => `${actor} deleted the service account ${name}`,
    example: exampleService,
  }),
  'service_account.key_created': kind(serviceKey, {
    readers: 'managers',
    target: ['user', 'userId'],
    names: { keyName: '' },
    summarize: ({ name, keyName }, actor) =>
      `${actor} created the API key ${keyName} of the service account ${name}`,
    example: exampleServiceKey,
  }),
  'service_account.key_rotated': kind(
    { ...serviceKey, rotatedApiKeyId: id('the API key that it takes the place of') },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      names: { keyName: '' },
      summarize: ({ name, keyName }, actor) =>
        `${actor} rotated the API key ${keyName} of the service account ${name}`,
      example: { ...exampleServiceKey, rotatedApiKeyId: exampleIds.rotatedApiKey },
    },
  ),
  'service_account.key_revoked': kind(serviceKey, {
    readers: 'managers',
    target: ['user', 'userId'],
    names: { keyName: '' },
    summarize: ({ name, keyName }, actor) =>
      `${actor} revoked the API key ${keyName} of the service account ${name}`,
    example: exampleServiceKey,
  }),
  'service_account.client_created': kind(
    { ...serviceClient, scopes: Type.Array(Type.String(), { description: 'Its OAuth scopes.' }) },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, clientName }, actor) =>
        `${actor} created the OAuth client ${clientName} of the service account ${name}`,
      example: { ...exampleServiceClient, scopes: ['validation-kit:read', 'seeds:write'] },
    },
  ),
  'service_account.client_prolonged': kind(
    {
      ...serviceClient,
      expiredAt: text('When its access would have ended.'),
      expiresAt: text('When it ends now.'),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, clientName }, actor) =>
        `${actor} prolonged the access of the OAuth client ${clientName} of the service account ${name}`,
      example: {
        ...exampleServiceClient,
        expiredAt: '2026-11-21T03:04:05.678Z',
        expiresAt: '2027-11-21T03:04:05.678Z',
      },
    },
  ),
  'service_account.client_rotated': kind(serviceClient, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name, clientName }, actor) =>
      `${actor} rotated the secret of the OAuth client ${clientName} of the service account ${name}`,
    example: exampleServiceClient,
  }),
  'service_account.client_revoked': kind(serviceClient, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name, clientName }, actor) =>
      `${actor} revoked the OAuth client ${clientName} of the service account ${name}`,
    example: exampleServiceClient,
  }),
  'service_account.keys_known': kind(
    {
      ...person,
      keys: Type.Array(
        closed({
          serviceAccountId: id('the service account'),
          serviceAccountName: text('Its name at the time.'),
          apiKeyId: id('the API key'),
          keyName: text('The name of the API key.'),
          lastFour: text('Its last four characters.'),
        }),
        { description: 'The active API keys of service accounts that the person was shown.' },
      ),
      clients: Type.Optional(
        Type.Array(
          closed({
            serviceAccountId: id('the service account'),
            serviceAccountName: text('Its name at the time.'),
            grantId: id('the access of the OAuth client'),
            clientName: text('The name of the client.'),
          }),
          {
            description:
              'The OAuth clients of service accounts whose secret the person was shown, or whose key they gave. Absent: none.',
          },
        ),
      ),
      webhooks: Type.Optional(
        Type.Array(closed(webhook), {
          description: 'The webhooks of which the person was shown a secret that signs. Absent: none.',
        }),
      ),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, ...known }, actor) =>
        `${actor} ended the access of ${name}, who knows ${listOf(nameSecrets(known))}`,
      example: {
        ...examplePerson,
        keys: [
          {
            serviceAccountId: exampleIds.serviceAccount,
            serviceAccountName: 'CRM sync',
            apiKeyId: exampleIds.apiKey,
            keyName: 'Production',
            lastFour: 'x7Qz',
          },
        ],
      },
    },
  ),
  'webhook.created': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} added a webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.updated': kind(
    {
      ...webhook,
      fields: Type.Array(stringEnum(['url', 'format', 'types', ...webhookScopes, 'description', 'status']), {
        description: 'What was changed.',
      }),
      status: stringEnum(webhookStatuses, { description: 'The status now.' }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize({ fields, host, status }, actor) {
        const turned = status === 'active' ? 'enabled' : 'disabled'
        return `${actor} ${fields.includes('status') ? turned : 'changed'} the webhook to ${host}`
      },
      example: { ...exampleWebhook, fields: ['types'], status: 'active' },
    },
  ),
  'webhook.resumed': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} ended the pause of the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.deleted': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} deleted the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.secret_rotated': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} rotated the secret of the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.tested': kind(
    {
      ...webhook,
      delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
      sampleType: nullableString({
        description: 'The type of the event of which a sample was sent; null for a test.',
      }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize: ({ host, sampleType }, actor) =>
        sampleType == null
          ? `${actor} sent a test to the webhook to ${host}`
          : `${actor} sent a sample of ${sampleType} to the webhook to ${host}`,
      example: { ...exampleWebhook, delivered: true, sampleType: null },
    },
  ),
  'webhook.redelivered': kind(
    { ...webhook, events: Type.Integer({ description: 'How many events are sent again.' }) },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize: ({ events, host }, actor) =>
        `${actor} sent ${events} ${events === 1 ? 'event' : 'events'} to the webhook to ${host} again`,
      example: { ...exampleWebhook, events: 12 },
    },
  ),
  'webhook.disabled': kind(
    {
      ...webhook,
      reason: stringEnum(['gone', 'failing'], {
        description: 'Whether its receiver answered 410 Gone, or nothing could be delivered for three days.',
      }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize({ host, reason }, actor) {
        const because =
          reason === 'gone' ? 'its receiver answered 410 Gone' : 'nothing could be delivered for three days'
        return `${actor} disabled the webhook to ${host}, because ${because}`
      },
      example: { ...exampleWebhook, reason: 'failing' },
    },
  ),
}

/** The types of events: `target.what_happened`. */
export type EventType = keyof typeof eventKinds

/** The data of an event of a type. */
export type EventDataOf<T extends EventType> = Static<(typeof eventKinds)[T]['data']>

/** What happened: a type of events with its data. */
export type Happening = { [T in EventType]: { type: T; data: EventDataOf<T> } }[EventType]

/** `Omit` for each member of a union by itself. */
export type OmitEach<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

/** What there is to know about the type of an event. */
export function kindOf(type: EventType): EventKind {
  return eventKinds[type] as unknown as EventKind
}

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventKinds, text)
}

/** The seed that an event is about, itself or through its evidence; null if none. */
export function seedIdOf(data: object): string | null {
  return 'seedId' in data && typeof data.seedId === 'string' ? data.seedId : null
}

/** The types of events that only these readers may see. */
const typesFor = (readers: EventReaders): readonly EventType[] =>
  (Object.keys(eventKinds) as EventType[]).filter((type) => kindOf(type).readers === readers)

/** The types of events that reveal invites, with the invited addresses, webhooks, and whatever else only owners and admins may see. */
export const managerEventTypes = typesFor('managers')

/** The types of events that reveal the grants of agents. */
export const grantEventTypes = typesFor('grantors')

/** A person, as events name them: by an id beside a name, and by addresses. */
export interface PersonInEvents {
  userId: string
  emails: readonly string[]
}

/** The fields of `data` that have the name of a person, with the field that says whose it is. */
const personFields = [
  ['userId', 'name'],
  ['invitedByUserId', 'invitedByName'],
  ['leadUserId', 'leadName'],
  ['leadUserIdBefore', 'leadNameBefore'],
] as const

/** The field of `data` that is an address of a person. */
export const emailField = 'email'

/**
 * The data of an event without the names and addresses of a person, in whose place is `replacement`; undefined if it has
 * none of them.
 */
export function withoutPerson(
  data: Readonly<Record<string, unknown>>,
  { userId, emails }: PersonInEvents,
  replacement: string,
): Record<string, unknown> | undefined {
  const own = new Set(emails.map(comparable))
  const email = data[emailField]
  const erased = [
    ...personFields
      .filter(([idField, name]) => data[idField] === userId && name in data)
      .map(([, name]) => name),
    ...(typeof email === 'string' && own.has(comparable(email)) ? [emailField] : []),
  ]
  if (erased.length === 0) return undefined
  return { ...data, ...Object.fromEntries(erased.map((field) => [field, replacement])) }
}

/** The fields of `data` that are names, with the field that has the id of what is named; without one, none has it. */
const nameFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(personFields.map(([idField, field]) => [field, idField])),
  title: 'seedId',
  titleBefore: '',
  teamName: 'teamId',
  labelName: 'labelId',
  filterName: 'filterId',
  clientName: 'grantId',
  host: 'webhookId',
  workspaceName: '',
  [emailField]: '',
}

/** What a sentence names. `id`: the person, seed, team, agent or webhook, if the event has it. */
export interface NamedPart {
  name: string
  id: string | null
}

/** The summary of an event in parts: words, and what they name. */
export type Sentence = readonly (string | NamedPart)[]

/** No text that is stored has it. */
const mark = '\0'

/**
 * The sentence of an event, made from its data and ids. An event of another version, whose data do not say enough, has its
 * stored summary, which names nothing.
 */
export function sentenceOf(event: {
  type: string
  data: Readonly<Record<string, unknown>>
  actorUserId: string | null
  actorName: string
  summary: string
}): Sentence {
  const kind = isEventType(event.type) ? kindOf(event.type) : undefined
  const data = kind && completeData(kind, event.data)
  if (!kind || !data) return [event.summary]
  const named: NamedPart[] = [{ name: event.actorName, id: event.actorUserId }]
  const marked = { ...data }
  for (const [field, idField] of Object.entries({ ...nameFields, ...kind.names })) {
    const [name, id] = [data[field], data[idField]]
    if (typeof name !== 'string') continue
    marked[field] = `${mark}${named.length}${mark}`
    named.push({ name, id: typeof id === 'string' ? id : null })
  }
  return kind
    .summarize(marked, `${mark}0${mark}`, event.actorUserId)
    .split(mark)
    .flatMap((part, i) => (i % 2 === 0 ? part : (named[Number(part)] ?? [])))
    .filter((part) => part !== '')
}

/** Data with null for fields that may be null and that an older version did not write; undefined if others are missing. */
function completeData(
  { data: schema }: EventKind,
  data: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const missing = (schema.required ?? []).filter((field) => !Object.hasOwn(data, field))
  const mayBeNull = (field: string) => [schema.properties[field]?.type].flat().includes('null')
  if (!missing.every(mayBeNull)) return undefined
  return { ...Object.fromEntries(missing.map((field) => [field, null])), ...data }
}

function comparable(address: string): string {
  return canonicalizeEmail(address) ?? address.toLowerCase()
}

const seedFieldLabels: Record<(typeof changedOfSeed)[number], string> = {
  title: 'title',
  summary: 'summary',
  problem: 'problem',
  audience: 'audience',
  hypothesis: 'hypothesis',
  successCriteria: 'success criteria',
  status: 'status',
  leadUserId: 'lead',
  question: 'question',
  decideBy: 'date to decide by',
  teamId: 'team',
  labelIds: 'labels',
  attachmentIds: 'files',
}

/** What happened to the team of a seed. */
function describeTeam(data: {
  title: string
  teamName?: string | null
  teamNameBefore?: string | null
}): string {
  const { title, teamName = null, teamNameBefore = null } = data
  if (teamName === null) return `took the seed ${title} from the team ${teamNameBefore ?? 'that it had'}`
  if (teamNameBefore === null) return `gave the seed ${title} to the team ${teamName}`
  return `moved the seed ${title} from the team ${teamNameBefore} to the team ${teamName}`
}

/** What a field of a seed was and is, as far as the data say it. */
function describeStep(
  field: (typeof changedOfSeed)[number],
  data: {
    title: string
    titleBefore: string | null
    status: { from: string; to: string } | null
    leadName: string | null
    leadNameBefore?: string | null
    teamName?: string | null
    teamNameBefore?: string | null
  },
): string {
  const { title, titleBefore, status, leadName, leadNameBefore, teamName, teamNameBefore } = data
  if (field === 'title' && titleBefore !== null) return ` from ${titleBefore} to ${title}`
  if (field === 'status' && status) return ` from ${status.from} to ${status.to}`
  if (field === 'teamId') return ` from ${teamNameBefore ?? 'none'} to ${teamName ?? 'none'}`
  if (field !== 'leadUserId') return ''
  const before = leadNameBefore === undefined ? '' : ` from ${leadNameBefore ?? 'nobody'}`
  return `${before} to ${leadName ?? 'nobody'}`
}

const evidenceFieldLabels: Record<(typeof changedOfEvidence)[number], string> = {
  kind: 'kind',
  verdict: 'verdict',
  summary: 'summary',
  sourceUrl: 'source',
  criterionIds: 'success criteria',
  attachmentIds: 'files',
}

function describeKind({ kind: ofKind }: { kind: EvidenceKind }): string {
  return `${/^[aeiou]/.test(ofKind) ? 'an' : 'a'} ${ofKind}`
}

function describeVerdict({ verdict }: { verdict: Verdict }): string {
  return verdict === 'neutral' ? 'is neutral about' : verdict
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${String(names.at(-1))}`
}
