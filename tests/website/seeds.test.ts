import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toPrincipal } from '../../src/domain/agent.ts'
import { createId } from '../../src/kernel/ids.ts'
import type { Role } from '../../src/domain/roles.ts'
import { randomEmail } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { insertGrant } from '../support/seeds.ts'
import { selectRows } from '../support/test-app.ts'
import { addMember, randomSlug } from '../support/workspaces.ts'
import { noticeOn, signUp, startWebsite, type Visitor, withoutLinks } from './visitor.ts'

const website = await startWebsite()
const { db } = website

interface Person {
  visitor: Visitor
  id: string
  email: string
}

async function signUpAs(name: string): Promise<Person> {
  const email = randomEmail()
  const visitor = await signUp(website, { name, email })
  const [row] = await selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`)
  return { visitor, id: String(row?.id), email }
}

async function startWorkspace() {
  const owner = await signUpAs('Olga')
  const slug = randomSlug()
  await owner.visitor.get('/onboarding')
  await owner.visitor.submit('/onboarding', { name: 'Acme', slug })
  const [row] = await selectRows<{ id: string }>(db, sql`select id from workspaces where slug = ${slug}`)
  return { owner, workspace: { id: String(row?.id) }, base: `/w/${slug}` }
}

// One workspace with a person of each kind; each test has seeds of its own.
const { owner, workspace, base } = await startWorkspace()
const member = await join('Mary', 'member')
const viewer = await join('Vera', 'viewer')

async function join(name: string, role: Role): Promise<Person> {
  const person = await signUpAs(name)
  await addMember(website, workspace, person, role)
  return person
}

const texts = {
  title: 'Fewer meetings',
  summary: 'A day of none.',
  problem: 'Everybody talks.',
  audience: 'Teams of eight.',
  hypothesis: 'Writing is enough.',
  successCriteria: 'Two meetings a week\r\n\r\n  Nobody misses them ',
}

/** Creates a seed by the form; returns its path. */
async function createSeed(
  { visitor }: Person = member,
  fields: Partial<typeof texts> = {},
  at = base,
): Promise<string> {
  await visitor.get(`${at}/seeds/new`)
  const answer = await visitor.post(`${at}/seeds/new`, { ...texts, ...fields })
  expect(answer.statusCode, answer.body).toBe(303)
  const location = String(answer.headers.location)
  expect(noticeOn((await visitor.get(location)).body)).toBe('Seed created. Add what you find out.')
  return location.split('?')[0] ?? ''
}

const idOf = (path: string) => path.split('/').at(-1)

async function joinSeed({ visitor }: Person, path: string): Promise<void> {
  await visitor.get(path)
  expect(noticeOn((await visitor.submit(`${path}/join`)).body)).toBe('You joined the seed.')
}

const finding = { kind: 'survey', verdict: 'contradicts', summary: 'Nobody would.', sourceUrl: '' }

async function addEvidence({ visitor }: Person, path: string, fields: Partial<typeof finding> = {}) {
  await visitor.get(path)
  return visitor.submit(`${path}/evidence`, { ...finding, ...fields })
}

/** The titles on a page of seeds, in order. */
function titlesOn(page: string): string[] {
  return [...page.matchAll(/<a class="title"[^>]*><bdi>([^<]*)</g)].map(([, title = '']) => title)
}

/** The statuses above a list, with their numbers. */
function tabsOn(page: string): string[] {
  const [tabs = ''] = /<nav class="tabs" aria-label="Status">[\s\S]*?<\/nav>/.exec(page) ?? []
  return tabs
    .split('<a')
    .slice(1)
    .map((tab) => {
      const text = tab.replace(/^[^>]*>/, '').replaceAll(/<[^>]*>?/g, '')
      return spaced(text).trim() + (tab.includes('aria-current') ? ' (current)' : '')
    })
}

const spaced = (page: string) => page.replaceAll(/\s+/g, ' ')

/** The authors of the pieces of evidence on the page of a seed. */
function piecesOn(page: string): string[] {
  return [...spaced(page).matchAll(/<p class="hint byline">(?:(?!<p).)*?<span>((?:(?!<p).)*?), <time/g)].map(
    ([, author = '']) => author,
  )
}

/** A seed that an agent created for the member, with a piece of evidence of it, and one of the member. */
async function createSeedOfAgent(): Promise<{ grantId: string; path: string }> {
  const { id: grantId } = await insertGrant(
    website,
    workspace,
    { ...member, name: 'Mary' },
    { clientName: 'Claude Code' },
  )
  const user = await website.services.accounts.findByEmail(member.email)
  if (!user) throw new Error('the member is not there')
  const grant = {
    id: grantId,
    clientId: 'x',
    clientName: 'Claude Code',
    scopes: [],
    consentVersion: 0,
    membersMayAsk: false,
    expiresAt: new Date(),
  }
  const place = { id: workspace.id, name: 'Acme', slug: base.split('/').at(-1) ?? '' }
  const principal = toPrincipal({ grant, user, workspace: place, role: 'member' })
  const { evidence, seeds } = website.services
  const seed = await seeds.create(principal, place.slug, { title: 'By a program', summary: 'It does.' })
  await seeds.join(principal, seed.id)
  await evidence.add(principal, seed.id, { kind: 'note', verdict: 'neutral', summary: 'It did.' })
  const path = `${base}/seeds/${seed.id}`
  await addEvidence(member, path)
  return { grantId, path }
}

/** The error beside a field. */
function errorOf(page: string, field: string): string | undefined {
  return new RegExp(`id="${field}-error"[^>]*>([^<]*)<`).exec(page)?.[1]
}

describe('the permanent address of a seed', () => {
  it('leads members to its page, whatever the slug is now, and also when it is deleted', async () => {
    const there = await startWorkspace()
    const { visitor } = there.owner
    const path = await createSeed(there.owner, {}, there.base)
    const lead = async () => (await visitor.get(`/s/${idOf(path)}`)).headers.location
    expect(await lead()).toBe(path)
    const slug = randomSlug()
    await db.execute(sql`update workspaces set slug = ${slug} where id = ${there.workspace.id}`)
    expect(await lead()).toBe(`/w/${slug}/seeds/${idOf(path)}`)
    await db.execute(sql`update seeds set deleted_at = now() where id = ${idOf(path)}`)
    expect(await lead()).toBe(`/w/${slug}/seeds/${idOf(path)}`)
  })

  it('is the same 404 for a seed of others and for none, and asks strangers to sign in', async () => {
    const path = await createSeed()
    const stranger = await startWorkspace()
    for (const id of [idOf(path), createId(), 'x'])
      expect((await stranger.owner.visitor.get(`/s/${id}`)).statusCode).toBe(404)
    const answer = await website.app.inject({ url: `/s/${idOf(path)}` })
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe(`/sign-in?next=%2Fs%2F${idOf(path)}`)
  })
})

describe('a workspace without seeds', () => {
  it('explains what a seed is, and offers one action to those who may create one', async () => {
    const empty = await startWorkspace()
    await addMember(website, empty.workspace, viewer, 'viewer')
    for (const view of ['list', 'board']) {
      const { body } = await empty.owner.visitor.get(`${empty.base}/seeds?view=${view}`)
      expect(body).toContain('A seed is an early idea')
      expect(body.match(/<a class="button"/g)).toHaveLength(1)
      expect(body).toContain(`href="${empty.base}/seeds/new"`)
      expect(body).not.toContain('role="search"')
    }
    const { body } = await viewer.visitor.get(`${empty.base}/seeds`)
    expect(body).toContain('A seed is an early idea')
    expect(body).not.toContain('class="button"')
    expect((await empty.owner.visitor.get(empty.base)).body).toContain('None is in progress.')
  })
})

describe('a seed', () => {
  it('is explained to people until they have made one', async () => {
    const { base: path, owner: first } = await startWorkspace()
    const explains = async (page: string) =>
      (await first.visitor.get(path + page)).body.includes('<p class="lead">A seed is')
    expect(await explains('/seeds/new')).toBe(true)
    await first.visitor.submit(`${path}/seeds/new`, { title: 'Fewer', summary: 'Meetings' })
    const id = /seeds\/([0-9a-f-]{36})\/edit/.exec(first.visitor.page())?.[1]
    for (const view of ['list', 'board']) expect(await explains(`/seeds?view=${view}`)).toBe(false)
    // Of somebody else, from here on.
    await db.execute(sql`update seeds set created_by_user_id = null where id = ${id}`)
    for (const view of ['list', 'board']) expect(await explains(`/seeds?view=${view}`)).toBe(true)
  })

  it('is created from the form, with an event', async () => {
    const path = await createSeed()
    const [row] = await selectRows(
      db,
      sql`select title, summary, problem, audience, hypothesis, success_criteria, status, created_by_user_id
        from seeds where id = ${idOf(path)}`,
    )
    expect(row).toEqual({
      ...{ title: 'Fewer meetings', summary: 'A day of none.', problem: 'Everybody talks.' },
      ...{ audience: 'Teams of eight.', hypothesis: 'Writing is enough.' },
      success_criteria: ['Two meetings a week', 'Nobody misses them'],
      status: 'open',
      created_by_user_id: member.id,
    })
    const events = await selectRows(db, sql`select type, source from events where target_id = ${idOf(path)}`)
    expect(events).toEqual([{ type: 'seed.created', source: 'web' }])

    const { body } = await viewer.visitor.get(path)
    expect(body).toContain('<bdi>Fewer meetings</bdi>')
    for (const text of ['A day of none.', 'Everybody talks.', 'Teams of eight.'])
      expect(body).toContain(`<div class="markdown" dir="auto"><p>${text}</p>`)
    expect(body).toContain('<bdi>Nobody misses them</bdi>')
    expect(withoutLinks(body)).toContain('Mary created the seed')
    expect(spaced(body)).toMatch(/<bdi>Mary<\/bdi><\/a> <span class="tag">Lead<\/span>/)
    expect(body).toContain('Nothing yet.')
    expect(spaced(body)).toMatch(
      /Led by <a href="#people"><bdi>Mary<\/bdi><\/a> <\/p> <p> Created by <bdi>Mary<\/bdi>/,
    )
  })

  it('requires only a title and a summary', async () => {
    const path = await createSeed(member, {
      problem: ' ',
      audience: '',
      hypothesis: '',
      successCriteria: '\r\n',
    })
    const [row] = await selectRows(
      db,
      sql`select problem, audience, hypothesis, success_criteria from seeds where id = ${idOf(path)}`,
    )
    expect(row).toEqual({ problem: null, audience: null, hypothesis: null, success_criteria: [] })
    const { body } = await member.visitor.get(path)
    for (const heading of ['Problem', 'Audience', 'Hypothesis', 'Success criteria'])
      expect(body).not.toContain(`<h2>${heading}</h2>`)
  })

  it('keeps tabs, stores line separators as line breaks, and white space of a title as single spaces', async () => {
    const path = await createSeed(member, {
      ...texts,
      title: 'A\ttitle\u00a0 with\u2003spaces',
      summary: 'Name\tCount\r\nA\t1\u2028B\t2\u000bC',
      successCriteria: 'One\ttab',
    })
    const [row] = await selectRows(
      db,
      sql`select title, summary, success_criteria as criteria from seeds where id = ${path.split('/').at(-1)}`,
    )
    expect(row).toEqual({
      title: 'A title with spaces',
      summary: 'Name\tCount\nA\t1\nB\t2\nC',
      criteria: ['One tab'],
    })
  })

  it('marks every invalid text of a form, and the first has the focus', async () => {
    await member.visitor.get(`${base}/seeds/new`)
    const sent = {
      ...texts,
      title: ' ',
      summary: '',
      problem: 'x\r\n'.repeat(1000),
      audience: 'x'.repeat(2001),
    }
    const { statusCode, body } = await member.visitor.submit(`${base}/seeds/new`, { ...sent, hypothesis: '' })
    expect(statusCode).toBe(400)
    const marked = [...body.matchAll(/id="(\w+)"[^>]*aria-invalid="true"( autofocus)?/g)]
    expect(marked.map(([, field, focus]) => [field, focus !== undefined])).toEqual([
      ['title', true],
      ['summary', false],
      ['audience', false],
    ])
    expect(body).toContain('id="summary-error"')
    expect(body).toContain('This text must be at most 2000 characters.')
  })

  it.each([
    ['title', ' ', 'This text must not be blank.'],
    ['title', 'x'.repeat(121), 'This text must be at most 120 characters.'],
    ['title', 'a\u202eb', 'This text must not contain U+202E (character 2).'],
    ['summary', '', 'This text must not be blank.'],
    ['summary', 'x'.repeat(2001), 'This text must be at most 2000 characters.'],
    ['problem', 'x'.repeat(2001), 'This text must be at most 2000 characters.'],
    ['audience', 'x\u0000', 'This text must not contain U+0000 (character 2).'],
    ['hypothesis', 'x'.repeat(2001), 'This text must be at most 2000 characters.'],
    ['successCriteria', 'x'.repeat(301), 'This text must be at most 300 characters.'],
    ['successCriteria', 'line\n'.repeat(21), 'There are more than 20 criteria.'],
  ])(
    'returns 400 with the error at %s, which gets the focus, and keeps the typed values',
    async (field, text, fault) => {
      const path = await createSeed()
      for (const form of [`${base}/seeds/new`, `${path}/edit`]) {
        await member.visitor.get(form)
        const answer = await member.visitor.submit(form, {
          ...texts,
          audience: 'Typed & kept',
          [field]: text,
        })
        expect(answer.statusCode).toBe(400)
        expect(errorOf(answer.body, field)).toContain(fault)
        expect(answer.body.match(/class="error"/g)).toHaveLength(1)
        expect(answer.body.match(/autofocus/g)).toHaveLength(1)
        expect(answer.body).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true" autofocus`))
        if (field !== 'audience') expect(answer.body).toContain('>Typed &amp; kept</textarea>')
        expect(answer.body).toContain('<title>Error: ')
      }
    },
  )

  it('may have the maximum length, with line breaks counted as one character', async () => {
    const summary = `${'x'.repeat(999)}\r\n${'y'.repeat(1000)}`
    const path = await createSeed(member, { summary, title: '😀'.repeat(120) })
    const [row] = await selectRows<{ summary: string }>(
      db,
      sql`select summary from seeds where id = ${idOf(path)}`,
    )
    expect(row?.summary).toBe(summary.replace('\r\n', '\n'))
  })

  it('can be edited and change its status, with events', async () => {
    const path = await createSeed()
    const form = await member.visitor.get(`${path}/edit`)
    expect(form.body).toContain('value="Fewer meetings"')
    expect(form.body).toContain('>Two meetings a week\nNobody misses them</textarea>')
    const saved = await member.visitor.submit(`${path}/edit`, { ...texts, title: 'No meetings', problem: '' })
    expect(noticeOn(saved.body)).toBe('Saved.')
    for (const status of ['validating', 'validated', 'open', 'dropped']) {
      const { body } = await member.visitor.get(path)
      expect(body).toContain(`name="status" value="${status}"`)
      const changed = await member.visitor.submit(`${path}/status`, { status })
      expect(noticeOn(changed.body)).toBe('Status changed.')
      expect((await member.visitor.get(path)).body).not.toContain(`name="status" value="${status}"`)
    }
    const { body } = await viewer.visitor.get(path)
    expect(body).toContain('<bdi>No meetings</bdi>')
    expect(body).not.toContain('Everybody talks.')
    expect(withoutLinks(body)).toContain(
      'Mary changed the seed: the title from Fewer meetings to No meetings and the problem',
    )
    expect(withoutLinks(body)).toContain('Mary changed the status of the seed from open to dropped')
    expect((await member.visitor.submit(`${path}/status`, { status: 'lost' })).statusCode).toBe(403)
  })

  it('can be joined and left', async () => {
    const path = await createSeed()
    await joinSeed(member, path)
    await joinSeed(owner, path)
    const { body } = await viewer.visitor.get(path)
    const participants = body.split('id="people"')[1]?.split('</section>')[0] ?? ''
    const people = [...participants.matchAll(/\/people\/([\w-]+)"\s*><bdi>(\w+)</g)]
    expect(people.map(([, id, name]) => [id, name])).toEqual([
      [member.id, 'Mary'],
      [owner.id, 'Olga'],
    ])
    await member.visitor.get(path)
    const left = await member.visitor.submit(`${path}/leave`)
    expect(noticeOn(left.body)).toBe('You left the seed. Your evidence stays.')
    const rows = await selectRows(
      db,
      sql`select user_id from seed_participants where seed_id = ${idOf(path)}`,
    )
    expect(rows).toEqual([{ user_id: owner.id }])
  })

  it('returns 409 when a member joins it after it was validated', async () => {
    const path = await createSeed()
    await member.visitor.get(path)
    await member.visitor.submit(`${path}/leave`)
    await member.visitor.submit(`${path}/status`, { status: 'validated' })
    const page = await member.visitor.get(path)
    expect(page.body).not.toContain(`${path}/join`)
    expect(page.body).toContain('Validated seeds cannot be joined. Reopen it first.')
    const answer = await member.visitor.submit(`${path}/join`)
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('can no longer be joined')
  })

  it('returns 404 for a seed of another workspace', async () => {
    const other = await startWorkspace()
    await addMember(website, other.workspace, member, 'member')
    const path = await createSeed(member, {}, other.base)
    expect((await member.visitor.get(path)).statusCode).toBe(200)
    for (const id of [idOf(path), createId(), 'x', '%00'])
      for (const end of ['', '/edit'])
        expect((await member.visitor.get(`${base}/seeds/${id}${end}`)).statusCode, `${id}${end}`).toBe(404)
    // Its people cannot reach it with the address of their own workspace either.
    await viewer.visitor.get(base)
    for (const end of ['join', 'leave', 'status', 'evidence', 'edit']) {
      const fields = { ...texts, ...finding, status: 'dropped' }
      expect((await viewer.visitor.submit(`${base}/seeds/${idOf(path)}/${end}`, fields)).statusCode).toBe(404)
    }
  })

  it('shows its whole history on several pages', async () => {
    const path = await createSeed()
    await member.visitor.get(path)
    for (let i = 0; i < 21; i++)
      await member.visitor.submit(`${path}/status`, { status: i % 2 === 0 ? 'validating' : 'open' })
    const first = await viewer.visitor.get(path)
    expect(first.body).not.toContain('created the seed')
    const next = /href="([^"]*history=[^"]*)"/.exec(first.body)?.[1] ?? ''
    expect(withoutLinks((await viewer.visitor.get(next)).body)).toContain('Mary created the seed')
  })

  it('shows which agents read seeds, to people who may see those agents', async () => {
    const path = await createSeed()
    const grant = await insertGrant(
      website,
      workspace,
      { id: member.id, name: 'Mary' },
      { clientName: 'Robbie <3' },
    )
    const at = new Date('2026-05-03T10:11:12Z')
    const shown = async ({ visitor }: Person) => (await visitor.get(path)).body
    expect(await shown(owner)).toMatch(/<bdi>Robbie &lt;3<\/bdi>[\s\S]*has not been used/)
    await db.execute(sql`update agent_grants set last_used_at = now() where id = ${grant.id}`)
    expect(await shown(owner)).toContain(', has not read seeds in the last 30 days')
    await db.execute(sql`
      insert into agent_calls (grant_id, day, tool, calls, failures, last_called_at)
      values (${grant.id}, now(), 'read_validation_kit', 1, 0, ${at.toISOString()})`)
    for (const reader of [owner, member]) expect(await shown(reader)).toContain('3 May 2026, 10:11 UTC')
    // The last of the tools that return texts, if it ever succeeded.
    await db.execute(sql`
      insert into agent_calls (grant_id, day, tool, calls, failures, last_called_at)
      values (${grant.id}, now(), 'search', 1, 0, '2026-05-06T00:00:00Z')`)
    expect(await shown(owner)).toContain('3 May 2026, 10:11 UTC')
    await db.execute(sql`
      insert into agent_calls (grant_id, day, tool, calls, failures, last_called_at)
      values (${grant.id}, now(), 'fetch', 1, 1, '2026-05-05T00:00:00Z')`)
    expect(await shown(owner)).toContain('3 May 2026, 10:11 UTC')
    await db.execute(sql`update agent_calls set calls = 2 where grant_id = ${grant.id} and tool = 'fetch'`)
    expect(await shown(owner)).toContain('5 May 2026, 00:00 UTC')
    expect(await shown(viewer)).toContain('None of your agents can read this seed.')
    await db.execute(sql`delete from agent_grants where id = ${grant.id}`)
  })
})

describe('evidence', () => {
  it('is added by members, who join with it, and shows its verdict, kind, source and author', async () => {
    const path = await createSeed()
    await member.visitor.get(path)
    expect(member.visitor.page()).not.toContain('You join the seed with it')
    await member.visitor.submit(`${path}/leave`)
    await member.visitor.get(path)
    expect(member.visitor.page()).toContain('You join the seed with it')
    const added = await addEvidence(member, path, {
      summary: 'Line one\r\nline two',
      sourceUrl: ' https://example.com/a?b=1&c ',
    })
    expect(noticeOn(added.body)).toBe('Evidence added.')
    expect(added.body).toContain(`${path}/leave`)
    const [row] = await selectRows(
      db,
      sql`select kind, verdict, summary, source_url, author_name from evidence where seed_id = ${idOf(path)}`,
    )
    expect(row).toEqual({
      ...{ kind: 'survey', verdict: 'contradicts', summary: 'Line one\nline two' },
      ...{ source_url: 'https://example.com/a?b=1&c', author_name: 'Mary' },
    })
    const { body } = await viewer.visitor.get(path)
    expect(body).toMatch(/verdict-contradicts">Contradicts<\/span> <span class="kind"\s*><svg.*>Survey</s)
    expect(body).toContain('<p>Line one<br>\nline two</p>')
    expect(body).toContain('href="https://example.com/a?b=1&amp;c" rel="noopener noreferrer nofollow"')
  })

  it.each([
    ['summary', ' '],
    ['summary', 'x'.repeat(4001)],
    ['sourceUrl', 'javascript:alert(1)'],
    ['sourceUrl', 'https://user:password@example.com'],
    ['sourceUrl', `https://example.com/${'x'.repeat(2048)}`],
  ])('returns 400 with the error at %s, and keeps the typed values', async (field, text) => {
    const path = await createSeed()
    await joinSeed(member, path)
    const answer = await addEvidence(member, path, { summary: 'Typed', kind: 'metric', [field]: text })
    expect(answer.statusCode).toBe(400)
    expect(errorOf(answer.body, field)).toBeTruthy()
    expect(answer.body).toMatch(new RegExp(`id="${field}"[^>]*autofocus`))
    expect(answer.body).toContain('<details class="reveal" id="add-evidence" open>')
    expect(answer.body).toMatch(/value="contradicts"\s+required\s+checked/)
    expect(answer.body).toMatch(/<option value="metric" selected>/)
    if (field !== 'summary') expect(answer.body).toContain('>Typed</textarea>')
    expect(answer.body.match(/role="alert"/g)).toBeNull()
    expect(await selectRows(db, sql`select id from evidence where seed_id = ${idOf(path)}`)).toEqual([])
  })

  it('shows the agent that added it, as the seed does, and can be filtered by agents or people', async () => {
    const { grantId, path } = await createSeedOfAgent()
    const { body } = await viewer.visitor.get(path)
    const mark = '<span class="tag agent">Agent</span> <bdi>Claude Code</bdi>'
    expect(spaced(body)).toContain(`Created by ${mark} for <bdi>Mary</bdi>`)
    expect(piecesOn(body)).toEqual([`${mark} for <bdi>Mary</bdi>`, `<bdi>Mary</bdi>`])
    const byAgents = await viewer.visitor.get(`${path}?only=agents`)
    expect(piecesOn(byAgents.body)).toEqual([`${mark} for <bdi>Mary</bdi>`])
    expect(byAgents.body).toMatch(/only=agents#thread"\s+aria-current="true"/)
    expect(piecesOn((await viewer.visitor.get(`${path}?only=people`)).body)).toEqual(['<bdi>Mary</bdi>'])
    for (const view of ['list', 'board']) {
      const { body: list } = await viewer.visitor.get(`${base}/seeds?view=${view}&q=By+a+program`)
      expect(spaced(list)).toContain(mark)
    }
    await db.execute(sql`delete from agent_grants where id = ${grantId}`)
    expect(piecesOn((await viewer.visitor.get(`${path}?only=agents`)).body)).toHaveLength(1)
  })

  it('on a seed that is closed is for participants alone, which the page says; a form of before keeps its text', async () => {
    const path = await createSeed()
    await member.visitor.get(path)
    await member.visitor.submit(`${path}/leave`)
    await db.execute(sql`update seeds set status = 'dropped' where id = ${idOf(path)}`)
    const answer = await addEvidence(member, path, { summary: 'A long text' })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('can no longer be joined')
    expect(answer.body).toContain('>A long text</textarea>')
    const { body } = await member.visitor.get(path)
    expect(spaced(body)).toContain('This seed is dropped: only its participants can add evidence.')
    expect(body).not.toContain(`action="${path}/evidence"`)
  })

  it('is drawn as a chart that is readable without color', async () => {
    const path = await createSeed()
    expect((await member.visitor.get(path)).body).not.toContain('<figure')
    await joinSeed(member, path)
    const first = await addEvidence(member, path)
    expect(first.body).toContain('<svg class="balance-bar"')
    // One day is no development.
    expect(first.body).not.toContain('over-time')
    await db.execute(sql`delete from evidence where seed_id = ${idOf(path)}`)
    for (const [verdict, daysAgo] of [
      ['supports', 0],
      ['supports', 1],
      ['contradicts', 40],
      ['neutral', 900],
    ] as const) {
      await db.execute(sql`
        insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
        values (${createId()}, ${idOf(path)}, 'note', ${verdict}, 'x', 'Olga', now() - ${daysAgo} * interval '1 day')`)
    }
    const { body } = await viewer.visitor.get(path)
    for (const words of ['2 support it', '1 contradicts it', '1 neutral']) expect(body).toContain(words)
    const bar = /<svg class="balance-bar"[\s\S]*?<\/svg>/.exec(body)?.[0]
    expect(bar).toMatch(/class="supports" width="50" [\s\S]*class="contradicts"\s+x="75"\s+width="25"/)
    const picture = /<svg\s+class="over-time"\s+viewBox="0 0 480[\s\S]*?<\/svg>/.exec(body)?.[0] ?? ''
    // Both that support fall into the last of the periods.
    expect(picture.match(/class="supports"/g)).toHaveLength(1)
    expect(picture.match(/class="contradicts"/g)).toHaveLength(1)
    expect(picture.match(/class="neutral"/g)).toHaveLength(1)
    expect(body.match(/id="hatch"/g)).toHaveLength(1)
    expect(body).not.toMatch(/NaN|Infinity/)
  })

  it('is listed on several pages, forward and back', async () => {
    const path = await createSeed()
    for (let i = 0; i < 45; i++)
      await db.execute(sql`
        insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
        values (${createId()}, ${idOf(path)}, 'note', 'neutral', ${`Finding ${i}.`}, 'Olga', now() - ${i} * interval '1 minute')`)
    expect(await walk(viewer, path, /Finding \d+\./g)).toEqual([30, 15])
  })
})

/** Walks through the pages of a list and back, which are the same. Returns the number of rows of each. */
async function walk({ visitor }: Person, path: string, row: RegExp) {
  const follow = (page: string, rel: string) =>
    new RegExp(`rel="${rel}" href="([^"]*)"`).exec(page)?.[1]?.replaceAll('&amp;', '&').replace(/#.*/, '')
  const read = (page: string) => page.match(row) ?? []
  const forward: string[][] = []
  let page = (await visitor.get(path)).body
  for (;;) {
    forward.push(read(page))
    const next = follow(page, 'next')
    if (next === undefined) break
    page = (await visitor.get(next)).body
  }
  const backward = [read(page)]
  for (let previous = follow(page, 'prev'); previous !== undefined; previous = follow(page, 'prev')) {
    page = (await visitor.get(previous)).body
    backward.unshift(read(page))
  }
  expect(new Set(forward.flat()).size).toBe(forward.flat().length)
  expect(backward).toEqual(forward)
  return forward.map((rows) => rows.length)
}

describe('a viewer', () => {
  it('sees no form that the role does not permit, and gets 403 when sending one', async () => {
    const path = await createSeed()
    for (const page of [`${base}/seeds`, path, base]) {
      const { body } = await viewer.visitor.get(page)
      expect(body).not.toContain('/seeds/new')
      const forms = [...body.matchAll(/<form\s+method="post"\s+action="([^"]*)"/g)].map(
        ([, action]) => action,
      )
      // Everybody who reads a seed may follow it, and hide their first steps.
      const more: Record<string, string> = { [path]: `${path}/follow`, [base]: `${base}/first-steps` }
      expect(forms, page).toEqual(['/sign-out', more[page]].filter((form) => form !== undefined))
      expect(body).not.toContain(`${path}/edit`)
    }
    expect((await viewer.visitor.get(`${base}/seeds/new`)).statusCode).toBe(403)
    expect((await viewer.visitor.get(`${path}/edit`)).statusCode).toBe(403)
    await viewer.visitor.get(path)
    for (const [form, fields] of [
      [`${base}/seeds/new`, texts],
      [`${path}/edit`, texts],
      [`${path}/status`, { status: 'dropped' }],
      [`${path}/move`, { status: 'dropped' }],
      [`${path}/join`, {}],
      [`${path}/leave`, {}],
      [`${path}/evidence`, finding],
      [`${path}/lead`, { leadUserId: '' }],
      [`${path}/delete`, {}],
      [`${path}/restore`, {}],
    ] as const) {
      const answer = await viewer.visitor.submit(form, fields)
      expect(answer.statusCode, form).toBe(403)
    }
    const events = await selectRows(db, sql`select type from events where actor_user_id = ${viewer.id}`)
    expect(events).toEqual([])
  })
})

describe('the list of seeds', () => {
  it('can be searched, filtered and sorted, and keeps the chosen options in its form', async () => {
    const { owner: one, base: at, workspace: place } = await startWorkspace()
    await addMember(website, place, member, 'member')
    const paths: Record<string, string> = {}
    for (const [person, title] of [
      [one, 'Apples'],
      [member, 'Pears'],
      [one, 'Plums & "pears"'],
    ] as const)
      paths[title] = await createSeed(person, { title }, at)
    await db.execute(sql`delete from seed_participants where workspace_id = ${place.id}`)
    await joinSeed(one, String(paths.Pears))
    await one.visitor.submit(`${paths.Apples}/status`, { status: 'validating' })
    const list = async (query: string) => titlesOn((await one.visitor.get(`${at}/seeds?${query}`)).body)
    const plums = 'Plums &amp; &quot;pears&quot;'
    // By the last change.
    expect(await list('')).toEqual(['Apples', plums, 'Pears'])
    expect(await list('sort=createdAt')).toEqual([plums, 'Pears', 'Apples'])
    expect(await list('q=PEARS')).toEqual([plums, 'Pears'])
    expect(await list('of=mine&sort=createdAt')).toEqual([plums, 'Apples'])
    expect(await list('of=joined')).toEqual(['Pears'])
    await db.execute(sql`update seeds set lead_user_id = null where id = ${idOf(String(paths.Pears))}`)
    expect(await list('of=unled')).toEqual(['Pears'])
    expect(await list('of=led&sort=createdAt')).toEqual([plums, 'Apples'])
    expect(await list('of=led&balance=for')).toEqual([])
    expect(await list('balance=none&q=plums')).toEqual([plums])
    expect(await list('status=validating')).toEqual(['Apples'])
    expect(await list('status=open&of=mine&q=plums')).toEqual([plums])
    const { body } = await one.visitor.get(`${at}/seeds?q=${encodeURIComponent('& "p')}&of=mine&status=open`)
    expect(body).toContain('value="&amp; &quot;p"')
    for (const option of ['mine', '']) expect(body).toContain(`<option value="${option}" selected>`)
    expect(body).toContain('<input type="hidden" name="status" value="open" />')
    expect(body).toContain('1 seed matches')
    expect((await one.visitor.get(`${at}/seeds?q=PEARS`)).body).toContain('2 seeds match')
    expect((await one.visitor.get(`${at}/seeds`)).body).not.toMatch(/\d seeds? match/)
    expect(tabsOn(body)).toEqual(['All 1', 'Open 1 (current)', 'Validating 0', 'Validated 0', 'Dropped 0'])
    expect(tabsOn((await one.visitor.get(`${at}/seeds`)).body)).toEqual([
      ...['All 3 (current)', 'Open 2', 'Validating 1', 'Validated 0', 'Dropped 0'],
    ])
    // Unknown words, repeated parameters and characters that cannot be stored count as none or the last.
    for (const query of ['status=lost', 'of=theirs', 'sort=title', 'view=map', 'q=%00', 'q=a&q='])
      expect(await list(query), query).toHaveLength(3)
    const nothing = await one.visitor.get(`${at}/seeds?q=nothing`)
    expect(nothing.body).toContain('No seed matches these filters.')
    expect(nothing.body).not.toMatch(/\d seeds? match/)
    expect(nothing.body).not.toContain('A seed is an early idea')
    expect((await one.visitor.get(`${at}/seeds?cursor=x`)).body).toContain(
      'no longer exists. This is the first page',
    )
  })

  it('has several pages, forward and back, which keep the filters', async () => {
    const { owner: one, base: at, workspace: place } = await startWorkspace()
    for (let i = 0; i < 120; i++)
      await db.execute(sql`
        insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
        values (${createId()}, ${place.id}, ${`Idea ${i}.`}, 'x', ${i % 12 === 0 ? 'dropped' : 'open'},
          now() - ${i} * interval '1 minute', now() - ${i} * interval '1 minute')`)
    const title = /<bdi>Idea \d+\./g
    expect(await walk(one, `${at}/seeds`, title)).toEqual([50, 50, 20])
    expect(await walk(one, `${at}/seeds?q=idea&status=open&sort=createdAt`, title)).toEqual([50, 50, 10])
  })

  it('can be shown as a board, and remembers the choice', async () => {
    const { owner: one, base: at, workspace: place } = await startWorkspace()
    for (let i = 0; i < 25; i++)
      await db.execute(sql`
        insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
        values (${createId()}, ${place.id}, ${`Idea ${i}`}, 'x', ${i < 2 ? 'validating' : 'open'},
          now() - ${i} * interval '1 minute', now() - ${i} * interval '1 minute')`)
    expect((await one.visitor.get(`${at}/seeds`)).body).not.toContain('class="board"')
    const { body, cookies } = await one.visitor.get(`${at}/seeds?view=board&q=idea`)
    expect(cookies).toMatchObject([{ name: 'seeds-view', value: 'board', httpOnly: true, sameSite: 'Lax' }])
    const lanes = body.split('<section class="lane"').slice(1)
    expect(lanes.map((lane) => titlesOn(lane).length)).toEqual([20, 2, 0, 0])
    expect(lanes[0]).toContain(`href="${at}/seeds?q=idea&amp;view=board&amp;lane-open=60#lane-open"`)
    expect(lanes[1]).not.toContain('Show more')
    expect((await one.visitor.get(`${at}/seeds`)).body).toContain('class="board"')
    const list = await one.visitor.get(`${at}/seeds?view=list`)
    expect(list.body).not.toContain('class="board"')
    expect((await one.visitor.get(`${at}/seeds`)).body).not.toContain('class="board"')
  })
})

describe('the lanes of the board', () => {
  it('show more by a link, each for itself, up to a number, and then lead to the list', async () => {
    const { owner: one, base: at, workspace: place } = await startWorkspace()
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select gen_random_uuid(), ${place.id}, 'Idea ' || i, 'x', case when i <= 30 then 'dropped' else 'open' end, now(), now()
      from generate_series(1, 230) as i`)
    const lengthsAt = async (query: string) => {
      const { body } = await one.visitor.get(`${at}/seeds?view=board${query}`)
      const lanes = body.split('<section class="lane"').slice(1)
      const next = /data-more\s+href="[^"]*\?([^"]*)"/.exec(lanes[0] ?? '')?.[1]?.replaceAll('&amp;', '&')
      return { lengths: lanes.map((lane) => titlesOn(lane).length), next, first: String(lanes[0]) }
    }
    expect(await lengthsAt('')).toMatchObject({
      ...{ lengths: [20, 0, 0, 20], next: 'view=board&lane-open=60#lane-open' },
    })
    expect(await lengthsAt('&lane-open=60&lane-dropped=60&q=idea')).toMatchObject({
      lengths: [60, 0, 0, 30],
      next: 'q=idea&view=board&lane-open=100&lane-dropped=60#lane-open',
    })
    const last = await lengthsAt('&lane-open=180')
    expect(last.lengths).toEqual([180, 0, 0, 20])
    expect(last.next).toBeUndefined()
    expect(last.first).toMatch(/status=open&amp;view=list"\s*>All 200 open seeds</)
    for (const [asked, shown] of [
      ...([
        ['', 20],
        ['x', 20],
        ['-1', 20],
        ['1e9', 180],
        ['Infinity', 20],
        ['21', 60],
      ] as const),
    ])
      expect((await lengthsAt(`&lane-open=${asked}`)).lengths[0], asked).toBe(shown)
  })
})

describe('a seed in a list', () => {
  it('shows its evidence, comments and participants, the lead first', async () => {
    const path = await createSeed(owner, { title: 'Looms' })
    await joinSeed(member, path)
    await addEvidence(member, path)
    await member.visitor.get(path)
    await member.visitor.submit(`${path}/comments`, { body: 'Why?' })
    await db.execute(sql`update seeds set lead_user_id = ${member.id} where id = ${idOf(path)}`)
    for (const view of ['list', 'board']) {
      const { body } = await viewer.visitor.get(`${base}/seeds?view=${view}&q=looms`)
      expect(spaced(body)).toMatch(/<svg class="balance-bar".* 0 for, 1 against<\/span>/)
      // Where there is room for it.
      expect(body.includes('1 comment · ')).toBe(view === 'board')
      expect(body).toContain('title="Mary, Olga"')
    }
  })
})

describe('a card of the board', () => {
  /** Moves a card from one status to another, on a board with a search. */
  const move = (path: string, { q, to, from }: { q: string; to: string; from: string }) =>
    member.visitor.submit(
      `${path}/move?from=${from}`,
      { status: to },
      {
        'sec-fetch-site': 'same-origin',
        referer: `${website.config.webUrl}${base}/seeds?view=board&q=${q}`,
      },
    )

  it('is moved by its menu, without a script, and the board keeps its filters', async () => {
    const path = await createSeed(member, { title: 'Spinning' })
    const { body } = await member.visitor.get(`${base}/seeds?view=board&q=spinning`)
    expect(body).toContain(`formaction="${path}/move?from=open"`)
    const answer = await move(path, { q: 'spinning', to: 'validating', from: 'open' })
    expect(noticeOn(answer.body)).toBe('Moved to Validating.')
    const lanes = answer.body.split('<section').slice(1)
    expect(lanes.map((lane) => titlesOn(lane))).toEqual([[], ['Spinning'], [], []])
    expect(answer.body).toContain(`formaction="${path}/move?from=validating"`)
  })

  it('stays where others have moved it meanwhile', async () => {
    const path = await createSeed(member, { title: 'Weaving' })
    await member.visitor.get(`${base}/seeds?view=board&q=weaving`)
    await db.execute(sql`update seeds set status = 'dropped' where id = ${idOf(path)}`)
    const answer = await move(path, { q: 'weaving', to: 'validating', from: 'open' })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('Somebody else has moved this seed meanwhile.')
    const lanes = answer.body.split('<section').slice(1)
    expect(lanes.map((lane) => titlesOn(lane))).toEqual([[], [], [], ['Weaving']])
  })
})

describe('the workspace home', () => {
  it('shows the five seeds in progress that changed last', async () => {
    const { owner: one, base: at } = await startWorkspace()
    const paths: string[] = []
    for (let i = 0; i < 7; i++) paths.push(await createSeed(one, { title: `Seed ${i}` }, at))
    await one.visitor.get(at)
    await one.visitor.submit(`${paths[0]}/status`, { status: 'validating' })
    await one.visitor.submit(`${paths[6]}/status`, { status: 'dropped' })
    const { body } = await one.visitor.get(at)
    expect(titlesOn(body)).toEqual(['Seed 0', 'Seed 5', 'Seed 4', 'Seed 3', 'Seed 2'])
    expect(body).toContain(`href="${paths[0]}"`)
    expect(body).toMatch(new RegExp(`href="${at}/seeds"\\s*>Seeds</a>`))
  })
})

describe('text that people type into seeds', () => {
  it('is escaped and isolated on every page, in every field', async () => {
    const hostile = `"><script>alert(1)</script>'&amp;אדה 👩🏽‍💻`
    const person = await signUpAs(hostile)
    await addMember(website, workspace, person, 'member')
    const path = await createSeed(person, {
      ...{ title: hostile, summary: hostile, problem: hostile, audience: hostile },
      ...{ hypothesis: hostile, successCriteria: hostile },
    })
    await joinSeed(person, path)
    const added = await addEvidence(person, path, {
      summary: hostile,
      sourceUrl: `https://example.com/"><script>alert(1)</script>`,
    })
    expect(noticeOn(added.body)).toBe('Evidence added.')
    await insertGrant(website, workspace, { id: person.id, name: hostile }, { clientName: hostile })
    await person.visitor.get(path)
    const refused = await addEvidence(person, path, { summary: hostile, sourceUrl: hostile })
    const pages = [refused.body]
    for (const page of [
      path,
      `${path}/edit`,
      `${base}/seeds?view=list&q=${encodeURIComponent('"><script>')}`,
      `${base}/seeds?view=board`,
      base,
    ])
      pages.push((await person.visitor.get(page)).body)
    for (const page of pages) {
      expect(page).toContain('&lt;script&gt;')
      expect(page).not.toContain('<script>')
      expect(page).not.toMatch(/ style=| on[a-z]+=/)
      // Attributes, titles and fields contain only text.
      const rest = page.replace(
        /<(title|option|textarea)\b[\s\S]*?<\/\1>|<bdi\b[^<]*<\/bdi\s*>|<div class="markdown" dir="auto">[\s\S]*?<\/div>|="[^"]*"/g,
        '',
      )
      expect(rest).not.toContain('אדה')
    }
  })
})

describe('each page of seeds', () => {
  it('resolves the workspace once, and runs at most fourteen statements', async () => {
    const path = await createSeed()
    // At one time: the use of a session and of a workspace is recorded once a minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    for (const [page, most] of [
      // One of them is of the teams and labels to choose from, as of the forms; of lists, with the saved filters.
      [`${base}/seeds?view=list`, 6],
      [`${base}/seeds?view=board`, 9],
      // The last are of what its history names, its criteria's evidence and what was merged into it.
      [path, 14],
      [`${base}/seeds/new`, 3],
      [`${path}/edit`, 4],
    ] as const) {
      await member.visitor.get(page)
      const { texts: statements } = await recordStatements(() => member.visitor.get(page))
      expect(statements.filter((text) => text.includes('"workspace_slugs"'))).toHaveLength(1)
      expect(statements.length, `${page}:\n${statements.join('\n')}`).toBeLessThanOrEqual(most)
    }
  })
})
