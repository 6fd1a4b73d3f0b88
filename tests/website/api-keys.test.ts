import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import {
  createKey,
  expectWorks,
  noRestrictions,
  readRestrictions,
  type TestKey,
} from '../support/api-keys.ts'
import { get } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const path = '/settings/security/api-keys'

const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 60 * 60 * 1000).toISOString()

/** Somebody with two workspaces, at the page of their keys. */
async function start() {
  const person = await website.createPerson()
  const [acme, looms] = [
    await createWorkspace(website, person, { name: 'Acme & Co' }),
    await createWorkspace(website, person, { name: 'Looms' }),
  ]
  const visitor = await signInAs(website, person)
  await visitor.get(path)
  return { person, visitor, acme, looms }
}

/** The new key that a page shows. */
async function findNewKey(person: { apiKey: string }, page: string): Promise<TestKey> {
  const secret = String(/id="secret"[^>]*value="([^"]+)"/.exec(page)?.[1])
  const keys = (await website.as(person, get('/v1/api-keys'))).json<TestKey[]>()
  const key = keys.find(({ lastFour }) => secret.endsWith(lastFour))
  expect(key, page).toBeDefined()
  return { ...key, apiKey: secret } as TestKey
}

describe('the form for a new key', () => {
  it('creates a key with the chosen restrictions, which the list shows', async () => {
    const { person, visitor, acme } = await start()
    const page = await visitor.submit(path, {
      name: 'Dashboard',
      access: 'read',
      maxRole: 'member',
      expires: '30',
      reach: 'chosen',
      [`workspace-${acme.id}`]: 'on',
    })
    const key = await findNewKey(person, page.body)
    expect(await readRestrictions(website, person, key)).toEqual({
      expiresAt: inDays(30),
      access: 'read',
      workspaceIds: [acme.id],
      maxRole: 'member',
    })
    expect(page.body.replaceAll(/\s+/g, ' ')).toContain(
      'only reads · acts as member at most · only in <bdi>Acme &amp; Co</bdi> · expires on <time',
    )
  })

  it('creates a key without restrictions unless some are chosen', async () => {
    const { person, visitor } = await start()
    const page = await visitor.submit(path, { name: 'Laptop', access: 'full', expires: '', reach: '' })
    const key = await findNewKey(person, page.body)
    expect(await readRestrictions(website, person, key)).toEqual(noRestrictions)
  })

  it('creates no key when no workspace is checked, and shows again what was chosen', async () => {
    const { person, visitor } = await start()
    const answer = await visitor.submit(path, {
      name: 'Nowhere',
      access: 'read',
      expires: '90',
      reach: 'chosen',
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(errors.workspacesUnchosen.message)
    expect(answer.body).toContain('value="Nowhere"')
    expect(answer.body).toMatch(/<option value="90" selected>/)
    expect((await website.as(person, get('/v1/api-keys'))).json()).toHaveLength(1)
  })

  it('refuses a role that there is not', async () => {
    const { visitor } = await start()
    expect((await visitor.submit(path, { name: 'Root', maxRole: 'root' })).statusCode).toBe(403)
  })

  it('refuses a lifetime that it does not offer', async () => {
    const { visitor } = await start()
    expect((await visitor.submit(path, { name: 'Long', expires: '9999' })).statusCode).toBe(403)
  })
})

describe('the page of a key', () => {
  it('changes the restrictions, and keeps an expiry and the workspaces that the person has left', async () => {
    const { person, visitor, acme, looms } = await start()
    const expiresAt = inDays(3)
    const key = await createKey(website, person, { expiresAt, workspaceIds: [acme.id] })
    await website.db.$client.query('delete from memberships where workspace_id = $1', [acme.id])
    const page = await visitor.get(`${path}/${key.id}`)
    expect(page.body).toMatch(/<option value="unchanged" selected>/)
    const done = await visitor.submit(`${path}/${key.id}/restrict`, {
      access: 'read',
      maxRole: 'viewer',
      expires: 'unchanged',
      reach: 'chosen',
      [`workspace-${looms.id}`]: 'on',
    })
    expect(noticeOn(done.body)).toBe('The key “Restricted” was changed.')
    expect(await readRestrictions(website, person, key)).toEqual({
      expiresAt,
      access: 'read',
      workspaceIds: [looms.id, acme.id],
      maxRole: 'viewer',
    })
    await visitor.submit(`${path}/${key.id}/restrict`, { access: 'full', expires: '', reach: '' })
    expect(await readRestrictions(website, person, key)).toEqual(noRestrictions)
  })

  it('rotates a key once, and shows the new one', async () => {
    const { person, visitor } = await start()
    const old = await createKey(website, person, { access: 'read' })
    await visitor.get(`${path}/${old.id}`)
    const page = await visitor.submit(`${path}/${old.id}/rotate`, { overlap: '3600' })
    const key = await findNewKey(person, page.body)
    expect(await readRestrictions(website, person, key)).toEqual({ ...noRestrictions, access: 'read' })
    expect(await readRestrictions(website, person, old)).toMatchObject({ expiresAt: inDays(1 / 24) })
    const again = await visitor.get(`${path}/${old.id}`)
    expect(again.body).toContain('This key was rotated')
    const refused = await visitor.submit(`${path}/${old.id}/rotate`, { overlap: '0' })
    expect(refused.statusCode).toBe(409)
    await expectWorks(website, old, true)
  })

  it('says which rotated key works on when the one that took its place is revoked, and mails it', async () => {
    const { person, visitor } = await start()
    const old = await createKey(website, person, {})
    clock.advance(1000)
    await visitor.get(`${path}/${old.id}`)
    const page = await visitor.submit(`${path}/${old.id}/rotate`, { overlap: '3600' })
    const key = await findNewKey(person, page.body)
    const done = await visitor.submit(`${path}/${key.id}/revoke`)
    expect(noticeOn(done.body)).toBe('The key “Restricted” was revoked.')
    expect(done.body.replaceAll(/\s+/g, ' ')).toContain(
      `which ends in <code>${old.lastFour}</code> and still works`,
    )
    const { text } = await website.waitForMail(person.email, /An older API key Restricted still works/)
    expect(text).toContain(`which ends in ${old.lastFour}`)
    await expectWorks(website, old, true)
    await visitor.submit(`${path}/${old.id}/revoke`)
    await expectWorks(website, old, false)
  })

  it('mentions no other key when a key is revoked whose rotated one has ended', async () => {
    const { person, visitor } = await start()
    const old = await createKey(website, person, {})
    clock.advance(1000)
    await visitor.get(`${path}/${old.id}`)
    const page = await visitor.submit(`${path}/${old.id}/rotate`, { overlap: '0' })
    const done = await visitor.submit(`${path}/${(await findNewKey(person, page.body)).id}/revoke`)
    expect(done.body).not.toContain('still works')
  })

  it('is not found for a key of another person', async () => {
    const [{ visitor }, { person }] = [await start(), await start()]
    expect((await visitor.get(`${path}/${person.apiKeyId}`)).statusCode).toBe(404)
    for (const form of ['restrict', 'rotate'])
      expect((await visitor.submit(`${path}/${person.apiKeyId}/${form}`, { overlap: '0' })).statusCode).toBe(
        404,
      )
  })
})
