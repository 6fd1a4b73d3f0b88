import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { createRefreshTokens } from '../../src/agents/oauth/refreshes/refresh-tokens.ts'
import { countQueries } from '../support/count-queries.ts'
import { untilTrue } from '../support/eventually.ts'
import { createOAuthTester, type TestAgent, type TestHost, type Tokens } from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const environment = {
  APP_SECRET: 'shared by the replicas, of 32 characters or more',
}
const service = await startTestApp({ clock, environment })
const replica = await startTestApp({ clock, environment })
const unlimited = await startTestApp({ clock, environment: { ...environment, REFRESH_LIMIT_PER_HOUR: '0' } })
const { db, services } = service
const { createAgent, createHost, getTokens, refresh, requestToken } = createOAuthTester(service)
const there = createOAuthTester(replica)

const minute = 60_000
/** When an access token was issued, in seconds since 1970 (RFC 9068 §2.2). */
const issuedAt = ({ access_token: token }: Tokens) => {
  const [, payload = ''] = token.split('.')
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number }).iat
}
const isLetIn = async (accessToken: string) => (await services.authenticateAgent(accessToken)) !== undefined

async function connect(): Promise<{ agent: TestAgent; host: TestHost; tokens: Tokens }> {
  const [agent, host] = [await createAgent(), await createHost()]
  return { agent, host, tokens: await getTokens(agent, host) }
}

/** Refreshes, and expects that it succeeds. */
async function next(agent: TestAgent, token: string): Promise<Tokens> {
  const answer = await refresh(agent, token)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>()
}

const invalid = { error: 'invalid_grant' }

/** How the access of an agent ended, as the workspace is told. */
const findEnd = async (host: TestHost) =>
  (await service.as(host, { url: `/v1/workspaces/${host.slug}/events?type=integration.revoked` })).json<
    { summary: string }[]
  >()

const countTokens = async ({ clientId }: TestAgent) =>
  selectRows(db, sql`select 1 from oauth_records where kind = 'RefreshToken' and client_id = ${clientId}`)

describe('a refresh token that is reused within the grace period of 30 minutes', () => {
  it('returns the same successor with a new access token', async () => {
    const { agent, tokens } = await connect()
    const first = await next(agent, tokens.refresh_token)
    clock.advance(30 * minute - 1)
    const again = await next(agent, tokens.refresh_token)
    expect(again.refresh_token).toBe(first.refresh_token)
    expect(again.access_token).not.toBe(first.access_token)
    for (const { access_token: token } of [first, again]) expect(await isLetIn(token)).toBe(true)
    expect(await countTokens(agent)).toHaveLength(2)
  })

  it('returns the same successor on all replicas, also in concurrent requests', async () => {
    const { agent, tokens } = await connect()
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (i % 2 ? refresh : there.refresh)(agent, tokens.refresh_token)),
    )
    for (const { statusCode, body } of answers) expect(statusCode, body).toBe(200)
    const successors = new Set(answers.map((answer) => answer.json<Tokens>().refresh_token))
    expect(successors.size).toBe(1)
    expect(await countTokens(agent)).toHaveLength(2)
  })

  it('returns its successor even after that was used, until its own grace period ends', async () => {
    const { agent, tokens } = await connect()
    const second = await next(agent, tokens.refresh_token)
    clock.advance(20 * minute)
    const third = await next(agent, second.refresh_token)
    clock.advance(9 * minute)
    expect((await next(agent, tokens.refresh_token)).refresh_token).toBe(second.refresh_token)
    clock.advance(20 * minute)
    expect((await next(agent, second.refresh_token)).refresh_token).toBe(third.refresh_token)
    clock.advance(minute + 1)
    expect((await refresh(agent, second.refresh_token)).json()).toMatchObject(invalid)
    expect(await isLetIn(third.access_token)).toBe(false)
  })

  it('runs one statement, and two at its first use, shared by concurrent requests', async () => {
    const [{ agent, tokens }, other] = [await connect(), await connect()]
    const both = () =>
      Promise.all([refresh(agent, tokens.refresh_token), refresh(other.agent, other.tokens.refresh_token)])
    expect(await countQueries(both)).toBe(2)
    expect(await countQueries(both)).toBe(1)
  })

  it('gets a successor when an earlier release has used it, which stored none', async () => {
    const { agent, tokens } = await connect()
    await next(agent, tokens.refresh_token)
    await db.execute(sql`update oauth_records set sealed_successor = null, generation = null
      where kind = 'RefreshToken' and client_id = ${agent.clientId}`)
    const again = await next(agent, tokens.refresh_token)
    expect((await next(agent, tokens.refresh_token)).refresh_token).toBe(again.refresh_token)
  })
})

describe('a stolen refresh token', () => {
  it('revokes the grant when thief and owner both use the same successor', async () => {
    const { agent, host, tokens } = await connect()
    const [owner, thief] = [await next(agent, tokens.refresh_token), await next(agent, tokens.refresh_token)]
    clock.advance(20 * minute)
    const stolen = await next(agent, thief.refresh_token)
    clock.advance(40 * minute)
    expect((await refresh(agent, owner.refresh_token)).json()).toMatchObject(invalid)
    expect((await refresh(agent, stolen.refresh_token)).json()).toMatchObject(invalid)
    expect(await isLetIn(stolen.access_token)).toBe(false)
    expect(await findEnd(host)).toMatchObject([{ summary: expect.stringContaining('used again') as string }])
  })

  it('returns 500 for a stored successor that was copied from another token', async () => {
    const [mine, theirs] = [await connect(), await connect()]
    await next(mine.agent, mine.tokens.refresh_token)
    await next(theirs.agent, theirs.tokens.refresh_token)
    await db.execute(sql`update oauth_records set sealed_successor = (
        select sealed_successor from oauth_records
        where client_id = ${theirs.agent.clientId} and sealed_successor is not null
      ) where client_id = ${mine.agent.clientId} and sealed_successor is not null`)
    expect((await refresh(mine.agent, mine.tokens.refresh_token)).statusCode).toBe(500)
  })
})

describe('many refreshes of one grant', () => {
  it('return 429 after 60 in an hour, not counting repeated ones', async () => {
    const { agent, tokens } = await connect()
    let token = tokens.refresh_token
    for (let i = 0; i < 60; i++) {
      clock.advance(1000)
      await next(agent, token)
      token = (await next(agent, token)).refresh_token
    }
    const refused = await refresh(agent, token)
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'Too many refreshes. Try again later.',
    })
    // From the first of them.
    expect(refused.headers['retry-after']).toBe(String(3600 - 59))
    clock.advance((3600 - 59) * 1000 - 1)
    expect((await refresh(agent, token)).statusCode).toBe(429)
    clock.advance(1)
    await next(agent, token)
  })

  it('keep at most 100 used tokens; an older one revokes the grant', async () => {
    const fast = createOAuthTester(unlimited)
    const { agent, host, tokens } = await connect()
    let token = tokens.refresh_token
    for (let i = 0; i < 600; i++) token = (await fast.refresh(agent, token)).json<Tokens>().refresh_token
    expect(await countTokens(agent)).toHaveLength(101)
    expect((await refresh(agent, tokens.refresh_token)).json()).toMatchObject(invalid)
    expect((await refresh(agent, token)).json()).toMatchObject(invalid)
    expect(await findEnd(host)).toMatchObject([{ summary: expect.stringContaining('used again') as string }])
  })

  it('of one installation leave the tokens of another alone, however many they are', async () => {
    const fast = createOAuthTester(unlimited)
    const { agent, host, tokens } = await connect()
    // Chains are told apart by the second in which their code was exchanged.
    await untilTrue(() => Date.now() / 1000 >= issuedAt(tokens) + 1)
    const other = await getTokens(agent, host)
    let token = tokens.refresh_token
    for (let i = 0; i < 102; i++) token = (await fast.refresh(agent, token)).json<Tokens>().refresh_token
    const next = await fast.refresh(agent, other.refresh_token)
    expect(next.statusCode, next.body).toBe(200)
    expect((await fast.refresh(agent, token)).statusCode).toBe(200)
    expect(await findEnd(host)).toEqual([])
  })

  it('do not revoke the grant for forged tokens, or for an old token sent by another client', async () => {
    const fast = createOAuthTester(unlimited)
    const [{ agent, host, tokens }, stranger] = [await connect(), await connect()]
    let token = tokens.refresh_token
    for (let i = 0; i < 102; i++) token = (await fast.refresh(agent, token)).json<Tokens>().refresh_token
    const { grant } = (await services.authenticateAgent(tokens.access_token)) ?? {}
    const forged = createRefreshTokens(
      createAppSecret(() => 'a secret of somebody else, of 32 characters'),
    ).create({
      grantId: String(grant?.id),
      chain: undefined,
      generation: 0,
    })
    for (const wrong of [forged, 'x', '', `${tokens.refresh_token}A`, tokens.refresh_token.slice(4)])
      expect((await refresh(agent, wrong)).statusCode).toBe(400)
    const asStranger = { grant_type: 'refresh_token', client_id: stranger.agent.clientId }
    expect((await requestToken({ ...asStranger, refresh_token: tokens.refresh_token })).json()).toMatchObject(
      invalid,
    )
    expect(await findEnd(host)).toEqual([])
    expect((await fast.refresh(agent, token)).statusCode).toBe(200)
  })
})
