import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import {
  closed,
  named,
  noControlCharacters,
  nullableString,
  ref,
  stringEnum,
  Timestamp,
  timestampOptions,
} from '../../http/schemas.ts'

const Event = named('Event', {
  id: Type.String(),
  type: Type.String({ description: 'Such as `member.role_changed`.', examples: ['workspace.created'] }),
  actorType: stringEnum(['user', 'agent', 'system']),
  actorUserId: nullableString({ description: 'On whose behalf.' }),
  actorName: Type.String({ description: 'What they were called at the time.' }),
  grantId: nullableString({ description: 'Through which grant of an agent.' }),
  apiKeyId: nullableString({ description: 'Through which API key.' }),
  source: stringEnum(['web', 'api', 'mcp', 'system']),
  targetType: nullableString(),
  targetId: nullableString(),
  summary: Type.String({ description: 'What happened, in words.' }),
  createdAt: Timestamp,
})

export const eventsSchemas = [Event]

export const listEvents = operation({
  id: 'events.list',
  summary: 'Read what happened in a workspace',
  description: 'Newest first. Every change leaves one event, for good.',
  params: Type.Object({ slug: Type.String() }),
  querystring: closed({
    ...pageQuery,
    type: Type.Optional(
      Type.String({ maxLength: 64, pattern: noControlCharacters, description: 'Only events of this type.' }),
    ),
    actorUserId: Type.Optional(Type.String({ maxLength: 64, description: 'Only what this person did.' })),
    since: Type.Optional(Type.String({ ...timestampOptions, description: 'From this time on.' })),
    until: Type.Optional(Type.String({ ...timestampOptions, description: 'Until before this time.' })),
  }),
  success: Type.Array(ref(Event)),
})
