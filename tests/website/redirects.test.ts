import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteExpiredFlashes } from '../../src/forms/flashes.repository.ts'
import { deleteExpiredSentForms } from '../../src/forms/sent-forms.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { randomEmail } from '../support/company.ts'
import { buildUpload } from '../support/forms.ts'
import { formsIn, noteRoutes } from '../support/note-routes.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { addMember } from '../support/workspaces.ts'
import {
  createVisitor,
  csrfTokenOf,
  noticeOn,
  password,
  signInAs,
  startWebsite,
  type Visitor,
} from './visitor.ts'

const clock = createTestClock()
const { started: website, routes } = await noteRoutes(() => startWebsite({ clock, environment: {} }))

async function signIn() {
  const person = await website.createPerson()
  return { person, visitor: await signInAs(website, person) }
}

/** A workspace of a person who is signed in. */
async function startWorkspace() {
  const { person, visitor } = await signIn()
  const slug = `acme-${crypto.randomUUID().slice(0, 8)}`
  await visitor.get('/onboarding')
  await visitor.post('/onboarding', { name: 'Acme', slug })
  return { person, visitor, base: `/w/${slug}` }
}

const escaped = 'אדה &lt;b&gt;'

/** Creates a team by the form; returns its path. */
async function startTeam(visitor: Visitor, base: string, name: string): Promise<string> {
  return locationOf(await visitor.post(`${base}/teams`, { name }))
}

async function idOf(base: string): Promise<string> {
  const [row] = await selectRows<{ id: string }>(
    website.db,
    sql`select id from workspaces where slug = ${base.slice(3)}`,
  )
  return String(row?.id)
}

const keysUrl = '/settings/security/api-keys'
const keysOf = async ({ id }: { id: string }) =>
  // The first one is that of the person.
  (await selectRows(website.db, sql`select name from api_keys where user_id = ${id} order by id`)).slice(1)
const locationOf = (answer: { headers: { location?: unknown } }) => String(answer.headers.location)

/** Scripts send these, and read the answer. */
const scriptPaths = ['/sign-in/passkey/options', '/settings/security/passkeys/options']

describe('every form', () => {
  const paths = formsIn(routes).filter((url) => !scriptPaths.includes(url))

  it('responds with a redirect, or with an error page without a form', async () => {
    const { visitor, base } = await startWorkspace()
    expect(paths.length).toBeGreaterThan(40)
    for (const path of paths) {
      const url = path.replace('/w/:slug', base).replaceAll(/:\w+/g, crypto.randomUUID())
      // These end the session that the other forms need.
      const by = path === '/sign-out' || path.endsWith('/switch') ? (await signIn()).visitor : visitor
      await by.get('/onboarding')
      const isUpload = /\/(?:photo|icon|attachments|import)$/.test(path)
      const answer = isUpload ? await upload(by, url) : await by.post(url)
      // Scripts get JSON.
      const isPage = String(answer.headers['content-type']).startsWith('text/html')
      if (answer.statusCode === 303 || (answer.statusCode === 200 && !isPage)) continue
      expect(answer.statusCode, path).toBeGreaterThanOrEqual(400)
      expect(answer.statusCode, path).toBeLessThan(500)
      const main = /<main[^]*<\/main>/.exec(answer.body)?.[0] ?? ''
      expect(main, path).not.toContain('<form')
    }
  })

  it('responds with a redirect when it is filled in', async () => {
    const { visitor, base } = await startWorkspace()
    const forms: [url: string, fields: Record<string, string>][] = [
      ['/settings/profile', { name: 'Grace' }],
      ['/settings/notifications', {}],
      [keysUrl, { name: 'Laptop' }],
      [`${base}/invites`, { email: randomEmail(), role: 'member' }],
      [`${base}/teams`, { name: 'Looms' }],
      [`${base}/seeds/new`, { title: 'A seed', summary: 'What it is about' }],
      [`${base}/settings`, { name: 'Acme', slug: base.slice(3), allowedDomains: '' }],
      ['/sign-up', { name: 'Grace', email: randomEmail(), password }],
      ['/verify', { email: randomEmail() }],
      ['/forgot', { email: randomEmail() }],
      ['/sign-in/link', { email: randomEmail() }],
    ]
    for (const [url, fields] of forms) {
      await visitor.get('/onboarding')
      const answer = await visitor.post(url, fields)
      expect(answer.statusCode, url).toBe(303)
      expect((await visitor.get(locationOf(answer))).statusCode, url).toBe(200)
    }
  })
})

async function upload(visitor: Visitor, url: string) {
  const { headers, payload } = buildUpload(csrfTokenOf(visitor.page()), { name: '_csrf' })
  return website.app.inject({
    method: 'POST',
    url,
    headers: { ...headers, accept: 'text/html', cookie: `session=${String(visitor.cookies.get('session'))}` },
    payload,
  })
}

describe('a rejected form', () => {
  it('is shown again with the typed values for ten minutes, also after a reload', async () => {
    const { visitor } = await startWorkspace()
    await visitor.get('/onboarding')
    const location = locationOf(await visitor.post('/onboarding', { name: 'Typed name', slug: 'settings' }))
    for (let i = 0; i < 2; i++) {
      const page = await visitor.get(location)
      expect(page.statusCode).toBe(400)
      expect(page.body).toContain('<title>Error: ')
      expect(page.body).toContain('value="Typed name"')
      expect(/id="slug-error"[^>]*>([^<]*)</.exec(page.body)?.[1]).toBe(errors.slugReserved.message)
    }
    clock.advance(10 * 60 * 1000 + 1)
    const late = await visitor.get(location)
    expect(late.statusCode).toBe(200)
    expect(late.body).not.toContain('Typed name')
  })

  it('is shown only in the session that sent it', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/onboarding')
    const location = locationOf(await visitor.post('/onboarding', { name: 'Typed name', slug: 'settings' }))
    for (const other of [await signInAs(website, person), (await signIn()).visitor]) {
      const page = await other.get(location)
      expect(page.statusCode).toBe(200)
      expect(page.body).not.toContain('Typed name')
    }
  })

  it('is stored encrypted, at most 20 times per session, and deleted after it expires', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/onboarding')
    for (let i = 0; i < 25; i++) {
      clock.advance(1)
      await visitor.post('/onboarding', { name: `Typed name ${i}`, slug: 'settings' })
    }
    const stored = () =>
      selectRows<{ text: string }>(
        website.db,
        sql`select encode(sealed, 'escape') as text from flashes
            join sessions on sessions.id = session_id where sessions.user_id = ${person.id}`,
      )
    const rows = await stored()
    expect(rows).toHaveLength(20)
    for (const { text } of rows) expect(text).not.toContain('Typed name')
    clock.advance(10 * 60 * 1000)
    await deleteExpiredFlashes(website.db, clock.now())
    expect(await stored()).toEqual([])
  })

  it('does not keep passwords', async () => {
    const visitor = createVisitor(website)
    await visitor.get('/sign-up')
    const answer = await visitor.submit('/sign-up', {
      name: 'Grace',
      email: randomEmail(),
      password: 'short one',
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('value="Grace"')
    expect(answer.body).not.toContain('short one')
  })

  it('returns 429 with Retry-After, and says how long to wait', async () => {
    const limited = await startWebsite({ environment: { SIGN_IN_LIMIT_PER_MINUTE: '1' } })
    const visitor = createVisitor(limited)
    const email = randomEmail()
    await visitor.get('/sign-in')
    await visitor.submit('/sign-in', { email, password })
    const location = locationOf(await visitor.post('/sign-in', { email, password }))
    const page = await visitor.get(location)
    expect(page.statusCode).toBe(429)
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(0)
    expect(page.body).toMatch(/Try again in \d+ second/)
    expect(page.body).toContain(`value="${email}"`)
  })

  it('is kept for a visitor in a cookie of at most 3,500 bytes that no other visitor can use', async () => {
    const visitor = createVisitor(website)
    await visitor.get('/sign-up')
    const name = '‮ deceptive'
    const location = locationOf(
      await visitor.post('/sign-up', { name, email: 'typed@example.com', password }),
    )
    expect((await visitor.get(location)).body).toContain('value="typed@example.com"')
    const other = createVisitor(website)
    await other.get('/sign-up')
    for (const value of [String(visitor.cookies.get('flash')), 'x', '']) {
      other.cookies.set('flash', value)
      const page = await other.get(location)
      expect(page.statusCode).toBe(200)
      expect(page.body).not.toContain('typed@example.com')
    }
    const long = await visitor.submit('/sign-up', { name: 'x'.repeat(5000), email: 'typed@example.com' })
    expect(String(visitor.cookies.get('flash')).length).toBeLessThan(3_500)
    expect(long.statusCode).toBe(400)
    expect(long.body).not.toContain('typed@example.com')
  })

  it('keeps the typed values when its CSRF token is invalid, if it was sent from the website', async () => {
    const { visitor, base } = await startWorkspace()
    const ours = { referer: `${website.config.webUrl}${base}/seeds/new`, 'sec-fetch-site': 'same-origin' }
    const fields = { _csrf: 'of another session', title: 'A typed title', summary: 'Typed too' }
    const page = await visitor.submit(`${base}/seeds/new`, fields, ours)
    expect(page.statusCode).toBe(403)
    expect(page.body).toContain(errors.formExpired.message)
    expect(page.body).toContain('value="A typed title"')
    for (const headers of [
      { ...ours, 'sec-fetch-site': 'cross-site' },
      { ...ours, referer: 'https://evil.example/seeds/new' },
      { referer: ours.referer },
    ] as Record<string, string>[]) {
      const refused = await visitor.post(`${base}/seeds/new`, fields, headers)
      expect(refused.statusCode).toBe(403)
      expect(refused.body).not.toContain('A typed title')
    }
  })

  it('returns to the list page that it was sent from', async () => {
    const { visitor, base } = await startWorkspace()
    await visitor.get(`${base}/invites`)
    const wrong = { email: 'no-address', role: 'member' }
    const locationFrom = async (referer: string) =>
      locationOf(await visitor.post(`${base}/invites`, wrong, { 'sec-fetch-site': 'same-origin', referer }))
    const { webUrl } = website.config
    expect(await locationFrom(`${webUrl}${base}/invites?cursor=abc&done=saved&flash=old`)).toMatch(
      new RegExp(`^${base}/invites\\?cursor=abc&flash=[\\w-]{43}$`),
    )
    for (const other of [`${webUrl}/onboarding?cursor=abc`, `https://evil.example${base}/invites?cursor=abc`])
      expect(await locationFrom(other)).toMatch(new RegExp(`^${base}/invites\\?flash=[\\w-]{43}$`))
  })
})

describe('the secret of a new API key', () => {
  it('is shown once, in the session that created it', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/settings/security')
    const location = locationOf(await visitor.post(keysUrl, { name: 'Laptop' }))
    const other = await signInAs(website, person)
    expect((await other.get(location)).body).not.toContain('value="wsk_')
    const pages = await Promise.all([visitor.get(location), visitor.get(location)])
    expect(pages.map(({ body }) => body.includes('value="wsk_')).toSorted()).toEqual([false, true])
    expect((await visitor.get(location)).body).not.toContain('value="wsk_')
    expect(await keysOf(person)).toHaveLength(1)
  })
})

describe('the notice after a change', () => {
  it('names the changed item once, escaped and isolated, and is not in the URL', async () => {
    const { person, visitor, base } = await startWorkspace()
    const name = 'אדה <b>'
    const other = await website.createPerson({ name })
    const path = await startTeam(visitor, base, name)
    await addMember(website, { id: await idOf(base) }, other, 'member')
    const done: [form: string, fields: Record<string, string>, isolated: string][] = [
      [`${path}/members`, { userId: other.id }, `<bdi>${escaped}</bdi> was added to the team.`],
      [`${path}/members/${other.id}/remove`, {}, `<bdi>${escaped}</bdi> was removed from the team.`],
      [`${path}/members`, { userId: person.id }, 'You joined the team.'],
      [`${path}/members/${person.id}/remove`, {}, 'You left the team.'],
      [`${path}/delete`, {}, `“<bdi>${escaped}</bdi>” was deleted.`],
      [`${base}/members/${other.id}/role`, { role: 'admin' }, `<bdi>${escaped}</bdi> is now`],
      [`${base}/members/${other.id}/remove`, {}, `<bdi>${escaped}</bdi> was removed from the workspace.`],
    ]
    for (const [form, fields, isolated] of done) {
      const location = locationOf(await visitor.post(form, fields))
      expect(location, form).toMatch(/^[\w/-]+\?flash=[\w-]{43}$/)
      expect((await visitor.get(location)).body, form).toContain(isolated)
      const again = await visitor.get(location)
      expect(again.statusCode, form).toBe(200)
      expect(noticeOn(again.body), form).toBeUndefined()
    }
  })

  it('is shown only in the session that sent the form', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/settings/profile')
    const location = locationOf(await visitor.post('/settings/profile', { name: 'Grace' }))
    const other = await signInAs(website, person)
    expect(noticeOn((await other.get(location)).body)).toBeUndefined()
    expect(noticeOn((await visitor.get(location)).body)).toBe('Saved.')
  })
})

describe('a form that is sent twice', () => {
  it('takes effect once, also when sent concurrently, and redirects to the same URL', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/settings/security')
    const _csrf = csrfTokenOf(visitor.page())
    const send = async (name: string) => locationOf(await visitor.post(keysUrl, { _csrf, name }))
    const [first, ...others] = await Promise.all([send('Laptop'), send('Laptop'), send('Laptop')])
    expect(new Set([first, ...others, await send('Laptop')]).size).toBe(1)
    expect(await keysOf(person)).toEqual([{ name: 'Laptop' }])
    // Other fields make another form, and so does another view of the page.
    await send('Desktop')
    await visitor.get('/settings/security')
    await visitor.post(keysUrl, { name: 'Laptop' })
    expect(await keysOf(person)).toEqual([{ name: 'Laptop' }, { name: 'Desktop' }, { name: 'Laptop' }])
  })

  it.each([
    ['invites', { email: 'x@example.com', role: 'member' }],
    ['teams', { name: 'Looms' }],
    ['seeds/new', { title: 'A seed', summary: 'What it is about' }],
  ])('creates one event for %s', async (path, fields) => {
    const { visitor, base } = await startWorkspace()
    await visitor.get(base)
    const _csrf = csrfTokenOf(visitor.page())
    const answers = [
      await visitor.post(`${base}/${path}`, { ...fields, _csrf }),
      await visitor.post(`${base}/${path}`, { ...fields, _csrf }),
    ]
    expect(new Set(answers.map(locationOf)).size).toBe(1)
    expect((await visitor.get(locationOf(answers[1] ?? { headers: {} }))).statusCode).toBe(200)
    const [row] = await selectRows<{ count: number }>(
      website.db,
      sql`select count(*)::int from events join workspaces on workspaces.id = workspace_id
          where slug = ${base.slice(3)} and type <> 'workspace.created'`,
    )
    expect(row?.count).toBe(1)
  })

  it('can be sent again after it was rejected', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/onboarding')
    const _csrf = csrfTokenOf(visitor.page())
    const slug = `late-${crypto.randomUUID().slice(0, 8)}`
    const other = await startWorkspace()
    await other.visitor.get(`${other.base}/settings`)
    const rename = (to: string) =>
      other.visitor.post(`${other.base}/settings`, { name: 'Acme', slug: to, allowedDomains: '' })
    await rename(slug)
    const send = () => visitor.submit('/onboarding', { _csrf, name: 'Late', slug })
    expect((await send()).statusCode).toBe(409)
    expect((await send()).statusCode).toBe(409)
    await website.db.execute(sql`delete from workspaces where slug = ${slug}`)
    expect(locationOf(await send())).toBe(`/w/${slug}`)
    expect(
      await selectRows(website.db, sql`select 1 from memberships where user_id = ${person.id}`),
    ).toHaveLength(1)
  })

  it('returns 409 and has no effect when the result of the first request is unknown; its record is deleted after ten minutes', async () => {
    const { person, visitor } = await signIn()
    await visitor.get('/settings/security')
    const _csrf = csrfTokenOf(visitor.page())
    await visitor.post(keysUrl, { _csrf, name: 'Laptop' })
    await website.db.execute(
      sql`update sent_forms set location = null
          where session_id in (select id from sessions where user_id = ${person.id})`,
    )
    const again = await visitor.submit(keysUrl, { _csrf, name: 'Laptop' })
    expect(again.statusCode).toBe(409)
    expect(again.body).toContain(errors.formSent.message)
    expect(await keysOf(person)).toHaveLength(1)
    clock.advance(10 * 60 * 1000)
    await deleteExpiredSentForms(website.db, clock.now())
    expect(await selectRows(website.db, sql`select 1 from sent_forms`)).toEqual([])
  })
})
