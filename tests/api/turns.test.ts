import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { createOAuthTester } from '../support/oauth-client.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp({
  environment: { DATABASE_URL: await clone(), REGISTRATION_LIMIT_PER_MINUTE: '0' },
})
const { app, db } = service
const { createAgent, createHost, getTokens } = createOAuthTester(service)

/** How many requests have come as far as to read seeds, which are locked. */
async function countReaders(): Promise<number | undefined> {
  const [row] = await selectRows<{ count: number }>(
    db,
    sql`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count
}

describe('costly requests', () => {
  it('of one person, and of their agents, are done two at once; those of others are not held up', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const { access_token: token } = await getTokens(await createAgent(), host)
    const list = (who: typeof host) => service.as(who, { url: `/v1/workspaces/${who.slug}/seeds` })
    const readKit = () =>
      app.inject({
        method: 'POST',
        url: '/agent/v1/validation-kit:read',
        headers: { authorization: `Bearer ${token}` },
      })
    const lock = await db.$client.connect()
    await lock.query('begin; lock table seeds in access exclusive mode')
    const answers = [readKit()]
    await vi.waitFor(async () => expect(await countReaders()).toBe(1), { timeout: 10_000 })
    for (let i = 0; i < 4; i++) answers.push(list(host))
    await vi.waitFor(async () => expect(await countReaders()).toBe(2), { timeout: 10_000 })
    // Cheap requests of the same person do not wait for their turn.
    expect((await service.as(host, { url: '/v1/me' })).statusCode).toBe(200)
    answers.push(list(other))
    await vi.waitFor(async () => expect(await countReaders()).toBe(3), { timeout: 10_000 })
    await lock.query('rollback')
    lock.release()
    for (const { statusCode } of await Promise.all(answers)) expect(statusCode).toBe(200)
  })

  it('that fail give their turn to the next', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const url = `/v1/workspaces/${other.slug}/seeds`
    const refused = await Promise.all(Array.from({ length: 10 }, () => service.as(host, { url })))
    expect(new Set(refused.map(({ statusCode }) => statusCode))).toEqual(new Set([403]))
    expect((await service.as(host, { url: `/v1/workspaces/${host.slug}/seeds` })).statusCode).toBe(200)
  })
})
