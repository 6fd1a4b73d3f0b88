import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { errors } from '../../src/kernel/errors.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { findClosedPort, listen, readAnswer } from '../support/raw-http.ts'
import { clone, createEmptyDatabase, startTestApp } from '../support/test-app.ts'

const { app } = await startTestApp()

describe('200', () => {
  it('returns 200 without a credential when the database is up and migrated', async () => {
    const answer = await app.inject('/ready')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
  })
})

const away = { message: 'The database is not available.' }
const notMigrated = { message: 'The database is not migrated.' }

describe('503', () => {
  it('returns 503 when the database cannot be reached', async () => {
    const url = `postgres://nobody@127.0.0.1:${await findClosedPort()}/nothing`
    const { app: stranded } = await startTestApp({ environment: { DATABASE_URL: url } })
    const answer = await stranded.inject('/ready')
    expectError(answer, errors.notReady, away)
    expect(answer.headers['retry-after']).toBe('5')
  })

  it('returns 503 until the migrations have run', async () => {
    const { app: fresh, db } = await startTestApp({
      environment: { DATABASE_URL: await createEmptyDatabase() },
    })
    expectError(await fresh.inject('/ready'), errors.notReady, notMigrated)
    await migrateDatabase(db.$client)
    expect((await fresh.inject('/ready')).statusCode).toBe(200)
  })

  it('returns 503 when the newest migration is missing', async () => {
    const { app: behind, db } = await startTestApp({ environment: { DATABASE_URL: await clone() } })
    await db.execute(
      sql`delete from drizzle.__drizzle_migrations
          where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`,
    )
    expectError(await behind.inject('/ready'), errors.notReady, notMigrated)
  })

  it('returns 503 when the database disappears, and logs the reason', async () => {
    const url = await clone()
    const { app: bereft, log } = await startTestApp({ environment: { DATABASE_URL: url } })
    expect((await bereft.inject('/ready')).statusCode).toBe(200)
    await dropDatabase(url)
    // The first answer may tell of the broken connection, those after it of the missing database.
    expectError(await bereft.inject('/ready'), errors.notReady, away)
    expectError(await bereft.inject('/ready'), errors.notReady, away)
    // A pooler asks the server again for a while, and keeps its clients waiting.
    expect(log.join('')).toMatch(/does not exist|does not respond/)
  })

  it('returns 503 while the process is stopping', async () => {
    const { app: stopping, close } = await startTestApp()
    const connected = once(stopping.server, 'connection')
    const socket = connect(await listen(stopping), '127.0.0.1')
    const answer = readAnswer(socket)
    // A request that has begun keeps its connection open.
    socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n')
    const [serverSide] = (await connected) as [Socket]
    await eventually(() => expect(serverSide.bytesRead).toBeGreaterThan(0))
    const closed = close()
    socket.write('Connection: close\r\n\r\n')
    expectError(await answer, errors.notReady, { message: 'The process is stopping.' })
    await closed
  })
})

async function dropDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseServerUrl') })
  await client.connect()
  await client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`)
  await client.end()
}
