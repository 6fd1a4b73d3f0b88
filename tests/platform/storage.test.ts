import { randomBytes } from 'node:crypto'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createKeptStorage } from '../../src/platform/storage/kept-storage.ts'
import { createLocalStorage } from '../../src/platform/storage/local-storage.ts'
import { createS3Storage, parseS3Url } from '../../src/platform/storage/s3-storage.ts'
import { checkInstallation } from '../../src/services/check-installation.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng, readQuadrants } from '../support/images.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { startS3Server } from '../support/s3-server.ts'
import { startTestApp } from '../support/test-app.ts'
import { keyOf, listUploads, makeFolder } from '../support/uploads.ts'

const s3 = await startS3Server()
const localFolder = join(await makeFolder(), 'made', 'on-first-use')

const createKey = () => `${randomBytes(24).toString('base64url')}.webp`

/** The files that the S3 server keeps, by their paths. */
const listObjects = async () =>
  (await readdir(s3.folder, { recursive: true })).filter((path) => path.includes('.webp')).toSorted()

describe.each([
  ['a local folder', createLocalStorage(localFolder)],
  ['an S3 server', createS3Storage(parseS3Url(s3.url))],
])('storage in %s', (_name, storage) => {
  const read = async (key: string) => {
    const file = await storage.open(key)
    if (!file) return undefined
    const content = await buffer(file.content)
    expect(file.sizeBytes).toBe(content.length)
    return content
  }

  it('returns the stored bytes unchanged', async () => {
    for (const sizeBytes of [1, 1000, 3 * 1024 * 1024]) {
      const [key, content] = [createKey(), randomBytes(sizeBytes)]
      await storage.put(key, content)
      expect((await read(key))?.equals(content)).toBe(true)
      expect((await read(key))?.equals(content)).toBe(true)
    }
  })

  it('returns undefined for an unknown key', async () => {
    expect(await storage.open(createKey())).toBeUndefined()
  })

  it('returns undefined for a deleted key, and keeps other files', async () => {
    const [key, other] = [createKey(), createKey()]
    await storage.put(key, Buffer.from('one'))
    await storage.put(other, Buffer.from('other'))
    await storage.delete(key)
    expect(await storage.open(key)).toBeUndefined()
    expect(await read(other)).toEqual(Buffer.from('other'))
  })

  it('deleting an unknown key succeeds', async () => {
    const key = createKey()
    await storage.delete(key)
    await storage.put(key, Buffer.from('x'))
    await storage.delete(key)
    await storage.delete(key)
    expect(await storage.open(key)).toBeUndefined()
  })

  it('replaces the content of an existing key', async () => {
    const key = createKey()
    await storage.put(key, Buffer.from('a longer one'))
    await storage.put(key, Buffer.from('short'))
    expect(await read(key)).toEqual(Buffer.from('short'))
  })

  it('stores what is streamed, and nothing of a stream that fails', async () => {
    // Below and above the size of a part.
    for (const sizeBytes of [0, 1000, 12 * 1024 * 1024]) {
      const [key, content] = [createKey(), randomBytes(sizeBytes)]
      const chunks = Array.from({ length: Math.ceil(sizeBytes / 100_000) }, (_, i) =>
        content.subarray(i * 100_000, (i + 1) * 100_000),
      )
      await storage.put(key, Readable.from(chunks, { objectMode: false }))
      expect((await read(key))?.equals(content)).toBe(true)
    }
    const key = createKey()
    const failing = async function* () {
      yield randomBytes(6 * 1024 * 1024)
      throw new Error('the sender left')
    }
    await expect(storage.put(key, Readable.from(failing(), { objectMode: false }))).rejects.toThrow(
      'the sender left',
    )
    expect(await storage.open(key)).toBeUndefined()
  })

  it('handles 20 concurrent operations', async () => {
    const files = Array.from({ length: 20 }, () => ({ key: createKey(), content: randomBytes(10_000) }))
    await Promise.all(files.map(({ key, content }) => storage.put(key, content)))
    const contents = await Promise.all(files.map(({ key }) => read(key)))
    expect(contents.map((content, i) => content?.equals(files[i]?.content ?? Buffer.alloc(0)))).toEqual(
      files.map(() => true),
    )
    await Promise.all(files.map(({ key }) => storage.delete(key)))
    expect(await Promise.all(files.map(({ key }) => storage.open(key)))).toEqual(files.map(() => undefined))
  })
})

describe('a local storage folder', () => {
  it('stores each file under its key, without access for other accounts', async () => {
    const folder = join(await makeFolder(), 'uploads')
    const storage = createLocalStorage(folder)
    const key = createKey()
    await storage.put(key, Buffer.from('x'))
    expect(await readdir(folder)).toEqual([key])
    expect((await stat(join(folder, key))).mode & 0o027).toBe(0)
  })

  it('throws when the folder cannot be created', async () => {
    const occupied = join(await makeFolder(), 'occupied')
    await writeFile(occupied, '')
    const storage = createLocalStorage(occupied)
    await expect(storage.put(createKey(), Buffer.from('x'))).rejects.toThrow(/EEXIST|ENOTDIR/)
    await expect(storage.open(createKey())).rejects.toThrow('ENOTDIR')
  })

  it('deletes a file that a crash left unfinished', async () => {
    const folder = await makeFolder()
    const key = createKey()
    await writeFile(join(folder, `${key}.unfinished`), 'half')
    const storage = createLocalStorage(folder)
    expect(await storage.open(key)).toBeUndefined()
    await storage.delete(key)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('an S3 server as storage', () => {
  const put = (url: string, key = createKey()) => createS3Storage(parseS3Url(url)).put(key, Buffer.from('x'))

  it('stores each object under the prefix', async () => {
    const key = createKey()
    await put(s3.url, key)
    const paths = (await listObjects()).filter((path) => path.includes(key))
    expect(paths).toContainEqual(expect.stringMatching(new RegExp(`^pictures/some/folder/${key}`)) as string)
  })

  it('works without a prefix', async () => {
    const key = createKey()
    const url = `s3://pictures?endpoint=${s3.endpoint}&pathStyle=true`
    await put(url, key)
    expect((await listObjects()).some((path) => path.startsWith(`pictures/${key}`))).toBe(true)
    expect(await createS3Storage(parseS3Url(s3.url)).open(key)).toBeUndefined()
  })

  it('stores the content type of each object', async () => {
    const key = createKey()
    await put(s3.url, key)
    const answer = await fetch(`${s3.endpoint}/pictures/some/folder/${key}`)
    expect(answer.headers.get('content-type')).toBe('image/webp')
  })

  it('throws NoSuchBucket for a missing bucket, when storing and when reading', async () => {
    const url = `s3://missing?endpoint=${s3.endpoint}&pathStyle=true`
    await expect(put(url)).rejects.toMatchObject({ name: 'NoSuchBucket' })
    await expect(createS3Storage(parseS3Url(url)).open(createKey())).rejects.toMatchObject({
      name: 'NoSuchBucket',
    })
  })

  it('throws ECONNREFUSED when the server is unreachable, when storing and when reading', async () => {
    const url = `s3://pictures?endpoint=http://127.0.0.1:${await findClosedPort()}&pathStyle=true`
    await expect(put(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(createS3Storage(parseS3Url(url)).open(createKey())).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })
})

describe('parseS3Url', () => {
  it.each([
    [
      's3://bucket',
      { bucket: 'bucket', prefix: '', endpoint: undefined, region: 'us-east-1', forcePathStyle: false },
    ],
    [
      's3://my-bucket.example/',
      {
        bucket: 'my-bucket.example',
        prefix: '',
        endpoint: undefined,
        region: 'us-east-1',
        forcePathStyle: false,
      },
    ],
    [
      's3://bucket/a/b/?region=eu-central-1',
      {
        bucket: 'bucket',
        prefix: 'a/b/',
        endpoint: undefined,
        region: 'eu-central-1',
        forcePathStyle: false,
      },
    ],
    [
      's3://bucket/a?endpoint=https://minio.example:9000&pathStyle=true',
      {
        bucket: 'bucket',
        prefix: 'a/',
        endpoint: 'https://minio.example:9000',
        region: 'us-east-1',
        forcePathStyle: true,
      },
    ],
    [
      's3://bucket?pathStyle=false',
      { bucket: 'bucket', prefix: '', endpoint: undefined, region: 'us-east-1', forcePathStyle: false },
    ],
  ])('parses %s', (url, location) => {
    expect(parseS3Url(url)).toEqual(location)
  })
})

describe('the service with STORAGE_URL', () => {
  it('stores pictures in S3, serves them, and deletes the pictures that they replace', async () => {
    const service = await startTestApp({
      environment: { STORAGE_URL: s3.url, DATA_DIR: await makeFolder(), UPLOAD_LIMIT_PER_HOUR: '0' },
    })
    const { app, as, createPerson } = service
    const person = await createPerson()
    const before = await listObjects()
    const upload = async () => {
      const form = buildUpload(await makePng())
      const answer = await as(person, { method: 'POST', url: '/v1/me/photo', ...form })
      expect(answer.statusCode).toBe(200)
      return new URL(answer.json<{ image: string }>().image).pathname
    }
    const added = async () => (await listObjects()).filter((path) => !before.includes(path))

    const first = await upload()
    const picture = await app.inject(first)
    expect(picture.headers).toMatchObject({
      'content-type': 'image/webp',
      'content-length': String(picture.rawPayload.length),
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect(await readQuadrants(picture.rawPayload)).toEqual(['red', 'green', 'blue', 'white'])
    const head = await app.inject({ method: 'HEAD', url: first })
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([
      200,
      picture.headers['content-length'],
      '',
    ])
    expect((await added()).every((path) => path.includes(keyOf(first)))).toBe(true)

    const second = await upload()
    expect((await app.inject(first)).statusCode).toBe(404)
    expect((await app.inject(second)).statusCode).toBe(200)
    const left = await added()
    expect(left.length).toBeGreaterThan(0)
    expect(left.every((path) => path.includes(keyOf(second)))).toBe(true)
    expect(await listUploads(service)).toEqual([])
  })
})

it('assertStorable stores and deletes a file, and throws when the storage is unreachable', async () => {
  const before = await listObjects()
  const { services } = await startTestApp({ environment: { STORAGE_URL: s3.url } })
  await services.pictures.assertStorable()
  expect(await listObjects()).toEqual(before)
  const closed = new URL(s3.url)
  closed.searchParams.set('endpoint', `http://127.0.0.1:${await findClosedPort()}`)
  const { services: broken } = await startTestApp({ environment: { STORAGE_URL: closed.href } })
  await expect(broken.pictures.assertStorable()).rejects.toThrow()
})

describe('the bucket of a copy with OUTGOING=off', () => {
  const start = async (more: Record<string, string>) =>
    startTestApp({
      environment: {
        ...{ STORAGE_URL: s3.url, UPLOAD_LIMIT_PER_HOUR: '0', BASE_URL: 'http://127.0.0.1:9' },
        ...{ DATA_DIR: await makeFolder(), ...more },
      },
    })

  it.each([
    ['shared', 1],
    ['own', 0],
  ])('with OUTGOING_STORAGE=%s, has %i of the pictures that its jobs delete', async (whose, left) => {
    const original = await start({})
    const person = await original.createPerson()
    const form = buildUpload(await makePng())
    const answer = await original.as(person, { method: 'POST', url: '/v1/me/photo', ...form })
    const key = keyOf(answer.json<{ image: string }>().image)
    const copy = await start({ OUTGOING: 'off', OUTGOING_STORAGE: whose })
    await copy.db.execute(sql`update users set image_key = null where id = ${person.id}`)
    await copy.db.execute(sql`update pictures set unused_since = 'epoch' where key = ${key}`)
    await copy.services.pictures.collectUnused()
    expect((await listObjects()).filter((path) => path.includes(key)).length > 0).toBe(left === 1)
    // The copy shows and takes pictures.
    const again = await copy.as(person, { method: 'POST', url: '/v1/me/photo', ...form })
    const shown = await copy.app.inject(new URL(again.json<{ image: string }>().image).pathname)
    expect(shown.statusCode).toBe(200)
    const removed = await copy.as(person, { method: 'DELETE', url: '/v1/me/photo' })
    expect(removed.statusCode).toBe(200)
    const before = await listObjects()
    const findings = await checkInstallation(() => copy.config)
    expect(findings.find(({ check }) => check === 'storage')?.ok).toBe(true)
    expect(await listObjects()).toEqual(before)
  })

  it('is not overwritten', async () => {
    const bucket = createS3Storage(parseS3Url(s3.url))
    const key = createKey()
    await bucket.put(key, Buffer.from('of the original'))
    const kept = createKeptStorage(bucket)
    await expect(kept.put(key, Buffer.from('of the copy'))).rejects.toThrow('overwrites nothing')
    await kept.delete(key)
    const file = await kept.open(key)
    expect(file && (await buffer(file.content)).toString()).toBe('of the original')
  })
})
