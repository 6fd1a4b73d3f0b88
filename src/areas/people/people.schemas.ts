import { Type, type Static } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { listOperation, slugParams } from '../../http/description/operation.ts'
import {
  closed,
  named,
  noControlCharacters,
  nullableString,
  ref,
  Role,
  stringEnum,
} from '../../kernel/schemas.ts'
import { workspaceErrors } from '../../kernel/errors.ts'

export const Person = named(
  'Person',
  {
    id: Type.String(),
    kind: stringEnum(['member', 'invited']),
    userId: nullableString({ description: 'Null for a person who is only invited.' }),
    name: Type.String(),
    email: Type.String(),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    role: ref(Role),
    teams: Type.Array(closed({ id: Type.String(), name: Type.String() })),
  },
  {
    id: exampleIds.user,
    kind: 'member',
    userId: exampleIds.user,
    name: 'Grace Hopper',
    email: 'grace@example.com',
    image: null,
    role: 'admin',
    teams: [{ id: exampleIds.team, name: 'Design' }],
  },
)
export type Person = Static<typeof Person>

export const peopleSchemas = [Person]

/** The filters of `people.list`. */
export const peopleFilters = {
  q: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: noControlCharacters,
      description:
        'Only people whose name or email address contains this text, ignoring case. One or two characters match ' +
        'only the beginning of words.',
    }),
  ),
}

export const peopleList = listOperation(
  {
    id: 'people.list',
    summary: 'List or search the people of a workspace',
    description: 'Members with their teams, then invited people. Only owners and admins see invited people.',
    params: slugParams,
    returns: 'A page of people.',
    errors: workspaceErrors,
  },
  {
    item: Person,
    filters: peopleFilters,
  },
)
