import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import Provider from 'oidc-provider'
import { afterAll, describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { selectRows } from '../support/test-app.ts'
import {
  cookiesOf,
  createVisitor,
  noticeOn,
  password,
  signUp,
  startWebsite,
  type Visitor,
} from './visitor.ts'

interface Person {
  email: string
  email_verified?: unknown
  name?: string
  /** The claims of the ID token that differ from the userinfo endpoint's. */
  inIdToken?: { email?: string; email_verified?: unknown; name?: string }
}

/** How the userinfo endpoint answers instead of with the claims, and how often it was asked. */
const userInfo: { fails?: { status: number; type: string; body: string } | undefined; asked: number } = {
  asked: 0,
}

const people = new Map<string, Person>()
const webUrl = 'http://localhost:3000'
const issuer = await startProvider('example')
const companyIssuer = await startProvider('company')
const website = await startWebsite({
  environment: {
    OIDC_PROVIDERS: JSON.stringify([
      { id: 'example', name: 'Example ID', issuer, clientId: 'workspace', clientSecret: 'a secret' },
      {
        id: 'company',
        name: 'Company ID',
        issuer: companyIssuer,
        clientId: 'workspace',
        clientSecret: 'a secret',
        domains: ['company.example', 'xn--bcher-kva.example'],
      },
      {
        id: 'away',
        name: 'Away',
        issuer: 'http://localhost:9',
        clientId: 'workspace',
        clientSecret: 'a secret',
      },
    ]),
  },
})

/** A real provider that accepts any login without a password. */
async function startProvider(id: string): Promise<string> {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'workspace',
        client_secret: 'a secret',
        redirect_uris: [`${webUrl}/sign-in/with/${id}/callback`],
      },
    ],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    findAccount: (_context, login) => ({
      accountId: login,
      claims: async (use: string) => {
        const { inIdToken = {}, ...person } = people.get(login) ?? {}
        return { sub: login, ...(use === 'id_token' ? inIdToken : person) }
      },
    }),
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    const isUserInfo = request.url === '/me'
    if (isUserInfo) userInfo.asked++
    if (!isUserInfo || !userInfo.fails) return void answer(request, response)
    const { status, type, body } = userInfo.fails
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  afterAll(() => server.close())
  return url
}

/** Signs in at the provider as a browser would. Returns the URL of the callback. */
async function signInAt(start: string, login: string): Promise<URL> {
  const cookies = new Map<string, string>()
  const send = async (url: string, form?: Record<string, string>) => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: cookiesOf({ cookies }) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  let url = start
  for (let i = 0; i < 12; i++) {
    const answer = await send(url)
    if (answer.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await answer.text())?.[1] ?? ''
      const posted = await send(url, { prompt, login, password: 'any' })
      url = new URL(String(posted.headers.get('location')), url).href
    } else {
      url = new URL(String(answer.headers.get('location')), url).href
    }
    if (url.startsWith(webUrl)) return new URL(url)
  }
  throw new Error(`the provider did not come to an end: ${url}`)
}

const begin = async (visitor: Visitor, next = '/', provider = 'example') => {
  const answer = await visitor.get(`/sign-in/with/${provider}?next=${encodeURIComponent(next)}`)
  expect(answer.statusCode).toBe(303)
  return String(answer.headers.location)
}

async function signInWith(
  person: Person,
  login: string = crypto.randomUUID(),
  visitor = createVisitor(website),
  provider = 'example',
) {
  people.set(login, person)
  const back = await signInAt(await begin(visitor, '/settings/profile', provider), login)
  return { visitor, login, back, answer: await visitor.get(back.pathname + back.search) }
}

const findUsers = (email: string) =>
  selectRows<{ id: string; name: string; identities: number }>(
    website.db,
    sql`select id, name, (select count(*)::int from identities where user_id = users.id) as identities
      from users where lower(email) = ${email.toLowerCase()}`,
  )

/** What was logged of refused sign-ins. */
const refusals = () =>
  website.log
    .map((line) => JSON.parse(line) as { msg: string })
    .filter(({ msg }) => msg === 'sign-in with identity provider refused')

describe('signing in with an identity provider', () => {
  it('is offered on the start, sign-in and sign-up pages', async () => {
    const visitor = createVisitor(website)
    for (const path of ['/', '/sign-in', '/sign-up']) {
      expect((await visitor.get(path)).body).toContain('/sign-in/with/example')
      expect(visitor.page()).toContain('Continue with Example ID')
    }
  })

  it('starts with PKCE, state and nonce', async () => {
    const url = new URL(await begin(createVisitor(website)))
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${webUrl}/sign-in/with/example/callback`,
    })
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(url.searchParams.get(name)).toMatch(/^[\w-]{43}$/)
  })

  it('creates a user at the first sign-in, and later finds them by subject, not by email address', async () => {
    const email = randomEmail()
    const { answer, login, visitor } = await signInWith({ email, email_verified: true, name: 'Grace' })
    expect(answer.headers.location).toBe('/settings/profile')
    expect((await visitor.get('/settings/profile')).body).toContain(email)
    expect(await findUsers(email)).toMatchObject([{ name: 'Grace', identities: 1 }])

    const again = await signInWith({ email: randomEmail(), email_verified: false }, login)
    expect(again.answer.headers.location).toBe('/settings/profile')
    expect((await again.visitor.get('/settings/profile')).body).toContain(email)
  })

  it('links an existing account only if the provider has verified the email address', async () => {
    const email = randomEmail()
    await signUp(website, { email, name: 'Ada' })
    const refused = await signInWith({ email, email_verified: false })
    expect(refused.answer.statusCode).toBe(403)
    expect(refused.answer.body).toContain('has not verified your email address')
    expect(refused.visitor.cookies.has('session')).toBe(false)
    expect(await findUsers(email)).toMatchObject([{ identities: 0 }])

    const linked = await signInWith({ email: email.toUpperCase(), email_verified: true })
    expect(linked.answer.statusCode).toBe(303)
    expect(await findUsers(email)).toMatchObject([{ name: 'Ada', identities: 1 }])
  })

  it('deletes a password that was set before the address was verified', async () => {
    const email = randomEmail()
    const attacker = createVisitor(website)
    await attacker.get('/sign-up')
    await attacker.submit('/sign-up', { name: 'Eve', email: email.toUpperCase(), password })
    await signInWith({ email, email_verified: true })
    expect(
      await selectRows(website.db, sql`select email from users where canonical_email = ${email}`),
    ).toEqual([{ email }])
    await attacker.get('/sign-in')
    expect((await attacker.submit('/sign-in', { email, password })).statusCode).toBe(400)
  })

  it.each<Person>([
    { email: 'ADDRESS', email_verified: false, inIdToken: { email_verified: true } },
    { email: 'ADDRESS', email_verified: true, inIdToken: { email_verified: false } },
    { email: 'ADDRESS', email_verified: true, inIdToken: { email: 'ADDRESS', email_verified: false } },
    { email: 'ADDRESS', email_verified: true, inIdToken: { email: 'ADDRESS', email_verified: 'false' } },
    { email: 'ADDRESS', inIdToken: { email: 'ADDRESS' } },
    { email: 'nobody', email_verified: true, inIdToken: { email: 'ADDRESS' } },
    { email: 'other@example.com', email_verified: true, inIdToken: { email: 'ADDRESS' } },
    {
      email: 'other@example.com',
      email_verified: true,
      inIdToken: { email: 'ADDRESS', email_verified: false },
    },
  ])('does not combine claims of the ID token with those of the userinfo endpoint: %j', async (person) => {
    const email = randomEmail()
    await signUp(website, { email, name: 'Ada' })
    const filled = JSON.parse(JSON.stringify(person).replace('ADDRESS', email)) as Person
    const { answer, visitor } = await signInWith(filled)
    expect(answer.statusCode).toBe(403)
    expect(visitor.cookies.has('session')).toBe(false)
    expect(await findUsers(email)).toMatchObject([{ identities: 0 }])
  })

  it.each<Person>([
    { email: 'ADDRESS', email_verified: true, inIdToken: { email: 'ADDRESS' } },
    // Compared as at any sign-in.
    { email: 'UPPER', email_verified: true, inIdToken: { email: ' ADDRESS' } },
    { email: 'ADDRESS', email_verified: 'true' },
    { email: 'ADDRESS', email_verified: 'TRUE', inIdToken: { email: 'ADDRESS' } },
    { email: 'other@example.com', inIdToken: { email: 'ADDRESS', email_verified: 'True' } },
  ])('takes what the ID token lacks from the userinfo endpoint, and text for true: %j', async (person) => {
    const email = randomEmail()
    const text = JSON.stringify(person).replaceAll('ADDRESS', email).replace('UPPER', email.toUpperCase())
    const { answer } = await signInWith(JSON.parse(text) as Person)
    expect(answer.statusCode).toBe(303)
    expect(await findUsers(email)).toMatchObject([{ identities: 1 }])
  })

  it('takes nothing else for true, and logs the claim', async () => {
    for (const isVerified of [1, '1', 'yes', ' true', [true], {}]) {
      website.log.length = 0
      const { answer } = await signInWith({ email: randomEmail(), email_verified: isVerified })
      expect(answer.statusCode, JSON.stringify(isVerified)).toBe(403)
      expect(refusals()).toMatchObject([{ code: 'identity_unverified', claim: 'email_verified' }])
    }
  })

  it('does not ask the userinfo endpoint if the ID token has all claims', async () => {
    const email = randomEmail()
    const before = userInfo.asked
    const inIdToken = { email, email_verified: true, name: 'Ada' }
    expect((await signInWith({ email, inIdToken })).answer.statusCode).toBe(303)
    expect(userInfo.asked).toBe(before)
  })

  it.each([
    { status: 500, type: 'text/html', body: 'down' },
    { status: 403, type: 'application/json', body: '{}' },
    { status: 200, type: 'application/jwt', body: 'e30.e30.e30' },
  ])('fails with the userinfo endpoint only if the address needs it: $status $type', async (fails) => {
    const email = randomEmail()
    userInfo.fails = fails
    try {
      website.log.length = 0
      const thin = await signInWith({ email, email_verified: true, inIdToken: { email } })
      expect(thin.answer.statusCode).toBe(400)
      expect(website.log.join('')).toMatch(/UserInfo|JWT/)
      expect(website.log.join('')).not.toContain('[object')
      const full = await signInWith({ email, inIdToken: { email, email_verified: true } })
      expect(full.answer.statusCode).toBe(303)
    } finally {
      userInfo.fails = undefined
    }
  })

  it('accepts a verified address that only the ID token has', async () => {
    const email = randomEmail()
    const { answer } = await signInWith({
      email: 'other@example.com',
      email_verified: false,
      inIdToken: { email, email_verified: true },
    })
    expect(answer.statusCode).toBe(303)
    expect(await findUsers(email)).toMatchObject([{ identities: 1 }])
  })

  it('accepts only addresses at the configured domains of the provider', async () => {
    const vouch = async (email: string) => {
      const person = { email, email_verified: true }
      const { answer } = await signInWith(person, crypto.randomUUID(), createVisitor(website), 'company')
      return answer.statusCode
    }
    const name = () => crypto.randomUUID()
    website.log.length = 0
    expect(await vouch(`${name()}@Company.example`)).toBe(303)
    expect(await vouch(`${name()}@bücher.example`)).toBe(303)
    for (const domain of [
      'other.example',
      'evil-company.example',
      'sub.company.example',
      'company.example.evil.example',
    ])
      expect(await vouch(`${name()}@${domain}`), domain).toBe(403)
    expect(refusals()).toMatchObject(
      Array.from({ length: 4 }, () => ({
        claim: 'email',
        reason: expect.stringContaining('domain') as string,
      })),
    )
  })

  it('returns 403 when the provider returns no valid email address', async () => {
    website.log.length = 0
    const { answer } = await signInWith({ email: 'nobody', email_verified: true })
    expect(answer.statusCode).toBe(403)
    expect(refusals()).toMatchObject([{ code: 'identity_unverified', claim: 'email' }])
  })
})

describe('the callback of an identity provider', () => {
  it('returns 400 in another browser, a second time, and with changed parameters', async () => {
    const login = crypto.randomUUID()
    people.set(login, { email: randomEmail(), email_verified: true })
    const other = createVisitor(website)
    const visitor = createVisitor(website)
    const back = await signInAt(await begin(visitor), login)
    const path = back.pathname + back.search
    expect((await other.get(path)).statusCode).toBe(400)
    await begin(other)
    expect((await other.get(path)).statusCode).toBe(400)
    expect((await visitor.get(path)).statusCode).toBe(303)
    expect((await visitor.get(path)).statusCode).toBe(400)

    for (const [name, value] of [
      ['state', 'another'],
      ['iss', 'https://evil.example'],
      ['code', 'another'],
      ['error', 'access_denied'],
    ] as const) {
      const again = createVisitor(website)
      const changed = await signInAt(await begin(again), login)
      changed.searchParams.set(name, value)
      const answer = await again.get(changed.pathname + changed.search)
      expect(answer.statusCode, name).toBe(400)
      expect(answer.body).toContain('did not confirm the sign-in')
      expect(again.cookies.has('session')).toBe(false)
    }
  })

  it('returns 400 if the nonce, code verifier or provider in the cookie does not match', async () => {
    const visitor = createVisitor(website)
    await begin(visitor)
    const flow = JSON.parse(
      Buffer.from(String(visitor.cookies.get('identity')), 'base64url').toString(),
    ) as object
    const login = crypto.randomUUID()
    people.set(login, { email: randomEmail(), email_verified: true })
    for (const change of [{ nonce: 'another' }, { codeVerifier: 'a'.repeat(43) }, { provider: 'away' }]) {
      const back = await signInAt(await begin(visitor), login)
      const kept = JSON.parse(
        Buffer.from(String(visitor.cookies.get('identity')), 'base64url').toString(),
      ) as object
      const changed = { ...flow, ...kept, ...change }
      visitor.cookies.set('identity', Buffer.from(JSON.stringify(changed)).toString('base64url'))
      website.log.length = 0
      expect((await visitor.get(back.pathname + back.search)).statusCode).toBe(400)
      const logged = website.log.join('')
      expect(logged).not.toContain('[object')
      if ('nonce' in change) expect(logged).toContain('"claim":"nonce"')
      if ('provider' in change)
        expect(refusals()).toMatchObject([{ reason: expect.stringContaining('browser') as string }])
    }
  })
})

describe('linking an identity provider in the settings', () => {
  const page = '/settings/security/providers'

  /** Links an account as a signed-in person. Returns the path of the callback. */
  async function beginLink(visitor: Visitor, login: string) {
    await visitor.get(page)
    const started = await visitor.submit(`${page}/example/link`)
    expect(started.statusCode).toBe(303)
    const back = await signInAt(String(started.headers.location), login)
    return back.pathname + back.search
  }

  async function link(visitor: Visitor, login: string) {
    const path = await beginLink(visitor, login)
    return visitor.get(String((await visitor.get(path)).headers.location))
  }

  it('lets the person sign in with it, whatever its email address, and notifies them', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const login = crypto.randomUUID()
    people.set(login, { email: randomEmail(), email_verified: false })
    expect(noticeOn((await link(visitor, login)).body)).toBe('Your account at Example ID was linked.')
    await website.waitForMail(email, /Example ID was linked/)
    const back = await signInAt(await begin(createVisitor(website)), login)
    expect(back.pathname).toContain('/callback')
    const other = await signInWith({ email: randomEmail(), email_verified: false }, login)
    expect((await other.visitor.get('/settings/profile')).body).toContain(email)
  })

  it('refuses an account that is linked to another person', async () => {
    const login = crypto.randomUUID()
    const first = await signInWith({ email: randomEmail(), email_verified: true }, login)
    const visitor = await signUp(website, { email: randomEmail() })
    website.log.length = 0
    expect((await link(visitor, login)).body).toContain('belongs to another person')
    expect(refusals()).toMatchObject([{ code: 'identity_taken', claim: 'sub' }])
    expect((await first.visitor.get(page)).body).toContain('Unlink')
    expect((await visitor.get(page)).body).not.toContain('Unlink')
  })

  it('returns 400 in another session, and 403 without a valid CSRF token', async () => {
    const [visitor, other] = [
      await signUp(website, { email: randomEmail() }),
      await signUp(website, { email: randomEmail() }),
    ]
    const login = crypto.randomUUID()
    people.set(login, { email: randomEmail(), email_verified: true })
    const path = await beginLink(visitor, login)
    other.cookies.set('identity', String(visitor.cookies.get('identity')))
    expect((await other.get(path)).statusCode).toBe(400)
    expect((await other.get(page)).body).not.toContain('Unlink')
    await visitor.get(page)
    expect((await visitor.post(`${page}/example/link`, { _csrf: 'another' })).statusCode).toBe(403)
  })

  it('rejects sign-ins with 403 after it is unlinked, until it is linked again', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const { login } = await signInWith({ email, email_verified: true })
    await website.waitForMail(email, /was linked to your account/)
    await visitor.get(page)
    const unlinked = await visitor.submit(`${page}/example/unlink`)
    expect(noticeOn(unlinked.body)).toBe('Your account at Example ID was unlinked.')
    await website.waitForMail(email, /Example ID was unlinked/)
    website.log.length = 0
    const refused = await signInWith({ email, email_verified: true }, login)
    expect(refused.answer.statusCode).toBe(403)
    expect(refusals()).toMatchObject([{ code: 'identity_unlinked', claim: 'sub' }])
    expect(refused.answer.body).toContain('You have unlinked this account')
    await link(visitor, login)
    expect((await signInWith({ email, email_verified: true }, login)).answer.statusCode).toBe(303)
  })

  it('returns 409 when the person unlinks their only way to sign in', async () => {
    const { visitor } = await signInWith({ email: randomEmail(), email_verified: true })
    await visitor.get(page)
    const answer = await visitor.submit(`${page}/example/unlink`)
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('Set a password or add a passkey first.')
  })
})

describe('an identity provider', () => {
  it('returns 404 if it is not configured', async () => {
    expect((await createVisitor(website).get('/sign-in/with/other')).statusCode).toBe(404)
  })

  it('shows a page with other ways to sign in if it cannot be reached', async () => {
    const answer = await createVisitor(website).get('/sign-in/with/away')
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('sign in with a password or an emailed link')
  })
})
