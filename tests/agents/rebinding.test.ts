import { once } from 'node:events'
import { constants } from 'node:os'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, Socket, type AddressInfo, type LookupFunction } from 'node:net'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createKeptDocuments } from '../../src/agents/oauth/documents/kept-documents.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { FetchFailure } from '../../src/kernel/fetch-failure.ts'
import { createSender, createUntrustedFetch } from '../../src/platform/untrusted-fetch.ts'
import { createLogger } from '../../src/http/answers/logging.ts'
import { afterFile } from '../support/after-file.ts'
import { endOnFailure } from '../support/fetch-deadlines.ts'
import { codeOf, createOAuthTester } from '../support/oauth-client.ts'
import { createPublished, publishedRedirectUri } from '../support/published.ts'
import { selfSigned } from '../support/self-signed.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const publicAddress = '93.184.215.14'

/** The addresses that connections over https were attempted to. */
const attempts: string[] = []
// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the socket as `this` below
const emit = Socket.prototype.emit as (...args: unknown[]) => boolean
Socket.prototype.emit = function (this: Socket, ...args: unknown[]): boolean {
  if (args[0] === 'connectionAttempt' && args[2] === 443) {
    attempts.push(String(args[1]))
    // Nothing leaves this machine: the test sees where it would have gone.
    const { _handle: handle } = this as unknown as { _handle: Record<string, () => number> }
    handle.connect = handle.connect6 = () => -constants.errno.ECONNREFUSED
  }
  return emit.apply(this, args)
}
afterFile(() => {
  Socket.prototype.emit = emit
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** What was asked of the inside, and of the proxy. */
const heard: string[] = []
const inside = createTlsServer(selfSigned, (request, response) => {
  heard.push(String(request.url))
  response.end('{}')
})
const insidePort = await listen(inside)
const proxy = createServer().on('connect', (request, socket: Socket) => {
  heard.push(String(request.url))
  socket.on('error', () => undefined).end('HTTP/1.1 403 Forbidden\r\n\r\n')
})
const proxyPort = await listen(proxy)

beforeEach(() => {
  attempts.length = 0
  heard.length = 0
})

/** A resolver that answers each look-up with the next list of addresses, the last one for good. */
function rebind(...answers: string[][]) {
  const asked: string[] = []
  const lookup: LookupFunction = (name, options, done) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(name)
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    // As DNS does, later.
    setImmediate(() => {
      if (found.length === 0) done(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), [])
      else if (options.all === true) done(null, found)
      else done(null, found[0]?.address ?? '', found[0]?.family)
    })
  }
  return { lookup, asked }
}

const fetchBy = (lookup: LookupFunction, withProxy = false) =>
  createUntrustedFetch(
    endOnFailure(
      createSender({
        lookup,
        ca: selfSigned.cert,
        ...(withProxy && { proxy: new URL(`http://127.0.0.1:${proxyPort}`) }),
      }),
    ),
  )

async function failureOf(fetching: Promise<unknown>): Promise<FetchFailure> {
  const failure = await fetching.catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(FetchFailure)
  return failure as FetchFailure
}

// Tests may look up no other name on this machine.
const clientUrl = 'https://localhost/client.json'
const ways = [
  ['directly', false],
  ['through the proxy', true],
] as const

describe('a name that leads to another address at each look-up', () => {
  it.each(ways)(
    'is looked up once for a fetch, and that address is connected to, %s',
    async (_, isProxied) => {
      const { lookup, asked } = rebind([publicAddress], ['127.0.0.1'])
      await failureOf(fetchBy(lookup, isProxied)(clientUrl))
      expect(asked).toEqual(['localhost'])
      if (isProxied) expect(heard).toEqual([`${publicAddress}:443`])
      else expect(attempts).toEqual([publicAddress])
    },
  )

  it.each(ways)('is refused at the fetch that finds an address inside, %s', async (_, isProxied) => {
    const { lookup, asked } = rebind(
      [publicAddress],
      ['127.0.0.1'],
      ['169.254.169.254'],
      [publicAddress, '10.0.0.1'],
    )
    const fetch = fetchBy(lookup, isProxied)
    await failureOf(fetch(clientUrl))
    attempts.length = heard.length = 0
    for (const path of ['a', 'b', 'c', 'd']) {
      const { reason } = await failureOf(fetch(`https://localhost/${path}`))
      expect(reason).toContain('not allowed')
    }
    expect(asked).toHaveLength(5)
    expect([...attempts, ...heard]).toEqual([])
  })

  it.each(ways)(
    'is refused for every form of an address inside, also among public ones, %s',
    async (_, isProxied) => {
      const forms = [
        ...['127.0.0.1', '0.0.0.0', '10.1.2.3', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.168.0.1'],
        ...[
          '::',
          '::1',
          '::2',
          '::ffff:127.0.0.1',
          '::ffff:7f00:1',
          '::ffff:0:7f00:1',
          '::127.0.0.1',
          '::7f00:1',
        ],
        ...['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '64:ff9b:2::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::'],
        ...['fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', '100::1', '4000::1', 'e000::1'],
      ]
      for (const address of forms) {
        for (const list of [[address], [publicAddress, address], [address, publicAddress]]) {
          const { reason } = await failureOf(fetchBy(rebind(list).lookup, isProxied)(clientUrl))
          expect(reason, list.join()).toContain('not allowed')
        }
      }
      expect([...attempts, ...heard]).toEqual([])
    },
  )

  it.each(ways)('is refused without an address, %s', async (_, isProxied) => {
    await failureOf(fetchBy(rebind([]).lookup, isProxied)(clientUrl))
    expect([...attempts, ...heard]).toEqual([])
  })
})

describe('a URL that leads elsewhere', () => {
  it.each([
    `https://client.example:${insidePort}/client.json`,
    'http://client.example/client.json',
    'https://127.0.0.1/client.json',
    'https://127.1/client.json',
    'https://2130706433/client.json',
    'https://0177.0.0.1/client.json',
    'https://１２７.0.0.1/client.json',
    'https://127。0。0。1/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://[::7f00:1]/client.json',
    'https://[64:ff9b::7f00:1]/client.json',
    'file:///etc/passwd',
    'data:application/json,{}',
  ])('is not even looked up: %s', async (url) => {
    for (const [, isProxied] of ways) {
      const { lookup, asked } = rebind([publicAddress])
      await failureOf(fetchBy(lookup, isProxied)(url))
      expect([...asked, ...attempts, ...heard]).toEqual([])
    }
  })

  it.each(['https://user:secret@client.example/', 'https://user@client.example/'])(
    'is refused with credentials: %s',
    async (url) => {
      await expect(fetchBy(rebind([publicAddress]).lookup)(url)).rejects.toThrow()
      expect([...attempts, ...heard]).toEqual([])
    },
  )

  it('with a dot at the end, or with the name of this machine, is checked as any other', async () => {
    for (const host of [
      'client.example.',
      'CLIENT.example',
      'localhost',
      'localhost.',
      '127.0.0.1.example',
    ]) {
      const { lookup, asked } = rebind(['127.0.0.1'])
      const { reason } = await failureOf(fetchBy(lookup, true)(`https://${host}/client.json`))
      expect(reason).toContain('not allowed')
      expect(asked).toEqual([host.toLowerCase()])
    }
    expect([...attempts, ...heard]).toEqual([])
  })

  it('is not followed when it is a redirect, of any kind', async () => {
    for (const status of [301, 302, 303, 307, 308, 300, 305]) {
      const sent: string[] = []
      const fetch = createUntrustedFetch(
        endOnFailure(async ({ href }) => {
          sent.push(href)
          const headers = {
            location: `https://127.0.0.1:${insidePort}/`,
            refresh: '0; url=https://127.0.0.1/',
          }
          return new Response(null, { status, headers })
        }),
      )
      expect((await failureOf(fetch(clientUrl))).status).toBe(status)
      expect(sent).toEqual([clientUrl])
    }
    expect(heard).toEqual([])
  })
})

const { answerWith, fetched, publish, untrustedFetch } = createPublished()
const secret = 'a secret of the processes of this file'
const service = await startTestApp({ untrustedFetch, environment: { APP_SECRET: secret } })
const tester = createOAuthTester(service)
const host = await tester.createHost()

async function startReplica() {
  const replica = await startTestApp({
    untrustedFetch,
    environment: { DATABASE_URL: String(service.config.databaseUrl), APP_SECRET: secret },
  })
  return createOAuthTester(replica)
}

describe('a document', () => {
  it.each([
    ['of another client', (url: string) => url.replace('client.json', 'other.json')],
    ['of its host alone', (url: string) => new URL(url).origin],
    ['with a slash more', (url: string) => `${url}/`],
    ['in upper case', (url: string) => url.replace('client', 'Client')],
    ['with the default port', (url: string) => url.replace('.example/', '.example:443/')],
    ['with a dot behind the host', (url: string) => url.replace('.example/', '.example./')],
    ['with a query', (url: string) => `${url}?`],
    ['without an id', () => undefined],
    ['with a list of ids', (url: string) => [url]],
  ])('that names the id %s lets nobody in, and is not kept', async (_, change) => {
    const { clientId } = publish()
    const agent = publish({ client_id: change(clientId) }, clientId)
    expect((await tester.authorize(agent)).statusCode).toBe(400)
    const rows = await selectRows(
      service.db,
      sql`select 1 from oauth_documents where client_id = ${clientId}`,
    )
    expect(rows).toEqual([])
  })

  it('that was swapped between the page and Allow, or between Allow and the code, changes nothing of what was shown', async () => {
    const agent = publish({ client_name: 'Shown' })
    const authorization = await tester.authorize(agent)
    const evil = { client_name: 'Evil', redirect_uris: ['https://evil.example/callback'] }
    for (const swapped of [evil, { client_id: 'https://evil.example/client.json' }])
      publish(swapped, agent.clientId)
    const replica = await startReplica()
    const back = await replica.allow(authorization, host)
    expect(String(back.headers.location).startsWith(publishedRedirectUri)).toBe(true)
    const [grant] = await selectRows(
      service.db,
      sql`select client_name from agent_grants where client_id = ${agent.clientId}`,
    )
    expect(grant).toEqual({ client_name: 'Shown' })
    // The code is of the redirect URI that was shown, and of no other.
    const elsewhere = { ...agent, redirectUri: 'https://evil.example/callback' }
    expect((await tester.exchange(elsewhere, codeOf(back))).statusCode).toBe(400)
  })

  it('that is kept for one URL is used for no other', async () => {
    const agent = publish()
    await tester.getTokens(agent, host)
    const other = agent.clientId.replace('client.json', 'other.json')
    answerWith(other, 500)
    for (const url of [other, `${agent.clientId}?x`, agent.clientId.replace('.example/', '.example./')]) {
      answerWith(url, 500)
      const replica = await startReplica()
      const answer = await replica.authorize({ ...agent, clientId: url })
      expect(answer.statusCode, url).toBe(400)
    }
  })
})

describe('the keys of a client', () => {
  const keys = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }
  const { lookup, asked } = rebind([publicAddress])
  const documentsOf = (fetch: typeof globalThis.fetch) =>
    createKeptDocuments({
      db: service.db,
      clock: systemClock,
      log: createLogger('silent'),
      areDocumentsOn: true,
      fetch,
    })

  it('are fetched by the same rules: a jwks_uri that leads inside is never connected to', async () => {
    for (const list of [['127.0.0.1'], [publicAddress, '::ffff:10.0.0.1'], ['::7f00:1']]) {
      const kept = documentsOf(fetchBy(rebind(list).lookup))
      const fetching = kept.fetchKeys(clientUrl, 'https://keys.example/jwks.json', { init: undefined })
      await expect(fetching).rejects.toThrow('the document could not be fetched')
    }
    const inUrl = documentsOf(fetchBy(lookup))
    for (const url of [`https://127.0.0.1:${insidePort}/jwks.json`, 'https://[::1]/jwks.json'])
      await expect(inUrl.fetchKeys(clientUrl, url, { init: undefined })).rejects.toThrow()
    expect([...asked, ...attempts, ...heard]).toEqual([])
  })

  it('of one client, or of one URL, are used for no other', async () => {
    let answer: () => Response = () => Response.json(keys)
    const kept = documentsOf(createUntrustedFetch(endOnFailure(async () => answer())))
    const url = 'https://keys.example/jwks.json'
    await kept.fetchKeys(clientUrl, url, { init: undefined })
    answer = () => new Response('', { status: 500 })
    expect(await (await kept.fetchKeys(clientUrl, url, { init: undefined })).json()).toEqual(keys)
    const others = [
      ['https://evil.example/client.json', url],
      [clientUrl, 'https://keys.example/other.json'],
      [`${clientUrl} https:`, '//keys.example/jwks.json'],
    ] as const
    for (const [client, of] of others)
      await expect(kept.fetchKeys(client, of, { init: undefined })).rejects.toThrow()
  })
})

it('nothing of this file was fetched from a public host', () => {
  expect(fetched.every((url) => new URL(url).hostname.replace(/\.$/, '').endsWith('.example'))).toBe(true)
})
