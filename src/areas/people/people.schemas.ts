import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, slugParams } from '../../http/description/operation.ts'
import { Role } from '../../domain/roles.ts'
import { closed, named, nullableString, nullableTimestamp, ref, stringEnum } from '../../kernel/schemas.ts'
import { workspaceErrors } from '../../kernel/errors.ts'
import { lastActivityText, suspendedText } from '../members/members.schemas.ts'
import type { Role as RoleName } from '../../domain/roles.ts'

export const Person = named(
  'Person',
  {
    id: Type.String({ description: 'The id of the member, or of the invite.' }),
    kind: stringEnum(['member', 'service', 'invited'], {
      description:
        'Whether it is a person who is in the workspace (`member`), a service account in it (`service`), or a person with an ' +
        'open invite.',
    }),
    userId: nullableString({ description: 'Null for a person who is only invited.' }),
    name: Type.String({ description: 'The name of the person. For an invited person, the email address.' }),
    email: Type.String({ description: 'The email address of the person.' }),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    role: ref(Role),
    suspended: Type.Boolean({ description: suspendedText }),
    lastActivityAt: nullableTimestamp(lastActivityText),
    teams: Type.Array(
      closed({
        id: Type.String({ description: 'The id of the team.' }),
        name: Type.String({ description: 'The name of the team.' }),
      }),
      { description: 'The teams that the person is in, oldest first.' },
    ),
  },
  {
    id: exampleIds.user,
    kind: 'member',
    userId: exampleIds.user,
    name: 'Grace Hopper',
    email: 'grace@example.com',
    image: null,
    role: 'admin',
    suspended: false,
    lastActivityAt: exampleTime,
    teams: [{ id: exampleIds.team, name: 'Design' }],
  },
)
export type Person = Static<typeof Person>

export const peopleSchemas = [Person]

const kind = stringEnum(['member', 'service', 'invited'], {
  description: 'Only people who are members, only service accounts, or only invited people.',
})

/** The filters of `people.list`. */
export const peopleFilters = {
  kind: Type.Optional(kind),
  // A reference alone would lose its description in a parameter.
  role: Type.Optional(
    Type.Unsafe<RoleName>({ allOf: [ref(Role)], description: 'Only people of this role.' }),
  ),
  teamId: Type.Optional(Type.String({ maxLength: 64, description: 'Only the members of this team.' })),
  q: Type.Optional(
    Type.String({
      maxLength: 100,
      'x-text': 'query',
      description:
        'Only people whose name and email address have all words of this text, also in the middle of a word. Case and ' +
        'accents do not matter. One or two characters match only the beginning of words.',
    }),
  ),
}

export const peopleList = listOperation(
  {
    id: 'people.list',
    summary: 'List or search the people of a workspace',
    description:
      'Members with their teams, service accounts among them, then invited people. Only owners and admins see invited people.',
    params: slugParams,
    returns: 'A page of people.',
    errors: workspaceErrors,
  },
  {
    item: Person,
    filters: peopleFilters,
  },
)
