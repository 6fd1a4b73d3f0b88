import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import { afterAll, expect, it } from 'vitest'
import { checkInstallation } from '../../src/services/check-installation.ts'
import { createCompany } from '../support/company.ts'
import { clone, startTestApp } from '../support/test-app.ts'

/** Documents by their path: right, of another issuer, and without what a sign-in needs. */
const server = createServer((request, response) => {
  const path = String(request.url).replace('/.well-known/openid-configuration', '')
  const endpoints = {
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
  }
  const documents: Record<string, object> = {
    '/right': { issuer: `${origin}/right`, ...endpoints },
    '/other': { issuer: `${origin}/elsewhere`, ...endpoints },
    '/bare': { ...endpoints, issuer: `${origin}/bare`, token_endpoint: undefined },
  }
  const found = documents[path]
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(found ?? {}))
})
const origin = await listen(server)
afterAll(() => server.close())

// Nothing listens there any more.
const closed = createServer()
const goneOrigin = await listen(closed)
await new Promise((resolve) => closed.close(resolve))

async function listen(on: Server): Promise<string> {
  await new Promise<void>((resolve) => on.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(on.address() as AddressInfo).port}`
}

const providers = ['right', 'other', 'bare', 'missing'].map((id) => ({
  ...{ id, name: id, issuer: `${origin}/${id}`, clientId: 'workspace', clientSecret: 'a secret' },
}))
const away = { ...providers[0], id: 'away', name: 'away', issuer: `${goneOrigin}/away` }
const environment = {
  DATABASE_URL: await clone(),
  // Nothing listens on this port.
  BASE_URL: 'http://127.0.0.1:9',
  OIDC_PROVIDERS: JSON.stringify([...providers, away]),
}
const service = await startTestApp({ environment })

const findingsOf = async (name: string, config = service.config) =>
  (await checkInstallation(() => config))
    .filter(({ check }) => check === name)
    .map(({ ok, message }) => `${ok ? 'right' : 'wrong'}: ${message}`)

it('admin check compares the issuer of each identity provider with its document', async () => {
  const [right, other, bare, missing, gone, ...more] = await findingsOf('identity')
  expect(right).toBe(`right: right answers as ${origin}/right.`)
  expect(other).toMatch(/^wrong: Nobody can sign in with other .*issuer.*OIDC_PROVIDERS/)
  expect(bare).toContain('its document has no token_endpoint')
  expect(missing).toMatch(/^wrong: Nobody can sign in with missing /)
  expect(gone).toContain('it cannot be reached (ECONNREFUSED)')
  expect(more).toEqual([])
})

it('admin check says who could sign in by an emailed link alone', async () => {
  const company = await createCompany(service)
  const before = await findingsOf('passwords')
  const [, without = '', people = ''] =
    /^right: (\d+) of (\d+) people have neither .* With PASSWORDS=off, they would/.exec(before.join()) ?? []
  expect(without).toBe(people)
  await service.db.execute(sql`
    insert into identities (issuer, subject, user_id, created_at)
    values (${`${origin}/right`}, 'one', ${company.owner.id}, now()), ('https://idp.invalid', 'two', ${company.member.id}, now())`)
  const { config } = service
  const off = { ...config, entry: { ...config.entry, hasPasswords: false } }
  expect(await findingsOf('passwords', off)).toEqual([
    `right: ${Number(people) - 1} of ${people} people have neither a linked account at these providers nor a passkey. ` +
      'PASSWORDS=off: they sign in by an emailed link.',
  ])
  expect(await findingsOf('passwords', { ...config, oidcProviders: [] })).toEqual([])
})
