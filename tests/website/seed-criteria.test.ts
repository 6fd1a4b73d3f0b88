import { gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, get, patch } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { addEvidence, createSeed, type TestEvidence, type TestSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { createVisitor, noticeOn, signInAs } from './visitor.ts'

const clock = createTestClock()
const website = await startTestApp({ clock })
const company = await createCompany(website)
const { owner, member, viewer } = company
const base = `/w/${company.workspace.slug}`

const dayMs = 24 * 60 * 60 * 1000
const spaced = (page: string) => page.replaceAll(/\s+/g, ' ')
const pathOf = (seed: { id: string }) => `${base}/seeds/${seed.id}`
const create = (successCriteria: string[]) => createSeed(website, member, company, { successCriteria })
const read = async ({ id }: { id: string }) =>
  (await website.as(viewer, get(`/v1/seeds/${id}`))).json<TestSeed>()

/** The parts of a page about each criterion. */
const criteriaOn = (page: string) => {
  const [list = ''] = /<ul class="criteria">[\s\S]*?<\/ul>\s*(?=<\/form>|<\/section>)/.exec(page) ?? []
  return spaced(list)
    .split(/<li> <p> /)
    .slice(1)
}

describe('the criteria on the page of a seed', () => {
  it('have their state, their balance, and links to the evidence for and against', async () => {
    const seed = await create(['Ten would <pay>', '十二人のうち十人が払う', 'عشرة من اثني عشر'])
    const [first, second] = seed.criteria.map(({ id }) => id)
    const pieces: TestEvidence[] = []
    for (let i = 0; i < 5; i++) {
      clock.advance(1000)
      pieces.push(
        await addEvidence(website, member, seed, { summary: `Finding **${i}**`, criterionIds: [first] }),
      )
    }
    const against = await addEvidence(website, member, seed, {
      ...{ verdict: 'contradicts', summary: 'Nobody & none', criterionIds: [first, second] },
    })
    const withdrawn = await addEvidence(website, member, seed, { criterionIds: [second], summary: 'Gone' })
    await website.as(member, { method: 'POST', url: `/v1/evidence/${withdrawn.id}/withdraw` })
    await website.as(
      member,
      patch(`/v1/seeds/${seed.id}`, {
        criteria: seed.criteria.map((each, i) => ({ ...each, state: i === 1 ? 'missed' : 'open' })),
      }),
    )
    const [one = '', two = '', three = ''] = criteriaOn(
      (await (await signInAs(website, viewer)).get(pathOf(seed))).body,
    )
    expect(one).toContain('<bdi>Ten would &lt;pay&gt;</bdi> <span class="tag criterion-open">Open</span>')
    expect(one).toContain('5 for, 1 against')
    const linkOf = (piece: TestEvidence) => `<a href="${pathOf(seed)}/evidence/${piece.id}" ><bdi>`
    for (const [place, piece] of pieces.entries())
      expect(one.includes(linkOf(piece)), String(place)).toBe(place > 1)
    expect(one).toContain(`${linkOf(pieces[4] ?? against)}Finding 4</bdi>`)
    expect(one).toContain('2 more pieces')
    expect(one).toContain(`${linkOf(against)}Nobody &amp; none</bdi>`)
    expect(two).toContain(
      '<bdi>十二人のうち十人が払う</bdi> <span class="tag criterion-missed">Missed</span>',
    )
    expect(two).toContain('0 for, 1 against')
    expect(two).not.toContain('Gone')
    expect(three).not.toContain('small-balance')
    // A viewer sets nothing.
    expect(one + two + three).not.toContain('<button')
  })

  it('cost one query for all, and none more for each', async () => {
    const [none, many] = [
      await create([]),
      await create(Array.from({ length: 20 }, (_, i) => `Criterion ${i}`)),
    ]
    for (let i = 0; i < 3; i++)
      await addEvidence(website, member, many, { criterionIds: many.criteria.map(({ id }) => id) })
    const visitor = await signInAs(website, member)
    const queries = await countQueries(() => visitor.get(pathOf(none)))
    expect(await countQueries(() => visitor.get(pathOf(many)))).toBe(queries)
  })

  it('take less than 30 kB with 20 criteria, 60 pieces that 60 people saw too, and 200 comments', async () => {
    const seed = await create(
      Array.from(
        { length: 20 },
        (_, i) => `Criterion ${i}, ${'which is met once ten people pay '.repeat(4)}`,
      ),
    )
    const ids = seed.criteria.map(({ id }) => id)
    await website.db.execute(sql`
      insert into evidence (id, seed_id, kind, verdict, summary, criterion_ids, author_user_id, author_name, created_at)
      select gen_random_uuid(), ${seed.id}, 'interview', (array['supports', 'contradicts', 'neutral'])[n % 3 + 1],
        left(string_agg(md5(n || '-' || part), ' '), 200), ${sql.param(ids)}::uuid[], ${member.id}, 'Mary', now() - n * interval '1 hour'
      from generate_series(1, 60) as n, generate_series(1, 7) as part group by n`)
    await website.db.execute(sql`
      insert into comments (id, seed_id, body, author_user_id, author_name, created_at)
      select gen_random_uuid(), ${seed.id}, left(string_agg(md5(n || '/' || part), ' '), 200), ${member.id}, 'Mary', now() - n * interval '1 hour'
      from generate_series(1, 200) as n, generate_series(1, 7) as part group by n`)
    await website.db.execute(sql`
      with people as (
        insert into users (id, email, name, created_at)
        select gen_random_uuid(), gen_random_uuid() || '@example.com', 'Person ' || left(md5(n::text), 12), now()
        from generate_series(1, 60) as n returning id
      ), members as (
        insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select ${company.workspace.id}, id, 'member', now(), now() from people returning workspace_id, user_id
      )
      insert into evidence_seen (evidence_id, user_id, workspace_id, seen_at)
      select evidence.id, user_id, members.workspace_id, now() - random() * interval '1 hour' from members, evidence
      where seed_id = ${seed.id}`)
    for (const reader of [member, owner]) {
      const { body } = await (await signInAs(website, reader)).get(pathOf(seed))
      expect(criteriaOn(body)).toHaveLength(20)
      expect(body.match(/>57 others</g)?.length).toBeGreaterThan(10)
      // The author of all needs no button.
      expect(body.includes('I saw this too')).toBe(reader === owner)
      expect(gzipSync(body).length).toBeLessThan(30_000)
    }
  })
})

describe('the state of a criterion', () => {
  it('is set by a button, without a script, and told', async () => {
    const seed = await create(['Ten would pay', 'None leaves'])
    const visitor = await signInAs(website, member)
    await visitor.get(pathOf(seed))
    const [first, second] = seed.criteria
    expect(visitor.page()).toContain(`name="criterion" value="${first?.id} open met"`)
    const answer = await visitor.submit(`${pathOf(seed)}/criteria`, { criterion: `${first?.id} open met` })
    expect(noticeOn(answer.body)).toBe('Ten would pay: met.')
    expect((await read(seed)).criteria).toEqual([{ ...first, state: 'met' }, second])
    expect(visitor.page()).toContain('marked “<bdi>Ten would pay</bdi>” as met')
    expect(visitor.page()).toContain(`value="${first?.id} met missed"`)
  })

  it('is not set twice: who saw another state is told which it is now', async () => {
    const seed = await create(['Ten would pay'])
    const visitor = await signInAs(website, member)
    await visitor.get(pathOf(seed))
    const criteria = seed.criteria.map((each) => ({ ...each, state: 'missed' }))
    await website.as(company.owner, patch(`/v1/seeds/${seed.id}`, { criteria }))
    const answer = await visitor.submit(`${pathOf(seed)}/criteria`, {
      criterion: `${seed.criteria[0]?.id} open met`,
    })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('it is missed now. Nothing was saved.')
    expect((await read(seed)).criteria).toEqual(criteria)
  })

  it.each([
    ['nothing', ''],
    ['an unknown state', 'ID open done'],
    ['a criterion that is gone', 'ID open met'],
  ])('is not set by %s', async (_, criterion) => {
    const seed = await create(['Ten would pay'])
    const visitor = await signInAs(website, member)
    await visitor.get(pathOf(seed))
    const given = criterion === '' ? {} : { criterion: criterion.replace('ID', seed.id) }
    const answer = await visitor.submit(`${pathOf(seed)}/criteria`, given)
    expect([400, 403, 404, 409]).toContain(answer.statusCode)
    expect((await read(seed)).criteria).toEqual(seed.criteria)
  })

  it('is for members, not for viewers and strangers', async () => {
    const seed = await create(['Ten would pay'])
    const criterion = `${seed.criteria[0]?.id} open met`
    const other = await createCompany(website)
    for (const person of [viewer, other.owner]) {
      const visitor = await signInAs(website, person)
      await visitor.get('/account/profile')
      const answer = await visitor.post(`${pathOf(seed)}/criteria`, { criterion })
      expect([403, 404]).toContain(answer.statusCode)
    }
    expect((await createVisitor(website).get(pathOf(seed))).statusCode).not.toBe(200)
    expect((await read(seed)).criteria).toEqual(seed.criteria)
  })
})

describe('the form of evidence', () => {
  it('has a checkbox for each criterion, when it is added, refused and corrected', async () => {
    const seed = await create(['Ten would pay', 'None leaves'])
    const [first = '', second = ''] = seed.criteria.map(({ id }) => id)
    const visitor = await signInAs(website, member)
    await visitor.get(pathOf(seed))
    const finding = { verdict: 'supports', kind: 'interview', summary: 'Nine would', sourceUrl: 'no' }
    const isChecked = (page: string, id: string) =>
      (new RegExp(`<input type="checkbox" id="criterion-${id}"[^>]*>`).exec(page)?.[0] ?? 'none').includes(
        'checked',
      )
    const refused = await visitor.submit(`${pathOf(seed)}/evidence`, {
      ...finding,
      [`criterion-${second}`]: 'on',
    })
    expect(refused.statusCode).toBe(400)
    expect([first, second].map((id) => isChecked(refused.body, id))).toEqual([false, true])
    await visitor.submit(`${pathOf(seed)}/evidence`, {
      ...finding,
      sourceUrl: '',
      [`criterion-${second}`]: 'on',
    })
    const list = async () =>
      (await website.as(viewer, get(`/v1/seeds/${seed.id}/evidence`))).json<TestEvidence[]>()
    const [piece] = await list()
    expect(piece?.criterionIds).toEqual([second])
    const edit = `${pathOf(seed)}/evidence/${piece?.id}/edit`
    const opened = await visitor.get(edit)
    expect([first, second].map((id) => isChecked(opened.body, id))).toEqual([false, true])
    await visitor.submit(edit, { ...finding, sourceUrl: '', [`criterion-${first}`]: 'on' })
    expect((await list()).map(({ criterionIds }) => criterionIds)).toEqual([[first]])
    await website.as(member, patch(`/v1/seeds/${seed.id}`, { successCriteria: [] }))
    expect((await visitor.get(pathOf(seed))).body).not.toContain('type="checkbox"')
  })
})

it('what had no evidence for 30 days is marked on the home, and listed by the filter', async () => {
  const own = await createCompany(website)
  const ownBase = `/w/${own.workspace.slug}`
  await createSeed(website, own.member, own, { title: 'Quiet' })
  clock.advance(29 * dayMs)
  await createSeed(website, own.member, own, { title: 'Recent' })
  clock.advance(2 * dayMs)
  const visitor = await signInAs(website, own.member)
  const home = spaced((await visitor.get(ownBase)).body)
  expect(home.match(/No evidence for 30 days/g)).toHaveLength(1)
  const list = (await visitor.get(`${ownBase}/seeds?view=list&due=silent`)).body
  expect(list).toContain('<option value="silent" selected>')
  expect(list).toContain('<bdi>Quiet</bdi>')
  expect(list).not.toContain('<bdi>Recent</bdi>')
})
