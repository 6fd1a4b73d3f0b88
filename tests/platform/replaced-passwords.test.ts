import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase, workLimits } from '../../src/db/client.ts'
import { isLoginRefused } from '../../src/db/errors.ts'
import { createSmtpMailer } from '../../src/platform/mail/nodemailer-mail.ts'
import { eventually } from '../support/eventually.ts'
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'

/** A file of a secret, and the URL in it with another password. */
async function keepInFile(url: string) {
  const path = join(await makeFolder(), 'url')
  const setPassword = (password: string) =>
    writeFileSync(path, `${Object.assign(new URL(url), { password }).href}\n`)
  return { path, setPassword }
}

it('a new connection to PostgreSQL has the password that is in the file now', async () => {
  const databaseUrl = await clone()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const role = `login_${randomUUID().slice(0, 8)}`
  await client.query(`create role ${role} login password 'former'`)
  onTestFinished(async () => {
    await client.query(`drop role ${role}`)
    await client.end()
  })
  const file = await keepInFile(Object.assign(new URL(databaseUrl), { username: role }).href)
  file.setPassword('former')
  const { secretNow } = loadConfig({ DATABASE_URL_FILE: file.path })
  const db = openDatabase({
    url: () => String(secretNow('DATABASE_URL')),
    poolMax: 1,
    limits: workLimits,
    onIdleError: () => undefined,
  })
  onTestFinished(() => db.$client.end())
  const readRole = async () => (await db.$client.query<{ name: string }>('select current_user as name')).rows
  const end = () =>
    client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1', [role])
  expect(await readRole()).toEqual([{ name: role }])
  await client.query(`alter role ${role} password 'näxt @/:'`)
  // The open connection goes on.
  expect(await readRole()).toEqual([{ name: role }])
  await end()
  await eventually(() => expect(db.$client.totalCount).toBe(0))
  expect(isLoginRefused(await readRole().catch((error: unknown) => error))).toBe(true)
  file.setPassword('näxt @/:')
  expect(await readRole()).toEqual([{ name: role }])
})

it.skipIf(!hasRedisServer)('a new connection to Redis has the password that is in the file now', async () => {
  const redis = await startRedisServer()
  onTestFinished(() => redis.kill())
  const admin = new Redis(redis.url)
  onTestFinished(() => admin.disconnect())
  await admin.config('SET', 'requirepass', 'former')
  await admin.auth('former')
  const file = await keepInFile(redis.url)
  file.setPassword('former')
  const { services } = await startTestApp({ environment: { REDIS_URL_FILE: file.path } })
  const ping = () => eventually(async () => expect(await services.redis?.ping()).toBe('PONG'))
  await ping()
  await admin.config('SET', 'requirepass', 'next')
  file.setPassword('next')
  await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await ping()
})

it('the next mail is sent with the password that is in the file now', async () => {
  let password = 'former'
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _session, done) =>
      auth.password === password ? done(null, { user: auth.username }) : done(new Error('refused')),
    onData: (stream, _session, done) => stream.resume().on('end', () => done(null)),
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise((done) => server.close(done)))
  const file = await keepInFile(`smtp://me@127.0.0.1:${(listening.address() as AddressInfo).port}`)
  file.setPassword('former')
  const { secretNow } = loadConfig({ SMTP_URL_FILE: file.path })
  const mailer = createSmtpMailer(() => String(secretNow('SMTP_URL')), 'post@mail.example.com')
  onTestFinished(() => mailer.close())
  const send = () =>
    mailer.send({
      ...{ id: 'mail-1', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' },
      to: { name: 'Ada', address: 'ada@example.com' },
    })
  expect(await send()).toEqual({ smtpCode: 250 })
  password = 'next'
  await expect(send()).rejects.toThrow('535')
  file.setPassword('next')
  expect(await send()).toEqual({ smtpCode: 250 })
})

it('while its file is missing or empty, a secret has the value of the start', async () => {
  const path = join(await makeFolder(), 'url')
  writeFileSync(path, 'redis://:former@127.0.0.1')
  const { secretNow } = loadConfig({ REDIS_URL_FILE: path, SMTP_URL: 'smtp://127.0.0.1' })
  writeFileSync(path, '')
  expect(secretNow('REDIS_URL')).toBe('redis://:former@127.0.0.1')
  writeFileSync(path, 'redis://:next@127.0.0.1\n')
  expect(secretNow('REDIS_URL')).toBe('redis://:next@127.0.0.1')
  expect(secretNow('SMTP_URL')).toBe('smtp://127.0.0.1')
  expect(secretNow('STORAGE_URL')).toBeUndefined()
})
