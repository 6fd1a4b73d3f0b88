import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { selectRows } from '../support/test-app.ts'
import {
  createVisitor,
  noticeOn,
  password,
  signUp,
  startWebsite,
  type Visitor,
  withoutLinks,
} from './visitor.ts'

const website = await startWebsite()

/** Creates a workspace with an owner, on the website. */
async function startWorkspace(name = 'Acme') {
  const email = randomEmail()
  const owner = await signUp(website, { name: 'Olga', email })
  const slug = `acme-${crypto.randomUUID().slice(0, 8)}`
  await owner.get('/onboarding')
  expect((await owner.submit('/onboarding', { name, slug })).headers.location).toBe(`/w/${slug}`)
  return { owner, email, slug, base: `/w/${slug}` }
}

/** Invites a person, who signs up and accepts. */
async function addByInvite(owner: Visitor, base: string, role = 'member', name = 'Mary') {
  const email = randomEmail()
  await owner.get(`${base}/invites`)
  const sent = await owner.submit(`${base}/invites`, { email, role })
  expect(sent.statusCode, sent.body).toBe(200)
  const path = new URL(/value="([^"]*\/invites\/[^"]*)"/.exec(sent.body)?.[1] ?? '').pathname
  const visitor = await signUp(website, { name, email })
  await visitor.get(path)
  const accepted = await visitor.submit(path)
  expect(noticeOn(accepted.body)).toContain('Olga invited you.')
  const [row] = await selectRows<{ id: string }>(website.db, sql`select id from users where email = ${email}`)
  return { visitor, email, path, userId: String(row?.id) }
}

describe('a workspace', () => {
  it('rejects a slug that is taken (409), reserved or malformed (400), and keeps the typed values', async () => {
    const { owner, slug } = await startWorkspace()
    for (const [wrong, status, message] of [
      [slug, 409, 'This address is not available'],
      ['settings', 400, 'This workspace address is reserved.'],
      ['No Slug!', 400, 'Use 3 to 48 characters'],
    ] as const) {
      await owner.get('/onboarding')
      const answer = await owner.submit('/onboarding', { name: 'Second one', slug: wrong })
      expect(answer.statusCode).toBe(status)
      expect(/id="slug-error"[^>]*>([^<]*)</.exec(answer.body)?.[1]).toContain(message)
      expect(answer.body).toContain('value="Second one"')
    }
  })

  it.each(['', '/seeds', '/seeds/new', '/members', '/invites', '/teams', '/settings'])(
    'is resolved once for the page %s',
    async (path) => {
      const { owner, base } = await startWorkspace()
      const { texts } = await recordStatements(() => owner.get(`${base}${path}`))
      expect(texts.filter((text) => text.includes('"workspace_slugs"'))).toHaveLength(1)
    },
  )

  it('returns as JSON whether a slug is available, and suggests a slug for a name', async () => {
    const { owner, slug, base } = await startWorkspace()
    const ask = async (path: string) =>
      (await owner.get(path, { accept: 'application/json' })).json<unknown>()
    expect(await ask(`/onboarding/slug?slug=${slug}`)).toEqual({ slug, available: false })
    expect(await ask(`${base}/settings/slug?slug=${slug}`)).toEqual({ slug, available: true })
    expect(await ask(`/onboarding/slug?slug=free-${slug}`)).toEqual({ slug: `free-${slug}`, available: true })
    const name = encodeURIComponent(`Café ${slug}`)
    expect(await ask(`/onboarding/slug?name=${name}`)).toEqual({ slug: `cafe-${slug}`, available: true })
  })

  it('redirects its former slug to its new slug', async () => {
    const { owner, slug, base } = await startWorkspace()
    await website.db.execute(
      sql`update workspaces set allowed_domains = '{acme.example,sub.acme.example}' where slug = ${slug}`,
    )
    await owner.get(`${base}/settings`)
    const moved = await owner.post(`${base}/settings`, {
      name: 'Acme Inc',
      slug: `${slug}-inc`,
      allowedDomains: 'acme.example, sub.acme.example',
    })
    const location = String(moved.headers.location)
    expect(location.split('?')[0]).toBe(`${base}-inc/settings`)
    expect(noticeOn((await owner.get(location)).body)).toBe('Saved.')
    expect((await owner.get(`${base}/teams?cursor=x`)).headers.location).toBe(`${base}-inc/teams?cursor=x`)
    const page = await owner.get(`${base}-inc/settings`)
    expect(page.body).toContain('acme.example, sub.acme.example')
    const wrong = await owner.submit(`${base}-inc/settings`, {
      name: 'Acme',
      slug: `${slug}-inc`,
      allowedDomains: 'gmail.com',
    })
    expect(wrong.statusCode).toBe(400)
    expect(wrong.body).toContain('value="gmail.com"')
  })

  it('shows its activity to members, but invites only to those who may list them', async () => {
    const { owner, base } = await startWorkspace()
    const { visitor } = await addByInvite(owner, base)
    await owner.get(`${base}/invites`)
    const candidate = randomEmail()
    await owner.submit(`${base}/invites`, { email: candidate, role: 'admin' })
    expect(withoutLinks((await owner.get(base)).body)).toContain(`Olga invited ${candidate} as admin`)
    const page = await visitor.get(base)
    expect(withoutLinks(page.body)).toContain('Olga created the workspace')
    expect(page.body).not.toContain('invited')
  })

  it('records changes made on the website as events', async () => {
    const { owner, slug, base } = await startWorkspace()
    await owner.get(`${base}/teams`)
    await owner.submit(`${base}/teams`, { name: 'Looms' })
    const events = await selectRows(
      website.db,
      sql`select type, source from events join workspaces on workspaces.id = workspace_id where slug = ${slug} order by events.id`,
    )
    expect(events).toEqual([
      { type: 'workspace.created', source: 'web' },
      { type: 'team.created', source: 'web' },
    ])
    expect(withoutLinks((await owner.get(base)).body)).toContain('Olga created the team Looms')
  })
})

describe('members', () => {
  it('join by an invite, get another role, and can be removed', async () => {
    const { owner, base } = await startWorkspace()
    const { visitor, userId, path } = await addByInvite(owner, base)
    expect((await visitor.get(base)).statusCode).toBe(200)
    expect((await visitor.get(`${base}/settings`)).body).not.toContain(`action="${base}/settings"`)
    expect((await visitor.submit(`${base}/settings`, { name: 'Theirs', slug: 'theirs' })).statusCode).toBe(
      403,
    )
    expect((await visitor.get(`${base}/invites`)).statusCode).toBe(403)
    expect((await visitor.get(path)).body).toContain('was already accepted')

    expect((await owner.get(`${base}/settings`)).body).toContain(`action="${base}/settings"`)
    const promoted = await owner.submit(`${base}/members/${userId}/role`, { role: 'admin' })
    expect(noticeOn(promoted.body)).toBe('Mary is now an admin.')
    expect((await visitor.get(`${base}/invites`)).statusCode).toBe(200)
    await owner.get(`${base}/members`)
    const removed = await owner.submit(`${base}/members/${userId}/remove`)
    expect(removed.body).toContain('<h1>People</h1>')
    expect(noticeOn(removed.body)).toBe('Mary was removed from the workspace.')
    expect((await visitor.get(base)).statusCode).toBe(403)
  })

  it('include an owner: removing the last one returns 409', async () => {
    const { owner, email, base } = await startWorkspace()
    const [row] = await selectRows<{ id: string }>(
      website.db,
      sql`select id from users where email = ${email}`,
    )
    await owner.get(`${base}/members`)
    const answer = await owner.submit(`${base}/members/${String(row?.id)}/remove`)
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('A workspace must have an owner.')
  })
})

describe('invites', () => {
  it('return 409 for a second one to the same address, and can be resent and revoked', async () => {
    const { owner, base } = await startWorkspace()
    const email = randomEmail()
    await owner.get(`${base}/invites`)
    const first = await owner.submit(`${base}/invites`, { email, role: 'viewer' })
    const again = await owner.submit(`${base}/invites`, { email, role: 'viewer' })
    expect(again.statusCode).toBe(409)
    expect(/id="email-error"[^>]*>([^<]*)</.exec(again.body)?.[1]).toContain('pending invite')
    expect(again.body).toContain(`>${email}</textarea>`)
    const id = /\/invites\/([0-9a-f-]{36})\/resend/.exec(first.body)?.[1]
    const resent = await owner.submit(`${base}/invites/${String(id)}/resend`, { email })
    const linkOf = (body: string) => /value="[^"]*(\/invites\/[^"]*)"/.exec(body)?.[1] ?? ''
    expect(linkOf(resent.body)).not.toBe(linkOf(first.body))
    expect((await owner.get(linkOf(first.body))).statusCode).toBe(404)
    expect((await owner.get(linkOf(resent.body))).body).toContain('is for another email address')
    await owner.get(`${base}/invites`)
    const revoked = await owner.submit(`${base}/invites/${String(id)}/revoke`)
    expect(noticeOn(revoked.body)).toBe(`The invite to ${email} was revoked.`)
    const mismatch = await owner.submit(linkOf(resent.body))
    expect(mismatch.statusCode).toBe(403)
    expect(mismatch.body).toContain('another email address')
  })
})

describe('the security settings', () => {
  it('show the secret of a new API key once, and list and revoke keys', async () => {
    const visitor = await signUp(website, { email: randomEmail() })
    await visitor.get('/settings/security')
    const created = await visitor.submit('/settings/security/api-keys', { name: 'Laptop' })
    const secret = /value="(wsk_[^"]*)"/.exec(created.body)?.[1] ?? ''
    expect((await website.as({ apiKey: secret }, { url: '/v1/me' })).statusCode).toBe(200)
    const listed = await visitor.get('/settings/security/api-keys')
    expect(listed.body).not.toContain(secret)
    expect(listed.body).toContain(secret.slice(-4))
    const id = /api-keys\/([0-9a-f-]{36})\/revoke/.exec(listed.body)?.[1]
    await visitor.submit(`/settings/security/api-keys/${String(id)}/revoke`)
    expect((await website.as({ apiKey: secret }, { url: '/v1/me' })).statusCode).toBe(401)
    const blank = await visitor.submit('/settings/security/api-keys', { name: ' ' })
    expect(blank.statusCode).toBe(400)
    expect(blank.body).toContain('The name must not be blank')
  })

  it('end one session, all other sessions, and all other sessions by a change of the password', async () => {
    const email = randomEmail()
    const here = await signUp(website, { email })
    const signIn = async (chosen = password) => {
      const visitor = createVisitor(website)
      await visitor.get('/sign-in')
      await visitor.submit(
        '/sign-in',
        { email, password: chosen },
        { 'user-agent': 'Mozilla Firefox/140.0 Windows' },
      )
      return visitor
    }
    const isSignedIn = async (visitor: Visitor) => (await visitor.get('/onboarding')).statusCode === 200

    const one = await signIn()
    const page = await here.get('/settings/security/sessions')
    expect(page.body).toContain('Firefox on Windows')
    const id = /sessions\/([0-9a-f-]{36})\/end/.exec(page.body)?.[1]
    const ended = await here.submit(`/settings/security/sessions/${String(id)}/end`)
    expect(noticeOn(ended.body)).toBe('Signed out on Firefox on Windows.')
    expect([await isSignedIn(one), await isSignedIn(here)]).toEqual([false, true])

    const two = await signIn()
    await here.get('/settings/security')
    await here.submit('/settings/security/sessions/end-others')
    expect([await isSignedIn(two), await isSignedIn(here)]).toEqual([false, true])

    const three = await signIn()
    await here.get('/settings/security')
    const wrong = await here.submit('/settings/security/password', {
      currentPassword: 'not the password',
      password: 'another long password',
    })
    expect(wrong.statusCode).toBe(400)
    expect(wrong.body).toContain('This password is incorrect.')
    expect(await isSignedIn(three)).toBe(true)
    await here.get('/settings/security')
    const changed = await here.submit('/settings/security/password', {
      currentPassword: password,
      password: 'another long password',
    })
    expect(noticeOn(changed.body)).toBe('Password changed. You are signed out on all other devices.')
    expect([await isSignedIn(three), await isSignedIn(here)]).toEqual([false, true])
    expect(await isSignedIn(await signIn())).toBe(false)
    expect(await isSignedIn(await signIn('another long password'))).toBe(true)
  })

  it('return 404 when a person revokes keys or ends sessions of other people', async () => {
    const other = await signUp(website, { email: randomEmail() })
    await other.get('/settings/security')
    await other.submit('/settings/security/api-keys', { name: 'Theirs' })
    const keyId = /api-keys\/([0-9a-f-]{36})\/revoke/.exec(other.page())?.[1]
    const visitor = await signUp(website, { email: randomEmail() })
    await visitor.get('/settings/security')
    expect((await visitor.submit(`/settings/security/api-keys/${String(keyId)}/revoke`)).statusCode).toBe(404)
    const [session] = await selectRows<{ id: string }>(
      website.db,
      sql`select id from sessions order by id limit 1`,
    )
    await visitor.get('/settings/security')
    expect((await visitor.submit(`/settings/security/sessions/${String(session?.id)}/end`)).statusCode).toBe(
      404,
    )
  })
})

describe('the profile and notification settings', () => {
  it('are stored when saved', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    await visitor.get('/settings/profile')
    const saved = await visitor.submit('/settings/profile', { name: 'Grace M. Hopper' })
    expect(noticeOn(saved.body)).toBe('Saved.')
    await visitor.get('/settings/notifications')
    await visitor.submit('/settings/notifications', { workspaceActivity: 'on' })
    const rows = await selectRows(
      website.db,
      sql`select name, product_updates, workspace_activity from users where email = ${email}`,
    )
    expect(rows).toEqual([{ name: 'Grace M. Hopper', product_updates: false, workspace_activity: true }])
  })
})
