import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import {
  ApiError,
  createClient,
  type ClientOptions,
  type WorkspaceEvent,
} from '../../packages/client/src/client.ts'
import { createCompany, createTeam, type TestCompany } from '../support/company.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`
const clientOf = ({ apiKey }: TestPerson, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, apiKey, ...options })

/** A client whose requests are answered by these functions in turn, and what it sent. */
function answeredBy(...answers: (() => Response)[]) {
  const sent: Request[] = []
  const fetch = async (request: Request) => {
    sent.push(request)
    const answer = answers[sent.length - 1]
    if (!answer) throw new Error('it asked once more')
    return answer()
  }
  return { sent, client: createClient({ baseUrl: 'http://service', apiKey: 'wsk_x', fetch }) }
}
const ok = () => Response.json({ ok: true })
const refused = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ code: 'x' }, { status, headers })
const broken = () => {
  throw new TypeError('fetch failed')
}

describe('a call', () => {
  it('resolves to the body of the response, with its type', async () => {
    const person = await service.createPerson({ name: 'Ada' })
    const client = clientOf(person)
    const profile = await client.get('/v1/me')
    const email: string = profile.email
    expect(email).toBe(person.email)
    const slug = randomSlug()
    const created = await client.post('/v1/workspaces', { body: { name: 'Acme', slug } })
    const got = await client.get('/v1/workspaces/{slug}', { params: { path: { slug } } })
    expect(got.workspaceId).toBe(created.workspace.id)
    expect(await client.get('/v1/me/home')).toBe(`/w/${slug}`)
    await client.patch('/v1/me', { body: { name: 'Ada L.' } })
    expect((await client.get('/v1/me')).name).toBe('Ada L.')
    // @ts-expect-error -- it has no such field
    expect(profile.nothing).toBeUndefined()
  })

  it('throws an error with its code, and with what is wrong', async () => {
    const company = await createCompany(service)
    const client = clientOf(company.owner)
    const body = { name: 'Acme', slug: company.workspace.slug }
    const taken = await client.post('/v1/workspaces', { body }).catch((error: unknown) => error)
    expect(taken).toBeInstanceOf(ApiError)
    expect(taken).toMatchObject({ code: 'slug_taken', status: 409, issues: [] })
    expect((taken as ApiError).requestId).toMatch(/^\S+$/)
    // @ts-expect-error -- no operation answers this code
    expect((taken as ApiError).code === 'nothing_known').toBe(false)

    const invalid = client.post('/v1/workspaces', { body: { ...body, slug: 5 as never } })
    await expect(invalid).rejects.toMatchObject({
      code: 'decode_error',
      issues: [{ _tag: 'Type', path: ['slug'] }],
    })
    const stranger = createClient({ baseUrl, apiKey: 'wsk_nothing' })
    await expect(stranger.get('/v1/me')).rejects.toMatchObject({ status: 401 })
  })

  it('sends eight requests at once, or as many as is said', async () => {
    for (const [options, atOnce] of [
      [{}, 8],
      [{ requestsAtOnceMax: 3 }, 3],
    ] as const) {
      const running: (() => void)[] = []
      const fetch = () =>
        new Promise<Response>((resolve) => running.push(() => resolve(Response.json({ ok: true }))))
      const client = createClient({ baseUrl: 'http://service', apiKey: 'wsk_x', fetch, ...options })
      const calls = Array.from({ length: 20 }, () => client.get('/v1/me'))
      let most = 0
      for (let left = 20; left > 0; left -= 1) {
        await vi.waitFor(() => expect(running.length).toBe(Math.min(atOnce, left)))
        most = Math.max(most, running.length)
        running.shift()?.()
      }
      await Promise.all(calls)
      expect(most).toBe(atOnce)
    }
  })

  it('throws an error without a code when the answer is not of the service', async () => {
    const { client } = answeredBy(() => new Response('<html>', { status: 502 }))
    await expect(client.get('/v1/me')).rejects.toMatchObject({ code: 'unknown', status: 502 })
  })
})

describe('a request that fails for now', () => {
  it('is sent again with its body and the same Idempotency-Key', async () => {
    const { client, sent } = answeredBy(
      () => refused(503, { 'retry-after': '0' }),
      broken,
      () => refused(429, { 'retry-after': '0' }),
      () => refused(409, { 'retry-after': '0' }),
      ok,
    )
    await client.post('/v1/workspaces', { body: { name: 'Acme', slug: 'acme' } })
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    const bodies = await Promise.all(sent.slice(-2).map((request) => request.text()))
    expect(bodies).toEqual(Array(2).fill(JSON.stringify({ name: 'Acme', slug: 'acme' })))
  })

  it('waits as long as Retry-After says', async () => {
    const { client } = answeredBy(() => refused(429, { 'retry-after': '1' }), ok)
    const begin = performance.now()
    await client.get('/v1/me')
    expect(performance.now() - begin).toBeGreaterThan(990)
  })

  it('fails with the last error after the retries, and at once for other errors', async () => {
    const never = createClient({
      baseUrl: 'http://service',
      apiKey: 'x',
      retries: 1,
      fetch: async () => refused(503, { 'retry-after': '0' }),
    })
    await expect(never.get('/v1/me')).rejects.toMatchObject({ status: 503 })
    for (const status of [400, 401, 403, 404, 409, 500]) {
      const { client, sent } = answeredBy(() => refused(status))
      await expect(client.get('/v1/me')).rejects.toMatchObject({ status })
      expect(sent).toHaveLength(1)
    }
  })

  it('is not sent again after it was aborted', async () => {
    const { client, sent } = answeredBy(() => refused(503, { 'retry-after': '60' }))
    const controller = new AbortController()
    const call = client.get('/v1/me', { signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    await expect(call).rejects.toThrow(/abort/)
    expect(sent).toHaveLength(1)
  })
})

describe('a list', () => {
  it('has all items, page by page, as they are asked for', async () => {
    const company = await createCompany(service)
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
      await createTeam(service, company.owner, company, name)
    let requests = 0
    const client = clientOf(company.owner, {
      fetch: (request) => {
        requests += 1
        return fetch(request)
      },
    })
    const names: string[] = []
    const params = { path: { slug: company.workspace.slug }, query: { limit: 2 } }
    for await (const team of client.list('/v1/workspaces/{slug}/teams', { params })) {
      names.push(team.name)
      if (names.length === 3) expect(requests).toBe(2)
    }
    expect(names).toEqual(['One', 'Two', 'Three', 'Four', 'Five'])
    expect(requests).toBe(3)
    // @ts-expect-error -- it is no list in pages
    client.list('/v1/me')
  })
})

describe('following', () => {
  /** Reads events until there are as many, or the loop ends. */
  async function follow(company: TestCompany, count: number, options = {}) {
    const events: WorkspaceEvent[] = []
    let last = ''
    for await (const page of clientOf(company.owner).follow(company.workspace.slug, {
      intervalMs: 10,
      ...options,
    })) {
      events.push(...page.events)
      last = page.cursor
      if (events.length >= count) break
    }
    return { events, cursor: last }
  }

  it('yields each event once, as they happen, and goes on from a cursor', async () => {
    const company = await createCompany(service)
    const first = await follow(company, 1)
    expect(first.events.map(({ type }) => type)).toEqual(['workspace.created'])
    const reading = follow(company, 2, { after: first.cursor })
    for (const name of ['One', 'Two']) await createTeam(service, company.owner, company, name)
    const { events } = await reading
    const names = events.map((event) => (event.type === 'team.created' ? event.data.teamName : undefined))
    expect(names).toEqual(['One', 'Two'])
  })

  it('yields only some types, and begins now if asked to', async () => {
    const company = await createCompany(service)
    await createTeam(service, company.owner, company, 'Before')
    const { events } = await follow(company, 1, { types: ['team.created'] })
    expect(events.map(({ summary }) => summary)).toEqual([expect.stringMatching(/Before$/)])
    const client = clientOf(company.owner)
    const path = { slug: company.workspace.slug }
    const { cursor } = await client.get('/v1/workspaces/{slug}/events/changes', {
      params: { path, query: { after: 'now' } },
    })
    await createTeam(service, company.owner, company, 'After')
    const later = await follow(company, 1, { after: cursor, types: ['team.created'] })
    expect(later.events.map(({ summary }) => summary)).toEqual([expect.stringMatching(/After$/)])
  })

  it('leaves out the types that the service refuses, with a warning', async () => {
    const company = await createCompany(service)
    await createTeam(service, company.owner, company, 'One')
    const warnings: string[] = []
    const later = ['seed.eaten', 'seed.sold'] as never[]
    const options = { onWarning: (message: string) => warnings.push(message) }
    const { events } = await follow(company, 1, { ...options, types: ['team.created', ...later] })
    expect(events.map(({ type }) => type)).toEqual(['team.created'])
    expect(warnings).toEqual([
      'The service does not know these types of events, which are left out: seed.eaten, seed.sold.',
    ])
  })

  it('warns on the console by default', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    try {
      const company = await createCompany(service)
      await follow(company, 1, { types: ['workspace.created', 'seed.eaten'] })
      expect(warn.mock.calls).toEqual([[expect.stringContaining('left out: seed.eaten.')]])
    } finally {
      warn.mockRestore()
    }
  })

  it('throws if the service knows none of the types', async () => {
    const company = await createCompany(service)
    await expect(follow(company, 1, { types: ['seed.eaten'] })).rejects.toMatchObject({
      code: 'event_type_unknown',
    })
  })

  it('ends without an error when it is aborted, also while it waits', async () => {
    const company = await createCompany(service)
    const controller = new AbortController()
    const pages = []
    for await (const page of clientOf(company.owner).follow(company.workspace.slug, {
      intervalMs: 60_000,
      signal: controller.signal,
    })) {
      pages.push(page)
      setTimeout(() => controller.abort(), 20)
    }
    expect(pages).toHaveLength(1)
  })

  it('throws for a cursor of another workspace, and for a workspace that is not there', async () => {
    const [one, other] = [await createCompany(service), await createCompany(service)]
    const { cursor } = await follow(other, 1)
    await expect(follow(one, 1, { after: cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
    const nowhere = clientOf(one.owner).follow(`none-${randomUUID().slice(0, 8)}`)
    await expect(nowhere.next()).rejects.toMatchObject({ code: 'not_found' })
  })
})
