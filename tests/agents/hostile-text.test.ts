import { describe, expect, it } from 'vitest'
import { encode } from '../fuzz/hostile.ts'
import { checkEach } from '../support/check-each.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app } = service
const { createAgent, createHost, getTokens, register } = createOAuthTester(service)
const hostile = ['a\0b', '\ud800', 'x\udc00y', '__proto__', '\r\n', '😀'.repeat(2_000)]

/** Encodes by hand: URLSearchParams replaces lone surrogates. */
const toForm = (parameters: Record<string, string>) =>
  Object.entries(parameters)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')

const agent = await createAgent()
const host = await createHost()
const { refresh_token: refreshToken } = await getTokens(agent, host)

const authorization = {
  response_type: 'code',
  client_id: agent.clientId,
  redirect_uri: agent.redirectUri,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  scope: 'validation-kit:read',
  resource: `${service.config.baseUrl}/agent/mcp`,
  state: 'a state',
  nonce: 'a nonce',
  prompt: 'consent',
  login_hint: 'x',
  claims: '{}',
}
const token = {
  grant_type: 'refresh_token',
  refresh_token: refreshToken,
  client_id: agent.clientId,
  client_secret: 'none',
  scope: 'validation-kit:read',
  resource: `${service.config.baseUrl}/agent/mcp`,
  code: 'a code',
  code_verifier: 'a'.repeat(43),
  redirect_uri: agent.redirectUri,
}
const revocation = { token: refreshToken, token_type_hint: 'refresh_token', client_id: agent.clientId }
const metadata = {
  redirect_uris: ['https://agent.example/callback'],
  client_name: 'Robbie',
  client_uri: 'https://agent.example',
  logo_uri: 'https://agent.example/logo.png',
  policy_uri: 'https://agent.example/policy',
  contacts: ['a@agent.example'],
  grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'none',
  scope: 'validation-kit:read',
  software_id: 'robbie',
  jwks: { keys: [] },
}

const replaced = <T extends object>(fields: T) =>
  Object.keys(fields).flatMap((name) =>
    hostile.map((text) => [name, text, { ...fields, [name]: text }] as const),
  )

const nameOf = ([name, text]: readonly [string, string, ...unknown[]]) => `${name} = ${JSON.stringify(text)}`

describe.each([
  ['/agent/oauth/token', token],
  ['/agent/oauth/revoke', revocation],
])('%s', (url, fields) => {
  it('returns an OAuth error, and never a 5xx status, for hostile text in any field', () =>
    checkEach(replaced<Record<string, string>>(fields), nameOf, async ([, , form]) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await app.inject({ method: 'POST', url, headers, payload: toForm(form) })
      expect(answer.statusCode, answer.body).toBeLessThan(500)
      if (answer.statusCode >= 400)
        expect(answer.json()).toMatchObject({ error: expect.any(String) as unknown })
    }))
})

describe('/agent/oauth/authorize', () => {
  it('never returns a 5xx status for hostile text in any field', () =>
    checkEach(replaced<Record<string, string>>(authorization), nameOf, async ([, , query]) => {
      const answer = await app.inject({ url: `/agent/oauth/authorize?${toForm(query)}` })
      expect(answer.statusCode, answer.body).toBeLessThan(500)
    }))
})

describe('/agent/oauth/register', () => {
  const nested = replaced(metadata).flatMap(([name, text, fields]) => [
    [name, text, fields] as const,
    [`${name}[]`, text, { ...metadata, [name]: [text] }] as const,
    [`${name}{}`, text, { ...metadata, [name]: { [text]: text } }] as const,
  ])
  it('returns an OAuth error, and never a 5xx status, for hostile text in any field', () =>
    checkEach(nested, nameOf, async ([, , fields]) => {
      const answer = await register(fields)
      expect(answer.statusCode, answer.body).toBeLessThan(500)
      if (answer.statusCode >= 400)
        expect(answer.json()).toMatchObject({ error: expect.any(String) as unknown })
    }))
})
