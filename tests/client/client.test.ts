import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import {
  ApiError,
  createClient,
  type Client,
  type ClientOptions,
  type EventsPage,
  type FollowOptions,
  type Retry,
  type WorkspaceEvent,
} from '../../packages/client/src/client.ts'
import { createCompany, createTeam, type TestCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({ environment: {} })
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`
const clientOf = ({ apiKey }: TestPerson, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, apiKey, ...options })

/** A client whose requests are answered by these functions in turn, and what it sent. */
function answeredBy(...answers: (() => Response)[]) {
  return answeredWith({ retryWaitMsMax: 1 }, ...answers)
}

function answeredWith(options: Partial<ClientOptions>, ...answers: (() => Response)[]) {
  const sent: Request[] = []
  const fetch = async (request: Request) => {
    sent.push(request)
    const answer = answers[sent.length - 1]
    if (!answer) throw new Error('it asked once more')
    return answer()
  }
  return { sent, client: createClient({ baseUrl: 'http://service', apiKey: 'wsk_x', fetch, ...options }) }
}
const ok = () => Response.json({ ok: true })
const refused = (status: number, headers: Record<string, string> = {}, code = 'x') =>
  Response.json({ code }, { status, headers })
const gone = () => refused(404, {}, 'not_found')
const inFlight = () => refused(409, { 'retry-after': '1' }, 'idempotency_in_flight')
const failuresForNow = [408, 429, 500, 502, 503, 504]
/** A stream of these parts, which ends then, or breaks by an error. */
const streamOf = (...parts: (string | Error)[]) => {
  const left = [...parts]
  return new Response(
    new ReadableStream({
      pull: (controller) => {
        const part = left.shift()
        if (part === undefined) controller.close()
        else if (part instanceof Error) controller.error(part)
        else controller.enqueue(new TextEncoder().encode(part))
      },
    }),
  )
}
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
        await eventually(() => expect(running.length).toBe(Math.min(atOnce, left)))
        most = Math.max(most, running.length)
        running.shift()?.()
      }
      await Promise.all(calls)
      expect(most).toBe(atOnce)
    }
  })

  it('passes on what a newer service adds: fields, values and codes', async () => {
    const seed = { id: 'a', status: 'paused', colour: 'red' }
    const { client } = answeredBy(
      () => Response.json(seed),
      () => refused(409),
    )
    const path = { id: 'a' }
    expect(await client.get('/v1/seeds/{id}', { params: { path } })).toEqual(seed)
    await expect(client.get('/v1/seeds/{id}', { params: { path } })).rejects.toMatchObject({ code: 'x' })
  })

  it('throws an error without a code when the answer is not of the service', async () => {
    const { client } = answeredWith({ retries: 0 }, () => new Response('<html>', { status: 502 }))
    await expect(client.get('/v1/me')).rejects.toMatchObject({ code: 'unknown', status: 502 })
  })

  it('is not possible without an API key', () => {
    for (const apiKey of [process.env.NO_SUCH_VARIABLE, ''])
      expect(() => createClient({ baseUrl, apiKey })).toThrow(/^apiKey is missing: is the environment var/)
  })
})

describe('a request that fails for now', () => {
  const path = { id: 'a' }
  const body = { title: 'New' }

  it('is sent again with its body and the same Idempotency-Key', async () => {
    const { client, sent } = answeredBy(broken, () => refused(503), broken, inFlight, ok)
    await client.post('/v1/workspaces', { body: { name: 'Acme', slug: 'acme' } })
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    const bodies = await Promise.all(sent.slice(-2).map((request) => request.text()))
    expect(bodies).toEqual(Array(2).fill(JSON.stringify({ name: 'Acme', slug: 'acme' })))
  })

  it.each([...failuresForNow, 'network'])('is sent again with every method: %s', async (failure) => {
    const fails = () => (typeof failure === 'number' ? refused(failure) : broken())
    for (const call of [
      (client: Client) => client.get('/v1/me'),
      (client: Client) =>
        client.put('/v1/api-keys/{apiKeyId}/restrictions', { params: { path: { apiKeyId: 'a' } } } as never),
      (client: Client) => client.patch('/v1/seeds/{id}', { params: { path }, body }),
      (client: Client) => client.delete('/v1/seeds/{id}', { params: { path } }),
      (client: Client) => client.post('/v1/workspaces', { body: { name: 'Acme', slug: 'acme' } }),
    ]) {
      const { client, sent } = answeredBy(fails, fails, ok)
      expect(await call(client)).toEqual({ ok: true })
      expect(sent).toHaveLength(3)
    }
  })

  it('is sent again when its response breaks off', async () => {
    const breaksOff = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            controller.error(new TypeError('terminated'))
          },
        }),
      )
    const { client, sent } = answeredBy(breaksOff, ok)
    expect(await client.get('/v1/me')).toEqual({ ok: true })
    expect(sent).toHaveLength(2)
  })

  it('waits as long as Retry-After says', async () => {
    const { client } = answeredWith({}, () => refused(429, { 'retry-after': '1' }), ok)
    const begin = performance.now()
    await client.get('/v1/me')
    expect(performance.now() - begin).toBeGreaterThan(990)
  })

  it('ends at once when it is to wait for longer than it may', async () => {
    const { client, sent } = answeredWith({ retryWaitMsMax: 2_000 }, () =>
      refused(429, { 'retry-after': '3' }),
    )
    await expect(client.get('/v1/me')).rejects.toMatchObject({ status: 429, retryAfterMs: 3_000 })
    expect(sent).toHaveLength(1)
  })

  it('fails with the last error after the retries, and at once for other errors', async () => {
    const never = answeredWith({ retries: 1, retryWaitMsMax: 1 }, broken, () => refused(503))
    await expect(never.client.get('/v1/me')).rejects.toMatchObject({ status: 503 })
    expect(never.sent).toHaveLength(2)
    const byDefault = answeredBy(...Array.from({ length: 6 }, () => broken))
    await expect(byDefault.client.get('/v1/me')).rejects.toThrow('fetch failed')
    expect(byDefault.sent).toHaveLength(6)
    for (const status of [400, 401, 403, 404, 409, 501]) {
      const { client, sent } = answeredBy(() => refused(status))
      await expect(client.get('/v1/me')).rejects.toMatchObject({ status, mayHaveHappened: false })
      expect(sent).toHaveLength(1)
    }
  })

  it('waits while it is executed, beyond the retries', async () => {
    const { client, sent } = answeredBy(...Array.from({ length: 9 }, () => inFlight), ok)
    await client.post('/v1/workspaces', { body: { name: 'Acme', slug: 'acme' } })
    expect(sent).toHaveLength(10)
  })

  it('has succeeded as a DELETE when what it may have removed is not there', async () => {
    const remove = (client: Client) => client.delete('/v1/seeds/{id}', { params: { path } })
    for (const failure of [broken, () => refused(502)])
      expect(await remove(answeredBy(failure, gone).client)).toEqual({ ok: true })
    // 429 says that nothing was removed, and another 404 may be of a proxy.
    for (const answers of [[gone], [() => refused(429), gone], [broken, () => refused(404)]])
      await expect(remove(answeredBy(...answers).client)).rejects.toMatchObject({ status: 404 })
    const read = answeredBy(broken, gone).client.get('/v1/seeds/{id}', { params: { path } })
    await expect(read).rejects.toMatchObject({ status: 404, mayHaveHappened: false })
  })

  it('says of a change that is refused the second time that it may have happened', async () => {
    const edit = (client: Client) => client.patch('/v1/seeds/{id}', { params: { path }, body })
    const changed = () => refused(412)
    for (const failure of [broken, () => refused(504)])
      await expect(edit(answeredBy(failure, changed).client)).rejects.toMatchObject({
        status: 412,
        mayHaveHappened: true,
      })
    for (const answers of [[changed], [() => refused(429), changed]])
      await expect(edit(answeredBy(...answers).client)).rejects.toMatchObject({
        status: 412,
        mayHaveHappened: false,
      })
    const once = answeredWith({ retries: 0 }, () => refused(502))
    await expect(edit(once.client)).rejects.toMatchObject({ status: 502, mayHaveHappened: true })
  })

  it('is not sent again when its body is a stream', async () => {
    const stream = () => new Blob(['x']).stream()
    async function* parts() {
      yield* stream()
    }
    for (const body of [stream(), parts()]) {
      const { client, sent } = answeredBy(broken)
      const options = { body, bodySerializer: (given: unknown) => given, duplex: 'half' }
      await expect(client.post('/v1/me/photo', options as never)).rejects.toThrow('fetch failed')
      expect(sent).toHaveLength(1)
    }
    const form = new FormData()
    form.append('file', new Blob(['x']))
    const { client, sent } = answeredBy(broken, ok)
    await client.post('/v1/me/photo', { body: form } as never)
    expect(sent).toHaveLength(2)
  })

  it('is not sent again after it was aborted', async () => {
    const { client, sent } = answeredWith({}, () => refused(503, { 'retry-after': '60' }))
    const controller = new AbortController()
    const call = client.get('/v1/me', { signal: controller.signal })
    await eventually(() => expect(sent).toHaveLength(1))
    controller.abort()
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

  it.each([false, true])('has the filters of the feed, by a stream: %s', async (stream) => {
    const company = await createCompany(service)
    const client = clientOf(company.owner)
    const params = { path: { slug: company.workspace.slug } }
    const create = (title: string) =>
      client.post('/v1/workspaces/{slug}/seeds', { params, body: { title, summary: 'Why' } })
    const [one, other] = [await create('One'), await create('Other')]
    const summaries = async (options: FollowOptions) =>
      (await follow(company, 1, { stream, ...options })).events.map(({ type, targetId }) => [type, targetId])
    expect(await summaries({ seedId: other.seed.id })).toEqual([['seed.created', other.seed.id]])
    const withoutOthers = { notTypes: ['workspace.created'] as const, types: undefined }
    expect((await summaries(withoutOthers))[0]).toEqual(['seed.created', one.seed.id])
    const controller = new AbortController()
    const byNobody = client.follow(company.workspace.slug, {
      ...{ stream, grantId: randomUUID(), intervalMs: 10, signal: controller.signal },
    })
    setTimeout(() => controller.abort(), 100)
    expect(await byNobody.next()).toEqual({ done: true, value: undefined })
  })

  it('yields events as they happen by a stream, which ends with the loop', async () => {
    const company = await createCompany(service)
    const reading = follow(company, 3, { stream: true })
    for (const name of ['One', 'Two']) await createTeam(service, company.owner, company, name)
    const { events, cursor } = await reading
    expect(events.map(({ type }) => type)).toEqual(['workspace.created', 'team.created', 'team.created'])
    await createTeam(service, company.owner, company, 'Three')
    const later = await follow(company, 1, { after: cursor })
    expect(later.events.map(({ summary }) => summary)).toEqual([expect.stringMatching(/Three$/)])
  })

  it('goes on from the cursor when the stream ends or breaks, and says why', async () => {
    const { client, sent } = answeredBy(
      () => Response.json({ events: [], cursor: 'c0', hasMore: false }),
      () => streamOf('retry: 1\n\nid: c1\nda', 'ta: {"summary":"One"}\r\n\r\nid: c2\ndata: {"summa'),
      // Behind events that are not for us.
      () => streamOf(':\nid: c3\n\n', new TypeError('terminated')),
      broken,
      () => refused(503),
      () => streamOf('id: c4\ndata: {"summary":"Two"}\n\nid: c5\ndata: {"summary":"Three"}\n\n'),
    )
    const failed: unknown[] = []
    const onRetry = ({ error, failures }: Retry) => failed.push([failures, String(error)])
    const pages = client.follow('acme', { after: 'now', stream: true, onRetry })
    const summaries = (page: IteratorResult<EventsPage, void>) =>
      page.done ? [] : [page.value.cursor, ...page.value.events.map(({ summary }) => summary)]
    expect(summaries(await pages.next())).toEqual(['c1', 'One'])
    expect(summaries(await pages.next())).toEqual(['c5', 'Two', 'Three'])
    await pages.return()
    const asked = sent.map(({ url }) => url.replace(/.*\//, ''))
    expect(asked).toEqual([
      'changes?after=now',
      'stream?after=c0',
      'stream?after=c1',
      ...Array<string>(3).fill('stream?after=c3'),
    ])
    expect(failed).toEqual([
      [1, 'TypeError: terminated'],
      [1, 'TypeError: fetch failed'],
      [2, 'ApiError: The answer has the status 503.'],
    ])
  })

  it.each([false, true])('never ends while the service is away, by a stream: %s', async (stream) => {
    let failures = 0
    const fetch = async (request: Request) => {
      failures += 1
      if (failures <= 40) return failures % 2 === 0 ? refused(502, { 'retry-after': '3600' }) : broken()
      return request.url.includes('/stream?')
        ? streamOf('id: c1\ndata: {"summary":"One"}\n\n')
        : Response.json({ events: [{ summary: 'One' }], cursor: 'c1', hasMore: true })
    }
    const client = createClient({ baseUrl: 'http://service', apiKey: 'x', fetch, retryWaitMsMax: 1 })
    const warnings: string[] = []
    const onWarning = (message: string) => warnings.push(message)
    const pages = client.follow('acme', { after: 'c0', stream, onWarning })
    expect(await pages.next()).toMatchObject({ value: { cursor: 'c1', events: [{ summary: 'One' }] } })
    await pages.return()
    expect(warnings).toHaveLength(40)
    expect(new Set(warnings)).toEqual(
      new Set(
        ['TypeError: fetch failed', 'ApiError: The answer has the status 502.'].map(
          (error) => `The events of the workspace cannot be read now (${error}). The next attempt is in 1 s.`,
        ),
      ),
    )
  })

  it('connects again when a stream is silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const sent: Request[] = []
      const fetch = async (request: Request) => {
        sent.push(request)
        if (sent.length > 1) return streamOf('id: c1\ndata: {"summary":"One"}\n\n')
        const silent = new ReadableStream({
          start: (controller) => {
            request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
          },
        })
        return new Response(silent)
      }
      const client = createClient({ baseUrl: 'http://service', apiKey: 'x', fetch })
      const failed: number[] = []
      const onRetry = (retry: Retry) => failed.push(retry.failures)
      const next = client.follow('acme', { after: 'c0', stream: true, onRetry }).next()
      // Not `eventually`, which lets the time of these timers pass while it waits.
      while (vi.getTimerCount() !== 1) await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(44_000)
      expect(failed).toEqual([])
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await next).toMatchObject({ value: { cursor: 'c1' } })
      expect(failed).toEqual([1])
    } finally {
      vi.useRealTimers()
    }
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
