import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

/**
 * A list whose answer is large, compressed too: its texts are random. Asked for often on one connection, it fills
 * whatever the kernel has for it.
 */
async function createLargeList(service: TestApp): Promise<{ person: TestPerson; url: string }> {
  const person = await service.createPerson()
  const workspace = await createWorkspace(service, person)
  const url = `/v1/workspaces/${workspace.slug}`
  await createSeed(service, person, { url })
  await service.db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, problem, audience, status, created_at, updated_at)
    select gen_random_uuid(), ${workspace.id}, 'T', substr(text, 1, 2000), substr(text, 2001, 2000), substr(text, 4001, 2000), 'open', now(), now()
    from (select i, string_agg(md5(random()::text), '') as text
      from generate_series(1, 160) as i, generate_series(1, 188) group by i) as texts`)
  return { person, url: `${url}/seeds?limit=200` }
}

const requestOf = ({ person, url }: { person: TestPerson; url: string }, coding = 'identity') =>
  `GET ${url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${person.apiKey}\r\nAccept-Encoding: ${coding}\r\n\r\n`

/** Asks again and again on one connection, and reads nothing. `closed` resolves when the server has ended that. */
async function askAndIgnore(service: TestApp, port: number, request: string) {
  const accepted = once(service.app.server, 'connection')
  const client = connect({ port, host: '127.0.0.1' }).pause()
  client.on('error', () => undefined)
  client.write(request.repeat(60))
  // Some are refused, as they wait too long for their turn.
  const asking = setInterval(() => client.write(request), 50)
  client.on('close', () => clearInterval(asking))
  onTestFinished(() => void client.destroy())
  const [serverSide] = (await accepted) as [Socket]
  // Also when it ends with an error, which `once` would reject with.
  return { closed: new Promise<void>((resolve) => void serverSide.once('close', () => resolve())) }
}

describe('a client that does not read its response', () => {
  it('disconnects the client, and logs it', async () => {
    const service = await startTestApp({ slowReaders: { stalledMsMax: 300, waitingBytesMax: Infinity } })
    const list = await createLargeList(service)
    await (
      await askAndIgnore(service, await listen(service.app), requestOf(list))
    ).closed
    expect(service.log.join('')).toContain('did not read its response')
  })

  it.each(['/openapi.json', '/docs'])('disconnects the client on %s too', async (path) => {
    const service = await startTestApp({ slowReaders: { stalledMsMax: 300, waitingBytesMax: Infinity } })
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n`
    await (
      await askAndIgnore(service, await listen(service.app), request)
    ).closed
    expect(service.log.join('')).toContain('did not read its response')
  })
})

describe('a client that reads slowly', () => {
  it('sends the complete response, however long it takes', async () => {
    const service = await startTestApp({ slowReaders: { stalledMsMax: 2_000, waitingBytesMax: Infinity } })
    const list = await createLargeList(service)
    const whole = (await service.as(list.person, { url: list.url })).body
    const client = connect({ port: await listen(service.app), host: '127.0.0.1' })
    const request = requestOf(list)
    client.write(request.repeat(14) + request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const started = Date.now()
    let bytes = 0
    for await (const chunk of client as AsyncIterable<Buffer>) {
      bytes += chunk.length
      // Twice as long as it may take nothing.
      if (Date.now() - started < 4_000) await new Promise((done) => setTimeout(done, 20))
    }
    expect(Date.now() - started).toBeGreaterThan(3_000)
    expect(bytes).toBeGreaterThan(15 * Buffer.byteLength(whole))
  })

  it('does not disconnect the client while the response is being prepared', async () => {
    const service = await startTestApp({ slowReaders: { stalledMsMax: 100, waitingBytesMax: Infinity } })
    const person = await service.createPerson()
    const lock = await service.db.$client.connect()
    await lock.query('begin; lock table users in access exclusive mode')
    const port = await listen(service.app)
    const timedOut = new Promise((resolve) => {
      service.app.server.on('request', (_request, response: ServerResponse) =>
        response.once('timeout', resolve),
      )
    })
    const answer = fetch(`http://127.0.0.1:${port}/v1/me`, {
      headers: { authorization: `Bearer ${person.apiKey}` },
    })
    await timedOut
    await lock.query('rollback')
    lock.release()
    expect((await answer).status).toBe(200)
  })
})

describe('the limit of bytes that wait to be sent', () => {
  it.each([
    ['identity', 1.5],
    ['gzip', 0.9],
    ['br', 0.9],
  ])('disconnects clients that do not read, and serves others: %s', async (coding, mebibytes) => {
    const waitingBytesMax = mebibytes * 1024 * 1024
    const service = await startTestApp({
      slowReaders: { stalledMsMax: 30_000, waitingBytesMax },
      environment: { REQUESTS_AT_ONCE_MAX: '1000' },
    })
    const port = await listen(service.app)
    // Of different people: the requests of one wait for their turn, and not for ever.
    const lists = []
    for (let i = 0; i < 4; i++) lists.push(await createLargeList(service))
    const other = await createLargeList(service)
    const clients = []
    for (const list of lists) clients.push(await askAndIgnore(service, port, requestOf(list, coding)))
    // An answer is 1 MB, or half of it compressed: there is room for one of the last client, and not for the next one that it has asked for.
    await Promise.all(clients.slice(0, 3).map(({ closed }) => closed))
    expect(service.log.join('').match(/did not read its response/g)?.length).toBeOneOf([3, 4])
    const answer = await fetch(`http://127.0.0.1:${port}${other.url}`, {
      headers: { authorization: `Bearer ${other.person.apiKey}` },
    })
    expect(answer.status).toBe(200)
    expect((await text(answer.body as never)).length).toBeGreaterThan(500_000)
  })
})
