import { expect } from 'vitest'
import type { ServiceClient } from '../../src/agents/service-clients/service-clients.service.ts'
import type { ServiceAccount } from '../../src/areas/serviceAccounts/serviceAccounts.service.ts'
import type { TestKey } from './api-keys.ts'
import { post, type TestCompany } from './company.ts'
import type { TestApp } from './test-app.ts'

interface Caller {
  apiKey: string
}

/** Makes a service account through the API. */
export async function createServiceAccount(
  { as }: Pick<TestApp, 'as'>,
  actor: Caller,
  { url }: Pick<TestCompany, 'url'>,
  input: Partial<Pick<ServiceAccount, 'name' | 'role'>> = {},
): Promise<ServiceAccount & { url: string }> {
  const body = { name: 'CRM sync', role: 'member', ...input }
  const answer = await as(actor, post(`${url}/service-accounts`, body))
  expect(answer.statusCode, answer.body).toBe(200)
  const { serviceAccount } = answer.json<{ serviceAccount: ServiceAccount }>()
  return { ...serviceAccount, url: `${url}/service-accounts/${serviceAccount.id}` }
}

/** Makes a key of a service account through the API. */
export async function createServiceKey(
  { as }: Pick<TestApp, 'as'>,
  actor: Caller,
  { url }: Pick<TestCompany, 'url'>,
  { id }: Pick<ServiceAccount, 'id'>,
  input: object = {},
): Promise<TestKey> {
  const answer = await as(
    actor,
    post(`${url}/service-accounts/${id}/api-keys`, { name: 'Production', ...input }),
  )
  expect(answer.statusCode, answer.body).toBe(200)
  const key = answer.json<TestKey>()
  return { ...key, apiKey: key.secret }
}

/** An OAuth client of a service account, with its secret. */
export type TestClient = ServiceClient & { secret: string | null }

/** Makes an OAuth client of a service account through the API, by default with a secret. */
export async function createServiceClient(
  { as }: Pick<TestApp, 'as'>,
  actor: Caller,
  { url }: { url: string },
  input: object = {},
): Promise<TestClient> {
  const body = { name: 'Nightly import', method: 'client_secret_basic', scopes: [], ...input }
  const answer = await as(actor, post(`${url}/clients`, body))
  expect(answer.statusCode, answer.body).toBe(200)
  const { client, secret } = answer.json<{ client: ServiceClient; secret: string | null }>()
  return { ...client, secret }
}

/** A service account that sends requests. `id` is that of the account, not of its member. */
export type TestService = ServiceAccount & { url: string; email: string; apiKey: string; apiKeyId: string }

/** Makes a service account with a key, to send requests with. */
export async function createService(
  service: Pick<TestApp, 'as'>,
  actor: Caller,
  company: Pick<TestCompany, 'url'>,
  input: Partial<Pick<ServiceAccount, 'name' | 'role'>> = {},
): Promise<TestService> {
  const account = await createServiceAccount(service, actor, company, input)
  const { id: apiKeyId, apiKey } = await createServiceKey(service, actor, company, account)
  return { ...account, email: `${account.id}@service.invalid`, apiKey, apiKeyId }
}
