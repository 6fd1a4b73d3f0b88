import { expect } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import type { KeyAccess } from '../../src/domain/key-restrictions.ts'
import type { Role } from '../../src/domain/roles.ts'
import { get, post } from './company.ts'
import { dumpDatabase } from './dump-database.ts'
import { expectError } from './expect-error.ts'
import type { TestApp } from './test-app.ts'

/** The restrictions of a key, as the API has them. */
export interface TestRestrictions {
  expiresAt: string | null
  access: KeyAccess
  workspaceIds: string[] | null
  maxRole: Role | null
}

export const noRestrictions: TestRestrictions = {
  expiresAt: null,
  access: 'full',
  workspaceIds: null,
  maxRole: null,
}

/** A key as the answer that made it tells it. */
export interface TestKey {
  id: string
  name: string
  tokenPrefix: string
  lastFour: string
  secret: string
  /** The secret, to send requests with. */
  apiKey: string
}

/** Creates a key through the API, with these restrictions only. */
export async function createKey(
  { as }: Pick<TestApp, 'as'>,
  person: { apiKey: string },
  restrictions: Partial<TestRestrictions> = {},
): Promise<TestKey> {
  const body = { name: 'Restricted', ...noRestrictions, ...restrictions }
  const answer = await as(person, post('/v1/api-keys/restricted', body))
  expect(answer.statusCode, answer.body).toBe(200)
  const key = answer.json<TestKey>()
  return { ...key, apiKey: key.secret }
}

export const pathOfKey = (id: string) => `/v1/api-keys/${id}`

/** The restrictions of a key, as another key of the same person reads them. */
export async function readRestrictions(
  { as }: Pick<TestApp, 'as'>,
  reader: { apiKey: string },
  { id }: { id: string },
): Promise<TestRestrictions> {
  const answer = await as(reader, get(`${pathOfKey(id)}/restrictions`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

/** Asserts that a key works, or that it is refused as an unknown one is. */
export async function expectWorks(
  { as }: Pick<TestApp, 'as'>,
  key: { apiKey: string },
  works: boolean,
): Promise<void> {
  const answer = await as(key, get('/v1/me'))
  if (works) expect(answer.statusCode, answer.body).toBe(200)
  else expectError(answer, errors.apiKeyRequired)
}

/** Asserts that a secret is stored nowhere, neither as text nor as bytes. */
export async function expectNotStored(service: Pick<TestApp, 'db'>, secret: string): Promise<void> {
  const stored = await dumpDatabase(service)
  for (const text of [secret, Buffer.from(secret).toString('hex')]) expect(stored).not.toContain(text)
}
