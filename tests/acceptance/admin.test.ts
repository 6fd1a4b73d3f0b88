import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import {
  call,
  copyInstallation,
  findPort,
  makeDirectory,
  runAdmin,
  startService,
  stopService,
  type Service,
  untilNothingRunsIn,
} from './service.ts'

vi.setConfig({ testTimeout: 60_000 })

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('--help', () => {
  it('lists the commands, and each explains itself', async () => {
    const commands = ['migrate', 'create-user', 'create-key', 'list-users', 'export-openapi']
    const [overview, ...each] = await inPairs([['--help'], ...commands.map((command) => [command, '--help'])])
    expect(overview).toMatchObject({ code: 0, stderr: '' })
    for (const [i, command] of commands.entries()) {
      expect(overview?.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'))
      expect(each[i]).toMatchObject({ code: 0, stderr: '' })
      expect(each[i]?.stdout).toContain(`Usage: admin ${command} `)
      if (command !== 'export-openapi') expect(each[i]?.stdout).toContain('--json')
    }
  })
})

describe('beside a running service', () => {
  it('every command works, for people and as JSON', async () => {
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
    expect(migrated).toEqual({ code: 0, stdout: 'The database was up to date.\n', stderr: '' })
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
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made?.stdout).toMatch(/^wsk_\w+\n$/)
    await expectKeyOf(service, made?.stdout.trim(), 'Grace Hopper')
    const madeKey = JSON.parse(madeJson?.stdout ?? '') as { secret: string }
    expect(madeKey).toMatchObject({ name: 'Agent', id: expect.stringMatching(uuid) as string })
    await expectKeyOf(service, madeKey.secret, 'Edsger')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(listed?.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(listed?.stdout).toMatch(/^[0-9a-f-]{36} {2}\S+Z {2}grace@example\.com {2}Grace Hopper$/m)
    expect(JSON.parse(listedJson?.stdout ?? '')).toMatchObject([
      { email: 'ada@example.com', isVerified: true },
      ...['grace', 'edsger'].map(() => ({ id: expect.stringMatching(uuid) as string })),
    ])
    expect(listedJson?.stdout).not.toContain('wsk_')

    expect(await call(service, 'GET /v1/me', { key })).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)
  })

  it('what cannot be done is told in a line, with exit code 1', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const refused: [args: string[], reason: RegExp][] = [
      [['create-user', '--email', 'ADA@example.com', '--name', 'Ada'], /^error: .+\n$/],
      [['create-user', '--email', 'no address', '--name', 'Ada'], /^error: .*e-mail.*\n$/],
      [['create-user', '--email', 'x@example.com', '--name', ' '], /^error: .*name.*\n$/i],
      [['create-key', '--email', 'nobody@example.com', '--name', 'x'], /^error: .*nobody@example\.com.*\n$/],
      [['create-user', '--name', 'Ada'], /^error: required option '--email <address>' not specified\n/],
      [['delete-everything'], /^error: unknown command 'delete-everything'\n/],
      [
        ['export-openapi', join(dataDir, 'nowhere/openapi.json')],
        /^error: The file cannot be written: .*\n$/,
      ],
    ]
    const results = await inPairs(
      refused.map(([args]) => args),
      { dataDir },
    )
    for (const [i, [args, reason]] of refused.entries()) {
      expect(results[i], args.join(' ')).toMatchObject({ code: 1, stdout: '' })
      expect(results[i]?.stderr, args.join(' ')).toMatch(reason)
    }
    const { stdout } = await runAdmin(['list-users', '--json'], { dataDir })
    expect(JSON.parse(stdout)).toHaveLength(1)
    expect(await stopService(service)).toBe(0)
  })
})

describe('without a service', () => {
  it('a command uses the data directory and leaves nothing running', async () => {
    const dataDir = await makeDirectory()
    expect(await runAdmin(['migrate'], { dataDir })).toEqual({
      code: 0,
      stdout: 'The database is up to date now.\n',
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

  it('a failing command leaves nothing running', async () => {
    const dataDir = await makeDirectory()
    const failed = await runAdmin(['create-user', '--email', 'x', '--name', 'x'], { dataDir })
    expect(failed.code).toBe(1)
    await untilNothingRunsIn(dataDir)
  })
})

describe('export-openapi', () => {
  it('writes the same description to a file and to standard output, whatever the environment', async () => {
    const file = join(await makeDirectory(), 'openapi.json')
    const environment = { PORT: '4321', BASE_URL: 'https://api.example.com', LOG_LEVEL: 'loud' }
    expect(await runAdmin(['export-openapi', file], { environment })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
    const printed = await runAdmin(['export-openapi'])
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(file, 'utf8')).toBe(printed.stdout)
    expect(JSON.parse(printed.stdout)).toMatchObject({ openapi: '3.1.0' })
  })
})

describe('settings that cannot be used', () => {
  it('are told like those of the service', async () => {
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
