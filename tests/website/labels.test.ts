import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, createTeam, del, get, patch } from '../support/company.ts'
import { createLabel, createSeed, type TestSeed } from '../support/seeds.ts'
import { fieldsOf, noticeOn, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const { as } = website
const names = ['価格 💶', 'مقابلات', 'x'.repeat(64)]

async function start() {
  const company = await createCompany(website)
  return {
    ...company,
    base: `/w/${company.workspace.slug}`,
    visitor: await signInAs(website, company.member),
  }
}

const readSeed = async ({ owner }: Awaited<ReturnType<typeof start>>, id: string) =>
  (await as(owner, get(`/v1/seeds/${id}`))).json<TestSeed>()

/** The labels whose checkboxes are checked in the form of a seed. */
const checkedOn = (page: string) =>
  [...page.matchAll(/<input\s+type="checkbox"\s+name="labelIds"\s+value="([\w-]+)"\s+checked/g)].map(
    ([, id]) => id,
  )

/** Sends what it shows, as a browser does, with these changes and checked boxes. */
async function edit(visitor: Visitor, path: string, changes: Record<string, string>, labelIds: string[]) {
  const fields = { ...fieldsOf(visitor.page(), path), ...changes, labelIds: labelIds.join(' ') }
  if (labelIds.length > 0) return visitor.submit(path, fields)
  return visitor.submit(
    path,
    Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'labelIds')),
  )
}

const idOf = (visitor: Visitor) => /\/seeds\/([0-9a-f-]{36})/.exec(visitor.page())?.[1] ?? ''

describe('the page of labels', () => {
  it('creates, renames and deletes labels, and says what is wrong with a name', async () => {
    const { base, visitor, owner } = await start()
    await visitor.get(`${base}/labels`)
    expect(visitor.page()).toContain('No labels yet.')
    for (const name of names)
      expect(noticeOn((await visitor.submit(`${base}/labels`, { name })).body)).toBe(`“${name}” was created.`)
    for (const name of names) expect(visitor.page()).toContain(`<bdi>${name}</bdi>`)
    expect(visitor.page()).toContain('3 labels of 100')
    await visitor.submit(`${base}/labels`, { name: names[0] ?? '' })
    expect(visitor.page()).toContain('Another label in this workspace already has this name.')
    const path = /\/labels\/[0-9a-f-]{36}/.exec(visitor.page())?.[0] ?? ''
    await visitor.get(base + path)
    // Only owners and admins delete labels.
    expect(visitor.page()).not.toContain('Delete label')
    expect(noticeOn((await visitor.submit(`${base}${path}/rename`, { name: 'Sales' })).body)).toBe('Saved.')
    const manager = await signInAs(website, owner)
    await manager.get(base + path)
    expect(noticeOn((await manager.submit(`${base}${path}/delete`)).body)).toBe('“Sales” was deleted.')
    expect(manager.page()).toContain('2 labels of 100')
  })

  it('shows viewers the labels, and nothing to change them', async () => {
    const company = await start()
    const { base, viewer } = company
    const label = await createLabel(website, company.owner, company, 'Pricing')
    const visitor = await signInAs(website, viewer)
    expect((await visitor.get(`${base}/labels`)).body).toContain('<bdi>Pricing</bdi>')
    expect(visitor.page()).not.toContain(`action="${base}/labels"`)
    expect((await visitor.get(`${base}/labels/${label.id}`)).statusCode).toBe(403)
  })
})

describe('the form of a seed', () => {
  it('gives a seed a team and labels, takes them again, and leaves what it does not show', async () => {
    const company = await start()
    const { base, visitor, owner } = company
    await visitor.get(`${base}/seeds/new`)
    expect(visitor.page()).not.toContain('name="teamId"')
    const team = await createTeam(website, owner, company, 'Design & Bau')
    const [a, b] = [
      await createLabel(website, owner, company, names[0]),
      await createLabel(website, owner, company, names[1]),
    ]
    await visitor.get(`${base}/seeds/new`)
    expect(checkedOn(visitor.page())).toEqual([])
    await visitor.submit(`${base}/seeds/new`, {
      ...{ title: 'Tools', summary: 'What it is', teamId: team.id },
      labelIds: `${a.id} ${b.id}`,
    })
    const id = idOf(visitor)
    expect(await readSeed(company, id)).toMatchObject({
      teamId: team.id,
      labels: [{ id: a.id }, { id: b.id }],
    })
    expect(visitor.page()).toContain(`<a href="${base}/teams/${team.id}"><bdi>Design &amp; Bau</bdi></a>`)
    for (const label of [a, b])
      expect(visitor.page()).toContain(`href="${base}/seeds?label=${label.id}"><bdi>${label.name}</bdi></a>`)
    await visitor.get(`${base}/seeds/${id}/edit`)
    expect(checkedOn(visitor.page()).toSorted()).toEqual([a.id, b.id].toSorted())
    const path = `${base}/seeds/${id}/edit`
    // Refused: the form keeps what was chosen.
    await edit(visitor, path, { title: ' ' }, [b.id])
    expect(checkedOn(visitor.page())).toEqual([b.id])
    await edit(visitor, path, { title: 'Tools' }, [b.id])
    expect(await readSeed(company, id)).toMatchObject({ teamId: team.id, labels: [{ id: b.id }] })
    // No box is checked: a browser sends no field of them.
    await visitor.get(path)
    await edit(visitor, path, { teamId: '' }, [])
    expect(await readSeed(company, id)).toMatchObject({ teamId: null, labels: [] })
  })

  it('merges with what others saved meanwhile, and says what both changed', async () => {
    const company = await start()
    const { base, visitor, owner } = company
    const [a, b] = [
      await createLabel(website, owner, company, 'One'),
      await createLabel(website, owner, company, 'Two'),
    ]
    const seed = await createSeed(website, owner, company)
    const path = `${base}/seeds/${seed.id}/edit`
    await visitor.get(path)
    await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: [a.id] }))
    await edit(visitor, path, { title: 'Another title' }, [])
    expect(await readSeed(company, seed.id)).toMatchObject({ title: 'Another title', labels: [{ id: a.id }] })
    await visitor.get(path)
    await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: [] }))
    await edit(visitor, path, {}, [b.id])
    expect(visitor.page()).toContain('Saved meanwhile: <bdi>(nothing)</bdi>')
    expect(checkedOn(visitor.page())).toEqual([b.id])
  })

  it('shows a hundred labels, and refuses more than ten', async () => {
    const company = await start()
    const { base, visitor, workspace } = company
    await website.db.execute(sql`
      insert into labels (id, workspace_id, name, created_at)
      select overlay(overlay(gen_random_uuid()::text placing '7' from 15) placing 'a' from 20)::uuid, ${workspace.id}, 'Label ' || n, now()
      from generate_series(1, 100) as n`)
    const page = (await visitor.get(`${base}/seeds/new`)).body
    const ids = [...page.matchAll(/name="labelIds"\s+value="([\w-]+)"/g)].map(([, id]) => id)
    expect(ids).toHaveLength(100)
    await visitor.submit(`${base}/seeds/new`, { title: 'a', summary: 'b', labelIds: ids.join(' ') })
    expect(visitor.page()).toContain('A seed can have at most 10 labels.')
    expect(checkedOn(visitor.page())).toHaveLength(100)
  })
})

describe('lists of seeds', () => {
  it('have the labels of each seed, and filters by team and label, which the table keeps', async () => {
    const company = await start()
    const { base, visitor, owner } = company
    const team = await createTeam(website, owner, company, 'Design')
    const label = await createLabel(website, owner, company, 'Pricing')
    await createSeed(website, owner, company, { title: 'Both', teamId: team.id, labelIds: [label.id] })
    await createSeed(website, owner, company, { title: 'Neither' })
    for (const view of ['list', 'board']) {
      const all = (await visitor.get(`${base}/seeds?view=${view}`)).body
      expect(all).toContain(`class="tag" href="${base}/seeds?label=${label.id}"><bdi>Pricing</bdi></a>`)
      expect(all).toContain('<bdi>Neither</bdi>')
      for (const query of [`team=${team.id}`, `label=${label.id}`]) {
        const some = (await visitor.get(`${base}/seeds?view=${view}&${query}`)).body
        expect(some).toContain('<bdi>Both</bdi>')
        expect(some).not.toContain('<bdi>Neither</bdi>')
        expect(some).toContain(`${base}/seeds/export.csv?${query}`)
      }
    }
    await as(owner, del(label.url))
    const none = (await visitor.get(`${base}/seeds?view=list&label=${label.id}`)).body
    expect(none).toContain('No seed matches these filters.')
  })

  it('are on the page of a team: what is due, and the latest', async () => {
    const company = await start()
    const { base, visitor, owner } = company
    const team = await createTeam(website, owner, company, 'Design')
    expect((await visitor.get(`${base}/teams/${team.id}`)).body).not.toContain('All seeds of the team')
    await createSeed(website, owner, company, { title: 'Late', teamId: team.id, decideBy: '2020-01-01' })
    await createSeed(website, owner, company, { title: 'Of the team', teamId: team.id })
    await createSeed(website, owner, company, { title: 'Of nobody', decideBy: '2020-01-01' })
    const page = (await visitor.get(`${base}/teams/${team.id}`)).body
    const [, due = '', latest = ''] = page.split(/<h2 id="(?:due|seeds)">/)
    expect(due).toContain('<bdi>Late</bdi>')
    expect(due).not.toContain('<bdi>Of the team</bdi>')
    expect(latest).toContain('<bdi>Of the team</bdi>')
    expect(page).not.toContain('<bdi>Of nobody</bdi>')
    for (const list of ['seeds', 'activity']) expect(page).toContain(`href="${base}/${list}?team=${team.id}"`)
  })
})
