import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { noSeedFilters, savedFiltersMax } from '../../src/domain/saved-filters.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, createTeam, del, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { allowLeaving } from '../support/prepare-request.ts'
import { createLabel, createSeed, saveFilter } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service

interface Saved {
  id: string
  name: string
  shared: boolean
  createdByUserId: string | null
  filters: Record<string, unknown>
}

const list = async (person: TestPerson, { url }: { url: string }) =>
  (await as(person, get(`${url}/saved-filters?limit=200`))).json<Saved[]>()
const namesOf = async (...of: Parameters<typeof list>) => (await list(...of)).map(({ name }) => name)
const eventsOf = async (company: Parameters<typeof findEvents>[1]) =>
  (await findEvents(service, company)).filter(({ type }) => String(type).startsWith('saved_filter.'))
const save = (person: TestPerson, { url }: { url: string }, body: object) =>
  as(person, post(`${url}/saved-filters`, { name: 'Due', shared: false, filters: {}, ...body }))

/** Fills a workspace with saved filters of a person, or with shared ones, but for one. */
const fill = ({ id }: { id: string }, ownerId: string | null) =>
  db.execute(sql`
    insert into saved_filters (id, workspace_id, owner_user_id, name, filters, created_at, updated_at)
    select gen_random_uuid(), ${id}, ${ownerId}, 'Filter ' || n, '{}', now(), now()
    from generate_series(1, ${savedFiltersMax - 1}) as n`)

describe('savedFilters.create', () => {
  it('saves filters for their creator alone, without an event', async () => {
    const company = await createCompany(service)
    const { url, workspace, viewer } = company
    const answer = await save(viewer, company, {
      name: ' 価格\u00a0💶 ',
      filters: { leadUserId: 'me', due: 'week' },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const { savedFilter } = answer.json<{ savedFilter: Saved }>()
    const at = clock.now().toISOString()
    expect(savedFilter).toEqual({
      ...{ id: savedFilter.id, workspaceId: workspace.id, name: '価格 💶', shared: false },
      ...{ createdByUserId: viewer.id, createdAt: at, updatedAt: at },
      filters: { ...noSeedFilters, leadUserId: 'me', due: 'week' },
    })
    const path = `${url}/saved-filters/${savedFilter.id}`
    expect(answer.headers.location).toBe(path)
    expect(await list(viewer, company)).toEqual([savedFilter])
    expect((await as(viewer, get(path))).json()).toEqual(savedFilter)
    expect(await eventsOf(workspace)).toEqual([])
    // Not even owners see, change or delete it.
    for (const person of [company.owner, company.admin, company.member]) {
      expect(await list(person, company)).toEqual([])
      for (const request of [get(path), patch(path, { name: 'Mine' }), del(path)])
        expectError(await as(person, request), errors.notFound)
    }
    expect(await namesOf(viewer, company)).toEqual(['価格 💶'])
  })

  it('shares filters with everybody, with an event', async () => {
    const company = await createCompany(service)
    const { member, viewer, workspace } = company
    const { id } = await saveFilter(service, member, company, { name: 'Due', shared: true })
    for (const person of [member, viewer])
      expect(await list(person, company)).toMatchObject([{ id, shared: true, createdByUserId: member.id }])
    expect(await eventsOf(workspace)).toEqual([
      eventBy(
        member,
        { type: 'saved_filter', id },
        { type: 'saved_filter.created', summary: `${member.name} shared the saved filter Due` },
      ),
    ])
    expectError(await save(viewer, company, { name: 'Other', shared: true }), errors.roleInsufficient)
  })

  it('keeps each filter of the list, normalized, and can be sent what a response has', async () => {
    const company = await createCompany(service)
    const { owner, member } = company
    const team = await createTeam(service, owner, company)
    const [b, a] = [
      await createLabel(service, owner, company, 'b'),
      await createLabel(service, owner, company, 'a'),
    ]
    const seed = await createSeed(service, owner, company)
    const filters = {
      ...{ status: 'open', q: '  two   words ', ids: [seed.id, seed.id], createdByUserId: member.id },
      ...{ leadUserId: 'none', balance: 'even', teamId: team.id, labelIds: [`${b.id},${a.id}`] },
      ...{ due: 'silent', updatedSince: '2026-01-01', joined: false, sort: 'decideBy' },
    }
    const saved = {
      ...{ ...filters, status: ['open'], q: 'two words', ids: [seed.id] },
      labelIds: [a.id, b.id].toSorted(),
    }
    expect(Object.keys(filters).toSorted()).toEqual(Object.keys(noSeedFilters).toSorted())
    await save(owner, company, { filters })
    const [first] = await list(owner, company)
    expect(first?.filters).toEqual(saved)
    const again = await save(owner, company, { name: 'Again', filters: first?.filters })
    expect(again.json<{ savedFilter: Saved }>().savedFilter.filters).toEqual(saved)
    await save(owner, company, { name: 'None', filters: noSeedFilters })
    await save(owner, company, {
      name: 'Blank',
      filters: { q: ' ', status: [], ids: [], labelIds: ['', ','] },
    })
    expect((await list(owner, company)).slice(2).map((filter) => filter.filters)).toEqual([
      noSeedFilters,
      noSeedFilters,
    ])
  })

  it('returns 400 for what is no filter of the list, and for a bad name', async () => {
    const company = await createCompany(service)
    for (const filters of [
      { limit: 10 },
      { cursor: 'x' },
      { deleted: true },
      { status: 'new' },
      { due: 'soon' },
      { joined: 'true' },
      { updatedSince: 'x' },
      { q: 'x'.repeat(101) },
      { labelIds: 'x' },
    ]) {
      const answer = await save(company.owner, company, { filters })
      expectError(answer, errors.decodeError, { issues: anyIssues })
    }
    const answer = await save(company.owner, company, { name: ' ' })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['name'] }])
    const ids = [Array.from({ length: 101 }, createId).join(',')]
    expectError(await save(company.owner, company, { filters: { labelIds: ids } }), errors.idLimit, {
      field: 'labelIds',
    })
    expectError(await save(company.owner, company, { filters: { q: 'a\u202eb' } }), errors.textInvalid, {
      ...{ field: 'filters', message: expect.any(String) as string },
    })
    expect(await list(company.owner, company)).toEqual([])
  })

  it('returns 404 for ids that are unknown, malformed or of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const own = await createLabel(service, company.owner, company)
    const [team, label, seed] = [
      await createTeam(service, other.owner, other),
      await createLabel(service, other.owner, other),
      await createSeed(service, other.owner, other),
    ]
    for (const filters of [
      ...[team.id, createId(), 'x', 'a\0'].map((teamId) => ({ teamId })),
      ...[label.id, createId(), 'x', `${own.id},${label.id}`].map((id) => ({ labelIds: [id] })),
      ...[seed.id, createId(), 'x'].map((id) => ({ ids: [id] })),
      ...[other.owner.id, createId(), 'you'].flatMap((id) => [{ leadUserId: id }, { createdByUserId: id }]),
    ])
      expectError(await save(company.owner, company, { filters }), errors.notFound)
    const saved = await saveFilter(service, company.owner, company)
    expectError(await as(company.owner, patch(saved.url, { filters: { teamId: team.id } })), errors.notFound)
    expect(await list(company.owner, company)).toMatchObject([{ filters: noSeedFilters }])
  })

  it('returns 409 for the name of another one, of the same person or among those that are shared', async () => {
    const company = await createCompany(service)
    const { owner, member } = company
    await saveFilter(service, owner, company, { name: 'Équipe' })
    expectError(await save(owner, company, { name: ' E\u0301QUIPE ' }), errors.savedFilterNameTaken)
    await saveFilter(service, member, company, { name: 'Équipe' })
    await saveFilter(service, member, company, { name: 'Équipe', shared: true })
    expectError(await save(owner, company, { name: 'équipe', shared: true }), errors.savedFilterNameTaken)
    const other = await createCompany(service)
    await saveFilter(service, other.owner, other, { name: 'Équipe', shared: true })
  })

  it('saves a name once, of two at once', async () => {
    const company = await createCompany(service)
    const answers = await Promise.all(
      [company.owner, company.member, company.admin].map((person) => save(person, company, { shared: true })),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409])
  })

  it.each([false, true])('returns 409 for the 51st, also to several at once; shared: %s', async (shared) => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    await fill(workspace, shared ? null : owner.id)
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => save(owner, company, { name, shared })))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    if (!refused) throw new Error('none was refused')
    expectError(refused, errors.savedFilterLimit)
    expect(await list(owner, company)).toHaveLength(savedFiltersMax)
    // The others count by themselves.
    await saveFilter(service, owner, company, { shared: !shared })
    await saveFilter(service, member, company)
  })
})

describe('savedFilters.update', () => {
  it('changes one of the caller alone, without an event', async () => {
    const company = await createCompany(service)
    const { viewer, workspace } = company
    const { url } = await saveFilter(service, viewer, company, { filters: { due: 'week', q: 'a' } })
    const change = async (body: object) =>
      expect((await as(viewer, patch(url, body))).json()).toEqual({ ok: true })
    await change({ name: 'Mine' })
    await change({ filters: { balance: 'for' } })
    await change({})
    expect(await list(viewer, company)).toMatchObject([
      { name: 'Mine', filters: { ...noSeedFilters, balance: 'for' } },
    ])
    expect(await eventsOf(workspace)).toEqual([])
    expectError(await as(viewer, patch(url, { shared: true })), errors.roleInsufficient)
  })

  it('changes shared ones, with events', async () => {
    const company = await createCompany(service)
    const { admin, member, workspace } = company
    const { id, url } = await saveFilter(service, member, company, { name: 'Due', shared: true })
    const change = async (person: TestPerson, body: object) =>
      expect((await as(person, patch(url, body))).statusCode).toBe(200)
    await change(member, { name: 'Due soon' })
    await change(admin, { filters: { due: 'week' } })
    await change(admin, { name: 'Late', filters: { due: 'overdue' } })
    await change(member, { name: 'Late', filters: { due: 'overdue' }, shared: true })
    const target = { type: 'saved_filter', id } as const
    const type = 'saved_filter.updated'
    expect((await eventsOf(workspace)).slice(1)).toEqual([
      eventBy(member, target, { type, summary: `${member.name} renamed the saved filter Due to Due soon` }),
      eventBy(admin, target, { type, summary: `${admin.name} changed the saved filter Due soon` }),
      eventBy(admin, target, {
        ...{ type, summary: `${admin.name} renamed the saved filter Due soon to Late and changed it` },
      }),
    ])
  })

  it('tells others when it is shared and when no longer, as far as they see it', async () => {
    const company = await createCompany(service)
    const { owner, member, viewer, workspace } = company
    const { url } = await saveFilter(service, member, company, { name: 'Secret' })
    await as(member, patch(url, { name: 'Due', shared: true }))
    expect(await namesOf(viewer, company)).toEqual(['Due'])
    // Only who saved it can take it from the others.
    expectError(await as(owner, patch(url, { shared: false })), errors.notTheAuthor)
    await as(member, patch(url, { name: 'Secret again', shared: false }))
    expect(await namesOf(viewer, company)).toEqual([])
    expect(await namesOf(member, company)).toEqual(['Secret again'])
    const events = await eventsOf(workspace)
    expect(events.map(({ summary }) => summary)).toEqual([
      `${member.name} shared the saved filter Due`,
      `${member.name} removed the shared saved filter Due`,
    ])
    expect(JSON.stringify(events)).not.toContain('Secret')
  })

  it('returns 409 for the name of another one and for one too many, also by sharing', async () => {
    const company = await createCompany(service)
    const { owner, workspace } = company
    const [own, other] = [
      await saveFilter(service, owner, company, { name: 'a' }),
      await saveFilter(service, owner, company, { name: 'b' }),
    ]
    expectError(await as(owner, patch(own.url, { name: 'B' })), errors.savedFilterNameTaken)
    const swap = [patch(own.url, { name: 'b' }), patch(other.url, { name: 'a' })]
    const answers = await Promise.all(swap.map((request) => as(owner, request)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([409, 409])
    await saveFilter(service, company.member, company, { name: 'A', shared: true })
    expectError(await as(owner, patch(own.url, { shared: true })), errors.savedFilterNameTaken)
    await as(owner, del(`${company.url}/saved-filters/${(await list(owner, company))[2]?.id}`))
    await fill(workspace, null)
    const shared = await Promise.all([own, other].map(({ url }) => as(owner, patch(url, { shared: true }))))
    expect(shared.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409])
  })

  it('returns 404 for an unknown one and one of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { id } = await saveFilter(service, other.owner, other, { shared: true })
    for (const unknown of [id, createId(), 'x', '%00'])
      for (const request of [patch('', { name: 'a' }), del(''), get('')])
        expectError(
          await as(company.owner, { ...request, url: `${company.url}/saved-filters/${unknown}` }),
          errors.notFound,
        )
  })
})

describe('savedFilters.delete', () => {
  it('deletes one of the caller alone without an event, and a shared one with one', async () => {
    const company = await createCompany(service)
    const { admin, member, viewer, workspace } = company
    const own = await saveFilter(service, viewer, company)
    const shared = await saveFilter(service, member, company, { name: 'Due', shared: true })
    expectError(await as(viewer, del(shared.url)), errors.roleInsufficient)
    expect((await as(viewer, del(own.url))).json()).toEqual({ ok: true })
    expect((await as(admin, del(shared.url))).json()).toEqual({ ok: true })
    for (const { url } of [own, shared]) expectError(await as(viewer, del(url)), errors.notFound)
    expect((await eventsOf(workspace)).map(({ summary }) => summary)).toEqual([
      `${member.name} shared the saved filter Due`,
      `${admin.name} removed the shared saved filter Due`,
    ])
  })
})

describe('saved filters', () => {
  it('stay with what they name when it is gone, and find nothing then', async () => {
    const company = await createCompany(service)
    const { owner, url } = company
    const label = await createLabel(service, owner, company)
    await createSeed(service, owner, company, { labelIds: [label.id] })
    const saved = await saveFilter(service, owner, company, { filters: { labelIds: [label.id] } })
    await as(owner, del(label.url))
    expect(await list(owner, company)).toMatchObject([{ filters: { labelIds: [label.id] } }])
    expect((await as(owner, patch(saved.url, { name: 'Kept' }))).statusCode).toBe(200)
    expect((await as(owner, get(`${url}/seeds?labelIds=${label.id}`))).json()).toEqual([])
  })

  it.each(['leaves', 'is removed', 'is erased'])(
    'of who %s: the shared ones are of the workspace, all others are deleted',
    async (how) => {
      const company = await createCompany(service)
      const { owner, admin, member, url, workspace } = company
      const person = await addPerson(service, workspace, 'member')
      const shared = await saveFilter(service, person, company, { name: 'Shared', shared: true })
      await saveFilter(service, person, company, { name: 'Secret' })
      await saveFilter(service, member, company, { name: 'Of another' })
      if (how === 'is erased') await service.services.accounts.delete(person.id, { withWorkspaces: true })
      else await as(how === 'leaves' ? person : owner, del(`${url}/members/${person.id}`))
      expect(await list(member, company)).toMatchObject([
        { name: 'Shared', shared: true, createdByUserId: null },
        { name: 'Of another' },
      ])
      const rows = await selectRows(
        db,
        sql`select name from saved_filters where workspace_id = ${workspace.id} order by name`,
      )
      expect(rows).toEqual([{ name: 'Of another' }, { name: 'Shared' }])
      expectError(await as(member, patch(shared.url, { name: 'x' })), errors.roleInsufficient)
      expectError(await as(owner, patch(shared.url, { shared: false })), errors.notTheAuthor)
      expect((await as(admin, patch(shared.url, { name: 'Ours' }))).statusCode).toBe(200)
      expect((await as(owner, del(shared.url))).statusCode).toBe(200)
    },
  )

  it('of who became a viewer are changed by themselves only if nobody else sees them', async () => {
    const company = await createCompany(service)
    const { owner, member } = company
    const [own, shared] = [
      await saveFilter(service, member, company),
      await saveFilter(service, member, company, { shared: true }),
    ]
    await as(owner, patch(`${company.url}/members/${member.id}`, { role: 'viewer' }))
    expect((await as(member, patch(own.url, { name: 'x' }))).statusCode).toBe(200)
    for (const request of [
      patch(shared.url, { name: 'y' }),
      patch(shared.url, { shared: false }),
      del(shared.url),
    ])
      expectError(await as(member, request), errors.roleInsufficient)
  })

  it('are exported with the workspace if they are shared, and with who saved them', async () => {
    const company = await createCompany(service)
    const { owner, member, url } = company
    await saveFilter(service, owner, company, { name: 'Secret of Olga', filters: { q: 'takeover' } })
    await saveFilter(service, member, company, { name: 'Secret of Mary' })
    await saveFilter(service, member, company, { name: 'Due', shared: true, filters: { due: 'week' } })
    const whole = await as(owner, get(`${url}/export`))
    const lines = whole.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; data: object })
    expect(lines.filter(({ kind }) => kind === 'savedFilter').map(({ data }) => data)).toMatchObject([
      { name: 'Due', filters: { ...noSeedFilters, due: 'week' }, sharedByUserId: member.id },
    ])
    expect(whole.body).not.toMatch(/Secret|takeover/)
    await allowLeaving(service, { actorId: member.id, workspaceId: company.workspace.id })
    const exported = await as(member, get('/v1/me/export'))
    expect(exported.json<{ savedFilters: object[] }>().savedFilters).toMatchObject([
      { name: 'Secret of Mary', shared: false, filters: noSeedFilters },
      { name: 'Due', shared: true, filters: { ...noSeedFilters, due: 'week' } },
    ])
    expect(exported.body).not.toMatch(/Secret of Olga|takeover/)
  })
})
