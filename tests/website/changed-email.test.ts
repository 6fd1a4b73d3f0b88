import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'
import { createVisitor, noticeOn, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { db, services } = website

const page = '/settings/security/email'
const day = 24 * 60 * 60 * 1000

async function ask(visitor: Visitor, email: string) {
  await visitor.get(page)
  return visitor.submit(page, { email })
}

/** A person who has asked for another address, and the path of the link. */
async function createAsker() {
  const [email, fresh] = [randomEmail(), randomEmail()]
  const visitor = await signUp(website, { email })
  expect(noticeOn((await ask(visitor, fresh)).body)).toBe('We sent you an email. Open the link in it.')
  const { path } = await website.waitForMail(fresh, /Confirm your new email address/)
  return { email, fresh, visitor, path }
}

async function confirm(visitor: Visitor, path: string) {
  await visitor.get('/settings/security')
  return visitor.submit(path)
}

const hasAccount = async (email: string) => (await services.accounts.findByEmail(email)) !== undefined

describe('a change of the email address', () => {
  it('takes effect when the emailed link is confirmed, and notifies the old address before and after', async () => {
    const { email, fresh, visitor, path } = await createAsker()
    const before = await website.waitForMail(email, /is about to change/)
    expect(before.text).toContain(fresh)
    expect((await visitor.get(page)).body).toContain(fresh)
    expect((await visitor.get(path)).body).toContain(fresh)
    expect([await hasAccount(email), await hasAccount(fresh)]).toEqual([true, false])

    expect(noticeOn((await confirm(visitor, path)).body)).toBe('Email address changed.')
    const after = await website.waitForMail(email, /was changed/)
    expect(after.text.replaceAll(/\s+/g, ' ')).toContain(`is now ${fresh}`)
    expect([await hasAccount(email), await hasAccount(fresh)]).toEqual([false, true])
    const other = createVisitor(website)
    await other.get('/sign-in')
    expect((await other.submit('/sign-in', { email: fresh, password })).headers.location).toBe('/')
    expect((await confirm(visitor, path)).statusCode).toBe(404)
  })

  it('is an event in the workspaces of the person, with neither of the addresses', async () => {
    const { email, fresh, visitor, path } = await createAsker()
    const slug = randomSlug()
    await visitor.get('/onboarding')
    await visitor.post('/onboarding', { name: 'Acme', slug })
    await confirm(visitor, path)
    const [event] = await selectRows<{ data: unknown; summary: string }>(
      db,
      sql`select data, summary from events where type = 'member.updated' and workspace_id =
        (select id from workspaces where slug = ${slug})`,
    )
    expect(event).toMatchObject({ data: { fields: ['email'] } })
    for (const address of [email, fresh]) expect(JSON.stringify(event)).not.toContain(address)
  })

  it('invalidates links that were sent to the old address', async () => {
    const { email, visitor, path } = await createAsker()
    const thief = createVisitor(website)
    await thief.get('/forgot')
    await thief.submit('/forgot', { email })
    const reset = await website.waitForMail(email, /Choose a new password/)
    await confirm(visitor, path)
    expect((await thief.get(reset.path)).statusCode).toBe(404)
  })

  it('gives the same response for an address that has an account, and notifies its owner', async () => {
    const holder = randomEmail()
    await signUp(website, { email: holder, name: 'Ada' })
    const answers = []
    for (const wanted of [holder.toUpperCase(), randomEmail()]) {
      const visitor = await signUp(website, { email: randomEmail() })
      const { headers } = await ask(visitor, wanted)
      const { body } = await visitor.get(String(headers.location))
      const address = /Your email address is <strong>([^<]*)/.exec(body)?.[1] ?? ''
      const blank = body.replaceAll(wanted, 'WANTED').replaceAll(address, 'OWN')
      answers.push(blank.replace(/name="_csrf"\s+value="[^"]*"/g, ''))
    }
    expect(answers[0]).toBe(answers[1])
    const { text, path } = await website.waitForMail(holder, /already have an account/)
    expect(text).toContain('Hello Ada')
    expect(path).toBe('/sign-in')
  })

  it('returns 404 on confirmation if another person has taken the address meanwhile', async () => {
    const { email, fresh, visitor, path } = await createAsker()
    await website.createPerson({ email: fresh.toUpperCase() })
    expect((await confirm(visitor, path)).statusCode).toBe(404)
    expect(await hasAccount(email)).toBe(true)
  })

  it('can be confirmed only by the signed-in person who requested it', async () => {
    const { email, path } = await createAsker()
    const stranger = createVisitor(website)
    expect((await stranger.get(path)).headers.location).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    const other = await signUp(website, { email: randomEmail() })
    expect((await other.get(path)).statusCode).toBe(404)
    expect((await confirm(other, path)).statusCode).toBe(404)
    expect(await hasAccount(email)).toBe(true)
  })

  it('expires after a day, when another change is requested, or when it is cancelled', async () => {
    const first = await createAsker()
    const second = randomEmail()
    await ask(first.visitor, second)
    const { path } = await website.waitForMail(second, /Confirm/)
    expect((await confirm(first.visitor, first.path)).statusCode).toBe(404)
    await first.visitor.get('/settings/security')
    await first.visitor.submit(`${page}/cancel`)
    expect((await confirm(first.visitor, path)).statusCode).toBe(404)

    const late = await createAsker()
    clock.advance(day)
    expect((await confirm(late.visitor, late.path)).statusCode).toBe(404)
  })

  it.each([
    ['nobody', 'This is not a valid email address.'],
    ['vi\u212ator@example.com', 'This is not a valid email address.'],
  ])('returns 400 with a message at the field for the invalid address %j', async (wanted, message) => {
    const visitor = await signUp(website, { email: randomEmail() })
    const answer = await ask(visitor, wanted)
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(message)
  })

  it('rejects the current address, but accepts it in another letter case', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    expect((await ask(visitor, email)).body).toContain('This is already your email address.')
    const other = email.replace(/^.*@/, (name) => name.toUpperCase())
    await ask(visitor, other)
    const { path } = await website.waitForMail(other, /Confirm/)
    expect(noticeOn((await confirm(visitor, path)).body)).toBe('Email address changed.')
    const [row] = await selectRows(db, sql`select email from users where canonical_email = ${email}`)
    expect(row).toEqual({ email: other })
  })

  it('leaves no trace of the former address after the person is deleted', async () => {
    const { email, visitor, path } = await createAsker()
    const owner = await website.createPerson({ name: 'Olga' })
    const slug = `w-${crypto.randomUUID().slice(0, 8)}`
    await website.as(owner, { method: 'POST', url: '/v1/workspaces', payload: { name: 'Acme', slug } })
    const payload = { email, role: 'member' }
    await website.as(owner, { method: 'POST', url: `/v1/workspaces/${slug}/invites`, payload })
    const countTraces = async () => {
      const rows = await selectRows(
        db,
        sql`select 1 from events where summary like ${`%${email}%`} union all select 1 from invites where email = ${email}
          union all select 1 from former_emails where email = ${email}`,
      )
      return rows.length
    }
    await confirm(visitor, path)
    expect(await countTraces()).toBe(3)
    const [user] = await selectRows<{ user_id: string }>(
      db,
      sql`select user_id from former_emails where email = ${email}`,
    )
    const deletion = await services.accounts.delete(String(user?.user_id), { withWorkspaces: true })
    expect(deletion.isDeleted).toBe(true)
    expect(await countTraces()).toBe(0)
  })

  it('requires the person to confirm their identity again 15 minutes after signing in', async () => {
    const visitor = await signUp(website, { email: randomEmail() })
    await visitor.get(page)
    clock.advance(15 * 60 * 1000)
    expect((await visitor.submit(page, { email: randomEmail() })).headers.location).toContain(
      '/confirm?next=',
    )
  })
})

describe('an email address that an intruder has changed', () => {
  /** Changes the address of the person who is signed in. Returns the link in the mail to the old one. */
  async function change(visitor: Visitor, from: string, to: string) {
    await ask(visitor, to)
    const { path } = await website.waitForMail(to, /Confirm/)
    expect(noticeOn((await confirm(visitor, path)).body)).toBe('Email address changed.')
    return (await website.waitForMail(from, /was changed/)).path
  }

  const signIn = async (email: string, chosen: string) => {
    const visitor = createVisitor(website)
    await visitor.get('/sign-in')
    return (await visitor.submit('/sign-in', { email, password: chosen })).statusCode
  }

  const fields = { password: 'a new long password', revokeAccess: 'on' }

  /** A person whose address an intruder in their session has changed twice. */
  async function createVictim() {
    const [email, second, third] = [randomEmail(), randomEmail(), randomEmail()]
    const intruder = await signUp(website, { email })
    const link = await change(intruder, email, second)
    const laterLink = await change(intruder, second, third)
    return { email, second, third, intruder, link, laterLink }
  }

  it('is restored by the link sent to the old address, which sets a new password and ends the intruder’s access', async () => {
    const { email, second, third, intruder, link, laterLink } = await createVictim()
    await ask(intruder, randomEmail())
    const owner = createVisitor(website)
    expect((await owner.get(link)).body).toContain(third)
    expect(await hasAccount(email)).toBe(false)
    expect((await owner.submit(link, { password: 'short' })).statusCode).toBe(400)
    expect((await owner.submit(link, fields)).headers.location).toBe('/sign-in?done=password-set')
    expect([await hasAccount(email), await hasAccount(second), await hasAccount(third)]).toEqual([
      true,
      false,
      false,
    ])
    expect(await signIn(email, fields.password)).toBe(303)
    expect(await signIn(email, password)).toBe(400)
    expect((await intruder.get('/onboarding')).statusCode).toBe(303)
    const changes = await selectRows(
      db,
      sql`select 1 from email_changes c join users u on u.id = c.user_id where u.email = ${email}`,
    )
    expect(changes).toEqual([])

    // Neither link works again, and the mail to the intruder has none.
    for (const path of [link, laterLink]) {
      await owner.get('/sign-in')
      expect((await owner.submit(path, fields)).statusCode).toBe(404)
    }
    const { path } = await website.waitForMail(third, /was changed/)
    expect(path).toBe('/settings/security')
  })

  it('stays reserved for seven days: no other person can sign up with it or change to it', async () => {
    const { email, link } = await createVictim()
    const signUpWith = async () => {
      const visitor = createVisitor(website)
      await visitor.get('/sign-up')
      return (await visitor.submit('/sign-up', { name: 'Eve', email, password })).statusCode
    }
    expect(await signUpWith()).toBe(200)
    await expect(services.accounts.create({ email, name: 'Eve', isVerified: true })).rejects.toMatchObject({
      code: 'email_taken',
    })
    const other = await signUp(website, { email: randomEmail() })
    await ask(other, email)
    const { path } = await website.waitForMail(email, /Confirm/)
    expect((await confirm(other, path)).statusCode).toBe(404)
    expect(await hasAccount(email)).toBe(false)
    expect((await createVisitor(website).get(link)).statusCode).toBe(200)

    clock.advance(7 * day)
    expect((await createVisitor(website).get(link)).statusCode).toBe(404)
    expect(await signUpWith()).toBe(200)
    expect(await hasAccount(email)).toBe(true)
  })

  it('is restored once when several forms are sent concurrently; the others get 404', async () => {
    const { email, link } = await createVictim()
    const visitors = await Promise.all([1, 2, 3].map(async () => createVisitor(website)))
    for (const visitor of visitors) await visitor.get(link)
    const answers = await Promise.all(
      visitors.map((visitor, i) => visitor.submit(link, { password: `a new long password ${i}` })),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([303, 404, 404])
    expect(await hasAccount(email)).toBe(true)
  })
})
