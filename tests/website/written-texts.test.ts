import { describe, expect, it } from 'vitest'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, del, patch } from '../support/company.ts'
import { createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { createVisitor, csrfTokenOf, fieldsOf, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const { as } = website
const company = await createCompany(website)
const { owner } = company
const base = `/w/${company.workspace.slug}`

/** A member who has a page of a seed open. */
async function openSeed(page = (seed: TestSeed) => `${base}/seeds/${seed.id}`) {
  const person = await addPerson(website, company.workspace, 'admin')
  const seed = await createSeed(website, person, company)
  await joinSeed(website, person, seed)
  const visitor = await signInAs(website, person)
  await visitor.get(page(seed))
  return { person, seed, visitor, path: `${base}/seeds/${seed.id}` }
}

const lowerRole = ({ person }: { person: TestPerson }) =>
  as(owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
const remove = ({ person }: { person: TestPerson }) => as(owner, del(`${company.url}/members/${person.id}`))
const deleteSeed = ({ seed }: { seed: TestSeed }) => as(owner, del(`/v1/seeds/${seed.id}`))

/** The texts that a page shows to copy, by their labels. */
function copiesOn(page: string): Record<string, string> {
  const [section = ''] = /<section[^>]*aria-labelledby="written"[^]*?<\/section>/.exec(page) ?? []
  const areas = section.matchAll(
    /<label for="([^"]*)">([^<]*)<\/label>\s*<textarea id="\1"[^>]*readonly[^>]*>([^<]*)</g,
  )
  return Object.fromEntries(Array.from(areas, ([, , label, text]) => [String(label), String(text)]))
}

const evidence = { verdict: 'supports', kind: 'note', sourceUrl: '' }

describe('the page of a form that cannot be shown again', () => {
  it.each<
    [
      what: string,
      status: number,
      change: (opened: Awaited<ReturnType<typeof openSeed>>) => Promise<{ statusCode: number }>,
      action: (path: string) => string,
      fields: Record<string, string>,
      copies: Record<string, string>,
    ]
  >([
    [
      'a comment on a deleted seed',
      404,
      deleteSeed,
      (path) => `${path}/comments`,
      { body: 'One\r\n\r\n<two>' },
      { Comment: 'One\n\n&lt;two&gt;' },
    ],
    [
      'a comment of who became a viewer',
      403,
      lowerRole,
      (path) => `${path}/comments`,
      { body: 'Mine' },
      { Comment: 'Mine' },
    ],
    [
      'a comment of who was removed',
      403,
      remove,
      (path) => `${path}/comments`,
      { body: 'Mine' },
      { Comment: 'Mine' },
    ],
    [
      'a new seed of who became a viewer',
      403,
      lowerRole,
      () => `${base}/seeds/new`,
      { title: 'New', summary: 'Short', problem: '', audience: ' ', successCriteria: 'a\r\nb' },
      { Title: 'New', Summary: 'Short', 'Success criteria': 'a\nb' },
    ],
    [
      'an edit of a deleted seed',
      404,
      deleteSeed,
      (path) => `${path}/edit`,
      { title: 'Other', summary: 'Longer', hypothesis: 'That' },
      { Title: 'Other', Summary: 'Longer', Hypothesis: 'That' },
    ],
    [
      'evidence for a deleted seed',
      404,
      deleteSeed,
      (path) => `${path}/evidence`,
      { ...evidence, summary: 'Found' },
      { Summary: 'Found' },
    ],
    [
      'a reason for the status of a deleted seed',
      404,
      deleteSeed,
      (path) => `${path}/status`,
      { status: 'dropped', statusReason: 'Why' },
      { Reason: 'Why' },
    ],
    [
      'invites of who became a viewer',
      403,
      lowerRole,
      () => `${base}/invites`,
      { email: 'a@x.example, b@x.example', role: 'member' },
      { 'Email addresses': 'a@x.example, b@x.example' },
    ],
  ])('shows the texts of %s', async (_what, status, change, action, fields, copies) => {
    const opened = await openSeed()
    expect((await change(opened)).statusCode).toBe(200)
    const answer = await opened.visitor.post(action(opened.path), fields)
    expect(answer.statusCode).toBe(status)
    expect(answer.body).toContain('<h2 id="written">What you wrote</h2>')
    expect(copiesOn(answer.body)).toEqual(copies)
    expect(answer.body).toMatch(/class="button" href="/)
    // But for the one that restores a deleted seed.
    const main = /<main[^]*<\/main>/.exec(answer.body)?.[0].replace(/<form[^>]*\/restore"[^]*?<\/form>/, '')
    expect(main).not.toContain('<form')
  })

  it('shows them when the form was refused first, and its page is gone by then', async () => {
    const opened = await openSeed()
    const text = 'x'.repeat(5001)
    const refused = await opened.visitor.post(`${opened.path}/comments`, { body: text })
    await deleteSeed(opened)
    const page = await opened.visitor.get(String(refused.headers.location))
    expect(page.statusCode).toBe(404)
    expect(copiesOn(page.body)).toEqual({ Comment: text })
  })

  it('shows them on a page that no longer has the form', async () => {
    const opened = await openSeed()
    const refused = await opened.visitor.post(`${opened.path}/comments`, { body: 'x'.repeat(5001) })
    const shown = await opened.visitor.get(String(refused.headers.location))
    expect(copiesOn(shown.body)).toEqual({})
    await lowerRole(opened)
    const page = await opened.visitor.get(String(refused.headers.location))
    expect(page.statusCode).toBe(400)
    expect(copiesOn(page.body)).toEqual({ Comment: 'x'.repeat(5001) })
  })

  it('shows them when a comment was deleted that is edited', async () => {
    const opened = await openSeed()
    const comment = await createComment(website, opened.person, opened.seed)
    await opened.visitor.get(`${base}/comments/${comment.id}/edit`)
    await as(owner, del(`/v1/comments/${comment.id}`))
    const answer = await opened.visitor.post(`${base}/comments/${comment.id}/edit`, { body: 'Better' })
    expect(answer.statusCode).toBe(404)
    expect(copiesOn(answer.body)).toEqual({ Comment: 'Better' })
  })

  it('shows no text of a form without the token of this session', async () => {
    const { path, seed, visitor } = await openSeed()
    const stranger = createVisitor(website)
    await stranger.get('/sign-in')
    await deleteSeed({ seed })
    for (const _csrf of ['', 'x', csrfTokenOf(stranger.page())]) {
      const answer = await visitor.post(`${path}/comments`, { _csrf, body: 'From elsewhere' })
      expect(answer.statusCode).toBe(403)
      expect(answer.body).not.toContain('From elsewhere')
      const referred = await sendFrom(visitor, path, { _csrf, body: 'From elsewhere' })
      const page = await visitor.get(String(referred.headers.location))
      expect(page.statusCode).toBe(404)
      expect(page.body).not.toContain('From elsewhere')
    }
    const known = await visitor.post(
      `${path}/comments`,
      { body: 'From elsewhere' },
      { 'sec-fetch-site': 'cross-site' },
    )
    expect(known.statusCode).toBe(403)
    expect(known.body).not.toContain('From elsewhere')
  })

  it('shows no passwords, codes and fields that nobody writes', async () => {
    const { path, seed, visitor } = await openSeed()
    const fields = {
      body: 'Text',
      password: 'secret-1',
      currentPassword: 'secret-2',
      code: 'secret-3',
      credential: 'secret-4',
      other: 'secret-5',
    }
    await deleteSeed({ seed })
    const answer = await visitor.post(`${path}/comments`, fields)
    expect(copiesOn(answer.body)).toEqual({ Comment: 'Text' })
    expect(answer.body).not.toContain('secret-')
  })
})

/** Sends a comment from the page of its seed, as a browser does. */
function sendFrom(visitor: Visitor, path: string, fields: Record<string, string>) {
  return visitor.post(`${path}/comments`, fields, {
    'sec-fetch-site': 'same-origin',
    referer: website.config.webUrl + path,
  })
}

it('shows both texts of an edit that others made too, to copy when the page is gone', async () => {
  const opened = await openSeed((seed) => `${base}/seeds/${seed.id}/edit`)
  const { path, seed, visitor } = opened
  const form = fieldsOf(visitor.page(), `${path}/edit`)
  await as(owner, patch(`/v1/seeds/${seed.id}`, { summary: 'Theirs' }))
  const refused = await visitor.post(`${path}/edit`, { ...form, summary: 'Mine' })
  const shown = await visitor.get(String(refused.headers.location))
  expect(shown.statusCode).toBe(409)
  expect(copiesOn(shown.body)).toEqual({})
  await lowerRole(opened)
  const page = await visitor.get(String(refused.headers.location))
  expect(page.statusCode).toBe(403)
  expect(copiesOn(page.body)).toMatchObject({ Summary: 'Mine' })
})

describe('a text of several lines that is too long', () => {
  it.each<
    [action: (path: string) => string, name: string, fields: Record<string, string>, lengthMax: number]
  >([
    [(path) => `${path}/comments`, 'body', {}, 5000],
    [(path) => `${path}/evidence`, 'summary', evidence, 4000],
    [() => `${base}/seeds/new`, 'summary', { title: 'New' }, 2000],
    [() => `${base}/seeds/new`, 'problem', { title: 'New', summary: 'Short' }, 2000],
    [() => `${base}/seeds/new`, 'successCriteria', { title: 'New', summary: 'Short' }, 300],
  ])('is refused beside its field, and kept whole: %s %s', async (action, name, fields, lengthMax) => {
    const { path, visitor } = await openSeed()
    const form = action(path)
    // In code points.
    const text = '\u{1f331}'.repeat(lengthMax)
    const refused = await visitor.submit(form, { ...fields, [name]: `${text}x` })
    expect(refused.statusCode).toBe(400)
    expect(fieldsOf(refused.body, form)).toMatchObject({ [name]: `${text}x` })
    expect(new RegExp(`id="${name}-error"[^>]*>([^<]*)<`).exec(refused.body)?.[1]).toContain(
      String(lengthMax),
    )
    expect((await visitor.post(form, { ...fields, [name]: text })).statusCode).toBe(303)
    expect(visitor.page()).toContain(`${text}x`)
  })
})
