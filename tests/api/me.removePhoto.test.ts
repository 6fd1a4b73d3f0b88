import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { del, get } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, keyOf, listUploads } from '../support/uploads.ts'

const service = await startTestApp({ environment: {} })
const { app, as, createPerson, db } = service
const url = '/v1/me/photo'

/** Uploads a photo. Returns its URL. */
async function upload(person: TestPerson): Promise<string> {
  const answer = await as(person, { method: 'POST', url, ...buildUpload(await makePng()) })
  return answer.json<{ image: string }>().image
}

describe('200', () => {
  it('removes the photo and its file', async () => {
    const person = await createPerson()
    const image = await upload(person)
    const answer = await as(person, del(url))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect((await as(person, get('/v1/me'))).json()).toMatchObject({ image: null })
    const rows = await selectRows(db, sql`select image_key from users where id = ${person.id}`)
    expect(rows).toEqual([{ image_key: null }])
    expect(await listUploads(service)).not.toContain(keyOf(image))
    expect((await findPictures(service)).map(({ key }) => key)).not.toContain(keyOf(image))
    expect((await app.inject(new URL(image).pathname)).statusCode).toBe(404)
  })

  it('succeeds without a photo, also when it is sent several times at once', async () => {
    const person = await createPerson()
    expect((await as(person, del(url))).json()).toEqual({ ok: true })
    const image = await upload(person)
    const answers = await Promise.all([as(person, del(url)), as(person, del(url)), as(person, del(url))])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect(await listUploads(service)).not.toContain(keyOf(image))
  })

  it('leaves the photos of others', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    await upload(person)
    const image = await upload(other)
    await as(person, del(url))
    expect((await as(other, get('/v1/me'))).json()).toMatchObject({ image })
    expect((await app.inject(new URL(image).pathname)).statusCode).toBe(200)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(del(url)), errors.apiKeyRequired)
  })
})
