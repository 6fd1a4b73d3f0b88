import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { userKinds } from '../service-accounts.ts'
import { nullableString, stringEnum } from '../../kernel/schemas.ts'
import { exampleInviter } from './invites.ts'
import { id, text, role, kind } from './kind.ts'

/** What other members see of a person, and may have copied. */
export const memberFieldNames = ['name', 'email', 'image'] as const

export type MemberField = (typeof memberFieldNames)[number]

const memberFieldLabels: Record<MemberField, string> = {
  name: 'their name',
  email: 'their email address',
  image: 'their photo',
}

/** The fields of what is about a person. */
export const person = { userId: id('the person'), name: text('Their name at the time.') }

/** The values of these fields in examples. */
export const examplePerson = { userId: exampleIds.user, name: 'Ada Lovelace' }

const serviceKind = Type.Optional(
  stringEnum(userKinds, {
    description: 'Whether it is a person or a service account. Absent: a person.',
  }),
)

/** What happens to members, and to the keys of people. */
export const personEvents = {
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
}
