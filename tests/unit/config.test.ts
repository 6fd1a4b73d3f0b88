import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig, type Config } from '../../src/config/config.ts'
import { ConfigSchema } from '../../src/config/settings.ts'
import { secretNames } from '../../src/config/secret-files.ts'
import { afterFile } from '../support/after-file.ts'

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).problems
  }
  return []
}

/** The same values, to compare with. */
const withValues = (config: Config) => ({ ...config, secretNow: expect.any(Function) as Config['secretNow'] })

describe('the configuration without variables', () => {
  it('has default values for everything', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      databaseUrl: undefined,
      databasePoolMax: 10,
      migrateOnStart: true,
      dataDir: '.data',
      redisUrl: undefined,
      trustProxy: false,
      corsOrigins: '*',
      apiKeyPrefix: 'wsk',
      rateLimitPerMinute: 0,
      badKeyLimitPerMinute: 600,
      logLevel: 'info',
    })
  })

  it('is the same when all variables are empty', () => {
    const empty = Object.fromEntries(Object.keys(ConfigSchema.properties).map((name) => [name, '']))
    expect(loadConfig(empty)).toEqual(withValues(loadConfig({})))
  })
})

describe('the configuration with variables', () => {
  it('reads each variable', () => {
    expect(
      loadConfig({
        HOST: '0.0.0.0',
        PORT: '8080',
        BASE_URL: 'https://api.example.com',
        DATABASE_URL: 'postgresql://me:pass@db/app',
        DATABASE_POOL_MAX: '20',
        MIGRATE_ON_START: 'false',
        DATA_DIR: '/var/lib/app',
        REDIS_URL: 'rediss://cache',
        TRUST_PROXY: 'loopback, 10.0.0.0/8',
        CORS_ORIGINS: 'https://a.example, https://b.example',
        API_KEY_PREFIX: 'acme',
        RATE_LIMIT_PER_MINUTE: '7',
        BAD_KEY_LIMIT_PER_MINUTE: '8',
        LOG_LEVEL: 'warn',
      }),
    ).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      baseUrl: 'https://api.example.com',
      databaseUrl: 'postgresql://me:pass@db/app',
      databasePoolMax: 20,
      migrateOnStart: false,
      dataDir: '/var/lib/app',
      redisUrl: 'rediss://cache',
      trustProxy: 'loopback, 10.0.0.0/8',
      corsOrigins: ['https://a.example', 'https://b.example'],
      apiKeyPrefix: 'acme',
      rateLimitPerMinute: 7,
      badKeyLimitPerMinute: 8,
      logLevel: 'warn',
    })
  })

  it('limits requests by default when DATABASE_URL is set, unless RATE_LIMIT_PER_MINUTE is 0', () => {
    const DATABASE_URL = 'postgres://db/app'
    expect(loadConfig({ DATABASE_URL }).rateLimitPerMinute).toBe(6000)
    expect(loadConfig({ DATABASE_URL, RATE_LIMIT_PER_MINUTE: '0' }).rateLimitPerMinute).toBe(0)
    expect(loadConfig({ RATE_LIMIT_PER_MINUTE: '5' }).rateLimitPerMinute).toBe(5)
  })

  it('derives the base URL from the port', () => {
    expect(loadConfig({ PORT: '4000' }).baseUrl).toBe('http://localhost:4000')
  })

  it('ignores other variables', () => {
    expect(loadConfig({ PATH: '/bin', PORTS: 'y' })).toEqual(withValues(loadConfig({})))
  })

  it('is frozen', () => {
    const config = loadConfig({})
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError)
  })
})

describe('invalid variables', () => {
  it('are all reported together, one line each', () => {
    const problems = problemsOf({
      PORT: 'http',
      BASE_URL: 'https://api.example.com/path',
      DATABASE_URL: 'mysql://db/app',
      DATABASE_POOL_MAX: '0',
      MIGRATE_ON_START: 'maybe',
      REDIS_URL: 'cache:6379',
      TRUST_PROXY: 'everybody',
      API_KEY_PREFIX: 'Bad_Prefix',
      RATE_LIMIT_PER_MINUTE: '-1',
      BAD_KEY_LIMIT_PER_MINUTE: 'many',
      LOG_LEVEL: 'loud',
    })
    expect(problems.map((problem) => problem.split(' ')[0]).toSorted()).toEqual([
      'API_KEY_PREFIX',
      'BAD_KEY_LIMIT_PER_MINUTE',
      'BASE_URL',
      'DATABASE_POOL_MAX',
      'DATABASE_URL',
      'LOG_LEVEL',
      'MIGRATE_ON_START',
      'PORT',
      'RATE_LIMIT_PER_MINUTE',
      'REDIS_URL',
      'TRUST_PROXY',
    ])
    for (const problem of problems) expect(problem).not.toContain('\n')
  })

  it('are reported with their value and their description', () => {
    const [problem] = problemsOf({ LOG_LEVEL: 'loud' })
    expect(problem).toContain('"loud"')
    expect(problem).toContain(ConfigSchema.properties.LOG_LEVEL.description)
  })

  it('are reported without passwords', () => {
    const problems = problemsOf({
      DATABASE_URL: 'mysql://me:hunter2@db/app',
      REDIS_URL: 'http://me:hunter2@cache',
      BASE_URL: 'https://me:hunter2@api.example.com/path',
    })
    expect(problems).toHaveLength(3)
    expect(problems.join('\n')).not.toContain('hunter2')
  })

  it.each([
    'postgres://me:opensesame@one.invalid:5432,two.invalid:5432/db',
    'postgres://one.invalid,two.invalid/db?target_session_attrs=read-write',
    'postgres:///db?host=one.invalid%2Ctwo.invalid',
  ])('include several hosts of a database: %s', (url) => {
    const settings = { DATABASE_URL: 'postgres://one.invalid/db', DATABASE_DIRECT_URL: url }
    expect(problemsOf(settings)).toEqual([
      expect.stringMatching(/^DATABASE_DIRECT_URL must name one host[.]/),
    ])
    expect(problemsOf({ DATABASE_URL: url }).join()).not.toContain('opensesame')
    expect(loadConfig({ DATABASE_URL: 'postgres://me:a,b@one.invalid/a,b?options=a,b' })).toBeDefined()
  })

  it('include DATABASE_POOLER=transaction without another URL for sessions', () => {
    const DATABASE_URL = 'postgres://pooler/app'
    const pooled = { DATABASE_POOLER: 'transaction', DATABASE_URL }
    for (const more of [{}, { DATABASE_DIRECT_URL: DATABASE_URL }]) {
      const [problem] = problemsOf({ ...pooled, ...more })
      expect(problem).toContain('DATABASE_POOLER=transaction requires DATABASE_DIRECT_URL')
    }
    expect(problemsOf({ ...pooled, DATABASE_DIRECT_URL: 'postgres://db/app' })).toEqual([])
    expect(loadConfig({ DATABASE_URL }).databaseDirectUrl).toBe(DATABASE_URL)
  })

  it('include PASSWORDS=off without an identity provider', () => {
    const [problem] = problemsOf({ PASSWORDS: 'off' })
    expect(problem).toContain('PASSWORDS=off requires OIDC_PROVIDERS')
    const provider = { id: 'a', name: 'A', issuer: 'https://id.example', clientId: 'w', clientSecret: 's' }
    expect(problemsOf({ PASSWORDS: 'off', OIDC_PROVIDERS: '[]' })).toHaveLength(1)
    expect(problemsOf({ PASSWORDS: 'off', OIDC_PROVIDERS: JSON.stringify([provider]) })).toEqual([])
  })

  it.each([
    ['SIGN_UP', ['closed', 'true', 'OPEN']],
    ['WORKSPACE_CREATION', ['off', 'somebody']],
    ['PORT', ['0', '65536', '3000.5', '-1', '3000x', 'NaN']],
    ['MIGRATE_ON_START', ['yes', 'TRUE', '2']],
    ['BASE_URL', ['api.example.com', 'ftp://api.example.com', 'https://', 'https://a b', 'https://a/?x']],
    ['TRUST_PROXY', ['true', '*', 'loopback;linklocal']],
    ['API_KEY_PREFIX', ['a', '1abc', 'a-b', 'a_b', 'a'.repeat(17), 'wsk_']],
    ['RATE_LIMIT_PER_MINUTE', ['1.5', 'off', '5e-1']],
  ])('%s rejects each of %j', (name, values) => {
    for (const value of values) expect(problemsOf({ [name]: value }), value).toHaveLength(1)
  })
})

describe('APP_SECRET_PREVIOUS', () => {
  const [secret, other] = ['x'.repeat(32), 'y'.repeat(32)]

  it('stands beside another APP_SECRET', () => {
    expect(loadConfig({ APP_SECRET: secret, APP_SECRET_PREVIOUS: other }).appSecretPrevious).toBe(other)
  })

  it.each([{}, { APP_SECRET: other }])('is refused without one: %j', (environment) => {
    expect(problemsOf({ ...environment, APP_SECRET_PREVIOUS: other })).toEqual([
      'APP_SECRET_PREVIOUS requires APP_SECRET, another secret.',
    ])
  })
})

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  afterFile(() => rm(folder, { recursive: true }))
  const fileWith = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  it('are the values of their settings, without white space at the end', () => {
    const values = {
      DATABASE_URL: 'postgres://me:hunter2@db/app',
      DATABASE_DIRECT_URL: 'postgres://me:hunter2@db/app',
      REDIS_URL: 'redis://cache',
      SMTP_URL: 'smtp://me:hunter2@mail',
      APP_SECRET: 'a secret of more than thirty-two characters',
      APP_SECRET_PREVIOUS: 'another secret of more than thirty-two characters',
      OIDC_PROVIDERS: '[]',
      STORAGE_URL: 's3://pictures',
      OUTGOING_PROXY: 'http://me:hunter2@proxy:3128',
    }
    expect(Object.keys(values)).toEqual(secretNames)
    const files = Object.entries(values).map(([name, value]) => [
      `${name}_FILE`,
      fileWith(name, `${value}\n`),
    ])
    expect(loadConfig(Object.fromEntries(files) as Record<string, string>)).toEqual(
      withValues(loadConfig(values)),
    )
  })

  it('are refused when they are empty, cannot be read, are given both ways or are invalid, without their values', () => {
    const missing = join(folder, 'missing')
    expect(
      problemsOf({
        DATABASE_URL: 'postgres://db/app',
        DATABASE_URL_FILE: fileWith('both', 'postgres://me:hunter2@db/app'),
        APP_SECRET_FILE: fileWith('empty', ' \n'),
        SMTP_URL_FILE: missing,
      }),
    ).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set: set only one of them.',
      `SMTP_URL_FILE cannot be read: ENOENT: no such file or directory, open '${missing}'.`,
      `APP_SECRET_FILE names an empty file, ${join(folder, 'empty')}.`,
    ])
    const [problem] = problemsOf({ REDIS_URL_FILE: fileWith('wrong', 'http://me:hunter2@cache') })
    expect(problem).toContain('REDIS_URL must be')
    expect(problem).not.toContain('hunter2')
  })
})
