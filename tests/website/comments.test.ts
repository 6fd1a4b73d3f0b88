import { gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createComment, type TestComment } from '../support/comments.ts'
import { addPerson, createCompany, createTeam, del, get } from '../support/company.ts'
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
  it('shows evidence and comments, oldest first, with those on evidence under it, or only some of them', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed)
    const one = await createComment(website, owner, seed, { body: 'Who *says* so?' })
    const two = await createComment(website, member, seed, { body: 'I do', evidenceId: piece.id })
    const visitor = await signIn(viewer)
    const { body } = await visitor.get(pathOf(seed))
    expect(threadOn(body)).toEqual([piece.id, two.id, one.id])
    expect(body).toContain('<p>Who <em>says</em> so?</p>')
    // The time of a comment leads to it, on evidence at its page.
    expect(body).toContain(`<a class="permalink" href="${pathOf(seed)}#comment-${one.id}"><time`)
    expect(body).toContain(
      `<a class="permalink" href="${pathOf(seed)}/evidence/${piece.id}#comment-${two.id}"><time`,
    )
    for (const [only, ids] of [
      ['evidence', [piece.id, two.id]],
      ['comments', [one.id, two.id]],
      ['people', [piece.id, one.id, two.id]],
      ['agents', []],
    ] as const)
      expect(threadOn((await visitor.get(`${pathOf(seed)}?only=${only}`)).body), only).toEqual(ids)
  })

  it('shows evidence with what looks like a mention, with and without its discussion', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed, { summary: `[@Olga](user:${owner.id}) said so` })
    const visitor = await signIn(viewer)
    for (const only of ['', 'evidence', 'people'])
      expect(threadOn((await visitor.get(`${pathOf(seed)}?only=${only}`)).body), only).toEqual([piece.id])
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

  it('shows the first three comments on a piece, and leads to the others', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed)
    const ids: string[] = []
    for (const body of ['1', '2', '3', `[@Olga](user:${owner.id})`, '5'])
      ids.push((await createComment(website, member, seed, { body, evidenceId: piece.id })).id)
    const visitor = await signIn(viewer)
    const path = `${pathOf(seed)}/evidence/${piece.id}`
    const { body } = await visitor.get(pathOf(seed))
    expect(threadOn(body)).toEqual([piece.id, ...ids.slice(0, 3)])
    expect(body).toContain(`href="${path}#comments"`)
    expect(body).toContain('2 more comments')
    const { body: all } = await visitor.get(path)
    expect(threadOn(all)).toEqual([piece.id, ...ids])
    expect(all).toContain('>@Olga Owner</a>')
    // Of its seed alone.
    const other = await createSeed(website, member, company)
    expect((await visitor.get(`${pathOf(other)}/evidence/${piece.id}`)).statusCode).toBe(404)
    expect((await visitor.get(`${pathOf(seed)}/evidence/${seed.id}`)).statusCode).toBe(404)
  })

  it('shows the pictures of members, and the letter of others', async () => {
    const person = await addPerson(website, company.workspace, 'member', 'Ada Lovelace')
    await website.db.execute(sql`update users set image_key = 'people/a/b.webp' where id = ${person.id}`)
    const seed = await createSeed(website, person, company)
    const piece = await addEvidence(website, person, seed)
    await createComment(website, person, seed, { evidenceId: piece.id })
    await createComment(website, person, seed)
    const visitor = await signIn(viewer)
    const facesOn = (page: string) =>
      page.match(/<p class="hint byline">\s*<(img|span)/g)?.map((face) => face.slice(-4))
    const { body } = await visitor.get(pathOf(seed))
    expect(facesOn(body)).toEqual(['<img', '<img', '<img'])
    expect(facesOn((await visitor.get(`${pathOf(seed)}/evidence/${piece.id}`)).body)).toEqual([
      '<img',
      '<img',
    ])
    await as(owner, del(`${company.url}/members/${person.id}`))
    expect(facesOn((await visitor.get(pathOf(seed))).body)).toEqual(['span', 'span', 'span'])
  })

  it('gives a viewer nothing to write with, and says why', async () => {
    const seed = await createSeed(website, member, company)
    await createComment(website, owner, seed)
    const { body } = await (await signIn(viewer)).get(pathOf(seed))
    expect(body).not.toContain('/comments')
    expect(body).not.toContain('#comment"')
    expect(body).toContain('You are a viewer')
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
    await visitor.get(pathOf(seed))
    expect(visitor.page()).toContain(`href="${pathOf(seed)}/evidence/${piece.id}#comment"`)
    for (const [page, evidenceId, body] of [
      [`${pathOf(seed)}/evidence/${piece.id}`, piece.id, 'On evidence'],
      [pathOf(seed), null, 'On the seed'],
    ] as const) {
      await visitor.get(page)
      const written = await visitor.submit(`${page}/comments`, {
        ...fieldsOf(visitor.page(), `${page}/comments`),
        body,
      })
      expect(noticeOn(written.body)).toBe('Comment added.')
      expect(written.body).toContain(`<p>${body}</p>`)
      expect((await commentsOn(seed)).at(-1)).toMatchObject({ body, evidenceId })
      await visitor.get(page)
      const refused = await visitor.submit(`${page}/comments`, { body: 'x'.repeat(5001) })
      expect(refused.statusCode).toBe(400)
      expect(refused.body).toContain('x'.repeat(5001))
    }
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

  it('about evidence is quoted on the page of the evidence', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const piece = await addEvidence(website, member, seed)
    const quoted = await createComment(website, owner, seed, { evidenceId: piece.id })
    const visitor = await signIn(member)
    const path = `${pathOf(seed)}/evidence/${piece.id}?quote=${quoted.id}`
    expect((await visitor.get(pathOf(seed))).body).toContain(`href="${path}#comment"`)
    expect((await visitor.get(path)).body).toContain('&gt; ')
  })

  it('has a page, to which members of the workspace alone are led', async () => {
    const seed = await createSeed(website, member, company)
    const comment = await createComment(website, member, seed, { body: 'Hello' })
    const path = `${base}/comments/${comment.id}`
    expect((await (await signIn(viewer)).get(path)).body).toContain('<p>Hello</p>')
    const other = await createCompany(website)
    const stranger = await signIn(other.owner)
    expect((await stranger.get(path)).statusCode).toBe(403)
    expect((await stranger.get(`/w/${other.workspace.slug}/comments/${comment.id}`)).statusCode).toBe(404)
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

describe('the people to mention', () => {
  it('are members with face and address, by a part of their name', async () => {
    const visitor = await signIn(member)
    const find = async (q: string) =>
      (await visitor.get(`${base}/people/names?q=${q}`)).json<{ people: unknown[] }>().people
    const { id: userId, name, email } = viewer
    expect(await find('vera')).toMatchObject([{ userId, name, email }])
    expect(JSON.stringify(await find('vera'))).toContain('<span class=\\"picture round s28')
    expect((await find('')).length).toBeGreaterThan(3)
    expect(await find('nobody+at+all')).toEqual([])
  })

  it('are followed by teams, by a part of their name, and not by those that are too large to be told', async () => {
    const team = await createTeam(website, owner, company, 'Verification')
    const large = await createTeam(website, owner, company, 'Veracity')
    await website.db.execute(sql`
      with people as (
        insert into users (id, name, email, created_at)
        select gen_random_uuid(), 'Person', ${large.id} || n || '@example.com', now() from generate_series(1, 51) as n
        returning id
      ), members as (
        insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select ${company.workspace.id}, id, 'viewer', now(), now() from people returning user_id
      )
      insert into team_members (team_id, user_id, workspace_id, added_at)
      select ${large.id}, user_id, ${company.workspace.id}, now() from members`)
    const visitor = await signIn(member)
    const { people } = (await visitor.get(`${base}/people/names?q=VER`)).json<{ people: unknown[] }>()
    expect(people).toMatchObject([
      { userId: viewer.id },
      { teamId: team.id, name: 'Verification', memberCount: 0 },
    ])
  })
})
