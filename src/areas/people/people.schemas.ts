import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, named, noControlCharacters, nullableString, ref, stringEnum } from '../../http/schemas.ts'
import { roles } from '../../kernel/roles.ts'

const Person = named('Person', {
  id: Type.String(),
  kind: stringEnum(['member', 'invited']),
  userId: nullableString({ description: 'Null for somebody who is only invited.' }),
  name: Type.String(),
  email: Type.String(),
  image: nullableString({ description: 'The URL of the profile photo.' }),
  role: stringEnum(roles),
  teams: Type.Array(closed({ id: Type.String(), name: Type.String() })),
})

export const peopleSchemas = [Person]

export const listPeople = operation({
  id: 'people.list',
  summary: 'Read the directory of a workspace',
  description:
    'Who is here, and in which teams. The invited come after the members, for owners and admins only.',
  params: Type.Object({ slug: Type.String() }),
  querystring: closed({
    ...pageQuery,
    q: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: noControlCharacters,
        description:
          'Only people whose name or e-mail address holds this text, in any case; one or two characters are looked ' +
          'for at the beginning of words.',
      }),
    ),
  }),
  success: Type.Array(ref(Person)),
})
