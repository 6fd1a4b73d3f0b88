import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deletionWaitMs } from '../../src/domain/accounts.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post, randomEmail } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createVisitor, noticeOn, password, signInAs, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const page = '/settings/security/leaving'

async function signUpNew() {
  const email = randomEmail()
  return { email, visitor: await signUp(website, { email }) }
}

async function requestDeletion(email: string, visitor: Visitor) {
  await visitor.get(page)
  expect((await visitor.submit(`${page}/delete`, { confirmEmail: email })).headers.location).toBe(
    '/sign-in?done=account-leaving',
  )
  const { text } = await website.waitForMail(email, /will be deleted/)
  return String(/\/sign-in\/keep-account\/[\w-]+/.exec(text)?.[0])
}

describe('deleting one’s account', () => {
  it('signs out everywhere, and lets nobody sign in until the link in the mail is used', async () => {
    const { email, visitor } = await signUpNew()
    const link = await requestDeletion(email, visitor)
    expect((await visitor.get(page)).headers.location).toContain('/sign-in')
    const other = createVisitor(website)
    await other.get('/sign-in')
    const refused = await other.submit('/sign-in', { email, password })
    expect(refused.body).toContain(errors.accountLeaving.message)

    await other.get(link)
    // Mail scanners open links.
    await other.get(link)
    expect((await other.submit(link)).headers.location).toBe('/sign-in?done=account-kept')
    await other.get('/sign-in')
    expect((await other.submit('/sign-in', { email, password })).headers.location).not.toContain('/sign-in')
    expect((await other.get(link)).statusCode).toBe(404)
  })

  it('cannot be cancelled after seven days', async () => {
    const { email, visitor } = await signUpNew()
    const link = await requestDeletion(email, visitor)
    clock.advance(deletionWaitMs + 1)
    expect((await createVisitor(website).get(link)).statusCode).toBe(404)
  })

  it('needs a proof, and the address', async () => {
    const { email, visitor } = await signUpNew()
    clock.advance(16 * 60 * 1000)
    expect((await visitor.get(page)).headers.location).toContain('/settings/security/confirm')
    expect((await visitor.post(`${page}/delete`, { confirmEmail: email })).headers.location).toContain(
      '/confirm',
    )
    await visitor.get(`/settings/security/confirm?next=${page}`)
    await visitor.submit('/settings/security/confirm/password', { password, next: page })
    await visitor.get(page)
    const refused = await visitor.submit(`${page}/delete`, { confirmEmail: randomEmail() })
    expect(refused.body).toContain(errors.confirmationMismatch.message)
  })
})

describe('what allows API keys to export and delete the account', () => {
  it.each(['changed', 'reset'])('ends when the password is %s', async (how) => {
    const { email, visitor } = await signUpNew()
    await visitor.get(page)
    await visitor.submit(`${page}/allow`)
    const allowed = 'may export and delete the account until'
    expect((await visitor.get(page)).body.replaceAll(/\s+/g, ' ')).toContain(allowed)
    const chosen = `${password} anew`
    if (how === 'changed') {
      await visitor.get('/settings/security')
      const form = { currentPassword: password, password: chosen }
      const changed = await visitor.submit('/settings/security/password', form)
      expect(changed.statusCode, changed.body).toBeLessThan(400)
    } else {
      const user = await website.services.accounts.findByEmail(email)
      const { url } = await website.services.credentials.createLink('reset_password', user?.id ?? '')
      await visitor.get(new URL(url).pathname)
      await visitor.submit(new URL(url).pathname, { password: chosen })
      await visitor.get('/sign-in')
      await visitor.submit('/sign-in', { email, password: chosen })
    }
    const after = await visitor.get(page)
    expect(after.statusCode).toBe(200)
    expect(after.body.replaceAll(/\s+/g, ' ')).not.toContain(allowed)
  })
})

describe('exporting one’s data', () => {
  it('is a file', async () => {
    const { email, visitor } = await signUpNew()
    const answer = await visitor.get(`${page}/export`)
    expect(answer.headers['content-disposition']).toMatch(
      /^attachment; filename="account-\d{4}-\d\d-\d\d\.json"$/,
    )
    expect(answer.json()).toMatchObject({ profile: { email } })
  })
})

describe('allowing it by API', () => {
  it('lasts for ten minutes', async () => {
    const company = await createCompany(website)
    const visitor = await signInAs(website, company.member)
    const exporting = () => website.as(company.member, get('/v1/me/export'))
    expectError(await exporting(), errors.recentProofRequired)
    await visitor.get(page)
    const answer = await visitor.submit(`${page}/allow`)
    expect(noticeOn(answer.body)).toBe('Allowed for ten minutes.')
    expect((await exporting()).statusCode).toBe(200)
    clock.advance(10 * 60 * 1000)
    expectError(await exporting(), errors.recentProofRequired)
  })
})

describe('allowing API keys to delete or transfer a workspace', () => {
  it('needs a proof, and is used up by one of each', async () => {
    const company = await createCompany(website)
    const { owner, admin, member, workspace } = company
    const base = `/w/${workspace.slug}`
    const transfer = () => website.as(owner, post(`${company.url}/transfer-ownership`, { userId: member.id }))
    const unproven = await signInAs(website, owner)
    await website.db.execute(sql`update sessions set proven_at = null where user_id = ${owner.id}`)
    await unproven.get(`${base}/settings`)
    const asked = await unproven.post(`${base}/settings/allow`, { action: 'workspaces.delete' })
    expect(asked.headers.location).toMatch(/^\/settings\/security\/confirm\?/)

    const visitor = await signInAs(website, owner)
    await visitor.get(`${base}/settings`)
    const allowed = await visitor.submit(`${base}/settings/allow`, { action: 'workspaces.transferOwnership' })
    expect(noticeOn(allowed.body)).toBe(
      'Your API keys may transfer the ownership once in the next ten minutes.',
    )
    expect(visitor.page().replaceAll(/\s+/g, ' ')).toMatch(/Allowed until .*: transfer the ownership\./)
    const removing = post(`${company.url}/delete`, { confirmSlug: workspace.slug })
    expectError(await website.as(owner, removing), errors.recentProofRequired)
    expect((await transfer()).statusCode).toBe(200)

    const ofAdmin = await signInAs(website, admin)
    await ofAdmin.get(`${base}/settings`)
    expect(ofAdmin.page()).not.toContain(`${base}/settings/allow`)
    const refused = await ofAdmin.submit(`${base}/settings/allow`, { action: 'workspaces.delete' })
    expect(refused.statusCode).toBe(403)
  })
})

describe('the owner of a workspace', () => {
  it('exports, transfers and deletes it, which others are not offered', async () => {
    const company = await createCompany(website)
    const { owner, admin, workspace } = company
    const base = `/w/${workspace.slug}`
    const [ofOwner, ofAdmin] = [await signInAs(website, owner), await signInAs(website, admin)]
    await ofAdmin.get(`${base}/settings`)
    expect(ofAdmin.page()).not.toContain(`${base}/settings/delete`)
    expect((await ofAdmin.get(`${base}/settings/export`)).statusCode).toBe(403)
    await ofOwner.get(`${base}/settings`)
    expect(ofOwner.page()).toContain(`${base}/settings/delete`)
    const file = await ofOwner.get(`${base}/settings/export`)
    expect(file.headers['content-disposition']).toMatch(
      new RegExp(`^attachment; filename="${workspace.slug}-\\d{4}-\\d\\d-\\d\\d\\.ndjson"$`),
    )
    expect(file.body.trimEnd().split('\n').at(-1)).toContain('"kind":"end"')

    await ofOwner.get(`${base}/people/${admin.id}`)
    const transferred = await ofOwner.submit(`${base}/members/${admin.id}/transfer`)
    expect(noticeOn(transferred.body)).toBe('Adam Admin is now an owner, and you are an admin.')

    await ofAdmin.get(`${base}/settings/delete`)
    const refused = await ofAdmin.submit(`${base}/settings/delete`, { confirmSlug: 'acme' })
    expect(refused.body).toContain(errors.confirmationMismatch.message)
    const deleted = await ofAdmin.submit(`${base}/settings/delete`, { confirmSlug: workspace.slug })
    expect(deleted.headers.location).toBe('/')
    expect((await ofOwner.get(base)).statusCode).toBe(404)
    const rows = await website.db.execute(
      sql`select 1 from workspaces where id = ${workspace.id} and deleted_at is not null`,
    )
    expect(rows.rowCount).toBe(1)
  })
})
