import { untilTrue } from '../support/eventually.ts'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startReceiver } from '../support/webhook-receiver.ts'
import {
  call,
  copyInstallation,
  databasePid,
  databaseUrl,
  findPort,
  findServers,
  keyOf,
  launchService,
  makeDirectory,
  startService,
  stopService,
  untilNothingRunsIn,
} from './service.ts'

describe('a crash', () => {
  it('leaves the database running when only the service is killed, and the next start uses it', async () => {
    const { dataDir, key } = await copyInstallation()
    const killed = await startService({ dataDir })
    await call(killed, 'PATCH /v1/me', { key, body: { name: 'Before the crash' } })
    const database = await databasePid(dataDir)
    killed.signal('SIGKILL')
    expect(await killed.ended).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await findServers(dataDir)).toEqual([database])

    const next = await startService({ dataDir })
    expect(await databasePid(dataDir)).toBe(database)
    expect(await call(next, 'GET /v1/me', { key })).toMatchObject({ body: { name: 'Before the crash' } })
    expect(await stopService(next)).toBe(0)
    await untilNothingRunsIn(dataDir)
  })

  it('leaves data that the next start recovers when the service and its database are killed', async () => {
    const { dataDir, key } = await copyInstallation()
    const killed = await startService({ dataDir })
    await call(killed, 'PATCH /v1/me', { key, body: { name: 'Before the crash' } })
    const database = await databasePid(dataDir)
    killed.signal('SIGKILL')
    process.kill(database, 'SIGKILL')
    await killed.ended
    await untilNothingRunsIn(dataDir)

    const next = await startService({ dataDir })
    expect(await databasePid(dataDir)).not.toBe(database)
    expect(await call(next, 'GET /v1/me', { key })).toMatchObject({ body: { name: 'Before the crash' } })
    expect(next.stdout()).not.toContain('wsk_')
    expect(await stopService(next)).toBe(0)
  })

  it('does not prevent the next start from creating the database when its creation was interrupted', async () => {
    const dataDir = await makeDirectory()
    const killed = await launchService({ dataDir })
    await untilTrue(async () => (await readdir(dataDir)).some((name) => /unfinished-\d+$/.test(name)))
    killed.signal('SIGKILL')
    await killed.ended

    const next = await startService({ dataDir })
    expect(await call(next, 'GET /v1/me', { key: keyOf(next) })).toMatchObject({ status: 200 })
    expect(await stopService(next)).toBe(0)
  })
})

describe('webhooks after a crash', () => {
  it('get every event at least once, also those that were being sent', async () => {
    const { dataDir, key } = await copyInstallation()
    const receiver = await startReceiver()
    receiver.answer(() => undefined)
    const killed = await startService({ dataDir })
    const { body } = await call(killed, 'GET /v1/workspaces', { key })
    const path = `/v1/workspaces/${(body as { slug: string }[])[0]?.slug}`
    const types = ['team.created']
    const created = await call(killed, `POST ${path}/webhooks`, { key, body: { url: receiver.url, types } })
    expect(created).toMatchObject({ status: 200 })
    const names = Array.from({ length: 12 }, (_, i) => `Team ${i}`)
    for (const name of names)
      expect(await call(killed, `POST ${path}/teams`, { key, body: { name } })).toMatchObject({ status: 200 })
    // Four are being sent, and the others wait.
    await receiver.waitFor(4)
    killed.signal('SIGKILL')
    await killed.ended

    receiver.answer((response) => response.writeHead(204).end())
    const client = new pg.Client({ connectionString: await databaseUrl(dataDir) })
    await client.connect()
    // As if a minute had passed.
    const { rowCount } = await client.query(
      'update webhook_deliveries set leased_until = now() where leased_until is not null',
    )
    expect(rowCount).toBe(4)
    await client.end()
    const next = await startService({ dataDir })
    const namesOf = () =>
      receiver.received
        .slice(4)
        .map(
          (request) =>
            (JSON.parse(request.body) as { data: { data: { teamName: string } } }).data.data.teamName,
        )
    await untilTrue(() => namesOf().length >= names.length)
    expect(namesOf().toSorted()).toEqual(names.toSorted())
    expect(await stopService(next)).toBe(0)
  })
})

describe('a second service with the same data directory', () => {
  it('prints one line, exits with 1, and does not affect the first service', async () => {
    const { dataDir, key } = await copyInstallation()
    const first = await startService({ dataDir })
    const second = await launchService({ dataDir })
    expect(await second.ended).toEqual({ code: 1, signal: null })
    expect(second.stderr()).toMatch(`The data directory ${dataDir} is already in use. Stop`)
    expect(second.stdout()).toBe('')
    expect(await call(first, 'GET /ready')).toMatchObject({ status: 200 })
    expect(await call(first, 'GET /v1/me', { key })).toMatchObject({ status: 200 })
    expect(await stopService(first)).toBe(0)
  })

  it('exits with 1 when both start concurrently, and the other one serves', async () => {
    const dataDir = await makeDirectory()
    const both = await Promise.all([launchService({ dataDir }), launchService({ dataDir })])
    const [loser, winner] = await Promise.race(
      both.map(async (service, i) => {
        await service.ended
        return [service, both[1 - i]] as const
      }),
    )
    expect(await loser.ended).toEqual({ code: 1, signal: null })
    expect(loser.stderr()).toMatch(`The data directory ${dataDir} is already in use. Stop`)
    if (!winner) throw new Error('There are two')
    await winner.said(/Bearer (wsk_\w+)[^]*\n\n/)
    expect(await call(winner, 'GET /v1/me', { key: keyOf(winner) })).toMatchObject({ status: 200 })
    expect(await stopService(winner)).toBe(0)
  })
})

describe('a port that is in use', () => {
  it('is reported in one line, and leaves neither a process nor a user behind', async () => {
    const dataDir = await makeDirectory()
    const port = await findPort()
    const other = createServer().listen(port, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const service = await launchService({ dataDir, port })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.stderr()).toBe(`Port ${port} is in use. Set PORT to another one.\n`)
    expect(service.stdout()).not.toContain('wsk_')
    await untilNothingRunsIn(dataDir)

    const next = await startService({ dataDir })
    expect(await call(next, 'GET /v1/me', { key: keyOf(next) })).toMatchObject({ status: 200 })
    expect(await stopService(next)).toBe(0)
  })
})
