import { eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteUnusedDocuments } from '../../src/agents/oauth/documents/documents.repository.ts'
import { agentGrants } from '../../src/db/schema/agent-grants.ts'
import { checkEach } from '../support/check-each.ts'
import { codeOf, createOAuthTester, redirectOf, type TestAgent } from '../support/oauth-client.ts'
import { createPublished, publishedRedirectUri, type Answer } from '../support/published.ts'
import { recordStatements } from '../support/record-statements.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

// The processes of one service: each has read no document yet.
const secret = 'a secret of the processes of this file'
const { answerWith, fetched, publish, untrustedFetch } = createPublished()
const service = await startTestApp({ environment: { APP_SECRET: secret }, untrustedFetch })
const { db } = service
const tester = createOAuthTester(service)
const host = await tester.createHost()

async function startReplica(environment: Record<string, string> = {}) {
  const app = await startTestApp({
    environment: { DATABASE_URL: String(service.config.databaseUrl), APP_SECRET: secret, ...environment },
    untrustedFetch,
  })
  return { ...app, tester: createOAuthTester(app) }
}

/** Lets an agent in. Returns its refresh token. */
async function letIn(agent: TestAgent): Promise<string> {
  return (await tester.getTokens(agent, host)).refresh_token
}

const readKept = ({ clientId }: TestAgent) =>
  selectRows<{ content: string; gone_since: string | null }>(
    db,
    sql`select content, gone_since from oauth_documents where client_id = ${clientId} order by kind desc`,
  )

/** Makes what is kept of an agent look as if it had been stored earlier. */
const age = ({ clientId }: TestAgent, hours: number) =>
  db.execute(sql`update oauth_documents set fetched_at = fetched_at - make_interval(hours => ${hours}),
    gone_since = gone_since - make_interval(hours => ${hours}) where client_id = ${clientId}`)

const outages: [string, Answer][] = [
  ['403', 403],
  ['429', 429],
  ['500', 500],
  ['302', 302],
  ['404', 404],
  ['no connection', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ['no answer', () => new Promise<Response>(() => undefined)],
  ['a page for people', () => new Response('<!doctype html>')],
]

describe('while the host of a document fails', () => {
  it('a client with a grant refreshes at a process that has not read its document', async () => {
    const rows = await Promise.all(
      outages.map(async ([name, answer]) => {
        const agent = publish()
        return { name, answer, agent, token: await letIn(agent) }
      }),
    )
    for (const { agent, answer } of rows) answerWith(agent.clientId, answer)
    const replica = await startReplica()
    await checkEach(
      rows,
      ({ name }) => name,
      async ({ agent, token }) => {
        const answer = await replica.tester.refresh(agent, token)
        expect(answer.statusCode, answer.body).toBe(200)
        const { host: name } = new URL(agent.clientId)
        const logged = replica.log
          .filter((line) => line.includes(name))
          .map((line) => JSON.parse(line) as object)
        expect(logged).toEqual([expect.objectContaining({ level: 40, host: name })])
      },
    )
    expect(replica.log.join('')).toContain('"reason":"the status is 403"')
    expect(replica.log.join('')).toContain('"reason":"connect ECONNREFUSED"')
  })

  it('a request that waits for consent is allowed and denied as it was shown, at any process', async () => {
    for (const decide of ['allow', 'deny'] as const) {
      const agent = publish({ client_name: 'As shown' })
      const authorization = await tester.authorize(agent)
      answerWith(agent.clientId, 403)
      const replica = await startReplica()
      const { request, response } = replica.tester.toExchange(authorization)
      expect(await replica.services.agentOAuth.findConsentRequest(request, response)).toMatchObject({
        clientName: 'As shown',
        metadataHost: new URL(agent.clientId).host,
        redirectTarget: '127.0.0.1:33418',
      })
      const back =
        decide === 'allow'
          ? await replica.tester.allow(authorization, host)
          : await replica.tester.deny(authorization)
      expect(back.headers.location).toContain(publishedRedirectUri)
      if (decide === 'deny') expect(redirectOf(back)).toMatchObject({ error: 'access_denied' })
      else {
        const other = await startReplica()
        expect((await other.tester.exchange(agent, codeOf(back))).statusCode).toBe(200)
      }
    }
  })

  it('after 30 days token and revoke answer 503 with Retry-After', async () => {
    const agent = publish()
    const token = await letIn(agent)
    answerWith(agent.clientId, 503)
    await age(agent, 29 * 24)
    expect((await (await startReplica()).tester.refresh(agent, token)).statusCode).toBe(200)
    await age(agent, 2 * 24)
    const replica = await startReplica()
    for (const path of ['token', 'revoke']) {
      const answer = await replica.app.inject({
        method: 'POST',
        url: `/agent/oauth/${path}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          ...{ grant_type: 'refresh_token', client_id: agent.clientId },
          ...{ refresh_token: token, token },
        }).toString(),
      })
      expect(answer.statusCode, answer.body).toBe(503)
      expect(answer.headers['retry-after']).toBe('60')
      expect(answer.json()).toMatchObject({ error: 'temporarily_unavailable' })
      expect(answer.body).not.toContain('503')
    }
    expect(replica.log.filter((line) => line.includes('"reason"'))).toEqual([
      expect.stringContaining('"reason":"the status is 503"'),
    ])
  })

  it('the page of an authorization request names the host, and the log has the reason', async () => {
    const agent = publish()
    answerWith(agent.clientId, () => Promise.reject(new Error('getaddrinfo ENOTFOUND')))
    const { length } = service.log
    const answer = await tester.authorize(agent)
    const { host: name } = new URL(agent.clientId)
    expect(answer.body).toContain(`<h1>${name} could not be reached from this server</h1>`)
    expect(answer.body).toContain('<code>temporarily_unavailable</code>')
    expect(answer.body).not.toContain('ENOTFOUND')
    const logged = service.log.slice(length).filter((line) => line.includes(name) && line.includes('reason'))
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 40, host: name, reason: 'getaddrinfo ENOTFOUND' }),
    ])
  })
})

describe('a document that is gone', () => {
  it('is used for a day, then ends the access with invalid_client, unless it comes back', async () => {
    const agent = publish()
    let token = await letIn(agent)
    const document = JSON.parse(String((await readKept(agent))[0]?.content)) as object
    const refresh = async () => (await startReplica()).tester.refresh(agent, token)
    for (const status of [404, 410]) {
      answerWith(agent.clientId, status)
      token = (await refresh()).json<{ refresh_token: string }>().refresh_token
      await age(agent, 23)
      token = (await refresh()).json<{ refresh_token: string }>().refresh_token
      await age(agent, 2)
      const refused = await refresh()
      expect(refused.statusCode).toBe(400)
      expect(refused.json()).toMatchObject({ error: 'invalid_client' })
      answerWith(agent.clientId, document)
      token = (await refresh()).json<{ refresh_token: string }>().refresh_token
      expect(await readKept(agent)).toMatchObject([{ gone_since: null }])
    }
  })
})

describe('what is kept of a client', () => {
  it('is what it published last, while an open consent stays as it was shown', async () => {
    const agent = publish({ client_name: 'Before' })
    const authorization = await tester.authorize(agent)
    const changed = 'http://127.0.0.1:9999/changed'
    publish({ client_name: 'After', redirect_uris: [changed] }, agent.clientId)
    const replica = await startReplica()
    const { request, response } = replica.tester.toExchange(authorization)
    const shown = await replica.services.agentOAuth.findConsentRequest(request, response)
    expect(shown).toMatchObject({ clientName: 'Before', redirectTarget: '127.0.0.1:33418' })
    const back = await replica.tester.allow(authorization, host)
    expect(back.headers.location).toContain(publishedRedirectUri)
    expect(await readKept(agent)).toMatchObject([{ content: expect.stringContaining('Before') as string }])
    // Another process reads the document again.
    const other = await startReplica()
    expect((await other.tester.exchange(agent, codeOf(back))).statusCode).toBe(200)
    expect(await readKept(agent)).toMatchObject([{ content: expect.stringContaining('After') as string }])
    expect((await other.tester.authorize(agent)).statusCode).toBe(400)
    expect((await other.tester.authorize({ ...agent, redirectUri: changed })).statusCode).toBe(303)
  })

  it('is nothing before somebody allows it, and goes with its last grant', async () => {
    const [agent, other] = [publish(), publish()]
    await tester.authorize(agent)
    expect(await readKept(agent)).toEqual([])
    await letIn(agent)
    await letIn(other)
    await deleteUnusedDocuments(db, new Date())
    expect([await readKept(agent), await readKept(other)]).toMatchObject([[{}], [{}]])
    await db
      .update(agentGrants)
      .set({ revokedAt: new Date() })
      .where(eq(agentGrants.clientId, agent.clientId))
    await deleteUnusedDocuments(db, new Date())
    expect([await readKept(agent), await readKept(other)]).toMatchObject([[], [{}]])
    await deleteUnusedDocuments(db, new Date(Date.now() + 181 * 24 * 3600_000))
    expect(await readKept(other)).toEqual([])
  })

  it('costs nothing while oidc-provider has the document in memory', async () => {
    const agent = publish()
    const token = await letIn(agent)
    const { length } = fetched
    const { roundTrips } = await recordStatements(async () => {
      expect((await tester.refresh(agent, token)).statusCode).toBe(200)
    })
    expect(fetched).toHaveLength(length)
    expect(JSON.stringify(roundTrips)).not.toContain('oauth_documents')
  })

  it('is of at most 5 KiB: larger documents are refused, with the reason in the log', async () => {
    const uris = Array.from({ length: 60 }, (_, i) => `http://127.0.0.1:1/${i}/${'x'.repeat(80)}`)
    const answer = await tester.authorize(publish({ redirect_uris: uris }))
    expect(answer.statusCode).toBe(400)
    expect(service.log.join('')).toContain('"reason":"the document is larger than 5120 bytes"')
  })

  it('is read again where an earlier version let clients in', async () => {
    const agent = publish()
    const token = await letIn(agent)
    await db.execute(sql`delete from oauth_documents where client_id = ${agent.clientId}`)
    expect((await (await startReplica()).tester.refresh(agent, token)).statusCode).toBe(200)
    expect(await readKept(agent)).toMatchObject([
      { content: expect.stringContaining(agent.clientId) as string },
    ])
  })
})

describe('with CLIENT_METADATA_DOCUMENTS=off', () => {
  it('new consents are refused with a page that says so, and are not advertised', async () => {
    const replica = await startReplica({ CLIENT_METADATA_DOCUMENTS: 'off' })
    const agent = publish()
    const answer = await replica.tester.authorize(agent)
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('This server does not read documents of agents')
    expect(answer.body).toContain(new URL(agent.clientId).host)
    expect(fetched).not.toContain(agent.clientId)
    const url = '/.well-known/oauth-authorization-server'
    const flag = 'client_id_metadata_document_supported'
    expect((await replica.app.inject(url)).json()).toHaveProperty(flag, false)
    expect((await service.app.inject(url)).json()).toHaveProperty(flag, true)
    // Agents register instead.
    const registered = await replica.tester.createAgent()
    expect((await replica.tester.getTokens(registered, host)).access_token).not.toBe('')
  })

  it('grants that exist go on by the kept document, whatever its age, and nothing is fetched', async () => {
    const agent = publish()
    const token = await letIn(agent)
    await age(agent, 100 * 24)
    fetched.length = 0
    const replica = await startReplica({ CLIENT_METADATA_DOCUMENTS: 'off' })
    expect((await replica.tester.refresh(agent, token)).statusCode).toBe(200)
    expect(fetched).toEqual([])
    // The process has the document in memory now.
    expect((await replica.tester.authorize(agent)).statusCode).toBe(400)
  })
})
