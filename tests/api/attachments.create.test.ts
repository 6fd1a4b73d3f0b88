import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { attachmentBytesMax } from '../../src/domain/attachments.ts'
import { errors } from '../../src/kernel/errors.ts'
import { sendFile, uploadFile } from '../support/attachments.ts'
import { addPerson, createCompany, get, post } from '../support/company.ts'
import { expectCheap } from '../support/expect-cheap.ts'
import { expectError } from '../support/expect-error.ts'
import { buildForm, buildUpload } from '../support/forms.ts'
import { drawFrames, makeGifOf, makePng, makePngOf } from '../support/images.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, listUploads, makeFolder } from '../support/uploads.ts'

const service = await startTestApp({ environment: {} })
const { as, db } = service
const company = await createCompany(service)
const { slug } = company.workspace

const send = (content: string | Buffer, filename?: string, person: TestPerson = company.member) =>
  sendFile(service, person, slug, content, filename)

const contentOf = (id: string, query = '') =>
  as(company.member, get(`/v1/workspaces/${slug}/attachments/${id}/content${query}`))

/** Asserts that what is refused leaves no file and no row. */
async function expectNothingKept(run: () => Promise<void>): Promise<void> {
  const state = async () => ({
    files: await listUploads(service),
    pictures: await findPictures(service),
    rows: await selectRows(db, sql`select id from attachments order by id`),
  })
  const before = await state()
  await run()
  expect(await state()).toEqual(before)
}

describe('200', () => {
  it('stores a text as it is', async () => {
    const answer = await send('Heard from six teams: “no”.', '../../etc/Nótes\u0007 of a‮ day.txt')
    expect(answer.statusCode).toBe(200)
    const { ok, attachment } = answer.json<{ ok: boolean; attachment: { id: string } }>()
    expect(ok).toBe(true)
    expect(attachment).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      workspaceId: company.workspace.id,
      name: 'Nótes of a day.txt',
      type: 'text/plain',
      bytes: 31,
      ...{ width: null, height: null },
      createdByUserId: company.member.id,
      createdAt: expect.any(String) as string,
    })
    expect(answer.headers.location).toBe(`/v1/workspaces/${slug}/attachments/${attachment.id}`)
    const content = await contentOf(attachment.id)
    expect(content.body).toBe('Heard from six teams: “no”.')
    expect(content.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '31',
      'content-disposition': `attachment; filename="No_tes of a day.txt"; filename*=UTF-8''N%C3%B3tes%20of%20a%20day.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'private, no-cache',
    })
    const [row] = await selectRows(db, sql`select text, sha256 from attachments where id = ${attachment.id}`)
    expect(row).toEqual({
      text: 'Heard from six teams: “no”.',
      sha256: createHash('sha256').update('Heard from six teams: “no”.').digest(),
    })
    const etag = String(content.headers.etag)
    const again = await as(company.member, {
      ...get(`/v1/workspaces/${slug}/attachments/${attachment.id}/content`),
      headers: { 'if-none-match': etag },
    })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it('tells types by the content, and CSV by the ending of a text', async () => {
    const gif = await (await drawFrames(['red', 'green', 'blue'])).gif().toBuffer()
    const types = await Promise.all(
      [
        ['a,b\n1,2', 'table.CSV', 'text/csv'],
        ['<!doctype html><script>alert(1)</script>', 'page.html', 'text/plain'],
        ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'x.svg', 'text/plain'],
        ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', 'x.png', 'text/plain'],
        ['%PDF-1.7\n<script>alert(1)</script>', 'a.html', 'application/pdf'],
        [
          Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\x01\x1e\x01vorbis${'\0'.repeat(40)}`, 'latin1'),
          'a',
          'audio/ogg',
        ],
        [await makePng(), 'a.jpg', 'image/png'],
        [gif, 'a', 'image/gif'],
      ].map(async ([content = '', name = '', type]) => {
        const file = await uploadFile(service, company.member, slug, content, String(name))
        expect(file.type, String(name)).toBe(type)
        const { headers } = await contentOf(file.id)
        const kind = file.type.startsWith('image/') ? 'inline' : 'attachment'
        expect(headers['content-disposition']).toMatch(new RegExp(`^${kind};`))
        return file.type
      }),
    )
    expect(types).toHaveLength(8)
  })

  it('makes images anew, without metadata, upright, with all frames and a thumbnail', async () => {
    const photo = await sharp({ create: { width: 1200, height: 600, channels: 3, background: 'red' } })
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const file = await uploadFile(service, company.member, slug, photo, 'photo.jpeg')
    expect(file).toMatchObject({ type: 'image/jpeg', width: 600, height: 1200 })
    const { rawPayload } = await contentOf(file.id)
    expect(file.bytes).toBe(rawPayload.length)
    expect(rawPayload.includes('secret place')).toBe(false)
    expect((await sharp(rawPayload).metadata()).exif).toBeUndefined()
    const thumbnail = await contentOf(file.id, '?size=thumbnail')
    expect(thumbnail.headers['content-type']).toBe('image/webp')
    expect(await sharp(thumbnail.rawPayload).metadata()).toMatchObject({ format: 'webp', width: 480 })

    const moving = await uploadFile(
      service,
      company.member,
      slug,
      await (await drawFrames(['red', 'green', 'blue'])).gif().toBuffer(),
      'a.gif',
    )
    const frames = await sharp((await contentOf(moving.id)).rawPayload, { animated: true }).metadata()
    expect([frames.pages, frames.width, frames.pageHeight]).toEqual([3, moving.width, moving.height])
    // Nobody reads them by the URLs of pictures.
    const keys = await selectRows<{ key: string }>(db, sql`select key from attachments`)
    for (const { key } of keys) expect((await service.app.inject(`/pictures/${key}`)).statusCode).toBe(404)
  })

  it('answers a retry with the same Idempotency-Key by the first response, and keeps one file', async () => {
    const form = buildUpload('once', { filename: 'once.txt' })
    const request = {
      method: 'POST' as const,
      url: `/v1/workspaces/${slug}/attachments`,
      ...form,
      headers: { ...form.headers, 'idempotency-key': 'one-upload' },
    }
    const first = await as(company.member, request)
    const files = await listUploads(service)
    const second = await as(company.member, request)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.json()).toEqual(first.json())
    await expect.poll(() => listUploads(service)).toEqual(files)
    const other = buildUpload('twice', { filename: 'once.txt' })
    expectError(
      await as(company.member, { ...request, ...other, headers: { ...request.headers, ...other.headers } }),
      errors.idempotencyKeyReused,
    )
    await expect.poll(() => listUploads(service)).toEqual(files)
  })
})

describe('400', () => {
  it('refuses what is neither of the types nor text, is empty or damaged', async () => {
    const png = await makePng()
    await expectNothingKept(async () => {
      expectError(await send(Buffer.from('PK\x03\x04 a zip', 'latin1'), 'a.txt'), errors.attachmentType, {
        field: 'file',
      })
      expectError(await send(Buffer.from('MZ\x90\0\x03', 'latin1'), 'a.csv'), errors.attachmentType, {
        field: 'file',
      })
      expectError(await send('a text with \0', 'a.txt'), errors.attachmentType, { field: 'file' })
      expectError(await send(Buffer.from([0x61, 0xff, 0xfe])), errors.attachmentType, { field: 'file' })
      expectError(
        await send(Buffer.concat([Buffer.alloc(70_000, 'a'), Buffer.from([0xc3])])),
        errors.attachmentType,
        { field: 'file' },
      )
      expectError(await send(''), errors.attachmentType, { field: 'file', message: 'The file is empty.' })
      expectError(await send(png.subarray(0, png.length / 2), 'a.png'), errors.imageInvalid, {
        field: 'file',
      })
    })
  })

  it.each([
    ['a PNG of 900 million pixels', makePngOf(30_000, 30_000, 30_000)],
    ['a GIF of 300 frames of 4 million pixels', makeGifOf(2000, 2000, 300)],
  ])('refuses %s within 2 seconds and 64 MiB of memory', async (_name, bomb) => {
    expect(bomb.length).toBeLessThan(120_000)
    // So that the library is loaded.
    expect((await send(await makePng(), 'a.png')).statusCode).toBe(200)
    await expectCheap(() =>
      expectNothingKept(async () => {
        expectError(await send(bomb, 'a.png'), errors.imageTooLarge, { field: 'file' })
      }),
    )
  })

  it('refuses a form that ends in the middle of its file, which is not the fault of the storage', async () => {
    const { payload, headers } = buildUpload('a text', { filename: 'a.txt', type: 'text/plain' })
    await expectNothingKept(async () => {
      const cut = payload.subarray(0, payload.indexOf('a text') + 3)
      const answer = await as(company.member, {
        ...{ method: 'POST', url: `/v1/workspaces/${slug}/attachments`, headers },
        payload: cut,
      })
      expect(answer.statusCode, answer.body).toBe(400)
      expect(answer.json()).toMatchObject({ code: 'decode_error' })
    })
  })

  it('refuses forms without a file and with two', async () => {
    const url = `/v1/workspaces/${slug}/attachments`
    await expectNothingKept(async () => {
      const none = buildForm({ name: 'file', content: 'a field' })
      expectError(await as(company.member, { method: 'POST', url, ...none }), errors.fileMissing, {
        field: 'file',
      })
      const two = buildForm(
        { filename: 'a.txt', content: 'one' },
        { name: 'other', filename: 'b.txt', content: 'two' },
      )
      expectError(await as(company.member, { method: 'POST', url, ...two }), errors.fileNotAlone, {
        field: 'file',
      })
    })
  })
})

describe('403 and 404', () => {
  it('is for members and above, and for nobody else', async () => {
    await expectNothingKept(async () => {
      expectError(await send('x', 'a.txt', company.viewer), errors.roleInsufficient)
      const stranger = await service.createPerson()
      expectError(await send('x', 'a.txt', stranger), errors.notAMember)
    })
  })
})

describe('409', () => {
  it('keeps the files of a workspace within its quota, also those at once, and counts what is deleted', async () => {
    const small = await startTestApp({
      environment: { DATA_DIR: await makeFolder(), STORAGE_QUOTA_MEGABYTES: '1' },
    })
    const other = await createCompany(small)
    const third = Buffer.alloc(330_000, 'a')
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => sendFile(small, other.member, other.workspace.slug, third)),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 200, 200, 409, 409, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    if (refused) expectError(refused, errors.storageQuota)
    expect(await listUploads(small)).toHaveLength(3)
    const [kept] = answers.filter(({ statusCode }) => statusCode === 200)
    const { id } = kept?.json<{ attachment: { id: string } }>().attachment ?? { id: '' }
    const url = `/v1/workspaces/${other.workspace.slug}/attachments/${id}`
    expect((await small.as(other.member, { method: 'DELETE', url })).statusCode).toBe(200)
    expect(await listUploads(small)).toHaveLength(2)
    expect((await sendFile(small, other.member, other.workspace.slug, third)).statusCode).toBe(200)
    // Another workspace has its own.
    const next = await createCompany(small)
    expect((await sendFile(small, next.member, next.workspace.slug, third)).statusCode).toBe(200)
  })
})

describe('413', () => {
  it('takes 25 MiB, and refuses a byte more', async () => {
    const most = await uploadFile(service, company.member, slug, Buffer.alloc(attachmentBytesMax, 'a'))
    expect(most.bytes).toBe(attachmentBytesMax)
    await expectNothingKept(async () => {
      expectError(await send(Buffer.alloc(attachmentBytesMax + 1, 'a')), errors.attachmentTooLarge)
      expectError(await send(Buffer.alloc(attachmentBytesMax + 100_000, 'a')), errors.attachmentTooLarge)
    })
  })
})

describe('attachmentIds', () => {
  it('puts files on a seed, evidence and comments, for all members to read', async () => {
    const upload = (text: string) => uploadFile(service, company.member, slug, text)
    const [one, two, three] = [await upload('one'), await upload('two'), await upload('three')]
    const created = await as(
      company.member,
      post(`/v1/workspaces/${slug}/seeds`, { title: 'T', summary: 'S', attachmentIds: [one.id] }),
    )
    const { seed } = created.json<{ seed: { id: string; attachments: unknown[] } }>()
    expect(seed.attachments).toEqual([one])
    const added = await as(
      company.member,
      post(`/v1/seeds/${seed.id}/evidence`, {
        ...{ kind: 'note', verdict: 'neutral', summary: 'E' },
        attachmentIds: [two.id],
      }),
    )
    expect(added.json()).toMatchObject({ evidence: { attachments: [two] } })
    const commented = await as(
      company.member,
      post(`/v1/seeds/${seed.id}/comments`, { body: 'C', attachmentIds: [three.id] }),
    )
    expect(commented.json()).toMatchObject({ comment: { attachments: [three] } })
    for (const [path, file] of [
      [`/v1/seeds/${seed.id}`, one],
      [`/v1/seeds/${seed.id}/evidence`, two],
      [`/v1/seeds/${seed.id}/comments`, three],
    ] as const) {
      const read = await as(company.viewer, get(path))
      expect(JSON.stringify(read.json())).toContain(JSON.stringify([file]))
    }
    const content = await as(company.viewer, get(`/v1/workspaces/${slug}/attachments/${three.id}/content`))
    expect(content.body).toBe('three')
    const outsider = await service.createPerson()
    expectError(await as(outsider, get(`/v1/workspaces/${slug}/attachments/${three.id}`)), errors.notAMember)
    const again = await as(
      company.member,
      post(`/v1/seeds/${seed.id}/comments`, { body: 'C', attachmentIds: [three.id] }),
    )
    expectError(again, errors.attachmentNotFound)
    const colleague = await addPerson(service, company.workspace, 'member')
    const theirs = await uploadFile(service, colleague, slug, 'theirs')
    expectError(
      await as(
        company.member,
        post(`/v1/seeds/${seed.id}/comments`, { body: 'C', attachmentIds: [theirs.id] }),
      ),
      errors.attachmentNotFound,
    )
  })
})
