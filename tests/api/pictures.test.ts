import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { createChanges } from '../../src/access/change.ts'
import type { Executor } from '../../src/db/client.ts'
import { errors } from '../../src/kernel/errors.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createFileLedger, type FileLedgerOptions } from '../../src/pictures/file-ledger.ts'
import { createPictureStore, type PictureStoreOptions } from '../../src/pictures/picture-store.ts'
import { createSharpImages } from '../../src/platform/images/sharp-images.ts'
import { createLocalStorage } from '../../src/platform/storage/local-storage.ts'
import type { FileStorage } from '../../src/platform/storage/storage.port.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, keyOf, listUploads, makeFolder } from '../support/uploads.ts'

const hour = 60 * 60 * 1000

const service = await startTestApp({ environment: {} })
const { app, createPerson, db } = service

const upload = async ({ as }: TestApp, person: TestPerson) =>
  as(person, { method: 'POST', url: '/v1/me/photo', ...buildUpload(await makePng()) })

const uploadTo = async (target: TestApp, person: TestPerson): Promise<string> => {
  const answer = await upload(target, person)
  expect(answer.statusCode).toBe(200)
  return keyOf(answer.json<{ image: string }>().image)
}

const shownTo = async ({ id }: TestPerson) =>
  (await selectRows<{ image_key: string | null }>(db, sql`select image_key from users where id = ${id}`))[0]
    ?.image_key

describe('GET /pictures/{key}', () => {
  const headersOfPicture = {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  }

  it('returns the picture without a credential, cacheable for a year', async () => {
    const key = await uploadTo(service, await createPerson())
    const answer = await app.inject(`/pictures/${key}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      ...headersOfPicture,
      'content-length': String(answer.rawPayload.length),
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    })
    expect(answer.headers['www-authenticate']).toBeUndefined()
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.rawPayload.toString('latin1', 8, 12)).toBe('WEBP')
  })

  it('ignores credentials, valid or invalid', async () => {
    const url = `/pictures/${await uploadTo(service, await createPerson())}`
    const answer = await app.inject({ url, headers: { authorization: 'Bearer nonsense' } })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject(headersOfPicture)
  })

  it('returns to HEAD the same headers without the picture', async () => {
    const url = `/pictures/${await uploadTo(service, await createPerson())}`
    const answer = await app.inject({ method: 'HEAD', url })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      ...headersOfPicture,
      'content-length': String((await app.inject(url)).rawPayload.length),
    })
    expect(answer.rawPayload).toHaveLength(0)
  })

  it('is not in the OpenAPI document', async () => {
    expect(Object.keys(app.swagger().paths ?? {}).filter((path) => path.startsWith('/pictures'))).toEqual([])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'returns 404 for %s, and keeps the picture',
    async (method) => {
      const key = await uploadTo(service, await createPerson())
      expectError(await app.inject({ method, url: `/pictures/${key}` }), errors.routeNotFound)
      expect((await app.inject(`/pictures/${key}`)).statusCode).toBe(200)
    },
  )

  it.each([
    `${'a'.repeat(32)}.webp`,
    '%2e%2e%2fsecret.webp',
    '..%2Fsecret.webp',
    '..%5Csecret.webp',
    '%2Fetc%2Fpasswd',
    '....%2F%2Fsecret.webp',
    '.',
    '..%00.webp',
    `${'a'.repeat(32)}.webp%00`,
    `${'a'.repeat(32)}.webp.unfinished`,
    `${'a'.repeat(31)}%2F.webp`,
    'secret.webp',
    '%',
    '',
    'x'.repeat(4000),
  ])('returns 404 (400 for malformed percent-encoding) and no file for %s', async (key) => {
    await writeFile(join(service.config.dataDir, 'secret.webp'), 'secret')
    const answer = await app.inject(`/pictures/${key}`)
    expect(answer.statusCode).toBe(key === '%' ? 400 : 404)
    expect(answer.body).not.toContain('secret')
    expect(answer.headers['cache-control'] ?? '').not.toContain('immutable')
  })

  it('returns 404 for a path outside the folder', async () => {
    await writeFile(join(service.config.dataDir, 'secret.webp'), 'secret')
    for (const url of [
      '/pictures/../secret.webp',
      '/pictures/x/../../secret.webp',
      '//pictures/secret.webp',
    ]) {
      expect((await app.inject(url)).statusCode).toBe(404)
    }
  })

  it('returns 404 when the file is missing', async () => {
    const key = await uploadTo(service, await createPerson())
    await rm(join(service.config.dataDir, 'uploads', key))
    expectError(await app.inject(`/pictures/${key}`), errors.notFound)
  })
})

describe('the picture storage', () => {
  it('changes nothing when it cannot write, and cleans up later', async () => {
    const broken = await startTestApp({ environment: { DATA_DIR: await makeFolder() } })
    const person = await broken.createPerson()
    // A file where the folder should be.
    await writeFile(join(broken.config.dataDir, 'uploads'), '')
    const before = await findPictures(broken)
    expectError(await upload(broken, person), errors.storageUnavailable)
    expect(await shownTo(person)).toBeNull()
    // It could not be asked to delete either: that is made good as soon as it can.
    expect(await findPictures(broken)).toHaveLength(before.length + 1)
    await rm(join(broken.config.dataDir, 'uploads'))
    await broken.services.pictures.collectUnused()
    expect(await findPictures(broken)).toEqual(before)
    const key = await uploadTo(broken, person)
    expect(await shownTo(person)).toBe(key)
    expect(await listUploads(broken)).toEqual([key])
  })

  it('shows the new picture when the old one cannot be deleted, and deletes it later', async () => {
    const clock = createTestClock()
    const stuck = await startTestApp({ clock, environment: { DATA_DIR: await makeFolder() } })
    const person = await stuck.createPerson()
    const first = await uploadTo(stuck, person)
    // A folder that is not empty cannot be deleted as a file can.
    const path = join(stuck.config.dataDir, 'uploads', first)
    await rm(path)
    await mkdir(join(path, 'in-the-way'), { recursive: true })
    const second = await uploadTo(stuck, person)
    expect(await shownTo(person)).toBe(second)
    expect((await findPictures(stuck)).filter(({ key }) => [first, second].includes(key))).toEqual(
      [
        { key: first, unused_since: expect.any(String) as string },
        { key: second, unused_since: null },
      ].toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    )
    expect(
      stuck.log.filter((line) => line.includes('an unused picture could not be deleted; will retry')),
    ).toHaveLength(1)

    await rm(path, { recursive: true })
    await writeFile(path, 'the file again')
    clock.advance(hour + 1)
    await stuck.services.pictures.collectUnused()
    expect(await listUploads(stuck)).toEqual([second])
    expect((await findPictures(stuck)).some(({ key }) => key === first)).toBe(false)
  })

  it('never shows a partly written picture under its name', async () => {
    const folder = await makeFolder()
    const storage = createLocalStorage(folder)
    const key = `${'k'.repeat(32)}.webp`
    const writing = storage.put(key, Buffer.alloc(1024 * 1024, 'x'))
    const seen = new Set<number>()
    const written = writing.then(() => true)
    while (!(await Promise.race([written, Promise.resolve(false)]))) {
      const file = await storage.open(key)
      if (!file) continue
      seen.add(file.sizeBytes)
      file.content.destroy()
      await once(file.content, 'close')
    }
    await writing
    expect([...seen].filter((sizeBytes) => sizeBytes !== 1024 * 1024)).toEqual([])
    expect(await readdir(folder)).toEqual([key])
  })
})

describe('an upload that fails midway', () => {
  /** The pieces that the service is made of, with a clock and a storage that a test can get hold of. */
  const assemble = async (change: Partial<PictureStoreOptions & FileLedgerOptions> = {}) => {
    const folder = await makeFolder()
    const clock = createTestClock()
    const local = createLocalStorage(folder)
    const storage: FileStorage = { ...local }
    const deleteErrors: unknown[] = []
    const person = await createPerson()
    const store = createPictureStore({
      changes: createChanges({ db, clock }),
      images: createSharpImages(),
      files: createFileLedger({
        db,
        clock,
        storage,
        onDeleteError: (error) => deleteErrors.push(error),
        ...change,
      }),
      baseUrl: 'http://localhost',
      ...change,
    })
    type Show = (tx: Executor, key: string) => Promise<string | null>
    const show: Show = async (tx, key) => {
      const { rows } = await tx.execute<{ image_key: string | null }>(
        sql`select image_key from users where id = ${person.id} for update`,
      )
      await tx.execute(sql`update users set image_key = ${key} where id = ${person.id}`)
      return rows[0]?.image_key ?? null
    }
    const user = { ...person, emailVerifiedAt: null, imageKey: null }
    const principal: Principal = { user, source: 'api', apiKeyId: null, sessionId: null, grantId: null }
    const pictures = {
      ...store,
      replace: (upload: Buffer, change: Show) =>
        store.replace(principal, upload, ({ tx }, key) => change(tx, key)),
    }
    const others = (await findPictures(service)).map(({ key }) => key)
    return {
      folder,
      clock,
      local,
      storage,
      deleteErrors,
      person,
      pictures,
      show,
      png: await makePng(),
      files: async () => (await readdir(folder)).toSorted(),
      rows: async () => (await findPictures(service)).filter(({ key }) => !others.includes(key)),
      shown: () => shownTo(person),
    }
  }

  const never = () => new Promise<never>(() => undefined)

  it('leaves nothing behind when its row cannot be inserted', async () => {
    const { pictures, png, show, files, rows } = await assemble({
      db: new Proxy(db, {
        get: (target, name) =>
          name === 'insert'
            ? () => {
                throw new Error('the database is away')
              }
            : (Reflect.get(target, name) as unknown),
      }),
    })
    await expect(pictures.replace(png, show)).rejects.toThrow('the database is away')
    expect([await files(), await rows()]).toEqual([[], []])
  })

  it('leaves nothing behind when its file cannot be written', async () => {
    const { pictures, png, show, storage, files, rows, shown } = await assemble()
    storage.put = () => Promise.reject(new Error('no room'))
    await expect(pictures.replace(png, show)).rejects.toThrow(errors.storageUnavailable.message)
    expect([await files(), await rows(), await shown()]).toEqual([[], [], null])
  })

  it('leaves nothing behind and keeps the previous picture when the transaction fails', async () => {
    const { pictures, png, show, files, rows, shown } = await assemble()
    const before = keyOf(await pictures.replace(png, show))
    const failing = pictures.replace(png, async (tx, key) => {
      await show(tx, key)
      throw new Error('not allowed after all')
    })
    await expect(failing).rejects.toThrow('not allowed after all')
    expect([await files(), await shown()]).toEqual([[before], before])
    expect(await rows()).toEqual([{ key: before, unused_since: null }])
  })

  it('keeps the new picture and collects the old one when the connection breaks after the commit', async () => {
    const { pictures, png, show, clock, files, rows, shown } = await assemble()
    const before = keyOf(await pictures.replace(png, show))
    const transaction = db.transaction.bind(db)
    vi.spyOn(db, 'transaction').mockImplementationOnce(async (run) => {
      await transaction(run)
      throw new Error('Connection terminated')
    })
    await expect(pictures.replace(png, show)).rejects.toThrow('Connection terminated')
    const after = String(await shown())
    expect(after).not.toBe(before)
    expect(await files()).toContain(after)
    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect(await files()).toEqual([after])
    expect(await rows()).toEqual([{ key: after, unused_since: null }])
  })

  it('cleans up later when the storage cannot delete either', async () => {
    const { pictures, png, show, storage, local, clock, deleteErrors, files, rows, shown } = await assemble()
    storage.delete = () => Promise.reject(new Error('the storage is away'))
    await expect(pictures.replace(png, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(deleteErrors).toEqual([new Error('the storage is away')])
    expect([(await files()).length, (await rows()).length, await shown()]).toEqual([1, 1, null])

    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect(deleteErrors).toHaveLength(2)
    expect([(await files()).length, (await rows()).length]).toEqual([1, 1])
    storage.delete = local.delete.bind(local)
    await pictures.collectUnused()
    expect([await files(), await rows()]).toEqual([[], []])
    expect(await pictures.replace(png, show)).toContain('/pictures/')
  })

  it('collects the row after an hour when the process dies before the file is written', async () => {
    const { pictures, png, show, storage, clock, files, rows, shown } = await assemble()
    const put = new Promise<void>((resolve) => {
      storage.put = () => {
        resolve()
        return never()
      }
    })
    void pictures.replace(png, show)
    await put
    expect([(await files()).length, (await rows()).length, await shown()]).toEqual([0, 1, null])
    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect([await files(), await rows()]).toEqual([[], []])
  })

  it('collects the file after an hour, not sooner, when the process dies before the transaction', async () => {
    const { pictures, png, show, storage, local, clock, files, rows, shown } = await assemble()
    const before = keyOf(await pictures.replace(png, show))
    const stored = new Promise<void>((resolve) => {
      storage.put = async (key, content) => {
        await local.put(key, content)
        resolve()
        return never()
      }
    })
    void pictures.replace(png, show)
    await stored
    expect([(await files()).length, (await rows()).length, await shown()]).toEqual([2, 2, before])
    clock.advance(hour)
    await pictures.collectUnused()
    expect((await files()).length).toBe(2)
    clock.advance(1)
    await pictures.collectUnused()
    expect([await files(), await shown()]).toEqual([[before], before])
    expect(await rows()).toEqual([{ key: before, unused_since: null }])
  })

  it('collects the old picture after an hour when the process dies after the commit', async () => {
    const { pictures, png, show, storage, local, clock, files, rows, shown } = await assemble()
    const before = keyOf(await pictures.replace(png, show))
    const deleting = new Promise<void>((resolve) => {
      storage.delete = () => {
        resolve()
        return never()
      }
    })
    void pictures.replace(png, show)
    await deleting
    const after = String(await shown())
    expect(after).not.toBe(before)
    expect(await files()).toEqual([before, after].toSorted())
    storage.delete = local.delete.bind(local)
    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect(await files()).toEqual([after])
    expect(await rows()).toEqual([{ key: after, unused_since: null }])
  })

  it('does not serve an unfinished file, and collects it, when the process dies while writing', async () => {
    const { pictures, png, show, storage, folder, clock, files, rows } = await assemble()
    const begun = new Promise<void>((resolve) => {
      storage.put = async (key) => {
        await writeFile(join(folder, `${key}.unfinished`), 'half')
        resolve()
        return never()
      }
    })
    void pictures.replace(png, show)
    await begun
    const [row] = await rows()
    expect(await pictures.open(String(row?.key))).toBeUndefined()
    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect([await files(), await rows()]).toEqual([[], []])
  })

  it('stores nothing when the upload was collected meanwhile', async () => {
    const { pictures, png, show, storage, local, clock, files, rows, shown } = await assemble()
    storage.put = async (key, content) => {
      await local.put(key, content)
      clock.advance(hour + 1)
      await pictures.collectUnused()
    }
    await expect(pictures.replace(png, show)).rejects.toThrow('deleted before it was used')
    expect([await files(), await rows(), await shown()]).toEqual([[], [], null])
  })

  it('stores nothing when the upload is being collected', async () => {
    const { pictures, png, show, storage, local, clock, files, rows, shown } = await assemble()
    let finishDeletion: () => void = () => undefined
    let collecting: Promise<unknown> | undefined
    storage.put = async (key, content) => {
      await local.put(key, content)
      clock.advance(hour + 1)
      const deleting = new Promise<void>((resolve) => {
        storage.delete = async (deleted) => {
          storage.delete = local.delete.bind(local)
          resolve()
          await new Promise<void>((finish) => (finishDeletion = finish))
          await local.delete(deleted)
        }
      })
      collecting = pictures.collectUnused()
      await deleting
    }
    await expect(pictures.replace(png, show)).rejects.toThrow('deleted before it was used')
    finishDeletion()
    await collecting
    expect([await files(), await rows(), await shown()]).toEqual([[], [], null])
  })

  it('never collects a picture in use, however old', async () => {
    const { pictures, png, show, clock, files, shown } = await assemble()
    const key = keyOf(await pictures.replace(png, show))
    clock.advance(1000 * 24 * hour)
    await pictures.collectUnused()
    expect([await files(), await shown()]).toEqual([[key], key])
  })

  it('collects at most 100 unused pictures at a time', async () => {
    const { pictures, clock, rows } = await assemble()
    await db.execute(sql`
      insert into pictures (key, unused_since)
      select md5(random()::text) || '.webp', ${clock.now().toISOString()} from generate_series(1, 120)`)
    clock.advance(hour + 1)
    await pictures.collectUnused()
    expect(await rows()).toHaveLength(20)
    await pictures.collectUnused()
    expect(await rows()).toEqual([])
  })
})

describe('80 concurrent picture conversions', () => {
  it('fails with 503 uploads_busy above the limit, and completes at least 50', async () => {
    const images = createSharpImages()
    const png = await makePng()
    const results = await Promise.allSettled(Array.from({ length: 80 }, () => images.toSquarePicture(png)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.map((result) => result.reason as unknown)).toEqual(
      refused.map(
        () => expect.objectContaining({ code: 'uploads_busy', status: 503, retryAfterSeconds: 5 }) as unknown,
      ),
    )
    expect(results.length - refused.length).toBeGreaterThanOrEqual(50)
    // And later ones are taken again.
    expect((await images.toSquarePicture(png)).length).toBeGreaterThan(0)
  })
})
