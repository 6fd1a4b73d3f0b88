import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { deleteStaleRecords } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import { keyOf } from '../../src/agents/oauth/records/stored-records.ts'
import { deleteRetiredSigningKeys } from '../../src/agents/oauth/keys/signing-keys.repository.ts'
import { createComparison } from '../support/hold-to-description.ts'
import { codeOf, createOAuthTester, redirectOf, type Tokens } from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({
  clock,
})
const { app, config, db, services } = service
const tester = createOAuthTester(service)
const { authorize, allow, createAgent, createHost, deny, exchange, getCode, getTokens, refresh, register } =
  tester

const isLetIn = async (accessToken: string) => (await services.authenticateAgent(accessToken)) !== undefined

const minute = 60_000
/** The mails that tell a host of a grant that ended. */
const jobsOf = ({ workspaceId }: { workspaceId: string }) => sql`
  select job.id from graphile_worker._private_jobs job join agent_grants g on g.id::text = job.payload ->> 'grantId'
  where g.workspace_id = ${workspaceId}`

describe('the authorization code flow', () => {
  it('issues tokens for a registered agent after the person allows it', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const authorization = await authorize(agent)
    expect(authorization.statusCode).toBe(303)
    expect(authorization.headers.location).toMatch(`${config.webUrl}/agent/oauth/consent/`)
    const { request, response } = tester.toExchange(authorization)
    expect(await services.agentOAuth.findConsentRequest(request, response)).toMatchObject({
      clientName: 'Robbie',
      metadataHost: null,
      redirectTarget: 'agent.example',
      scopes: ['validation-kit:read'],
    })
    const back = await allow(authorization, host)
    expect(redirectOf(back)).toMatchObject({ state: 'some state', iss: config.baseUrl })
    const answer = await exchange(agent, codeOf(back))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const tokens = answer.json<{ access_token: string }>()
    expect(tokens).toEqual({
      access_token: expect.any(String) as string,
      expires_in: 3600,
      refresh_token: expect.any(String) as string,
      scope: 'validation-kit:read',
      token_type: 'Bearer',
    })
    const known = await services.authenticateAgent(tokens.access_token)
    expect(known).toMatchObject({
      grant: { clientName: 'Robbie', scopes: ['validation-kit:read'] },
      user: { id: host.id },
      workspace: { id: host.workspaceId, slug: host.slug },
      role: 'owner',
    })
  })

  it('removes deceptive characters from the name of an agent, and isolates it', async () => {
    const [agent, host] = [
      await createAgent({ client_name: '\u202eedualC\u200b \u{e0041}' }),
      await createHost(),
    ]
    const authorization = await authorize(agent)
    const { cookie } = tester.toExchange(authorization).request.headers
    const { url } = await services.credentials.createLink('sign_in', host.id)
    const token = String(new URL(url).pathname.split('/').at(-1))
    const signedIn = await services.credentials.signInByLink(token, {
      userAgent: '',
      sessionToken: undefined,
      browserToken: randomUUID(),
      requestId: 'a request',
    })
    const session = 'sessionToken' in signedIn ? signedIn.sessionToken : ''
    const page = await app.inject({
      url: new URL(String(authorization.headers.location)).pathname,
      headers: { cookie: `${cookie}; session=${session}`, accept: 'text/html' },
    })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<bdi>edualC</bdi>')
    expect(page.body).not.toMatch(/[\u202e\u200b]|\u{e0041}/u)
    await allow(authorization, host)
    const grants = await service.as(host, { url: `/v1/workspaces/${host.slug}/integrations` })
    expect(grants.json()).toMatchObject([{ clientName: 'edualC' }])
  })

  it('shows an agent without a visible name as “An unnamed application”', async () => {
    for (const name of [undefined, '\u202e', '\u3164']) {
      const agent = await createAgent({ client_name: name })
      const { request, response } = tester.toExchange(await authorize(agent))
      expect(await services.agentOAuth.findConsentRequest(request, response)).toMatchObject({
        clientName: 'An unnamed application',
      })
    }
  })

  it('issues access tokens that follow RFC 9068, and publishes only public keys', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { access_token: token } = await getTokens(agent, host)
    const [header, claims] = token.split('.').slice(0, 2).map(decode)
    const { keys } = (await app.inject('/agent/oauth/jwks')).json<{ keys: { kid: string; d?: string }[] }>()
    expect(header).toMatchObject({ typ: 'at+jwt', alg: 'ES256', kid: keys[0]?.kid })
    expect(claims).toMatchObject({
      iss: config.baseUrl,
      aud: `${config.baseUrl}/agent/mcp`,
      sub: host.id,
      client_id: agent.clientId,
      scope: 'validation-kit:read',
    })
    for (const key of keys) expect(key.d).toBeUndefined()
  })

  it('stores no code or token in plain text', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const code = await getCode(agent, host)
    const tokens = (await exchange(agent, code)).json<Tokens>()
    const next = (await refresh(agent, tokens.refresh_token)).json<Tokens>()
    const rows = await selectRows<{ text: string }>(
      db,
      sql`select oauth_records::text as text from oauth_records union all select agent_grants::text from agent_grants`,
    )
    const stored = rows.map(({ text }) => text).join('\n')
    for (const secret of [code, tokens.refresh_token, tokens.access_token, next.refresh_token])
      expect(stored).not.toContain(secret)
  })

  it('records an integration.granted event', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    await getTokens(agent, host)
    const events = await service.as(host, {
      url: `/v1/workspaces/${host.slug}/events?type=integration.granted`,
    })
    expect(events.json()).toMatchObject([{ actorUserId: host.id, source: 'web', targetType: 'integration' }])
  })

  it('redirects with access_denied when the person denies', async () => {
    const agent = await createAgent()
    const back = await deny(await authorize(agent))
    expect(redirectOf(back)).toMatchObject({
      error: 'access_denied',
      state: 'some state',
      iss: config.baseUrl,
    })
  })

  it('returns not_a_member for a workspace that the person is not a member of', async () => {
    const [agent, host, stranger] = [await createAgent(), await createHost(), await createHost()]
    const authorization = await authorize(agent)
    const asked = allow(authorization, { ...host, workspaceId: stranger.workspaceId })
    await expect(asked).rejects.toMatchObject({ code: 'not_a_member' })
    expect(
      await selectRows(db, sql`select id from agent_grants where client_id = ${agent.clientId}`),
    ).toEqual([])
  })

  it('returns consent_expired in a browser without a pending request', async () => {
    const { request, response } = tester.toExchange(await app.inject('/health'))
    expect(await services.agentOAuth.findConsentRequest(request, response)).toBeUndefined()
    const host = await createHost()
    const asked = services.agentOAuth.allow({ request, response }, host.principal, {
      workspaceId: host.workspaceId,
      scopes: [],
      days: 180,
    })
    await expect(asked).rejects.toMatchObject({ code: 'consent_expired' })
  })
})

describe('the authorization request', () => {
  it.each([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ])('redirects with an OAuth error for %s', async (_name, parameters, error) => {
    const answer = await authorize(await createAgent(), parameters)
    expect(redirectOf(answer)).toMatchObject({ error, state: 'some state', iss: config.baseUrl })
  })

  it('redirects with unsupported_response_type for the implicit flow', async () => {
    const answer = await authorize(await createAgent(), { response_type: 'token' })
    expect(answer.headers.location).toMatch('error=unsupported_response_type')
    expect(answer.headers.location).not.toMatch('access_token')
  })

  it.each([
    ['another redirect URI', { redirect_uri: 'https://evil.example/callback' }],
    ['a longer redirect URI', { redirect_uri: 'https://agent.example/callback/more' }],
    ['an unknown client', { client_id: randomUUID() }],
  ])('returns 400 with an error page, and never redirects, for %s', async (_name, parameters) => {
    const answer = await authorize(await createAgent(), parameters)
    expect(answer.statusCode).toBe(400)
    expect(answer.headers.location).toBeUndefined()
    expect(answer.headers['content-type']).toMatch('text/html')
    expect(answer.body).toContain('start again in the agent')
    expect(answer.body).toContain('<link rel="stylesheet"')
    expect(answer.headers['content-security-policy']).toMatch(`default-src 'none'`)
    expect(answer.headers['cache-control']).toMatch('no-store')
  })

  it('shows how the agent registers again when the client is unknown', async () => {
    const answer = await authorize(await createAgent(), { client_id: randomUUID() })
    expect(answer.body).toContain('registers again')
  })

  it.each([
    ['no scope', { scope: undefined }],
    ['scopes of another server', { scope: 'openid profile' }],
    ['offline_access', { scope: 'validation-kit:read offline_access' }],
    ['the resource', { resource: `${config.baseUrl}/agent/mcp` }],
    ['a trailing slash in the resource', { resource: `${config.baseUrl}/agent/mcp/` }],
    ['an upper-case resource', { resource: `${config.baseUrl.toUpperCase()}/agent/mcp` }],
    ['prompt=select_account', { prompt: 'select_account' }],
    ['prompt=select_account consent', { prompt: 'select_account consent' }],
  ])('is accepted with %s', async (_name, parameters) => {
    const [agent, host] = [await createAgent(), await createHost()]
    const back = await allow(await authorize(agent, parameters), host)
    const { access_token: token } = (await exchange(agent, codeOf(back))).json<{ access_token: string }>()
    expect(await isLetIn(token)).toBe(true)
  })

  it.each([`${config.baseUrl}/agent/mcp/`, `${config.baseUrl.toUpperCase()}/agent/mcp`])(
    'accepts the spelling %s of the resource in every request',
    async (resource) => {
      const [agent, host] = [await createAgent(), await createHost()]
      const back = await allow(await authorize(agent, { resource }), host)
      const first = await exchange(agent, codeOf(back), { resource })
      expect(first.statusCode, first.body).toBe(200)
      const { refresh_token: token } = first.json<Tokens>()
      const second = await refresh(agent, token, { resource })
      expect(second.statusCode, second.body).toBe(200)
      expect(await isLetIn(second.json<Tokens>().access_token)).toBe(true)
    },
  )

  it('returns invalid_target for a token of another resource', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const code = await getCode(agent, host)
    const answer = await exchange(agent, code, { resource: 'https://elsewhere.example/mcp/' })
    expect(answer.json()).toMatchObject({ error: 'invalid_target' })
  })

  it.each(['http://127.0.0.1:1234/cb', 'http://[::1]:1234/cb', 'http://localhost:1234/cb'])(
    'accepts another port than that of the registered URI %s',
    async (registered) => {
      const [agent, host] = [await createAgent({ redirect_uris: [registered] }), await createHost()]
      const redirectUri = registered.replace('1234', '54321')
      const back = await allow(await authorize(agent, { redirect_uri: redirectUri }), host)
      expect(String(back.headers.location)).toMatch(redirectUri)
    },
  )

  it('asks for consent again after an earlier consent', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    await getTokens(agent, host)
    const answer = await authorize(agent)
    expect(answer.headers.location).toMatch(`${config.webUrl}/agent/oauth/consent/`)
  })
})

describe('consenting a second time', () => {
  const grantsOf = ({ workspaceId }: { workspaceId: string }) =>
    selectRows<{ id: string; scopes: string[]; expires_at: string }>(
      db,
      sql`select id, scopes, expires_at from agent_grants where workspace_id = ${workspaceId}`,
    )
  const eventsOf = ({ workspaceId }: { workspaceId: string }) =>
    selectRows(
      db,
      sql`select type, target_id, summary from events
        where workspace_id = ${workspaceId} and type like 'integration.%' order by created_at, id`,
    )

  it('changes the grant, and both installations of the client go on with the new scopes', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const first = await getTokens(agent, host, { scopes: ['workspace:read'] })
    const [before] = await grantsOf(host)
    clock.advance(minute)
    const second = await getTokens(agent, host, { scopes: ['workspace:read', 'seeds:write'], days: null })
    expect(second.scope).toBe('validation-kit:read workspace:read seeds:write')
    const scopes = second.scope.split(' ')
    expect(await grantsOf(host)).toEqual([{ ...before, scopes }])
    expect(await eventsOf(host)).toEqual([
      expect.objectContaining({ type: 'integration.granted', target_id: before?.id }),
      {
        type: 'integration.changed',
        target_id: before?.id,
        summary: `${host.name} changed the access of Robbie to ${scopes.join(', ')}`,
      },
    ])
    for (const { access_token: token } of [first, second])
      expect((await services.authenticateAgent(token))?.grant.scopes).toEqual(scopes)
    for (const { refresh_token: token } of [first, second]) {
      const next = await refresh(agent, token)
      expect(next.json(), next.body).toMatchObject({ scope: second.scope })
    }
  })

  it('moves the end of the access only if the person chooses another', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    await getTokens(agent, host, { days: 90 })
    const [before] = await grantsOf(host)
    await getTokens(agent, host, { days: null })
    expect(await grantsOf(host)).toEqual([before])
    expect(await eventsOf(host)).toHaveLength(1)
    for (const [days, verb] of [
      [180, 'prolonged'],
      [30, 'shortened'],
    ] as const) {
      clock.advance(minute)
      await getTokens(agent, host, { days })
      const expiresAt = new Date(clock.now().getTime() + days * 24 * 60 * minute)
      const [after] = await grantsOf(host)
      expect(new Date(String(after?.expires_at))).toEqual(expiresAt)
      expect((await eventsOf(host)).at(-1)).toMatchObject({
        summary: `${host.name} ${verb} the access of Robbie until ${expiresAt.toISOString().slice(0, 10)}`,
      })
    }
  })

  it('gives another grant in another workspace, to another person, and after the end of the first', async () => {
    const [agent, host, other] = [await createAgent(), await createHost(), await createHost()]
    const first = await getTokens(agent, host)
    const slug = `w-${randomUUID().slice(0, 8)}`
    const { id } = await services.workspaces.create(host.principal, { name: 'Second', slug })
    await getTokens(agent, { ...host, workspaceId: id, slug })
    await getTokens(agent, other)
    expect(await isLetIn(first.access_token)).toBe(true)
    const [grant] = await grantsOf(host)
    await services.grants.revoke(host.principal, host.slug, String(grant?.id))
    await getTokens(agent, host)
    expect((await grantsOf(host)).map((each) => each.id === grant?.id).sort()).toEqual([false, true])
    expect(await isLetIn(first.access_token)).toBe(false)
  })

  it('makes one grant when two requests of a client are allowed at once', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const codes = await Promise.all([getCode(agent, host), getCode(agent, host)])
    for (const code of codes) expect((await exchange(agent, code)).statusCode).toBe(200)
    expect(await grantsOf(host)).toHaveLength(1)
  })
})

describe('the authorization code', () => {
  it('returns 400 invalid_grant with another verifier, redirect URI or client', async () => {
    const [agent, host, other] = [await createAgent(), await createHost(), await createAgent()]
    for (const wrong of [
      { code_verifier: other.verifier },
      { redirect_uri: 'https://agent.example/other' },
      { client_id: other.clientId },
    ]) {
      const answer = await exchange(agent, await getCode(agent, host), wrong)
      expect(answer.statusCode, JSON.stringify(wrong)).toBe(400)
      expect(answer.json()).toMatchObject({ error: 'invalid_grant' })
    }
  })

  it('can be used once; a second use revokes its tokens', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const code = await getCode(agent, host)
    const tokens = (await exchange(agent, code)).json<{ access_token: string; refresh_token: string }>()
    expect((await exchange(agent, code)).json()).toMatchObject({ error: 'invalid_grant' })
    expect(await isLetIn(tokens.access_token)).toBe(false)
    expect((await refresh(agent, tokens.refresh_token)).statusCode).toBe(400)
  })

  it('issues tokens at most once in concurrent requests, and they are revoked', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const code = await getCode(agent, host)
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(agent, code)))
    const given = answers.filter(({ statusCode }) => statusCode === 200)
    expect(given.length).toBeLessThanOrEqual(1)
    for (const { statusCode } of answers) expect([200, 400]).toContain(statusCode)
    for (const { access_token: token, refresh_token: next } of given.map((answer) => answer.json<Tokens>())) {
      expect(await isLetIn(token)).toBe(false)
      expect((await refresh(agent, next)).json()).toMatchObject({ error: 'invalid_grant' })
    }
    const events = await service.as(host, {
      url: `/v1/workspaces/${host.slug}/events?type=integration.revoked`,
    })
    expect(events.json()).toMatchObject([{ summary: expect.stringContaining('used again') as string }])
  })

  it('lasts a minute by the clock of the database, also on a replica whose own is five minutes ahead', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const [code, expired] = [await getCode(agent, host), await getCode(agent, host)]
    const isOf = (of: string) => sql`kind = 'AuthorizationCode' and key = ${keyOf('AuthorizationCode', of)}`
    const [row] = await selectRows<{ seconds: number }>(
      db,
      sql`select extract(epoch from expires_at - clock_timestamp())::float as seconds from oauth_records where ${isOf(code)}`,
    )
    expect(row?.seconds).toBeLessThanOrEqual(60)
    expect(row?.seconds).toBeGreaterThan(0)
    await db.execute(sql`update oauth_records set expires_at = clock_timestamp() where ${isOf(expired)}`)
    clock.advance(5 * minute)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * minute })
    try {
      const answer = await exchange(agent, code)
      expect(answer.statusCode, answer.body).toBe(200)
      const refused = await exchange(agent, expired)
      expect(refused.json()).toMatchObject({ error: 'invalid_grant' })
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('the refresh token', () => {
  it('is rotated at each use', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const first = await getTokens(agent, host)
    const second = (await refresh(agent, first.refresh_token)).json<typeof first>()
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(await isLetIn(second.access_token)).toBe(true)
  })

  it('does not extend the lifetime of 180 days of the grant', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    let { refresh_token: token } = await getTokens(agent, host)
    for (let days = 0; days < 175; days += 25) {
      clock.advance(25 * 24 * 60 * minute)
      token = (await refresh(agent, token)).json<Tokens>().refresh_token
    }
    clock.advance(5 * 24 * 60 * minute)
    expect((await refresh(agent, token)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('revokes the grant when it is reused after the grace period of 30 minutes, with an event and an email', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const first = await getTokens(agent, host)
    const second = (await refresh(agent, first.refresh_token)).json<typeof first>()
    clock.advance(30 * minute + 1)
    expect((await refresh(agent, first.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' })
    expect(await isLetIn(second.access_token)).toBe(false)
    expect((await refresh(agent, second.refresh_token)).statusCode).toBe(400)
    const events = await service.as(host, {
      url: `/v1/workspaces/${host.slug}/events?type=integration.revoked`,
    })
    expect(events.json()).toMatchObject([
      { actorType: 'system', summary: expect.stringMatching(/Robbie ended.*used again/) as unknown },
    ])
    expect(await selectRows(db, jobsOf(host))).toHaveLength(1)
  })

  it('stays valid when its successor cannot be stored', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { refresh_token: token } = await getTokens(agent, host)
    await db.execute(sql`alter table oauth_records add constraint no_refresh_tokens check
      (kind <> 'RefreshToken' or consumed_at is not null or client_id <> ${sql.raw(`'${agent.clientId}'`)}) not valid`)
    try {
      expect((await refresh(agent, token)).statusCode).toBe(500)
    } finally {
      await db.execute(sql`alter table oauth_records drop constraint no_refresh_tokens`)
    }
    clock.advance(31 * minute)
    expect((await refresh(agent, token)).statusCode).toBe(200)
  })

  it('is invalid as soon as the grant is revoked', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { refresh_token: token } = await getTokens(agent, host)
    const next = (await refresh(agent, token)).json<{ refresh_token: string }>()
    await db.execute(sql`update agent_grants set revoked_at = now() where client_id = ${agent.clientId}`)
    expect((await refresh(agent, next.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('returns 401 invalid_client after its client was deleted, and says how to register again', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { refresh_token: token } = await getTokens(agent, host)
    await db.execute(sql`delete from oauth_records where kind = 'Client' and key = ${agent.clientId}`)
    const answer = await refresh(agent, token)
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({
      error: 'invalid_client',
      error_description: expect.stringContaining(
        `Register it again at ${config.baseUrl}/agent/oauth/register`,
      ) as unknown,
    })
  })

  it('returns invalid_grant for another client', async () => {
    const [agent, host, other] = [await createAgent(), await createHost(), await createAgent()]
    const { refresh_token: token } = await getTokens(agent, host)
    expect((await refresh(agent, token, { client_id: other.clientId })).json()).toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('is invalid as soon as the membership ends', async () => {
    const [agent, host, other] = [await createAgent(), await createHost(), await createHost()]
    await db.execute(
      sql`insert into memberships (workspace_id, user_id, role, joined_at, last_used_at) values (${host.workspaceId}, ${other.id}, 'owner', now(), now())`,
    )
    const tokens = await getTokens(agent, host)
    const left = await service.as(other, {
      method: 'DELETE',
      url: `/v1/workspaces/${host.slug}/members/${host.id}`,
    })
    expect(left.statusCode).toBe(200)
    expect(await isLetIn(tokens.access_token)).toBe(false)
    expect((await refresh(agent, tokens.refresh_token)).statusCode).toBe(400)
  })

  it('can be revoked by its client, which revokes the grant', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const tokens = await getTokens(agent, host)
    const answer = await app.inject({
      method: 'POST',
      url: '/agent/oauth/revoke',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ token: tokens.refresh_token, client_id: agent.clientId }).toString(),
    })
    expect(answer.statusCode).toBe(200)
    expect(await isLetIn(tokens.access_token)).toBe(false)
  })
})

describe('the access token', () => {
  it('expires when the seconds of expires_in have passed', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { access_token: token, expires_in: seconds } = await getTokens(agent, host)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + (seconds - 2) * 1000 })
    try {
      expect(await isLetIn(token)).toBe(true)
      vi.setSystemTime(Date.now() + 2_000)
      expect(await isLetIn(token)).toBe(false)
    } finally {
      vi.useRealTimers()
    }
  })

  it('is rejected when it was altered, and under /v1', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const { access_token: token } = await getTokens(agent, host)
    expect(await isLetIn(`${token.slice(0, -4)}AAAA`)).toBe(false)
    expect(await isLetIn('nonsense')).toBe(false)
    expect(await isLetIn(host.apiKey)).toBe(false)
    const answer = await app.inject({ url: '/v1/me', headers: { authorization: `Bearer ${token}` } })
    expect(answer.statusCode).toBe(401)
  })

  it('is accepted when it was signed with a retired key', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const before = await getTokens(agent, host)
    const id = await services.agentOAuth.rotateSigningKey()
    const replica = await startTestApp({
      environment: { DATABASE_URL: String(config.databaseUrl), DATA_DIR: config.dataDir },
    })
    expect(await replica.services.authenticateAgent(before.access_token)).toBeDefined()
    const { keys } = await replica.services.agentOAuth.jwks()
    expect(keys.map(({ kid }) => kid)).toContain(id)
    expect(keys.length).toBeGreaterThan(1)
  })

  it('has its key published for 24 hours and 5 minutes after the key was retired; then the key is deleted', async () => {
    const kidOf = (token: string) =>
      (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid
    const [agent, host] = [await createAgent(), await createHost()]
    const { access_token: token } = await getTokens(agent, host)
    await services.agentOAuth.rotateSigningKey()
    // Keys are loaded once a minute; a process that starts loads them at once.
    const kidsNow = async () => {
      const replica = await startTestApp({
        clock,
        environment: { DATABASE_URL: String(config.databaseUrl), DATA_DIR: config.dataDir },
      })
      return (await replica.services.agentOAuth.jwks()).keys.map(({ kid }) => kid)
    }
    clock.advance(24 * 60 * 60 * 1000)
    expect(await kidsNow()).toContain(kidOf(token))
    clock.advance(5 * 60 * 1000)
    expect(await kidsNow()).not.toContain(kidOf(token))
    await deleteRetiredSigningKeys(db, clock.now())
    expect(await selectRows(db, sql`select 1 from signing_keys where id = ${kidOf(token)}`)).toEqual([])
  })

  it('has its key deleted 24 hours and 5 minutes after it is first seen, if an earlier release retired it', async () => {
    const id = `legacy-${randomUUID()}`
    await db.execute(sql`insert into signing_keys (id, public_jwk, sealed_private_jwk, is_retired, created_at)
      values (${id}, '{}', '', true, ${clock.now().toISOString()})`)
    const find = () => selectRows(db, sql`select retired_at from signing_keys where id = ${id}`)
    await deleteRetiredSigningKeys(db, clock.now())
    expect(await find()).toEqual([{ retired_at: expect.anything() as unknown }])
    clock.advance((24 * 60 + 5) * 60 * 1000)
    await deleteRetiredSigningKeys(db, clock.now())
    expect(await find()).toEqual([])
  })
})

describe('client registration', () => {
  it('accepts what common clients send, and returns the metadata in effect', async () => {
    const answer = await register({
      redirect_uris: ['cursor://anysphere.cursor-retrieval/oauth/callback', 'http://127.0.0.1:3334/callback'],
      client_name: 'Cursor',
      logo_uri: '',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'openid unknown',
      software_id: 'cursor',
      application_type: 'web',
      contacts: ['a@b.example'],
    })
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({
      client_id: expect.any(String) as string,
      client_name: 'Cursor',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    })
    expect(answer.json()).not.toHaveProperty('client_secret')
  })

  it.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://agent.example/callback'],
    ['https://agent.example/callback#fragment'],
    ['nonsense'],
    ['ftp://agent.example/callback'],
    ['ws://agent.example/callback'],
    ['wss://agent.example/callback'],
    ['mailto:agent@agent.example'],
    ['intent://agent.example/callback#Intent;scheme=https;end'],
    ['intent://agent.example/callback'],
    ['view-source:https://agent.example/callback'],
    ['x:y'],
    ['com.example.agent:callback'],
    ['https://user@agent.example/callback'],
    ['https://user:secret@agent.example/callback'],
    ['https://*.agent.example/callback'],
    ['cursor://*/callback'],
  ])('returns 400 invalid_redirect_uri for %s', async (uri) => {
    const answer = await register({ redirect_uris: [uri] })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_redirect_uri' })
  })

  it.each([
    [{}],
    [{ redirect_uris: [] }],
    [{ redirect_uris: 'https://agent.example' }],
    [{ redirect_uris: [5] }],
  ])('returns 400 invalid_redirect_uri for the metadata %j', async (metadata) => {
    const answer = await register(metadata)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_redirect_uri' })
  })

  it('returns 429 above the limit per client address', async () => {
    const limited = await startTestApp({ environment: { REGISTRATION_LIMIT_PER_MINUTE: '3' } })
    const { register: registerThere } = createOAuthTester(limited)
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      statuses.push((await registerThere({ redirect_uris: ['https://agent.example/callback'] })).statusCode)
    }
    expect(statuses).toEqual([201, 201, 201, 429, 429])
  })

  it('deletes an unused client after a week, but not one with a grant', async () => {
    const [unused, used, host] = [await createAgent(), await createAgent(), await createHost()]
    await getTokens(used, host)
    const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 60 * 60 * 1000)
    await deleteStaleRecords(db, inDays(6))
    expect((await authorize(unused)).statusCode).toBe(303)
    await deleteStaleRecords(db, inDays(8))
    const known = await selectRows<{ key: string }>(
      db,
      sql`select key from oauth_records where kind = 'Client'`,
    )
    expect(known.map(({ key }) => key)).toContain(used.clientId)
    expect(known.map(({ key }) => key)).not.toContain(unused.clientId)
  })

  it('deletes a client one year after its last grant expired, also when the person left the workspace', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    await getTokens(agent, host)
    await db.execute(sql`delete from agent_grants where client_id = ${agent.clientId}`)
    const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 60 * minute)
    const find = () => selectRows(db, sql`select 1 from oauth_records where key = ${agent.clientId}`)
    // The grant could be used until it expired.
    await deleteStaleRecords(db, inDays(180 + 364))
    expect(await find()).toHaveLength(1)
    await deleteStaleRecords(db, inDays(180 + 366))
    expect(await find()).toHaveLength(0)
  })

  it('stores client secrets hashed, and returns 401 for a wrong one', async () => {
    const [answer, host] = [
      await register({
        redirect_uris: ['https://agent.example/callback'],
        token_endpoint_auth_method: 'client_secret_post',
      }),
      await createHost(),
    ]
    const { client_id: clientId, client_secret: secret } = answer.json<Record<string, string>>()
    const agent = { ...(await createAgent()), clientId: String(clientId) }
    const [stored] = await selectRows<{ text: string }>(
      db,
      sql`select payload::text as text from oauth_records where key = ${clientId}`,
    )
    expect(stored?.text).not.toContain(secret)
    const code = await getCode(agent, host)
    for (const wrong of [undefined, 'wrong', `${secret}x`, stored?.text.match(/sha256:\w+/)?.[0]]) {
      const refused = await exchange(agent, code, { ...(wrong !== undefined && { client_secret: wrong }) })
      expect(refused.statusCode, wrong).toBe(401)
      expect(refused.json()).toMatchObject({ error_description: 'client authentication failed' })
    }
    expect((await exchange(agent, code, { client_secret: String(secret) })).statusCode).toBe(200)
  })

  it('withstands 1,000 concurrent requests: excess ones get 429 or 503, and later ones succeed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        register({ redirect_uris: [i % 2 ? `junk ${i}` : 'https://a.example/'] }),
      ),
    )
    // Those that are too many at once are refused at once. On a busy machine that is all that would be registered.
    for (const { statusCode, headers } of answers) {
      expect([201, 400, 429, 503]).toContain(statusCode)
      expect(headers['retry-after'] !== undefined).toBe(statusCode > 400)
    }
    expect(answers.map(({ statusCode }) => statusCode)).toContain(400)
    expect((await register({ redirect_uris: ['https://a.example/'] })).statusCode).toBe(201)
  })
})

describe('the API description of the OAuth endpoints', () => {
  it('matches their responses', async () => {
    const compare = createComparison(app)
    const [agent, host] = [await createAgent(), await createHost()]
    const tokens = await exchange(agent, await getCode(agent, host))
    const { refresh_token: token } = tokens.json<{ refresh_token: string }>()
    const revoke = (parameters: Record<string, string>) =>
      app.inject({
        method: 'POST',
        url: '/agent/oauth/revoke',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(parameters).toString(),
      })
    const redirectUris = ['https://agent.example/callback']
    const answers: [string, number, LightMyRequestResponse][] = [
      ['register', 201, await register({ redirect_uris: redirectUris })],
      [
        'register',
        201,
        await register({ redirect_uris: redirectUris, token_endpoint_auth_method: 'client_secret_post' }),
      ],
      ['register', 400, await register({ redirect_uris: 5 })],
      ['register', 400, await register({ redirect_uris: ['javascript:alert(1)'] })],
      ['register', 413, await register({ redirect_uris: redirectUris, more: 'x'.repeat(20_000) })],
      [
        'register',
        415,
        await app.inject({
          method: 'POST',
          url: '/agent/oauth/register',
          headers: { 'content-type': 'text/plain' },
          payload: 'x',
        }),
      ],
      ['token', 200, tokens],
      ['token', 400, await exchange(agent, 'another code')],
      ['token', 401, await exchange({ ...agent, clientId: 'nobody' }, 'a code')],
      ['revoke', 200, await revoke({ token, client_id: agent.clientId })],
      ['revoke', 400, await revoke({ client_id: agent.clientId })],
      ['revoke', 401, await revoke({ token, client_id: 'nobody' })],
      ['jwks', 200, await app.inject('/agent/oauth/jwks')],
      ['serverMetadata', 200, await app.inject('/.well-known/oauth-authorization-server')],
      ['resourceMetadata', 200, await app.inject('/.well-known/oauth-protected-resource')],
    ]
    for (const [name, status, { statusCode, headers, body }] of answers) {
      expect(statusCode, name).toBe(status)
      const differences = compare(`agentOAuth.${name}`, {
        status: statusCode,
        headers: Object.keys(headers),
        body: body || undefined,
      })
      expect(differences, `${name} ${status}`).toEqual([])
    }
  })
})

describe('OAuth discovery', () => {
  it.each(['', '/agent/mcp', '/agent/mcp/'])(
    'returns the same metadata with the suffix “%s”, regardless of the Host header',
    async (suffix) => {
      for (const name of ['oauth-authorization-server', 'oauth-protected-resource']) {
        const url = `/.well-known/${name}${suffix}`
        const plain = await app.inject(url)
        const forged = await app.inject({
          url,
          headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
        })
        expect(plain.statusCode).toBe(200)
        expect(forged.body).toBe(plain.body)
        expect(plain.headers['access-control-allow-origin']).toBe('*')
        expect(plain.body).toContain(config.baseUrl)
      }
    },
  )

  it('returns 404 route_not_found for other well-known paths', async () => {
    const answer = await app.inject('/.well-known/openid-configuration')
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'route_not_found' })
  })

  it('ignores a forged Host header in redirects', async () => {
    const agent = await createAgent()
    const query = new URLSearchParams({ client_id: agent.clientId, response_type: 'code' }).toString()
    const answer = await app.inject({
      url: `/agent/oauth/authorize?${query}&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256`,
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    })
    expect(JSON.stringify(answer.headers)).not.toContain('evil')
  })
})

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown
}
