import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  insertAccountToken,
  deleteExpiredAccountTokens,
} from '../../src/accounts/sign-in/credentials.repository.ts'
import { deleteAbandonedSignUps } from '../../src/accounts/sign-in/abandoned-sign-ups.repository.ts'
import { createToken, hashSecret } from '../../src/kernel/tokens.ts'
import { createCompany, randomEmail } from '../support/company.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'

// A database of its own: the clean-up reads everybody.
const app = await startTestApp({ environment: { DATABASE_URL: await clone() } })
const { db, services } = app
const day = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * day)

/** An account of the sign-up form, from ten days ago. */
async function insertSignUp(): Promise<string> {
  const { id } = await services.accounts.create({ email: randomEmail(), name: 'Nora', isVerified: false })
  await db.execute(sql`update users set created_at = ${daysAgo(10)} where id = ${id}`)
  await db.execute(sql`insert into passwords (user_id, hash, changed_at) values (${id}, 'hash', now())`)
  return id
}

const exists = async (id: string) =>
  (await selectRows(db, sql`select 1 from users where id = ${id}`)).length === 1

async function cleanUp(): Promise<void> {
  await deleteExpiredAccountTokens(db, daysAgo(7))
  await deleteAbandonedSignUps(db, daysAgo(7))
}

describe('the clean-up of sign-ups that were never verified', () => {
  it('deletes an account with its password, once its last link ended a week ago', async () => {
    const id = await insertSignUp()
    const link = { tokenHash: hashSecret(createToken()), userId: id, purpose: 'verify_email' as const }
    await insertAccountToken(db, { ...link, expiresAt: daysAgo(6.9) })
    await cleanUp()
    expect(await exists(id)).toBe(true)
    await db.execute(sql`update account_tokens set expires_at = ${daysAgo(7.1)} where user_id = ${id}`)
    await cleanUp()
    expect(await exists(id)).toBe(false)
    expect(await selectRows(db, sql`select 1 from passwords where user_id = ${id}`)).toEqual([])
  })

  it('waits a week after the sign-up', async () => {
    const id = await insertSignUp()
    await db.execute(sql`update users set created_at = ${daysAgo(6.9)} where id = ${id}`)
    await cleanUp()
    expect(await exists(id)).toBe(true)
  })

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['verified', (id) => db.execute(sql`update users set email_verified_at = now() where id = ${id}`)],
    ['created by a command', (id) => db.execute(sql`delete from passwords where user_id = ${id}`)],
    [
      'that has a key',
      (id) =>
        db.execute(sql`
          insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
          values (gen_random_uuid(), ${id}, 'Key', sha256('k'), 'wsk', 'abcd', now())`),
    ],
    [
      'that is signed in',
      (id) =>
        db.execute(sql`
          insert into sessions (id, user_id, token_hash, user_agent, created_at, last_used_at, expires_at)
          values (gen_random_uuid(), ${id}, sha256('a'), '', now(), now(), now())`),
    ],
    [
      'that is or was in a workspace',
      async (id) => {
        const { workspace } = await createCompany(app)
        await db.execute(
          sql`insert into departures (workspace_id, user_id, kind, created_at) values (${workspace.id}, ${id}, 'removed', now())`,
        )
      },
    ],
  ])('leaves an account %s', async (_name, keep) => {
    const id = await insertSignUp()
    await keep(id)
    await cleanUp()
    expect(await exists(id)).toBe(true)
  })
})
