import { describe, expect, it } from 'vitest'
import { createCompany, patch } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { createEmptySeed, createSeed, joinSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { fieldsOf, noticeOn, signInAs } from './visitor.ts'

const clock = createTestClock()
const website = await startTestApp({ clock })

const dayMs = 24 * 60 * 60 * 1000
const dayAfter = (days: number) => new Date(clock.now().getTime() + days * dayMs).toISOString().slice(0, 10)
const spaced = (page: string) => page.replaceAll(/\s+/g, ' ')
const titlesOn = (page: string) =>
  [...page.matchAll(/<a class="title"[^>]*><bdi>([^<]*)</g)].map(([, title]) => title)

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, base: `/w/${company.workspace.slug}` }
}

describe('the form of a seed', () => {
  it('sets, shows and clears the question and the date, and keeps what was refused', async () => {
    const { base, member } = await startCompany()
    const visitor = await signInAs(website, member)
    await visitor.get(`${base}/seeds/new`)
    expect(visitor.page()).toMatch(/<input type="date" value=""\s+id="decideBy"/)
    const texts = { title: 'Fewer meetings', summary: 'A day of none' }
    const decision = { question: ' それで、作りますか？ <b> ', decideBy: dayAfter(20) }
    const refused = await visitor.submit(`${base}/seeds/new`, {
      ...{ ...texts, ...decision, decideBy: '2026-02-30' },
    })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('This must be a date, as 2026-11-21.')
    expect(refused.body).toMatch(/id="decideBy"[^>]*aria-invalid="true" autofocus/)
    expect(refused.body).toContain('value=" それで、作りますか？ &lt;b&gt; "')
    await visitor.submit(`${base}/seeds/new`, { ...texts, ...decision })
    const id = /seeds\/([0-9a-f-]{36})\/edit/.exec(visitor.page())?.[1]
    const path = `${base}/seeds/${id}`
    expect(visitor.page()).toContain('<p class="lead"><bdi>それで、作りますか？ &lt;b&gt;</bdi></p>')
    expect(spaced(visitor.page())).toContain(`To be decided by <time datetime="${decision.decideBy}">`)
    expect((await visitor.get(`${path}/edit`)).body).toContain(
      `<input type="date" value="${decision.decideBy}"`,
    )
    const answer = await visitor.submit(`${path}/edit`, { ...texts, question: '', decideBy: '' })
    expect(noticeOn(answer.body)).toBe('Saved.')
    for (const gone of ['class="lead"', 'To be decided']) expect(answer.body).not.toContain(gone)
  })

  it('refuses to overwrite a date that others changed since it was opened', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.member)
    const seed = await createSeed(website, company.member, company, { decideBy: dayAfter(2) })
    const path = `${company.base}/seeds/${seed.id}/edit`
    const opened = fieldsOf((await visitor.get(path)).body, path)
    await website.as(company.owner, patch(`/v1/seeds/${seed.id}`, { decideBy: dayAfter(3) }))
    const answer = await visitor.submit(path, { ...opened, decideBy: dayAfter(4) })
    expect(answer.statusCode).toBe(409)
    expect(spaced(answer.body)).toContain(`<bdi>${dayAfter(3)}</bdi>`)
  })
})

it('a seed is marked in words where it is due or overdue, until it is decided', async () => {
  const company = await startCompany()
  const { base, member } = company
  const visitor = await signInAs(website, member)
  const overdue = await createSeed(website, member, company, { title: 'Late', decideBy: dayAfter(-1) })
  await createSeed(website, member, company, { title: 'Today', decideBy: dayAfter(0) })
  await createSeed(website, member, company, { title: 'Later', decideBy: dayAfter(7) })
  const marksOn = (page: string) =>
    [
      ...spaced(page).matchAll(/<span class="tag(?: warn)?">(Overdue since|Due) <time datetime="([^"]+)">/g),
    ].map(([, word, date]) => `${word} ${date}`)
  const [late, today] = [`Overdue since ${dayAfter(-1)}`, `Due ${dayAfter(0)}`]
  for (const view of ['list', 'board'])
    expect(marksOn((await visitor.get(`${base}/seeds?view=${view}`)).body).toSorted()).toEqual([today, late])
  expect(marksOn((await visitor.get(`${base}/seeds/${overdue.id}`)).body)).toEqual([late])
  const shownBy = async (query: string) =>
    titlesOn((await visitor.get(`${base}/seeds?view=list&${query}`)).body)
  expect(await shownBy('due=overdue')).toEqual(['Late'])
  expect(await shownBy('due=week')).toEqual(['Today'])
  expect(await shownBy('due=never&sort=decideBy')).toEqual(['Late', 'Today', 'Later'])
  expect((await visitor.get(`${base}/seeds?due=week`)).body).toContain('<option value="week" selected>')
  await website.as(member, patch(`/v1/seeds/${overdue.id}`, { status: 'dropped' }))
  expect(marksOn((await visitor.get(`${base}/seeds/${overdue.id}`)).body)).toEqual([])
  expect(await shownBy('due=overdue')).toEqual([])
})

it('the home has the first five seeds that are due and that the person leads, joined or follows', async () => {
  const [company, other] = [await startCompany(), await startCompany()]
  const { base, member, owner, viewer } = company
  const visitor = await signInAs(website, member)
  const dueOn = async () => {
    const [waiting = ''] =
      /<section aria-labelledby="waiting">[\s\S]*?<\/section>/.exec((await visitor.get(base)).body) ?? []
    return titlesOn(waiting)
  }
  await createSeed(website, member, company, { title: 'Led', decideBy: dayAfter(-3) })
  const joined = await createEmptySeed(website, owner, company, { title: 'Joined', decideBy: dayAfter(-2) })
  const followed = await createEmptySeed(website, owner, company, {
    title: 'Followed',
    decideBy: dayAfter(6),
  })
  await createEmptySeed(website, owner, company, { title: 'Of others', decideBy: dayAfter(-9) })
  await createSeed(website, member, company, { title: 'Too far', decideBy: dayAfter(7) })
  await createSeed(website, other.member, other, { title: 'Elsewhere', decideBy: dayAfter(-9) })
  await joinSeed(website, member, joined)
  for (const person of [member, viewer])
    await website.as(person, { method: 'POST', url: `/v1/seeds/${followed.id}/follow` })
  expect(await dueOn()).toEqual(['Led', 'Joined', 'Followed'])
  expect(spaced(visitor.page())).toContain(`Overdue since <time datetime="${dayAfter(-3)}">`)
  const queries = await countQueries(() => visitor.get(base))
  for (let day = 0; day < 4; day++)
    await createSeed(website, member, company, { title: `Day ${day}`, decideBy: dayAfter(day) })
  expect(await dueOn()).toEqual(['Led', 'Joined', 'Day 0', 'Day 1', 'Day 2'])
  expect(await countQueries(() => visitor.get(base))).toBe(queries)
  await website.as(member, patch(`/v1/seeds/${joined.id}`, { status: 'validated' }))
  expect(await dueOn()).not.toContain('Joined')
})
