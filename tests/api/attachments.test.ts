import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { sendFile, uploadFile } from '../support/attachments.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { beginPost, listen } from '../support/raw-http.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, listUploads, makeFolder } from '../support/uploads.ts'

const clock = createTestClock()
const service = await startTestApp({ clock, environment: {} })
const { app, as, db, services } = service
const company = await createCompany(service)
const { slug } = company.workspace
const filesUrl = `/v1/workspaces/${slug}/attachments`
const port = await listen(app)

const upload = (text: string, name?: string, person: TestPerson = company.member) =>
  uploadFile(service, person, slug, text, name)

const ok = async (person: TestPerson, request: Parameters<typeof as>[1]) => {
  const answer = await as(person, request)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Record<string, { id: string; attachments: { id: string }[] }>>()
}

const createSeed = async (attachmentIds: string[]) =>
  (
    await ok(
      company.member,
      post(`/v1/workspaces/${slug}/seeds`, { title: 'T', summary: 'S', attachmentIds }),
    )
  ).seed as { id: string; attachments: { id: string }[] }

const idsOf = async (path: string) =>
  (await as(company.viewer, get(path)))
    .json<{ attachments: { id: string }[] }>()
    .attachments.map(({ id }) => id)

const filesOf = async (ids: string[]) =>
  (await selectRows<{ id: string }>(db, sql`select id from attachments where id in ${ids} order by id`)).map(
    ({ id }) => id,
  )

describe('changing attachmentIds', () => {
  it('orders, adds and deletes files of seeds, evidence and comments', async () => {
    const [one, two, three] = [await upload('one'), await upload('two'), await upload('three')]
    const seed = await createSeed([one.id, two.id])
    const path = `/v1/seeds/${seed.id}`
    expect(await idsOf(path)).toEqual([one.id, two.id])
    await ok(company.owner, patch(path, { title: 'Other' }))
    expect(await idsOf(path)).toEqual([one.id, two.id])
    await ok(company.member, patch(path, { attachmentIds: [three.id, one.id] }))
    expect(await idsOf(path)).toEqual([three.id, one.id])
    expect(await filesOf([two.id])).toEqual([])
    const [event] = await selectRows(
      db,
      sql`select data->'fields' as fields from events where seed_id = ${seed.id} and type = 'seed.updated' order by position desc limit 1`,
    )
    expect(event).toEqual({ fields: ['attachmentIds'] })
    // Files of others who have not attached them, of another seed, and gone ones.
    const foreign = await upload('foreign', 'a.txt', company.admin)
    const other = await createSeed([(await upload('used')).id])
    for (const id of [foreign.id, String(other.attachments[0]?.id), two.id, 'no-id'])
      expectError(
        await as(company.member, patch(path, { attachmentIds: [three.id, id] })),
        errors.attachmentNotFound,
      )
    expect(await idsOf(path)).toEqual([three.id, one.id])

    const piece = (
      await ok(
        company.member,
        post(`${path}/evidence`, {
          ...{ kind: 'note', verdict: 'neutral', summary: 'E' },
          attachmentIds: [(await upload('of evidence')).id],
        }),
      )
    ).evidence
    const next = await upload('next')
    await ok(company.member, patch(`/v1/evidence/${piece?.id}`, { attachmentIds: [next.id] }))
    expect(await idsOf(`/v1/evidence/${piece?.id}`)).toEqual([next.id])
    const comment = (
      await ok(
        company.member,
        post(`${path}/comments`, { body: 'C', attachmentIds: [(await upload('of it')).id] }),
      )
    ).comment
    const last = await upload('last')
    const edit = { body: 'C', attachmentIds: [last.id] }
    await ok(company.member, patch(`/v1/comments/${comment?.id}`, edit))
    expect(await idsOf(`/v1/comments/${comment?.id}`)).toEqual([last.id])
    // Deleted with the comment; and nothing of it is found any more.
    expect((await as(company.member, del(`/v1/comments/${comment?.id}`))).statusCode).toBe(200)
    expectError(await as(company.member, get(`${filesUrl}/${last.id}`)), errors.notFound)
  })

  it('lets one of two claims at once have a file', async () => {
    const file = await upload('wanted')
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        as(
          company.member,
          post(`/v1/workspaces/${slug}/seeds`, { title: 'T', summary: 'S', attachmentIds: [file.id] }),
        ),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404, 404, 404])
  })

  it('takes ten files, and not eleven', async () => {
    const files = await Promise.all(Array.from({ length: 11 }, (_, i) => upload(`file ${i}`)))
    const ids = files.map(({ id }) => id)
    const eleven = { title: 'T', summary: 'S', attachmentIds: ids }
    expect((await as(company.member, post(`/v1/workspaces/${slug}/seeds`, eleven))).statusCode).toBe(400)
    expect((await createSeed(ids.slice(1))).attachments.map(({ id }) => id)).toEqual(ids.slice(1))
  })
})

describe('who reads and deletes', () => {
  it('shows unused files to their uploader, owners and admins, and used ones to all members', async () => {
    const file = await upload('mine')
    const colleague = await addPerson(service, company.workspace, 'member')
    for (const path of ['', '/content']) {
      for (const person of [company.member, company.admin, company.owner])
        expect((await as(person, get(`${filesUrl}/${file.id}${path}`))).statusCode).toBe(200)
      for (const person of [colleague, company.viewer])
        expectError(await as(person, get(`${filesUrl}/${file.id}${path}`)), errors.notFound)
    }
    expectError(await as(colleague, del(`${filesUrl}/${file.id}`)), errors.notFound)
    await createSeed([file.id])
    expect((await as(colleague, get(`${filesUrl}/${file.id}/content`))).body).toBe('mine')
    expectError(await as(company.member, del(`${filesUrl}/${file.id}`)), errors.roleInsufficient)
    expect((await as(company.admin, del(`${filesUrl}/${file.id}`))).statusCode).toBe(200)
    expectError(await as(company.admin, get(`${filesUrl}/${file.id}`)), errors.notFound)
    const unused = await upload('unused')
    expect((await as(company.member, del(`${filesUrl}/${unused.id}`))).statusCode).toBe(200)
    const other = await createCompany(service)
    expectError(
      await as(other.owner, get(`/v1/workspaces/${other.workspace.slug}/attachments/${file.id}`)),
      errors.notFound,
    )
  })

  it('shows files of deleted seeds to nobody, until they are restored; the erased ones are gone from the storage', async () => {
    const file = await upload('of a seed')
    const seed = await createSeed([file.id])
    await ok(company.member, del(`/v1/seeds/${seed.id}`))
    expectError(await as(company.owner, get(`${filesUrl}/${file.id}/content`)), errors.notFound)
    await ok(company.member, post(`/v1/seeds/${seed.id}/restore`, {}))
    expect((await as(company.viewer, get(`${filesUrl}/${file.id}/content`))).body).toBe('of a seed')
    const [row] = await selectRows<{ key: string }>(
      db,
      sql`select key from attachments where id = ${file.id}`,
    )
    expect(await listUploads(service)).toContain(row?.key)
    await db.execute(sql`delete from seeds where id = ${seed.id}`)
    await services.pictures.collectUnused()
    expect(await listUploads(service)).not.toContain(row?.key)
    expect((await findPictures(service)).some(({ key }) => key === row?.key)).toBe(false)
  })
})

describe('links', () => {
  const linkTo = async (id: string) => {
    const answer = await as(company.viewer, get(`${filesUrl}/${id}/link`))
    expect(answer.statusCode, answer.body).toBe(200)
    const { url, expiresAt } = answer.json<{ url: string; expiresAt: string }>()
    return { path: new URL(url).pathname, expiresAt }
  }

  it('work for five minutes without a key, for this file alone, as long as it exists', async () => {
    const file = await upload('linked', 'notes.txt')
    await createSeed([file.id])
    const { path, expiresAt } = await linkTo(file.id)
    const opened = await app.inject(path)
    expect([opened.statusCode, opened.body]).toEqual([200, 'linked'])
    expect(opened.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'content-disposition': `attachment; filename="notes.txt"; filename*=UTF-8''notes.txt`,
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    })
    const [, , , token = ''] = path.split('/')
    const [id = '', seconds = '', signature = ''] = token.split('.')
    const other = await upload('other')
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    for (const wrong of [
      `${other.id}.${seconds}.${signature}`,
      `${id}.${Number(seconds) + 60}.${signature}`,
      `${id}.${seconds}.${flipped}`,
      `${id}.${seconds}.${signature.slice(1)}`,
      `${id}.${seconds}.`,
      `${id}.${seconds}`,
      'nothing',
    ])
      expectError(await app.inject(`/v1/attachment-links/${wrong}`), errors.notFound)
    expect(Date.parse(expiresAt) - clock.now().getTime()).toBeLessThanOrEqual(300_000)
    clock.advance(Date.parse(expiresAt) - clock.now().getTime() - 1)
    expect((await app.inject(path)).statusCode).toBe(200)
    clock.advance(1)
    expectError(await app.inject(path), errors.notFound)
    const fresh = await linkTo(file.id)
    await ok(company.owner, del(`${filesUrl}/${file.id}`))
    expectError(await app.inject(fresh.path), errors.notFound)
  })
})

describe('what is not used', () => {
  it('is deleted after a day', async () => {
    const file = await upload('forgotten')
    const used = await createSeed([(await upload('kept')).id])
    const { deleteUnusedAttachments } = await import('../../src/areas/attachments/attachments.repository.ts')
    const before = () => new Date(clock.now().getTime() - 24 * 60 * 60 * 1000)
    await deleteUnusedAttachments(db, before())
    expect(await filesOf([file.id])).toEqual([file.id])
    clock.advance(24 * 60 * 60 * 1000 + 1)
    await deleteUnusedAttachments(db, before())
    expect(await filesOf([file.id])).toEqual([])
    expect(await idsOf(`/v1/seeds/${used.id}`)).toHaveLength(1)
    await services.pictures.collectUnused()
    const rows = await selectRows<{ key: string }>(
      db,
      sql`select key from attachments order by key collate "C"`,
    )
    expect(await listUploads(service)).toEqual(rows.map(({ key }) => key))
  })
})

describe('search', () => {
  const find = async (q: string) =>
    (await as(company.viewer, get(`/v1/workspaces/${slug}/search?q=${encodeURIComponent(q)}`))).json<
      { kind: string; id: string }[]
    >()

  it('finds what has files by their names and the beginnings of their texts, until they are gone', async () => {
    const seed = await createSeed([(await upload('nothing', 'Zwiebelkuchen.txt')).id])
    expect(await find('zwiebelkuchen')).toMatchObject([{ kind: 'seed', id: seed.id }])
    const file = await upload(`team,answer\nquokka,yes\n${'x'.repeat(20_000)}\nnumbat`, 'table.csv')
    const piece = (
      await ok(
        company.member,
        post(`/v1/seeds/${seed.id}/evidence`, {
          ...{ kind: 'note', verdict: 'neutral', summary: 'E' },
          attachmentIds: [file.id],
        }),
      )
    ).evidence
    expect(await find('quokka')).toMatchObject([{ kind: 'evidence', id: piece?.id }])
    expect(await find('numbat')).toEqual([])
    const comment = (
      await ok(
        company.member,
        post(`/v1/seeds/${seed.id}/comments`, { body: 'C', attachmentIds: [(await upload('axolotl')).id] }),
      )
    ).comment
    expect(await find('axolotl')).toMatchObject([{ kind: 'comment', id: comment?.id }])
    await ok(company.owner, del(`${filesUrl}/${file.id}`))
    expect(await find('quokka')).toEqual([])
  })

  it('takes files with as many words as there can be', async () => {
    const letters = Array.from({ length: 20_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
    const seed = await createSeed([])
    const ids = await Promise.all(
      Array.from({ length: 3 }, async (_, i) => (await upload(letters.slice(i), `${i}.txt`)).id),
    )
    await ok(
      company.member,
      patch(`/v1/seeds/${seed.id}`, {
        attachmentIds: ids,
        summary: letters.slice(2000, 4000),
        problem: letters.slice(4000, 6000),
      }),
    )
    expect(await find(letters.slice(300, 302))).toMatchObject([{ kind: 'seed', id: seed.id }])
  })
})

describe('exports and erasure', () => {
  it('are of all files with their SHA-256; who uploaded them is erased, with what nothing uses', async () => {
    const leaver = await addPerson(service, company.workspace, 'member')
    const [used, unused] = [await upload('hello', 'a.txt', leaver), await upload('unused', 'b.txt', leaver)]
    const created = await ok(
      leaver,
      post(`/v1/workspaces/${slug}/seeds`, { title: 'T', summary: 'S', attachmentIds: [used.id] }),
    )
    const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    const owned = await as(company.owner, get(`/v1/workspaces/${slug}/export`))
    const lines = owned.body
      .split('\n')
      .filter((line) => line.includes('"kind":"attachment"'))
      .map((line) => (JSON.parse(line) as { data: { id: string } }).data)
    expect(lines.find(({ id }) => id === used.id)).toEqual({
      ...{ id: used.id, seedId: created.seed?.id, evidenceId: null, commentId: null, name: 'a.txt', sha256 },
      ...{ type: 'text/plain', bytes: 5, width: null, height: null, createdByUserId: leaver.id },
      createdAt: used.createdAt,
    })
    const allowedUntil = new Date(clock.now().getTime() + 60_000).toISOString()
    await db.execute(
      sql`insert into leavings (user_id, allowed_until) values (${leaver.id}, ${allowedUntil})`,
    )
    const ownAnswer = await as(leaver, get('/v1/me/export'))
    expect(ownAnswer.statusCode, ownAnswer.body).toBe(200)
    const own = ownAnswer.json<{ attachments: object[] }>()
    expect(own.attachments).toMatchObject([
      { id: used.id, workspaceId: company.workspace.id, seedId: created.seed?.id, name: 'a.txt', sha256 },
      { id: unused.id, seedId: null },
    ])
    const [row] = await selectRows<{ key: string }>(
      db,
      sql`select key from attachments where id = ${unused.id}`,
    )
    expect(await services.accounts.delete(leaver.id, { withWorkspaces: true })).toMatchObject({
      isDeleted: true,
    })
    expect(await filesOf([used.id, unused.id])).toEqual([used.id])
    const read = await as(company.viewer, get(`${filesUrl}/${used.id}`))
    expect(read.json()).toMatchObject({ createdByUserId: null })
    await services.pictures.collectUnused()
    expect(await listUploads(service)).not.toContain(row?.key)
  })

  it('erase the files of a workspace with it', async () => {
    const other = await createCompany(service)
    const file = await uploadFile(service, other.member, other.workspace.slug, 'of another')
    const url = `/v1/workspaces/${other.workspace.slug}/seeds`
    await ok(other.member, post(url, { title: 'T', summary: 'S', attachmentIds: [file.id] }))
    await uploadFile(service, other.member, other.workspace.slug, 'unused')
    const keys = (
      await selectRows<{ key: string }>(
        db,
        sql`select key from attachments where workspace_id = ${other.workspace.id}`,
      )
    ).map(({ key }) => key)
    await db.execute(sql`delete from workspaces where id = ${other.workspace.id}`)
    await services.pictures.collectUnused()
    const left = await listUploads(service)
    expect(keys.filter((key) => left.includes(key))).toEqual([])
    expect((await findPictures(service)).filter(({ key }) => keys.includes(key))).toEqual([])
  })
})

describe('when something fails', () => {
  it('answers 503 and leaves nothing while the storage fails', async () => {
    const broken = await startTestApp({ environment: { DATA_DIR: await makeFolder() } })
    const other = await createCompany(broken)
    const folder = join(broken.config.dataDir, 'uploads')
    await writeFile(folder, '')
    const before = await findPictures(broken)
    expectError(await sendFile(broken, other.member, other.workspace.slug, 'x'), errors.storageUnavailable)
    await rm(folder)
    await broken.services.pictures.collectUnused()
    expect(await findPictures(broken)).toEqual(before)
    const file = await uploadFile(broken, other.member, other.workspace.slug, 'x')
    await rm(folder, { recursive: true })
    const url = `/v1/workspaces/${other.workspace.slug}/attachments/${file.id}/content`
    expectError(await broken.as(other.member, get(url)), errors.notFound)
  })

  it('leaves nothing of an upload whose connection is lost', async () => {
    const before = { files: await listUploads(service), pictures: await findPictures(service) }
    const form = buildUpload(Buffer.alloc(600_000, 'a'), { filename: 'a.txt' })
    const socket = beginPost(port, filesUrl, {
      authorization: `Bearer ${company.member.apiKey}`,
      ...form.headers,
      'content-length': form.payload.length,
    })
    socket.write(form.payload.subarray(0, 400_000))
    // What has arrived is being stored.
    await expect.poll(async () => (await listUploads(service)).length).toBe(before.files.length + 1)
    socket.destroy()
    await expect.poll(async () => await listUploads(service)).toEqual(before.files)
    await expect.poll(async () => await findPictures(service)).toEqual(before.pictures)
  })
})
