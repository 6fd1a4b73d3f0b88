import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTokenVerifier, keptTokensMax } from '../../src/agents/oauth/keys/access-tokens.ts'
import type { Jwk } from '../../src/agents/oauth/keys/signing-keys.ts'

const baseUrl = 'https://api.example.com'
const now = Date.parse('2026-11-23T00:00:00.500Z')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function createKey(kid: string): { privateKey: KeyObject; jwk: Jwk } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } }
}

const key = createKey('one')

/** A token that expires a minute from now. */
function createToken(grantId = 'a grant'): string {
  const seconds = Math.floor(now / 1000)
  const parts = [
    { alg: 'ES256', typ: 'at+jwt', kid: key.jwk.kid },
    {
      ...{ iss: baseUrl, aud: `${baseUrl}/agent/mcp`, sub: 'user', client_id: 'client', jti: randomUUID() },
      ...{ iat: seconds, exp: seconds + 60, scope: 'validation-kit:read', gid: grantId },
    },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const countVerifications = () => vi.spyOn(crypto.subtle, 'verify').mock.calls

it('verifies the signature of a token once', async () => {
  const verify = createTokenVerifier(baseUrl)
  const [keys, token, calls] = [[key.jwk], createToken(), countVerifications()]
  const first = await verify(token, keys)
  expect(first).toMatchObject({ grantId: 'a grant', clientId: 'client', scopes: ['validation-kit:read'] })
  expect(await verify(token, keys)).toEqual(first)
  expect(calls).toHaveLength(1)
  expect(await verify(createToken('another grant'), keys)).toMatchObject({ grantId: 'another grant' })
  expect(calls).toHaveLength(2)
})

it('refuses a token that has expired since its signature was verified', async () => {
  const verify = createTokenVerifier(baseUrl)
  const [keys, token] = [[key.jwk], createToken()]
  vi.setSystemTime(now + 59_000)
  expect(await verify(token, keys)).toBeDefined()
  vi.setSystemTime(Math.floor(now / 1000) * 1000 + 60_000)
  expect(await verify(token, keys)).toBeUndefined()
  expect(await createTokenVerifier(baseUrl)(token, keys)).toBeUndefined()
})

it('verifies again with other keys, and refuses a token whose key is gone', async () => {
  const verify = createTokenVerifier(baseUrl)
  const [token, other] = [createToken(), createKey('two')]
  expect(await verify(token, [key.jwk])).toBeDefined()
  expect(await verify(token, [other.jwk])).toBeUndefined()
})

it('keeps no refused tokens, and a limited number of others', async () => {
  const verify = createTokenVerifier(baseUrl)
  const [keys, first, last] = [[key.jwk], createToken(), createToken()]
  const altered = `${first.slice(0, -4)}AAAA`
  const calls = countVerifications()
  expect(await verify(altered, keys)).toBeUndefined()
  expect(await verify(altered, keys)).toBeUndefined()
  expect(calls).toHaveLength(2)
  await verify(first, keys)
  for (let i = 1; i < keptTokensMax; i++) await verify(createToken(), keys)
  await verify(first, keys)
  expect(calls).toHaveLength(2 + keptTokensMax)
  await verify(last, keys)
  await verify(first, keys)
  expect(calls).toHaveLength(2 + keptTokensMax + 2)
})
