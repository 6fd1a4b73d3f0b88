import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { buildForm, buildUpload } from '../support/forms.ts'
import { drawQuadrants, makePng, makePngOf, readQuadrants } from '../support/images.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { findPictures, keyOf, listUploads } from '../support/uploads.ts'
import {
  addMember,
  createWorkspace,
  eventBy,
  findEvents,
  findWorkspace,
  randomSlug,
  type TestWorkspace,
} from '../support/workspaces.ts'

const service = await startTestApp({ environment: {} })
const { app, as, createPerson, db } = service

const upload = (person: TestPerson, slug: string, form = buildUpload('')) =>
  as(person, { method: 'POST', url: `/v1/workspaces/${slug}/icon`, ...form })

const stateOf = async (workspace: TestWorkspace) => ({
  workspace: await findWorkspace(service, workspace),
  events: await findEvents(service, workspace),
  files: await listUploads(service),
  pictures: await findPictures(service),
})

interface Uploaded {
  ok: true
  iconUrl: string
}

describe('200', () => {
  it.each(['owner', 'admin'] as const)(
    'stores the picture as the icon, and appends an event: %s',
    async (role) => {
      const person = await createPerson({ name: 'Ada' })
      const workspace = await createWorkspace(service, await createPerson(), { name: 'Acme' })
      await addMember(service, workspace, person, role)
      const before = await stateOf(workspace)
      const answer = await upload(person, workspace.slug, buildUpload(await makePng()))
      expect(answer.statusCode).toBe(200)
      const { iconUrl } = answer.json<Uploaded>()
      expect(answer.json()).toEqual({ ok: true, iconUrl })
      expect(iconUrl).toMatch(/^http:\/\/localhost:3000\/pictures\/[A-Za-z0-9_-]{32}\.webp$/)
      expect(answer.headers['content-location']).toBeUndefined()

      const after = await stateOf(workspace)
      expect(after.workspace).toEqual({ ...before.workspace, icon_key: keyOf(iconUrl) })
      expect(after.events).toEqual([
        ...before.events,
        eventBy(
          person,
          { type: 'workspace', id: workspace.id },
          {
            type: 'workspace.icon_changed',
            summary: 'Ada changed the icon of Acme',
          },
        ),
      ])
      expect(after.files).toEqual([...before.files, keyOf(iconUrl)].toSorted())
      expect(after.pictures).toContainEqual({ key: keyOf(iconUrl), unused_since: null })
      const picture = await app.inject(new URL(iconUrl).pathname)
      expect(await readQuadrants(picture.rawPayload)).toEqual(['red', 'green', 'blue', 'white'])
    },
  )

  it('returns the icon wherever the workspace is returned', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const { iconUrl } = (await upload(person, slug, buildUpload(await makePng()))).json<Uploaded>()
    expect((await as(person, { url: `/v1/workspaces/${slug}` })).json()).toMatchObject({ iconUrl })
    expect((await as(person, { url: '/v1/workspaces' })).json()).toMatchObject([{ iconUrl }])
    expect((await as(person, { url: '/v1/me/onboarding' })).json()).toMatchObject({ existing: { iconUrl } })
  })

  it('deletes the previous icon', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const first = (await upload(person, workspace.slug, buildUpload(await makePng()))).json<Uploaded>()
    const second = (await upload(person, workspace.slug, buildUpload(await makePng()))).json<Uploaded>()
    const after = await stateOf(workspace)
    expect(after.files).toEqual([...before.files, keyOf(second.iconUrl)].toSorted())
    expect(after.pictures).toHaveLength(before.pictures.length + 1)
    expect(after.events).toHaveLength(3)
    expect((await app.inject(new URL(first.iconUrl).pathname)).statusCode).toBe(404)
    expect((await app.inject(new URL(second.iconUrl).pathname)).statusCode).toBe(200)
  })

  it('accepts a former slug, with the current path in Content-Location', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const renamed = randomSlug()
    await as(person, {
      method: 'PATCH',
      url: `/v1/workspaces/${slug}`,
      payload: { name: 'Acme', slug: renamed },
    })
    const answer = await upload(person, slug, buildUpload(await makePng()))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-location']).toBe(`/v1/workspaces/${renamed}/icon`)
  })

  it('executes the upload once for the same Idempotency-Key, file and workspace', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const send = (content: Buffer, slug = workspace.slug) => {
      const form = buildUpload(content)
      return upload(person, slug, {
        ...form,
        headers: { ...form.headers, ...{ 'idempotency-key': 'icon-1' } },
      })
    }
    const file = await makePng()
    const first = await send(file)
    const before = await stateOf(workspace)
    const again = await send(file)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expectError(await send(await drawQuadrants(65, 65).png().toBuffer()), errors.idempotencyKeyReused)
    const other = await createWorkspace(service, person)
    expectError(await send(file, other.slug), errors.idempotencyKeyReused)
    expect(await stateOf(workspace)).toEqual(before)
    expect(await findWorkspace(service, other)).toMatchObject({ icon_key: null })
  })
})

describe('a refused upload, which keeps the previous icon and stores nothing', () => {
  /** Asserts that nothing is left of an upload, and the icon before is as it was. */
  const expectNothingKept = async (
    run: (owner: TestPerson, workspace: TestWorkspace) => Promise<unknown>,
  ): Promise<void> => {
    const owner = await createPerson()
    const workspace = await createWorkspace(service, owner)
    await upload(owner, workspace.slug, buildUpload(await makePng()))
    const before = await stateOf(workspace)
    expect(before.workspace?.icon_key).not.toBeNull()
    await run(owner, workspace)
    expect(await stateOf(workspace)).toEqual(before)
  }

  it('returns 400 for an invalid image, too large an image, no file and two files', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      const file = { filename: 'a.png', content: await makePng() }
      const field = { field: 'file' }
      expectError(await upload(owner, slug, buildUpload('<svg/>')), errors.imageInvalid, field)
      expectError(
        await upload(owner, slug, buildUpload(makePngOf(30_000, 30_000))),
        errors.imageTooLarge,
        field,
      )
      expectError(await upload(owner, slug, buildForm()), errors.fileMissing, field)
      expectError(await upload(owner, slug, buildForm(file, file)), errors.fileNotAlone, field)
    })
  })

  it('returns 400 for a query parameter', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      const url = `/v1/workspaces/${slug}/icon?crop=none`
      const form = buildUpload(await makePng())
      const answer = await as(owner, { method: 'POST', url, ...form })
      expectError(answer, errors.decodeError, { issues: anyIssues })
    })
  })

  it('returns 401 without a key', async () => {
    await expectNothingKept(async (_owner, { slug }) => {
      const form = buildUpload(await makePng())
      expectError(
        await app.inject({ method: 'POST', url: `/v1/workspaces/${slug}/icon`, ...form }),
        errors.apiKeyRequired,
      )
    })
  })

  it.each(['member', 'viewer'] as const)('returns 403 to a %s', async (role) => {
    await expectNothingKept(async (_owner, workspace) => {
      const person = await createPerson()
      await addMember(service, workspace, person, role)
      const answer = await upload(person, workspace.slug, buildUpload(await makePng()))
      expectError(answer, errors.roleInsufficient)
    })
  })

  it('returns 403 to a stranger', async () => {
    await expectNothingKept(async (_owner, { slug }) => {
      const answer = await upload(await createPerson(), slug, buildUpload(await makePng()))
      expectError(answer, errors.notAMember)
    })
  })

  it('returns 404 for an unknown slug', async () => {
    await expectNothingKept(async (owner) => {
      expectError(await upload(owner, randomSlug(), buildUpload(await makePng())), errors.notFound)
    })
  })

  it('returns 404 for another method', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      const url = `/v1/workspaces/${slug}/icon`
      for (const method of ['GET', 'PUT', 'PATCH'] as const) {
        expectError(await as(owner, { method, url }), errors.routeNotFound)
      }
    })
  })

  it('returns 413 for more than 5 MiB', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      const form = buildUpload(Buffer.alloc(5 * 1024 * 1024 + 1))
      expectError(await upload(owner, slug, form), errors.bodyTooLarge)
    })
  })

  it('returns 415 for a body that is not a form', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      const answer = await as(owner, { method: 'POST', url: `/v1/workspaces/${slug}/icon`, payload: {} })
      expectError(answer, errors.unsupportedMediaType)
    })
  })

  it('returns 429 above the hourly limit of the user, which includes photos', async () => {
    const limited = await startTestApp({
      environment: { DATA_DIR: service.config.dataDir, UPLOAD_LIMIT_PER_HOUR: '2' },
    })
    await expectNothingKept(async (owner, { slug }) => {
      const form = buildUpload('not an image')
      const send = (url: string) => limited.as(owner, { method: 'POST', url, ...form })
      expect((await send('/v1/me/photo')).statusCode).toBe(400)
      expect((await send(`/v1/workspaces/${slug}/icon`)).statusCode).toBe(400)
      const answer = await send(`/v1/workspaces/${slug}/icon`)
      expectError(answer, errors.tooManyUploads)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    })
  })

  it('returns 500 when the event cannot be written', async () => {
    await expectNothingKept(async (owner, { slug }) => {
      await db.execute(
        sql.raw(
          `alter table events add constraint fails_for_one check (actor_user_id <> '${owner.id}') not valid`,
        ),
      )
      try {
        expectError(await upload(owner, slug, buildUpload(await makePng())), errors.internal)
      } finally {
        await db.execute(sql`alter table events drop constraint fails_for_one`)
      }
    })
  })
})

describe('concurrent uploads', () => {
  it('leaves one file, which is the icon, and an event for each', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await listUploads(service)
    const form = buildUpload(await makePng())
    const answers = await Promise.all(Array.from({ length: 10 }, () => upload(person, workspace.slug, form)))
    expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 200))
    const { workspace: row, files, pictures, events } = await stateOf(workspace)
    expect(files.filter((file) => !before.includes(file))).toEqual([row?.icon_key])
    expect(pictures.filter(({ key }) => !before.includes(key))).toEqual([
      { key: row?.icon_key, unused_since: null },
    ])
    expect(events).toHaveLength(11)
  })
})
