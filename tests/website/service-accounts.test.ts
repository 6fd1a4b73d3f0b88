import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { ServiceClient } from '../../src/agents/service-clients/service-clients.service.ts'
import type { ServiceAccount } from '../../src/areas/serviceAccounts/serviceAccounts.service.ts'
import { expectWorks } from '../support/api-keys.ts'
import { createCompany, del, get } from '../support/company.ts'
import { createService, createServiceAccount, createServiceKey } from '../support/service-accounts.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()

async function startCompany() {
  const company = await createCompany(website)
  const admin = await signInAs(website, company.admin)
  const path = `/w/${company.workspace.slug}/settings/service-accounts`
  const list = async () =>
    (await website.as(company.owner, get(`${company.url}/service-accounts`))).json<ServiceAccount[]>()
  return { company, admin, path, list }
}

const secretOn = (page: string) => /id="secret"[^>]*value="(wsk_[^"]+)"/.exec(page)?.[1] ?? ''

describe('the page of service accounts', () => {
  it('adds one, whose keys its page shows once, rotates and revokes', async () => {
    const { admin, path, list } = await startCompany()
    expect((await admin.get(path)).body).toContain('No service accounts yet.')
    const created = await admin.submit(path, { name: 'CRM sync', role: 'member' })
    expect(noticeOn(created.body)).toContain('CRM sync')
    const [account] = await list()
    expect(account).toMatchObject({ name: 'CRM sync', role: 'member' })
    const page = `${path}/${account?.id}`

    const made = await admin.submit(`${page}/keys`, { name: 'Production', access: 'full', expires: '30' })
    const secret = secretOn(made.body)
    await expectWorks(website, { apiKey: secret }, true)
    const shown = (await admin.get(page)).body
    expect(shown).not.toContain(secret)
    expect(shown).toContain('expires on')

    const apiKeyId = /name="apiKeyId" value="([^"]+)"/.exec(shown)?.[1] ?? ''
    const rotated = await admin.submit(`${page}/keys/rotate`, { apiKeyId })
    const next = secretOn(rotated.body)
    expect(next).not.toBe(secret)
    expect(rotated.body).toContain('The old key works for another day.')
    for (const apiKey of [secret, next]) await expectWorks(website, { apiKey }, true)

    const revoked = await admin.submit(`${page}/keys/revoke`, { apiKeyId })
    expect(noticeOn(revoked.body)).toContain('Production')
    await expectWorks(website, { apiKey: secret }, false)
    await expectWorks(website, { apiKey: next }, true)
  })

  it('shows a key only after a proof', async () => {
    const { company, admin, path } = await startCompany()
    const account = await createServiceAccount(website, company.admin, company)
    const page = `${path}/${account.id}`
    await website.db.execute(sql`update sessions set proven_at = null where user_id = ${company.admin.id}`)
    await admin.get(page)
    const sent = await admin.post(`${page}/keys`, { name: 'Production', access: 'full', expires: '' })
    expect(sent.headers.location).toContain('/settings/security/confirm')
    expect((await website.as(company.owner, get(`${account.url}/api-keys`))).json()).toEqual([])
  })

  it('renames, changes the role and deletes', async () => {
    const { company, admin, path, list } = await startCompany()
    const account = await createService(website, company.admin, company)
    const page = `${path}/${account.id}`
    await admin.get(page)
    await admin.submit(page, { name: 'Importer' })
    await admin.submit(`${page}/role`, { role: 'viewer' })
    expect(await list()).toMatchObject([{ name: 'Importer', role: 'viewer' }])
    const deleted = await admin.submit(`${page}/delete`, {})
    expect(noticeOn(deleted.body)).toContain('Importer')
    expect(await list()).toEqual([])
    await expectWorks(website, account, false)
  })

  it('creates, lists, prolongs and revokes OAuth clients, whose secret it shows once and after a proof', async () => {
    const { company, admin, path } = await startCompany()
    const account = await createServiceAccount(website, company.admin, company, { role: 'admin' })
    const page = `${path}/${account.id}`
    await admin.get(page)
    const fields = { name: 'Nightly import', method: 'client_secret_basic', jwksUri: '' }
    const made = await admin.submit(`${page}/clients`, { ...fields, 'workspace:write': 'on' })
    const secret = /id="secret"[^>]*value="([^"]+)"/.exec(made.body)?.[1] ?? ''
    expect(secret).toHaveLength(43)
    const list = async () =>
      (await website.as(company.owner, get(`${account.url}/clients`))).json<ServiceClient[]>()
    const [client] = await list()
    expect(client).toMatchObject({ scopes: ['validation-kit:read', 'workspace:write'] })
    expect(made.body).toContain(client?.clientId)
    const shown = (await admin.get(page)).body
    expect(shown).not.toContain(secret)
    expect(shown).toContain('Manages teams, invites people')

    const chosen = { serviceClientId: String(client?.id) }
    const rotated = await admin.submit(`${page}/clients/rotate`, chosen)
    const next = /id="secret"[^>]*value="([^"]+)"/.exec(rotated.body)?.[1] ?? ''
    expect(next).toHaveLength(43)
    expect(next).not.toBe(secret)
    expect(rotated.body).toContain('The old secret works for another day.')
    expect(rotated.body).toMatch(/the former secret works until\s+<time/)

    await website.db.execute(sql`
      update agent_grants set expires_at = now() + interval '1 day' where id = ${client?.id}`)
    const prolonged = await admin.submit(`${page}/clients/prolong`, chosen)
    expect(noticeOn(prolonged.body)).toContain('access for another year')
    expect(Date.parse(String((await list())[0]?.expiresAt))).toBeGreaterThan(Date.now() + 364 * 86_400_000)

    await admin.submit(`${page}/clients`, { name: 'Signer', method: 'private_key_jwt', jwksUri: '' })
    expect(await list()).toHaveLength(1)
    const jwksUri = 'https://keys.example/jwks'
    await admin.submit(`${page}/clients`, { name: 'Signer', method: 'private_key_jwt', jwksUri })
    expect((await list())[0]).toMatchObject({ name: 'Signer', method: 'private_key_jwt', jwksUri })

    const revoked = await admin.submit(`${page}/clients/revoke`, chosen)
    expect(noticeOn(revoked.body)).toContain('Nightly import')
    expect(await list()).toHaveLength(1)

    await website.db.execute(sql`update sessions set proven_at = null where user_id = ${company.admin.id}`)
    await admin.get(page)
    const sent = await admin.post(`${page}/clients`, fields)
    expect(sent.headers.location).toContain('/settings/security/confirm')
    expect(await list()).toHaveLength(1)
  })

  it('offers a client no scopes above the role of the account', async () => {
    const { company, admin, path } = await startCompany()
    const account = await createServiceAccount(website, company.admin, company, { role: 'viewer' })
    const { body } = await admin.get(`${path}/${account.id}`)
    expect(body).toContain('name="workspace:read"')
    expect(body).not.toContain('name="seeds:write"')
  })

  it('is not for members', async () => {
    const { company, path } = await startCompany()
    const member = await signInAs(website, company.member)
    expect((await member.get(path)).statusCode).toBe(403)
  })
})

describe('other pages', () => {
  it('show a service account as one, which is not managed as a person is', async () => {
    const { company, admin, path } = await startCompany()
    const account = await createServiceAccount(website, company.owner, company)
    const people = (await admin.get(`/w/${company.workspace.slug}/people`)).body
    expect(people).toContain('Service account')
    expect(people).not.toContain('service.invalid')
    const page = (await admin.get(`/w/${company.workspace.slug}/people/${account.userId}`)).body
    expect(page).toContain(`href="${path}"`)
    expect(page).not.toContain('/remove"')
  })

  it('lead from the inbox to the keys that are to be rotated', async () => {
    const { company, path } = await startCompany()
    const account = await createServiceAccount(website, company.owner, company)
    await createServiceKey(website, company.admin, company, account)
    await website.as(company.admin, del(`${company.url}/members/${company.admin.id}`))
    const inbox = (await (await signInAs(website, company.owner)).get('/notifications')).body
    expect(inbox).toContain(`href="${path}/${account.id}">Rotate</a>`)
  })
})
