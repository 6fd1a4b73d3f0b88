import { describe, expect, it } from 'vitest'
import { uploadFile } from '../support/attachments.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, get, patch } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { buildForm } from '../support/forms.ts'
import { drawQuadrants, makePng } from '../support/images.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { listUploads } from '../support/uploads.ts'
import {
  cookiesOf,
  createVisitor,
  csrfTokenOf,
  noticeOn,
  signInAs,
  startWebsite,
  type Visitor,
} from './visitor.ts'

const website = await startWebsite()
const { as } = website
const company = await createCompany(website)
const { owner, admin, member, viewer } = company
const { slug } = company.workspace
const base = `/w/${slug}`
const others = await createCompany(website)

const upload = (person: TestPerson, content: string | Buffer, name: string) =>
  uploadFile(website, person, slug, content, name)

/** Uploads a file as public/attachments.js does, with the token of the last page. */
async function send(
  visitor: Visitor,
  content: string | Buffer,
  {
    name = 'notes.csv',
    token = csrfTokenOf(visitor.page()),
    headers = {},
    path = `${base}/attachments`,
  } = {},
) {
  const form = buildForm({ name: '_csrf', content: token }, { filename: name, type: 'text/html', content })
  return website.app.inject({
    method: 'POST',
    url: path,
    payload: form.payload,
    headers: { ...form.headers, accept: 'application/json', cookie: cookiesOf(visitor), ...headers },
  })
}

const idOf = (answer: { json: () => unknown }) =>
  (answer.json() as { attachment: { id: string } }).attachment.id

describe('the upload of a form', () => {
  it('returns the file to members and above', async () => {
    const visitor = await signInAs(website, member)
    await visitor.get(`${base}/seeds/new`)
    const answer = await send(visitor, 'a,b\n1,2\n')
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toMatchObject({ attachment: { name: 'notes.csv', type: 'text/csv', bytes: 8 } })
    const reader = await signInAs(website, viewer)
    await reader.get(base)
    expect((await send(reader, 'a,b\n')).statusCode).toBe(403)
  })

  it('stores nothing without the CSRF token of the session before the file, or from another site', async () => {
    const visitor = await signInAs(website, member)
    await visitor.get(base)
    const before = await listUploads(website)
    for (const answer of [
      await send(visitor, 'a', { token: '' }),
      await send(visitor, 'a', { token: 'x'.repeat(86) }),
      await send(visitor, 'a', { headers: { 'sec-fetch-site': 'cross-site' } }),
    ]) {
      expect(answer.statusCode).toBe(403)
      expect(answer.json()).toMatchObject({ code: 'form_expired' })
    }
    const behind = buildForm(
      { filename: 'a.csv', content: 'a' },
      { name: '_csrf', content: csrfTokenOf(visitor.page()) },
    )
    const answer = await website.app.inject({
      method: 'POST',
      url: `${base}/attachments`,
      ...behind,
      headers: { ...behind.headers, accept: 'application/json', cookie: cookiesOf(visitor) },
    })
    expect(answer.statusCode).toBe(403)
    expect(await listUploads(website)).toEqual(before)
  })

  it('says to scripts what is wrong', async () => {
    const visitor = await signInAs(website, member)
    await visitor.get(base)
    expect((await send(visitor, Buffer.from([0, 1, 2, 3]))).json()).toMatchObject({
      code: 'attachment_type',
      message: expect.stringContaining('cannot be attached') as string,
    })
    expect((await send(visitor, Buffer.alloc(25 * 1024 * 1024 + 1, 'a'))).json()).toMatchObject({
      code: 'attachment_too_large',
    })
    expect((await send(createVisitor(website), 'a')).statusCode).toBe(401)
    const path = `/w/${others.workspace.slug}/attachments`
    expect((await send(visitor, 'a', { path })).json()).toMatchObject({ code: 'not_a_member' })
  })
})

describe('the content of a file', () => {
  it('is sent to members alone, with the headers of the API', async () => {
    const [csv, image] = [
      await upload(member, 'a,b\n', '数据.csv'),
      await upload(member, await makePng(), 'a.png'),
    ]
    await createSeed(website, member, company, { attachmentIds: [csv.id, image.id] })
    const reader = await signInAs(website, viewer)
    const file = await reader.get(`${base}/attachments/${csv.id}`)
    expect(file.statusCode).toBe(200)
    expect(file.body).toBe('a,b\n')
    expect(file.headers).toMatchObject({
      'content-type': 'text/csv',
      'content-disposition': expect.stringMatching(/^attachment; /) as string,
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/) as string,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'cross-origin-resource-policy': 'same-origin',
    })
    const thumbnail = await reader.get(`${base}/attachments/${image.id}?size=thumbnail`)
    expect(thumbnail.headers).toMatchObject({
      'content-type': 'image/webp',
      'content-disposition': expect.stringMatching(/^inline; /) as string,
      'cache-control': 'private, max-age=600',
    })
    const again = { 'if-none-match': String(thumbnail.headers.etag) }
    expect((await reader.get(`${base}/attachments/${image.id}?size=thumbnail`, again)).statusCode).toBe(304)
  })

  it('is not there for other tenants, is forbidden to strangers, and asks who is signed out to sign in', async () => {
    const csv = await upload(member, 'a,b\n', 'a.csv')
    await createSeed(website, member, company, { attachmentIds: [csv.id] })
    const path = `${base}/attachments/${csv.id}`
    const stranger = await signInAs(website, others.owner)
    expect((await stranger.get(`/w/${others.workspace.slug}/attachments/${csv.id}`)).statusCode).toBe(404)
    expect((await stranger.get(path)).statusCode).toBe(403)
    expect((await createVisitor(website).get(path)).headers.location).toBe(
      `/sign-in?next=${encodeURIComponent(path)}`,
    )
    const visitor = await signInAs(website, member)
    for (const id of ['x', crypto.randomUUID()])
      expect((await visitor.get(`${base}/attachments/${id}`)).statusCode).toBe(404)
  })

  it('is for its uploader, owners and admins alone while nothing uses it', async () => {
    const { id } = await upload(member, 'a,b\n', 'a.csv')
    const statuses = []
    for (const person of [member, admin, viewer])
      statuses.push((await (await signInAs(website, person)).get(`${base}/attachments/${id}`)).statusCode)
    expect(statuses).toEqual([200, 200, 404])
  })
})

describe('forms with files', () => {
  const filesOf = async (url: string) =>
    (await as(member, get(url))).json<{ attachments: { id: string; name: string }[] }>().attachments

  it('attach them to a seed, evidence and comments', async () => {
    const visitor = await signInAs(website, member)
    await visitor.get(`${base}/seeds/new`)
    const next = async (name: string) => idOf(await send(visitor, 'a,b\n', { name }))
    const ids = `${await next('one.csv')} ${await next('two.csv')}`
    const texts = { title: 'With files', summary: 'Text', successCriteria: '' }
    const created = await visitor.post(`${base}/seeds/new`, { ...texts, attachmentIds: ids })
    const path = new URL(String(created.headers.location), 'http://x').pathname
    const seedId = path.slice(path.lastIndexOf('/') + 1)
    expect((await filesOf(`/v1/seeds/${seedId}`)).map(({ id }) => id)).toEqual(ids.split(' '))
    const evidence = {
      verdict: 'supports',
      kind: 'note',
      summary: 'Seen',
      attachmentIds: await next('e.csv'),
    }
    await visitor.post(`${path}/evidence`, evidence)
    await visitor.post(`${path}/comments`, { body: 'See', attachmentIds: await next('c.csv') })
    const { body } = await visitor.get(path)
    for (const name of ['one.csv', 'two.csv', 'e.csv', 'c.csv'])
      expect(body, name).toContain(`<bdi class="truncate">${name}</bdi>`)
    expect(body).toContain('CSV, 4 bytes')
  })

  it('show an image in the space that it takes, with its name, and others by name, type and size', async () => {
    const name = 'تقرير "<b>" 🌱.png'
    const image = await upload(member, await drawQuadrants(1000, 250).png().toBuffer(), name)
    const seed = await createSeed(website, member, company, { attachmentIds: [image.id] })
    const { body } = await (await signInAs(website, viewer)).get(`${base}/seeds/${seed.id}`)
    const url = `${base}/attachments/${image.id}`
    expect(body).toContain(`href="${url}"`)
    const [tag = ''] = /<img[^>]*size=thumbnail[^>]*>/.exec(body) ?? []
    expect(tag).toContain('width="240"')
    expect(tag).toContain('height="60"')
    expect(tag).toContain('loading="lazy"')
    expect(tag).toContain('alt="تقرير')
    expect(body).not.toContain('"<b>"')
  })

  it('that are refused are shown again with their files, but not with those of others', async () => {
    const seed = await createSeed(website, member, company)
    const hidden = await upload(others.member, 'x', 'hidden.csv').catch(() => undefined)
    expect(hidden).toBeUndefined()
    const foreign = await uploadFile(website, others.member, others.workspace.slug, 'x', 'foreign.csv')
    const visitor = await signInAs(website, member)
    const path = `${base}/seeds/${seed.id}`
    await visitor.get(path)
    const own = idOf(await send(visitor, 'a,b\n', { name: 'mine.csv' }))
    const refused = await visitor.submit(`${path}/comments`, { body: '\u202e', attachmentIds: own })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('mine.csv')
    expect(refused.body).toMatch(new RegExp(`name="attachmentIds"\\s+value="${own}"\\s+checked`))
    const unknown = await visitor.submit(`${path}/comments`, { body: 'Text', attachmentIds: foreign.id })
    expect(unknown.statusCode).toBe(404)
    expect(unknown.body).toContain('A file to attach does not exist, or is attached already.')
    expect(unknown.body).not.toContain('foreign.csv')
    expect(unknown.body).toContain('>Text</textarea>')
  })

  it('remove what is left out, and nothing if they know of no files', async () => {
    const [one, two] = [await upload(member, '1', 'one.csv'), await upload(member, '2', 'two.csv')]
    const seed = await createSeed(website, member, company)
    const comment = await createComment(website, member, seed, { attachmentIds: [one.id, two.id] })
    const visitor = await signInAs(website, member)
    const path = `${base}/comments/${comment.id}/edit`
    const { body } = await visitor.get(path)
    expect(body).toMatch(new RegExp(`name="attachmentIds"\\s+value="${two.id}"\\s+checked`))
    await visitor.post(path, { body: 'Changed' })
    expect(await filesOf(`/v1/comments/${comment.id}`)).toHaveLength(2)
    await visitor.post(path, { body: 'Changed', attachmentIds: two.id })
    expect(await filesOf(`/v1/comments/${comment.id}`)).toMatchObject([{ id: two.id }])
    await visitor.post(path, { body: 'Changed', attachmentIds: '' })
    expect(await filesOf(`/v1/comments/${comment.id}`)).toEqual([])
  })

  it('keep what others added to a seed meanwhile, to decide about it', async () => {
    const [one, two] = [await upload(member, '1', 'one.csv'), await upload(admin, '2', 'two.csv')]
    const seed = await createSeed(website, member, company, { attachmentIds: [one.id] })
    const visitor = await signInAs(website, member)
    const path = `${base}/seeds/${seed.id}/edit`
    const { body } = await visitor.get(path)
    const [, opened = ''] = /name="opened" value="([^"]*)"/.exec(body) ?? []
    await as(admin, patch(`/v1/seeds/${seed.id}`, { attachmentIds: [one.id, two.id] }))
    const texts = {
      title: 'An idea',
      summary: 'Text',
      attachmentIds: '',
      opened: opened.replaceAll('&quot;', '"'),
    }
    const refused = await visitor.submit(path, texts)
    expect(refused.statusCode).toBe(409)
    for (const { id } of [one, two]) expect(refused.body).toContain(`value="${id}"`)
    expect(await filesOf(`/v1/seeds/${seed.id}`)).toHaveLength(2)
  })
})

describe('deleting a file', () => {
  it('is for owners and admins, on the page of what has it', async () => {
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    const file = await upload(member, '1', 'one.csv')
    const piece = await addEvidence(website, member, seed, { attachmentIds: [file.id] })
    const remove = `${base}/attachments/${file.id}/delete`
    const path = `${base}/seeds/${seed.id}/evidence/${piece.id}`
    const visitor = await signInAs(website, member)
    expect((await visitor.get(path)).body).not.toContain(remove)
    expect((await visitor.submit(remove)).statusCode).toBe(403)
    const manager = await signInAs(website, owner)
    // A seed with many pieces has no buttons for each of their files.
    expect((await manager.get(`${base}/seeds/${seed.id}`)).body).not.toContain(remove)
    expect((await manager.get(path)).body).toContain(`action="${remove}"`)
    const headers = { 'sec-fetch-site': 'same-origin', referer: `${website.config.webUrl}${path}` }
    const done = await manager.submit(remove, {}, headers)
    expect(noticeOn(done.body)).toBe('File deleted.')
    expect(done.body).not.toContain('one.csv')
  })
})

it('the page of a seed runs as many statements with files as without', async () => {
  const [plain, filled] = [
    await createSeed(website, member, company),
    await createSeed(website, member, company),
  ]
  const { id } = await upload(member, '1', 'one.csv')
  await createComment(website, member, plain)
  await createComment(website, member, filled, { attachmentIds: [id] })
  const visitor = await signInAs(website, member)
  const count = (seed: { id: string }) => countQueries(() => visitor.get(`${base}/seeds/${seed.id}`))
  expect(await count(filled)).toBe(await count(plain))
})
