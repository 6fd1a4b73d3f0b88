import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { formerSlugsMax } from '../../src/areas/workspaces/workspaces.service.ts'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import {
  addMember,
  allowDomains,
  createWorkspace,
  eventBy,
  findEvents,
  findSlugs,
  findWorkspace,
  randomSlug,
  type TestWorkspace,
} from '../support/workspaces.ts'

const day = 24 * 60 * 60 * 1000

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const update = (slug: string, body: unknown) => ({
  method: 'PATCH' as const,
  url: `/v1/workspaces/${slug}`,
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})

/** Everything that an update could change. */
const stateOf = async (workspace: TestWorkspace) => ({
  workspace: await findWorkspace(service, workspace),
  slugs: await findSlugs(service, workspace),
  events: await findEvents(service, workspace),
})

const expectOk = (answer: LightMyRequestResponse) => {
  expect(answer.json()).toEqual({ ok: true })
  expect(answer.statusCode).toBe(200)
}

describe('200', () => {
  it('changes the name and nothing else, and appends an event', async () => {
    const person = await createPerson({ name: 'Ada' })
    const workspace = await createWorkspace(service, person, { name: 'Acme' })
    const before = await stateOf(workspace)
    const answer = await as(person, update(workspace.slug, { name: 'Acme Inc.', slug: workspace.slug }))
    expectOk(answer)
    expect(answer.headers['content-location']).toBeUndefined()
    expect(await stateOf(workspace)).toEqual({
      workspace: { ...before.workspace, name: 'Acme Inc.' },
      slugs: before.slugs,
      events: [
        ...before.events,
        eventBy(
          person,
          { type: 'workspace', id: workspace.id },
          {
            type: 'workspace.updated',
            summary: 'Ada renamed the workspace from Acme to Acme Inc.',
          },
        ),
      ],
    })
  })

  it('changes name, slug and allowed domains with one event', async () => {
    const person = await createPerson({ name: 'Ada', email: `${crypto.randomUUID()}@bell.example` })
    const workspace = await createWorkspace(service, person, { name: 'Acme' })
    await allowDomains(service, workspace, ['labs.bell.example'])
    const slug = randomSlug()
    expectOk(
      await as(
        person,
        update(workspace.slug, { name: 'Bell', slug, allowedDomains: 'bell.example, labs.bell.example' }),
      ),
    )
    expect(await findWorkspace(service, workspace)).toMatchObject({
      name: 'Bell',
      slug,
      allowed_domains: ['bell.example', 'labs.bell.example'],
    })
    expect((await findEvents(service, workspace)).slice(1)).toEqual([
      eventBy(
        person,
        { type: 'workspace', id: workspace.id },
        {
          type: 'workspace.updated',
          summary:
            `Ada renamed the workspace from Acme to Bell and changed the workspace address from ${workspace.slug} to ${slug}` +
            ' and set the allowed email domains to bell.example, labs.bell.example',
        },
      ),
    ])
    expect((await as(person, { url: `/v1/workspaces/${slug}` })).json()).toMatchObject({
      name: 'Bell',
      slug,
      allowedDomains: ['bell.example', 'labs.bell.example'],
    })
  })

  it('lets an admin change the workspace', async () => {
    const [owner, admin] = [await createPerson(), await createPerson({ name: 'Bob' })]
    const workspace = await createWorkspace(service, owner)
    await addMember(service, workspace, admin, 'admin')
    expectOk(await as(admin, update(workspace.slug, { name: 'By Bob', slug: workspace.slug })))
    expect((await findEvents(service, workspace))[1]).toMatchObject({
      actor_user_id: admin.id,
      actor_name: 'Bob',
      api_key_id: admin.apiKeyId,
    })
  })

  it('appends no event when nothing changes', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person, { name: 'Acmé' })
    await allowDomains(service, workspace, ['acme.example'])
    const before = await stateOf(workspace)
    const same = {
      name: ' Acme\u0301 ',
      slug: workspace.slug,
      allowedDomains: ' @ACME.example, acme.example',
    }
    expectOk(await as(person, update(workspace.slug, same)))
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('stores a name trimmed and normalized', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const name = ` e\u0301${'🏢'.repeat(96)} `
    expectOk(await as(person, update(workspace.slug, { name, slug: workspace.slug })))
    expect(await findWorkspace(service, workspace)).toMatchObject({ name: `é${'🏢'.repeat(96)}` })
  })
})

const workspaceBody = ({ name, slug }: TestWorkspace) => ({ name, slug })

describe('allowed domains', () => {
  const examples = (letters: string) => letters.split('').map((letter) => `${letter}.example`)

  const set = (person: TestPerson, workspace: TestWorkspace, allowedDomains?: string) =>
    as(person, update(workspace.slug, { ...workspaceBody(workspace), allowedDomains }))

  const domainsOf = async (person: TestPerson, { slug }: TestWorkspace) =>
    (await as(person, { url: `/v1/workspaces/${slug}` })).json<{ allowedDomains: string[] }>().allowedDomains

  it.each([
    ['one domain', 'acme.example', ['acme.example']],
    ['domains separated by commas', 'a.example,b.example', ['a.example', 'b.example']],
    [
      'domains separated by white space of all kinds',
      ' a.example\tb.example\r\nc.example\u00a0d.example ',
      examples('abcd'),
    ],
    ['additional commas', ', a.example ,,b.example,', ['a.example', 'b.example']],
    ['a leading @', '@a.example @b.example', ['a.example', 'b.example']],
    ['upper case', 'ACME.Example', ['acme.example']],
    [
      'internationalized domains',
      'bücher.example, 例え.テスト',
      ['xn--bcher-kva.example', 'xn--r8jz45g.xn--zckzah'],
    ],
    ['the ASCII form of an internationalized domain', 'XN--BCHER-KVA.example', ['xn--bcher-kva.example']],
    [
      'duplicates, which are stored once',
      'a.example A.EXAMPLE @a.example bücher.example xn--bcher-kva.example',
      ['a.example', 'xn--bcher-kva.example'],
    ],
    ['ten domains', examples('abcdefghij').join(), examples('abcdefghij')],
    ['subdomains', 'mail.eu.acme.example', ['mail.eu.acme.example']],
    ['an empty text, which removes all', '', []],
    ['white space and commas, which remove all', ' , \n', []],
  ])('accepts %s', async (_name, text, domains) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    await allowDomains(service, workspace, ['before.example', ...domains])
    expectOk(await set(person, workspace, text))
    expect(await domainsOf(person, workspace)).toEqual(domains)
    expect(await findWorkspace(service, workspace)).toMatchObject({ allowed_domains: domains })
    expect((await findEvents(service, workspace)).at(-1)).toMatchObject({
      summary: `${person.name} set the allowed email domains to ${domains.join(', ') || 'none'}`,
    })
  })

  it('keeps the domains when they are omitted', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    await allowDomains(service, workspace, ['a.example', 'b.example'])
    expectOk(await as(person, update(workspace.slug, { name: 'Other', slug: workspace.slug })))
    expect(await domainsOf(person, workspace)).toEqual(['a.example', 'b.example'])
  })

  it.each([
    'acme',
    '@',
    'a..example',
    '.example',
    'acme.example.',
    '-a.example',
    'a_b.example',
    'someone@acme.example',
    'https://acme.example',
    'acme.example/path',
    'acme.example?x',
    'acme.example#x',
    'acme.example:25',
    'acme.example\\x',
    '%61cme.example',
    '*.example',
    '192.0.2.1',
    '[2001:db8::1]',
    'xn--a.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
    "a.example';drop",
    'a\u0000.example',
    'a.example b.example nonsense',
  ])('returns 400 domain_invalid for %j, and changes nothing', async (text) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const answer = await as(
      person,
      update(workspace.slug, { name: 'Changed', slug: randomSlug(), allowedDomains: text }),
    )
    expectError(answer, errors.domainInvalid, { field: 'allowedDomains' })
    expect(await stateOf(workspace)).toEqual(before)
  })

  it.each([
    'gmail.com',
    'GMAIL.com',
    '@outlook.com',
    'acme.example, yahoo.com',
    'ｇｍａｉｌ.com',
    'icloud.com',
    'gmx.de',
    'qq.com',
  ])('returns 400 domain_public for %s, and changes nothing', async (text) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    expectError(await set(person, workspace, text), errors.domainPublic, { field: 'allowedDomains' })
    expect(await stateOf(workspace)).toEqual(before)
  })

  it("returns 400 domain_not_yours for a domain other than that of the caller's verified address, and changes nothing", async () => {
    const own = `${randomSlug('d')}.example`
    const owner = await createPerson({ email: `${crypto.randomUUID()}@${own}` })
    const workspace = await createWorkspace(service, owner)
    const unverified = await createPerson({ email: `${crypto.randomUUID()}@${own}`, isVerified: false })
    const other = await createPerson()
    for (const person of [unverified, other]) await addMember(service, workspace, person, 'owner')
    const before = await stateOf(workspace)
    for (const [person, text] of [
      [owner, 'victim.example'],
      [owner, `${own}, victim.example`],
      [owner, `mail.${own}`],
      [owner, 'example'.concat('.', own)],
      [other, own],
      [unverified, own],
    ] as const)
      expectError(await set(person, workspace, text), errors.domainNotYours, { field: 'allowedDomains' })
    expect(await stateOf(workspace)).toEqual(before)
    expectOk(await set(owner, workspace, own.toUpperCase()))
  })

  it('lets another admin keep or remove domains, but not add them again', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    const workspace = await createWorkspace(service, person)
    await addMember(service, workspace, other, 'admin')
    await allowDomains(service, workspace, ['a.example', 'b.example'])
    expectOk(await set(other, workspace, 'b.example, a.example'))
    expectOk(await set(other, workspace, 'b.example'))
    expectError(await set(other, workspace, 'a.example, b.example'), errors.domainNotYours, {
      field: 'allowedDomains',
    })
    expect(await domainsOf(other, workspace)).toEqual(['b.example'])
  })

  it('returns 400 domain_limit for 11 domains, and changes nothing', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const eleven = examples('abcdefghijk').join(' ')
    expectError(await set(person, workspace, eleven), errors.domainLimit, { field: 'allowedDomains' })
    expect(await stateOf(workspace)).toEqual(before)
  })
})

describe('400', () => {
  const slug = 'some-slug'
  it.each([
    [
      'an empty object',
      {},
      [
        { _tag: 'Missing', path: ['name'] },
        { _tag: 'Missing', path: ['slug'] },
      ],
    ],
    ['no slug', { name: 'Acme' }, [{ _tag: 'Missing', path: ['slug'] }]],
    ['no name', { slug }, [{ _tag: 'Missing', path: ['name'] }]],
    [
      'an array of domains',
      { name: 'x', slug, allowedDomains: ['a.example'] },
      [{ _tag: 'Type', path: ['allowedDomains'] }],
    ],
    [
      'null as domains',
      { name: 'x', slug, allowedDomains: null },
      [{ _tag: 'Type', path: ['allowedDomains'] }],
    ],
    [
      'a domain text of 4,097 characters',
      { name: 'x', slug, allowedDomains: ' '.repeat(4097) },
      [{ _tag: 'Refinement', path: ['allowedDomains'] }],
    ],
    [
      'a name of invisible characters and spaces',
      { name: '\u200b ', slug },
      [{ _tag: 'Refinement', path: ['name'] }],
    ],
    ['a name with an escape character', { name: 'a\u001bb', slug }, [{ _tag: 'Refinement', path: ['name'] }]],
    ['a slug in upper case', { name: 'x', slug: 'Some-Slug' }, [{ _tag: 'Refinement', path: ['slug'] }]],
    [
      'an unknown field',
      { name: 'x', slug, iconUrl: 'https://a.example/x' },
      [{ _tag: 'Unexpected', path: ['iconUrl'] }],
    ],
  ])('returns 400 for %s, and changes nothing', async (_name, body, issues) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const answer = await as(person, update(workspace.slug, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it.each(['pictures', 'api', 'settings'])(
    'returns 400 slug_reserved for the slug %s, and changes nothing',
    async (reserved) => {
      const person = await createPerson()
      const workspace = await createWorkspace(service, person)
      const before = await stateOf(workspace)
      expectError(
        await as(person, update(workspace.slug, { name: 'x', slug: reserved })),
        errors.slugReserved,
        {
          field: 'slug',
        },
      )
      expect(await stateOf(workspace)).toEqual(before)
    },
  )

  it('returns 400 for a query parameter, and changes nothing', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const request = update(workspace.slug, { name: 'Changed', slug: workspace.slug })
    const answer = await as(person, { ...request, query: { force: 'true' } })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['force'] }])
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('checks the body first: 400 comes before 403 and 404', async () => {
    const { slug: ofOthers } = await createWorkspace(service, await createPerson())
    const person = await createPerson()
    for (const path of [ofOthers, randomSlug()]) {
      expect((await as(person, update(path, {}))).statusCode).toBe(400)
      expect((await as(person, update(path, { name: 'x', slug: 'api' }))).statusCode).toBe(400)
    }
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const workspace = await createWorkspace(service, await createPerson())
    const answer = await app.inject(update(workspace.slug, { name: 'x', slug: workspace.slug }))
    expectError(answer, errors.apiKeyRequired)
  })
})

describe('403', () => {
  it.each(['member', 'viewer'] as const)('returns 403 to a %s, and changes nothing', async (role) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, await createPerson())
    await addMember(service, workspace, person, role)
    const before = await stateOf(workspace)
    const answer = await as(
      person,
      update(workspace.slug, { name: 'Mine', slug: randomSlug(), allowedDomains: '' }),
    )
    expectError(answer, errors.roleInsufficient)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('returns 403 to a stranger, and changes nothing', async () => {
    const workspace = await createWorkspace(service, await createPerson())
    const before = await stateOf(workspace)
    const answer = await as(
      await createPerson(),
      update(workspace.slug, { name: 'Mine', slug: randomSlug() }),
    )
    expectError(answer, errors.notAMember)
    expect(await stateOf(workspace)).toEqual(before)
  })
})

describe('404', () => {
  it('returns 404 for an unknown slug', async () => {
    const answer = await as(await createPerson(), update(randomSlug(), { name: 'x', slug: randomSlug() }))
    expectError(answer, errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 slug_taken for the slug of another workspace, and changes nothing', async () => {
    const person = await createPerson()
    const [workspace, other] = [
      await createWorkspace(service, person),
      await createWorkspace(service, person),
    ]
    const before = [await stateOf(workspace), await stateOf(other)]
    const answer = await as(person, update(workspace.slug, { name: 'Changed', slug: other.slug }))
    expectError(answer, errors.slugTaken)
    expect([await stateOf(workspace), await stateOf(other)]).toEqual(before)
  })
})

const rename = async (person: TestPerson, from: string, to: string) => {
  const answer = await as(person, update(from, { name: 'Acme', slug: to }))
  expectOk(answer)
  return answer
}

describe('413 and 415', () => {
  it('returns 413 for a body over 64 KiB and 415 for a body that is not JSON, and changes nothing', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const before = await stateOf(workspace)
    const request = update(workspace.slug, { name: 'Changed', slug: workspace.slug })
    const large = { ...request, payload: `${' '.repeat(65 * 1024)}${request.payload}` }
    expectError(await as(person, large), errors.bodyTooLarge)
    const text = { ...request, headers: { 'content-type': 'text/plain' } }
    expectError(await as(person, text), errors.unsupportedMediaType)
    expect(await stateOf(workspace)).toEqual(before)
  })
})

describe('a former slug', () => {
  const take = async (slug: string) =>
    as(await createPerson(), { method: 'POST', url: '/v1/workspaces', payload: { name: 'Taken', slug } })

  it('serves a former slug for 90 days, with the current path in Content-Location', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const [old, slug] = [workspace.slug, randomSlug()]
    const renamed = await rename(person, old, slug)
    expect(renamed.headers['content-location']).toBe(`/v1/workspaces/${slug}`)
    expect(await findSlugs(service, workspace)).toEqual({
      [old]: new Date(clock.now().getTime() + 90 * day),
      [slug]: null,
    })

    const read = async () => as(person, { url: `/v1/workspaces/${old}` })
    for (const ms of [0, 90 * day - 1]) {
      clock.advance(ms)
      const answer = await read()
      expect(answer.json()).toMatchObject({ workspaceId: workspace.id, slug })
      expect(answer.headers['content-location']).toBe(`/v1/workspaces/${slug}`)
    }
    clock.advance(1)
    expectError(await read(), errors.notFound)
    const present = await as(person, { url: `/v1/workspaces/${slug}` })
    expect(present.statusCode).toBe(200)
    expect(present.headers['content-location']).toBeUndefined()
  })

  it('returns a Content-Location with the rest of the path and the query', async () => {
    const person = await createPerson()
    const { slug: old } = await createWorkspace(service, person)
    const slug = randomSlug()
    await rename(person, old, slug)
    const answer = await as(person, { url: `/v1/workspaces/${old}/slug-availability?slug=${old}` })
    expect(answer.json()).toEqual({ available: true })
    expect(answer.headers['content-location']).toBe(`/v1/workspaces/${slug}/slug-availability?slug=${old}`)
  })

  it('returns the current path for a percent-encoded request path', async () => {
    const person = await createPerson()
    const { slug: old } = await createWorkspace(service, person)
    const slug = randomSlug()
    await rename(person, old, slug)
    const encoded = old.replace('a', '%61')
    for (const url of [`/v1/workspaces/${encoded}`, `/v1/%77orkspaces/${old}`]) {
      const answer = await as(person, { url })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-location']).toBe(`/v1/workspaces/${slug}`)
    }
  })

  it('accepts an update by a former slug', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const slug = randomSlug()
    await rename(person, workspace.slug, slug)
    const answer = await as(person, update(workspace.slug, { name: 'By the old one', slug }))
    expectOk(answer)
    expect(answer.headers['content-location']).toBe(`/v1/workspaces/${slug}`)
    expect(await findWorkspace(service, workspace)).toMatchObject({ name: 'By the old one', slug })
  })

  it('returns the same 403 as for the current slug', async () => {
    const [owner, viewer] = [await createPerson(), await createPerson()]
    const workspace = await createWorkspace(service, owner)
    await addMember(service, workspace, viewer, 'viewer')
    await rename(owner, workspace.slug, randomSlug())
    expectError(
      await as(await createPerson(), { url: `/v1/workspaces/${workspace.slug}` }),
      errors.notAMember,
    )
    const answer = await as(viewer, update(workspace.slug, { name: 'x', slug: workspace.slug }))
    expectError(answer, errors.roleInsufficient)
  })

  it('reserves a former slug for its workspace for 90 days, and releases it afterwards', async () => {
    const person = await createPerson()
    const [workspace, other] = [
      await createWorkspace(service, person),
      await createWorkspace(service, person),
    ]
    const old = workspace.slug
    const slug = randomSlug()
    await rename(person, old, slug)
    clock.advance(90 * day - 1)
    expectError(await take(old), errors.slugTaken)
    expectError(await as(person, update(other.slug, { name: 'Acme', slug: old })), errors.slugTaken)
    clock.advance(1)
    const taken = await take(old)
    expect(taken.statusCode).toBe(200)
    const taker = taken.json<{ workspace: TestWorkspace }>().workspace
    expect(await findSlugs(service, taker)).toEqual({ [old]: null })
    expect(await findSlugs(service, workspace)).toEqual({ [slug]: null })
    expectError(await as(person, { url: `/v1/workspaces/${old}` }), errors.notAMember)
    // Whoever had it before has no more right to it than others.
    expectError(await as(person, update(slug, { name: 'Acme', slug: old })), errors.slugTaken)
  })

  it('lets another workspace take a former slug by a rename after 90 days', async () => {
    const person = await createPerson()
    const [workspace, other] = [
      await createWorkspace(service, person),
      await createWorkspace(service, person),
    ]
    await rename(person, workspace.slug, randomSlug())
    clock.advance(90 * day)
    await rename(person, other.slug, workspace.slug)
    const answer = await as(person, { url: `/v1/workspaces/${workspace.slug}` })
    expect(answer.json()).toMatchObject({ workspaceId: other.id })
  })

  it('lets its workspace take back a former slug, and then keeps the other one', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const [old, slug] = [workspace.slug, randomSlug()]
    await rename(person, old, slug)
    clock.advance(day)
    const back = await rename(person, slug, old)
    expect(back.headers['content-location']).toBe(`/v1/workspaces/${old}`)
    expect(await findSlugs(service, workspace)).toEqual({
      [old]: null,
      [slug]: new Date(clock.now().getTime() + 90 * day),
    })
    const answer = await as(person, { url: `/v1/workspaces/${slug}` })
    expect(answer.headers['content-location']).toBe(`/v1/workspaces/${old}`)
    expectError(await take(slug), errors.slugTaken)
    clock.advance(200 * day)
    expect((await as(person, { url: `/v1/workspaces/${old}` })).statusCode).toBe(200)
  })

  it('lets its workspace take back a former slug by a request to it', async () => {
    const person = await createPerson()
    const { slug: old } = await createWorkspace(service, person)
    await rename(person, old, randomSlug())
    const back = await rename(person, old, old)
    expect(back.headers['content-location']).toBeUndefined()
    const answer = await as(person, { url: `/v1/workspaces/${old}` })
    expect(answer.json()).toMatchObject({ slug: old })
    expect(answer.headers['content-location']).toBeUndefined()
  })

  it('lets its workspace take back a former slug after 90 days when nobody has taken it', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const slug = randomSlug()
    await rename(person, workspace.slug, slug)
    clock.advance(91 * day)
    await rename(person, slug, workspace.slug)
    expect(await findWorkspace(service, workspace)).toMatchObject({ slug: workspace.slug })
  })

  it('keeps the last five former slugs, and releases earlier ones', async () => {
    const person = await createPerson()
    const stranger = await createPerson()
    const { slug: first } = await createWorkspace(service, person)
    const slugs = [first, ...Array.from({ length: 6 }, () => randomSlug())]
    for (const [i, slug] of slugs.slice(1).entries()) {
      await rename(person, slugs[i] ?? '', slug)
      clock.advance(1000)
    }
    const answers = await Promise.all(slugs.map((slug) => as(person, { url: `/v1/workspaces/${slug}` })))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 200, 200, 200, 200, 200, 200])
    const take = (slug = '') =>
      as(stranger, { method: 'POST', url: '/v1/workspaces', payload: { name: 'Mine', slug } })
    expectError(await take(slugs[1]), errors.slugTaken)
    expect((await take(first)).statusCode).toBe(200)
  })

  it('keeps each of several former slugs for 90 days from its own rename', async () => {
    const person = await createPerson()
    const { slug: first } = await createWorkspace(service, person)
    const slugs = [first, randomSlug(), randomSlug(), randomSlug()] as const
    for (const i of [1, 2, 3] as const) {
      await rename(person, slugs[(i - 1) as 0 | 1 | 2], slugs[i])
      clock.advance(40 * day)
    }
    const statuses = async () => {
      const answers = await Promise.all(slugs.map((slug) => as(person, { url: `/v1/workspaces/${slug}` })))
      return answers.map((answer) => [answer.statusCode, answer.headers['content-location']])
    }
    const moved = [200, `/v1/workspaces/${slugs[3]}`]
    // 120, 80 and 40 days after their renames.
    expect(await statuses()).toEqual([[404, undefined], moved, moved, [200, undefined]])
    clock.advance(10 * day)
    expect(await statuses()).toEqual([[404, undefined], [404, undefined], moved, [200, undefined]])
    clock.advance(40 * day)
    expect(await statuses()).toEqual([
      [404, undefined],
      [404, undefined],
      [404, undefined],
      [200, undefined],
    ])
  })
})

describe('concurrent requests', () => {
  /** Every slug has one owner, and every workspace the slug that it says it has. */
  const expectConsistent = async (workspaces: { id: string }[]) => {
    for (const workspace of workspaces) {
      const slugs = await findSlugs(service, workspace)
      const row = await findWorkspace(service, workspace)
      expect(Object.keys(slugs).filter((slug) => slugs[slug] === null)).toEqual([row?.slug])
    }
    const rows = await Promise.all(workspaces.map((workspace) => findWorkspace(service, workspace)))
    expect(new Set(rows.map((row) => row?.slug)).size).toBe(workspaces.length)
  }

  const expectStatuses = (answers: LightMyRequestResponse[]) => {
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.slugTaken)
    return answers.filter((answer) => answer.statusCode === 200)
  }

  it('gives a slug to one of 16 requests that rename to it or create with it', async () => {
    for (let round = 0; round < 3; round++) {
      const people = await Promise.all(Array.from({ length: 8 }, () => createPerson()))
      const workspaces = await Promise.all(people.map((person) => createWorkspace(service, person)))
      const slug = randomSlug()
      const answers = await Promise.all(
        people.flatMap((person, i) => [
          as(person, { method: 'POST', url: '/v1/workspaces', payload: { name: 'Created', slug } }),
          as(person, update(workspaces[i]?.slug ?? '', { name: 'Renamed', slug })),
        ]),
      )
      expect(expectStatuses(answers)).toHaveLength(1)
      const owners = await selectRows<{ id: string }>(db, sql`select id from workspaces where slug = ${slug}`)
      expect(owners).toHaveLength(1)
      await expectConsistent([...new Map([...workspaces, ...owners].map((row) => [row.id, row])).values()])
    }
  })

  it('leaves a slug with its workspace during a rename away from it and requests to create with it', async () => {
    for (let round = 0; round < 3; round++) {
      const person = await createPerson()
      const workspace = await createWorkspace(service, person)
      const answers = await Promise.all([
        as(person, update(workspace.slug, { name: 'Acme', slug: randomSlug() })),
        ...Array.from({ length: 6 }, () =>
          as(person, {
            method: 'POST',
            url: '/v1/workspaces',
            payload: { name: 'Taken', slug: workspace.slug },
          }),
        ),
      ])
      expect(answers.map((answer) => answer.statusCode)).toEqual([200, 409, 409, 409, 409, 409, 409])
      await expectConsistent([workspace])
      const [kept] = await selectRows(
        db,
        sql`select workspace_id from workspace_slugs where slug = ${workspace.slug}`,
      )
      expect(kept).toEqual({ workspace_id: workspace.id })
    }
  })

  it('returns 409 to 6 workspaces that exchange their slugs, and each keeps its own', async () => {
    for (let round = 0; round < 3; round++) {
      const person = await createPerson()
      const workspaces = await Promise.all(Array.from({ length: 6 }, () => createWorkspace(service, person)))
      // Each takes the slug of the next one, the last one that of the first.
      const answers = await Promise.all(
        workspaces.map(({ slug }, i) =>
          as(person, update(slug, { name: 'Acme', slug: workspaces[(i + 1) % workspaces.length]?.slug })),
        ),
      )
      for (const answer of answers) expectError(answer, errors.slugTaken)
      await expectConsistent(workspaces)
    }
  })

  it('gives each expired former slug to one workspace', async () => {
    for (let round = 0; round < 3; round++) {
      const person = await createPerson()
      const workspaces = await Promise.all(Array.from({ length: 4 }, () => createWorkspace(service, person)))
      for (const { slug } of workspaces) await rename(person, slug, randomSlug())
      clock.advance(90 * day)
      const former = workspaces.map(({ slug }) => slug)
      const rows = await Promise.all(workspaces.map((workspace) => findWorkspace(service, workspace)))
      const answers = await Promise.all(
        rows.flatMap((row) =>
          former.map((slug) => as(person, update(String(row?.slug), { name: 'Acme', slug }))),
        ),
      )
      expect(expectStatuses(answers).length).toBeGreaterThan(0)
      await expectConsistent(workspaces)
    }
  })

  it('runs renames of one workspace one after another, and keeps every slug', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const slugs = Array.from({ length: formerSlugsMax }, () => randomSlug())
    const answers = await Promise.all(
      slugs.map((slug, i) => as(person, update(workspace.slug, { name: `Name ${i}`, slug }))),
    )
    expect(answers.map((answer) => answer.statusCode)).toEqual(slugs.map(() => 200))
    await expectConsistent([workspace])
    const all = Object.keys(await findSlugs(service, workspace))
    expect(all.toSorted()).toEqual([workspace.slug, ...slugs].toSorted())
    // Each event tells of the step from where the one before it had arrived.
    const steps = (await findEvents(service, workspace))
      .slice(1)
      .map(({ summary }) => /workspace address from (\S+) to (\S+)$/.exec(String(summary))?.slice(1))
    const arrivals = steps.map((step) => step?.[1])
    expect(arrivals.toSorted()).toEqual(slugs.toSorted())
    expect(steps.map((step) => step?.[0])).toEqual([workspace.slug, ...arrivals.slice(0, -1)])
    expect(await findWorkspace(service, workspace)).toMatchObject({ slug: arrivals.at(-1) })
  })

  it('never mixes the name and the domains of two requests', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const owners: TestPerson[] = []
    for (let i = 0; i < 10; i++) {
      const owner = await createPerson({ email: `${crypto.randomUUID()}@d${i}.example` })
      await addMember(service, workspace, owner, 'owner')
      owners.push(owner)
    }
    const answers = await Promise.all(
      owners.map((owner, i) =>
        as(
          owner,
          update(workspace.slug, {
            name: `Name ${i}`,
            slug: workspace.slug,
            allowedDomains: `d${i}.example`,
          }),
        ),
      ),
    )
    expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 200))
    const row = await findWorkspace(service, workspace)
    const winner = /^Name (\d)$/.exec(String(row?.name))?.[1]
    expect(row).toMatchObject({ allowed_domains: [`d${winner}.example`] })
    expect(await findEvents(service, workspace)).toHaveLength(11)
  })
})
