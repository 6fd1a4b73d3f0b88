import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { operation, pathParams } from '../../http/description/operation.ts'
import {
  closed,
  exampleOf,
  line,
  named,
  nullableRef,
  nullableString,
  nullableTimestamp,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import {
  keyAccesses,
  keyWorkspacesMax,
  overlapSecondsDefault,
  overlapSecondsMax,
} from '../../domain/key-restrictions.ts'
import { Role } from '../../domain/roles.ts'
import { labelLengthMax } from '../../kernel/text.ts'

const exampleKey = {
  id: exampleIds.apiKey,
  name: 'Deploy script',
  tokenPrefix: 'wsk_4fGh',
  lastFour: 'x7Qz',
}

const keyFields = {
  id: Type.String({ description: 'The id of the key.' }),
  name: Type.String({ description: 'The name of the key.' }),
  tokenPrefix: Type.String({ description: 'The first characters of the key.' }),
  lastFour: Type.String({ description: 'The last four characters of the key.' }),
}

export const ApiKey = named(
  'ApiKey',
  {
    ...keyFields,
    createdAt: timestamp('When the key was created.'),
    lastUsedAt: nullableTimestamp('When the key was last used. Null: never.'),
  },
  { ...exampleKey, createdAt: exampleTime, lastUsedAt: null },
)
export type ApiKey = Static<typeof ApiKey>

export const CreatedApiKey = named(
  'CreatedApiKey',
  {
    ...keyFields,
    secret: Type.String({ description: 'The API key itself. It is returned only here.' }),
  },
  // With an invalid checksum, so that scanners for leaked keys do not report it.
  { ...exampleKey, secret: 'wsk_4fGhJkLmNpQrStUvWxYz23456789Ab00x7Qz' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

const access = stringEnum(keyAccesses, {
  description:
    '`full`: everything that the owner of the key may do. `read`: only requests by GET and HEAD, which change nothing.',
})
const workspaceIds = {
  description:
    'The ids of the only workspaces that the key reaches, as far as its owner is a member of them. Null: all of the owner.',
}

const maxRoleText =
  'The highest role that the key acts with: in each workspace the lower of it and the role of its owner. A key with a role ' +
  'below `owner` changes nothing of the account either: it creates no workspaces and accepts no invites. Null: the role of the owner.'

const ApiKeyRestrictions = named(
  'ApiKeyRestrictions',
  {
    expiresAt: nullableString({
      format: 'date-time',
      description: 'When the key stops working. Null: never.',
    }),
    access,
    workspaceIds: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Type.String(),
      ...workspaceIds,
    }),
    maxRole: nullableRef(Role, maxRoleText),
  },
  { expiresAt: exampleExpiry, access: 'read', workspaceIds: [exampleIds.workspace], maxRole: 'member' },
)
export type ApiKeyRestrictions = Static<typeof ApiKeyRestrictions>

export const apiKeysSchemas = [ApiKey, CreatedApiKey, ApiKeyRestrictions]

/** The restrictions in a body. */
const restrictionFields = {
  expiresAt: nullableString({
    format: 'date-time',
    description:
      'When the key stops working, in the future. Null: never. An expired key cannot be used again.',
  }),
  access,
  workspaceIds: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: Type.String(),
    minItems: 1,
    maxItems: keyWorkspacesMax,
    ...workspaceIds,
  }),
}
/** The highest role of a new key, or of one that is restricted, in a body. */
export const maxRoleInput = (absent: string) => Type.Optional(nullableRef(Role, `${maxRoleText} ${absent}`))
const restrictionErrors = [errors.keyRestricted, errors.expiryInPast, errors.workspaceNotYours]

const keyParams = pathParams('apiKeyId')

export const apiKeysList = operation({
  id: 'apiKeys.list',
  summary: "List the caller's active API keys",
  description:
    'Newest first, without revoked and expired keys. `lastUsedAt` may be up to a minute behind. A key that is bound to ' +
    'workspaces sees no other keys in this list.',
  success: Type.Array(ref(ApiKey)),
  returns: 'The active API keys of the caller.',
  inPlace: true,
})

export const apiKeysGet = operation({
  id: 'apiKeys.get',
  summary: 'Read an API key',
  description: 'A key that is bound to workspaces can read only itself.',
  params: keyParams,
  success: ref(ApiKey),
  returns: 'The API key.',
  errors: [errors.notFound, errors.keyRestricted],
})

export const apiKeysRestrictions = operation({
  id: 'apiKeys.restrictions',
  summary: 'Read the restrictions of an API key',
  description: 'A key that is bound to workspaces can read only its own.',
  params: keyParams,
  success: ref(ApiKeyRestrictions),
  returns: 'The restrictions of the API key.',
  errors: [errors.notFound, errors.keyRestricted],
})

export const apiKeysRestrict = operation({
  id: 'apiKeys.restrict',
  summary: 'Change the restrictions of an API key',
  description:
    'Replaces all restrictions, `maxRole` if it is given. Takes effect with the next request of the key. Its owner gets an email a week before a key ' +
    'expires. A restricted key can restrict only itself, and only further.',
  params: keyParams,
  body: closed(
    { ...restrictionFields, maxRole: maxRoleInput('Absent: unchanged.') },
    { examples: [exampleOf(ApiKeyRestrictions)] },
  ),
  errors: [errors.notFound, ...restrictionErrors],
})

export const apiKeysCreateRestricted = operation({
  id: 'apiKeys.createRestricted',
  summary: 'Create an API key with restrictions',
  description:
    'Like `apiKeys.create`, for a key that may do less than its owner. Only this response contains the secret. A restricted ' +
    'key can only create keys with at least its own restrictions.',
  body: closed(
    {
      name: line(labelLengthMax),
      ...restrictionFields,
      maxRole: maxRoleInput('Absent: null.'),
    },
    { examples: [{ name: 'Dashboard', ...exampleOf(ApiKeyRestrictions) }] },
  ),
  success: ref(CreatedApiKey),
  returns: 'The new API key with its secret.',
  errors: [errors.apiKeyLimit, ...restrictionErrors],
})

export const apiKeysRotate = operation({
  id: 'apiKeys.rotate',
  summary: 'Rotate an API key',
  description:
    'Creates a key with the same name and the same restrictions, which expires when the old one would have. The old one works ' +
    'on for `overlapSeconds`, so that programs can change over. A key can rotate itself; send an `Idempotency-Key` and ' +
    'an overlap then, so that a lost response can be requested again.',
  params: keyParams,
  body: closed(
    {
      overlapSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: overlapSecondsMax,
          description: `How long the old key works on, in seconds. 0: it is revoked at once. Default: ${overlapSecondsDefault}.`,
        }),
      ),
    },
    { examples: [{ overlapSeconds: 3600 }] },
  ),
  success: ref(CreatedApiKey),
  returns: 'The new API key with its secret.',
  errors: [errors.notFound, errors.keyRestricted, errors.keyRotated, errors.apiKeyLimit],
})

export const apiKeysCreate = operation({
  id: 'apiKeys.create',
  summary: 'Create an API key',
  description: 'Only this response contains the secret. It cannot be read again.',
  body: closed({ name: line(labelLengthMax) }, { examples: [{ name: 'Deploy script' }] }),
  success: ref(CreatedApiKey),
  returns: 'The new API key with its secret.',
  errors: [errors.apiKeyLimit, errors.keyRestricted],
  inPlace: true,
})

export const apiKeysRevoke = operation({
  id: 'apiKeys.revoke',
  summary: 'Revoke an API key',
  description:
    'Takes effect with the next request. A key can revoke itself, and a restricted key only itself. Revoking a revoked key ' +
    'succeeds. Returns 404 for a key of another person.',
  params: keyParams,
  errors: [errors.notFound, errors.keyRestricted],
  inPlace: true,
})
