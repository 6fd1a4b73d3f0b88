import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createComment } from '../support/comments.ts'
import { createCompany, createTeam, del, post } from '../support/company.ts'
import { openEventStream } from '../support/event-stream-client.ts'
import { findNotifications, insertNotification } from '../support/notifications.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { recordStatements } from '../support/record-statements.ts'
import { addMember } from '../support/workspaces.ts'
import { changesUrlOf, cookiesOf, noticeOn, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const { owner, workspace } = company

async function openInbox() {
  const person = await website.createPerson({ name: 'Rita Reader' })
  await website.db.execute(sql`
    insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    values (${workspace.id}, ${person.id}, 'viewer', now(), now())`)
  const tell = (fields: Parameters<typeof insertNotification>[2] = {}) =>
    insertNotification(website, { workspaceId: workspace.id, userId: person.id }, fields)
  return { person, visitor: await signInAs(website, person), tell }
}

const bellOn = (page: string) => {
  const [, label, content] =
    /<a[^>]*class="bell"[^>]*aria-label="([^"]*)"[^>]*>([\s\S]*?)<\/a\s*>/.exec(page) ?? []
  const number = /<span[^>]*class="count"[^>]*>([^<]*)</.exec(content ?? '')?.[1]?.trim()
  return { label, number }
}

describe('the bell', () => {
  it('has the number of unread notifications, and none at zero', async () => {
    const { visitor, tell } = await openInbox()
    expect(bellOn((await visitor.get('/onboarding')).body)).toEqual({ label: 'Notifications', number: '' })
    for (let i = 0; i < 3; i++) await tell()
    expect(bellOn((await visitor.get('/onboarding')).body)).toEqual({
      label: 'Notifications, 3 unread',
      number: '3',
    })
    for (let i = 0; i < 98; i++) await tell()
    expect(bellOn((await visitor.get('/settings/profile')).body)).toEqual({
      label: 'Notifications, more than 99 unread',
      number: '99+',
    })
    const answer = await visitor.get('/notifications/count', { accept: 'application/json' })
    expect(answer.json()).toEqual({ unread: 100 })
  })
})

describe('the inbox', () => {
  it('links to what a notification is about, and marks it as read and as unread by forms', async () => {
    const { person, visitor, tell } = await openInbox()
    const seed = await createSeed(website, owner, company, { title: 'Bikes <b>' })
    const id = await tell({ kind: 'status', seedId: seed.id, data: { from: 'open', to: 'validating' } })
    const page = (await visitor.get('/notifications')).body
    expect(page).toContain(
      '<bdi>Grace Hopper changed the status of Bikes &lt;b&gt; from open to validating</bdi>',
    )
    const [, link = ''] = /<a class="title" href="([^"]*)"/.exec(page) ?? []
    expect(link).toBe(`/w/${workspace.slug}/seeds/${seed.id}?notifications=${id}`)
    // A GET changes nothing. The script of the page sends the form.
    expect((await visitor.get(link)).statusCode).toBe(200)
    expect(await findNotifications(website, person)).toMatchObject([{ isRead: false }])
    expect((await visitor.post('/notifications/read', { ids: id })).headers.location).toBe('/notifications')
    expect(await findNotifications(website, person)).toMatchObject([{ isRead: true }])
    expect((await visitor.get('/notifications?unread=true')).body).toContain('You have read everything.')

    const read = (await visitor.get('/notifications')).body
    expect(read).toContain(`<a class="title" href="/w/${workspace.slug}/seeds/${seed.id}">`)
    expect((await visitor.post('/notifications/unread', { ids: id })).statusCode).toBe(303)
    expect(await findNotifications(website, person)).toMatchObject([{ isRead: false }])
  })

  it('has what happened in one seed together, with faces, and one mark for all of it', async () => {
    const { person, visitor, tell } = await openInbox()
    const seed = await createSeed(website, owner, company, { title: '請求書 <b>' })
    const gone = await createSeed(website, owner, company, { title: 'Deleted seed' })
    await website.db.execute(sql`update seeds set deleted_at = now() where id = ${gone.id}`)
    await website.db.execute(sql`update users set image_key = 'face-key' where id = ${owner.id}`)
    const former = await website.createPerson({ name: 'Former Member' })
    await website.db.execute(sql`update users set image_key = 'former-key' where id = ${former.id}`)
    const at = (day: number) => ({ createdAt: new Date(Date.UTC(2026, 10, day)) })
    const data = { from: 'open', to: 'validating' }
    const first = await tell({ ...at(1), kind: 'status', seedId: seed.id, data, actorUserId: former.id })
    await tell({ ...at(2), kind: 'status', seedId: gone.id, data })
    await tell({ ...at(3) })
    const last = await tell({
      ...{ ...at(4), kind: 'status', seedId: seed.id, data, actorUserId: owner.id },
      actorName: 'عبد الرحمن بن محمد الفاروقي',
    })
    const page = (await visitor.get('/notifications')).body
    const path = `/w/${workspace.slug}/seeds/${seed.id}`
    // By the newest of it, before what happened meanwhile.
    const [, group = '', rest = ''] = /<li class="group">([^]*?)<\/ul>([^]*)/.exec(page) ?? []
    expect(group).toContain(
      `<a href="${path}?notifications=${last}.${first}"><bdi>請求書 &lt;b&gt;</bdi></a>`,
    )
    expect(group).toContain('2 changes of status, <bdi>Acme</bdi>')
    expect(group).toContain(
      '<bdi>عبد الرحمن بن محمد الفاروقي changed the status from open to validating</bdi>',
    )
    expect(group).toContain(`href="${path}?notifications=${first}"`)
    expect(rest).toContain('changed your role')
    expect(page).not.toContain('Deleted seed')
    // A face for each; who is not a member has a letter.
    expect(page.match(/class="picture round s28/g)?.length).toBeGreaterThanOrEqual(3)
    expect(group.match(/<img[^>]*face-key/g)).toHaveLength(1)
    expect(page).not.toContain('former-key')
    const [, ids = ''] = /<button class="mark" name="ids" value="([^"]* [^"]*)"/.exec(group) ?? []
    expect((await visitor.post('/notifications/read', { ids })).statusCode).toBe(303)
    expect((await findNotifications(website, person)).filter(({ isRead }) => isRead)).toHaveLength(2)
    expect((await visitor.get('/notifications')).body).toContain(`<a href="${path}"><bdi>請求書`)
  })

  it('quotes the comment, or the evidence, as it reads now, while it is there', async () => {
    const { person, visitor } = await openInbox()
    await website.db.execute(
      sql`update memberships set role = 'member' where user_id = ${person.id} and workspace_id = ${workspace.id}`,
    )
    const seed = await createSeed(website, person, company, { title: 'Told' })
    await website.as(owner, post(`/v1/seeds/${seed.id}/join`))
    const body = `**Nobody** asked, <b>see</b> [@Former](user:${person.id})`
    const comment = await createComment(website, owner, seed, { body })
    const long = `それは本当ですか。${'長い'.repeat(1_500)}`
    await createComment(website, owner, seed, { body: long })
    await addEvidence(website, owner, seed, { summary: 'Five of *six* would pay' })
    const quotes = async () =>
      Array.from(
        (await visitor.get('/notifications')).body.matchAll(/class="hint clip"><bdi>([^]*?)<\/bdi>/g),
        ([, quote]) => quote,
      )
    const [ofEvidence, ofLong, ofComment] = await quotes()
    expect(ofEvidence).toBe('Five of six would pay')
    expect(ofLong).toMatch(/^それは本当ですか。(長い){100,}長?…$/)
    expect(ofComment).toBe('Nobody asked, &lt;b&gt;see&lt;/b&gt; @Rita Reader')
    await website.as(owner, del(`/v1/comments/${comment.id}`))
    expect(await quotes()).toEqual([ofEvidence, ofLong])
  })

  it('runs as many statements with 300 notifications of many seeds as with one, at most twelve', async () => {
    const { visitor, tell } = await openInbox()
    await tell()
    const count = async () => (await recordStatements(() => visitor.get('/notifications'))).texts.length
    await count()
    const before = await count()
    const seeds = await Promise.all([1, 2, 3].map(() => createSeed(website, owner, company)))
    for (let i = 0; i < 300; i++)
      await tell({
        ...{ kind: 'status', seedId: seeds[i % 3]?.id ?? null, data: { from: 'open', to: 'validating' } },
        actorUserId: owner.id,
      })
    expect(await count()).toBe(before)
    expect(before).toBeLessThanOrEqual(12)
  })

  it('marks all that it shows as read, but not what came meanwhile', async () => {
    const { person, visitor, tell } = await openInbox()
    await tell({ createdAt: new Date('2026-11-20T10:00:00Z') })
    await tell({ createdAt: new Date('2026-11-21T10:00:00Z') })
    const page = (await visitor.get('/notifications')).body
    const until = /name="until" value="([^"]*)"/.exec(page)?.[1]
    await tell({ createdAt: new Date('2026-11-22T10:00:00Z') })
    const done = await visitor.submit('/notifications/read', { until: String(until) })
    expect(noticeOn(done.body)).toBe('All are marked as read.')
    expect((await findNotifications(website, person)).map(({ isRead }) => isRead)).toEqual([
      true,
      true,
      false,
    ])
  })

  it('has pages, and shows only what is unread when asked', async () => {
    const { visitor, tell } = await openInbox()
    for (let i = 0; i < 31; i++) await tell({ createdAt: new Date(Date.UTC(2026, 10, 1, i)) })
    await tell({ readAt: new Date(), data: { role: 'owner' } })
    const all = (await visitor.get('/notifications')).body
    expect(all.match(/class="title"/g)).toHaveLength(30)
    expect(all).toContain('to owner')
    const unread = (await visitor.get('/notifications?unread=true')).body
    expect(unread).not.toContain('to owner')
    const next = /rel="next" href="([^"]*)"/.exec(unread)?.[1]?.replaceAll('&amp;', '&')
    expect((await visitor.get(String(next))).body.match(/class="title"/g)).toHaveLength(1)
  })

  it('marks nothing of others', async () => {
    const { visitor } = await openInbox()
    const other = await openInbox()
    const id = await other.tell()
    const read = await other.tell({ readAt: new Date() })
    await visitor.get('/notifications')
    for (const ids of [`${id} ${read}`, 'nonsense'])
      for (const mark of ['read', 'unread'])
        expect((await visitor.post(`/notifications/${mark}`, { ids })).statusCode).toBe(303)
    const inbox = await findNotifications(website, other.person)
    expect(inbox.map(({ isRead }) => isRead)).toEqual([false, true])
  })
})

describe('the link that turns mails off', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const isOn = async ({ id }: { id: string }) => {
    const { rows } = await website.db.execute(
      sql`select workspace_activity as "isOn" from users where id = ${id}`,
    )
    return (rows[0] as { isOn: boolean }).isOn
  }
  /** The path of the link of a person. */
  const pathFor = ({ id }: { id: string }) =>
    website.services.unsubscribeLinks.urlOf(id).replace(/^https?:\/\/[^/]+/, '')

  it('is turned off by a POST of a mail program, without a session, from anywhere', async () => {
    const { person } = await openInbox()
    for (let i = 0; i < 2; i++) {
      const answer = await website.app.inject({
        method: 'POST',
        url: pathFor(person),
        headers: { ...form, origin: 'https://mail.example' },
        payload: 'List-Unsubscribe=One-Click',
      })
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.headers['set-cookie']).toBeUndefined()
      expect(await isOn(person)).toBe(false)
    }
    const { person: second } = await openInbox()
    const boundary = 'x'
    const multipart = await website.app.inject({
      method: 'POST',
      url: pathFor(second),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      payload: `--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n`,
    })
    expect(multipart.statusCode).toBe(200)
    expect(await isOn(second)).toBe(false)
  })

  it('opens a page that changes nothing until its button is pressed', async () => {
    const { person } = await openInbox()
    const path = pathFor(person)
    const page = await website.app.inject({ url: path, headers: { accept: 'text/html' } })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('Turn off these emails')
    expect(page.headers['cache-control']).toBe('private, no-store')
    expect(await isOn(person)).toBe(true)
    const pressed = await website.app.inject({ method: 'POST', url: path, headers: form, payload: '' })
    expect(pressed.statusCode).toBe(303)
    expect(pressed.headers.location).toBe(path)
    expect(await isOn(person)).toBe(false)
    expect((await website.app.inject(path)).body).toContain('Emails are off')
  })

  it('is refused when it was changed, and shows nobody’s address', async () => {
    const { person } = await openInbox()
    const path = pathFor(person)
    const flipped = path.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))
    for (const url of [flipped, path.slice(0, -1), '/unsubscribe/x', `/unsubscribe/${'A'.repeat(43)}`]) {
      const page = await website.app.inject({ url, headers: { accept: 'text/html' } })
      expect(page.statusCode, url).toBe(404)
      expect(page.body).toContain('This link is invalid')
      const payload = 'List-Unsubscribe=One-Click'
      expect((await website.app.inject({ method: 'POST', url, headers: form, payload })).statusCode).toBe(404)
    }
    expect((await website.app.inject(path)).body).not.toContain(person.email)
    expect(await isOn(person)).toBe(true)
  })
})

describe('the stream of the inbox', () => {
  const aChange = /event: change\ndata:\n\n/g
  const openStream = (visitor: Visitor, path = '/notifications/changes') =>
    openEventStream(website, path, { cookie: cookiesOf(visitor) })

  it('reports new notifications from all workspaces of the person, and nothing else that happens there', async () => {
    const [first, second] = [await createCompany(website), await createCompany(website)]
    const person = first.member
    await addMember(website, second.workspace, person, 'member')
    const stream = await openStream(await signInAs(website, person))
    expect(stream.status).toBe(200)
    const seeds = await Promise.all(
      [first, second].map(async (one) => {
        const seed = await createSeed(website, one.owner, one)
        await website.as(person, post(`/v1/seeds/${seed.id}/follow`))
        return seed
      }),
    )
    // Followed, but not yet told of anything. The second stream shows when that has been looked at.
    const witness = await openEventStream(website, `/w/${first.workspace.slug}/activity/changes`, {
      cookie: cookiesOf(await signInAs(website, first.viewer)),
    })
    await createTeam(website, first.owner, first, 'Looms')
    await witness.received(aChange)
    expect(stream.text()).not.toMatch(aChange)
    for (const [i, one] of [first, second].entries()) {
      await addEvidence(website, one.owner, seeds[i] ?? { id: '' })
      await stream.received(new RegExp(`(?:event: change[^]*){${i + 1}}`))
    }
    expect(stream.text().match(aChange)).toHaveLength(2)
  })

  it.each(['', '?unread=true'])('begins where the page %j was read', async (query) => {
    const company = await createCompany(website)
    const seed = await createSeed(website, company.owner, company)
    await website.as(company.member, post(`/v1/seeds/${seed.id}/follow`))
    const visitor = await signInAs(website, company.member)
    const readUrl = async () => changesUrlOf((await visitor.get(`/notifications${query}`)).body)
    for (let i = 0; i < 2; i++) {
      const url = await readUrl()
      await addEvidence(website, company.owner, seed)
      await (await openStream(visitor, url)).received(aChange)
    }
    await website.as(company.member, post('/v1/me/notifications/read', {}))
    const current = await openStream(visitor, await readUrl())
    await addEvidence(website, company.owner, seed)
    await current.received(aChange)
    expect(current.text().match(aChange)).toHaveLength(1)
  })

  it('ends when the person signs out, and returns 401 without a session', async () => {
    const { visitor } = await openInbox()
    const stream = await openStream(visitor)
    await visitor.get('/notifications')
    await visitor.submit('/sign-out')
    await stream.ended
    const answer = await visitor.get('/notifications/changes', { accept: 'text/event-stream' })
    expect(answer.statusCode).toBe(401)
  })
})

describe('the email settings', () => {
  it('choose how one is told of what, and keep the rest', async () => {
    const { person, visitor } = await openInbox()
    const path = '/settings/notifications'
    const page = (await visitor.get(path)).body
    expect(page).toMatch(/<select id="acceptedInvites"[^]*?<option value="mail" selected>/)
    expect(page).not.toContain('Emails about your workspaces are off.')
    const saved = await visitor.submit(`${path}/kinds`, {
      mentions: 'inbox',
      acceptedInvites: 'off',
      agents: 'x',
    })
    expect(noticeOn(saved.body)).toBe('Saved.')
    expect(saved.body).toMatch(/<select id="acceptedInvites"[^]*?<option value="off" selected>/)
    const { rows } = await website.db.execute(sql`
      select notify_mentions, notify_digest, notify_role_changes, notify_accepted_invites, notify_agents
      from users where id = ${person.id}`)
    expect(rows).toEqual([
      {
        ...{ notify_mentions: 'inbox', notify_digest: false, notify_role_changes: 'mail' },
        ...{ notify_accepted_invites: 'off', notify_agents: 'mail' },
      },
    ])
    await visitor.submit(path, { productUpdates: 'on' })
    expect((await visitor.get(path)).body).toContain('Emails about your workspaces are off.')
  })
})
