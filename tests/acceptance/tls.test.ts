import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase, requestLimits } from '../../src/db/client.ts'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { locateServer } from '../../src/db/embedded-binaries.ts'
import { isDatabaseUnavailable } from '../../src/db/errors.ts'
import { afterFile } from '../support/after-file.ts'
import { startMailServer } from '../support/mail-server.ts'
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts'
import { startS3Server } from '../support/s3-server.ts'
import { ofOwnAuthority, selfSigned } from '../support/self-signed.ts'
import { launchService, makeDirectory, runAdmin, startService, stopService } from './service.ts'

const folder = await makeDirectory(undefined, 'file')
const { cert, key } = ofOwnAuthority

/** Writes a file that the account of the database may read, and nobody else. */
async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content, { mode: 0o600 })
  const { account } = await locateServer(folder)
  if (account) await chown(path, account.uid, account.gid)
  return path
}

const files = {
  authority: await write('authority.pem', ofOwnAuthority.authority),
  other: await write('other.pem', selfSigned.cert),
  cert: await write('cert.pem', cert),
  key: await write('key.pem', key),
}

const database = await startEmbeddedDatabase({
  dataDir: join(folder, 'data'),
  settings: { ssl: 'on', ssl_cert_file: files.cert, ssl_key_file: files.key, fsync: 'off' },
})
afterFile(() => database.stop())
const redis = hasRedisServer
  ? await startRedisServer(undefined, { certFile: files.cert, keyFile: files.key })
  : undefined
if (redis) afterFile(redis.kill)
const mail = await startMailServer({ tls: { key, cert, begins: 'at once' } })
const mailWhenAsked = await startMailServer({ tls: { key, cert, begins: 'when asked' } })
const storage = await startS3Server({ key, cert })

/** The settings of an installation that trusts an authority. */
const trusting = (authority: string) => ({
  NODE_EXTRA_CA_CERTS: authority,
  DATABASE_URL: `${database.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`,
  REDIS_URL: redis?.url,
  SMTP_URL: mail.url,
  STORAGE_URL: storage.url,
  AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY,
  AWS_MAX_ATTEMPTS: '1',
})

async function check(environment: Record<string, string | undefined>) {
  const dataDir = await makeDirectory()
  const { stdout } = await runAdmin(['check', '--json'], { dataDir, environment })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; ok: boolean; message: string }[] }
  return new Map(checks.map(({ check, ok, message }) => [check, { ok, message }]))
}

const secured = ['database', 'mail', 'storage', ...(redis ? ['redis'] : [])]

describe('admin check', () => {
  it('accepts servers whose certificates are by an authority of its own', async () => {
    const found = await check(trusting(files.authority))
    for (const name of secured) expect(found.get(name), name).toMatchObject({ ok: true })
    const whenAsked = { ...trusting(files.authority), SMTP_URL: `${mailWhenAsked.url}?requireTLS=true` }
    expect((await check(whenAsked)).get('mail')).toMatchObject({ ok: true })
  })

  it('says that the certificate is not valid when its authority is not trusted', async () => {
    const fault = {
      ok: false,
      message: expect.stringMatching(
        /unable to verify the first certificate.*[.] Check .*NODE_EXTRA_CA_CERTS/,
      ) as string,
    }
    const found = await check(trusting(files.other))
    for (const name of secured) expect(found.get(name), name).toEqual(fault)
    const whenAsked = await check({ ...trusting(files.other), SMTP_URL: mailWhenAsked.url })
    expect(whenAsked.get('mail')).toEqual(fault)
  })
})

describe('the service', () => {
  it('starts with a database whose certificate is by an authority of its own', async () => {
    const dataDir = await makeDirectory()
    const service = await startService({ dataDir, environment: trusting(files.authority) })
    expect((await fetch(`http://127.0.0.1:${service.port}/ready`)).status).toBe(200)
    expect(await stopService(service)).toBe(0)
    expect(service.stdout()).not.toContain('redis is unavailable')
  })

  it.runIf(redis)('serves without a Redis whose certificate is not trusted, and logs it', async () => {
    const environment = { ...trusting(files.authority), NODE_EXTRA_CA_CERTS: files.other }
    const service = await startService({ dataDir: await makeDirectory(), environment })
    await service.said(/unable to verify the first certificate.*"redis is unavailable/)
    expect(await stopService(service)).toBe(0)
  })

  it.each([
    // Node.js 24 adds what to do.
    ['whose certificate is not trusted', files.other, /unable to verify the first certificate(;.+)?/],
    [
      'whose authority is in no file',
      '/nowhere.pem',
      /ENOENT: no such file or directory, open '[/]nowhere[.]pem'/,
    ],
  ])('ends with one line, without waiting, for a database %s', async (_, authority, reason) => {
    const service = await launchService({ dataDir: await makeDirectory(), environment: trusting(authority) })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    const line = new RegExp(`^The database at DATABASE_URL cannot be used: ${reason.source}$`, 'm')
    expect(service.stderr()).toMatch(line)
  })

  it('takes the database for unavailable when its certificate is no longer trusted', async () => {
    const { DATABASE_URL: url } = trusting(files.other)
    const db = openDatabase({ url, poolMax: 1, limits: requestLimits, onIdleError: () => undefined })
    const failed: unknown = await db.$client.query('select 1').catch((error: unknown) => error)
    await db.$client.end()
    expect(failed).toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(isDatabaseUnavailable(failed)).toBe(true)
  })
})

describe('sslmode', () => {
  it.each([
    ['', false],
    ['?sslmode=disable', false],
    ['?sslmode=no-verify', true],
    [`?sslrootcert=${files.authority}`, true],
    [`?sslmode=verify-full&sslrootcert=${files.authority}`, true],
  ])('%s', async (parameters, isEncrypted) => {
    const url = database.url + parameters
    const db = openDatabase({ url, poolMax: 1, limits: requestLimits, onIdleError: () => undefined })
    const { rows } = await db.$client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    await db.$client.end()
    expect(rows).toEqual([{ ssl: isEncrypted }])
  })
})
