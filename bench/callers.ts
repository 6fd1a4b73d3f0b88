import { createHash } from 'node:crypto'
import type pg from 'pg'
import { canonicalizeEmail } from '../src/kernel/email.ts'
import { createId } from '../src/kernel/ids.ts'
import { createApiKeySecret, hashSecret } from '../src/kernel/tokens.ts'

/** A user of a database, with a key. */
export interface Caller {
  id: string
  name: string
  email: string
  apiKey: string
}

/** An address that has little in common with others, as those of real people do: the index of the directory is of trigrams. */
export function createAddress(name: string): string {
  const [local, domain] = createHash('sha256').update(name).digest('hex').match(/.{12}/g) ?? []
  return `${local}@${domain}.example`
}

/** Adds users with an API key each. */
export async function addCallers(pool: pg.Pool, name: string, count: number): Promise<Caller[]> {
  const callers = Array.from({ length: count }, (_, i) => ({
    id: createId(),
    name: `${name} ${i + 1}`,
    email: createAddress(`${name} ${i + 1}`),
    apiKey: createApiKeySecret('wsk').secret,
  }))
  const ids = callers.map(({ id }) => id)
  await pool.query(
    `insert into users (id, email, canonical_email, email_verified_at, name, created_at)
      select id, email, canonical, now(), name, now()
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as new (id, email, canonical, name)`,
    [
      ids,
      callers.map(({ email }) => email),
      callers.map(({ email }) => canonicalizeEmail(email)),
      callers.map((caller) => caller.name),
    ],
  )
  await pool.query(
    `insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select key_id, user_id, 'Bench', hash, 'wsk_', 'last', now()
      from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as new (key_id, user_id, hash)`,
    [callers.map(() => createId()), ids, callers.map(({ apiKey }) => hashSecret(apiKey))],
  )
  return callers
}
