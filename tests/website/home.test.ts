import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, createInvite, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { addEvidence, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { signInAs } from './visitor.ts'

const website = await startTestApp({ environment: { MAIL_LIMIT_PER_HOUR: '0' } })

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, base: `/w/${company.workspace.slug}` }
}

describe('the first steps', () => {
  const stepsOn = (page: string) =>
    [...page.matchAll(/<li( class="done")?>\s*<span aria-hidden="true">[✓○]</g)].map(
      ([, done]) => done !== undefined,
    )

  it('are shown in a new workspace, checked when done, and hidden after the last one', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    const read = async () => stepsOn((await visitor.get(company.base)).body)
    expect(await read()).toEqual([false, false, false, false])
    await createInvite(website, company.owner, company)
    expect(await read()).toEqual([true, false, false, false])
    const seed = await createSeed(website, company.owner, company)
    expect(await read()).toEqual([true, true, false, false])
    await joinSeed(website, company.owner, seed)
    await addEvidence(website, company.owner, seed)
    expect(await read()).toEqual([true, true, true, false])
    const grant = await insertGrant(website, company.workspace, company.owner)
    await website.db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, target_type, target_id, summary, created_at)
      values (${crypto.randomUUID()}, ${company.workspace.id}, 'integration.granted', 'user', ${company.owner.id}, 'Olga', 'web', 'integration', ${grant.id}, 'x', now())`)
    expect(await read()).toEqual([])
    expect(visitor.page()).not.toContain('First steps')
  })

  it('can be hidden for one workspace, and are not shown to members', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    await visitor.get(company.base)
    expect((await visitor.submit(`${company.base}/first-steps`)).headers.location).toBe(company.base)
    expect((await visitor.get(company.base)).body).not.toContain('First steps')
    const other = await createWorkspace(website, company.owner)
    expect((await visitor.get(`/w/${other.slug}`)).body).toContain('First steps')
    visitor.cookies.set('no-first-steps', '..<b>.%00')
    expect((await visitor.get(company.base)).body).toContain('First steps')
    expect((await (await signInAs(website, company.member)).get(company.base)).body).not.toContain(
      'First steps',
    )
  })
})

describe('the notices on the home page', () => {
  const text = 'lost its access'

  it('report the person’s agents whose access ended, unless they revoked or reconnected them', async () => {
    const company = await startCompany()
    const { owner, member, workspace } = company
    const visitor = await signInAs(website, member)
    const end = (id: string, column: 'revoked_at' | 'expires_at', ago: string) =>
      website.db.execute(
        sql`update agent_grants set ${sql.raw(column)} = now() - ${ago}::interval where id = ${id}`,
      )
    const see = async () => (await visitor.get(company.base)).body.includes(text)
    const grant = await insertGrant(website, workspace, member)
    expect(await see()).toBe(false)

    await end(grant.id, 'expires_at', '1 day')
    expect(await see()).toBe(true)
    expect((await (await signInAs(website, owner)).get(company.base)).body).not.toContain(text)
    await end(grant.id, 'expires_at', '15 days')
    expect(await see()).toBe(false)

    // An admin revokes another one.
    const second = await insertGrant(website, workspace, member, { clientName: 'Claude <3' })
    const revoke = (person: typeof owner, id: string) =>
      website.as(person, post(`${company.url}/integrations/${id}/revoke`))
    expect((await revoke(owner, second.id)).statusCode).toBe(200)
    expect(await see()).toBe(true)
    expect(visitor.page()).toContain('<bdi>Claude &lt;3</bdi>')
    // The same agent is connected again.
    await website.db.execute(
      sql`update agent_grants set client_id = 'same', created_at = now() - '2 days'::interval where id = ${second.id}`,
    )
    const third = await insertGrant(website, workspace, member)
    await website.db.execute(sql`update agent_grants set client_id = 'same' where id = ${third.id}`)
    expect(await see()).toBe(false)
    // The person revokes it.
    expect((await revoke(member, third.id)).statusCode).toBe(200)
    expect(await see()).toBe(false)
  })

  it('report changes of the last seven days in seeds that the person joined', async () => {
    const company = await startCompany()
    const seed = await createSeed(website, company.owner, company, { title: 'Shorter invoices' })
    await joinSeed(website, company.member, seed)
    const read = async (role: 'member' | 'viewer') =>
      (await (await signInAs(website, company[role])).get(company.base)).body
    expect(await read('member')).toContain('Changes in seeds that you joined')
    expect(await read('viewer')).not.toContain('Changes in seeds that you joined')
    await website.db.execute(
      sql`update seeds set updated_at = now() - '8 days'::interval where id = ${seed.id}`,
    )
    expect(await read('member')).not.toContain('Changes in seeds that you joined')
    expect(await read('member')).toContain('Shorter invoices')
  })

  it('do not report seeds that only the person changed', async () => {
    const company = await startCompany()
    const { member, owner } = company
    const seed = await createSeed(website, member, company)
    await joinSeed(website, member, seed)
    await addEvidence(website, member, seed)
    const visitor = await signInAs(website, member)
    expect((await visitor.get(company.base)).body).not.toContain('Changes in seeds that you joined')
    await joinSeed(website, owner, seed)
    await addEvidence(website, owner, seed)
    expect((await visitor.get(company.base)).body).toContain('Changes in seeds that you joined')
    expect((await (await signInAs(website, owner)).get(company.base)).body).toContain(
      'Changes in seeds that you joined',
    )
  })
})

describe('the home page of a workspace', () => {
  it('explains seeds, and links only the actions that the role permits', async () => {
    const company = await startCompany()
    const [member, viewer] = [company.member, company.viewer]
    const read = async (person: typeof member) =>
      (await (await signInAs(website, person)).get(company.base)).body
    expect(await read(member)).toContain('A seed is an early idea')
    expect(await read(member)).toContain(`href="${company.base}/seeds/new"`)
    expect(await read(viewer)).not.toContain(`href="${company.base}/seeds/new"`)
    expect(await read(member)).not.toContain(`href="${company.base}/invites"`)
    expect(await read(company.admin)).toContain(`href="${company.base}/invites"`)
  })

  it('runs at most ten statements', async () => {
    const company = await startCompany()
    await createSeed(website, company.owner, company)
    const visitor = await signInAs(website, company.owner)
    // The session, the workspace, three lists of seeds, members, activity, agents that lost access, and invites;
    // then what the activity names.
    expect(await countQueries(() => visitor.get(company.base))).toBeLessThanOrEqual(10)
  })
})
