import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { canonicalizeEmail } from '../kernel/email.ts'
import { exampleIds } from './example-ids.ts'
import { roles } from './roles.ts'
import { closed, nullableString, stringEnum } from '../kernel/schemas.ts'
import {
  evidenceFieldNames,
  evidenceKinds,
  seedFieldNames,
  seedStatuses,
  verdicts,
  type EvidenceKind,
  type SeedField,
  type Verdict,
} from './seeds.ts'
import { webhookStatuses } from './webhooks.ts'

/** Who may see events of a type: who may list invites and webhooks; who may list an agent's grant; or everybody in the workspace. */
export type EventReaders = 'everybody' | 'managers' | 'grantors'

export type EventTargetType =
  'workspace' | 'user' | 'invite' | 'team' | 'seed' | 'evidence' | 'comment' | 'integration' | 'webhook'

/** What there is to know about a type of events. */
export interface EventKind<Fields extends TProperties = TProperties> {
  /** The fields of `data`: ids, names as they were, and values. Never the text of evidence. */
  data: TObject<Fields>
  readers: EventReaders
  /** The kind of thing that the event is about, and the field of `data` that has its id. */
  target: readonly [type: EventTargetType, field: string]
  /** The summary: a sentence for people that begins with the actor's name if there is an actor. */
  summarize: (data: Static<TObject<Fields>>, actor: string) => string
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

const invite = { inviteId: id('the invite'), email: text('The invited address.') }
const exampleInvite = { inviteId: exampleIds.invite, email: 'ada@example.com' }
const inviter = {
  invitedByUserId: id('the person who invited them'),
  invitedByName: text('The name of that person at the time.'),
}
const exampleInviter = { invitedByUserId: exampleIds.actor, invitedByName: 'Grace Hopper' }

const team = { teamId: id('the team'), teamName: text('The name of the team at the time.') }
const exampleTeam = { teamId: exampleIds.team, teamName: 'Research' }

const seed = { seedId: id('the seed'), title: text('The title of the seed at the time.') }
const exampleSeed = { seedId: exampleIds.seed, title: 'Lending library for tools' }

const comment = {
  commentId: id('the comment'),
  ...seed,
  evidenceId: nullableString({ description: 'The evidence that it is about; null for the seed itself.' }),
}
const exampleComment = { commentId: exampleIds.comment, ...exampleSeed, evidenceId: null }
const commented = (of: { title: string; evidenceId: string | null }) =>
  of.evidenceId === null ? `the seed ${of.title}` : `evidence of the seed ${of.title}`

const grant = {
  grantId: id('the grant'),
  clientName: text('The name of the agent.'),
  userId: id('the person for whom the agent acts'),
}
const exampleGrant = { grantId: exampleIds.grant, clientName: 'Claude', userId: exampleIds.user }

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
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ role: joinedAs, invitedByName, domain }, actor) =>
        domain === null
          ? `${actor} accepted the invite of ${invitedByName ?? 'somebody'} and joined as ${joinedAs}`
          : `${actor} joined with an email address at ${domain}`,
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
  'seed.created': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} created the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.updated': kind(
    {
      seedId: seed.seedId,
      title: text('The title of the seed after the change.'),
      titleBefore: nullableString({ description: 'The title before, if it was changed.' }),
      fields: Type.Array(stringEnum(seedFieldNames), { description: 'What was changed.' }),
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
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize({ title, titleBefore, fields, status, leadName }, actor) {
        if (fields.length === 1 && fields[0] === 'leadUserId')
          return leadName === null
            ? `${actor} removed the lead of the seed ${title}`
            : `${actor} made ${leadName} the lead of the seed ${title}`
        const list = listOf(fields.map((field) => `the ${seedFieldLabels[field]}`))
        const change = status ? ` from ${status.from} to ${status.to}` : ''
        return `${actor} changed ${list} of the seed ${titleBefore ?? title}${change}`
      },
      example: {
        ...exampleSeed,
        titleBefore: null,
        fields: ['hypothesis', 'status'],
        status: { from: 'open', to: 'validating' },
        statusReason: 'Three teams want to try it.',
        leadUserId: null,
        leadName: null,
      },
    },
  ),
  'seed.joined': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} joined the seed ${title}`,
    example: exampleSeed,
  }),
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
  'evidence.added': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
      verdict: stringEnum(verdicts, { description: 'Whether it is for or against the seed.' }),
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
      fields: Type.Array(stringEnum(evidenceFieldNames), { description: 'What was corrected.' }),
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
  'comment.added': kind(comment, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: (data, actor) => `${actor} commented on ${commented(data)}`,
    example: exampleComment,
  }),
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
  'integration.granted': kind(
    {
      ...grant,
      scopes: Type.Array(Type.String(), { description: 'What the agent may do.' }),
      workspaceName: text('The name of the workspace at the time.'),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, workspaceName }, actor) =>
        `${actor} gave ${clientName} access to ${workspaceName}`,
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
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, from, to, expiredAt = '', expiresAt }, actor) => {
        const until = expiresAt === undefined ? '' : ` until ${expiresAt.slice(0, 10)}`
        if (from.join() !== to.join())
          return `${actor} changed the access of ${clientName} to ${to.join(', ')}${until}`
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
  'webhook.created': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} added a webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.updated': kind(
    {
      ...webhook,
      fields: Type.Array(stringEnum(['url', 'types', 'description', 'status']), {
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
    { ...webhook, delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }) },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize: ({ host }, actor) => `${actor} sent a test to the webhook to ${host}`,
      example: { ...exampleWebhook, delivered: true },
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

/** The types of events that reveal invites, with the invited addresses, and webhooks. The order is part of an index. */
export const managerEventTypes = [
  'invite.created',
  'invite.resent',
  'invite.revoked',
  'invite.declined',
  'invite.role_changed',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.tested',
  'webhook.redelivered',
  'webhook.disabled',
] as const

/** The types of events that reveal the grants of agents. The order is part of an index. */
export const grantEventTypes = [
  'integration.granted',
  'integration.changed',
  'integration.used',
  'integration.revoked',
] as const

/** A person, as events name them: by an id beside a name, and by addresses. */
export interface PersonInEvents {
  userId: string
  emails: readonly string[]
}

/** The fields of `data` that have a name, with the field that says whose it is. */
const nameFields = [
  ['userId', 'name'],
  ['invitedByUserId', 'invitedByName'],
  ['leadUserId', 'leadName'],
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
    ...nameFields
      .filter(([idField, name]) => data[idField] === userId && name in data)
      .map(([, name]) => name),
    ...(typeof email === 'string' && own.has(comparable(email)) ? [emailField] : []),
  ]
  if (erased.length === 0) return undefined
  return { ...data, ...Object.fromEntries(erased.map((field) => [field, replacement])) }
}

function comparable(address: string): string {
  return canonicalizeEmail(address) ?? address.toLowerCase()
}

const seedFieldLabels: Record<SeedField, string> = {
  title: 'title',
  summary: 'summary',
  problem: 'problem',
  audience: 'audience',
  hypothesis: 'hypothesis',
  successCriteria: 'success criteria',
  status: 'status',
  leadUserId: 'lead',
}

const evidenceFieldLabels: Record<(typeof evidenceFieldNames)[number], string> = {
  kind: 'kind',
  verdict: 'verdict',
  summary: 'summary',
  sourceUrl: 'source',
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
