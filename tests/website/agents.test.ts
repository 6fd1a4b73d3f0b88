import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { createId } from '../../src/kernel/ids.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const { db } = website
const dayMs = 24 * 60 * 60 * 1000

/** A grant of a member that ends in so many days, and its page. */
async function startGrant(days: number) {
  const company = await createCompany(website)
  const { workspace, member } = company
  const options = { clientName: 'Robbie <3', lifetimeMs: days * dayMs }
  const grant = await insertGrant(website, workspace, member, options)
  const list = `/w/${workspace.slug}/agents`
  return { company, grant, list, page: `${list}/${grant.id}`, visitor: await signInAs(website, member) }
}

const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

async function findEnd({ id }: { id: string }): Promise<number> {
  const { rows } = await db.execute<{ ms: string }>(
    sql`select extract(epoch from expires_at) * 1000 as ms from agent_grants where id = ${id}`,
  )
  return Number(rows[0]?.ms)
}

it('marks access that ends within two weeks, on both pages', async () => {
  const soon = await startGrant(12)
  for (const page of [soon.list, soon.page])
    expect(textOf((await soon.visitor.get(page)).body)).toContain('ends in 12 days')
  const later = await startGrant(15)
  for (const page of [later.list, later.page])
    expect(textOf((await later.visitor.get(page)).body)).not.toContain('ends in')
})

it('prolongs access after a proof, for the terms that end later', async () => {
  const { grant, page, visitor } = await startGrant(60)
  const shown = (await visitor.get(page)).body
  expect(shown).not.toContain('<option value="30"')
  expect(shown).toMatch(/<option value="90"\s+selected/)
  await db.execute(sql`update sessions set proven_at = null where user_id = ${grant.userId}`)
  const before = await findEnd(grant)
  const asked = await visitor.submit(`${page}/prolong`, { days: '180' })
  expect(asked.headers.location).toBe(`/settings/security/confirm?next=${encodeURIComponent(page)}`)
  expect(await findEnd(grant)).toBe(before)
  await db.execute(sql`update sessions set proven_at = now() where user_id = ${grant.userId}`)
  await visitor.get(page)
  const done = await visitor.submit(`${page}/prolong`, { days: '180' })
  expect(noticeOn(done.body)).toContain('was prolonged')
  expect(Math.abs((await findEnd(grant)) - Date.now() - 180 * dayMs)).toBeLessThan(60_000)
  // Nothing ends later than this.
  expect(done.body).not.toContain(`${page}/prolong`)
  expect((await visitor.submit(`${page}/prolong`, { days: '365' })).statusCode).toBe(403)
})

it('shows an owner what the agent of another did, but neither its addresses nor a way to prolong it', async () => {
  const { company, grant, list, page, visitor } = await startGrant(60)
  const seed = await createSeed(website, company.member, company, { title: 'Bikes <3' })
  await db.execute(sql`
    insert into agent_grant_places (grant_id, address, first_seen_at, last_seen_at)
    values (${grant.id}, '2001:db8:1:2::', now(), now())`)
  const call = (minutesAgo: number, tool: string, code: string, seedId: string | null = null) =>
    db.execute(sql`
      insert into agent_call_log (grant_id, called_at, id, tool, seed_id, code)
      values (${grant.id}, now() - ${minutesAgo} * interval '1 minute', ${createId()}, ${tool}, ${seedId}, ${code})`)
  await call(90, 'search', 'ok')
  await call(20, 'fetch', 'ok', seed.id)
  await call(10, 'add_evidence', 'not_a_participant', seed.id)
  const owner = await signInAs(website, company.owner)
  expect((await owner.get(list)).body).toContain(`href="${page}"`)
  for (const reader of [visitor, owner]) {
    const { body } = await reader.get(page)
    expect(body).toContain(
      `<a href="/w/${company.workspace.slug}/seeds/${seed.id}"><bdi>Bikes &lt;3</bdi></a>`,
    )
    const tools = [...body.matchAll(/<code>(\w+)<\/code>/g)].map(([, tool]) => tool)
    expect(tools).toEqual(['fetch', 'add_evidence', 'search'])
    expect(textOf(body)).toContain('2 calls, 1 of them failed')
    expect(body).toContain('not_a_participant')
  }
  expect((await visitor.get(page)).body).toContain('2001:db8:1:2::/64')
  const seen = (await owner.get(page)).body
  expect(seen).not.toContain('2001:db8')
  expect(seen).not.toContain(`${page}/prolong`)
  expect(seen).toContain(`${page}/revoke`)
})

it('is shown after the access ended, without its forms, and not to other members', async () => {
  const { company, grant, page, visitor } = await startGrant(60)
  await db.execute(sql`update agent_grants set revoked_at = now() where id = ${grant.id}`)
  const { body } = await visitor.get(page)
  expect(textOf(body)).toMatch(/ · ended /)
  expect(body).not.toContain(`${page}/revoke`)
  expect(body).not.toContain(`${page}/prolong`)
  const viewer = await signInAs(website, company.viewer)
  expect((await viewer.get(page)).statusCode).toBe(404)
})

it('lets members ask an agent that qualifies, until it may change teams and invite people', async () => {
  const { grant, page, list, visitor } = await startGrant(60)
  const setScopes = (scopes: string, version = 2) =>
    db.execute(
      sql`update agent_grants set scopes = ${scopes}::text[], consent_version = ${version} where id = ${grant.id}`,
    )
  const isTicked = async () =>
    (
      await db.execute<{ members_may_ask: boolean }>(
        sql`select members_may_ask from agent_grants where id = ${grant.id}`,
      )
    ).rows[0]?.members_may_ask
  await setScopes('{validation-kit:read,workspace:read}')
  expect((await visitor.get(page)).body).not.toContain(`${page}/asking`)
  await setScopes('{validation-kit:read,workspace:read,seeds:write}', 1)
  expect((await visitor.get(page)).body).not.toContain(`${page}/asking`)
  await setScopes('{validation-kit:read,workspace:read,seeds:write}')
  expect(textOf((await visitor.get(page)).body)).toContain('Members then see the name of')
  const allowed = await visitor.submit(`${page}/asking`, { membersMayAsk: 'on' })
  expect(noticeOn(allowed.body)).toContain('Members may ask')
  expect(await isTicked()).toBe(true)
  await visitor.get(list)
  const widened = await visitor.submit(`${page}/scopes`, { 'workspace:read': 'on', 'seeds:write': '' })
  expect(noticeOn(widened.body)).toContain('Members may no longer ask it.')
  expect(await isTicked()).toBe(false)
})
