import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { keyAccesses, overlapSecondsDefault, overlapSecondsMax } from '../../domain/key-restrictions.ts'
import { serviceAccountsMax, serviceRoles } from '../../domain/service-accounts.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import {
  closed,
  exampleOf,
  line,
  named,
  nullableString,
  nullableTimestamp,
  ok,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import { ApiKey, CreatedApiKey, maxRoleInput } from '../apiKeys/apiKeys.schemas.ts'

const role = stringEnum(serviceRoles, { description: 'Its role in the workspace. It cannot be an owner.' })

const ServiceAccount = named(
  'ServiceAccount',
  {
    id: Type.String({ description: 'The id of the service account.' }),
    userId: Type.String({ description: 'Its id as a member of the workspace, and as the actor of events.' }),
    name: Type.String({ description: 'Its name.' }),
    role,
    createdByUserId: nullableString({
      description: 'The person who made it. Null: the account of that person was deleted.',
    }),
    createdByName: nullableString({ description: 'The name of that person.' }),
    createdAt: timestamp('When it was made.'),
    lastUsedAt: nullableTimestamp('When one of its keys or OAuth clients was last used. Null: never.'),
  },
  {
    id: exampleIds.serviceAccount,
    userId: exampleIds.serviceUser,
    name: 'CRM sync',
    role: 'member',
    createdByUserId: exampleIds.user,
    createdByName: 'Grace Hopper',
    createdAt: exampleTime,
    lastUsedAt: null,
  },
  'A member of a workspace that nobody signs in as, for a program.',
)
export type ServiceAccount = Static<typeof ServiceAccount>

const ServiceAccountCreation = named(
  'ServiceAccountCreation',
  { ok, serviceAccount: ref(ServiceAccount) },
  { ok: true, serviceAccount: exampleOf(ServiceAccount) },
)

export const serviceAccountsSchemas = [ServiceAccount, ServiceAccountCreation]

const accountParams = pathParams('slug', 'serviceAccountId')
const keyParams = pathParams('slug', 'serviceAccountId', 'apiKeyId')
const managerErrors = [...workspaceErrors, errors.roleInsufficient]
const changeErrors = [...managerErrors, errors.roleTooHigh]
const name = line(labelLengthMax)

export const serviceAccountsList = operation({
  id: 'serviceAccounts.list',
  summary: 'List the service accounts of a workspace',
  description: `For owners and admins. Oldest first. A workspace has at most ${serviceAccountsMax}.`,
  params: slugParams,
  success: Type.Array(ref(ServiceAccount)),
  returns: 'All service accounts of the workspace.',
  errors: managerErrors,
})

export const serviceAccountsGet = operation({
  id: 'serviceAccounts.get',
  summary: 'Read a service account',
  description: 'For owners and admins.',
  params: accountParams,
  success: ref(ServiceAccount),
  returns: 'The service account.',
  errors: managerErrors,
})

export const serviceAccountsCreate = operation({
  id: 'serviceAccounts.create',
  summary: 'Create a service account',
  description:
    'For owners and admins, with at most their own role. A service account acts in this workspace by its API keys and its OAuth clients, which stay ' +
    'when the person who made it leaves. Nobody can sign in as it.',
  params: slugParams,
  body: closed({ name, role }, { examples: [{ name: 'CRM sync', role: 'member' }] }),
  success: ref(ServiceAccountCreation),
  returns: 'The new service account, which has no keys yet.',
  errors: [...changeErrors, errors.serviceAccountLimit],
})

export const serviceAccountsUpdate = operation({
  id: 'serviceAccounts.update',
  summary: 'Rename a service account, or change its role',
  description:
    'For owners and admins, for service accounts whose role is at most their own. Fields that are absent stay as they are. ' +
    'A new role takes effect with the next request of its keys. A key raises the role only if it may make an endless key with it.',
  params: accountParams,
  body: closed({ name: Type.Optional(name), role: Type.Optional(role) }, { examples: [{ role: 'viewer' }] }),
  errors: [...changeErrors, errors.keyRestricted],
})

export const serviceAccountsDelete = operation({
  id: 'serviceAccounts.delete',
  summary: 'Delete a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. Its keys and its OAuth clients stop working, and it is no longer ' +
    'a member. What it has written stays, with its name.',
  params: accountParams,
  errors: changeErrors,
})

export const serviceAccountsListKeys = operation({
  id: 'serviceAccounts.listKeys',
  summary: 'List the active API keys of a service account',
  description: 'For owners and admins. Newest first, without revoked and expired keys.',
  params: accountParams,
  success: Type.Array(ref(ApiKey)),
  returns: 'The active API keys of the service account.',
  errors: managerErrors,
})

export const serviceAccountsCreateKey = operation({
  id: 'serviceAccounts.createKey',
  summary: 'Create an API key of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. The key works only in this workspace. Only ' +
    'this response contains the secret. A restricted key can only create keys with at least its own restrictions.',
  params: accountParams,
  body: closed(
    {
      name,
      expiresAt: Type.Optional(
        nullableString({
          format: 'date-time',
          description: 'When the key stops working, in the future. Null or absent: never.',
        }),
      ),
      access: Type.Optional(
        stringEnum(keyAccesses, {
          description:
            '`full` (default): everything that the service account may do. `read`: only requests by GET and HEAD.',
        }),
      ),
      maxRole: maxRoleInput('Absent: null.'),
    },
    { examples: [{ name: 'Production', expiresAt: exampleExpiry, access: 'full' }] },
  ),
  success: ref(CreatedApiKey),
  returns: 'The new API key with its secret.',
  errors: [...changeErrors, errors.apiKeyLimit, errors.expiryInPast, errors.keyRestricted],
})

export const serviceAccountsRotateKey = operation({
  id: 'serviceAccounts.rotateKey',
  summary: 'Rotate an API key of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. Creates a key with the same name and the ' +
    'same restrictions. The old one works on for `overlapSeconds`. A restricted key can rotate only keys with at least its ' +
    'own restrictions.',
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
  errors: [...changeErrors, errors.keyRotated, errors.apiKeyLimit, errors.keyRestricted],
})

export const serviceAccountsRevokeKey = operation({
  id: 'serviceAccounts.revokeKey',
  summary: 'Revoke an API key of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. Takes effect with the next request. Revoking ' +
    'a revoked key succeeds.',
  params: keyParams,
  errors: changeErrors,
})
