import { expect } from 'vitest'
import type { Description } from '../../scripts/description.ts'
import type { WebhookScope } from '../../src/domain/webhooks.ts'
import type { webhookRequests } from '../../src/areas/webhooks/webhooks.schemas.ts'
import { post, type TestCompany } from './company.ts'
import { createFaultFinder } from './schema-faults.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** A webhook as the answer that made it tells it. */
export interface TestWebhook {
  id: string
  secret: string
  /** The path of its operations. */
  path: string
}

/** Adds a webhook through the API. */
export async function createWebhook(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  body: { url: string; format?: string; types?: string[] } & Partial<Record<WebhookScope, string[]>>,
): Promise<TestWebhook> {
  const answer = await as(actor, post(`${url}/webhooks`, body))
  expect(answer.statusCode, answer.body).toBe(200)
  const { webhook, secret } = answer.json<{ webhook: { id: string }; secret: string }>()
  return { id: webhook.id, secret, path: `${url}/webhooks/${webhook.id}` }
}

/** What of a message to a webhook contradicts the API description. */
export function findFaultsOfMessage(
  { app }: Pick<TestApp, 'app'>,
  message: unknown,
  kind: keyof typeof webhookRequests = 'event',
): unknown[] {
  const description = app.swagger() as unknown as Description & { webhooks: typeof webhookRequests }
  const { requestBody } = description.webhooks[kind].post
  return createFaultFinder(description)(requestBody.content['application/json'].schema, message)
}
