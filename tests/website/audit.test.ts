import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../src/kernel/audit.ts'
import { countRefusals, refusalLinesMax } from '../../src/http/audited-refusals.ts'
import { auditedOperations, isAudited } from '../../src/http/audit.ts'
import { openAuditFile } from '../../src/platform/audit/audit-log.ts'
import { createCompany, get, post } from '../support/company.ts'
import { operations } from '../support/operations.ts'
import { startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { createVisitor, password, signUp, startWebsite } from './visitor.ts'

const website = await startWebsite({ environment: { AUDIT_LOG: 'stdout', LOG_LEVEL: 'error' } })
const { as, log } = website

/** The lines of the audit about a person, without what differs from run to run. */
function readLines(isWanted: (line: Record<string, unknown>) => boolean) {
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>)
  return lines.filter(({ audit }) => audit === true).filter(isWanted)
}

describe('the audit', () => {
  it('has each sign-in and each failure, with the address of the client, whatever the level of the log', async () => {
    const email = 'audited@example.com'
    await signUp(website, { email })
    const visitor = createVisitor(website)
    await visitor.get('/sign-in')
    await visitor.submit('/sign-in', { email, password: 'not the password' })
    const answer = await visitor.post('/sign-in', { email, password })
    expect(answer.statusCode).toBe(303)
    const lines = readLines(({ action, target }) => {
      return action === 'POST /sign-in' && (target as { email?: string }).email === email
    })
    expect(lines).toMatchObject([
      { outcome: 'refused', code: 'sign_in_failed', actor: {}, address: '127.0.0.1' },
      { outcome: 'done', actor: { userId: expect.any(String) as string } },
    ])
    expect(lines[1]?.requestId).toBe(answer.headers['x-request-id'])
    // The link of the mail is a secret, and so is what was typed.
    const text = log.join('\n')
    expect(text).toContain('POST /verify-email/:token')
    expect(text).not.toContain('not the password')
    expect(text).not.toContain(password)
    for (const { target } of readLines(() => true)) expect(target).not.toHaveProperty('token')
  })

  it('does not have what was typed into the field of the address by mistake', async () => {
    const visitor = createVisitor(website)
    await visitor.get('/sign-in')
    await visitor.submit('/sign-in', { email: 'My secret passphrase', password: 'x' })
    expect(log.join('\n')).not.toContain('My secret passphrase')
  })

  it('has keys, exports and refusals of the API with who did it, and no requests that only read', async () => {
    const company = await createCompany(website)
    const { owner, member, url } = company
    const key = (await as(owner, post('/v1/api-keys', { name: 'Nightly' }))).json<{ secret: string }>()
    await as(owner, get(`${url}/export`))
    await as(member, get(`${url}/export`))
    await as(owner, get('/v1/me'))
    await as(owner, get('/v1/api-keys'))
    const of = (id: string) =>
      readLines(({ actor }) => (actor as { userId?: string }).userId === id).map(
        ({ action, outcome, code, target }) => ({ action, outcome, code, target }),
      )
    const target = { slug: company.workspace.slug }
    expect(of(owner.id)).toEqual([
      expect.objectContaining({ action: 'workspaces.create', outcome: 'done' }),
      { action: 'apiKeys.create', outcome: 'done', target: {} },
      { action: 'workspaces.export', outcome: 'done', target },
    ])
    expect(of(member.id)).toEqual([
      { action: 'workspaces.export', outcome: 'refused', code: 'role_insufficient', target },
    ])
    expect(log.join('\n')).not.toContain(key.secret)
    expect(log.join('\n')).not.toContain('Nightly')
  })

  it('has every change of credentials and members, and every name of an operation exists', () => {
    const all = Object.entries(operations)
    const names = all.map(([name]) => name)
    expect([...auditedOperations].filter((name) => !names.includes(name))).toEqual([])
    const ofAccess = /^(apiKeys|serviceAccounts|members|webhooks|integrations)\./
    const changing = all.filter(([name, { request }]) => ofAccess.test(name) && !request.startsWith('GET'))
    const isLeftOut = new Set([
      'webhooks.resume',
      'webhooks.test',
      'webhooks.sample',
      'webhooks.redeliver',
      'webhooks.redeliverSince',
    ])
    const missing = changing.filter(([name]) => !auditedOperations.has(name) && !isLeftOut.has(name))
    expect(missing.map(([name]) => name)).toEqual([])
  })

  it('has no text of strangers in place of an id or a slug', async () => {
    const text = `A${'b'.repeat(200)}`
    const { owner, url } = await createCompany(website)
    await website.app.inject(
      post(`/v1/workspaces/${text}/invites`, { email: 'x@example.com', role: 'member' }),
    )
    await as(owner, post(`${url}/webhooks/${text}/rotate-secret`, {}))
    expect(log.join('')).toContain('webhooks.rotateSecret')
    expect(log.join('')).not.toContain(text)
  })

  it('counts the refusals of an address after the first ones of a minute', () => {
    let now = 0
    const lines: AuditEntry[] = []
    const audit = countRefusals({ record: (entry) => void lines.push(entry) }, () => now)
    const entry = { action: 'POST /sign-in', actor: {}, target: {} }
    const refuse = (address: string, times: number) => {
      for (let i = 0; i < times; i++) audit.record({ ...entry, outcome: 'refused', address })
    }
    refuse('192.0.2.1', 1_000)
    refuse('192.0.2.2', 1)
    audit.record({ ...entry, outcome: 'done', address: '192.0.2.1' })
    expect(lines).toHaveLength(refusalLinesMax + 2)
    now = 60_000
    refuse('192.0.2.1', 1)
    expect(lines.slice(refusalLinesMax + 2)).toEqual([
      {
        ...{ action: 'refusals', outcome: 'refused', actor: {}, target: {} },
        ...{ address: '192.0.2.1', count: 1_000 - refusalLinesMax },
      },
      { ...entry, outcome: 'refused', address: '192.0.2.1' },
    ])
    audit.flush()
    expect(lines).toHaveLength(refusalLinesMax + 4)
  })

  it('counts them beyond the addresses that are told apart', () => {
    const lines: AuditEntry[] = []
    const audit = countRefusals({ record: (entry) => void lines.push(entry) }, () => 0)
    for (let i = 0; i < 10_100; i++)
      audit.record({ action: 'x', outcome: 'refused', actor: {}, target: {}, address: String(i) })
    expect(lines).toHaveLength(10_000 + refusalLinesMax)
    audit.flush()
    expect(lines.at(-1)).toMatchObject({ action: 'refusals', address: undefined, count: 80 })
  })

  it('writes what was counted when the process stops', async () => {
    const path = join(await makeFolder(), 'audit.log')
    const service = await startTestApp({ environment: { AUDIT_LOG: path } })
    await Promise.all(
      Array.from({ length: refusalLinesMax + 5 }, () =>
        service.app.inject(post('/v1/api-keys', { name: 'x' })),
      ),
    )
    await service.close()
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const counted = lines.map((line) => JSON.parse(line) as { count?: number })
    const total = counted.reduce((sum, { count = 1 }) => sum + count, 0)
    expect(total).toBe(refusalLinesMax + 5)
  })

  it.each([
    ['POST', '/settings/security/two-step/confirm', true],
    ['POST', '/settings/security/passkeys', true],
    ['POST', '/settings/confirm/password', true],
    ['POST', '/sign-out', true],
    ['POST', '/reset/:token', true],
    ['POST', '/w/:slug/settings/delete', true],
    ['GET', '/sign-in/with/:provider/callback', true],
    ['POST', '/w/:slug/seeds', false],
    ['POST', '/settings/theme', false],
    ['GET', '/sign-in', false],
  ])('has %s %s: %s', (method, url, expected) => {
    expect(isAudited({ method, url })).toBe(expected)
  })

  it('is written to the end of a file that its owner alone may read', async () => {
    const path = join(await makeFolder(), 'folder', 'audit.log')
    const entry = {
      action: 'admin suspend-user',
      outcome: 'done',
      target: { email: '田中@example.com' },
    } as const
    for (const systemUser of ['ada', 'grace']) openAuditFile(path).record({ ...entry, actor: { systemUser } })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { audit: true, ...entry, actor: { systemUser: 'ada' } },
      { audit: true, ...entry, actor: { systemUser: 'grace' } },
    ])
  })
})
