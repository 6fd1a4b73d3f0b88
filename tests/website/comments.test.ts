import { gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createComment, type TestComment } from '../support/comments.ts'
import { addPerson, createCompany, get } from '../support/company.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { fieldsOf, noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const { as } = website
const company = await createCompany(website)
const { owner, admin, member, viewer } = company
const base = `/w/${company.workspace.slug}`

const signIn = (person: TestPerson) => signInAs(website, person)
const pathOf = (seed: { id: string }) => `${base}/seeds/${seed.id}`
const commentsOn = async (seed: { id: string }) =>
  (await as(viewer, get(`/v1/seeds/${seed.id}/comments`))).json<TestComment[]>()

/** The ids of the pieces and comments on the page of a seed, in order. */
const threadOn = (page: string) =>
  Array.from(page.matchAll(/id="(?:comment|evidence)-([0-9a-f-]{36})"/g), ([, id]) => id)

describe('the thread of a seed', () => {
  it('shows evidence and comments together, newest first, or only some of them', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed)
    const one = await createComment(website, owner, seed, { body: 'Who *says* so?' })
    const two = await createComment(website, member, seed, { body: 'I do', evidenceId: piece.id })
    const visitor = await signIn(viewer)
    const { body } = await visitor.get(pathOf(seed))
    expect(threadOn(body)).toEqual([two.id, one.id, piece.id])
    expect(body).toContain('<p>Who <em>says</em> so?</p>')
    expect(body).toContain(`href="#evidence-${piece.id}"`)
    for (const [only, ids] of [
      ['evidence', [piece.id]],
      ['comments', [two.id, one.id]],
      ['people', [two.id, one.id, piece.id]],
      ['agents', []],
    ] as const)
      expect(threadOn((await visitor.get(`${pathOf(seed)}?only=${only}`)).body), only).toEqual(ids)
  })

  it('takes less than 30 kB with 200 comments of 200 characters', async () => {
    const seed = await createSeed(website, member, company)
    await website.db.execute(sql`
      insert into comments (id, seed_id, body, author_user_id, author_name, created_at)
      select gen_random_uuid(), ${seed.id}, left(string_agg(md5(n || '-' || part), ' '), 200), ${member.id}, 'Mary', now() - n * interval '1 hour'
      from generate_series(1, 200) as n, generate_series(1, 7) as part group by n`)
    const { body } = await (await signIn(member)).get(pathOf(seed))
    expect(threadOn(body).length).toBeGreaterThan(20)
    expect(gzipSync(body).length).toBeLessThan(30_000)
  })

  it('gives a viewer nothing to write with', async () => {
    const seed = await createSeed(website, member, company)
    await createComment(website, owner, seed)
    const { body } = await (await signIn(viewer)).get(pathOf(seed))
    expect(body).not.toContain('/comments')
    expect(body).not.toContain('#comment"')
  })

  it('comes in pages that hold all of it', async () => {
    const seed = await createSeed(website, member, company)
    const ids: string[] = []
    for (let i = 0; i < 35; i++) ids.push((await createComment(website, member, seed)).id)
    const visitor = await signIn(viewer)
    const first = await visitor.get(pathOf(seed))
    const next = /rel="next" href="([^"]*)"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&')
    const second = await visitor.get(String(next).replace(/#.*/, ''))
    expect([...threadOn(first.body), ...threadOn(second.body)].toSorted()).toEqual(ids.toSorted())
  })
})

describe('a comment', () => {
  it('is written on the seed or on evidence, and keeps its text when it is refused', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed)
    const visitor = await signIn(member)
    await visitor.get(`${pathOf(seed)}?evidence=${piece.id}`)
    expect(visitor.page()).toContain(`name="evidenceId" value="${piece.id}"`)
    const written = await visitor.submit(`${pathOf(seed)}/comments`, {
      ...fieldsOf(visitor.page(), `${pathOf(seed)}/comments`),
      body: 'Hello',
    })
    expect(noticeOn(written.body)).toBe('Comment added.')
    expect(await commentsOn(seed)).toMatchObject([{ body: 'Hello', evidenceId: piece.id }])
    await visitor.get(pathOf(seed))
    const refused = await visitor.submit(`${pathOf(seed)}/comments`, { body: 'x'.repeat(5001) })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('x'.repeat(5001))
  })

  it('begins with a quote of another one, which mentions its author', async () => {
    const seed = await createSeed(website, member, company)
    const quoted = await createComment(website, owner, seed, { body: 'One\ntwo' })
    const { body } = await (await signIn(member)).get(`${pathOf(seed)}?quote=${quoted.id}`)
    expect(body).toContain(`&gt; One\n&gt; two\n\n[@Olga Owner](user:${owner.id}) </textarea>`)
    const gone = await (await signIn(member)).get(`${pathOf(seed)}?quote=${seed.id}`)
    expect(gone.statusCode).toBe(200)
    expect(gone.body).not.toContain('&gt; One')
  })

  it('is edited by its author alone, and deleted by them, owners and admins', async () => {
    const seed = await createSeed(website, member, company)
    const comment = await createComment(website, member, seed)
    const path = `${base}/comments/${comment.id}`
    const author = await signIn(member)
    await author.get(pathOf(seed))
    expect(author.page()).toContain(`${path}/edit`)
    await author.get(`${path}/edit`)
    const saved = await author.submit(`${path}/edit`, { body: 'Changed' })
    expect(noticeOn(saved.body)).toBe('Saved.')
    expect(saved.body).toContain('· edited')
    expect(await commentsOn(seed)).toMatchObject([{ body: 'Changed' }])

    const other = await signIn(await addPerson(website, company.workspace, 'member'))
    await other.get(pathOf(seed))
    expect(other.page()).not.toContain(path)
    const manager = await signIn(admin)
    await manager.get(pathOf(seed))
    expect(manager.page()).not.toContain(`${path}/edit`)
    expect(noticeOn((await manager.submit(`${path}/delete`)).body)).toBe('Comment deleted.')
    expect(await commentsOn(seed)).toEqual([])
  })
})

describe('the names of people to mention', () => {
  it('are those of members, by a part of their name', async () => {
    const visitor = await signIn(member)
    const find = async (q: string) =>
      (await visitor.get(`${base}/people/names?q=${q}`)).json<{ people: unknown[] }>().people
    expect(await find('vera')).toEqual([{ userId: viewer.id, name: 'Vera Viewer' }])
    expect((await find('')).length).toBeGreaterThan(3)
    expect(await find('nobody+at+all')).toEqual([])
  })
})
