import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { endedSessionKnownMs, flashKey, keptFormLifetimeMs } from '../../src/forms/flashes.service.ts'
import { seedTextLengthMax, seedTitleLengthMax } from '../../src/domain/seeds.ts'
import { unseal } from '../../src/kernel/sealing.ts'
import { randomEmail } from '../support/company.ts'
import { selectRows } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { randomSlug } from '../support/workspaces.ts'
import { createVisitor, fieldsOf, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { db } = website

/** A person with a workspace, who has opened the form of a new seed. */
async function openForm() {
  const email = randomEmail()
  const visitor = await signUp(website, { email })
  const slug = randomSlug()
  await visitor.get('/onboarding')
  await visitor.submit('/onboarding', { name: 'Acme', slug })
  const path = `/w/${slug}/seeds/new`
  const { body } = await visitor.get(path)
  return { email, visitor, path, form: fieldsOf(body, path) }
}

type Opened = Awaited<ReturnType<typeof openForm>>

/** Sends the form from its page, as a browser does. */
function send({ visitor, path, form }: Opened, fields: Record<string, string>, headers = {}) {
  return visitor.post(
    path,
    { ...form, ...fields },
    { 'sec-fetch-site': 'same-origin', referer: website.config.webUrl + path, ...headers },
  )
}

async function signOut(visitor: Visitor): Promise<void> {
  await visitor.get('/onboarding')
  expect((await visitor.submit('/sign-out')).statusCode).toBe(303)
}

/** Signs in on the page that a redirect leads to. Returns the page after that. */
async function signIn(visitor: Visitor, email: string, location: string) {
  const { body } = await visitor.get(location)
  const answer = await visitor.post('/sign-in', { ...fieldsOf(body, '/sign-in'), email, password })
  expect(answer.statusCode, answer.body).toBe(303)
  return visitor.open(String(answer.headers.location))
}

async function countKept(): Promise<number> {
  const rows = await selectRows(db, sql`select 1 from flashes where user_id is not null`)
  return rows.length
}

const seed = { title: 'Fewer meetings', summary: 'A day of none.' }

describe('a form that is sent after the session ended', () => {
  it('is shown again with all its texts after signing in, up to their maximum lengths, and can be sent', async () => {
    const opened = await openForm()
    const { email, path, visitor } = opened
    const long = 'ä'.repeat(seedTextLengthMax)
    const texts = {
      title: 'é'.repeat(seedTitleLengthMax),
      summary: long,
      problem: long,
      audience: long,
      hypothesis: long,
      successCriteria: Array.from({ length: 20 }, (_, i) => `${i}`.repeat(100)).join('\r\n'),
    }
    await signOut(visitor)
    const answer = await send(opened, texts)
    expect(answer.statusCode).toBe(303)
    const location = String(answer.headers.location)
    expect((await visitor.get(location)).body).toContain('Sign in to continue. What you wrote is kept')
    const page = await signIn(visitor, email, location)
    expect(page.statusCode).toBe(409)
    expect(page.body).toContain('You were signed out before this was sent.')
    const shown = fieldsOf(page.body, path)
    expect(shown).toMatchObject(texts)
    const created = await visitor.post(path, shown)
    expect(created.headers.location).toMatch(/\/seeds\/[0-9a-f-]{36}/)
  })

  it('is shown again after another browser ended the session', async () => {
    const opened = await openForm()
    const { email, path, visitor } = opened
    await db.execute(sql`delete from flashes`)
    const other = createVisitor(website)
    await signIn(other, email, '/sign-in')
    await other.get('/settings/security')
    await other.submit('/settings/security/sessions/end-others')
    const answer = await send(opened, seed)
    const page = await signIn(visitor, email, String(answer.headers.location))
    expect(fieldsOf(page.body, path)).toMatchObject(seed)
  })

  it('is shown neither to another person in this browser nor to the same person in another browser', async () => {
    const opened = await openForm()
    const { visitor } = opened
    const stranger = randomEmail()
    await signUp(website, { email: stranger })
    await signOut(visitor)
    const location = String((await send(opened, seed)).headers.location)
    const page = await signIn(visitor, stranger, location)
    expect(page.body).not.toContain(seed.title)
    const next = new URL(location, 'http://x').searchParams.get('next') ?? ''
    const onboarding = next.replace(/^[^?]*/, '/onboarding')
    expect((await visitor.get(onboarding)).body).not.toContain(seed.title)
    // The person in another browser, which does not have the cookie that the form is sealed under.
    const elsewhere = createVisitor(website)
    const other = await signIn(elsewhere, opened.email, location)
    expect(other.statusCode).toBe(200)
    expect(other.body).not.toContain(seed.title)
  })

  it.each<[string, Record<string, string>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from outside the website', { referer: 'https://evil.example/', 'sec-fetch-site': 'none' }],
  ])('is not kept when it is sent %s', async (_, headers) => {
    const opened = await openForm()
    await signOut(opened.visitor)
    const before = await countKept()
    const answer = await send(opened, seed, headers)
    expect(answer.headers.location ?? '').not.toContain('flash')
    expect(await countKept()).toBe(before)
  })

  it('is not kept for an unknown visitor, without its CSRF token, or for an unknown former session', async () => {
    const opened = await openForm()
    const { visitor } = opened
    await signOut(visitor)
    const before = await countKept()
    const refused = [
      await send({ ...opened, form: { _csrf: 'x' } }, seed),
      await send({ ...opened, visitor: createVisitor(website) }, seed),
    ]
    visitor.cookies.set('former-session', 'x'.repeat(43))
    refused.push(await send(opened, seed))
    for (const answer of refused) expect(answer.headers.location).toBe('/sign-in')
    expect(await countKept()).toBe(before)
  })

  it('is stored encrypted, and without passwords', async () => {
    const { email, visitor } = await openForm()
    const path = '/settings/security'
    const form = fieldsOf((await visitor.get(path)).body, `${path}/password`)
    await signOut(visitor)
    await visitor.post(
      `${path}/password`,
      { ...form, password: 'the new password', currentPassword: password, note: 'kept' },
      { 'sec-fetch-site': 'same-origin', referer: website.config.webUrl + path },
    )
    const [row] = await selectRows<{ sealed: Buffer }>(
      db,
      sql`select sealed from flashes join users on users.id = user_id where email = ${email}`,
    )
    if (!row) throw new Error('nothing was kept')
    expect(row.sealed.toString('latin1')).not.toContain('kept')
    const text = unseal(row.sealed, flashKey(String(visitor.cookies.get('former-session'))))
    expect(JSON.parse(text)).toMatchObject({ values: { note: 'kept' } })
    expect(text).not.toContain(password)
    expect(text).not.toContain('the new password')
  })

  it('is kept for one hour, and at most 20 are kept for a person', async () => {
    const opened = await openForm()
    const { email, visitor } = opened
    await signOut(visitor)
    const [row] = await selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`)
    let location = ''
    for (let i = 0; i < 22; i++) location = String((await send(opened, seed)).headers.location)
    const kept = await selectRows(db, sql`select 1 from flashes where user_id = ${row?.id}`)
    expect(kept).toHaveLength(20)
    clock.advance(keptFormLifetimeMs)
    const page = await signIn(visitor, email, location)
    expect(page.statusCode).toBe(200)
    expect(page.body).not.toContain(seed.title)
  })

  it('is not kept when the session ended a day ago or earlier', async () => {
    const opened = await openForm()
    await signOut(opened.visitor)
    clock.advance(endedSessionKnownMs)
    const before = await countKept()
    expect((await send(opened, seed)).headers.location).toBe('/sign-in')
    expect(await countKept()).toBe(before)
  })
})
