import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { serviceRoles } from '../service-accounts.ts'
import { closed, stringEnum } from '../../kernel/schemas.ts'
import { nameSecrets } from '../known-secrets.ts'
import { person, examplePerson } from './people.ts'
import { webhook } from './webhooks.ts'
import { listOf, id, text, kind } from './kind.ts'

const service = {
  serviceAccountId: id('the service account'),
  userId: id('its member'),
  name: text('The name of the service account at the time.'),
}

const exampleService = {
  serviceAccountId: exampleIds.serviceAccount,
  userId: exampleIds.serviceUser,
  name: 'CRM sync',
}

const serviceKey = { ...service, apiKeyId: id('the API key'), keyName: text('The name of the API key.') }

const serviceClient = {
  ...service,
  grantId: id('the client, and of its access'),
  clientName: text('The name of the client.'),
}

const exampleServiceClient = {
  ...exampleService,
  grantId: exampleIds.grant,
  clientName: 'Nightly import',
}

const exampleServiceKey = { ...exampleService, apiKeyId: exampleIds.apiKey, keyName: 'Production' }

/** What happens to service accounts, their keys and clients. */
export const serviceAccountEvents = {
  'service_account.created': kind(
    { ...service, role: stringEnum(serviceRoles, { description: 'Its role.' }) },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, role: madeAs }, actor) =>
        `${actor} created the service account ${name} as ${madeAs}`,
      example: { ...exampleService, role: 'member' },
    },
  ),
  'service_account.updated': kind(
    {
      ...service,
      role: stringEnum(serviceRoles, { description: 'Its role after the change.' }),
      fields: Type.Array(stringEnum(['name', 'role']), { description: 'What was changed.' }),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, fields }, actor) =>
        `${actor} changed the ${fields.join(' and the ')} of the service account ${name}`,
      example: { ...exampleService, role: 'viewer', fields: ['role'] },
    },
  ),
  'service_account.deleted': kind(service, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name }, actor) => `${actor} deleted the service account ${name}`,
    example: exampleService,
  }),
  'service_account.key_created': kind(serviceKey, {
    readers: 'managers',
    target: ['user', 'userId'],
    names: { keyName: '' },
    summarize: ({ name, keyName }, actor) =>
      `${actor} created the API key ${keyName} of the service account ${name}`,
    example: exampleServiceKey,
  }),
  'service_account.key_rotated': kind(
    { ...serviceKey, rotatedApiKeyId: id('the API key that it takes the place of') },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      names: { keyName: '' },
      summarize: ({ name, keyName }, actor) =>
        `${actor} rotated the API key ${keyName} of the service account ${name}`,
      example: { ...exampleServiceKey, rotatedApiKeyId: exampleIds.rotatedApiKey },
    },
  ),
  'service_account.key_revoked': kind(serviceKey, {
    readers: 'managers',
    target: ['user', 'userId'],
    names: { keyName: '' },
    summarize: ({ name, keyName }, actor) =>
      `${actor} revoked the API key ${keyName} of the service account ${name}`,
    example: exampleServiceKey,
  }),
  'service_account.client_created': kind(
    { ...serviceClient, scopes: Type.Array(Type.String(), { description: 'Its OAuth scopes.' }) },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, clientName }, actor) =>
        `${actor} created the OAuth client ${clientName} of the service account ${name}`,
      example: { ...exampleServiceClient, scopes: ['validation-kit:read', 'seeds:write'] },
    },
  ),
  'service_account.client_prolonged': kind(
    {
      ...serviceClient,
      expiredAt: text('When its access would have ended.'),
      expiresAt: text('When it ends now.'),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, clientName }, actor) =>
        `${actor} prolonged the access of the OAuth client ${clientName} of the service account ${name}`,
      example: {
        ...exampleServiceClient,
        expiredAt: '2026-11-21T03:04:05.678Z',
        expiresAt: '2027-11-21T03:04:05.678Z',
      },
    },
  ),
  'service_account.client_rotated': kind(serviceClient, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name, clientName }, actor) =>
      `${actor} rotated the secret of the OAuth client ${clientName} of the service account ${name}`,
    example: exampleServiceClient,
  }),
  'service_account.client_revoked': kind(serviceClient, {
    readers: 'managers',
    target: ['user', 'userId'],
    summarize: ({ name, clientName }, actor) =>
      `${actor} revoked the OAuth client ${clientName} of the service account ${name}`,
    example: exampleServiceClient,
  }),
  'service_account.keys_known': kind(
    {
      ...person,
      keys: Type.Array(
        closed({
          serviceAccountId: id('the service account'),
          serviceAccountName: text('Its name at the time.'),
          apiKeyId: id('the API key'),
          keyName: text('The name of the API key.'),
          lastFour: text('Its last four characters.'),
        }),
        { description: 'The active API keys of service accounts that the person was shown.' },
      ),
      clients: Type.Optional(
        Type.Array(
          closed({
            serviceAccountId: id('the service account'),
            serviceAccountName: text('Its name at the time.'),
            grantId: id('the access of the OAuth client'),
            clientName: text('The name of the client.'),
          }),
          {
            description:
              'The OAuth clients of service accounts whose secret the person was shown, or whose key they gave. Absent: none.',
          },
        ),
      ),
      webhooks: Type.Optional(
        Type.Array(closed(webhook), {
          description: 'The webhooks of which the person was shown a secret that signs. Absent: none.',
        }),
      ),
    },
    {
      readers: 'managers',
      target: ['user', 'userId'],
      summarize: ({ name, ...known }, actor) =>
        `${actor} ended the access of ${name}, who knows ${listOf(nameSecrets(known))}`,
      example: {
        ...examplePerson,
        keys: [
          {
            serviceAccountId: exampleIds.serviceAccount,
            serviceAccountName: 'CRM sync',
            apiKeyId: exampleIds.apiKey,
            keyName: 'Production',
            lastFour: 'x7Qz',
          },
        ],
      },
    },
  ),
}
