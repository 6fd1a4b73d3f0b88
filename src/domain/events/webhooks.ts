import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { nullableString, stringEnum } from '../../kernel/schemas.ts'
import { webhookScopes, webhookStatuses } from '../webhooks.ts'
import { id, text, kind } from './kind.ts'

/** The fields of what is about a webhook. */
export const webhook = {
  webhookId: id('the webhook'),
  host: text('The host of its URL at the time. The rest of the URL may be secret.'),
}

const exampleWebhook = { webhookId: exampleIds.webhook, host: 'hooks.example.com' }

/** What happens to webhooks. */
export const webhookEvents = {
  'webhook.created': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} added a webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.updated': kind(
    {
      ...webhook,
      fields: Type.Array(stringEnum(['url', 'format', 'types', ...webhookScopes, 'description', 'status']), {
        description: 'What was changed.',
      }),
      status: stringEnum(webhookStatuses, { description: 'The status now.' }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize({ fields, host, status }, actor) {
        const turned = status === 'active' ? 'enabled' : 'disabled'
        return `${actor} ${fields.includes('status') ? turned : 'changed'} the webhook to ${host}`
      },
      example: { ...exampleWebhook, fields: ['types'], status: 'active' },
    },
  ),
  'webhook.resumed': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} ended the pause of the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.deleted': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} deleted the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.secret_rotated': kind(webhook, {
    readers: 'managers',
    target: ['webhook', 'webhookId'],
    summarize: ({ host }, actor) => `${actor} rotated the secret of the webhook to ${host}`,
    example: exampleWebhook,
  }),
  'webhook.tested': kind(
    {
      ...webhook,
      delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
      sampleType: nullableString({
        description: 'The type of the event of which a sample was sent; null for a test.',
      }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize: ({ host, sampleType }, actor) =>
        sampleType == null
          ? `${actor} sent a test to the webhook to ${host}`
          : `${actor} sent a sample of ${sampleType} to the webhook to ${host}`,
      example: { ...exampleWebhook, delivered: true, sampleType: null },
    },
  ),
  'webhook.redelivered': kind(
    { ...webhook, events: Type.Integer({ description: 'How many events are sent again.' }) },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize: ({ events, host }, actor) =>
        `${actor} sent ${events} ${events === 1 ? 'event' : 'events'} to the webhook to ${host} again`,
      example: { ...exampleWebhook, events: 12 },
    },
  ),
  'webhook.disabled': kind(
    {
      ...webhook,
      reason: stringEnum(['gone', 'failing'], {
        description: 'Whether its receiver answered 410 Gone, or nothing could be delivered for three days.',
      }),
    },
    {
      readers: 'managers',
      target: ['webhook', 'webhookId'],
      summarize({ host, reason }, actor) {
        const because =
          reason === 'gone' ? 'its receiver answered 410 Gone' : 'nothing could be delivered for three days'
        return `${actor} disabled the webhook to ${host}, because ${because}`
      },
      example: { ...exampleWebhook, reason: 'failing' },
    },
  ),
}
