import { describe, expect, it } from 'vitest'
import { mergesUndoneMs } from '../../src/domain/seeds.ts'
import { createCompany, patch, post } from '../support/company.ts'
import { addEvidence, createSeed, findEvidence, findSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { noticeOn, signInAs } from './visitor.ts'

const clock = createTestClock()
const website = await startTestApp({ clock })
const spaced = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

async function startCompany() {
  const company = await createCompany(website)
  const base = `/w/${company.workspace.slug}`
  return { company, base, pathOf: ({ id }: { id: string }) => `${base}/seeds/${id}` }
}

describe('the page that merges a seed', () => {
  it('offers similar seeds and what a search finds, says what moves, and merges', async () => {
    const { company, base, pathOf } = await startCompany()
    const owner = await signInAs(website, company.owner)
    const [old, similar, other] = [
      await createSeed(website, company.member, company, { title: 'Cheaper <b>coffee' }),
      await createSeed(website, company.member, company, { title: 'Cheaper coffee' }),
      await createSeed(website, company.member, company, { title: 'Tea' }),
    ]
    const piece = await addEvidence(website, company.member, old)
    const page = `${pathOf(old)}/merge`
    expect((await owner.get(pathOf(old))).body).toContain(`<a href="${page}">Merge into another seed</a>`)
    const offered = (await owner.get(page)).body
    expect(offered).toContain(`href="${page}?into=${similar.id}"`)
    for (const { id } of [old, other]) expect(offered).not.toContain(`into=${id}`)
    expect((await owner.get(`${page}?q=tea`)).body).toContain(`href="${page}?into=${other.id}"`)
    expect((await owner.get(`${page}?q=nothing`)).body).toContain('No other seed has these words')
    const asked = spaced((await owner.get(`${page}?into=${other.id}`)).body)
    expect(asked).toContain('Merge Cheaper &lt;b&gt;coffee into Tea ?')
    expect(asked).toContain('1 piece of evidence, 0 comments and 1 participant and all followers move there.')
    const done = await owner.submit(page, { into: other.id })
    expect(noticeOn(done.body)).toBe('Merged Cheaper &lt;b&gt;coffee into Tea.')
    expect(await findEvidence(website, other)).toHaveLength(1)
    expect(spaced(done.body)).toMatch(/Cheaper &lt;b&gt;coffee was merged into this seed by \S.* \. Undo/)

    // The former page, and its parts, lead to the other one.
    const moved = await owner.get(`${pathOf(old)}?only=comments`)
    expect(moved.statusCode).toBe(303)
    expect(moved.headers.location).toBe(`${pathOf(other)}?merged=${old.id}`)
    expect((await owner.open(`/s/${old.id}`)).body).toContain('You opened it by its former address.')
    expect((await owner.get(`${pathOf(old)}/evidence/${piece.id}`)).headers.location).toBe(
      `${pathOf(other)}/evidence/${piece.id}?merged=${old.id}`,
    )
    const elsewhere = await startCompany()
    const stranger = await signInAs(website, elsewhere.company.owner)
    expect((await stranger.get(elsewhere.pathOf(old))).statusCode).toBe(404)
    // A form of the former page is refused on the page of the other one.
    await owner.get(pathOf(other))
    const redirect = await owner.submit(`${pathOf(old)}/join`)
    expect(redirect.statusCode).toBe(303)
    const late = await owner.open(String(redirect.headers.location))
    expect(late.statusCode).toBe(409)
    expect(late.body).toContain('This seed was merged into another one.')
    expect(late.body).toContain('<bdi>Tea</bdi></h1>')

    await owner.get(pathOf(other))
    const undone = await owner.submit(`${pathOf(old)}/unmerge`)
    expect(noticeOn(undone.body)).toBe('Cheaper &lt;b&gt;coffee is a seed of its own again.')
    expect(undone.body).toContain('<bdi>Cheaper &lt;b&gt;coffee</bdi></h1>')
    expect((await owner.get(pathOf(other))).body).not.toContain('was merged into this seed')
    expect(base).not.toBe('')
  })

  it('is for owners and admins, and for who leads both, who is offered only those', async () => {
    const { company, pathOf } = await startCompany()
    const { member, owner, viewer } = company
    const [mine, alsoMine, ofOwner] = [
      await createSeed(website, member, company, { title: 'Cheaper coffee' }),
      await createSeed(website, member, company, { title: 'Cheaper coffee, again' }),
      await createSeed(website, owner, company, { title: 'Cheaper coffee of all' }),
    ]
    const visitor = await signInAs(website, member)
    for (const query of ['', '?q=coffee']) {
      const page = (await visitor.get(`${pathOf(mine)}/merge${query}`)).body
      expect(page, query).toContain(`into=${alsoMine.id}`)
      expect(page, query).not.toContain(`into=${ofOwner.id}`)
    }
    expect((await visitor.get(pathOf(ofOwner))).body).not.toContain('Merge into another seed')
    expect((await visitor.get(`${pathOf(ofOwner)}/merge`)).statusCode).toBe(403)
    const watcher = await signInAs(website, viewer)
    expect((await watcher.get(pathOf(mine))).body).not.toContain('Merge into another seed')
    // Who may not undo it sees that it was merged.
    await website.as(owner, post(`/v1/seeds/${mine.id}/merge`, { into: ofOwner.id }))
    for (const who of [watcher, visitor]) {
      const page = (await who.get(pathOf(ofOwner))).body
      expect(page).toContain('was merged into this seed')
      expect(page).not.toContain('/unmerge"')
    }
    await website.as(owner, patch(`/v1/seeds/${ofOwner.id}`, { title: 'Renamed' }))
  })

  it('offers to undo it for 14 days, and tells who comes by the former address afterwards', async () => {
    const { company, pathOf } = await startCompany()
    const [old, other] = [
      await createSeed(website, company.owner, company, { title: 'Old' }),
      await createSeed(website, company.owner, company, { title: 'New' }),
    ]
    await website.as(company.owner, post(`/v1/seeds/${old.id}/merge`, { into: other.id }))
    const visitor = await signInAs(website, company.owner)
    clock.advance(mergesUndoneMs)
    expect((await visitor.get(pathOf(other))).body).toContain(`${pathOf(old)}/unmerge`)
    clock.advance(1)
    expect((await visitor.get(pathOf(other))).body).not.toContain('was merged into this seed')
    const page = (await visitor.get(`${pathOf(other)}?merged=${old.id}`)).body
    expect(page).toContain('was merged into this seed')
    expect(page).not.toContain('/unmerge"')
    const redirect = await visitor.submit(`${pathOf(old)}/unmerge`)
    expect((await visitor.open(String(redirect.headers.location))).body).toContain(
      'A merge can be undone for 14 days.',
    )
    expect(await findSeed(website, old)).toMatchObject({ merged_into_seed_id: other.id })
  })
})

describe('the form of a new seed', () => {
  it('names similar seeds by JSON for its script', async () => {
    const { company, base, pathOf } = await startCompany()
    const seed = await createSeed(website, company.member, company, { title: 'Fewer meetings' })
    const visitor = await signInAs(website, company.member)
    const form = (await visitor.get(`${base}/seeds/new`)).body
    expect(form).toContain(`data-similar="${base}/seeds/similar" data-of="title"`)
    expect((await visitor.get(`${pathOf(seed)}/edit`)).body).not.toContain('data-similar')
    const similarTo = async (title: string) =>
      (await visitor.get(`${base}/seeds/similar?title=${encodeURIComponent(title)}`)).json<object>()
    expect(await similarTo('Less meetings')).toEqual({
      similar: [{ id: seed.id, title: 'Fewer meetings', status: 'Open', href: pathOf(seed) }],
    })
    expect(await similarTo('')).toEqual({ similar: [] })
  })
})
