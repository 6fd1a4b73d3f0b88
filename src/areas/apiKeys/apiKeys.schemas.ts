import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { operation } from '../../http/description/operation.ts'
import { closed, line, named, NullableTimestamp, ref, Timestamp } from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import { labelLengthMax } from '../../kernel/text.ts'

const exampleKey = {
  id: exampleIds.apiKey,
  name: 'Deploy script',
  tokenPrefix: 'wsk_4fGh',
  lastFour: 'x7Qz',
}

const ApiKey = named(
  'ApiKey',
  {
    id: Type.String(),
    name: Type.String(),
    tokenPrefix: Type.String({ description: 'The first characters of the key.' }),
    lastFour: Type.String({ description: 'The last four characters of the key.' }),
    createdAt: Timestamp,
    lastUsedAt: NullableTimestamp,
  },
  { ...exampleKey, createdAt: exampleTime, lastUsedAt: null },
)
export type ApiKey = Static<typeof ApiKey>

const CreatedApiKey = named(
  'CreatedApiKey',
  {
    id: Type.String(),
    name: Type.String(),
    tokenPrefix: Type.String(),
    lastFour: Type.String(),
    secret: Type.String({ description: 'The API key itself. It is returned only here.' }),
  },
  // With an invalid checksum, so that scanners for leaked keys do not report it.
  { ...exampleKey, secret: 'wsk_4fGhJkLmNpQrStUvWxYz23456789Ab00x7Qz' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

export const apiKeysSchemas = [ApiKey, CreatedApiKey]

export const apiKeysList = operation({
  id: 'apiKeys.list',
  summary: "List the caller's active API keys",
  description: 'Newest first. `lastUsedAt` may be up to a minute behind.',
  success: Type.Array(ref(ApiKey)),
  returns: 'The active API keys of the caller.',
  inPlace: true,
})

export const apiKeysCreate = operation({
  id: 'apiKeys.create',
  summary: 'Create an API key',
  description: 'Only this response contains the secret. It cannot be read again.',
  body: closed({ name: line(labelLengthMax) }, { examples: [{ name: 'Deploy script' }] }),
  success: ref(CreatedApiKey),
  returns: 'The new API key with its secret.',
  errors: [errors.apiKeyLimit],
  inPlace: true,
})

export const apiKeysRevoke = operation({
  id: 'apiKeys.revoke',
  summary: 'Revoke an API key',
  description:
    'Takes effect with the next request. A key can revoke itself. Revoking a revoked key succeeds. Returns 404 for a ' +
    'key of another person.',
  params: Type.Object({ apiKeyId: Type.String() }),
  errors: [errors.notFound],
  inPlace: true,
})
