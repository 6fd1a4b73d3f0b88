import { sql } from 'drizzle-orm'
import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { replaceSealed, sealedColumns } from '../../src/platform/secrets/sealed-columns.repository.ts'
import { checkSecrets } from '../../src/services/check-secrets.ts'
import { reseal } from '../../src/services/reseal.ts'
import { createCompany, post, randomEmail } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { clone, selectRows, startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { isSignedBy, startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { createVisitor, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const minute = 60_000
const clock = createTestClock()
const [older, newer, foreign] = ['o', 'n', 'f'].map((letter) => letter.repeat(32)) as [string, string, string]

/** The service before its secret is replaced, while there are two, and afterwards; and one with another secret. */
async function startInstallation() {
  const DATABASE_URL = await clone()
  const start = (secrets: Record<string, string>) =>
    startTestApp({ clock, environment: { DATABASE_URL, ...secrets } })
  return {
    before: await startWebsite({ clock, environment: { DATABASE_URL, APP_SECRET: older } }),
    during: await start({ APP_SECRET: newer, APP_SECRET_PREVIOUS: older }),
    after: await start({ APP_SECRET: newer }),
    elsewhere: await start({ APP_SECRET: foreign }),
  }
}

const security = '/settings/security'
const isSignedIn = async (visitor: Visitor) => (await visitor.get(security)).statusCode === 200

/** The same browser at another process. */
function at(app: TestApp, { cookies }: Visitor): Visitor {
  const visitor = createVisitor(app)
  for (const [name, value] of cookies) visitor.cookies.set(name, value)
  return visitor
}

/** A person with two-step sign-in, whose session was renewed by it. */
async function createCarefulPerson(website: Parameters<typeof signUp>[0]) {
  const email = randomEmail()
  const visitor = await signUp(website, { email })
  const page = `${security}/two-step`
  await visitor.get(page)
  await visitor.submit(`${page}/begin`)
  await visitor.get(page)
  const secret = (/id="secret"[^>]*value="([A-Z2-7 ]+)"/.exec(visitor.page())?.[1] ?? '').replaceAll(' ', '')
  const codeNow = () => generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) })
  expect((await visitor.submit(`${page}/confirm`, { code: codeNow() })).statusCode).toBe(200)
  clock.advance(20 * minute)
  await visitor.get(`${security}/confirm?next=${security}`)
  const proven = await visitor.post(`${security}/confirm/code`, { code: codeNow(), next: security })
  expect(proven.headers.location, proven.body).toBe(security)
  expect(visitor.cookies.has('session-renewal')).toBe(true)
  clock.advance(minute)
  return { email, visitor, codeNow }
}

async function canEnterCode(app: TestApp, { email, codeNow }: { email: string; codeNow: () => string }) {
  clock.advance(minute)
  const visitor = createVisitor(app)
  await visitor.get('/sign-in')
  await visitor.submit('/sign-in', { email, password })
  await visitor.get('/sign-in/second-step')
  return (await visitor.submit('/sign-in/second-step', { code: codeNow() })).statusCode === 303
}

/** A webhook whose secret was replaced a moment ago, so that it has two. */
async function createRotatedWebhook(app: TestApp) {
  const company = await createCompany(app)
  const receiver = await startReceiver()
  const { path, secret } = await createWebhook(app, company.owner, company, { url: receiver.url })
  const answer = await app.as(company.owner, post(`${path}/rotate-secret`, {}))
  expect(answer.statusCode, answer.body).toBe(200)
  const secrets = [secret, answer.json<{ secret: string }>().secret]
  // The process before delivers events meanwhile.
  const tests = () => receiver.received.filter(({ body }) => body.includes('"type":"webhook.test"'))
  return async (by: TestApp) => {
    const count = tests().length
    await by.as(company.owner, post(`${path}/test`))
    const request = tests()[count]
    return request !== undefined && secrets.every((each) => isSignedBy(request, each))
  }
}

const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid

describe('replacing APP_SECRET', () => {
  it('loses nothing that is stored, in sessions or links, and reseal says when the former secret can go', async () => {
    const { before, during, after } = await startInstallation()
    const person = await createCarefulPerson(before)
    const isSigned = await createRotatedWebhook(before)
    const tester = createOAuthTester(before)
    const [agent, host] = [await tester.createAgent(), await tester.createHost()]
    const tokens = await tester.getTokens(agent, host)
    const { unsubscribeLinks, draftKeys } = before.services
    const link = unsubscribeLinks.urlOf(host.id)
    const token = link.split('/').at(-1) ?? ''

    // With both secrets.
    const browser = at(during, person.visitor)
    expect(await isSignedIn(browser)).toBe(true)
    expect(await canEnterCode(during, person)).toBe(true)
    expect(await isSigned(during)).toBe(true)
    expect(during.services.unsubscribeLinks.userOf(token)).toBe(host.id)
    const { former, ...keys } = during.services.draftKeys.keysOf(host.id)
    expect(former).toEqual([{ ...draftKeys.keysOf(host.id), former: undefined }])
    expect(keys.textKey).not.toBe(former[0]?.textKey)
    expect(during.services.draftKeys.tagsOf(host.id)).toBe(`${keys.tag} ${former[0]?.tag}`)
    const { refresh } = createOAuthTester(during)
    const refreshed = (await refresh(agent, tokens.refresh_token)).json<typeof tokens>()
    expect(kidOf(refreshed.access_token)).toBe(kidOf(tokens.access_token))
    expect(await checkSecrets(during.db, during.config)).toMatchObject({
      ok: true,
      message: expect.stringContaining('Run admin reseal') as string,
    })
    expect(await isSigned(after)).toBe(false)

    const kinds = [
      'signing keys',
      'authenticator apps',
      'secrets of webhooks',
      'previous secrets of webhooks',
      'former secrets of webhooks',
    ]
    const resealed = (count: number) =>
      kinds.map((kind) => ({ kind, resealed: count, left: 0, unreadable: 0 }))
    expect(await before.services.reseal()).toBeUndefined()
    expect(await during.services.reseal()).toEqual(resealed(1))
    expect(await during.services.reseal()).toEqual(resealed(0))
    expect((await checkSecrets(during.db, during.config)).message).toMatch(
      /^APP_SECRET_PREVIOUS is set\. Remove/,
    )

    // The cookie of a renewed session is made anew when the session is extended.
    clock.advance(61 * minute)
    expect(await isSignedIn(at(after, browser))).toBe(false)
    expect(await isSignedIn(browser)).toBe(true)
    expect(await isSignedIn(at(after, browser))).toBe(true)
    expect(await canEnterCode(after, person)).toBe(true)
    expect(await isSigned(after)).toBe(true)
    expect(await createOAuthTester(after).refresh(agent, refreshed.refresh_token)).toMatchObject({
      statusCode: 200,
    })
    expect(after.services.unsubscribeLinks.userOf(token)).toBeUndefined()
    expect(await checkSecrets(after.db, after.config)).toEqual({
      check: 'secrets',
      ok: true,
      message: 'APP_SECRET opens what is stored.',
    })
  })

  it('is done in slices, leaves what has changed meanwhile, and counts what neither secret opens', async () => {
    const { before, during } = await startInstallation()
    const company = await createCompany(before)
    for (let i = 0; i < 3; i++)
      await createWebhook(before, company.owner, company, { url: `https://hooks.example.com/${i}` })
    const { id } = await createWebhook(before, company.owner, company, { url: 'https://hooks.example.com/x' })
    await before.db.execute(sql`update webhooks set sealed_secret = '\\x00' where id = ${id}`)
    const secrets = createAppSecret(() => newer, older)
    expect(await reseal(during.db, secrets, { sliceSize: 2 })).toContainEqual({
      kind: 'secrets of webhooks',
      resealed: 3,
      left: 0,
      unreadable: 1,
    })
    const rows = await selectRows<{ sealed: Buffer }>(
      during.db,
      sql`select sealed_secret as sealed from webhooks where id <> ${id}`,
    )
    const column = sealedColumns.find(({ kind }) => kind === 'secrets of webhooks')
    if (!column) throw new Error('there is no such kind')
    expect(await replaceSealed(during.db, column, { id, sealed: Buffer.of(1) }, Buffer.of(2))).toBe(false)
    expect(await replaceSealed(during.db, column, { id, sealed: Buffer.of(0) }, Buffer.of(2))).toBe(true)
    const box = createAppSecret(() => newer).boxOf('secrets of webhooks')
    expect(rows.map(({ sealed }) => box.open(sealed))).toEqual(
      Array.from({ length: 3 }, () => expect.any(String) as string),
    )
  })
})

describe('a process with the secret of another installation', () => {
  it('is found by check, and does not replace the signing key', async () => {
    const { before, elsewhere } = await startInstallation()
    expect(await checkSecrets(elsewhere.db, elsewhere.config)).toMatchObject({
      ok: true,
      message: 'Nothing is encrypted under APP_SECRET yet.',
    })
    await createCarefulPerson(before)
    await createRotatedWebhook(before)
    // There is no signing key yet, but a secret of a webhook.
    expect(await elsewhere.services.agentOAuth.rotateSigningKey()).toBeUndefined()
    const { keys } = await before.services.agentOAuth.jwks()
    const rowsNow = () => selectRows(before.db, sql`select id, is_retired from signing_keys`)
    const rows = await rowsNow()
    expect(rows).toEqual([{ id: keys[0]?.kid, is_retired: false }])
    expect(await checkSecrets(elsewhere.db, elsewhere.config)).toEqual({
      check: 'secrets',
      ok: false,
      message: expect.stringMatching(
        /^APP_SECRET does not open .*: signing keys, authenticator apps, secrets of webhooks, previous secrets/,
      ) as string,
    })
    expect(await elsewhere.services.agentOAuth.rotateSigningKey()).toBeUndefined()
    expect(await rowsNow()).toEqual(rows)
    expect(await before.services.agentOAuth.rotateSigningKey()).toBeDefined()
  })
})
