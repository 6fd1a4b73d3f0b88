import { Socket } from 'node:net'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp } from '../support/test-app.ts'

/** What src/db/ uses of node-postgres beside its documented interface. */
interface Internals {
  connection: { stream: Socket; on(event: string, listener: (message: { code?: string }) => void): void }
  readyForQuery: boolean
}

describe('the undocumented parts of node-postgres that src/db/ uses', () => {
  let client: pg.PoolClient
  const internals = () => client as unknown as Internals

  beforeAll(async () => {
    const { db } = await startTestApp()
    client = await db.$client.connect()
  })

  afterAll(() => client.release())

  it('connection.stream is the socket (connection-health.ts, transactions.ts)', () => {
    expect(internals().connection.stream).toBeInstanceOf(Socket)
  })

  it('readyForQuery is false while a query runs (connection-health.ts)', async () => {
    await client.query('select 1')
    expect(internals().readyForQuery).toBe(true)
    const running = client.query('select 1')
    expect(internals().readyForQuery).toBe(false)
    await running
    expect(internals().readyForQuery).toBe(true)
  })

  it('the connection reports the code of each error of the server (connection-health.ts)', async () => {
    const codes: (string | undefined)[] = []
    internals().connection.on('errorMessage', ({ code }) => codes.push(code))
    await expect(client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
    expect(codes).toEqual(['22012'])
  })

  it('the pool sets release at each checkout (pool-share.ts)', () => {
    expect(Object.hasOwn(client, 'release')).toBe(true)
  })
})
