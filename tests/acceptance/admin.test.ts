import { readdir, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  call,
  copyInstallation,
  databaseUrl,
  findPort,
  makeDirectory,
  root,
  runAdmin,
  startService,
  stopService,
  type Service,
  untilNothingRunsIn,
} from './service.ts'

// Each command is a process that loads the whole service.
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const commands = [
  'list-users',
  'create-user',
  'verify-user',
  'sign-in-link',
  'password-link',
  'remove-second-factor',
  'revoke-sessions',
  'suspend-user',
  'unsuspend-user',
  'export-user',
  'delete-user',
  'list-keys',
  'create-key',
  'revoke-key',
  'revoke-keys',
  'list-workspaces',
  'create-workspace',
  'delete-workspace',
  'restore-workspace',
  'export-workspace',
  'remove-examples',
  'list-clients',
  'delete-client',
  'rotate-signing-key',
  'list-jobs',
  'retry-jobs',
  'list-mails',
  'send-test-mail',
  'check',
  'migrate',
  'reseal',
  'quarantine',
  'export-openapi',
]

describe('admin --help', () => {
  it('lists all commands, and each command has usage and examples', async () => {
    const [overview, bare, ...each] = await inPairs([
      ['--help'],
      [],
      ...commands.map((command) => [command, '--help']),
    ])
    expect(overview).toMatchObject({ code: 0, stderr: '' })
    expect(bare).toEqual(overview)
    const listed = overview?.stdout.matchAll(/^ {2}([a-z-]+) (?:\[options\])/gm) ?? []
    expect([...listed].map(([, command]) => command)).toEqual(commands)
    for (const [i, command] of commands.entries()) {
      expect(each[i]).toMatchObject({ code: 0, stderr: '' })
      expect(each[i]?.stdout).toContain(`Usage: admin ${command} `)
      expect(each[i]?.stdout).toContain('--json')
      expect(each[i]?.stdout).toMatch(new RegExp(`Examples:\\n(.*\\n)*  \\$ admin ${command}`))
    }
  })

  it('needs neither valid settings nor a database', async () => {
    const workingDirectory = await makeDirectory()
    const environment = { PORT: 'none', DATABASE_URL: 'nonsense' }
    const help = await runAdmin(['list-users', '--help'], { workingDirectory, environment })
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(await readdir(workingDirectory)).toEqual([])
  })
})

describe('admin --version', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(await runAdmin(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('invalid usage of admin', () => {
  it('prints one line and a hint at --help, and exits with 2', async () => {
    const cases: [args: string[], line: RegExp, command: string][] = [
      [
        ['create-user', '--name', 'Ada'],
        /required option '--email <address>' not specified$/,
        'admin create-user',
      ],
      [['list-user'], /unknown command 'list-user' \(Did you mean list-users\?\)$/, 'admin'],
      [['list-users', '--filter', 'x'], /unknown option '--filter'$/, 'admin list-users'],
      [['list-users', '--limit', 'many'], /'many' is invalid/, 'admin list-users'],
      [['list-users', 'ada'], /too many arguments/, 'admin list-users'],
      [['migrate\u001b[31m'], /unknown command 'migrate\\u\{1b\}\[31m'$/, 'admin'],
    ]
    const results = await inPairs(cases.map(([args]) => args))
    for (const [i, [args, line, command]] of cases.entries()) {
      expect(results[i], args.join(' ')).toMatchObject({ code: 2, stdout: '' })
      const [first, second, ...rest] = results[i]?.stderr.split('\n') ?? []
      expect(first).toMatch(line)
      expect([second, ...rest]).toEqual([`Run "${command} --help" for usage and examples.`, ''])
    }
  })

  it('prints a JSON object with --json', async () => {
    const { code, stdout, stderr } = await runAdmin(['create-key', '--json', '--name', 'x'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 'usage', message: "required option '--email <address>' not specified" },
    })
  })
})

describe('admin with a running service', () => {
  it('every command works, as text and as JSON', async () => {
    const { dataDir, key } = await copyInstallation()
    const service = await startService({ dataDir })
    const options = { dataDir }

    const grace = ['create-user', '--email', 'grace@example.com', '--name', 'Grace Hopper', '--verified']
    const edsger = ['create-user', '--email', 'edsger@example.com', '--name', 'Edsger', '--json']
    const [created, createdJson, migrated, migratedJson] = await inPairs(
      [grace, edsger, ['migrate'], ['migrate', '--json']],
      options,
    )
    expect(created).toMatchObject({ code: 0, stderr: '' })
    expect(created?.stdout).toMatch(
      /^Created Grace Hopper <grace@example\.com> with the id [0-9a-f-]{36}\.\n$/,
    )
    expect(createdJson).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(createdJson?.stdout ?? '')).toEqual({
      id: expect.stringMatching(uuid) as string,
      email: 'edsger@example.com',
      name: 'Edsger',
    })
    expect(migrated).toEqual({ code: 0, stdout: 'The database was already up to date.\n', stderr: '' })
    expect(migratedJson).toEqual({ code: 0, stdout: '{"ok":true,"changed":false}\n', stderr: '' })

    const [made, madeJson, listed, listedJson] = await inPairs(
      [
        ['create-key', '--email', 'Grace@Example.com', '--name', 'Laptop'],
        ['create-key', '--email', 'edsger@example.com', '--name', 'Agent', '--json'],
        ['list-users'],
        ['list-users', '--json'],
      ],
      options,
    )
    // The key alone is the outcome, so that a shell can keep it.
    expect(made?.stdout).toMatch(/^wsk_\w+\n$/)
    expect(made?.stderr).toMatch(/^This is the API key Laptop of grace@example\.com\. Store it now: .*\n$/)
    await expectKeyOf(service, made?.stdout.trim(), 'Grace Hopper')
    expect(await readAudit(join(dataDir, 'audit.log'))).toContainEqual(
      expect.objectContaining({
        ...{ audit: true, action: 'admin create-key', outcome: 'done' },
        ...{ actor: { systemUser: userInfo().username }, target: { email: 'Grace@Example.com' } },
      }),
    )
    expect(madeJson).toMatchObject({ code: 0, stderr: '' })
    const madeKey = JSON.parse(madeJson?.stdout ?? '') as { secret: string }
    expect(madeKey).toMatchObject({ name: 'Agent', id: expect.stringMatching(uuid) as string })
    await expectKeyOf(service, madeKey.secret, 'Edsger')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    const [header, ...rows] = listed?.stdout.trimEnd().split('\n') ?? []
    expect(header).toMatch(/^ID +EMAIL +NAME +VERIFIED +SUSPENDED +WORKSPACES +CREATED \(UTC\)$/)
    expect(rows).toHaveLength(5)
    expect(rows.at(-1)).toBe('3 users.')
    expect(listed?.stdout).toMatch(
      /^[0-9a-f-]{36} {2}grace@example\.com +Grace Hopper +yes +no +0 +\d{4}-\d\d-\d\d \d\d:\d\d$/m,
    )
    // The names of columns stand above them.
    for (const row of rows.slice(0, 3))
      expect(row.indexOf('@')).toBeGreaterThan(Number(header?.indexOf('EMAIL')))
    // Nothing but a terminal gets colours.
    expect(listed?.stdout).not.toContain('\u001b')
    expect((JSON.parse(listedJson?.stdout ?? '') as { email: string }[]).map(({ email }) => email)).toContain(
      'ada@example.com',
    )
    expect(listedJson?.stdout).not.toContain('wsk_')

    const [keys, link, linkJson, verified] = await inPairs(
      [
        ['list-keys', '--email', 'grace@example.com', '--json'],
        ['sign-in-link', '--email', 'grace@example.com'],
        ['password-link', '--email', 'edsger@example.com', '--json'],
        ['verify-user', '--email', 'edsger@example.com'],
      ],
      options,
    )
    const [graceKey] = JSON.parse(keys?.stdout ?? '') as { id: string; name: string }[]
    expect(graceKey).toMatchObject({ name: 'Laptop' })
    expect(link?.stdout).toMatch(/^http:\S+\/sign-in\/link\/\S+\n$/)
    expect(link?.stderr).toMatch(/Grace Hopper <grace@example\.com>\. It works once, until .* UTC\.\n$/)
    expect(JSON.parse(linkJson?.stdout ?? '')).toMatchObject({
      email: 'edsger@example.com',
      url: expect.stringContaining('/reset/') as string,
    })
    expect(verified).toMatchObject({ code: 0, stdout: 'Marked edsger@example.com as verified.\n' })

    const acme = ['create-workspace', '--owner', 'grace@example.com', '--name', 'Acme']
    const [workspace, taken] = await inPairs(
      [
        [...acme, '--slug', 'acme-labs', '--json'],
        [...acme, '--slug', 'first-workspace'],
      ],
      options,
    )
    expect(JSON.parse(workspace?.stdout ?? '')).toEqual({
      id: expect.stringMatching(uuid) as string,
      name: 'Acme',
      slug: 'acme-labs',
      owner: 'grace@example.com',
    })
    expect(taken).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: .+\n$/) as string,
    })

    const [revoked, unsure, examples, clients] = await inPairs(
      [
        ['revoke-key', '--id', String(graceKey?.id)],
        ['delete-user', '--email', 'edsger@example.com'],
        ['remove-examples', '--json'],
        ['list-clients'],
      ],
      options,
    )
    expect(revoked).toMatchObject({ code: 0, stdout: 'Revoked the API key Laptop of grace@example.com.\n' })
    expect(await call(service, 'GET /v1/me', { key: String(made?.stdout.trim()) })).toMatchObject({
      status: 401,
    })
    // There is no terminal to ask on.
    expect(unsure).toMatchObject({ code: 2, stdout: '' })
    expect(unsure?.stderr).toContain('--yes')
    expect((JSON.parse(examples?.stdout ?? '') as { removed: string[] }).removed).toHaveLength(3)
    expect(clients).toMatchObject({ code: 0, stdout: 'No clients.\n' })

    const [keysRevoked, sessionsRevoked, jobs, retried, unclear, unknown, sent, mails] = await inPairs(
      [
        ['revoke-keys', '--email', 'edsger@example.com'],
        ['revoke-sessions', '--email', 'grace@example.com', '--json'],
        ['list-jobs', '--failed', '--json'],
        ['retry-jobs', '--failed', '--json'],
        ['retry-jobs'],
        ['retry-jobs', '--id', '123456'],
        ['send-test-mail', '--to', 'linus@example.com', '--json'],
        ['list-mails', '--email', 'linus@example.com', '--json'],
      ],
      options,
    )
    expect(keysRevoked).toMatchObject({
      code: 0,
      stdout: 'Revoked 1 active API key of edsger@example.com.\n',
    })
    expect(await call(service, 'GET /v1/me', { key: madeKey.secret })).toMatchObject({ status: 401 })
    expect(sessionsRevoked).toMatchObject({ code: 0, stdout: '{"ok":true,"revoked":0}\n' })
    expect(jobs).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(retried).toMatchObject({ code: 0, stdout: '{"ok":true,"retried":[]}\n' })
    expect(unclear).toMatchObject({ code: 2, stdout: '' })
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(sent?.stdout ?? '')).toMatchObject({
      ok: true,
      to: 'linus@example.com',
      smtpCode: null,
    })
    expect(mails).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(unknown?.stderr).toMatch(/^error: These are not failed jobs: 123456\. .*\n$/)

    const ofGrace = ['--email', 'grace@example.com']
    const ofEdsger = ['--email', 'edsger@example.com']
    const [suspended, owner, again, noLink] = await inPairs(
      [
        ['suspend-user', ...ofEdsger],
        ['suspend-user', ...ofGrace],
        ['suspend-user', ...ofEdsger, '--json'],
        ['sign-in-link', ...ofEdsger],
      ],
      options,
    )
    expect(suspended).toMatchObject({ code: 0, stdout: 'Suspended Edsger <edsger@example.com>.\n' })
    expect(owner).toMatchObject({ code: 1, stdout: '' })
    expect(owner?.stderr).toMatch(/^error: grace@example\.com was not suspended\. .*acme-labs.*--force\.\n$/)
    expect(again?.stdout).toBe('{"ok":true,"changed":false,"workspacesWithoutOwner":[],"knownSecrets":[]}\n')
    expect(noLink).toMatchObject({ code: 1, stdout: '' })
    const forced = await runAdmin(['suspend-user', ...ofGrace, '--force'], options)
    expect(forced.stdout).toContain('Without an owner now: acme-labs.')
    const back = await runAdmin(['unsuspend-user', ...ofGrace, '--json'], options)
    expect(back).toMatchObject({ code: 0, stdout: '{"ok":true,"changed":true}\n' })

    const [deleted, refused] = await inPairs(
      [
        ['delete-user', '--email', 'edsger@example.com', '--yes'],
        ['delete-user', '--email', 'ada@example.com', '--yes'],
      ],
      options,
    )
    expect(deleted).toMatchObject({ code: 0, stdout: 'Deleted Edsger <edsger@example.com>.\n' })
    expect(await call(service, 'GET /v1/me', { key: madeKey.secret })).toMatchObject({ status: 401 })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused?.stderr).toMatch(
      /^error: ada@example\.com was not deleted\. .*first-workspace \(1 member\).*\n$/,
    )

    expect(await call(service, 'GET /v1/me', { key })).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)
  })

  it('prints errors in one line, and exits with 2 for invalid values and with 1 for other errors', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const ada = ['--email', 'ada@example.com']
    const refused: [args: string[], code: number, reason: RegExp][] = [
      [['create-user', '--email', 'ADA@example.com', '--name', 'Ada'], 1, /^error: .+\n$/],
      [['create-user', '--email', 'no address', '--name', 'Ada'], 2, /^error: --email: .+\n/],
      [['create-key', ...ada, '--name', ''], 2, /^error: --name: .+\n/],
      [['create-key', ...ada, '--name', '\u001b[31mred'], 2, /^error: --name: .+\n/],
      [
        ['create-key', '--email', 'nobody@example.com', '--name', 'x'],
        1,
        /^error: .*nobody@example\.com\.\n$/,
      ],
      [['sign-in-link', '--email', 'nobody@example.com'], 1, /^error: .*nobody@example\.com\.\n$/],
      [['revoke-key', '--id', 'x\u001b[2J'], 1, /^error: No API key has the id x\\u\{1b\}\[2J\.\n$/],
      [['delete-client', '--id', 'x', '--yes'], 1, /^error: No client has the id x\.\n$/],
      [
        ['export-openapi', join(dataDir, 'nowhere/openapi.json')],
        1,
        /^error: The file cannot be written: .*\n$/,
      ],
    ]
    const results = await inPairs(
      refused.map(([args]) => args),
      { dataDir },
    )
    for (const [i, [args, code, reason]] of refused.entries()) {
      expect(results[i], args.join(' ')).toMatchObject({ code, stdout: '' })
      expect(results[i]?.stderr, args.join(' ')).toMatch(reason)
    }
    const [users, keys] = await inPairs(
      [
        ['list-users', '--json'],
        ['list-keys', ...ada, '--json'],
      ],
      { dataDir },
    )
    expect(JSON.parse(users?.stdout ?? '')).toHaveLength(1)
    expect(JSON.parse(keys?.stdout ?? '')).toHaveLength(1)
    expect(await stopService(service)).toBe(0)
  })
})

describe('admin check', () => {
  interface Report {
    ok: boolean
    checks: { check: string; ok: boolean; message: string }[]
  }

  it('finds a running service in order, a line for each thing it looks at', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const options = { dataDir, environment: { PORT: String(service.port) } }
    const { code, stdout, stderr } = await runAdmin(['check'], options)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^✓ [A-Za-z_]+ +\S.*[.]$/)
    expect(lines.map((line) => line.split(/ +/)[1])).toEqual([
      ...['settings', 'database', 'extensions', 'migrations', 'timeouts', 'pooler', 'clock'],
      ...['secrets', 'redis', 'mail', 'storage', 'BASE_URL', 'WEB_URL', 'TRUST_PROXY'],
    ])
    expect(await stopService(service)).toBe(0)
  })

  it('says what is wrong and what to do, exits with 1, and prints no password', async () => {
    const port = await findPort()
    const environment = {
      PORT: String(port),
      DATABASE_URL: 'postgres://me:opensesame@127.0.0.1:9/db',
      REDIS_URL: 'redis://:opensesame@127.0.0.1:9',
      SMTP_URL: 'smtp://me:opensesame@127.0.0.1:9',
      STORAGE_URL: 's3://pictures?endpoint=http://127.0.0.1:9&region=x',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'opensesame',
      AWS_MAX_ATTEMPTS: '1',
    }
    const dataDir = await makeDirectory()
    const { code, stdout, stderr } = await runAdmin(['check', '--json'], { dataDir, environment })
    expect(code).toBe(1)
    expect(stderr).toContain('"code":"check_failed"')
    expect(stdout + stderr).not.toContain('opensesame')
    const { ok, checks } = JSON.parse(stdout) as Report
    expect(ok).toBe(false)
    const wrong = checks.filter((finding) => !finding.ok)
    expect(wrong.map(({ check }) => check)).toEqual([
      ...['database', 'redis', 'mail', 'storage', 'BASE_URL', 'WEB_URL'],
    ])
    for (const { message } of wrong) expect(message).toMatch(/[.] (Check|Start) .*[.]$/)
    const invalid = await runAdmin(['check'], { dataDir, environment: { LOG_LEVEL: 'loud' } })
    expect(invalid).toMatchObject({ code: 1, stderr: 'error: 1 check failed.\n' })
    expect(invalid.stdout).toMatch(/^✗ settings {2}LOG_LEVEL must be /)
  })

  it('does not migrate, and takes another program at BASE_URL for none', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const url = new URL(await databaseUrl(dataDir))
    const server = new pg.Client({ connectionString: url.href })
    await server.connect()
    await server.query('create database fresh')
    await server.end()
    url.pathname = '/fresh'
    const environment = { BASE_URL: service.baseUrl, DATABASE_URL: url.href, APP_SECRET: 'x'.repeat(40) }
    const { stdout } = await runAdmin(['check', '--json'], { dataDir: await makeDirectory(), environment })
    const { checks } = JSON.parse(stdout) as Report
    const of = (name: string) => checks.find(({ check }) => check === name)
    expect(of('migrations')).toMatchObject({
      ok: true,
      message: expect.stringContaining('will migrate') as string,
    })
    expect(of('BASE_URL')).toMatchObject({ ok: false, message: expect.stringContaining('another') as string })
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    const { rows } = await client.query(`select 1 from pg_tables where schemaname = 'public'`)
    await client.end()
    expect(rows).toEqual([])
    expect(await stopService(service)).toBe(0)
  })
})

describe('admin with APP_SECRET', () => {
  it('finds the secret of another installation, and moves what is stored to a new secret', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)]
    const run = (args: string[], environment: Record<string, string>) =>
      runAdmin(args, { dataDir, environment: { PORT: String(service.port), ...environment } })
    const secretsOf = async (environment: Record<string, string>) => {
      const { stdout } = await run(['check'], environment)
      return stdout.split('\n').find((line) => line.includes(' secrets '))
    }
    expect(await run(['rotate-signing-key'], { APP_SECRET: older })).toMatchObject({ code: 0 })
    expect(await secretsOf({ APP_SECRET: newer })).toMatch(
      /^✗ secrets .*does not open .*: signing keys[.] Set/,
    )
    const refused = { code: 1, stdout: '' }
    expect(await run(['rotate-signing-key'], { APP_SECRET: newer })).toEqual({
      ...refused,
      stderr: expect.stringMatching(
        /^error: This APP_SECRET does not open what is stored, .* Nothing was changed[.]\n$/,
      ) as string,
    })
    expect(await run(['reseal'], { APP_SECRET: newer })).toEqual({
      ...refused,
      stderr: expect.stringMatching(/^error: APP_SECRET_PREVIOUS is not set[.]/) as string,
    })
    const both = { APP_SECRET: newer, APP_SECRET_PREVIOUS: older }
    expect(await secretsOf(both)).toMatch(/^✓ secrets .*: signing keys[.] Run admin reseal/)
    const { code, stdout } = await run(['reseal'], both)
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toBe('signing keys: 1 encrypted again, 0 left, 0 that neither secret opens')
    expect(stdout).toContain('Nothing is left under APP_SECRET_PREVIOUS.')
    expect(await secretsOf({ APP_SECRET: newer })).toMatch(/^✓ secrets .*APP_SECRET opens what is stored[.]/)
    expect(await stopService(service)).toBe(0)
  })
})

describe('admin quarantine', () => {
  it('is refused unless OUTGOING is off and confirmed, and ends the keys of a copy', async () => {
    const { dataDir, key } = await copyInstallation()
    const environment = { OUTGOING: 'off' }
    const refused = await runAdmin(['quarantine', '--yes'], { dataDir })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^error: OUTGOING is not off, .* Nothing was changed\.\n$/)
    // There is no terminal to ask on.
    expect(await runAdmin(['quarantine'], { dataDir, environment })).toMatchObject({ code: 2, stdout: '' })
    const service = await startService({ dataDir, environment })
    expect(await call(service, 'GET /v1/me', { key })).toMatchObject({ status: 200 })
    const options = { dataDir, environment: { ...environment, PORT: String(service.port) } }
    const done = await runAdmin(['quarantine', '--yes', '--json'], options)
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(done.stdout)).toMatchObject({ ok: true, deliveries: 0, sessions: 0, keys: 1 })
    expect(await call(service, 'GET /v1/me', { key })).toMatchObject({ status: 401 })
    const restored = await runAdmin(['check', '--restored'], options)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    const lines = restored.stdout.split('\n').map((line) => line.split(/ +/)[1])
    for (const name of ['outgoing', 'pictures', 'cursors', 'waiting']) expect(lines).toContain(name)
    expect(await stopService(service)).toBe(0)
  })
})

describe('admin without a running service', () => {
  it('uses the data directory, and leaves no process running', async () => {
    const dataDir = await makeDirectory()
    expect(await runAdmin(['migrate'], { dataDir })).toEqual({
      code: 0,
      stdout: 'The database is now up to date.\n',
      stderr: '',
    })
    await untilNothingRunsIn(dataDir)
    const grace = ['create-user', '--email', 'grace@example.com', '--name', 'Grace']
    expect(await runAdmin(grace, { dataDir })).toMatchObject({ code: 0 })
    const key = await runAdmin(['create-key', '--email', 'grace@example.com', '--name', 'First'], { dataDir })
    await untilNothingRunsIn(dataDir)

    // There is somebody, so that the first start makes nobody.
    const service = await startService({ dataDir })
    expect(service.stdout()).not.toContain('wsk_')
    await expectKeyOf(service, key.stdout.trim(), 'Grace')
    expect(await stopService(service)).toBe(0)
  })

  it('leaves no process running when a command fails', async () => {
    const dataDir = await makeDirectory()
    const failed = await runAdmin(['create-user', '--email', 'x', '--name', 'x'], { dataDir })
    expect(failed.code).toBe(2)
    await untilNothingRunsIn(dataDir)
  })
})

describe('admin export-openapi', () => {
  it('writes the same description to a file and to standard output, regardless of the environment', async () => {
    const file = join(await makeDirectory(), 'openapi.json')
    const environment = { PORT: '4321', BASE_URL: 'https://api.example.com', LOG_LEVEL: 'loud' }
    expect(await runAdmin(['export-openapi', file], { environment })).toEqual({
      code: 0,
      stdout: `Wrote ${file}.\n`,
      stderr: '',
    })
    const printed = await runAdmin(['export-openapi'])
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(file, 'utf8')).toBe(printed.stdout)
    expect(JSON.parse(printed.stdout)).toMatchObject({ openapi: '3.1.0' })
  })
})

describe('admin with invalid settings', () => {
  it('prints one line without the password, and exits with 1', async () => {
    const unreachable = `postgres://me:opensesame@127.0.0.1:${await findPort()}/db`
    const [away, awayForMigrate, bad] = await Promise.all([
      runAdmin(['list-users'], { environment: { DATABASE_URL: unreachable } }),
      runAdmin(['migrate'], { environment: { DATABASE_URL: unreachable } }),
      runAdmin(['list-users'], { environment: { DATABASE_POOL_MAX: 'many' } }),
    ])
    for (const result of [away, awayForMigrate]) {
      expect(result).toMatchObject({ code: 1, stdout: '' })
      expect(result.stderr).toMatch(
        /^error: The database at DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/,
      )
      expect(result.stderr).not.toContain('opensesame')
    }
    expect(bad).toMatchObject({ code: 1, stdout: '' })
    expect(bad.stderr).toMatch(/^error: DATABASE_POOL_MAX .*\n$/)
  })
})

describe('the audit of commands', () => {
  const command = ['suspend-user', '--email', 'grace@example.com']
  const line = {
    ...{ audit: true, action: 'admin suspend-user', outcome: 'refused' },
    target: { email: 'grace@example.com' },
  }

  it('is a file in DATA_DIR by default, also of what is refused, and not of what changes nothing', async () => {
    const dataDir = await makeDirectory()
    const environment = { DATABASE_URL: `postgres://me@127.0.0.1:${await findPort()}/db` }
    const results = await inPairs([command, ['check']], { dataDir, environment })
    expect(results.map(({ code }) => code)).toEqual([1, 1])
    expect(await readAudit(join(dataDir, 'audit.log'))).toMatchObject([line])
  })

  it('is on standard error where the file cannot be written, and nowhere with off', async () => {
    const dataDir = await makeDirectory()
    const away = { DATABASE_URL: `postgres://me@127.0.0.1:${await findPort()}/db` }
    const [unwritable, off] = await Promise.all(
      ['/dev/null/audit.log', 'off'].map((AUDIT_LOG) =>
        runAdmin(command, { dataDir, environment: { ...away, AUDIT_LOG } }),
      ),
    )
    expect(unwritable?.code).toBe(1)
    expect(JSON.parse(unwritable?.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject(line)
    expect(off?.stderr).not.toContain('audit')
    expect(await readdir(dataDir)).toEqual([])
  })
})

async function readAudit(file: string): Promise<unknown[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines.map((text) => JSON.parse(text) as unknown)
}

async function expectKeyOf(service: Service, key: string | undefined, name: string): Promise<void> {
  expect(await call(service, 'GET /v1/me', { key: key ?? '' })).toMatchObject({ status: 200, body: { name } })
}

type Result = Awaited<ReturnType<typeof runAdmin>>

/** Runs commands two at a time: they take a processor each. */
async function inPairs(
  commands: string[][],
  options: Parameters<typeof runAdmin>[1] = {},
): Promise<Result[]> {
  const results: Result[] = []
  for (let i = 0; i < commands.length; i += 2) {
    const pair = commands.slice(i, i + 2).map((args) => runAdmin(args, options))
    results.push(...(await Promise.all(pair)))
  }
  return results
}
