import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  call,
  findUser,
  keyOf,
  makeDirectory,
  mayRunProgram,
  run,
  startService,
  stopService,
  type Service,
  untilNothingRunsIn,
} from './service.ts'

const isRoot = process.getuid?.() === 0

describe('the first start', () => {
  let dataDir: string
  let service: Service

  beforeAll(async () => {
    dataDir = join(await makeDirectory(undefined, 'file'), 'data')
    service = await startService({ dataDir, lifetime: 'file' })
  })
  afterAll(async () => {
    expect(await stopService(service)).toBe(0)
  })

  it('prints the URLs, and an API key in a working curl command', async ({ skip }) => {
    expect(service.stdout()).toContain(`API                ${service.baseUrl}\n`)
    expect(service.stdout()).toContain(`API documentation  ${service.baseUrl}/docs\n`)
    expect(service.stderr()).toBe('')
    const [, command = ''] = /^ {2}(curl .*)$/m.exec(service.stdout()) ?? []
    expect(command).toContain(`${service.baseUrl}/v1/me`)

    const version = run('sh', ['-c', 'curl --version'])
    skip((await version.ended).code !== 0, 'there is no curl')
    const shell = run('sh', ['-c', command])
    expect((await shell.ended).code).toBe(0)
    expect(JSON.parse(shell.stdout())).toMatchObject({ name: 'Ada', email: 'ada@example.com' })
  })

  it('creates three example seeds with different statuses and evidence', async () => {
    const service = await startService({ dataDir: await makeDirectory() })
    const key = keyOf(service)
    const { body } = await call(service, 'GET /v1/workspaces/first-workspace/seeds', { key })
    const seeds = body as { id: string; title: string; status: string; hypothesis: string | null }[]
    expect(seeds.map(({ status }) => status).toSorted()).toEqual(['dropped', 'validated', 'validating'])
    const found = { kinds: new Set<string>(), verdicts: new Set<string>() }
    for (const seed of seeds) {
      expect(seed.title).toMatch(/^Example: /)
      expect(seed.hypothesis).toBeTruthy()
      const evidence = await call(service, `GET /v1/seeds/${seed.id}/evidence`, { key })
      const pieces = evidence.body as { kind: string; verdict: string }[]
      expect(pieces).toHaveLength(3)
      for (const { kind, verdict } of pieces) {
        found.kinds.add(kind)
        found.verdicts.add(verdict)
      }
    }
    expect([...found.verdicts].toSorted()).toEqual(['contradicts', 'neutral', 'supports'])
    expect(found.kinds.size).toBe(5)
    expect(await stopService(service)).toBe(0)
  })

  it('restricts the data directory to its owner', async () => {
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600)
  })

  it('prints a link that signs the first person in once, after a click', async () => {
    const [link = ''] = /http\S+\/sign-in\/link\/\S+/.exec(service.stdout()) ?? []
    expect(link.startsWith(service.baseUrl)).toBe(true)
    const page = await fetch(link)
    const token = /name="_csrf"\s+value="([^"]*)"/.exec(await page.text())?.[1] ?? ''
    const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const send = () =>
      fetch(link, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie },
        body: new URLSearchParams({ _csrf: token }),
      })
    const signedIn = await send()
    expect(signedIn.status).toBe(303)
    const session = signedIn.headers.getSetCookie().find((text) => text.startsWith('session=')) ?? ''
    const home = await fetch(service.baseUrl, { headers: { cookie: session.split(';')[0] ?? '' } })
    expect(new URL(home.url).pathname).toBe('/w/first-workspace')
    expect((await send()).status).toBe(404)
  })

  it('serves documentation that loads only from its own origin', async () => {
    const page = await fetch(`${service.baseUrl}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    const html = await page.text()
    const references = [...html.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)"/g)]
      .map(([, reference = '']) => new URL(reference, page.url))
      .filter(({ protocol }) => protocol !== 'data:')
    expect(references.length).toBeGreaterThanOrEqual(4)
    for (const { href } of references) {
      expect(href.startsWith(`${service.baseUrl}/`), href).toBe(true)
      const asset = await fetch(href)
      expect(asset.status, href).toBe(200)
      const text = await asset.text()
      expect(text.length, href).toBeGreaterThan(0)
      if (href.includes('.css')) expect(text).not.toMatch(/@import|url\(["']?(https?:)?\/\//)
    }

    const description = await call(service, 'GET /openapi.json')
    expect(description).toMatchObject({
      status: 200,
      body: { openapi: '3.1.0', servers: [{ url: service.baseUrl }] },
    })
    expect(html).toContain(`<code>${service.baseUrl}</code>`)
  })

  it('uses .data in the working directory by default', async () => {
    const workingDirectory = await makeDirectory()
    const service = await startService({ workingDirectory })
    expect(existsSync(join(workingDirectory, '.data/postgres/PG_VERSION'))).toBe(true)
    expect(await stopService(service)).toBe(0)
  })
})

describe('the second start', () => {
  it('prints no secret, and keeps all data', async () => {
    const dataDir = await makeDirectory()
    const first = await startService({ dataDir })
    const key = keyOf(first)
    expect(await call(first, 'PATCH /v1/me', { key, body: { name: 'Grace' } })).toMatchObject({ status: 200 })
    expect(await stopService(first)).toBe(0)

    const second = await startService({ dataDir })
    expect(second.stdout()).toContain(second.baseUrl)
    expect(second.stdout()).not.toMatch(/wsk_|curl|Bearer|sign-in\/link/)
    expect(await call(second, 'GET /v1/me', { key })).toMatchObject({ status: 200, body: { name: 'Grace' } })
    expect(await stopService(second)).toBe(0)
    expect(second.stderr()).toBe('')
  })
})

describe('an API key', () => {
  it('is created, used and revoked, and then returns 401; the log contains no key', async () => {
    const service = await startService({ dataDir: await makeDirectory() })
    const firstKey = keyOf(service)
    const created = await call(service, 'POST /v1/api-keys', { key: firstKey, body: { name: 'Agent' } })
    expect(created.status).toBe(200)
    const { id, secret } = created.body as { id: string; secret: string }

    expect(await call(service, 'GET /v1/me', { key: secret })).toMatchObject({ status: 200 })
    expect(await call(service, `POST /v1/api-keys/${id}/revoke`, { key: firstKey })).toEqual({
      status: 200,
      body: { ok: true },
    })
    expect(await call(service, 'GET /v1/me', { key: secret })).toMatchObject({
      status: 401,
      body: { _tag: 'Unauthorized' },
    })
    expect(await call(service, 'GET /v1/me', { key: firstKey })).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)
    // What the service says of itself names no key but the one that it was to show.
    expect(service.stdout().replaceAll(firstKey, '').includes('wsk_')).toBe(false)
    expect(service.stdout().split(firstKey)).toHaveLength(2)
  })
})

describe.runIf(isRoot)('the account that runs the service', () => {
  it('may be an ordinary user', async ({ skip }) => {
    const user = await findUser('nobody')
    skip(!(await mayRunProgram(user)), 'the program lies where no ordinary user may look')
    const dataDir = await makeDirectory(user)
    const service = await startService({ dataDir, user, workingDirectory: dataDir })
    expect(await call(service, 'GET /v1/me', { key: keyOf(service) })).toMatchObject({ status: 200 })
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(user.uid)
    expect(await stopService(service)).toBe(0)
    await untilNothingRunsIn(dataDir)
  })

  it('may be root, also below a directory with mode 700', async () => {
    const closed = await makeDirectory()
    expect((await stat(closed)).mode & 0o777).toBe(0o700)
    const dataDir = join(closed, 'below', 'data')
    const service = await startService({ dataDir })
    expect(await call(service, 'GET /v1/me', { key: keyOf(service) })).toMatchObject({ status: 200 })
    expect((await stat(closed)).mode & 0o777).toBe(0o700)
    expect(await stopService(service)).toBe(0)
    await untilNothingRunsIn(closed)
  })
})
