import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { labelsMax } from '../../src/domain/labels.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, del, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createLabel, createSeed, type TestSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service

const readSeed = async (person: TestPerson, { id }: { id: string }) =>
  (await as(person, get(`/v1/seeds/${id}`))).json<TestSeed>()

describe('labels.create', () => {
  it('creates a label, which everybody lists, and appends an event', async () => {
    const { url, workspace, member, viewer } = await createCompany(service)
    const answer = await as(member, post(`${url}/labels`, { name: ' 価格\u00a0💶 ' }))
    expect(answer.statusCode, answer.body).toBe(200)
    const { label } = answer.json<{ label: { id: string } }>()
    expect(label).toEqual({
      ...{ id: label.id, workspaceId: workspace.id, name: '価格 💶' },
      createdAt: clock.now().toISOString(),
    })
    expect(answer.headers.location).toBe(`${url}/labels/${label.id}`)
    expect((await as(viewer, get(`${url}/labels`))).json()).toEqual([label])
    expect((await as(viewer, get(`${url}/labels/${label.id}`))).json()).toEqual(label)
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        member,
        { type: 'label', id: label.id },
        { type: 'label.created', summary: `${member.name} created the label 価格 💶` },
      ),
    )
  })

  it('returns 400 for what is no name, and 409 label_name_taken for that of another label, ignoring case', async () => {
    const company = await createCompany(service)
    await createLabel(service, company.owner, company, 'Équipe Straße')
    for (const name of ['', ' \u00a0', 'a\0b', 'x'.repeat(65)]) {
      const answer = await as(company.owner, post(`${company.url}/labels`, { name }))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['name'] }])
    }
    for (const name of ['Équipe Straße', 'ÉQUIPE STRAßE', ' E\u0301quipe  Straße '])
      expectError(await as(company.owner, post(`${company.url}/labels`, { name })), errors.labelNameTaken)
    const other = await createCompany(service)
    expect(await createLabel(service, other.owner, other, 'Équipe Straße')).toMatchObject({
      name: 'Équipe Straße',
    })
  })

  it('returns 409 label_limit for the 101st, also to several at once', async () => {
    const { url, workspace, owner } = await createCompany(service)
    await db.execute(sql`
      insert into labels (id, workspace_id, name, created_at)
      select gen_random_uuid(), ${workspace.id}, 'Label ' || n, now() from generate_series(1, ${labelsMax - 1}) as n`)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((name) => as(owner, post(`${url}/labels`, { name }))),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    if (!refused) throw new Error('none was refused')
    expectError(refused, errors.labelLimit)
    expect((await as(owner, get(`${url}/labels?limit=200`))).json()).toHaveLength(labelsMax)
  })
})

describe('labels.update', () => {
  it('renames a label and what its seeds show, and does nothing for the same name', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    const label = await createLabel(service, owner, company, 'Pricing')
    const seed = await createSeed(service, owner, company, { labelIds: [label.id] })
    for (const name of ['Prices', 'Prices'])
      expect((await as(member, patch(label.url, { name }))).json()).toEqual({ ok: true })
    expect((await readSeed(owner, seed)).labels).toEqual([{ id: label.id, name: 'Prices' }])
    const events = await findEvents(service, workspace)
    expect(events.filter(({ type }) => type === 'label.updated')).toEqual([
      eventBy(
        member,
        { type: 'label', id: label.id },
        { type: 'label.updated', summary: `${member.name} renamed the label Pricing to Prices` },
      ),
    ])
  })

  it('returns 409 label_name_taken for the name of another label, and 404 for an unknown one', async () => {
    const company = await createCompany(service)
    const [label, other] = [
      await createLabel(service, company.owner, company, 'Pricing'),
      await createLabel(service, company.owner, company, 'Sales'),
    ]
    expectError(await as(company.owner, patch(label.url, { name: 'SALES' })), errors.labelNameTaken)
    expect((await as(company.owner, patch(label.url, { name: 'PRICING' }))).statusCode).toBe(200)
    for (const id of [createId(), 'x', '%00'])
      expectError(
        await as(company.owner, patch(`${company.url}/labels/${id}`, { name: 'a' })),
        errors.notFound,
      )
    const stranger = await createCompany(service)
    expectError(
      await as(stranger.owner, patch(`${stranger.url}/labels/${other.id}`, { name: 'a' })),
      errors.notFound,
    )
  })

  it('of two that swap their names, none waits for ever', async () => {
    const company = await createCompany(service)
    const [a, b] = [
      await createLabel(service, company.owner, company, 'a'),
      await createLabel(service, company.owner, company, 'b'),
    ]
    const answers = await Promise.all([
      as(company.owner, patch(a.url, { name: 'b' })),
      as(company.admin, patch(b.url, { name: 'a' })),
    ])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([409, 409])
  })
})

describe('labels.delete', () => {
  it('takes the label from all seeds at once, in answers and filters, and not others', async () => {
    const company = await createCompany(service)
    const { owner, admin, member } = company
    const [gone, kept] = [
      await createLabel(service, owner, company, 'Gone'),
      await createLabel(service, owner, company, 'Kept'),
    ]
    const seed = await createSeed(service, owner, company, { labelIds: [gone.id, kept.id] })
    expectError(await as(member, del(gone.url)), errors.roleInsufficient)
    expect((await as(admin, del(gone.url))).json()).toEqual({ ok: true })
    expectError(await as(owner, get(gone.url)), errors.notFound)
    expectError(await as(owner, del(gone.url)), errors.notFound)
    expect((await readSeed(owner, seed)).labels).toEqual([{ id: kept.id, name: 'Kept' }])
    const listed = (await as(owner, get(`${company.url}/seeds`))).json<TestSeed[]>()
    expect(listed.map(({ labels }) => labels)).toEqual([[{ id: kept.id, name: 'Kept' }]])
    expectError(await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: [gone.id] })), errors.notFound)
    // The next change of the labels forgets it.
    await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: [] }))
    expect(await selectRows(db, sql`select label_ids from seeds where id = ${seed.id}`)).toEqual([
      { label_ids: [] },
    ])
  })

  it('changes no row of a seed, however many have it', async () => {
    const company = await createCompany(service)
    const label = await createLabel(service, company.owner, company)
    const seed = await createSeed(service, company.owner, company, { labelIds: [label.id] })
    const read = () => selectRows(db, sql`select xmin::text, * from seeds where id = ${seed.id}`)
    const before = await read()
    expect((await as(company.owner, del(label.url))).statusCode).toBe(200)
    expect(await read()).toEqual(before)
  })
})

describe('the team and the labels of a seed', () => {
  it('are given at its creation, and named in its event', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const team = await createTeam(service, owner, company, 'Design')
    const [b, a] = [
      await createLabel(service, owner, company, 'b'),
      await createLabel(service, owner, company, 'A'),
    ]
    const given = { teamId: team.id, labelIds: [b.id, a.id, b.id] }
    const seed = await createSeed(service, owner, company, given)
    const expected = {
      ...{ teamId: team.id, teamName: 'Design' },
      labels: [
        { id: b.id, name: 'b' },
        { id: a.id, name: 'A' },
      ],
    }
    expect(seed).toMatchObject(expected)
    expect(seed).not.toHaveProperty('labelIds')
    expect(await readSeed(owner, seed)).toMatchObject(expected)
    expect((await as(owner, get(`${company.url}/seeds`))).json<TestSeed[]>()).toEqual([
      expect.objectContaining(expected),
    ])
    const [event] = (await as(owner, get(`${company.url}/events?type=seed.created`))).json<
      { data: object }[]
    >()
    expect(event?.data).toMatchObject({ teamId: team.id, labelIds: [b.id, a.id].toSorted() })
  })

  it('are changed and emptied, with an event that names both teams', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    const [design, sales] = [
      await createTeam(service, owner, company, 'Design'),
      await createTeam(service, owner, company, 'Sales'),
    ]
    const label = await createLabel(service, owner, company, 'Pricing')
    const seed = await createSeed(service, owner, company, { title: 'Tools' })
    const change = async (fields: object) => {
      const answer = await as(member, patch(`/v1/seeds/${seed.id}`, fields))
      expect(answer.json(), answer.body).toEqual({ ok: true })
      const all = await findEvents(service, workspace)
      return all.at(-1)?.summary
    }
    const by = member.name
    expect(await change({ teamId: design.id })).toBe(`${by} gave the seed Tools to the team Design`)
    expect(await change({ teamId: sales.id })).toBe(
      `${by} moved the seed Tools from the team Design to the team Sales`,
    )
    expect(await change({ labelIds: [label.id] })).toBe(`${by} changed the labels of the seed Tools`)
    expect(await readSeed(owner, seed)).toMatchObject({ teamName: 'Sales', labels: [{ name: 'Pricing' }] })
    const count = (await findEvents(service, workspace)).length
    await change({ teamId: sales.id, labelIds: [label.id] })
    expect(await findEvents(service, workspace)).toHaveLength(count)
    expect(await change({ teamId: null, labelIds: [] })).toBe(
      `${by} changed the seed Tools: the team from Sales to none and the labels`,
    )
    const [event] = (await as(owner, get(`${company.url}/events?type=seed.updated`))).json<
      { data: object }[]
    >()
    expect(event?.data).toMatchObject({
      ...{ fields: ['teamId', 'labelIds'], labelIds: [], teamId: null, teamName: null },
      ...{ teamIdBefore: sales.id, teamNameBefore: 'Sales' },
    })
    expect(await change({ teamId: design.id })).toBe(`${by} gave the seed Tools to the team Design`)
    expect(await change({ teamId: null })).toBe(`${by} took the seed Tools from the team Design`)
    expect(await readSeed(owner, seed)).toMatchObject({ teamId: null, teamName: null, labels: [] })
  })

  it('are 404 if they are unknown, malformed or of another workspace, and nothing changes', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { owner } = company
    const team = await createTeam(service, other.owner, other)
    const label = await createLabel(service, other.owner, other)
    const own = await createLabel(service, owner, company)
    const seed = await createSeed(service, owner, company)
    const bad: object[] = [
      ...[team.id, createId(), 'x', '', 'A\0'].map((teamId) => ({ teamId })),
      ...[label.id, createId(), 'x'].map((id) => ({ labelIds: [own.id, id] })),
    ]
    for (const fields of bad) {
      expectError(await as(owner, patch(`/v1/seeds/${seed.id}`, fields)), errors.notFound)
      expectError(
        await as(owner, post(`${company.url}/seeds`, { title: 'a', summary: 'b', ...fields })),
        errors.notFound,
      )
    }
    expect(await readSeed(owner, seed)).toMatchObject({ teamId: null, labels: [] })
    expect((await as(owner, get(`${company.url}/seeds`))).json()).toHaveLength(1)
  })

  it('are at most ten labels', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const ids: string[] = []
    for (let i = 0; i < 11; i++) ids.push((await createLabel(service, owner, company)).id)
    const seed = await createSeed(service, owner, company, { labelIds: ids.slice(0, 10) })
    expect(seed.labels).toHaveLength(10)
    const answer = await as(owner, patch(`/v1/seeds/${seed.id}`, { labelIds: ids }))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['labelIds'] }])
  })

  it('end with the team, at once and without a change of the seed', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const team = await createTeam(service, owner, company)
    const seed = await createSeed(service, owner, company, { teamId: team.id })
    const read = () => selectRows(db, sql`select xmin::text, * from seeds where id = ${seed.id}`)
    const before = await read()
    expect((await as(owner, del(team.url))).statusCode).toBe(200)
    expect(await readSeed(owner, seed)).toMatchObject({ teamId: null, teamName: null })
    expect(await read()).toEqual(before)
    expectError(await as(owner, patch(`/v1/seeds/${seed.id}`, { teamId: team.id })), errors.notFound)
  })

  it('stay those of the target when seeds are merged, and those of both after it is undone', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const [one, two] = [
      await createLabel(service, owner, company, 'one'),
      await createLabel(service, owner, company, 'two'),
    ]
    const team = await createTeam(service, owner, company, 'Design')
    const merged = await createSeed(service, owner, company, { labelIds: [one.id], teamId: team.id })
    const target = await createSeed(service, owner, company, { labelIds: [two.id] })
    expect((await as(owner, post(`/v1/seeds/${merged.id}/merge`, { into: target.id }))).statusCode).toBe(200)
    expect(await readSeed(owner, target)).toMatchObject({ teamId: null, labels: [{ name: 'two' }] })
    expect((await as(owner, post(`/v1/seeds/${merged.id}/unmerge`))).statusCode).toBe(200)
    expect(await readSeed(owner, merged)).toMatchObject({ teamName: 'Design', labels: [{ name: 'one' }] })
  })

  it('count in the version of a seed once it has some, and a renamed or deleted label is no conflict', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const [label, other] = [
      await createLabel(service, owner, company),
      await createLabel(service, owner, company),
    ]
    const seed = await createSeed(service, owner, company)
    const tagOf = async () => String((await as(owner, get(`/v1/seeds/${seed.id}`))).headers.etag)
    const change = (fields: object, tag: string) =>
      as(owner, { ...patch(`/v1/seeds/${seed.id}`, fields), headers: { 'if-match': tag } })
    const without = await tagOf()
    const first = await change({ labelIds: [other.id, label.id] }, without)
    expect(first.statusCode, first.body).toBe(200)
    expectError(await change({ title: 'a' }, without), errors.preconditionFailed)
    const tag = await tagOf()
    // Now it is the other way round.
    await as(owner, patch(label.url, { name: '!' }))
    expect((await change({ title: 'b' }, tag)).statusCode).toBe(200)
  })
})

describe('the filters teamId and labelIds', () => {
  it('list, export and search seeds of a team and with all labels, in any order and over pages', async () => {
    const company = await createCompany(service)
    const { owner, viewer, url } = company
    const team = await createTeam(service, owner, company)
    const [a, b] = [await createLabel(service, owner, company), await createLabel(service, owner, company)]
    const make = async (title: string, fields: object) =>
      createSeed(service, owner, company, { title, ...fields })
    await make('none', {})
    await make('team', { teamId: team.id })
    await make('a', { labelIds: [a.id] })
    await make('both', { labelIds: [a.id, b.id], teamId: team.id })
    const list = async (query: string) =>
      (await as(viewer, get(`${url}/seeds?${query}`))).json<TestSeed[]>().map(({ title }) => title)
    expect(await list(`teamId=${team.id}`)).toEqual(['both', 'team'])
    expect(await list(`labelIds=${a.id}`)).toEqual(['both', 'a'])
    for (const query of [`labelIds=${a.id},${b.id}`, `labelIds=${b.id}&labelIds=${a.id}`])
      expect(await list(query)).toEqual(['both'])
    expect(await list(`labelIds=${a.id}&teamId=${team.id}&q=both&status=open`)).toEqual(['both'])
    for (const query of [
      `teamId=${createId()}`,
      'teamId=x',
      `labelIds=${a.id},${createId()}`,
      `labelIds=${a.id},x`,
      `labelIds=${a.id}&teamId=${createId()}`,
    ])
      expect(await list(query), query).toEqual([])
    const page = await as(viewer, get(`${url}/seeds?labelIds=${a.id}&limit=1`))
    const cursor = /cursor=([^>&]+)/.exec(String(page.headers.link))?.[1] ?? ''
    expect(await list(`labelIds=${a.id}&limit=1&cursor=${cursor}`)).toEqual(['a'])
    const other = await as(viewer, get(`${url}/seeds?labelIds=${b.id}&limit=1&cursor=${cursor}`))
    expectError(other, errors.cursorInvalid, { field: 'cursor' })
    const table = await as(viewer, get(`${url}/seeds/export?labelIds=${a.id}&teamId=${team.id}`))
    expect(table.statusCode, table.body).toBe(200)
    expect(table.body.trim().split('\r\n')).toHaveLength(2)
    const ids = Array.from({ length: 101 }, createId).join(',')
    expectError(await as(viewer, get(`${url}/seeds?labelIds=${ids}`)), errors.idLimit, { field: 'labelIds' })
  })

  it('find nothing by a team or a label that was deleted, or is of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { owner, url } = company
    const team = await createTeam(service, owner, company)
    const label = await createLabel(service, owner, company)
    await createSeed(service, owner, company, { teamId: team.id, labelIds: [label.id] })
    const queries = [`teamId=${team.id}`, `labelIds=${label.id}`]
    for (const query of queries) {
      expect((await as(owner, get(`${url}/seeds?${query}`))).json()).toHaveLength(1)
      expect((await as(other.owner, get(`${other.url}/seeds?${query}`))).json()).toEqual([])
    }
    for (const path of [team.url, label.url]) await as(owner, del(path))
    for (const query of queries) expect((await as(owner, get(`${url}/seeds?${query}`))).json()).toEqual([])
  })
})
