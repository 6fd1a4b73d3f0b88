import { once } from 'node:events'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { insertSession } from '../../src/accounts/sessions/sessions.repository.ts'
import { requestLimits } from '../../src/db/client.ts'
import { overloadDefaults } from '../../src/http/limits/overload.ts'
import { turnsDefaults } from '../../src/http/limits/turns.ts'
import { createId } from '../../src/kernel/ids.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createApiKeySecret, createToken, hashSecret } from '../../src/kernel/tokens.ts'
import { createCompany } from '../support/company.ts'
import { listen } from '../support/raw-http.ts'
import { createSender, sendSteadily, type LoadRequest } from '../support/steady-load.ts'
import { clone, startTestApp, type TestApp } from '../support/test-app.ts'

const DATABASE_URL = await clone()
const rate = { perSecond: 300, seconds: 3 }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const fetched: string[] = []

async function start(): Promise<TestApp> {
  const service = await startTestApp({
    environment: { DATABASE_URL },
    limits: requestLimits,
    overload: overloadDefaults,
    turns: turnsDefaults,
    // Names that nobody has: nothing comes until the deadline.
    untrustedFetch: {
      send: async ({ href }, { signal }) => {
        fetched.push(href)
        await once(signal, 'abort')
        throw new Error('aborted')
      },
    },
  })
  await listen(service.app)
  return service
}

/**
 * Attacks from 127.0.0.1, and meanwhile reads as somebody at another address from the beginning, as newcomers there, and
 * as somebody at the same address whose key was used before, and who has signed in to the website.
 */
async function attack(service: TestApp, toRequest: (index: number) => LoadRequest) {
  const attacker = createSender(service.app, '127.0.0.1')
  const besides = createSender(service.app, '127.0.0.1')
  const elsewhere = createSender(service.app, '127.0.0.2')
  const read = (send: typeof attacker, { apiKey }: { apiKey: string }) =>
    send({ path: '/v1/me', headers: { authorization: `Bearer ${apiKey}` } })
  const [neighbour, stranger] = [await service.createPerson(), await service.createPerson()]
  const newcomers = await Promise.all(Array.from({ length: 8 }, () => service.createPerson()))
  const cookie = `session=${await signIn(service, neighbour.id)}`
  const open = () => besides({ path: '/settings/security', headers: { cookie } })
  expect(await read(besides, neighbour)).toBe(200)
  expect(await open()).toBe(200)
  const others = { ...rate, perSecond: 10 }
  const [attacks, ...answers] = await Promise.all([
    sendSteadily(rate, (i) => attacker(toRequest(i))),
    sendSteadily(others, () => read(elsewhere, stranger)),
    sendSteadily({ ...rate, perSecond: 2 }, (i) => read(elsewhere, newcomers[i] ?? stranger)),
    sendSteadily(others, () => read(besides, neighbour)),
    sendSteadily({ ...rate, perSecond: 5 }, open),
  ])
  for (const statuses of answers) expect(statuses.filter((status) => status !== 200)).toEqual([])
  return attacks
}

async function signIn({ db }: TestApp, userId: string): Promise<string> {
  const token = createToken()
  const now = new Date()
  await insertSession(db, {
    id: createId(),
    userId,
    tokenHash: hashSecret(token),
    userAgent: '',
    createdAt: now,
    lastUsedAt: now,
    expiresAt: new Date(now.getTime() + 3_600_000),
    provenAt: now,
  })
  return token
}

describe('300 requests a second from one attacker', () => {
  it('serves other callers during token requests of unknown clients with invented keys', async () => {
    const statuses = await attack(await start(), (i) => ({
      method: 'POST',
      path: '/agent/oauth/token',
      headers: { ...form, 'x-api-key': createApiKeySecret('wsk').secret },
      body: `grant_type=refresh_token&refresh_token=x&client_id=https://agent${i}.example/client.json`,
    }))
    expect(statuses).toContain(400)
    expect(fetched).toEqual([])
  })

  it('serves other callers during authorization requests whose client documents never load', async () => {
    const statuses = await attack(await start(), (i) => ({
      path: `/agent/oauth/authorize?response_type=code&client_id=https://agent${i}.example/client.json`,
      headers: { 'x-api-key': createApiKeySecret('wsk').secret },
    }))
    expect(statuses).toContain(400)
    expect(fetched).not.toEqual([])
  })

  it('serves other callers during requests with invented keys and cookies', async () => {
    await attack(await start(), (i) =>
      i % 2 === 0
        ? { path: '/v1/me', headers: { 'x-api-key': createApiKeySecret('wsk').secret } }
        : { path: '/sign-in', headers: { cookie: `session=invented-${i}` } },
    )
  })

  it('serves other callers during requests with one key and 64 spellings of Bearer', async () => {
    const service = await start()
    const { owner, url } = await createCompany(service)
    expect((await service.as(owner, { url: '/v1/me' })).statusCode).toBe(200)
    const locker = new pg.Client({ connectionString: DATABASE_URL })
    await locker.connect()
    onTestFinished(() => locker.end())
    // What the attacker asks for takes long. Pages of others read seeds, for the number at the bell, but no teams.
    await locker.query('begin; lock table teams in access exclusive mode')
    const statuses = await attack(service, (i) => ({
      path: `${url}/teams/${createId()}`,
      headers: { authorization: `${spellBearer(i % 64)} ${owner.apiKey}` },
    }))
    expect(statuses).toContain(429)
  })
})

it('serves 200 keys behind one address that all start at once, even when the process is slow', async () => {
  const service = await start()
  const keys: string[] = []
  for (let i = 0; i < 2; i++) {
    const { email } = await service.createPerson()
    const user = await service.services.accounts.findByEmail(email)
    if (!user) throw new Error('the person is not there')
    const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
    while (keys.length < 99 * (i + 1)) {
      keys.push((await service.services.apiKeys.create(principal, { name: `Key ${keys.length}` })).secret)
    }
  }
  while (keys.length < 200) keys.push((await service.createPerson()).apiKey)
  // Since nothing is known of anybody yet, and the machine does not keep up.
  const cold = await startTestApp({ environment: { DATABASE_URL }, overload: { keepsUpMs: 0 } })
  await listen(cold.app)
  const send = createSender(cold.app, '127.0.0.1')
  for (const round of ['first', 'second']) {
    const statuses = await Promise.all(
      keys.map((key) => send({ path: '/v1/me', headers: { authorization: `Bearer ${key}` } })),
    )
    expect(
      statuses.filter((status) => status !== 200),
      round,
    ).toEqual([])
  }
})

/** One of 64 spellings of `Bearer`: the scheme is compared in any case (RFC 9110 §11.1). */
function spellBearer(number: number): string {
  return Array.from('bearer', (letter, i) => ((number >> i) & 1 ? letter.toUpperCase() : letter)).join('')
}
