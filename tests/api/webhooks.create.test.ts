import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWebhook } from '../support/webhooks.ts'
import { eventBy, findEvents, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, db } = service
const url = 'https://hooks.example.com/workspace'

const findWebhooks = ({ id }: { id: string }) =>
  selectRows<{ url: string; sealed_secret: Buffer }>(
    db,
    sql`select * from webhooks where workspace_id = ${id} order by created_at, id`,
  )

describe('200', () => {
  it('adds a webhook, returns its secret once, and appends an event without the path of the URL', async () => {
    const { url: path, workspace, admin } = await createCompany(service)
    const body = {
      url: 'HTTPS://Hooks.Example.com:8443/T0/ä?key=1#part',
      types: ['seed.created', 'seed.created'],
    }
    const answer = await as(admin, post(`${path}/webhooks`, { ...body, description: ' To the chat \r\n' }))
    expect(answer.statusCode, answer.body).toBe(200)
    const { webhook, secret } = answer.json<{ webhook: { id: string }; secret: string }>()
    expect(answer.json()).toEqual({
      ok: true,
      webhook: {
        id: webhook.id,
        url: 'https://hooks.example.com:8443/T0/%C3%A4?key=1',
        description: 'To the chat',
        format: null,
        types: ['seed.created'],
        seedIds: [],
        teamIds: [],
        labelIds: [],
        status: 'active',
        disabledReason: null,
        createdAt: clock.now().toISOString(),
        lastDeliveryAt: null,
        lastFailureAt: null,
        failingSince: null,
        pausedUntil: null,
        pauseReason: null,
        secretCreatedAt: clock.now().toISOString(),
        formerSecretsUntil: [],
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    })
    expect((await as(admin, get(`${path}/webhooks`))).json()).toEqual([webhook])
    const read = await as(admin, get(`${path}/webhooks/${webhook.id}`))
    expect(read.json()).toEqual(webhook)
    expect(read.body).not.toContain('whsec_')
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'webhook', id: webhook.id },
        { type: 'webhook.created', summary: 'Adam Admin added a webhook to hooks.example.com:8443' },
      ),
    )
    const [row] = await findWebhooks(workspace)
    const key = Buffer.from(secret.slice(6), 'base64')
    for (const clear of [Buffer.from(secret), key])
      expect(Buffer.from(row?.sealed_secret ?? []).includes(clear)).toBe(false)
  })

  it('needs only a URL, and allows http on this machine outside of production', async () => {
    const { url: path, owner } = await createCompany(service)
    for (const local of ['http://localhost:4000/hook', 'http://127.0.0.1/', 'http://[::1]:1/']) {
      const answer = await as(owner, post(`${path}/webhooks`, { url: local, description: '' }))
      expect(answer.json()).toMatchObject({ webhook: { url: local, types: [], description: null } })
    }
  })

  it('returns the same secret to a repetition with the same Idempotency-Key, and stores it encrypted', async () => {
    const { url: path, workspace, owner } = await createCompany(service)
    const request = { ...post(`${path}/webhooks`, { url }), headers: { 'idempotency-key': randomSlug() } }
    const [first, second] = [await as(owner, request), await as(owner, request)]
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.body).toBe(first.body)
    expect(await findWebhooks(workspace)).toHaveLength(1)
    const { secret } = first.json<{ secret: string }>()
    const stored = await selectRows(
      db,
      sql`select 1 from idempotent_requests where position(${Buffer.from(secret)}::bytea in sealed_body) > 0`,
    )
    expect(stored).toEqual([])
    expect(service.log.join()).not.toContain('whsec_')
  })
})

describe('400', () => {
  it.each([
    ['http', 'http://hooks.example.com/'],
    ['another scheme', 'ftp://hooks.example.com/'],
    ['a script', 'javascript:alert(1)'],
    ['a user name', 'https://grace@hooks.example.com/'],
    ['a password', 'https://:secret@hooks.example.com/'],
    ['no host', 'https://'],
    ['no URL', 'hooks.example.com'],
    ['http on a name that begins like this machine', 'http://localhost.example.com/'],
    ['http on another machine of the network', 'http://10.0.0.1/'],
    ['NUL in the host', 'https://a\0b.example.com/'],
    ['a URL that is too long once it is escaped', `https://hooks.example.com/${'ä'.repeat(1_900)}`],
  ])('returns webhook_url_invalid for %s, and adds nothing', async (_name, invalid) => {
    const { url: path, workspace, owner } = await createCompany(service)
    expectError(await as(owner, post(`${path}/webhooks`, { url: invalid })), errors.webhookUrlInvalid, {
      field: 'url',
    })
    expect(await findWebhooks(workspace)).toEqual([])
  })

  it.each([
    ['no URL', {}, 'Missing', ['url']],
    ['an empty URL', { url: '' }, 'Refinement', ['url']],
    ['a URL of 2,001 characters', { url: `https://x.example/${'a'.repeat(1_983)}` }, 'Refinement', ['url']],
    ['a type with NUL', { url, types: ['seed\0'] }, 'Refinement', ['types', 0]],
    ['101 types', { url, types: Array(101).fill('seed.created') }, 'Refinement', ['types']],
    ['a description of 201 characters', { url, description: 'x'.repeat(201) }, 'Refinement', ['description']],
    ['a secret of the caller', { url, secret: 'whsec_AAAA' }, 'Unexpected', ['secret']],
  ])('returns decode_error for %s, and adds nothing', async (_name, body, tag, field) => {
    const { url: path, workspace, owner } = await createCompany(service)
    const answer = await as(owner, post(`${path}/webhooks`, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: tag, path: field }])
    expect(await findWebhooks(workspace)).toEqual([])
  })

  it('returns event_type_unknown for a type that does not exist, and adds nothing', async () => {
    const { url: path, workspace, owner } = await createCompany(service)
    for (const type of ['seed', 'seed.eaten', 'toString', 'SEED.CREATED', '']) {
      const answer = await as(owner, post(`${path}/webhooks`, { url, types: ['seed.created', type] }))
      expectError(answer, errors.eventTypeUnknown, { field: 'types' })
    }
    expect(await findWebhooks(workspace)).toEqual([])
  })

  it('returns webhook_url_invalid for http on this machine in production', async () => {
    const production = await startTestApp({
      environment: { BASE_URL: 'https://api.example.com', WEB_URL: 'https://app.example.com' },
    })
    const { url: path, owner } = await createCompany(production)
    const answer = await production.as(owner, post(`${path}/webhooks`, { url: 'http://127.0.0.1:4000/' }))
    expectError(answer, errors.webhookUrlInvalid, { field: 'url' })
  })
})

describe('401 and 403', () => {
  it('returns 401 without a key, and 403 to members, viewers and strangers', async () => {
    const { url: path, workspace, member, viewer } = await createCompany(service)
    const request = post(`${path}/webhooks`, { url })
    expectError(await app.inject(request), errors.apiKeyRequired)
    for (const person of [member, viewer]) expectError(await as(person, request), errors.roleInsufficient)
    expectError(await as(await service.createPerson(), request), errors.notAMember)
    expect(await findWebhooks(workspace)).toEqual([])
  })
})

describe('409', () => {
  it('returns webhook_limit for the 21st webhook, also at the same moment', async () => {
    const company = await createCompany(service)
    const { owner, url: path, workspace } = company
    for (let i = 0; i < 19; i++) await createWebhook(service, owner, company, { url })
    const answers = await Promise.all([1, 2, 3].map(() => as(owner, post(`${path}/webhooks`, { url }))))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409])
    for (const answer of answers) if (answer.statusCode === 409) expectError(answer, errors.webhookLimit)
    expect(await findWebhooks(workspace)).toHaveLength(20)
  })
})
