import { sql } from 'drizzle-orm'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readAsset } from '../../src/assets/assets.ts'
import { roles } from '../../src/domain/roles.ts'
import { addPerson, createCompany, createTeam, patch, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { addEvidence, createLabel, createSeed, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { createVisitor, noticeOn, signInAs } from './visitor.ts'

const website = await startTestApp()

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, base: `/w/${company.workspace.slug}` }
}

/** The labels of the links of a navigation, with the current one marked. */
function linksOf(page: string, className: string): string[] {
  const nav = new RegExp(`<nav class="${className}"[^>]*>(.*?)</nav>`, 's').exec(page)?.[1] ?? ''
  return [...nav.matchAll(/<a href="[^"]*" (aria-current)?[^>]*>([^<]*)</g)].map(
    ([, current, label]) => `${String(label)}${current === undefined ? '' : '*'}`,
  )
}

describe('the navigation', () => {
  it('has six entries, and marks the current page', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    const names = ['Home', 'Seeds', 'People', 'Activity', 'Agents', 'Settings']
    for (const [path, current] of [
      ['', 'Home'],
      ['/seeds', 'Seeds'],
      ['/people', 'People'],
      ['/teams', 'People'],
      ['/invites', 'People'],
      ['/activity', 'Activity'],
      ['/agents', 'Agents'],
      ['/settings', 'Settings'],
    ] as const) {
      const { body } = await visitor.get(company.base + path)
      expect(linksOf(body, 'sections'), path).toEqual(
        names.map((name) => (name === current ? `${name}*` : name)),
      )
    }
  })

  it.each(roles)('shows %ss the invites tab only if they may list invites', async (role) => {
    const company = await startCompany()
    const { body } = await (await signInAs(website, company[role])).get(`${company.base}/people`)
    const invites = role === 'owner' || role === 'admin' ? ['Invites'] : []
    expect(linksOf(body, 'tabs')).toEqual(['People*', 'Teams', ...invites])
  })

  it('serves the former URL of the members page', async () => {
    const company = await startCompany()
    const { body } = await (await signInAs(website, company.viewer)).get(`${company.base}/members`)
    expect(body).toContain('<h1>People</h1>')
    expect(body).toContain('Mary Member')
  })
})

describe('the workspace menu', () => {
  it('lists the 20 workspaces used last, marks the current one, and runs no extra statement', async () => {
    const owner = await website.createPerson()
    const workspaces = []
    for (let i = 0; i < 21; i++)
      workspaces.push(await createWorkspace(website, owner, { name: `<b>Acme</b> ${i}` }))
    const visitor = await signInAs(website, owner)
    const last = workspaces[20]
    const { body } = await visitor.get(`/w/${String(last?.slug)}`)
    const menu = /<nav class="panel" aria-label="Workspaces">(.*?)<\/nav>/s.exec(body)?.[1] ?? ''
    const slugs = [...menu.matchAll(/href="\/w\/([^"]*)"/g)].map(([, slug]) => slug)
    expect(slugs).toEqual(
      workspaces
        .map(({ slug }) => slug)
        .toReversed()
        .slice(0, 20),
    )
    expect(menu.match(/aria-current/g)).toHaveLength(1)
    expect(menu).toMatch(new RegExp(`href="/w/${String(last?.slug)}" aria-current`))
    expect(menu).not.toContain('<b>Acme')
    // The session and the workspace.
    expect(await countQueries(() => visitor.get(`/w/${String(last?.slug)}/settings/delete`))).toBe(2)
  })

  it('does not list workspaces of other people', async () => {
    const [company, other] = [await startCompany(), await startCompany()]
    const { body } = await (await signInAs(website, company.member)).get(company.base)
    expect(body).toContain(`href="/w/${company.workspace.slug}"`)
    expect(body).not.toContain(other.workspace.slug)
  })
})

describe('the theme', () => {
  it('follows the device until one is chosen, and again when reset to the system', async () => {
    const visitor = await signInAs(website, await website.createPerson())
    const read = async (path = '/settings/profile') =>
      /<html lang="en" (?:data-theme="(\w+)")?/.exec((await visitor.get(path)).body)?.[1]
    expect(await read()).toBeUndefined()
    for (const theme of ['dark', 'light']) {
      const answer = await visitor.post('/settings/theme', { theme })
      expect(answer.statusCode).toBe(303)
      // Pages that read no session know it too.
      for (const path of ['/docs', '/no-such-page', '/settings/profile']) expect(await read(path)).toBe(theme)
    }
    await visitor.post('/settings/theme', { theme: 'system' })
    expect(await read()).toBeUndefined()
  })

  it('redirects back to the page, but never to another site', async () => {
    const visitor = await signInAs(website, await website.createPerson())
    await visitor.get('/settings/profile')
    const from = async (referer: string) =>
      (await visitor.post('/settings/theme', { theme: 'dark' }, { 'sec-fetch-site': 'same-origin', referer }))
        .headers.location
    expect(await from(`${website.config.webUrl}/settings/profile`)).toBe('/settings/profile')
    expect(await from('https://evil.example/settings/profile')).toBe('/')
  })

  it.each(['', 'DARK', '"><script>', '\0'])('follows the device for the unknown theme %j', async (theme) => {
    const visitor = await signInAs(website, await website.createPerson())
    await visitor.get('/settings/profile')
    expect((await visitor.post('/settings/theme', { theme })).statusCode).toBe(303)
    visitor.cookies.set('theme', theme)
    const { body, statusCode } = await visitor.get('/settings/profile')
    expect(statusCode).toBe(200)
    expect(body).not.toContain('data-theme')
  })
})

describe('the search', () => {
  const namesOf = (page: string) =>
    [...page.matchAll(/<a class="title"[^>]*><bdi>(.*?)<\/bdi>/g)].map(([, name]) =>
      name?.replaceAll(/<\/?mark>/g, ''),
    )

  it('finds seeds, people, pages and workspaces, as HTML and as JSON', async () => {
    const company = await startCompany()
    const seed = await createSeed(website, company.owner, company, { title: 'Marygold' })
    await createWorkspace(website, company.member, { name: 'Maryland' })
    const visitor = await signInAs(website, company.member)
    expect(namesOf((await visitor.get(`${company.base}/search?q=mary`)).body)).toEqual([
      'Mary Member',
      'Marygold',
      'Maryland',
    ])
    expect(namesOf((await visitor.get(`${company.base}/search?q=TEAMS`)).body)).toEqual(['Teams'])
    const found = await visitor.get(`${company.base}/search/results?q=marygold`, {
      accept: 'application/json',
    })
    expect(found.json()).toEqual({
      groups: [
        {
          name: 'Seeds',
          results: [{ label: 'Marygold', detail: 'A day of none', href: `${company.base}/seeds/${seed.id}` }],
        },
      ],
    })
  })

  it('shows how many of each kind match, all of them on pages, and each kind alone', async () => {
    const company = await startCompany()
    for (let i = 0; i < 27; i++) await createSeed(website, company.owner, company, { title: `Invoice ${i}` })
    for (let i = 0; i < 2; i++) await addPerson(website, company.workspace, 'viewer', `Ínvoice ${i}`)
    const visitor = await signInAs(website, company.viewer)
    const page = (await visitor.get(`${company.base}/search?q=invoice`)).body
    expect(namesOf(page)).toHaveLength(25)
    const choices = [...page.matchAll(/href="([^"]*)"[^>]*>\s*(\w+)\s+<span class="hint"\s*>([\d,+]*)</g)]
    expect(choices.map(([, , name, count]) => [name, count])).toEqual([
      ['Seeds', '27'],
      ['People', '2'],
    ])
    const next = /rel="next" href="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
    expect(namesOf((await visitor.get(String(next))).body)).toHaveLength(4)
    const people = await visitor.get(String(choices[1]?.[1]).replaceAll('&amp;', '&'))
    expect(namesOf(people.body).toSorted()).toEqual(['Ínvoice 0', 'Ínvoice 1'])
  })

  it('filters by what the seeds are, and keeps the filter in its links', async () => {
    const company = await startCompany()
    const { owner } = company
    const label = await createLabel(website, owner, company, 'Pricing')
    const seed = await createSeed(website, owner, company, { title: 'Invoice of ours' })
    const other = await createSeed(website, owner, company, { title: 'Invoice of others' })
    await website.as(owner, patch(`/v1/seeds/${other.id}`, { leadUserId: null }))
    const sorting = { labelIds: [label.id], status: 'validating', leadUserId: owner.id }
    const changed = await website.as(owner, patch(`/v1/seeds/${seed.id}`, sorting))
    expect(changed.statusCode, changed.body).toBe(200)
    const visitor = await signInAs(website, owner)
    const path = `${company.base}/search?q=invoice`
    expect(namesOf((await visitor.get(path)).body)).toHaveLength(2)
    await website.db.execute(
      sql`update seeds set decide_by = '2020-02-29', supports_count = 1 where id = ${seed.id}`,
    )
    const filters = [`label=${label.id}`, 'status=validating', 'lead=me', 'due=overdue', 'balance=for']
    for (const filter of filters) {
      const { body } = await visitor.get(`${path}&${filter}`)
      // Other words are looked for with the same filter.
      const [form = ''] = /<form class="search".*?<\/form>/s.exec(body) ?? []
      const [, name, value] = /type="hidden" name="(\w+)" value="([^"]+)"/.exec(form) ?? []
      expect(`${name}=${value}`).toBe(filter)
      expect(namesOf(body), filter).toEqual(['Invoice of ours'])
      expect(body).toMatch(/<option value="[^"]+"\s+selected/)
      expect(body).toContain(`kind=seed&amp;${filter}`)
    }
    expect(namesOf((await visitor.get(`${path}&lead=none`)).body)).toEqual(['Invoice of others'])
    const none = await visitor.get(`${path}&status=dropped`)
    expect(none.body).toContain('with these filters')
    // Unknown words count as none.
    expect(namesOf((await visitor.get(`${path}&status=x&lead=x`)).body)).toHaveLength(2)
  })

  it('finds evidence, and links to all of a kind from the palette', async () => {
    const company = await startCompany()
    const seed = await createSeed(website, company.owner, company, { title: 'Tools' })
    await joinSeed(website, company.owner, seed)
    for (let i = 0; i < 7; i++)
      await addEvidence(website, company.owner, seed, { summary: `Owns a drill ${i}` })
    const visitor = await signInAs(website, company.viewer)
    const found = await visitor.get(`${company.base}/search/results?q=drill`, { accept: 'application/json' })
    const { groups } = found.json<{
      groups: { name: string; results: { label: string; href: string }[] }[]
    }>()
    expect(groups.map(({ name }) => name)).toEqual(['Evidence'])
    expect(groups[0]?.results).toHaveLength(7)
    expect(groups[0]?.results.at(-1)).toEqual({
      label: 'All 7 pieces of evidence',
      detail: '',
      href: `${company.base}/search?q=drill&kind=evidence`,
    })
  })

  it('offers only pages that the role permits', async () => {
    const company = await startCompany()
    const find = async (role: 'viewer' | 'admin') =>
      (await (await signInAs(website, company[role])).get(`${company.base}/search/results`)).body
    const [viewer, admin] = [await find('viewer'), await find('admin')]
    for (const path of ['/invites', '/seeds/new']) {
      expect(admin).toContain(`${company.base}${path}`)
      expect(viewer).not.toContain(`${company.base}${path}`)
    }
  })

  it('offers what the role permits in the palette, with the status of the seed whose page is open', async () => {
    const [company, other] = [await startCompany(), await startCompany()]
    const seed = await createSeed(website, company.owner, company, { title: 'Tools' })
    const path = `${company.base}/seeds/${seed.id}`
    const find = async (role: 'viewer' | 'member' | 'admin', query = '') => {
      const visitor = await signInAs(website, company[role])
      const found = await visitor.get(`${company.base}/search/results?${query}`, {
        accept: 'application/json',
      })
      const { groups } = found.json<{
        groups: { name: string; results: { label: string; fields?: Record<string, string> }[] }[]
      }>()
      return { visitor, results: groups.find(({ name }) => name === 'Actions')?.results ?? [] }
    }
    const labels = async (...query: Parameters<typeof find>) =>
      (await find(...query)).results.map(({ label }) => label)
    const everybody = ['Go to your inbox', 'Use the light theme', 'Use the dark theme']
    const statuses = ['validating', 'validated', 'dropped'].map((status) => `Change the status to ${status}`)
    expect(await labels('admin')).toEqual(['New seed', 'Invite people', ...everybody])
    expect(await labels('member', `at=${path}`)).toEqual(['New seed', ...statuses, ...everybody])
    expect(await labels('viewer', `at=${path}`)).toEqual(everybody)
    expect(await labels('member', `q=status+dropped&at=${path}`)).toEqual(['Change the status to dropped'])
    // Not of a seed of another workspace, or of none.
    const foreign = await createSeed(website, other.owner, other)
    for (const id of [foreign.id, crypto.randomUUID(), 'new', '%00'])
      expect(await labels('member', `q=status&at=${company.base}/seeds/${id}`)).toEqual([])

    // The fields are those of the form: it is refused if the status is another one by then.
    const { visitor, results } = await find('member', `q=validating&at=${path}`)
    const fields = results[0]?.fields ?? {}
    await visitor.get(path)
    expect(noticeOn((await visitor.submit(`${path}/status`, fields)).body)).toBe('Status changed.')
    const opened = { ...fields, status: 'dropped' }
    expect((await visitor.submit(`${path}/status`, opened)).statusCode).toBe(409)
  })

  it('is on the pages outside of workspaces too, of the one that was used last', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.member)
    const linkOn = async (path: string) => /data-results="([^"]*)"/.exec((await visitor.get(path)).body)?.[1]
    for (const path of ['/settings/profile', '/notifications', '/onboarding', '/w/no-such'])
      expect(await linkOn(path), path).toBe(`${company.base}/search/results`)
    const newcomer = await signInAs(website, await website.createPerson())
    expect((await newcomer.get('/settings/profile')).body).not.toContain('data-palette')
  })

  it('finds nothing in other workspaces, and returns 403 to non-members', async () => {
    const [company, other] = [await startCompany(), await startCompany()]
    await createSeed(website, other.owner, other, { title: 'Secret of others' })
    const visitor = await signInAs(website, company.owner)
    const { body } = await visitor.get(`${company.base}/search?q=Secret%20of%20others`)
    expect(body).toContain('Nothing matches')
    expect(namesOf(body)).toEqual([])
    for (const path of ['/search?q=a', '/search/results?q=a'])
      expect((await visitor.get(other.base + path)).statusCode).toBe(403)
  })

  it.each(['q=%00', 'q=a&q=b', `q=${'x'.repeat(500)}`, 'q=%22%3E%3Cscript%3E', 'q=%25_\\'])(
    'returns 200 for the query %s, as HTML and as JSON',
    async (query) => {
      const company = await startCompany()
      const visitor = await signInAs(website, company.viewer)
      const page = await visitor.get(`${company.base}/search?${query}`)
      expect(page.statusCode).toBe(200)
      expect(page.body).not.toContain('"><script>')
      const data = await visitor.get(`${company.base}/search/results?${query}`)
      expect(data.statusCode).toBe(200)
    },
  )

  it('runs six statements, and one more for what is similar if little was found', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    // The session, the workspace, what is found, the counts, the choices of filters, and workspaces.
    expect(await countQueries(() => visitor.get(`${company.base}/search?q=example`))).toBe(6)
    expect(await countQueries(() => visitor.get(`${company.base}/search?q=mary`))).toBe(7)
  })

  it('shows what is similar, and says that nothing matches exactly, on the page and in the palette', async () => {
    const company = await startCompany()
    const seed = await createSeed(website, company.owner, company, { title: 'Sending an invoice' })
    const visitor = await signInAs(website, company.viewer)
    const { body } = await visitor.get(`${company.base}/search?q=invoices`)
    expect(body).toContain('No exact match. Similar:')
    expect(body).toContain(`/seeds/${seed.id}`)
    expect((await visitor.get(`${company.base}/search?q=invoice`)).body).not.toContain('No exact match')
    const data = await visitor.get(`${company.base}/search/results?q=invoices`)
    expect(data.json<{ groups: { name: string }[] }>().groups.map(({ name }) => name)).toEqual(['Similar'])
  })
})

describe('the page of a team', () => {
  it('adds members found by a search, and hides the buttons from viewers', async () => {
    const company = await startCompany()
    const team = await createTeam(website, company.admin, company, 'Research')
    const path = `${company.base}/teams/${team.id}`
    const admin = await signInAs(website, company.admin)
    const found = await admin.get(`${path}?q=mary`)
    expect(found.body).toContain(`name="userId" value="${company.member.id}"`)
    expect(found.body).not.toContain(company.viewer.email)
    await admin.submit(`${path}/members`, { userId: company.member.id })
    const added = (await admin.get(`${path}?q=mary`)).body
    expect(added).not.toContain('name="userId"')
    expect(added).toContain(`${path}/members/${company.member.id}/remove`)
    expect(added).toContain('1 member')
    const viewer = await signInAs(website, company.viewer)
    const { body } = await viewer.get(`${path}?q=adam`)
    expect(body).toContain('Adam Admin')
    expect(body).not.toContain('name="userId"')
    expect((await viewer.get(`${path}?q=%22%3E%3Cb%3E`)).body).not.toContain('"><b>')
  })

  it('finds a member among 200 others, in at most nine statements', async () => {
    const company = await startCompany()
    for (let i = 0; i < 205; i++) await addPerson(website, company.workspace, 'viewer', `Robot ${i}`)
    const last = await addPerson(website, company.workspace, 'member', 'Zoe Last')
    const team = await createTeam(website, company.owner, company, 'Research')
    const path = `${company.base}/teams/${team.id}`
    const visitor = await signInAs(website, company.owner)
    expect((await visitor.get(`${path}?q=zoe`)).body).toContain(`value="${last.id}"`)
    expect((await visitor.get(`${path}?q=robot`)).body).toContain('More people match.')
    await website.as(company.owner, post(`${team.url}/members`, { userId: last.id }))
    // Two of them are of the seeds of the team.
    expect(await countQueries(() => visitor.get(`${path}?q=zoe`))).toBeLessThanOrEqual(9)
  })
})

describe('the role of a member', () => {
  it('can be selected on their page only by members who may change it, from the roles that they may grant', async () => {
    const company = await startCompany()
    const pageOf = (id: string) => `${company.base}/people/${id}`
    const admin = await signInAs(website, company.admin)
    const page = (await admin.get(pageOf(company.member.id))).body
    expect([...page.matchAll(/name="role"\s+value="(\w+)"/g)].map(([, role]) => role)).toEqual([
      'admin',
      'member',
      'viewer',
    ])
    expect(page).toContain('Can read everything, but change nothing.')
    // Nobody changes somebody above them.
    expect((await admin.get(pageOf(company.owner.id))).body).not.toContain('name="role"')
    for (const role of ['member', 'viewer'] as const) {
      const visitor = await signInAs(website, company[role])
      for (const id of [company.owner.id, company.viewer.id, company.member.id])
        expect((await visitor.get(pageOf(id))).body).not.toContain('name="role"')
      expect((await visitor.get(`${company.base}/people`)).body).not.toContain('>Manage<')
    }
  })
})

describe('the workspace settings', () => {
  it.each(roles)('show %ss only the forms that the role permits', async (role) => {
    const company = await startCompany()
    const { body } = await (await signInAs(website, company[role])).get(`${company.base}/settings`)
    const mayChange = role === 'owner' || role === 'admin'
    expect(body.includes(`action="${company.base}/settings"`)).toBe(mayChange)
    expect(body.includes(`action="${company.base}/settings/icon"`)).toBe(mayChange)
    // The only owner cannot leave.
    expect(body.includes(`action="${company.base}/members/${company[role].id}/remove"`)).toBe(
      role !== 'owner',
    )
    expect(body.includes('You are the only owner.')).toBe(role === 'owner')
  })

  it('let an owner leave who is not the only one', async () => {
    const company = await startCompany()
    const other = await addPerson(website, company.workspace, 'owner')
    const { body } = await (await signInAs(website, other)).get(`${company.base}/settings`)
    expect(body).toContain(`action="${company.base}/members/${other.id}/remove"`)
  })
})

describe('the statements of pages, besides those for the session and the workspace', () => {
  // Besides the session and the workspace.
  it.each([
    // The seeds, their numbers, the teams, labels and saved filters to choose from, and whether the person has made one. A page with seeds
    // also reads their participants.
    ['/seeds', 4],
    ['/people', 2],
    ['/teams', 1],
    // The invites, and the teams that people can be invited to.
    ['/invites', 2],
    // The events, what they name, and the agents, teams and labels that they can be filtered by.
    ['/activity', 4],
    // The agents, and what was asked of them.
    ['/agents', 2],
    // Whether there is another owner, and what API keys may do once.
    ['/settings', 2],
    // The teams and labels to choose from.
    ['/seeds/new', 1],
  ])('the page %s runs this many: %i', async (path, own) => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    await visitor.get(company.base)
    expect(await countQueries(() => visitor.get(company.base + path))).toBe(2 + own)
  })
})

describe('the start page', () => {
  it('is smaller than 30 KB compressed, with one style sheet', async () => {
    const { body } = await createVisitor(website).get('/')
    expect(body.match(/rel="stylesheet"/g)).toHaveLength(1)
    const assets = [readAsset('site', 'css'), readAsset('site', 'js'), readAsset('icon', 'svg')]
    const bytes = [Buffer.from(body), ...assets.map(({ content }) => content)].map(
      (content) => gzipSync(content).length,
    )
    expect(bytes.reduce((sum, count) => sum + count)).toBeLessThan(30_000)
  })
})

describe('the design page', () => {
  it('shows the components, and returns 404 in production', async () => {
    const page = await createVisitor(website).get('/design')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('Buttons')
    const { databaseUrl } = website.config
    const production = await startTestApp({
      environment: { NODE_ENV: 'production', DATABASE_URL: String(databaseUrl) },
    })
    expect((await createVisitor(production).get('/design')).statusCode).toBe(404)
  })
})
