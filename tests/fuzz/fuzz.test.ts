import type { LightMyRequestResponse, RouteOptions } from 'fastify'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { changeStreamsDefaults } from '../../src/website/plugins/change-streams.ts'
import { noteRoutes } from '../support/note-routes.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { addMember, createWorkspace } from '../support/workspaces.ts'
import { cookiesOf, createVisitor, csrfTokenOf } from '../website/visitor.ts'
import { canary, createRandom } from './hostile.ts'
import { makeRequest, type Route, type World } from './requests.ts'

// CI sends more. Anybody may send others: FUZZ_REQUESTS=500000 FUZZ_SEED=$RANDOM npx vitest run tests/fuzz
const count = Number(process.env.FUZZ_REQUESTS ?? 2_000)
const seed = Number(process.env.FUZZ_SEED ?? 1)
const requestsOfWorld = 500

// The MCP endpoint reads its messages itself: they are in no schema.
const callTool = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'read_validation_kit', arguments: {} },
}

const { started: service, routes: registered } = await noteRoutes(() =>
  startTestApp({
    environment: { LOG_LEVEL: 'info' },
    // `inject` waits for the end of a stream.
    changeStreams: { ...changeStreamsDefaults, lifetimeMs: 10 },
  }),
)
const routes = registered.flatMap((route) =>
  [route.method]
    .flat()
    .filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
    .map((method) => toRoute(method as Route['method'], route)),
)
const { app, as, config, createPerson, db, log, services } = service
const oauth = createOAuthTester(service)

/** The MCP endpoint has errors of its own protocol. */
const isMcp = ({ url }: { url: string }) => /^\/agent\/mcp\/?$/.test(url)

function toRoute(method: Route['method'], route: RouteOptions): Route {
  // Read when it is used: plugins that are registered later say who may call it.
  return {
    method,
    url: route.url,
    get access() {
      return String(route.config?.access)
    },
    get body() {
      if (isMcp(route)) return callTool
      const { body } = (route.schema ?? {}) as { body?: { examples?: Record<string, unknown>[] } }
      // Forms of the website take anything.
      return route.config?.openBody ? undefined : body && (body.examples?.[0] ?? {})
    },
    get isUpload() {
      return route.config?.upload === true || route.url.endsWith('/photo') || route.url.endsWith('/icon')
    },
  }
}

/**
 * A person with one of everything, signed in and with an agent, and two others. Each is in two workspaces or invited, in
 * another role in each.
 */
async function createWorld(): Promise<World> {
  const host = await oauth.createHost()
  const [colleague, guest] = [await createPerson(), await createPerson()]
  const others = await createWorkspace(service, colleague)
  await addMember(service, { id: host.workspaceId }, guest, 'member')
  await addMember(service, others, guest, 'admin')
  await addMember(service, others, host, 'viewer')
  const url = `/v1/workspaces/${host.slug}`
  const post = async (path: string, payload?: object, person: { apiKey: string } = host) =>
    (await as(person, { method: 'POST', url: path, ...(payload && { payload }) })).json<
      Record<string, never>
    >()
  const key = await post('/v1/api-keys', { name: 'Second' })
  const invite = await post(`${url}/invites`, { email: colleague.email, role: 'viewer' })
  const { team } = await post(`${url}/teams`, { name: 'Design' })
  const idea = { title: 'An idea', summary: 'In a few words' }
  const seeds = [
    await post(`${url}/seeds`, idea),
    await post(`/v1/workspaces/${others.slug}/seeds`, idea, colleague),
  ]
  const { access_token: accessToken } = await oauth.getTokens(await oauth.createAgent(), host)
  const visitor = createVisitor(service)
  const link = await services.credentials.createLink('sign_in', host.id)
  const { pathname } = new URL(link.url)
  await visitor.get(pathname)
  await visitor.submit(pathname)
  await visitor.get('/settings/security')
  const stranger = createVisitor(service)
  await stranger.get('/sign-in')
  const reset = await services.credentials.createLink('reset_password', host.id)
  const findIds = (value: unknown): string[] =>
    JSON.stringify(value).match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []
  return {
    apiKeys: [host, colleague, guest].map(({ apiKey }) => apiKey),
    accessToken,
    browsers: [visitor, stranger].map((browser) => ({
      cookie: cookiesOf(browser),
      csrf: csrfTokenOf(browser.page()),
    })),
    known: new Map(
      Object.entries({
        slug: [host.slug, others.slug],
        apiKeyId: findIds(key),
        inviteId: findIds(invite),
        teamId: findIds(team),
        seedId: findIds(seeds),
        userId: [colleague.id, host.id, guest.id],
        id: [...findIds(invite), ...findIds(team), ...findIds(seeds)],
        token: [...(/[\w-]{43}/.exec(JSON.stringify(invite)) ?? []), ...(/[\w-]{43}$/.exec(reset.url) ?? [])],
        email: [colleague.email, host.email, guest.email],
        role: ['viewer', 'admin', 'owner'],
        limit: ['1', '200', '0'],
        client_id: [(await oauth.createAgent()).clientId],
        redirect_uri: ['https://agent.example/callback'],
        response_type: ['code'],
        code_challenge_method: ['S256'],
        grant_type: ['authorization_code', 'refresh_token'],
        token_type_hint: ['refresh_token'],
        name: ['Analytics'],
        password: ['a long enough password'],
      }),
    ),
  }
}

/** What is wrong with an answer, whatever was asked; undefined when nothing is. */
function findFault(route: Route, answer: LightMyRequestResponse): string | undefined {
  const { statusCode: status, headers, body } = answer
  const type = String(headers['content-type'] ?? '')
  if (status >= 500) return `answered ${status}`
  if (headers['x-request-id'] === undefined) return 'has no x-request-id'
  // A line of a stack names a function and its place.
  if (/node_modules|\/src\/|\bat \S+ \((?:file:|node:|\/)/.test(body)) return 'shows where the code is'
  if (status >= 300 && status < 400) {
    const to = new URL(String(headers.location), config.webUrl)
    const mayLeave = route.url.startsWith('/agent/oauth') && to.host === 'agent.example'
    return to.origin === config.webUrl || mayLeave ? undefined : `leads to ${to.href}`
  }
  if (status < 400) return undefined
  if (type.startsWith('text/html')) return body.includes('<html') ? undefined : 'is a page that is none'
  if (route.url.startsWith('/agent/oauth') && status !== 404) {
    const { error } = JSON.parse(body) as { error?: string }
    if (error !== undefined) return undefined
  }
  if (isMcp(route) && type.startsWith('application/json') && body.includes('"jsonrpc"')) return undefined
  if (isMcp(route) && status === 405) return undefined
  if (!type.startsWith('application/json')) return `is an error of the type ${type}`
  const { _tag, code, message, requestId } = JSON.parse(body) as Record<string, unknown>
  const isContract = [_tag, code, message, requestId].every((part) => typeof part === 'string')
  return isContract ? undefined : `is an error of another shape: ${body.slice(0, 200)}`
}

/**
 * Writes down every change of a row, by table, from now on: `takeChanges` tells of those since it was last called. When
 * something was last used is written at any time, and counts for nothing.
 */
async function watchDatabase(): Promise<() => Promise<string[]>> {
  await db.execute(sql`create table public.changes (told text not null)`)
  await db.execute(sql`
    create function public.note_change() returns trigger language plpgsql as $$
      begin insert into public.changes values (tg_op || ' ' || tg_table_name); return null; end $$`)
  const tables = await selectRows<{ name: string; columns: string }>(
    db,
    sql`select table_name as name, string_agg(format('%I', column_name), ', ') as columns
        from information_schema.columns
        join information_schema.tables using (table_schema, table_name)
        where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'changes'
          and column_name not like 'last_%' group by 1`,
  )
  expect(tables.length).toBeGreaterThan(15)
  for (const { name, columns } of tables) {
    await db.execute(
      sql.raw(`create trigger note_change after insert or delete or update of ${columns} on public.${name}
        for each row execute function public.note_change()`),
    )
  }
  return async () => {
    const { rows } = await db.execute<{ told: string }>(sql`delete from public.changes returning told`)
    return rows.map(({ told }) => told)
  }
}

it(`responds to ${count} hostile requests (FUZZ_SEED=${seed}) as documented, and logs no secret`, async () => {
  const random = createRandom(seed)
  const faults = new Map<string, string>()
  const statuses = new Set<number>()
  const done = new Set<Route>()
  const secrets: string[] = [canary]
  // Calls of agents are written at any time, as changes of whatever request is sent then.
  await services.agentCalls.close()
  await services.agentOAuth.close()
  const takeChanges = await watchDatabase()
  let changesMade = 0
  let world = await createWorld()
  for (let sent = 0; sent < count; sent++) {
    // Some requests end what they were sent with.
    if (sent % requestsOfWorld === 0) {
      world = await createWorld()
      await takeChanges()
      secrets.push(
        ...world.apiKeys,
        world.accessToken,
        ...world.browsers.flatMap(({ cookie }) => cookie.match(/[\w-]{43}/g) ?? []),
        ...(world.known.get('token') ?? []),
      )
    }
    const [route = random.pick(routes)] = routes.slice(sent % routes.length)
    const request = makeRequest(random, route, world)
    const answer = await app.inject(request)
    statuses.add(answer.statusCode)
    if (answer.statusCode < 400) done.add(route)
    const made = await takeChanges()
    // The note of a form that was sent, which a refusal deletes.
    const isFormForgotten = made.includes('INSERT sent_forms') && made.includes('DELETE sent_forms')
    // The row of a file, which is stored while it arrives.
    const isFileForgotten = made.includes('INSERT pictures') && made.includes('DELETE pictures')
    const changes = made.filter(
      (change) =>
        // The refusal itself, which a retry with the same Idempotency-Key is answered with.
        !change.endsWith(' idempotent_requests') &&
        !(isFormForgotten && change.endsWith(' sent_forms')) &&
        !(isFileForgotten && change.endsWith(' pictures')),
    )
    if (answer.statusCode < 400) changesMade += changes.length
    const isRefused = answer.statusCode >= 400 && answer.statusCode < 500
    const fault =
      findFault(route, answer) ??
      (isRefused && changes.length > 0 ? `was refused and changed ${changes.join(', ')}` : undefined)
    const where = `${route.method} ${route.url} ${fault?.slice(0, 80)}`
    if (fault !== undefined && !faults.has(where))
      faults.set(where, `${fault}\n${JSON.stringify(request).slice(0, 1_500)}\n${answer.body.slice(0, 300)}`)
  }
  const told = log.filter((line) => secrets.some((secret) => secret !== '' && line.includes(secret)))
  expect([...faults].map(([where, what]) => `${where}\n${what}`).join('\n\n')).toBe('')
  expect(told.slice(0, 5)).toEqual([])
  // It got somewhere: much is refused, and much is done.
  expect(routes.length).toBeGreaterThan(120)
  expect([...statuses]).toEqual(expect.arrayContaining([200, 303, 400, 401, 403, 404, 413, 415]))
  expect(done.size).toBeGreaterThan(routes.length / 2)
  expect(changesMade).toBeGreaterThan(count / 100)
  // eslint-disable-next-line no-restricted-syntax -- Half a million requests take an hour.
}, 3_600_000)
