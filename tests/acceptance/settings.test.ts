import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import {
  call,
  copyInstallation,
  findPort,
  keyOf,
  launchService,
  makeDirectory,
  root,
  runAdmin,
  startService,
  stopService,
  untilNothingRunsIn,
} from './service.ts'

/** A key of the right form, so that the database is asked for it. */
const unknownKey = 'wsk_0000000000000000000000000000003qGrRG'

describe('METRICS_PORT', () => {
  it('serves metrics on a port of its own, and not on that of the service', async () => {
    const { dataDir } = await copyInstallation()
    const metricsPort = await findPort()
    const service = await startService({ dataDir, environment: { METRICS_PORT: String(metricsPort) } })
    await call(service, 'GET /health')
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const text = await answer.text()
    expect(text).toMatch(/_count\{operation="system.health",method="GET",status="200"\} [1-9]/)
    expect(text).toMatch(/^workspace_database_up 1$/m)
    expect(text).toMatch(/^workspace_database_connections_max\{pool="jobs"\} 3$/m)
    expect((await fetch(`http://127.0.0.1:${metricsPort}/other`)).status).toBe(404)
    expect((await call(service, 'GET /metrics')).status).toBe(404)
    await stopService(service)
    await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow()
  })

  it('is refused when it is the port of the service, or in use', async () => {
    const { dataDir, port } = { dataDir: await makeDirectory(), port: await findPort() }
    const same = await launchService({ dataDir, port, environment: { METRICS_PORT: String(port) } })
    expect(await same.ended).toEqual({ code: 1, signal: null })
    expect(same.stderr()).toContain('METRICS_PORT must not be PORT')
    const { port: used } = await startService({ dataDir: (await copyInstallation()).dataDir })
    const taken = await launchService({
      dataDir,
      environment: { METRICS_PORT: String(used), METRICS_HOST: '127.0.0.1' },
    })
    expect(await taken.ended).toEqual({ code: 1, signal: null })
    expect(taken.stderr()).toContain(`Port ${used} is in use. Set METRICS_PORT to another one.`)
  })
})

describe('invalid environment variables', () => {
  it('are all reported together, one line each, without passwords', async () => {
    const workingDirectory = await makeDirectory()
    const service = await launchService({
      workingDirectory,
      environment: {
        PORT: '70000',
        DATABASE_URL: 'mysql://me:opensesame@127.0.0.1/db',
        REDIS_URL: 'me:opensesame@127.0.0.1',
        LOG_LEVEL: 'loud',
        MIGRATE_ON_START: 'perhaps',
        API_KEY_PREFIX: 'No!',
      },
    })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    const lines = service.stderr().trimEnd().split('\n')
    const names = lines.map((line) => /^Invalid setting: (\w+) /.exec(line)?.[1])
    expect(names.sort()).toEqual([
      'API_KEY_PREFIX',
      'DATABASE_URL',
      'LOG_LEVEL',
      'MIGRATE_ON_START',
      'PORT',
      'REDIS_URL',
    ])
    expect(service.stderr()).toContain('"70000"')
    expect(service.stderr()).not.toContain('opensesame')
    expect(service.stdout()).toBe('')
    expect(existsSync(join(workingDirectory, '.data'))).toBe(false)
  })

  it('are also read from .env, which the environment overrides', async () => {
    const workingDirectory = await makeDirectory()
    await writeFile(join(workingDirectory, '.env'), 'PORT=1\nLOG_LEVEL=loud\n')
    const service = await launchService({ workingDirectory, port: await findPort() })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.stderr()).toMatch(/^Invalid setting: LOG_LEVEL .*\n$/)
  })
})

describe('an unusable DATABASE_URL', () => {
  it('is reported in one line, without the password, when it is invalid or the database does not exist', async () => {
    const cases: [url: string, reason: RegExp][] = [
      ['postgres://me:opensesame@127.0.0.1:port/db', /Invalid URL/],
      [changed(await makeDatabase(), { pathname: '/nowhere' }), /"nowhere" does not exist/],
    ]
    await Promise.all(
      cases.map(async ([DATABASE_URL, reason]) => {
        const service = await launchService({ environment: { DATABASE_URL } })
        expect(await service.ended).toEqual({ code: 1, signal: null })
        expect(service.stderr()).toMatch(/^The database at DATABASE_URL cannot be used: .*\n$/)
        expect(service.stderr()).toMatch(reason)
        expect(service.stderr()).not.toContain('opensesame')
        expect(service.stdout()).toBe('')
      }),
    )
  })
})

describe('a database that is away at the start', () => {
  const notReady = { status: 503, body: { code: 'not_ready', message: 'The database is not available.' } }

  it('is waited for: the process is alive and not ready, and serves and runs jobs once it is back', async () => {
    const DATABASE_URL = await makeDatabase()
    const { hostname, port } = new URL(DATABASE_URL)
    const away = await findPort()
    const service = await startService({
      environment: { DATABASE_URL: changed(DATABASE_URL, { hostname: '127.0.0.1', port: String(away) }) },
    })
    expect(await call(service, 'GET /health')).toMatchObject({ status: 200 })
    expect(await call(service, 'GET /ready')).toMatchObject(notReady)
    expect(await call(service, 'GET /v1/me', { key: unknownKey })).toMatchObject({
      status: 503,
      body: { code: 'database_unavailable' },
    })
    const proxy = createServer((client) => {
      const server = connect(Number(port), hostname)
      for (const socket of [client, server]) socket.on('error', () => undefined)
      client.pipe(server).pipe(client)
      client.on('close', () => server.destroy())
    })
    proxy.listen(away, '127.0.0.1')
    onTestFinished(() => void proxy.close())
    await service.said(/the database is available/)
    expect(await call(service, 'GET /ready')).toMatchObject({ status: 200 })
    expect(await call(service, 'GET /v1/me', { key: unknownKey })).toMatchObject({ status: 401 })
    const waiting = service.stdout().match(/the database is not available: waiting for it/g)
    expect(waiting).toHaveLength(1)
    expect(await stopService(service)).toBe(0)
  })

  it('is left when the process is stopped', async () => {
    const service = await startService({
      environment: { DATABASE_URL: `postgres://me:opensesame@127.0.0.1:${await findPort()}/db` },
    })
    expect(await stopService(service)).toBe(0)
    expect(service.stdout()).toContain('ECONNREFUSED')
    expect(service.stdout() + service.stderr()).not.toContain('opensesame')
  })

  it('is waited for if it refuses the password', async () => {
    const DATABASE_URL = changed(await makeDatabase(), { password: 'opensesame' })
    const service = await startService({ environment: { DATABASE_URL } })
    expect(await call(service, 'GET /ready')).toMatchObject(notReady)
    expect(await call(service, 'GET /v1/me', { key: unknownKey })).toMatchObject({
      status: 503,
      body: { code: 'database_unavailable' },
    })
    expect(service.stdout()).toContain('password authentication failed')
    expect(service.stdout()).not.toContain('opensesame')
    expect(await stopService(service)).toBe(0)
  })
})

describe('DATABASE_URL', () => {
  it('is used, and then no user is created and no secret is printed', async () => {
    const DATABASE_URL = await makeDatabase()
    const workingDirectory = await makeDirectory()
    const service = await startService({ environment: { DATABASE_URL }, workingDirectory })
    expect(await call(service, 'GET /ready')).toEqual({ status: 200, body: { ok: true } })
    const listed = await runAdmin(['list-users', '--json'], { environment: { DATABASE_URL } })
    expect(JSON.parse(listed.stdout)).toEqual([])
    expect(await stopService(service)).toBe(0)
    const { password } = new URL(DATABASE_URL)
    const said = service.stdout() + service.stderr()
    expect(said).not.toMatch(/wsk_|curl|postgres:\/\//)
    if (password) expect(said).not.toContain(password)
    expect(existsSync(join(workingDirectory, '.data'))).toBe(false)
  })

  it('starts without loading packages that few requests need', async () => {
    const coverage = await makeDirectory()
    const environment = { DATABASE_URL: await makeDatabase(), NODE_V8_COVERAGE: coverage }
    const service = await startService({ environment })
    expect(await call(service, 'GET /ready')).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)
    const packages = await findLoadedPackages(coverage)
    expect(packages).toContain('pg')
    for (const name of [
      '@aws-sdk/client-s3',
      '@modelcontextprotocol/server',
      '@sindresorhus/transliterate',
      '@zxcvbn-ts/language-common',
      'ioredis',
      'nodemailer',
      'oidc-provider',
      'otplib',
      'pino-pretty',
      'qrcode',
      'request-filtering-agent',
      'sharp',
    ])
      expect(packages).not.toContain(name)
  })

  it('serves four replicas that start concurrently on an empty database', async () => {
    const DATABASE_URL = await makeDatabase()
    const replicas = await Promise.all(
      Array.from({ length: 4 }, () => startService({ environment: { DATABASE_URL } })),
    )
    for (const replica of replicas) {
      expect(await call(replica, 'GET /ready')).toMatchObject({ status: 200 })
      expect(replica.stderr()).toBe('')
      // 40 is what the log calls a warning.
      expect(replica.stdout()).not.toMatch(/"level":[4-6]0/)
    }
    expect(await Promise.all(replicas.map(stopService))).toEqual([0, 0, 0, 0])
    const journal = JSON.parse(await readFile(join(root, 'drizzle/meta/_journal.json'), 'utf8')) as {
      entries: object[]
    }
    const { rows } = await query(DATABASE_URL, 'select count(*)::int from drizzle.__drizzle_migrations')
    expect(rows).toEqual([{ count: journal.entries.length }])
  })
})

describe('MIGRATE_ON_START=false', () => {
  it('leaves migrating to the migrate command, and /ready returns 503 before', async () => {
    const DATABASE_URL = await makeDatabase()
    const environment = { DATABASE_URL, MIGRATE_ON_START: 'false' }
    const service = await startService({ environment })
    expect(await call(service, 'GET /ready')).toMatchObject({
      status: 503,
      body: { _tag: 'ServiceUnavailable' },
    })
    expect(await call(service, 'GET /health')).toMatchObject({ status: 200 })
    expect(service.stdout()).toContain('the database is not migrated')

    const migrated = await runAdmin(['migrate', '--json'], { environment })
    expect(migrated).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(migrated.stdout)).toEqual({ ok: true, changed: true })
    expect(await call(service, 'GET /ready')).toEqual({ status: 200, body: { ok: true } })
    expect(await stopService(service)).toBe(0)
  })

  it('creates the first person only after the database is migrated', async () => {
    const dataDir = await makeDirectory()
    const environment = { MIGRATE_ON_START: 'false' }
    const service = await startService({ dataDir, environment })
    expect(await call(service, 'GET /ready')).toMatchObject({ status: 503 })
    expect(service.stdout()).not.toContain('wsk_')
    expect(await runAdmin(['migrate'], { dataDir })).toMatchObject({ code: 0 })
    expect(await call(service, 'GET /ready')).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)

    const next = await startService({ dataDir, environment })
    expect(await call(next, 'GET /v1/me', { key: keyOf(next) })).toMatchObject({ status: 200 })
    expect(await stopService(next)).toBe(0)
    await untilNothingRunsIn(dataDir)
  })
})

function changed(
  url: string,
  change: Partial<Pick<URL, 'hostname' | 'port' | 'password' | 'pathname'>>,
): string {
  return Object.assign(new URL(url), change).href
}

/** An empty database. It is dropped with the others at the end of the run, by its name. */
async function makeDatabase(): Promise<string> {
  const name = `${inject('templateDatabase')}_${randomUUID().slice(0, 8)}`
  await query(inject('databaseServerUrl'), `create database ${name}`)
  return changed(inject('databaseServerUrl'), { pathname: `/${name}` })
}

async function query(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The packages whose modules a process has loaded, by the coverage that Node.js wrote when it ended. */
async function findLoadedPackages(folder: string): Promise<string[]> {
  const [file = ''] = await readdir(folder)
  const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as { result: { url: string }[] }
  return result.flatMap(({ url }) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
}
