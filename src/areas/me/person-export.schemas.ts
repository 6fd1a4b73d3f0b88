import { Type, type Static, type TProperties } from '@sinclair/typebox'
import { exampleIds, exampleImageUrl, exampleTime } from '../../http/description/examples.ts'
import { Role } from '../../domain/roles.ts'
import {
  closed,
  named,
  nullableRef,
  nullableString,
  nullableTimestamp,
  ref,
  timestamp,
} from '../../kernel/schemas.ts'

const text = (description: string) => Type.String({ description })
const id = (of: string) => Type.String({ description: `The id of ${of}.` })
const workspaceId = id('the workspace')
const seedId = id('the seed')
const createdAt = timestamp('When it was created.')
const agentName = nullableString({ description: 'The agent that wrote it for the person. Null: they did.' })

const list = <Fields extends TProperties>(description: string, fields: Fields) =>
  Type.Array(closed(fields), {
    description,
  })

/** Everything that is a person's, of `me.export`. */
export const PersonExport = named(
  'PersonExport',
  {
    profile: closed(
      {
        id: id('the person'),
        name: text('Their name.'),
        email: text('Their email address.'),
        emailVerifiedAt: nullableTimestamp('When the address was verified. Null: it is not.'),
        image: nullableString({ description: 'The URL of the profile photo. Null: they have none.' }),
        productUpdates: Type.Boolean({ description: 'Whether they get news about the product.' }),
        workspaceActivity: Type.Boolean({ description: 'Whether they get mails about their workspaces.' }),
        notifyMentions: text('How they are told of mentions.'),
        notifyDigest: Type.Boolean({ description: 'Whether they get a daily digest.' }),
        notifyRoleChanges: text('How they are told of changes of their role.'),
        notifyAcceptedInvites: text('How they are told of accepted invites.'),
        notifyAgents: text('How they are told of the access of their agents.'),
        createdAt,
      },
      { description: 'Their account.' },
    ),
    formerEmails: list('The addresses that they had before.', {
      email: text('The address.'),
      changedAt: timestamp('Until when they had it.'),
    }),
    apiKeys: list('Their API keys, also revoked ones, without the secrets.', {
      id: id('the key'),
      name: text('Its name.'),
      tokenPrefix: text('Its first characters.'),
      lastFour: text('Its last four characters.'),
      access: text('Whether it may change something, or only read.'),
      workspaceIds: Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: { type: 'string' },
        description: 'The workspaces that it works in. Null: all.',
      }),
      maxRole: nullableRef(Role, 'The highest role that it acts with. Null: theirs.'),
      expiresAt: nullableTimestamp('When it ends. Null: it does not.'),
      rotatedAt: nullableTimestamp('When another key took its place. Null: none did.'),
      createdAt,
      lastUsedAt: nullableTimestamp('When it was last used. Null: never.'),
      revokedAt: nullableTimestamp('When it was revoked. Null: it was not.'),
    }),
    sessions: list('Where they are signed in.', {
      userAgent: text('The `User-Agent` of the browser.'),
      createdAt,
      lastUsedAt: timestamp('When it was last used.'),
    }),
    passkeys: list('Their passkeys.', {
      name: text('Its name.'),
      createdAt,
      lastUsedAt: nullableTimestamp('When it was last used. Null: never.'),
    }),
    identities: list('Their accounts at identity providers.', {
      issuer: text('The provider.'),
      subject: text('Their id there.'),
      createdAt,
      unlinkedAt: nullableTimestamp('When they unlinked it. Null: they did not.'),
    }),
    workspaces: list('The workspaces that they are in.', {
      id: workspaceId,
      name: text('Its name.'),
      slug: text('Its slug.'),
      role: ref(Role),
      joinedAt: timestamp('When they joined.'),
    }),
    teams: list('The teams that they are in.', {
      id: id('the team'),
      workspaceId,
      name: text('Its name.'),
      addedAt: timestamp('When they were added.'),
    }),
    agents: list('The access of their agents, also what has ended.', {
      id: id('the grant'),
      workspaceId,
      clientId: text('The id of the agent as a client of OAuth.'),
      clientName: text('The name of the agent.'),
      clientUri: nullableString({ description: 'The website of the agent. Null: it has named none.' }),
      scopes: Type.Array(Type.String(), { description: 'What the agent may do, as OAuth scopes.' }),
      membersMayAsk: Type.Boolean({ description: 'Whether other members may ask it.' }),
      createdAt,
      lastUsedAt: nullableTimestamp('When the agent last used it. Null: never.'),
      expiresAt: timestamp('When it ends.'),
      revokedAt: nullableTimestamp('When it was revoked. Null: it was not.'),
    }),
    invites: list('The invites from and to them.', {
      id: id('the invite'),
      workspaceId,
      email: text('The invited address.'),
      role: ref(Role),
      createdAt,
    }),
    seeds: list('The seeds that they created.', {
      id: seedId,
      workspaceId,
      title: text('Its title.'),
      summary: text('Its summary.'),
      problem: nullableString({ description: 'The problem that it solves.' }),
      audience: nullableString({ description: 'Who has the problem.' }),
      hypothesis: nullableString({ description: 'What is expected to be true.' }),
      successCriteria: Type.Array(Type.String(), { description: 'How to tell that it is.' }),
      status: text('Its status.'),
      createdAt,
    }),
    statusChanges: list('The seeds whose status they changed last.', {
      seedId,
      workspaceId,
      status: text('The status.'),
      statusReason: nullableString({ description: 'Why. Null if they did not say.' }),
      statusChangedAt: nullableTimestamp('When.'),
    }),
    evidence: list('The evidence that they added.', {
      id: id('the evidence'),
      seedId,
      kind: text('Its kind.'),
      verdict: text('Whether it supports or contradicts the seed.'),
      summary: text('What was found.'),
      sourceUrl: nullableString({ description: 'Where to read more.' }),
      agentName,
      createdAt,
      editedAt: nullableTimestamp('When it was corrected. Null: it was not.'),
      withdrawnAt: nullableTimestamp('When it was withdrawn. Null: it was not.'),
    }),
    comments: list('The comments that they wrote.', {
      id: id('the comment'),
      seedId,
      evidenceId: nullableString({ description: 'The evidence that it is about. Null: the seed itself.' }),
      body: text('Its text, in Markdown.'),
      agentName,
      createdAt,
      editedAt: nullableTimestamp('When it was edited. Null: it was not.'),
    }),
    agentRequests: list('What they asked of agents by comments.', {
      id: id('the request'),
      commentId: id('the comment'),
      agentName: text('The name of the agent.'),
      state: text('How it stands.'),
      reason: nullableString({ description: 'Why the agent declined. Null: it did not.' }),
      createdAt,
    }),
    participations: list('The seeds that they take part in.', {
      seedId,
      joinedAt: timestamp('When they joined it.'),
    }),
    follows: list('The seeds that they follow.', { seedId }),
    notifications: list('What they were told in their inbox.', {
      id: id('the notification'),
      workspaceId,
      kind: text('Its kind.'),
      seedId: nullableString({ description: 'The seed that it is about. Null: none.' }),
      createdAt,
      readAt: nullableTimestamp('When they read it. Null: they have not.'),
    }),
    events: list('What they did in workspaces.', {
      id: id('the event'),
      workspaceId,
      type: text('Its type.'),
      source: text('Whether it was done on the website, by API or over MCP.'),
      summary: text('What happened.'),
      createdAt,
    }),
  },
  {
    profile: {
      id: exampleIds.user,
      name: 'Grace Hopper',
      email: 'grace@example.com',
      emailVerifiedAt: exampleTime,
      image: exampleImageUrl,
      productUpdates: false,
      workspaceActivity: true,
      notifyMentions: 'mail',
      notifyDigest: true,
      notifyRoleChanges: 'mail',
      notifyAcceptedInvites: 'inbox',
      notifyAgents: 'mail',
      createdAt: exampleTime,
    },
    formerEmails: [],
    apiKeys: [],
    sessions: [],
    passkeys: [],
    identities: [],
    workspaces: [
      { id: exampleIds.workspace, name: 'Acme', slug: 'acme', role: 'owner', joinedAt: exampleTime },
    ],
    teams: [],
    agents: [],
    invites: [],
    seeds: [],
    statusChanges: [],
    evidence: [],
    comments: [],
    agentRequests: [],
    participations: [],
    follows: [],
    notifications: [],
    events: [],
  },
)
export type PersonExport = Static<typeof PersonExport>
