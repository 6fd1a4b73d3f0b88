import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import type { Clock } from '../../src/kernel/clock.ts'
import { afterFile } from './after-file.ts'

/** An identity provider on loopback that asserts people to let agents in (ID-JAG). */
export interface AssertingProvider {
  issuer: string
  /** The paths that were fetched. */
  fetched: string[]
  /** Signs an assertion. `type` is its `typ`; undefined claims are left out. */
  sign(claims: JWTPayload, options?: { type?: string; isForged?: boolean }): Promise<string>
  /** Answers wrongly from now on, or rightly again. */
  break(breakage: Breakage | undefined): void
}

/** What is wrong about a provider: it fails, is another one, has other keys than it signs with, or none, or does not answer. */
type Breakage =
  'failing' | 'another issuer' | 'no JSON' | 'no keys' | 'useless keys' | 'empty keys' | 'silent'

const tokenType = 'urn:ietf:params:oauth:token-type:id-jag'

/**
 * Starts one, by a clock. Its token endpoint exchanges a subject token (RFC 8693), which here is the subject itself, for an
 * assertion for the client that `clientFor` names.
 */
export async function startAssertingProvider(
  clock: Clock,
  clientFor: (idpClientId: string) => string = (id) => id,
): Promise<AssertingProvider> {
  const pair = await generateKeyPair('ES256')
  const forged = await generateKeyPair('ES256')
  const fetched: string[] = []
  const state: { breakage: Breakage | undefined } = { breakage: undefined }
  const server = createServer((request, response) => {
    const path = String(request.url)
    fetched.push(path)
    const send = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(JSON.stringify(body))
    }
    if (state.breakage === 'failing') send({ error: 'server_error' }, 500)
    else if (path.startsWith('/.well-known/')) send(describe())
    else if (path === '/jwks') void sendKeys(response, send)
    else if (path === '/token') void exchange(request).then(send)
    else send({}, 404)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    // What was never answered.
    server.closeAllConnections()
    await closed
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function sendKeys(response: ServerResponse, send: (body: object) => void): Promise<void> {
    const key = { ...(await exportJWK(pair.publicKey)), kid: 'one' }
    const { breakage } = state
    if (breakage === 'no JSON') response.end('<!doctype html><title>Maintenance</title>')
    else if (breakage === 'no keys') send({ error: 'not found' })
    else if (breakage === 'useless keys') send({ keys: [{ ...key, x: 'AAAA' }] })
    else if (breakage === 'empty keys') send({ keys: [] })
    else if (breakage !== 'silent') send({ keys: [key] })
  }

  const describe = () => ({
    issuer: state.breakage === 'another issuer' ? `${issuer}/another` : issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })

  async function sign(
    claims: JWTPayload,
    { type = 'oauth-id-jag+jwt', isForged = false }: { type?: string; isForged?: boolean } = {},
  ): Promise<string> {
    const now = Math.floor(clock.now().getTime() / 1000)
    return new SignJWT({ iss: issuer, jti: crypto.randomUUID(), iat: now, exp: now + 300, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: type })
      .sign(isForged ? forged.privateKey : pair.privateKey)
  }

  async function exchange(request: AsyncIterable<Buffer>): Promise<object> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const sent = new URLSearchParams(Buffer.concat(chunks).toString())
    const assertion = await sign({
      sub: String(sent.get('subject_token')),
      aud: String(sent.get('audience')),
      resource: String(sent.get('resource')),
      client_id: clientFor(String(sent.get('client_id'))),
      scope: sent.get('scope') ?? undefined,
    })
    return { access_token: assertion, issued_token_type: tokenType, token_type: 'N_A', expires_in: 300 }
  }

  return { issuer, fetched, sign, break: (breakage) => (state.breakage = breakage) }
}
