import { connect } from 'node:net'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it, vi } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import { eventually } from '../support/eventually.ts'
import { expectCheap } from '../support/expect-cheap.ts'
import { expectError } from '../support/expect-error.ts'
import { buildForm, buildUpload, type Form } from '../support/forms.ts'
import {
  drawFrames,
  drawNoise,
  drawQuadrants,
  listWebpChunks,
  makePng,
  makePngOf,
  readQuadrants,
} from '../support/images.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, keyOf, listUploads } from '../support/uploads.ts'

const mebibyte = 1024 * 1024

const service = await startTestApp({ environment: {} })
const { app, as, createPerson, db } = service
const port = await listen(app)

const url = '/v1/me/photo'

const upload = (person: TestPerson, form: Form, headers: Record<string, string> = {}) =>
  as(person, { method: 'POST', url, ...form, headers: { ...form.headers, ...headers } })

/** The picture that an upload was answered with, as everybody gets it. */
const fetchPicture = async (answer: LightMyRequestResponse): Promise<Buffer> => {
  expect(answer.statusCode).toBe(200)
  const picture = await app.inject(new URL(answer.json<{ image: string }>().image).pathname)
  expect(picture.statusCode).toBe(200)
  return picture.rawPayload
}

const stateOf = async ({ id }: TestPerson) => ({
  user: (await selectRows(db, sql`select * from users where id = ${id}`))[0],
  files: await listUploads(service),
  pictures: await findPictures(service),
})

/** Asserts that what is refused leaves no file and no row, and the photo before as it was. */
async function expectNothingKept(run: (person: TestPerson) => Promise<unknown>): Promise<void> {
  const person = await createPerson()
  await upload(person, buildUpload(await makePng()))
  const before = await stateOf(person)
  expect(before.user?.image_key).not.toBeNull()
  await run(person)
  expect(await stateOf(person)).toEqual(before)
}

const expectRefused = (form: Form, expected: ErrorFactory) =>
  expectNothingKept(async (person) => {
    expectError(
      await upload(person, form),
      expected,
      expected.tag === 'InvalidInput' ? { field: 'file' } : undefined,
    )
  })

describe('200', () => {
  it('stores the picture, and returns an absolute URL that cannot be guessed', async () => {
    const person = await createPerson()
    const answer = await upload(person, buildUpload(await makePng()))
    expect(answer.statusCode).toBe(200)
    const { image } = answer.json<{ image: string }>()
    expect(answer.json()).toEqual({ ok: true, image })
    expect(image).toMatch(/^http:\/\/localhost:3000\/pictures\/[A-Za-z0-9_-]{32}\.webp$/)
    expect((await as(person, { url: '/v1/me' })).json()).toMatchObject({ image })
    const { user } = await stateOf(person)
    expect(user?.image_key).toBe(keyOf(image))
    expect(await listUploads(service)).toContain(keyOf(image))
    expect(await findPictures(service)).toContainEqual({ key: keyOf(image), unused_since: null })
  })

  it('deletes the previous photo', async () => {
    const person = await createPerson()
    const urls: string[] = []
    for (let i = 0; i < 3; i++) {
      urls.push((await upload(person, buildUpload(await makePng()))).json<{ image: string }>().image)
    }
    expect(new Set(urls).size).toBe(3)
    const keys = urls.map(keyOf)
    expect((await listUploads(service)).filter((file) => keys.includes(file))).toEqual([keys[2]])
    expect((await findPictures(service)).filter(({ key }) => keys.includes(key))).toEqual([
      { key: keys[2], unused_since: null },
    ])
    const answers = await Promise.all(urls.map((old) => app.inject(new URL(old).pathname)))
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404, 200])
  })

  it('changes nothing else of the user, and no other user', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    const [before, ofOther] = [await stateOf(person), await stateOf(other)]
    await upload(person, buildUpload(await makePng()))
    const { user } = await stateOf(person)
    expect({ ...user, image_key: null }).toEqual(before.user)
    expect((await stateOf(other)).user).toEqual(ofOther.user)
  })

  it.each([
    ['PNG', () => drawQuadrants(100, 100).png()],
    ['PNG with transparency', () => drawQuadrants(100, 100).ensureAlpha().png()],
    ['PNG of 16 bits', () => drawQuadrants(100, 100).toColourspace('rgb16').png()],
    ['PNG with a palette', () => drawQuadrants(100, 100).png({ palette: true })],
    ['interlaced PNG', () => drawQuadrants(100, 100).png({ progressive: true })],
    ['JPEG', () => drawQuadrants(100, 100).jpeg()],
    ['progressive JPEG', () => drawQuadrants(100, 100).jpeg({ progressive: true })],
    ['WebP', () => drawQuadrants(100, 100).webp()],
    ['lossless WebP', () => drawQuadrants(100, 100).webp({ lossless: true })],
    ['GIF', () => drawQuadrants(100, 100).gif()],
    ['wide image', () => drawQuadrants(300, 100).png()],
    ['tall image', () => drawQuadrants(100, 300).png()],
    ['image of four pixels', () => drawQuadrants(2, 2).resize(2, 2).png()],
  ])('converts a picture to WebP of 512×512 pixels: %s', async (name, draw) => {
    const file = await draw().toBuffer()
    const picture = await fetchPicture(await upload(await createPerson(), buildUpload(file)))
    expect(listWebpChunks(picture).filter((chunk) => chunk !== 'VP8X' && chunk !== 'ALPH')).toEqual(['VP8 '])
    expect(await sharp(picture).metadata()).toMatchObject({ format: 'webp', width: 512, height: 512 })
    // The smallest one is blurred beyond recognition.
    if (!name.includes('four')) {
      expect(await readQuadrants(picture)).toEqual(['red', 'green', 'blue', 'white'])
    }
  })

  it('converts CMYK to sRGB with the same colours', async () => {
    const deep = await drawQuadrants(100, 100).toColourspace('rgb16').png().toBuffer()
    expect(await sharp(deep).metadata()).toMatchObject({ depth: 'ushort' })
    const cmyk = await drawQuadrants(100, 100).toColourspace('cmyk').jpeg().toBuffer()
    expect(await sharp(cmyk).metadata()).toMatchObject({ space: 'cmyk', channels: 4 })
    const picture = await fetchPicture(await upload(await createPerson(), buildUpload(cmyk)))
    expect(await sharp(picture).metadata()).toMatchObject({ space: 'srgb', channels: 3 })
    const [topLeft, , , bottomRight] = await readQuadrants(picture)
    expect([topLeft, bottomRight]).toEqual(['red', 'white'])
  })

  it.each([
    ['GIF', (frames: Sharp) => frames.gif({ delay: [50, 50, 50] })],
    ['WebP', (frames: Sharp) => frames.webp({ delay: [50, 50, 50] })],
  ])('uses the first frame of an animated %s', async (_name, encode) => {
    const file = await encode(await drawFrames(['red', 'green', 'blue'])).toBuffer()
    expect(await sharp(file).metadata()).toMatchObject({ pages: 3 })
    const picture = await fetchPicture(await upload(await createPerson(), buildUpload(file)))
    expect((await sharp(picture).metadata()).pages).toBeUndefined()
    expect(await readQuadrants(picture)).toEqual(['red', 'red', 'red', 'red'])
  })

  it('removes all metadata', async () => {
    const file = await drawQuadrants(100, 100)
      .jpeg()
      .withExif({
        IFD0: { Artist: 'Secret Artist', Make: 'Secret Camera' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' },
      })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><r>Secret XMP</r></x:xmpmeta>')
      .withIccProfile('p3')
      .toBuffer()
    const given = await sharp(file).metadata()
    expect([given.exif, given.xmp, given.icc].map((part) => part !== undefined)).toEqual([true, true, true])
    expect(file.includes('Secret')).toBe(true)

    const picture = await fetchPicture(await upload(await createPerson(), buildUpload(file)))
    expect(listWebpChunks(picture)).toEqual(['VP8 '])
    const kept = await sharp(picture).metadata()
    expect([kept.exif, kept.xmp, kept.icc, kept.iptc, kept.orientation]).toEqual(Array(5).fill(undefined))
    expect(picture.includes('Secret')).toBe(false)
  })

  it.each([
    [1, ['red', 'green', 'blue', 'white']],
    [2, ['green', 'red', 'white', 'blue']],
    [3, ['white', 'blue', 'green', 'red']],
    [4, ['blue', 'white', 'red', 'green']],
    [5, ['red', 'blue', 'green', 'white']],
    [6, ['blue', 'red', 'white', 'green']],
    [7, ['white', 'green', 'blue', 'red']],
    [8, ['green', 'white', 'red', 'blue']],
  ])('rotates an image with the EXIF orientation %i upright', async (orientation, quadrants) => {
    const file = await drawQuadrants(120, 80).jpeg().withMetadata({ orientation }).toBuffer()
    const picture = await fetchPicture(await upload(await createPerson(), buildUpload(file)))
    expect(await readQuadrants(picture)).toEqual(quadrants)
  })

  it.each([
    ['a PNG with the name and content type of a JPEG', { filename: 'photo.jpg', type: 'image/jpeg' }],
    ['a file of the content type application/octet-stream', { type: 'application/octet-stream' }],
    ['another field name', { name: 'avatar' }],
    ['no field name', { name: '' }],
    ['a file name with a path and NUL', { filename: '../../../etc/passwd\u0000.png' }],
    ['names in other scripts', { filename: '写真.png', name: 'Фото' }],
  ])('accepts %s', async (_name, options) => {
    const answer = await upload(await createPerson(), buildUpload(await makePng(), options))
    expect(await readQuadrants(await fetchPicture(answer))).toEqual(['red', 'green', 'blue', 'white'])
  })

  it('accepts other fields before and after the file', async () => {
    const form = buildForm(
      { name: 'title', content: 'Me' },
      { filename: 'me.png', content: await makePng() },
      { name: 'note', content: 'on holiday' },
    )
    expect((await upload(await createPerson(), form)).statusCode).toBe(200)
  })

  it('accepts 25 megapixels', async () => {
    const answer = await upload(await createPerson(), buildUpload(makePngOf(5000, 5000, 5000)))
    expect(answer.statusCode).toBe(200)
  })

  it('accepts 5 MiB', async () => {
    const png = await makePng()
    const file = Buffer.concat([png, Buffer.alloc(5 * mebibyte - png.length)])
    expect((await upload(await createPerson(), buildUpload(file))).statusCode).toBe(200)
  })

  it('executes the upload once for the same Idempotency-Key and file, whatever the boundary', async () => {
    const person = await createPerson()
    const file = await makePng()
    // Another boundary each time, as clients send it.
    const send = (content: Buffer) => upload(person, buildUpload(content), { 'idempotency-key': 'photo-1' })
    const first = await send(file)
    expect(first.statusCode).toBe(200)
    const before = await stateOf(person)
    const again = await send(file)
    expect(again.statusCode).toBe(200)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expectError(await send(await drawQuadrants(65, 65).png().toBuffer()), errors.idempotencyKeyReused)
    expect(await stateOf(person)).toEqual(before)
  })
})

describe('400', () => {
  const script = '<script>alert(document.domain)</script>'

  it.each([
    ['SVG', `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${script}</svg>`],
    [
      'SVG with a declaration',
      `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`,
    ],
    ['HTML file with the name of a PNG', `<!doctype html>${script}`],
    ['text file', 'just text'],
    ['PDF file', '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>'],
    ['BMP image', Buffer.concat([Buffer.from('BM'), Buffer.alloc(100)])],
    ['PPM image', Buffer.concat([Buffer.from('P6 2 2 255\n'), Buffer.alloc(12)])],
    ['ZIP file', Buffer.from('504b0304140000000000', 'hex')],
    ['PNG signature alone', Buffer.from('89504e470d0a1a0a', 'hex')],
    ['JPEG signature alone', Buffer.from('ffd8ffe0', 'hex')],
    ['GIF signature alone', 'GIF89a'],
    ['WebP signature alone', 'RIFF\u0004\u0000\u0000\u0000WEBP'],
    ['file of NUL bytes', Buffer.alloc(1000)],
    ['PNG without its pixels', makePngOf(100, 100)],
    ['PNG with some of its pixels', makePngOf(100, 100, 30)],
  ])('returns 400 and keeps the previous photo: %s', async (_name, content) => {
    await expectRefused(buildUpload(content), errors.imageInvalid)
  })

  it.each(['tiff', 'avif', 'jp2k'] as const)('returns 400 for an image in the format %s', async (format) => {
    const source = drawQuadrants(64, 64)
    const file =
      format === 'jp2k'
        ? Buffer.from('0000000c6a5020200d0a870a00000014667479706a703220', 'hex')
        : await source[format]().toBuffer()
    await expectRefused(buildUpload(file, { filename: 'x.png' }), errors.imageInvalid)
  })

  it('returns 400 for an HEIF image', async () => {
    const file = Buffer.from('000000186674797068656963000000006d69663168656963', 'hex')
    await expectRefused(buildUpload(file), errors.imageInvalid)
  })

  it.each([
    ['PNG', (image: Sharp) => image.png()],
    ['JPEG', (image: Sharp) => image.jpeg({ quality: 100 })],
    ['WebP', (image: Sharp) => image.webp({ lossless: true })],
    ['GIF', (image: Sharp) => image.gif()],
  ])('returns 400 for a truncated %s', async (_name, encode) => {
    const file = await encode(drawNoise(200)).toBuffer()
    for (const share of [0.3, 0.7]) {
      await expectRefused(buildUpload(file.subarray(0, file.length * share)), errors.imageInvalid)
    }
  })

  it.each([
    ['30000×30000 pixels in 65 bytes', makePngOf(30_000, 30_000)],
    ['30000×30000 pixels in 110 KB', makePngOf(30_000, 30_000, 30_000)],
    ['26 megapixels', makePngOf(5200, 5000, 5000)],
  ])('returns 400 image_too_large for %s within 2 seconds and 64 MiB of memory', async (_name, file) => {
    await expectCheap(() => expectRefused(buildUpload(file), errors.imageTooLarge))
  })

  it('returns 200 or 400 for an image of 1,000,000×1 pixels', async () => {
    const answer = await upload(await createPerson(), buildUpload(makePngOf(1_000_000, 1, 1)))
    expect([200, 400]).toContain(answer.statusCode)
  })

  it.each([
    ['a form without parts', () => buildForm(), errors.fileMissing],
    [
      'a form of fields without a file',
      () => buildForm({ name: 'file', content: 'text' }),
      errors.fileMissing,
    ],
    ['an empty file', () => buildUpload(''), errors.imageInvalid],
  ])('returns 400 for %s', async (_name, form, expected) => {
    await expectRefused(form(), expected)
  })

  it('returns 400 for several files', async () => {
    const file = { filename: 'a.png', content: await makePng() }
    await expectRefused(buildForm(file, file), errors.fileNotAlone)
    await expectRefused(buildForm(file, { ...file, name: 'other' }), errors.fileNotAlone)
    await expectRefused(buildForm(...Array<typeof file>(20).fill(file)), errors.fileNotAlone)
  })

  it('returns 400 for a form with 50 additional fields', async () => {
    const fields = Array.from({ length: 50 }, (_, i) => ({ name: `field-${i}`, content: 'x' }))
    await expectRefused(
      buildForm(...fields, { filename: 'a.png', content: await makePng() }),
      errors.fileNotAlone,
    )
  })

  it.each([
    ['no boundary', 'multipart/form-data', (body: Buffer) => body],
    ['a wrong boundary', 'multipart/form-data; boundary=other', (body: Buffer) => body],
    ['a body that ends within the file', undefined, (body: Buffer) => body.subarray(0, -80)],
    ['no closing boundary', undefined, (body: Buffer) => body.subarray(0, -4)],
    ['a body that ends within the headers of the part', undefined, (body: Buffer) => body.subarray(0, 60)],
    ['an empty body', undefined, () => Buffer.alloc(0)],
    ['JSON as its body', undefined, () => Buffer.from('{"file":"x"}')],
  ])('returns 400 for a form with %s', async (_name, type, change) => {
    await expectNothingKept(async (person) => {
      const form = buildUpload(await makePng())
      const answer = await upload(person, {
        headers: { 'content-type': type ?? form.headers['content-type'] },
        payload: change(form.payload),
      })
      expect(answer.statusCode).toBe(400)
      expect(answer.json<{ code: string }>().code).toMatch(/^(decode_error|file_missing|image_invalid)$/)
    })
  })

  it('returns 400 for a query parameter', async () => {
    await expectNothingKept(async (person) => {
      const form = buildUpload(await makePng())
      const answer = await as(person, { method: 'POST', url: `${url}?crop=none`, ...form })
      expect(answer.json()).toMatchObject({ code: 'decode_error' })
    })
  })
})

describe('401', () => {
  it('returns 401 without a key, and stores nothing', async () => {
    const before = await listUploads(service)
    expectError(
      await app.inject({ method: 'POST', url, ...buildUpload(await makePng()) }),
      errors.apiKeyRequired,
    )
    expect(await listUploads(service)).toEqual(before)
  })
})

describe('413', () => {
  it('returns 413 for a file of 5 MiB and one byte', async () => {
    const png = await makePng()
    await expectRefused(
      buildUpload(Buffer.concat([png, Buffer.alloc(5 * mebibyte + 1 - png.length)])),
      errors.bodyTooLarge,
    )
  })

  it('returns 413 for a form over the limit, even when its file is small', async () => {
    const filler = { name: 'filler', content: Buffer.alloc(6 * mebibyte) }
    await expectRefused(
      buildForm(filler, { filename: 'a.png', content: await makePng() }),
      errors.bodyTooLarge,
    )
  })

  it('returns 413 for a Content-Length of 1 GB without reading the body', async () => {
    await expectNothingKept(async (person) => {
      const answer = await sendRaw(
        port,
        [
          `POST ${url} HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${person.apiKey}`,
          'Content-Type: multipart/form-data; boundary=x',
          'Content-Length: 1000000000',
          'Connection: close',
          '',
          '',
        ].join('\r\n'),
      )
      expectError(answer, errors.bodyTooLarge)
    })
  })

  it.each([
    ['file', 'Content-Disposition: form-data; name="file"; filename="endless.png"'],
    ['field', 'Content-Disposition: form-data; name="endless"'],
  ])('returns 413 and stops reading an endless %s', async (_name, disposition) => {
    await expectNothingKept(async (person) => {
      const socket = connect(port, '127.0.0.1')
      // It is cut off in the end, which is an error where it is written to.
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      let answer = ''
      socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))
      socket.write(
        [
          `POST ${url} HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${person.apiKey}`,
          'Content-Type: multipart/form-data; boundary=x',
          'Transfer-Encoding: chunked',
          '',
          '',
        ].join('\r\n'),
      )
      const chunk = (bytes: Buffer) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
      socket.write(chunk(Buffer.from(`--x\r\n${disposition}\r\n\r\n`)))
      const piece = chunk(Buffer.alloc(256 * 1024))
      // The client never stops by itself; what the server has not read fills the buffers of the connection and no more.
      let sentBytes = 0
      while (!socket.destroyed && sentBytes < 200 * mebibyte) {
        sentBytes += piece.length
        if (!socket.write(piece)) {
          await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))])
        }
      }
      expect(sentBytes).toBeLessThan(64 * mebibyte)
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(answer).toContain('"code":"body_too_large"')
    })
  })

  it('keeps the connection open after 401 when the body is sent completely', async () => {
    await expectNothingKept(async (person) => {
      const form = buildUpload(Buffer.alloc(100 * 1024))
      const head = (method: string, path: string, more: string[]) =>
        [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...more, '', ''].join('\r\n')
      const answer = await sendRaw(
        port,
        Buffer.concat([
          Buffer.from(
            head('POST', url, [
              `Content-Type: ${form.headers['content-type']}`,
              `Content-Length: ${form.payload.length}`,
            ]),
          ),
          form.payload,
          Buffer.from(head('GET', '/v1/me', [`Authorization: Bearer ${person.apiKey}`, 'Connection: close'])),
        ]),
      )
      expect(answer.statusCode).toBe(401)
      expect(answer.body).toContain('HTTP/1.1 200 OK')
      expect(answer.body).toContain(person.id)
    })
  })
})

describe('415', () => {
  it.each([
    ['JSON', 'application/json', '{}'],
    ['JSON with a field', 'application/json', '{"file":"x"}'],
    ['malformed JSON', 'application/json', '{'],
    ['an image without a form', 'image/png', 'x'],
    ['a URL-encoded form', 'application/x-www-form-urlencoded', 'file=x'],
    ['multipart/mixed', 'multipart/mixed; boundary=x', '--x--'],
  ])('returns 415 for %s', async (_name, type, payload) => {
    await expectNothingKept(async (person) => {
      const answer = await as(person, { method: 'POST', url, headers: { 'content-type': type }, payload })
      expectError(answer, errors.unsupportedMediaType)
    })
  })

  it('returns 415 for a request without a body', async () => {
    await expectNothingKept(async (person) => {
      expectError(await as(person, { method: 'POST', url }), errors.unsupportedMediaType)
    })
  })
})

describe('429', () => {
  it('returns 429 with Retry-After above the hourly limit of the user, and other users can upload', async () => {
    const limited = await startTestApp({
      environment: { DATA_DIR: service.config.dataDir, UPLOAD_LIMIT_PER_HOUR: '2' },
    })
    const [person, other] = [await limited.createPerson(), await limited.createPerson()]
    const form = buildUpload(await makePng())
    const send = (who: TestPerson) => limited.as(who, { method: 'POST', url, ...form })
    expect([(await send(person)).statusCode, (await send(person)).statusCode]).toEqual([200, 200])
    const before = await stateOf(person)
    const answer = await send(person)
    expectError(answer, errors.tooManyUploads)
    const retryAfter = Number(answer.headers['retry-after'])
    expect(retryAfter).toBeGreaterThan(3_500)
    expect(retryAfter).toBeLessThanOrEqual(3_600)
    expect(await stateOf(person)).toEqual(before)
    expect((await send(other)).statusCode).toBe(200)
    expect((await limited.as(person, { url: '/v1/me' })).statusCode).toBe(200)
  })
})

describe('a connection that closes during an upload', () => {
  const countConnections = () => promisify(app.server.getConnections.bind(app.server))()

  it.each([
    ['within the file', 0.5],
    ['just before the end', 0.99],
    ['before any byte of the form', 0],
  ])('stores nothing, and other requests succeed, when it closes %s', async (_name, share) => {
    await expectNothingKept(async (person) => {
      const file = await drawNoise(300).png().toBuffer()
      const form = buildUpload(file)
      const replace = vi.spyOn(service.services.pictures, 'replace')
      const socket = connect(port, '127.0.0.1')
      socket.write(
        [
          `POST ${url} HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${person.apiKey}`,
          `Content-Type: ${form.headers['content-type']}`,
          `Content-Length: ${form.payload.length}`,
          '',
          '',
        ].join('\r\n'),
      )
      socket.write(form.payload.subarray(0, form.payload.length * share))
      await eventually(async () => expect(await countConnections()).toBe(1))
      socket.destroy()
      await eventually(async () => expect(await countConnections()).toBe(0))
      expect((await as(person, { url: '/v1/me' })).statusCode).toBe(200)
      expect(replace).not.toHaveBeenCalled()
      replace.mockRestore()
    })
  })
})

describe('concurrent uploads of one user', () => {
  it('leaves one file, which is the photo of the user', async () => {
    const person = await createPerson()
    const others = await listUploads(service)
    const form = buildUpload(await makePng())
    const answers = await Promise.all(Array.from({ length: 10 }, () => upload(person, form)))
    expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 200))
    const { user, files, pictures } = await stateOf(person)
    expect(files.filter((file) => !others.includes(file))).toEqual([user?.image_key])
    expect(pictures.filter(({ key }) => !others.includes(key))).toEqual([
      { key: user?.image_key, unused_since: null },
    ])
    const shown = (await as(person, { url: '/v1/me' })).json<{ image: string }>().image
    expect(answers.map((answer) => answer.json<{ image: string }>().image)).toContain(shown)
    expect((await app.inject(new URL(shown).pathname)).statusCode).toBe(200)
  })
})
