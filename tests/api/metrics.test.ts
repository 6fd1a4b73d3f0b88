import { existsSync, readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { describePool } from '../../src/db/client.ts'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { createLocalStorage } from '../../src/platform/storage/local-storage.ts'
import { createMeasuredStorage } from '../../src/platform/storage/measured-storage.ts'
import { createCompany, randomEmail } from '../support/company.ts'
import { openEventStream } from '../support/event-stream-client.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { createVisitor, password } from '../website/visitor.ts'

const metrics = createMetrics()
const service = await startTestApp({
  meter: metrics.meter,
  eventStreams: streamEventsDefaults,
  environment: {
    DATABASE_URL: await clone(),
    DATA_DIR: await makeFolder(),
    BAD_KEY_LIMIT_PER_MINUTE: '3',
    SIGN_IN_LIMIT_PER_MINUTE: '2',
    REFRESH_LIMIT_PER_HOUR: '1',
  },
})
const { app, as, createPerson, db, services } = service
let isRedisUp = true
const resources = {
  readJobs: services.jobOperations.count,
  readDeliveries: services.countDeliveries,
  readDatabaseStart: services.findDatabaseStart,
}
metrics.observe({
  ...resources,
  pools: { requests: () => describePool(db), jobs: () => describePool(db) },
  isRedisUp: () => isRedisUp,
})

/** The value of a series, written as Prometheus does; undefined if there is none. */
async function valueOf(series: string): Promise<number | undefined> {
  const lines = (await metrics.read()).split('\n')
  const line = lines.find((text) => text.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

/** By how much the value of a series grows meanwhile. */
async function growthOf(series: string, run: () => Promise<unknown>): Promise<number> {
  const before = (await valueOf(series)) ?? 0
  await run()
  return ((await valueOf(series)) ?? 0) - before
}

const durationOf = (operation: string, method: string, status: number) =>
  `workspace_http_request_duration_seconds_count{operation="${operation}",method="${method}",status="${status}"}`

describe('the metrics of requests', () => {
  it('are by operation, method and status, with how long they took', async () => {
    const person = await createPerson()
    const series = durationOf('me.profile', 'GET', 200)
    expect(await growthOf(series, () => as(person, { url: '/v1/me' }))).toBe(1)
    expect(await valueOf(series.replace('_count', '_sum'))).toBeGreaterThan(0)
    const page = durationOf('/sign-in', 'GET', 200)
    expect(await growthOf(page, () => app.inject({ url: '/sign-in' }))).toBe(1)
    const refused = durationOf('me.updateProfile', 'PATCH', 400)
    const change = { method: 'PATCH' as const, url: '/v1/me', payload: {} }
    expect(await growthOf(refused, () => as(person, change))).toBe(1)
    expect(await valueOf('workspace_http_requests_in_flight')).toBe(0)
  })

  it('do not grow with what strangers send: 1,000 unknown paths and methods are a few series', async () => {
    // Those of the process are not made of requests: a first collection of garbage of some kind adds one.
    const countSeries = async () => (await metrics.read()).match(/^workspace_/gm)?.length
    const port = await listen(app)
    await app.inject({ url: '/unknown' })
    await sendRaw(port, 'PROPFIND /unknown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    const before = await countSeries()
    const none = durationOf('none', 'GET', 404)
    expect(
      await growthOf(none, async () => {
        for (let i = 0; i < 1000; i++) await app.inject({ url: `/${i}/unknown/${crypto.randomUUID()}` })
      }),
    ).toBe(1000)
    for (const method of ['MKCOL', 'REPORT', 'SEARCH', 'LOCK'])
      await sendRaw(port, `${method} /unknown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    expect(await countSeries()).toBe(before)
  })

  it('count the errors that were answered, by their codes, each of which has a series from the start', async () => {
    for (const { code } of Object.values(errors))
      expect(await valueOf(`workspace_errors_total{code="${code}"}`)).toBeGreaterThanOrEqual(0)
    // All of one caller.
    const refused = `workspace_errors_total{code="too_many_at_once"}`
    const small = await startTestApp({
      meter: metrics.meter,
      overload: { keepsUpMs: 0 },
      environment: { REQUESTS_AT_ONCE_MAX: '1' },
    })
    const grown = await growthOf(refused, () =>
      Promise.all(Array.from({ length: 20 }, () => small.app.inject({ url: '/sign-in' }))),
    )
    expect(grown).toBeGreaterThan(0)
  })
})

describe('the metrics of credentials', () => {
  it('count invalid keys, and those that the limit refuses', async () => {
    const key = `wsk_${'a'.repeat(43)}`
    const { secret } = await services.apiKeys.create(
      {
        user: await services.accounts.create({ email: randomEmail(), name: 'Kim', isVerified: true }),
        ...{ source: 'system', apiKeyId: null, sessionId: null, grantId: null },
      },
      { name: 'Lost' },
    )
    await db.execute(sql`delete from api_keys where name = 'Lost'`)
    const send = (apiKey: string, remoteAddress = '192.0.2.1') =>
      app.inject({ url: '/v1/me', headers: { 'x-api-key': apiKey }, remoteAddress })
    const refused = 'workspace_bad_credentials_total{kind="bad-key",outcome="refused"}'
    const limited = 'workspace_bad_credentials_total{kind="bad-key",outcome="limited"}'
    // What has not the form of a key is answered without a query, and not counted here.
    expect(await growthOf(refused, () => send(key))).toBe(0)
    expect(await growthOf(refused, () => send(secret))).toBe(1)
    for (let i = 0; i < 2; i++) await send(secret)
    expect(await growthOf(limited, () => send(secret))).toBe(1)
    const hits = 'workspace_rate_limit_hits_total{limiter="bad-key"}'
    expect(await growthOf(hits, () => send(secret))).toBe(1)
  })

  it('count sign-ins by their outcome', async () => {
    const email = randomEmail()
    const { credentials, accounts } = services
    await credentials.signUp({ name: 'Grace', email, password })
    await accounts.verify(String((await accounts.findByEmail(email))?.id))
    const visitor = createVisitor(service)
    const signIn = (chosen: string) => visitor.submit('/sign-in', { email, password: chosen })
    await visitor.get('/sign-in')
    const outcome = (name: string) => `workspace_sign_ins_total{outcome="${name}"}`
    expect(await growthOf(outcome('failed'), () => signIn('a wrong password'))).toBe(1)
    await signIn('a wrong password')
    expect(await growthOf(outcome('limited'), () => signIn(password))).toBe(1)
    const link = new URL(
      (await credentials.createLink('sign_in', String((await accounts.findByEmail(email))?.id))).url,
    )
    await visitor.get(link.pathname)
    expect(await growthOf(outcome('succeeded'), () => visitor.submit(link.pathname))).toBe(1)
  })

  it('count the refreshes of agents by their outcome', async () => {
    const oauth = createOAuthTester(service)
    const outcome = (name: string) => `workspace_agent_refreshes_total{outcome="${name}"}`
    const agent = await oauth.createAgent()
    const { refresh_token: first } = await oauth.getTokens(agent, await oauth.createHost())
    let second = ''
    expect(
      await growthOf(outcome('succeeded'), async () => {
        second = (await oauth.refresh(agent, first)).json<{ refresh_token: string }>().refresh_token
      }),
    ).toBe(1)
    expect(await growthOf(outcome('limited'), () => oauth.refresh(agent, second))).toBe(1)
    expect(await growthOf(outcome('refused'), () => oauth.refresh(agent, 'nonsense'))).toBe(1)
  })
})

describe('the metrics of resources', () => {
  it('have the open streams', async () => {
    const company = await createCompany(service)
    const series = 'workspace_streams{kind="events"}'
    const headers = { authorization: `Bearer ${company.owner.apiKey}` }
    let stream: Awaited<ReturnType<typeof openEventStream>> | undefined
    expect(
      await growthOf(series, async () => {
        stream = await openEventStream(service, `${company.url}/events/stream`, headers)
      }),
    ).toBe(1)
    stream?.disconnect()
    await expect.poll(() => valueOf(series)).toBe(0)
  })

  it('have the connections of pools, and who waits for one, also behind the share of an area', async () => {
    expect(await valueOf('workspace_database_connections_max{pool="requests"}')).toBe(10)
    const series = 'workspace_database_connections_waiting{pool="requests"}'
    expect(await valueOf(series)).toBe(0)
    const held = await Promise.all(Array.from({ length: 10 }, () => db.$client.connect()))
    const person = createPerson()
    try {
      // What the service does by itself, such as recording the use of keys, may wait too.
      await expect.poll(() => valueOf(series)).toBeGreaterThanOrEqual(1)
      expect(await valueOf('workspace_database_connections_idle{pool="requests"}')).toBe(0)
    } finally {
      for (const client of held) client.release()
    }
    await person
    await expect.poll(() => valueOf(series)).toBe(0)
  })

  it('have the jobs, and no numbers of jobs while the database does not answer', async () => {
    await db.execute(sql`select graphile_worker.add_job('x', run_at => now() - interval '70 seconds')`)
    await db.execute(sql`select graphile_worker.add_job('x', run_at => now() + interval '1 hour')`)
    await db.execute(sql`select graphile_worker.add_job('x', max_attempts => 1)`)
    await db.execute(sql`update graphile_worker._private_jobs set attempts = 1 where max_attempts = 1`)
    // It waits for its second attempt, in an hour.
    await db.execute(sql`select graphile_worker.add_job('retried', run_at => now() + interval '1 hour')`)
    await db.execute(sql`
      update graphile_worker._private_jobs jobs set attempts = 1, last_error = 'no', created_at = now() - interval '20 minutes'
      from graphile_worker._private_tasks tasks where tasks.id = jobs.task_id and identifier = 'retried'`)
    const counts = await services.jobOperations.count()
    expect(counts).toMatchObject({ failed: 1, running: 0, retrying: 1 })
    expect(counts.oldestReadySeconds).toBeGreaterThanOrEqual(70)
    expect(counts.oldestReadySeconds).toBeLessThan(1000)
    expect(counts.oldestRetryingSeconds).toBeGreaterThanOrEqual(1200)
    const now = createMetrics()
    now.observe({ ...resources, pools: {} })
    expect(await now.read()).toContain('workspace_jobs{state="retrying"} 1\n')
    expect(await now.read()).toMatch(/workspace_jobs_oldest_seconds\{state="retrying"\} 12\d\d\./)
    const fresh = createMetrics()
    const fail = () => Promise.reject(new Error('down'))
    fresh.observe({ pools: {}, readJobs: fail, readDeliveries: fail, readDatabaseStart: fail })
    expect(await fresh.read()).toContain('workspace_database_up 0')
    expect(await fresh.read()).toContain('workspace_jobs{state="ready"} Nan')
    expect(await fresh.read()).toContain('workspace_webhook_deliveries_waiting Nan')
  })

  it('have whether Redis is connected, where it is used', async () => {
    expect(await valueOf('workspace_redis_up')).toBe(1)
    isRedisUp = false
    expect(await valueOf('workspace_redis_up')).toBe(0)
    const without = createMetrics()
    without.observe({ ...resources, pools: {} })
    expect(await without.read()).not.toContain('workspace_redis_up')
  })

  it('count the attempts to send mails', async () => {
    const person = await createPerson()
    await services.credentials.requestLink('sign_in', person.email, { requestId: 'a request' })
    await services.startJobs()
    await expect.poll(() => valueOf('workspace_mails_total{outcome="sent"}')).toBeGreaterThan(0)
    await expect.poll(() => valueOf('workspace_job_attempts_total{outcome="succeeded"}')).toBeGreaterThan(0)
  })

  it('count the attempts at jobs that fail, by whether another one follows', async () => {
    // PostgreSQL refuses an id that is none.
    const add = (attemptsMax: number) => () =>
      db.execute(sql`
        select graphile_worker.add_job('send_invite', '{"inviteId": "none"}'::json, max_attempts => ${attemptsMax}::int)`)
    for (const [outcome, attemptsMax] of [
      ['failed', 1],
      ['retrying', 25],
    ] as const) {
      const series = `workspace_job_attempts_total{outcome="${outcome}"}`
      const before = await valueOf(series)
      await add(attemptsMax)()
      await expect.poll(() => valueOf(series)).toBe(Number(before) + 1)
    }
  })

  it('count the attempts at deliveries to webhooks, by their outcome', async () => {
    const receiver = await startReceiver()
    const company = await createCompany(service)
    await createWebhook(service, company.owner, company, { url: receiver.url })
    for (const [outcome, status] of [
      ['delivered', 204],
      ['retrying', 500],
    ] as const) {
      receiver.answer((response) => response.writeHead(status).end())
      const series = `workspace_webhook_attempts_total{outcome="${outcome}"}`
      const before = await valueOf(series)
      await createSeed(service, company.owner, company)
      await expect.poll(() => valueOf(series)).toBeGreaterThan(Number(before))
    }
  })

  it('have what waits for webhooks, and the receivers of it that work and that fail', async () => {
    const company = await createCompany(service)
    const before = await services.countDeliveries?.()
    // Of events that are not there, so that nothing is sent.
    const insertWaiting = async (change: string) => {
      const wants = { url: 'https://hooks.example/', types: ['team.created'] }
      const { id } = await createWebhook(service, company.owner, company, wants)
      await db.execute(sql`
        insert into webhook_deliveries (webhook_id, event_id, type, status, attempts, next_attempt_at, created_at)
        select ${id}, gen_random_uuid(), 'seed.created', 'pending', 0, now() - interval '1 hour', now()
        from generate_series(1, 3)`)
      await db.execute(sql.raw(`update webhooks set ${change} where id = '${id}'`))
    }
    await insertWaiting(`failing_since = null`)
    await insertWaiting(`failing_since = now() - interval '2 hours'`)
    await insertWaiting(`disabled_reason = 'failing', failing_since = now() - interval '5 hours'`)
    const after = await services.countDeliveries?.()
    expect(after?.waiting).toBe(Number(before?.waiting) + 9)
    expect(after?.working).toBe(Number(before?.working) + 1)
    expect(after?.failing).toBe(Number(before?.failing) + 1)
    expect(Math.round(Number(after?.oldestDueSeconds) / 60)).toBe(60)
    expect(Math.round(Number(after?.oldestFailingSeconds) / 60)).toBe(120)
    const now = createMetrics()
    now.observe({ ...resources, pools: {} })
    const text = await now.read()
    expect(text).toContain(`workspace_webhook_deliveries_waiting ${after?.waiting}\n`)
    expect(text).toContain(`workspace_webhook_receivers{state="failing"} ${after?.failing}\n`)
    expect(text).toMatch(/workspace_webhook_oldest_seconds\{state="failing"\} 7\d\d\d\./)
  })

  it('count database connections that break, and have when its server was started', async () => {
    const series = 'workspace_database_connections_lost_total{pool="requests"}'
    const before = await valueOf(series)
    const [one, other] = [await db.$client.connect(), await db.$client.connect()]
    const { rows } = await one.query<{ pid: number; start: Date }>(
      'select pg_backend_pid() as pid, pg_postmaster_start_time() as start',
    )
    const { pid, start } = rows[0] ?? {}
    one.release()
    await other.query('select pg_terminate_backend($1)', [pid]).finally(() => other.release())
    await expect.poll(() => valueOf(series)).toBe(Number(before) + 1)
    const startedAt = await valueOf('workspace_database_start_time_seconds')
    expect(Math.round(Number(startedAt))).toBe(Math.round(Number(start) / 1000))
  })

  it('count the requests of the storage by their outcome', async () => {
    const [succeeded, failed] = ['succeeded', 'failed'].map(
      (outcome) => `workspace_storage_requests_total{outcome="${outcome}"}`,
    ) as [string, string]
    const form = buildUpload(await makePng(), { name: 'me.png', type: 'image/png' })
    const person = await createPerson()
    const upload = () => as(person, { method: 'POST', url: '/v1/me/photo', ...form })
    expect(await growthOf(succeeded, upload)).toBeGreaterThan(0)
    const broken = createMeasuredStorage(createLocalStorage('/dev/null/nowhere'), metrics.meter)
    const put = () => broken.put('a', Buffer.from('a')).catch(() => undefined)
    expect(await growthOf(failed, put)).toBe(1)
    const missing = createMeasuredStorage(createLocalStorage(await makeFolder()), metrics.meter)
    expect(await growthOf(succeeded, () => missing.open('a'))).toBe(1)
  })

  // A device on which nothing can be written, as on a full disk.
  it.runIf(existsSync('/dev/full'))(
    'count lines of the audit that cannot be written, and go on',
    async () => {
      const full = await startTestApp({ meter: metrics.meter, environment: { AUDIT_LOG: '/dev/full' } })
      const visitor = createVisitor(full)
      const signIn = async () => {
        await visitor.get('/sign-in')
        const answer = await visitor.post('/sign-in/link', { email: randomEmail() })
        expect(answer.statusCode, answer.body).toBeLessThan(400)
      }
      const grown = () => growthOf('workspace_audit_failures_total', signIn)
      expect(await grown()).toBe(1)
      expect(await grown()).toBe(1)
      expect(full.log.join('\n')).toContain('a line of the audit could not be written')
    },
  )
})

describe('the alerts and the dashboard', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const alerts = read('deploy/prometheus/alerts.yaml').replaceAll(/^ *#.*$/gm, '')
  const dashboard = read('deploy/grafana/workspace.json')
  const namesIn = (text: string) =>
    new Set(
      Array.from(text.matchAll(/\b(?:workspace|nodejs|process)_[a-z0-9_]+/g), ([name]) =>
        name.replace(/(duration_seconds)_(?:bucket|count|sum)$/, '$1'),
      ),
    )

  it('use only names that the service has, and together all that are its own', async () => {
    const text = await metrics.read()
    const known = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => String(name)))
    const used = new Set([...namesIn(alerts), ...namesIn(dashboard)])
    expect([...used].filter((name) => !known.has(name))).toEqual([])
    const own = [...known].filter((name) => name.startsWith('workspace_'))
    expect(own.length).toBeGreaterThan(12)
    expect(own.filter((name) => !used.has(name))).toEqual([])
    const operations = read('docs/operations.md')
    expect(own.filter((name) => !operations.includes(`\`${name}\``))).toEqual([])
  })

  it('say what to do', () => {
    const count = (pattern: RegExp) => alerts.match(pattern)?.length
    const rules = count(/- alert: /g)
    expect(rules).toBeGreaterThan(10)
    for (const field of [
      /^ {8}expr: /gm,
      /^ {10}summary: \S/gm,
      /^ {10}action: \S/gm,
      /severity: (?:page|ticket)/g,
    ])
      expect(count(field)).toBe(rules)
  })
})
