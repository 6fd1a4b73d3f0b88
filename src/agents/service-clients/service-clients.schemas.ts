import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { operation, pathParams } from '../../http/description/operation.ts'
import { agentScopes } from '../../domain/agent.ts'
import { serviceClientDays, serviceClientMethods, serviceClientsMax } from '../../domain/service-accounts.ts'
import { overlapSecondsDefault, overlapSecondsMax } from '../../domain/key-restrictions.ts'
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
import { keysMax } from './client-keys.ts'

const method = stringEnum(serviceClientMethods, {
  description:
    'How it authenticates at the token endpoint: by a secret that the service makes, or by JWTs that it signs with a key of its own (RFC 7523).',
})

const ServiceClient = named(
  'ServiceClient',
  {
    id: Type.String({ description: 'The id of the client, and of its access in `integrations.list`.' }),
    clientId: Type.String({ description: 'Its OAuth client id.' }),
    name: Type.String({ description: 'Its name.' }),
    method,
    jwksUri: nullableString({ description: 'Where its public keys are fetched. Null: nowhere.' }),
    scopes: Type.Array(Type.String(), {
      description: 'What it may do, as OAuth scopes, as far as the role of the service account allows that.',
    }),
    createdAt: timestamp('When it was created.'),
    lastUsedAt: nullableTimestamp('When it last used its access. Null: never.'),
    expiresAt: timestamp('When its access ends.'),
    formerSecretUntil: nullableTimestamp('Until when the secret before works too. Null: none does.'),
  },
  {
    id: exampleIds.grant,
    clientId: `service-${exampleIds.grant}`,
    name: 'Nightly import',
    method: 'client_secret_basic',
    jwksUri: null,
    scopes: ['validation-kit:read', 'seeds:write'],
    createdAt: exampleTime,
    lastUsedAt: null,
    expiresAt: exampleExpiry,
    formerSecretUntil: null,
  },
  'An OAuth client of a service account: it gets access tokens for MCP and `/agent/v1` without a person.',
)
export type ServiceClient = Static<typeof ServiceClient>

const ServiceClientCreation = named(
  'ServiceClientCreation',
  {
    ok,
    client: ref(ServiceClient),
    secret: nullableString({
      description: 'The client secret. It is returned only here. Null: the client authenticates by its key.',
    }),
  },
  {
    ok: true,
    client: exampleOf(ServiceClient),
    secret: 'pH3c0uJ0wqgqT7cTq1rGx2m8Zk5vYd4sN6bLf9aWeXo',
  },
)

const ServiceClientRotation = named(
  'ServiceClientRotation',
  {
    ok,
    clientId: Type.String({ description: 'Its OAuth client id, as before.' }),
    secret: Type.String({ description: 'The new client secret. It is returned only here.' }),
  },
  {
    ok: true,
    clientId: `service-${exampleIds.grant}`,
    secret: 'pH3c0uJ0wqgqT7cTq1rGx2m8Zk5vYd4sN6bLf9aWeXo',
  },
)

export const serviceClientsSchemas = [ServiceClient, ServiceClientCreation, ServiceClientRotation]

const accountParams = pathParams('slug', 'serviceAccountId')
const managerErrors = [...workspaceErrors, errors.roleInsufficient]

export const serviceAccountsListClients = operation({
  id: 'serviceAccounts.listClients',
  summary: 'List the OAuth clients of a service account',
  description: 'For owners and admins. Newest first, without those whose access was revoked or has expired.',
  params: accountParams,
  success: Type.Array(ref(ServiceClient)),
  returns: `The clients of the service account, at most ${serviceClientsMax}.`,
  errors: managerErrors,
})

export const serviceAccountsCreateClient = operation({
  id: 'serviceAccounts.createClient',
  summary: 'Create an OAuth client of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. The client gets access tokens by the client ' +
    'credentials grant (RFC 6749 §4.4), with which it acts as the service account over MCP and at `/agent/v1`. Its access ends ' +
    `after ${serviceClientDays} days, unless an owner or admin prolongs it on the website. Only this response contains the secret.`,
  params: accountParams,
  body: closed(
    {
      name: line(labelLengthMax),
      method,
      jwks: Type.Optional(
        Type.Object(
          {
            keys: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true }), {
              minItems: 1,
              maxItems: keysMax,
              description: 'The keys, each a JWK.',
            }),
          },
          {
            additionalProperties: false,
            description:
              'For `private_key_jwt`: its public keys (RFC 7517), of P-256, Ed25519 or RSA with at least 2,048 bits.',
          },
        ),
      ),
      jwksUri: Type.Optional(
        Type.String({
          maxLength: 1024,
          description: 'For `private_key_jwt`: an https URL of the public keys, instead of `jwks`.',
        }),
      ),
      scopes: Type.Array(stringEnum(agentScopes), {
        maxItems: agentScopes.length,
        description:
          'What it may do, at most what the role of the service account allows. `validation-kit:read` is always included. ' +
          '`workspace:write` can be given on the website only.',
      }),
    },
    { examples: [{ name: 'Nightly import', method: 'client_secret_basic', scopes: ['seeds:write'] }] },
  ),
  success: ref(ServiceClientCreation),
  returns: 'The new client with its secret.',
  errors: [
    ...managerErrors,
    errors.roleTooHigh,
    errors.clientKeysInvalid,
    errors.scopeTooHigh,
    errors.scopeOnWebsiteOnly,
    errors.serviceClientLimit,
    errors.keyRestricted,
  ],
})

export const serviceAccountsRotateClient = operation({
  id: 'serviceAccounts.rotateClient',
  summary: 'Replace the secret of an OAuth client of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. The old secret works on for `overlapSeconds`, ' +
    'and access tokens until they expire. A client with `workspace:write` is rotated on the website only, and one with a key ' +
    'of its own has no secret. Only this response contains the new one.',
  params: pathParams('slug', 'serviceAccountId', 'serviceClientId'),
  body: closed(
    {
      overlapSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: overlapSecondsMax,
          description: `How long the old secret works on, in seconds. 0: it ends at once. Default: ${overlapSecondsDefault}.`,
        }),
      ),
    },
    { examples: [{ overlapSeconds: 3600 }] },
  ),
  success: ref(ServiceClientRotation),
  returns: 'The new secret.',
  errors: [
    ...managerErrors,
    errors.roleTooHigh,
    errors.clientRotated,
    errors.clientWithoutSecret,
    errors.scopeOnWebsiteOnly,
    errors.keyRestricted,
  ],
})

export const serviceAccountsRevokeClient = operation({
  id: 'serviceAccounts.revokeClient',
  summary: 'Revoke an OAuth client of a service account',
  description:
    'For owners and admins, for service accounts whose role is at most their own. Takes effect with the next request, also of ' +
    'its access tokens. Revoking a revoked client succeeds.',
  params: pathParams('slug', 'serviceAccountId', 'serviceClientId'),
  errors: [...managerErrors, errors.roleTooHigh],
})
