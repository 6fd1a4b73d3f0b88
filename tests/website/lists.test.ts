import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { createId } from '../../src/kernel/ids.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const path = `/w/${company.workspace.slug}/invites`
const owner = await signInAs(website, company.owner)

/** 250 pending invites, which are three pages. */
const emails = Array.from({ length: 250 }, (_, i) => `p${String(i).padStart(3, '0')}@example.com`)
for (const [i, email] of emails.entries()) {
  await website.db.execute(sql`
    insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
    values (${createId()}, ${company.workspace.id}, ${email}, ${email}, 'member', 'open', ${company.owner.id},
      ${new Date(Date.now() - 300_000 + i * 1000).toISOString()}, ${new Date(Date.now() + 86_400_000).toISOString()})`)
}

const shown = (body: string) =>
  [...body.matchAll(/<strong>(p\d{3}@example\.com)</g)].map(([, email]) => email)
const linkOf = (body: string, label: string) =>
  new RegExp(`href="([^"]*)"\\s*>${label}<`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('a list with several pages', () => {
  it('has links to the next and previous page, and stays on its page after a change', async () => {
    const first = await owner.get(path)
    expect(shown(first.body)).toEqual(emails.slice(0, 100))
    const second = await owner.get(linkOf(first.body, 'Next page'))
    expect(shown(second.body)).toEqual(emails.slice(100, 200))
    const here = linkOf(first.body, 'Next page')
    const third = await owner.get(linkOf(second.body, 'Next page'))
    expect(shown(third.body)).toEqual(emails.slice(200))
    expect(third.body).not.toContain('>Next page<')
    expect(linkOf(third.body, 'Previous page')).toBe(here)

    const id = /invites\/([0-9a-f-]{36})\/revoke/.exec((await owner.get(here)).body)?.[1]
    const headers = { 'sec-fetch-site': 'same-origin', referer: website.config.webUrl + here }
    const revoked = await owner.post(`${path}/${String(id)}/revoke`, {}, headers)
    const location = String(revoked.headers.location)
    expect(location.replace(/&flash=[\w-]{43}$/, '')).toBe(here)
    const after = await owner.get(location)
    expect(noticeOn(after.body)).toBe(`The invite to ${String(emails[100])} was revoked.`)
    expect(noticeOn((await owner.get(location)).body)).toBeUndefined()
    expect(shown(after.body)).toEqual(emails.slice(101, 201))
    const back = await owner.get(linkOf(after.body, 'First page'))
    expect(shown(back.body)).toEqual(emails.slice(0, 100))
  })

  it('shows the first page if the cursor is invalid', async () => {
    const page = await owner.get(`${path}?cursor=x`)
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('That page of the list no longer exists.')
    expect(shown(page.body)).toEqual(emails.slice(0, 100))
  })
})
