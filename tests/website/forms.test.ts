import { describe, expect, it } from 'vitest'
import { formsIn, noteRoutes } from '../support/note-routes.ts'
import { randomEmail } from '../support/company.ts'
import { clone } from '../support/test-app.ts'
import {
  cookiesOf,
  createVisitor,
  csrfTokenOf,
  password,
  signUp,
  startWebsite,
  type Visitor,
} from './visitor.ts'

const { started: website, routes } = await noteRoutes(() => startWebsite({ environment: {} }))
const grace = await signUp(website, { email: randomEmail() })

/** The paths of all forms of the website, except upload forms. */
const forms = formsIn(routes)
  .filter((url) => !isUpload(url))
  .map((url) => url.replace(':slug', 'acme').replaceAll(/:\w+/g, 'id'))

function isUpload(url: string): boolean {
  return /\/(?:photo|icon|attachments|import)$/.test(url)
}

it('finds all forms of the website', () => {
  expect(forms).toEqual(
    expect.arrayContaining(['/sign-in', '/onboarding', '/w/acme/settings', '/agent/oauth/consent/id']),
  )
  expect(forms.length).toBeGreaterThan(40)
})

describe.each(forms)('the form %s', (path) => {
  it('accepts only the CSRF token of this session, sent from the website, and returns 403 otherwise', async () => {
    await grace.get('/onboarding')
    const token = csrfTokenOf(grace.page())
    const stranger = createVisitor(website)
    await stranger.get('/sign-in')
    const foreign = csrfTokenOf(stranger.page())
    expect(foreign).not.toBe(token)
    for (const wrong of ['', 'wrong', foreign, `${token}x`, 'ä'.repeat(43)]) {
      const answer = await grace.submit(path, { _csrf: wrong })
      expect(answer.statusCode, wrong).toBe(403)
      expect(answer.body).toContain('Please try again')
    }
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      expect((await grace.submit(path, { _csrf: token }, headers)).statusCode).toBe(403)
    }
    // These would end the session that the other forms need.
    if (path === '/sign-out' || path.endsWith('/switch')) return
    const headers = { origin: website.config.webUrl, 'sec-fetch-site': 'same-origin' }
    const right = await grace.submit(path, { _csrf: token }, headers)
    expect(right.body).not.toContain('Please try again')
    expect(right.statusCode).toBeLessThan(500)
  })
})

describe('upload forms', () => {
  it.each(['/settings/profile/photo', '/w/acme/settings/icon'])(
    '%s returns 403 without a CSRF token',
    async (path) => {
      const boundary = 'x'
      const payload = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nx\r\n--${boundary}--\r\n`
      const answer = await website.app.inject({
        method: 'POST',
        url: path,
        payload,
        headers: {
          'content-type': `multipart/form-data; boundary=${boundary}`,
          cookie: cookiesOf(grace),
        },
      })
      expect(answer.statusCode).toBe(403)
    },
  )
})

/** Creates a workspace, a team, a second member and two API keys, all of the same name. */
async function joinWorkspace(owner: Visitor, name: string) {
  const slug = `w-${crypto.randomUUID().slice(0, 8)}`
  const path = `/w/${slug}`
  await owner.get('/onboarding')
  await owner.submit('/onboarding', { name, slug })
  await owner.get(`${path}/teams`)
  await owner.submit(`${path}/teams`, { name })
  const email = randomEmail()
  const visitor = await signUp(website, { name, email })
  for (const person of [owner, visitor]) {
    await person.get('/settings/security')
    await person.submit('/settings/security/api-keys', { name })
  }
  await owner.get(`${path}/invites`)
  const sent = await owner.submit(`${path}/invites`, { email, role: 'member' })
  const link = new URL(/value="([^"]*\/invites\/[^"]*)"/.exec(sent.body)?.[1] ?? '').pathname
  const page = await visitor.get(link)
  expect(page.body.match(/<bdi>[^<]*<\/bdi>/g)).toContain(`<bdi>${name}</bdi>`)
  // Also in the notice that is shown once.
  expect((await visitor.submit(link)).body).toContain(`You joined <bdi>${name}</bdi> as`)
  return { visitor, path }
}

describe('user input', () => {
  const hostile = `"><script>alert(1)</script>'&amp;`

  it('is escaped on every page', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { name: hostile, email })
    await visitor.get('/onboarding')
    const slug = `evil-${crypto.randomUUID().slice(0, 8)}`
    expect((await visitor.submit('/onboarding', { name: hostile, slug })).headers.location).toBe(`/w/${slug}`)
    await visitor.get(`/w/${slug}/teams`)
    const team = String((await visitor.submit(`/w/${slug}/teams`, { name: hostile })).headers.location)
    await visitor.get('/settings/security')
    await visitor.submit('/settings/security/api-keys', { name: hostile }, { 'user-agent': hostile })
    for (const path of [
      `/w/${slug}`,
      `/w/${slug}/members`,
      `/w/${slug}/teams`,
      team,
      `/w/${slug}/settings`,
      '/settings/security',
      '/settings/profile',
      '/onboarding',
    ]) {
      const { body, statusCode } = await visitor.get(path)
      expect(statusCode, path).toBe(200)
      expect(body, path).toContain('&lt;script&gt;')
      expect(body, path).not.toContain('<script>')
    }
  })

  it('is isolated, so that right-to-left text does not reorder the text around it', async () => {
    const name = 'אדה'
    const visitor = await signUp(website, { name, email: randomEmail() })
    const { visitor: second, path: joined } = await joinWorkspace(visitor, name)
    for (const path of [
      joined,
      `${joined}/members`,
      `${joined}/teams`,
      `${joined}/agents`,
      '/settings/security',
    ]) {
      for (const reader of [visitor, second]) {
        const { body, statusCode } = await reader.get(path)
        expect(statusCode, path).toBe(200)
        expect(body, path).toContain(`<bdi>${name}`)
        // Attributes, titles and options contain only text.
        const rest = body.replace(/<(title|option)\b.*?<\/\1>|<bdi\b[^<]*<\/bdi\s*>|="[^"]*"/gs, '')
        expect(rest, path).not.toContain(name)
      }
    }
  })

  it.each(['Grace \u202erepolevoH', 'Gra\u200bce', 'Grace\u{e0041}', '\u3164'])(
    'returns 400 for a deceptive name: %j',
    async (name) => {
      await grace.get('/settings/profile')
      const answer = await grace.submit('/settings/profile', { name })
      expect(answer.statusCode).toBe(400)
      expect((await grace.get('/settings/profile')).body).toContain('value="Grace Hopper"')
    },
  )

  it('is escaped in paths, query parameters and rejected forms', async () => {
    const visitor = createVisitor(website)
    for (const path of [
      `/sign-in?next=${encodeURIComponent(`/${hostile}`)}`,
      `/sign-in?done=${encodeURIComponent(hostile)}`,
      `/${encodeURIComponent(hostile)}`,
      `/reset/${encodeURIComponent(hostile)}`,
    ]) {
      expect((await visitor.get(path)).body, path).not.toContain('<script>')
    }
    await visitor.get('/sign-in')
    expect((await visitor.submit('/sign-in', { email: hostile, password })).body).not.toContain('<script>')
  })
})

describe('every page', () => {
  it.each(['/', '/sign-in', '/onboarding', '/settings/security', '/no-such-page', '/w/no-such-workspace'])(
    '%s has strict security headers',
    async (path) => {
      const visitor = path === '/' || path === '/sign-in' ? createVisitor(website) : grace
      const { headers, body } = await visitor.get(path)
      expect(headers['content-security-policy']).toBe(
        `default-src 'none';style-src 'self';script-src 'self';img-src 'self' data: http://localhost:3000;` +
          `connect-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'`,
      )
      expect(headers['cache-control']).toBe('private, no-store')
      expect(headers['referrer-policy']).toBe('same-origin')
      expect(headers['x-frame-options']).toBe('DENY')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(body).not.toMatch(/ style=| on[a-z]+=|<script>|<style/)
    },
  )

  it('returns 404 for an unknown path, as HTML to browsers and as JSON to other clients', async () => {
    const page = await grace.get('/no-such-page')
    expect(page.statusCode).toBe(404)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body).toContain('No page has this address.')
    for (const path of ['/v1/no-such-thing', '/agent/no-such-thing', '/.well-known/nothing'])
      expect((await grace.get(path)).headers['content-type']).toBe('application/json; charset=utf-8')
    expect((await website.app.inject('/no-such-page')).json()).toMatchObject({ code: 'route_not_found' })
  })

  it('returns 403 for a workspace of others, 404 for an unknown one, and redirects visitors to sign in', async () => {
    const other = await signUp(website, { email: randomEmail() })
    await other.get('/onboarding')
    const slug = `acme-${crypto.randomUUID().slice(0, 8)}`
    await other.submit('/onboarding', { name: 'Acme', slug })
    expect((await grace.get(`/w/${slug}`)).statusCode).toBe(403)
    expect((await grace.get(`/w/${slug}`)).body).toContain('You are not a member of this workspace.')
    expect((await grace.get('/w/no-such-workspace')).statusCode).toBe(404)
    expect((await createVisitor(website).get(`/w/${slug}`)).headers.location).toBe(
      `/sign-in?next=${encodeURIComponent(`/w/${slug}`)}`,
    )
  })

  it('loads assets from immutable URLs that contain a hash of their content', async () => {
    const { body } = await grace.get('/onboarding')
    const urls = [...body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url = '']) => url)
    expect(new Set(urls).size).toBe(3)
    for (const url of new Set(urls)) {
      expect(url).toMatch(/^\/assets\/(site|icon)-[\w-]{12}\.(css|js|svg)$/)
      const asset = await website.app.inject(url)
      expect(asset.statusCode).toBe(200)
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
  })
})

describe('the website over HTTPS', () => {
  it('prefixes the names of cookies with __Host-', async () => {
    const secure = await startWebsite({
      environment: { DATABASE_URL: await clone(), BASE_URL: 'https://work.example' },
    })
    const visitor = await signUp(secure, { email: randomEmail() })
    const answer = await visitor.get('/onboarding')
    expect([...visitor.cookies.keys()].toSorted()).toEqual(['__Host-browser', '__Host-session'])
    expect(answer.headers['strict-transport-security']).toBeDefined()
    await visitor.submit('/sign-out')
    const [cookie] = (await createVisitor(secure).get('/sign-in')).cookies
    expect(cookie).toMatchObject({
      name: '__Host-visitor',
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
    })
  })
})

describe('the website on an origin of its own', () => {
  it('redirects page requests from the API origin, and ignores the Host header in links', async () => {
    const apart = await startWebsite({
      environment: {
        DATABASE_URL: await clone(),
        BASE_URL: 'https://api.example',
        WEB_URL: 'https://app.example',
      },
    })
    const visitor = createVisitor(apart)
    const led = await visitor.get('/sign-in?next=/onboarding', { host: 'api.example' })
    expect(led.headers.location).toBe('https://app.example/sign-in?next=/onboarding')
    expect((await visitor.get('/sign-in', { host: 'app.example' })).statusCode).toBe(200)
    const forged = await visitor.get('/sign-in', { host: 'evil.example', 'x-forwarded-host': 'evil.example' })
    expect(JSON.stringify(forged.headers) + forged.body).not.toContain('evil.example')
    const email = randomEmail()
    await visitor.submit('/sign-up', { name: 'Grace', email, password }, { host: 'evil.example' })
    expect((await apart.waitForMail(email, /Verify/)).text).toContain('https://app.example/verify-email/')
  })
})
