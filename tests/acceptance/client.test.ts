import { untilTrue } from '../support/eventually.ts'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createClient } from '../../packages/client/src/client.ts'
import { verifyWebhook } from '../../packages/client/src/webhooks.ts'
import { startReceiver, type ReceivedRequest } from '../support/webhook-receiver.ts'
import { copyInstallation, databaseUrl, makeDirectory, startService, type Service } from './service.ts'
import pg from 'pg'

const kills = 3
const teamsOfEach = 12

it('a program misses nothing while the service is killed and started', async () => {
  const { dataDir, key } = await copyInstallation()
  let service = await startService({ dataDir })
  const { port } = service
  const receiver = await startReceiver()
  const client = createClient({ baseUrl: service.baseUrl, apiKey: key, retries: 60, retryWaitMsMax: 2_000 })

  const slug = 'program'
  const params = { path: { slug } }
  await client.post('/v1/workspaces', { body: { name: 'Program', slug } })
  const { secret } = await client.post('/v1/workspaces/{slug}/webhooks', {
    params,
    body: { url: receiver.url },
  })
  await client.post('/v1/workspaces/{slug}/invites', {
    params,
    body: { email: 'grace.hopper@example.com', role: 'member' },
  })
  const followed: string[] = []
  const ending = new AbortController()
  const following = (async () => {
    for await (const { events } of client.follow(slug, { intervalMs: 100, signal: ending.signal }))
      followed.push(...events.map(({ id }) => id))
  })()

  const creating = (async () => {
    for (let i = 0; i < (kills + 1) * teamsOfEach; i++)
      await client.post('/v1/workspaces/{slug}/teams', { params, body: { name: `Team ${i}` } })
  })()
  for (let i = 1; i <= kills; i++) {
    await untilTrue(async () => followed.length >= i * teamsOfEach)
    service = await restart(service, { dataDir, port })
  }
  await creating

  // Each team was created once, although requests were sent again, and each event was followed once.
  const names: string[] = []
  for await (const { name } of client.list('/v1/workspaces/{slug}/teams', { params })) names.push(name)
  expect(names).toHaveLength((kills + 1) * teamsOfEach)
  const events: string[] = []
  for await (const { id } of client.list('/v1/workspaces/{slug}/events', { params })) events.unshift(id)
  await untilTrue(async () => followed.length >= events.length)
  expect(followed).toEqual(events)
  ending.abort()
  await following

  // What was being sent when the service was killed is sent again after its lease, as if that were over now.
  const database = new pg.Client({ connectionString: await databaseUrl(dataDir) })
  await database.connect()
  await database.query('update webhook_deliveries set leased_until = now() where leased_until is not null')
  await database.end()
  const isDelivered = (id: string) => receiver.received.some((request) => eventOf(request) === id)
  // The webhook itself came after the workspace.
  await untilTrue(async () => events.slice(1).every(isDelivered))
  for (const request of receiver.received) {
    expect(await verifyWebhook(request, secret)).toMatchObject({ timestamp: expect.any(String) as string })
    expect(new Set(idsOf(receiver.received, eventOf(request))).size).toBe(1)
  }
})

it('a program gets the client from the service', async () => {
  const { dataDir } = await copyInstallation()
  const { baseUrl } = await startService({ dataDir })
  const page = await (await fetch(`${baseUrl}/docs`)).text()
  const [, url = '', file = ''] = /curl -fO (\S+)\nnpm install \.\/([^<]+)</.exec(page) ?? []
  expect(url).toBe(`${baseUrl}/docs/${file}`)
  const answer = await fetch(url)
  expect(answer.headers.get('content-type')).toBe('application/gzip')
  const folder = await makeDirectory()
  writeFileSync(join(folder, file), Buffer.from(await answer.arrayBuffer()))
  const listed = spawnSync('tar', ['-tzf', join(folder, file)], { encoding: 'utf8' }).stdout
  for (const name of ['package.json', 'README.md', 'dist/client.js', 'dist/client.d.ts', 'dist/webhooks.js'])
    expect(listed).toContain(`package/${name}\n`)
})

async function restart(service: Service, options: { dataDir: string; port: number }): Promise<Service> {
  service.signal('SIGKILL')
  await service.ended
  return startService(options)
}

function eventOf({ body }: ReceivedRequest): string {
  return (JSON.parse(body) as { data: { id: string } }).data.id
}

/** The `webhook-id` of each attempt to deliver an event. */
function idsOf(received: readonly ReceivedRequest[], eventId: string): unknown[] {
  return received
    .filter((request) => eventOf(request) === eventId)
    .map(({ headers }) => headers['webhook-id'])
}
