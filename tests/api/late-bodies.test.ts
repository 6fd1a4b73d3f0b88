import { once } from 'node:events'
import { connect } from 'node:net'
import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen, readAnswer } from '../support/raw-http.ts'
import { randomEmail } from '../support/company.ts'
import { selectRows, startTestApp, type TestApp } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { cookiesOf, csrfTokenOf, signUp, startWebsite } from '../website/visitor.ts'

// Without jobs: nothing else uses its database connections.
const service = await startTestApp({ environment: {} })
const { as, createPerson, services } = service
const website = await startWebsite()
const oauth = createOAuthTester(service)

/** Sends a request but for its last byte, does something once the credential was accepted, and sends the rest. */
async function sendLate(
  { app }: TestApp,
  request: { path: string; headers: Record<string, string>; body: string },
  waitUntilAccepted: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
) {
  const { path, headers, body } = request
  const port = await listen(app)
  const socket = connect(port, '127.0.0.1')
  const answer = readAnswer(socket)
  const accepted = waitUntilAccepted()
  const all = {
    host: `127.0.0.1:${port}`,
    connection: 'close',
    'content-length': String(body.length),
    ...headers,
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body.slice(0, -1)}`)
  await accepted
  await meanwhile()
  socket.write(body.slice(-1))
  return answer
}

// The one query is the one for the credential.
const queried = () => once(service.db.$client, 'release')
const looked = async () => {
  const find = vi.spyOn(website.services.sessions, 'find')
  await eventually(() => expect(find).toHaveBeenCalled())
  await find.mock.results[0]?.value
}

const countKeys = async ({ db }: TestApp, userId: string) => {
  const query = sql`select count(*)::int as count from api_keys where user_id = ${userId} and revoked_at is null`
  const [row] = await selectRows<{ count: number }>(db, query)
  return row?.count
}

const findSession = async (email: string) => {
  const query = sql`select s.id, u.id as "userId" from users u left join sessions s on s.user_id = u.id
    where u.email = ${email}`
  const [row] = await selectRows<{ id: string; userId: string }>(website.db, query)
  if (!row) throw new Error(`there is no ${email}`)
  return row
}

describe('a request whose credential is revoked before its last byte', () => {
  const json = { 'content-type': 'application/json' }
  const create = (apiKey: string) => ({
    path: '/v1/api-keys',
    headers: { authorization: `Bearer ${apiKey}`, ...json },
    body: '{"name":"Outlived"}',
  })

  it('returns 401 for a revoked API key, and creates nothing', async () => {
    const person = await createPerson()
    const answer = await sendLate(service, create(person.apiKey), queried, () =>
      services.apiKeys.revokeAny(person.apiKeyId),
    )
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ code: 'api_key_required' })
    expect(await countKeys(service, person.id)).toBe(0)
  })

  it('returns 403 for an API key that may only read since, and creates nothing', async () => {
    const person = await createPerson()
    const answer = await sendLate(service, create(person.apiKey), queried, () =>
      service.db.execute(sql`update api_keys set access = 'read' where id = ${person.apiKeyId}`),
    )
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ code: 'key_read_only' })
    expect(await countKeys(service, person.id)).toBe(1)
  })

  it('returns 200 when the API key is not revoked', async () => {
    const person = await createPerson()
    const answer = await sendLate(service, create(person.apiKey), queried, async () => undefined)
    expect(answer.statusCode).toBe(200)
    expect(await countKeys(service, person.id)).toBe(2)
  })

  it('redirects to sign-in for an ended session, and creates nothing', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const page = await visitor.get('/settings/security')
    const cookie = cookiesOf(visitor)
    const body = new URLSearchParams({ _csrf: csrfTokenOf(page.body), name: 'Outlived' }).toString()
    const headers = { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    const request = { path: '/settings/security/api-keys', headers, body }
    const answer = await sendLate(website, request, looked, () => visitor.submit('/sign-out'))
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toContain('/sign-in')
    const { userId } = await findSession(email)
    expect(await countKeys(website, userId)).toBe(0)
  })

  it('returns 401 invalid_token for an access token of a revoked grant', async () => {
    const host = await oauth.createHost()
    const { access_token: token } = await oauth.getTokens(await oauth.createAgent(), host)
    const request = {
      path: '/agent/mcp',
      headers: { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream', ...json },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    }
    expect((await sendLate(service, request, queried, async () => undefined)).statusCode).toBe(200)
    const answer = await sendLate(service, request, queried, async () => {
      const [grant] = (await as(host, { url: `/v1/workspaces/${host.slug}/integrations` })).json<
        { id: string }[]
      >()
      await as(host, { method: 'POST', url: `/v1/workspaces/${host.slug}/integrations/${grant?.id}/revoke` })
    })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"')
  })
})

describe('a credential that is revoked while it creates an API key', () => {
  /** Has a request wait for its turn, ends its credential, and lets it go on. */
  async function overtake(
    { db }: TestApp,
    userId: string,
    send: () => Promise<LightMyRequestResponse>,
    end: () => Promise<unknown>,
  ): Promise<LightMyRequestResponse> {
    // In an object, so that the transaction does not wait for it.
    const { sending } = await db.transaction(async (tx) => {
      await tx.execute(sql`select from users where id = ${userId} for no key update`)
      const sending = send()
      await untilWaiting({ db }, 1)
      await end()
      return { sending }
    })
    return sending
  }

  it('returns 401 for a revoked API key, and creates nothing', async () => {
    const person = await createPerson()
    const answer = await overtake(
      service,
      person.id,
      () =>
        as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Outlived' } }).then(
          (sent) => sent,
        ),
      () => services.apiKeys.revokeAny(person.apiKeyId),
    )
    expect(answer).toMatchObject({ statusCode: 401 })
    expect(await countKeys(service, person.id)).toBe(0)
  })

  it('redirects to sign-in for a deleted session, and creates nothing', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    await visitor.get('/settings/security')
    const { id, userId } = await findSession(email)
    const answer = await overtake(
      website,
      userId,
      () => visitor.submit('/settings/security/api-keys', { name: 'Outlived' }),
      () => website.db.execute(sql`delete from sessions where id = ${id}`),
    )
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toContain('/sign-in')
    expect(await countKeys(website, userId)).toBe(0)
  })
})
