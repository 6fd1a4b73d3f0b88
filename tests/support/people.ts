import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/db/client.ts'
import { canonicalizeEmail } from '../../src/kernel/email.ts'
import { createId } from '../../src/kernel/ids.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createApiKeySecret, hashSecret } from '../../src/kernel/tokens.ts'
import type { Services } from '../../src/services/services.ts'

/** A person made for a test, with a key that works. */
export interface TestPerson {
  id: string
  name: string
  email: string
  apiKey: string
  apiKeyId: string
}

/** What a test says of a person. */
export interface NewTestPerson {
  /** Default: Grace Hopper. */
  name?: string
  /** Default: an address that nobody has. */
  email?: string
  /** Default: true. */
  isVerified?: boolean
}

/**
 * Inserts people, each with an API key, in one statement: tests make thousands, and the services need nine for each. The
 * order of the results is that of the input. Nobody joins a workspace that allows their domain (see `createUser`).
 */
export async function insertPeople(
  { $client: pool }: Database,
  people: readonly NewTestPerson[],
  { now, apiKeyPrefix }: { now: Date; apiKeyPrefix: string },
): Promise<TestPerson[]> {
  const rows = people.map((person) => ({
    ...withDefaults(person),
    id: createId(),
    apiKeyId: createId(),
    key: createApiKeySecret(apiKeyPrefix),
  }))
  await pool.query({
    name: 'tests_insert_people',
    text: `with given as (
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::uuid[], $7::text[],
            $8::text[], $9::text[])
          as given (id, name, email, canonical_email, is_verified, key_id, secret_hash, token_prefix, last_four)
      ), inserted as (
        insert into users (id, name, email, canonical_email, email_verified_at, created_at)
        select id, name, email, canonical_email, case when is_verified then $10::timestamptz end, $10 from given
      )
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select key_id, id, 'Test key', decode(secret_hash, 'hex'), token_prefix, last_four, $10 from given`,
    values: [
      rows.map(({ id }) => id),
      rows.map(({ name }) => name),
      rows.map(({ email }) => email),
      rows.map(({ email }) => canonicalizeEmail(email)),
      rows.map(({ isVerified }) => isVerified),
      rows.map(({ apiKeyId }) => apiKeyId),
      rows.map(({ key }) => hashSecret(key.secret).toString('hex')),
      rows.map(({ key }) => key.tokenPrefix),
      rows.map(({ key }) => key.lastFour),
      now,
    ],
  })
  return rows.map(({ id, name, email, apiKeyId, key }) => ({ id, name, email, apiKeyId, apiKey: key.secret }))
}

/**
 * Makes a person as an operator does with `create-user`, and gives them an API key. With a verified address they join the
 * workspace that allows its domain.
 */
export async function createUser(
  { accounts, apiKeys }: Pick<Services, 'accounts' | 'apiKeys'>,
  person: NewTestPerson = {},
): Promise<TestPerson> {
  const user = await accounts.create(withDefaults(person))
  const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
  const key = await apiKeys.create(principal, { name: 'Test key' })
  return { id: user.id, name: user.name, email: user.email, apiKey: key.secret, apiKeyId: key.id }
}

const withDefaults = ({
  name = 'Grace Hopper',
  email = `${randomUUID()}@example.com`,
  isVerified = true,
}: NewTestPerson) => ({ name, email, isVerified })
