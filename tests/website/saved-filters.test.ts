import { describe, expect, it } from 'vitest'
import { createCompany, createTeam, del, get } from '../support/company.ts'
import { createLabel, createSeed, saveFilter } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { fieldsOf, noticeOn, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const { as } = website
const names = ['価格 💶', 'مقابلات', 'x'.repeat(64)]

async function start() {
  const company = await createCompany(website)
  await createSeed(website, company.owner, company, { title: 'Late', decideBy: '2020-01-01' })
  await createSeed(website, company.owner, company, { title: 'Of another time' })
  return {
    ...company,
    base: `/w/${company.workspace.slug}`,
    visitor: await signInAs(website, company.member),
  }
}

const list = async (person: TestPerson, { url }: { url: string }) =>
  (await as(person, get(`${url}/saved-filters`))).json<
    { id: string; name: string; shared: boolean; filters: Record<string, unknown> }[]
  >()

/** Opens the seeds and saves their filters as a browser does, with these fields. */
async function save(visitor: Visitor, base: string, query: string, fields: Record<string, string>) {
  await visitor.get(`${base}/seeds?${query}`)
  return visitor.submit(`${base}/filters`, { ...fieldsOf(visitor.page(), `${base}/filters`), ...fields })
}

/** The links to saved filters above the list, in their order: the current one is marked. */
const linksOn = (page: string) =>
  [...page.matchAll(/<a class="tag" href="([^"]+)"\s+(aria-current="true")?\s*><bdi>([^<]*)<\/bdi>/g)].map(
    ([, href = '', current, name = '']) => ({
      href: href.replaceAll('&amp;', '&'),
      name: current === undefined ? name : `${name}*`,
    }),
  )

describe('the list of seeds', () => {
  it('offers to save its filters, and has links to those that were saved', async () => {
    const company = await start()
    const { base, member, visitor } = company
    await visitor.get(`${base}/seeds?view=list`)
    expect(visitor.page()).not.toContain('Save these filters')
    for (const name of names)
      expect(
        noticeOn(
          (await save(visitor, base, `due=overdue&of=unled&q=${encodeURIComponent(name)}`, { name })).body,
        ),
      ).toBe(`The filters were saved as “${name}”.`)
    const saved = await list(member, company)
    expect(saved.map(({ name, filters }) => [name, filters.q, filters.due, filters.leadUserId])).toEqual(
      names.map((name) => [name, name, 'overdue', 'none']),
    )
    await save(visitor, base, 'due=overdue&sort=decideBy', { name: 'Late ones', for: 'workspace' })
    // Saved already.
    expect(visitor.page()).not.toContain('Save these filters')
    expect(visitor.page()).toContain('<bdi>Late</bdi>')
    expect(visitor.page()).not.toContain('<bdi>Of another time</bdi>')
    const links = linksOn(visitor.page())
    // One's own come first.
    expect(links.map(({ name }) => name).at(-1)).toBe('Late ones*')
    expect(
      links
        .map(({ name }) => name)
        .slice(0, -1)
        .toSorted(),
    ).toEqual(names.toSorted())
    for (const view of ['board', 'list']) {
      await visitor.get(`${base}/seeds?view=${view}`)
      expect(linksOn(visitor.page()).map(({ name }) => name)).toHaveLength(4)
      await visitor.get(links.at(-1)?.href ?? '')
      expect(linksOn(visitor.page()).at(-1)?.name).toBe('Late ones*')
    }
    const viewer = await signInAs(website, company.viewer)
    await viewer.get(`${base}/seeds?view=list&due=week`)
    expect(linksOn(viewer.page()).map(({ name }) => name)).toEqual(['Late ones'])
    expect(viewer.page()).toContain('Save these filters')
    expect(viewer.page()).not.toContain('name="for"')
  })

  it('offers to give its filters to a saved filter that one may change, in place of its own', async () => {
    const company = await start()
    const { base, member, visitor } = company
    const path = `${base}/filters/replace`
    const choicesOn = (page: string) => {
      const [form = ''] = new RegExp(`<form[^>]*action="${path}".*?</form>`, 's').exec(page) ?? []
      return [...form.matchAll(/<option[^>]*>([^<]*)</g)].map(([, label = '']) => label.trim())
    }
    await visitor.get(`${base}/seeds?due=week`)
    expect(visitor.page()).not.toContain(path)
    await save(visitor, base, 'due=week', { name: 'Due' })
    await saveFilter(website, company.owner, company, { name: 'Of all', filters: {}, shared: true })
    await visitor.get(`${base}/seeds?view=list&due=overdue&q=%E4%BE%A1%E6%A0%BC`)
    // That of the owner is not for a member to change.
    expect(choicesOn(visitor.page())).toEqual(['Due'])
    const [due, ofAll] = await list(member, company)
    const fields = fieldsOf(visitor.page(), path)
    await visitor.submit(path, { ...fields, filterId: String(due?.id) })
    expect(noticeOn(visitor.page())).toBe('The saved filter has these filters now.')
    expect(linksOn(visitor.page()).map(({ name }) => name)).toEqual(['Due*', 'Of all'])
    expect(await list(member, company)).toMatchObject([
      { name: 'Due', shared: false, filters: { due: 'overdue', q: '価格' } },
      { name: 'Of all', filters: { due: null } },
    ])
    await visitor.get(`${base}/seeds?view=list&due=silent`)
    const refused = await visitor.submit(path, {
      ...fieldsOf(visitor.page(), path),
      filterId: String(ofAll?.id),
    })
    expect(refused.statusCode).toBe(403)
    const gone = await visitor.submit(path, { ...fieldsOf(visitor.page(), path), filterId: 'x' })
    expect(gone.statusCode).toBe(404)
    const owner = await signInAs(website, company.owner)
    await owner.get(`${base}/seeds?view=list&due=silent`)
    expect(choicesOn(owner.page())).toEqual(['Of all (shared)'])
  })

  it('keeps what was typed when it is refused, with the filters', async () => {
    const company = await start()
    const { base, visitor } = company
    await save(visitor, base, 'due=week', { name: 'Due' })
    await save(visitor, base, 'due=overdue', { name: 'DUE', for: 'workspace' })
    await save(visitor, base, 'due=silent', { name: 'due', for: 'me' })
    const page = visitor.page()
    expect(page).toContain('There is already a saved filter with this name.')
    expect(fieldsOf(page, `${base}/filters`)).toMatchObject({ name: 'due', query: 'due=silent' })
    await visitor.submit(`${base}/filters`, { ...fieldsOf(page, `${base}/filters`), name: 'Silent' })
    expect(await list(company.member, company)).toMatchObject([
      { name: 'Due', shared: false, filters: { due: 'week' } },
      { name: 'DUE', shared: true, filters: { due: 'overdue' } },
      { name: 'Silent', shared: false, filters: { due: 'silent' } },
    ])
  })

  it('opens filters that only the API can save, keeps them in its links, and saves them again', async () => {
    const company = await start()
    const { base, member, owner, visitor } = company
    const [a, b] = [
      await createLabel(website, owner, company, 'a'),
      await createLabel(website, owner, company, 'b'),
    ]
    const team = await createTeam(website, owner, company)
    const wanted = { labelIds: [a.id, b.id], teamId: team.id, decideBy: '2020-01-01' }
    const seed = await createSeed(website, owner, company, { title: 'Wanted', ...wanted })
    const filters = {
      ...{ status: ['open', 'validating'], ids: [seed.id], q: 'Wanted', createdByUserId: owner.id },
      ...{ leadUserId: owner.id, balance: 'none', teamId: team.id, labelIds: [a.id, b.id].toSorted() },
      ...{ due: 'overdue', updatedSince: '2020-01-01', joined: false, sort: 'activityAt' },
    }
    await saveFilter(website, member, company, { name: 'All of them', filters })
    await visitor.get(`${base}/seeds?view=list`)
    const href = linksOn(visitor.page())[0]?.href ?? ''
    const page = (await visitor.get(href)).body
    expect(page).toContain('<bdi>Wanted</bdi>')
    expect(page).toContain('1 seed matches')
    expect(page).toContain('Also filtered by who created them, who leads them, whether you joined them,')
    expect(linksOn(page).map(({ name }) => name)).toContain('All of them*')
    for (const text of [`createdByUserId=${owner.id}`, 'joined=false', 'updatedSince=2020-01-01'])
      expect(page.split(text).length, text).toBeGreaterThan(4)
    expect(page).toContain('<input type="hidden" name="status" value="open,validating" />')
    // Each of them leaves out the seed if it is not met.
    for (const [name, value] of [
      ['status', 'dropped'],
      ['ids', a.id],
      ['createdByUserId', member.id],
      ['leadUserId', member.id],
      ['updatedSince', '2999-01-01'],
      ['joined', 'true'],
      ['label', team.id],
    ] as const) {
      const url = new URL(href, 'http://x.invalid')
      url.searchParams.set(name, value)
      expect((await visitor.get(url.pathname + url.search)).body, name).toContain(
        'No seed matches these filters.',
      )
    }
    await save(visitor, base, href.split('?')[1]?.replace('due=overdue', 'due=silent') ?? '', {
      name: 'Again',
    })
    expect((await list(member, company))[1]?.filters).toEqual({ ...filters, due: 'silent' })
    // What is no filter counts as none.
    await visitor.get(`${base}/seeds?view=list&joined=x&updatedSince=x&status=x&ids=`)
    expect(visitor.page()).not.toContain('Save these filters')
  })

  it('opens filters that are each a choice, and those that name what is gone, with which nothing is found', async () => {
    const company = await start()
    const { base, member, owner, visitor } = company
    const label = await createLabel(website, owner, company)
    const choices = {
      mine: { createdByUserId: 'me' },
      joined: { joined: true },
      led: { leadUserId: 'me' },
      unled: { leadUserId: 'none' },
    }
    for (const [name, filters] of Object.entries(choices))
      await saveFilter(website, member, company, { name, filters })
    await saveFilter(website, member, company, { name: 'zz gone', filters: { labelIds: [label.id] } })
    await as(owner, del(label.url))
    await visitor.get(`${base}/seeds?view=list`)
    const links = linksOn(visitor.page())
    expect(links.slice(0, -1).map(({ href, name }) => [name, href])).toEqual(
      ['joined', 'led', 'mine', 'unled'].map((name) => [name, `${base}/seeds?of=${name}`]),
    )
    await visitor.get(links.at(-1)?.href ?? '')
    expect(visitor.page()).not.toContain('Also filtered by')
    expect(visitor.page()).toContain('No seed matches these filters.')
    expect(visitor.page()).toContain('Another one')
  })
})

describe('a list of seeds with many saved filters', () => {
  it('has links to the first ones, and to the one that it shows', async () => {
    const company = await start()
    const { base, member, visitor } = company
    for (let i = 1; i <= 14; i++)
      await saveFilter(website, member, company, { name: `Filter ${i}`, filters: { q: `word ${i}` } })
    await visitor.get(`${base}/seeds?view=list`)
    expect(linksOn(visitor.page()).map(({ name }) => name)).toEqual(
      Array.from({ length: 12 }, (_, i) => `Filter ${i + 1}`),
    )
    expect(visitor.page()).toContain('All 14')
    await visitor.get(`${base}/seeds?q=word+14`)
    expect(linksOn(visitor.page()).at(-1)?.name).toBe('Filter 14*')
    await visitor.get(`${base}/filters`)
    expect(visitor.page()).toContain('<bdi>Filter 13</bdi>')
  })
})

describe('the pages of saved filters', () => {
  it('rename, share and delete them, as far as the person may', async () => {
    const company = await start()
    const { base, member, owner, visitor } = company
    await visitor.get(`${base}/filters`)
    expect(visitor.page()).toContain('None yet.')
    const own = await saveFilter(website, member, company, { name: names[0] ?? '' })
    const foreign = await saveFilter(website, owner, company, { name: names[1] ?? '', shared: true })
    const secret = await saveFilter(website, owner, company, { name: 'Secret' })
    await visitor.get(`${base}/filters`)
    expect(visitor.page()).not.toContain('Secret')
    expect(visitor.page()).toContain(`href="${base}/filters/${own.id}"`)
    // Shared by another person.
    expect(visitor.page()).toContain(`<bdi>${names[1]}</bdi>`)
    expect(visitor.page()).not.toContain(`href="${base}/filters/${foreign.id}"`)
    expect((await visitor.get(`${base}/filters/${foreign.id}`)).statusCode).toBe(403)
    expect((await visitor.get(`${base}/filters/${secret.id}`)).statusCode).toBe(404)
    const path = `${base}/filters/${own.id}`
    await visitor.get(path)
    const changed = await visitor.submit(`${path}/edit`, { name: 'Ours', for: 'workspace' })
    expect(noticeOn(changed.body)).toBe('Saved.')
    expect(await list(member, company)).toMatchObject([{ name: 'Ours', shared: true }, { name: names[1] }])
    // Whose it is decides whom it is for: owners rename it.
    const manager = await signInAs(website, owner)
    await manager.get(path)
    expect(manager.page()).not.toContain('name="for"')
    await manager.submit(`${path}/edit`, { name: 'Renamed' })
    expect(await list(member, company)).toMatchObject([{ name: 'Renamed', shared: true }, { name: names[1] }])
    await manager.get(path)
    expect(noticeOn((await manager.submit(`${path}/delete`)).body)).toBe('“Renamed” was deleted.')
    expect(await list(member, company)).toHaveLength(1)
  })
})

describe('the search', () => {
  it('finds saved filters by their names, one’s own first', async () => {
    const company = await start()
    const { base, member, owner, visitor } = company
    await saveFilter(website, owner, company, { name: 'Due for all', shared: true, filters: { due: 'week' } })
    await saveFilter(website, member, company, {
      name: 'Due for me',
      filters: { leadUserId: 'me', due: 'week' },
    })
    await saveFilter(website, owner, company, { name: 'Due secretly' })
    const answer = await visitor.get(`${base}/search/results?q=due`, { accept: 'application/json' })
    const { groups } = answer.json<{ groups: { name: string; results: object[] }[] }>()
    expect(groups.find(({ name }) => name === 'Saved filters')?.results).toEqual([
      { label: 'Due for me', detail: 'Yours', href: `${base}/seeds?of=led&due=week` },
      { label: 'Due for all', detail: 'Shared', href: `${base}/seeds?due=week` },
    ])
    const page = (await visitor.get(`${base}/search?q=for+all`)).body
    expect(page).toContain('<bdi>Due for all</bdi>')
    expect(page).not.toContain('<bdi>Due for me</bdi>')
  })
})
