import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { closed, line, named, NullableTimestamp, Ok, ref, Timestamp } from '../../http/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'

const ApiKey = named('ApiKey', {
  id: Type.String(),
  name: Type.String(),
  tokenPrefix: Type.String({ description: 'The leading part of the key.' }),
  lastFour: Type.String({ description: 'The last four characters of the key.' }),
  createdAt: Timestamp,
  lastUsedAt: NullableTimestamp,
})

const CreatedApiKey = named('CreatedApiKey', {
  id: Type.String(),
  name: Type.String(),
  tokenPrefix: Type.String(),
  lastFour: Type.String(),
  secret: Type.String({ description: 'The key itself. It is shown here and never again.' }),
})

export const apiKeysSchemas = [ApiKey, CreatedApiKey]

export const listApiKeys = operation({
  id: 'apiKeys.list',
  summary: "List the caller's active API keys",
  description: 'Newest first. `lastUsedAt` is up to a minute behind.',
  success: Type.Array(ref(ApiKey)),
})

export const createApiKey = operation({
  id: 'apiKeys.create',
  summary: 'Create an API key',
  description: 'The answer is the only one that holds the key. 409 `api_key_limit` at 100 active keys.',
  body: closed({ name: line(labelLengthMax) }),
  success: ref(CreatedApiKey),
})

export const revokeApiKey = operation({
  id: 'apiKeys.revoke',
  summary: 'Revoke an API key',
  description:
    'Holds from the next request on. A key may revoke itself. Revoking twice is no error; a key of somebody else is 404.',
  params: Type.Object({ apiKeyId: Type.String() }),
  success: ref(Ok),
})
