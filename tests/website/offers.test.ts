import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { parseJson } from '../../src/kernel/json-text.ts'
import type { Principal } from '../../src/kernel/principal.ts'
import {
  createCompany,
  createInvite,
  del,
  findRoles,
  get,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createUser } from '../support/people.ts'
import { recordStatements } from '../support/record-statements.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, type TestPerson } from '../support/test-app.ts'
import { addMember, allowDomains, findEvents, randomSlug } from '../support/workspaces.ts'
import { createVisitor, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, createPerson, db, services } = website

const hour = 60 * 60 * 1000
const randomDomain = () => `${randomSlug('d')}.example`

/** A company that allows a domain. */
async function createOpenCompany(domain: string): Promise<TestCompany> {
  const company = await createCompany(website)
  await allowDomains(website, company.workspace, [domain])
  return company
}

/** A person who has signed in before, with an API key, and a browser that is not signed in. */
async function createReturningPerson(domain: string) {
  const email = `${randomUUID()}@${domain}`
  const person = await createPerson({ email })
  await db.execute(sql`update users set first_signed_in_at = now() where id = ${person.id}`)
  return { person, visitor: createVisitor(website) }
}

/** Signs in with a link. Returns where the home page redirects. */
async function signIn(visitor: Visitor, { id }: { id: string }): Promise<string> {
  const { url } = await services.credentials.createLink('sign_in', id)
  const path = new URL(url).pathname
  await visitor.get(path)
  expect((await visitor.submit(path)).statusCode).toBe(303)
  return String((await visitor.get('/')).headers.location)
}

const isIn = async ({ workspace }: TestCompany, { id }: { id: string }) =>
  id in (await findRoles(website, workspace))

const offersOn = (page: string) => [...page.matchAll(/offers\/([^/]+)\/join/g)].map(([, id]) => id)

describe('a workspace that allows the person’s email domain', () => {
  it('is joined at the first sign-in if it is the only one', async () => {
    const domain = randomDomain()
    const company = await createOpenCompany(domain)
    const visitor = await signUp(website, { email: `${randomUUID()}@${domain}` })
    expect((await visitor.get('/')).headers.location).toBe(`/w/${company.workspace.slug}`)
  })

  it('is joined at the first sign-in of a person whom an operator created', async () => {
    const domain = randomDomain()
    const person = await createPerson({ email: `${randomUUID()}@${domain}` })
    const company = await createOpenCompany(domain)
    expect(await isIn(company, person)).toBe(false)
    await signIn(createVisitor(website), person)
    expect(await isIn(company, person)).toBe(true)
  })

  it('is offered at every later sign-in until the person joins', async () => {
    const domain = randomDomain()
    const { person, visitor } = await createReturningPerson(domain)
    const company = await createOpenCompany(domain)
    for (let i = 0; i < 2; i++) {
      expect(await signIn(visitor, person)).toBe('/onboarding')
      expect(await isIn(company, person)).toBe(false)
    }
    expect((await as(person, get('/v1/me/onboarding'))).json()).toEqual({ existing: null })
    const page = await visitor.get('/onboarding')
    expect(page.body).toContain('Workspaces that you can join')
    expect(offersOn(page.body)).toEqual([company.workspace.id])

    const joined = await visitor.submit(`/onboarding/offers/${company.workspace.id}/join`)
    expect(joined.headers.location).toBe(`/w/${company.workspace.slug}`)
    expect(await findRoles(website, company.workspace)).toMatchObject({ [person.id]: 'member' })
    expect((await findEvents(website, company.workspace)).at(-1)).toMatchObject({
      type: 'member.joined',
      actor_type: 'user',
      actor_user_id: person.id,
      source: 'web',
      summary: `Grace Hopper joined with an email address at ${domain}`,
    })
    expect(offersOn((await visitor.get('/onboarding')).body)).toEqual([])
    await visitor.get('/onboarding')
    const again = await visitor.submit(`/onboarding/offers/${company.workspace.id}/join`)
    expect(again.statusCode).toBe(404)
  })

  it('can be declined, and can still be joined later', async () => {
    const domain = randomDomain()
    const { person, visitor } = await createReturningPerson(domain)
    const { workspace } = await createOpenCompany(domain)
    await signIn(visitor, person)
    await visitor.get('/onboarding')
    expect((await visitor.submit(`/onboarding/offers/${workspace.id}/decline`)).headers.location).toBe('/')
    expect(await signIn(visitor, person)).toBe('/onboarding')
    expect(await services.offers.hasNew(await principalOf(person))).toBe(false)
    // It can still be joined.
    const page = await visitor.get('/onboarding')
    expect(offersOn(page.body)).toEqual([workspace.id])
    expect(page.body).not.toContain('/decline')
  })

  it('is not offered to people of other domains, who get 404 when they join or decline it', async () => {
    const company = await createOpenCompany(randomDomain())
    const { person, visitor } = await createReturningPerson(randomDomain())
    await signIn(visitor, person)
    const page = await visitor.get('/onboarding')
    expect(page.body).not.toContain('Workspaces that you can join')
    for (const id of [company.workspace.id, 'x', randomUUID()]) {
      for (const action of ['join', 'decline']) {
        await visitor.get('/onboarding')
        const answer = await visitor.submit(`/onboarding/offers/${id}/${action}`)
        expect(answer.statusCode).toBe(404)
      }
    }
    expect(await isIn(company, person)).toBe(false)
  })

  it('returns 404 when a person joins after it stopped allowing the domain', async () => {
    const domain = randomDomain()
    const { person, visitor } = await createReturningPerson(domain)
    const company = await createOpenCompany(domain)
    await signIn(visitor, person)
    await visitor.get('/onboarding')
    await allowDomains(website, company.workspace, [])
    const answer = await visitor.submit(`/onboarding/offers/${company.workspace.id}/join`)
    expect(answer.statusCode).toBe(404)
    expect(await isIn(company, person)).toBe(false)
  })

  it('does not block the sign-in of a person at the limit of 1,000 workspaces, but joining returns 409', async () => {
    const domain = randomDomain()
    const person = await createPerson({ email: `${randomUUID()}@${domain}` })
    await db.execute(sql`
      with full_house as (
        insert into workspaces (id, name, slug, created_at)
        select gen_random_uuid(), 'Full', ${domain} || '-' || n, now() from generate_series(1, 1000) as n returning id
      )
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select id, ${person.id}, 'member', now(), now() from full_house`)
    const company = await createOpenCompany(domain)
    const visitor = createVisitor(website)
    expect(await signIn(visitor, person)).toBe('/onboarding')
    expect(await isIn(company, person)).toBe(false)
    await visitor.get('/onboarding')
    const answer = await visitor.submit(`/onboarding/offers/${company.workspace.id}/join`)
    expect(answer.statusCode).toBe(409)
  })

  it('is not the home of the person before they have used it', async () => {
    const domain = randomDomain()
    const { person, visitor } = await createReturningPerson(domain)
    const own = await createCompany(website)
    await addMember(website, own.workspace, person, 'member', new Date(clock.now().getTime() - hour))
    const { workspace } = await createOpenCompany(domain)
    await signIn(visitor, person)
    await services.offers.join(await principalOf(person), workspace.id)
    expect((await as(person, get('/v1/me/home'))).json()).toBe(`/w/${own.workspace.slug}`)
    await as(person, get(`/v1/workspaces/${workspace.slug}`))
    expect((await as(person, get('/v1/me/home'))).json()).toBe(`/w/${workspace.slug}`)
  })
})

describe('a former member of a workspace that allows their domain', () => {
  async function createMember() {
    const domain = randomDomain()
    const company = await createOpenCompany(domain)
    const person = await createUser(services, { email: `${randomUUID()}@${domain}` })
    expect(await isIn(company, person)).toBe(true)
    return { company, domain, person, visitor: createVisitor(website) }
  }
  const remove = async (company: TestCompany, actor: TestPerson, person: TestPerson) => {
    const answer = await as(actor, del(`${company.url}/members/${person.id}`))
    expect(answer.statusCode).toBe(200)
  }

  it('does not rejoin at the first sign-in after leaving, but can join again', async () => {
    const { company, person, visitor } = await createMember()
    await remove(company, person, person)
    expect(await signIn(visitor, person)).toBe('/onboarding')
    expect(await isIn(company, person)).toBe(false)
    expect(await services.offers.hasNew(await principalOf(person))).toBe(false)
    await visitor.get('/onboarding')
    await visitor.submit(`/onboarding/offers/${company.workspace.id}/join`)
    expect(await isIn(company, person)).toBe(true)
    expect(await departuresOf(person)).toEqual([])
  })

  it('gets no offer after being removed, and cannot join until they are invited', async () => {
    const { company, person, visitor } = await createMember()
    await remove(company, company.admin, person)
    await signIn(visitor, person)
    expect(await isIn(company, person)).toBe(false)
    expect(offersOn((await visitor.get('/onboarding')).body)).toEqual([])
    for (const action of ['decline', 'join'])
      expect((await visitor.submit(`/onboarding/offers/${company.workspace.id}/${action}`)).statusCode).toBe(
        404,
      )
    expect(await departuresOf(person)).toEqual([{ kind: 'removed' }])

    const invited = { email: person.email.toUpperCase() }
    const { id, token } = await createInvite(website, company.owner, company, invited)
    const { items } = await services.offers.list(await principalOf(person), {})
    expect(parseJson(items)).toEqual([])
    expect((await visitor.get('/onboarding')).body).toContain('Invites for you')
    expect(offersOn(visitor.page())).toEqual([])
    // An invite that is revoked again lets nobody in.
    await as(company.owner, post(`${company.url}/invites/${id}/revoke`))
    expectError(await as(person, post(`/v1/invites/${token}/accept`)), errors.inviteRevoked)
    expect(parseJson((await services.offers.list(await principalOf(person), {})).items)).toEqual([])
    const again = await createInvite(website, company.owner, company, invited)
    expect((await as(person, post(`/v1/invites/${again.token}/accept`))).statusCode).toBe(200)
    expect(await departuresOf(person)).toEqual([])
  })
})

describe('with 1,000 workspaces that allow a domain', () => {
  it('signing in and the home page run as many statements as with two workspaces', async () => {
    const domains = [randomDomain(), randomDomain()]
    const costs: unknown[] = []
    for (const [i, domain] of domains.entries()) {
      const count = i === 0 ? 2 : 1000
      await db.execute(sql`
        insert into workspaces (id, name, slug, allowed_domains, created_at)
        select gen_random_uuid(), 'Claimed', ${domain} || '-' || n, array[${domain}], now() from generate_series(1, ${count}) as n`)
      const email = `${randomUUID()}@${domain}`
      const visitor = await signUp(website, { email })
      await visitor.get('/sign-in')
      await services.sessions.endByToken(String(visitor.cookies.get('session')))
      await visitor.get('/sign-in')
      const cost = await recordStatements(async () => {
        expect((await visitor.submit('/sign-in', { email, password })).statusCode).toBe(303)
        expect((await visitor.get('/')).headers.location).toBe('/onboarding')
      })
      costs.push(cost.texts.length)
      expect(cost.rows).toBeGreaterThan(3)
      expect(cost.rows).toBeLessThan(20)
      const page = await recordStatements(() => visitor.get('/onboarding'))
      // PostgreSQL makes one row of each list.
      expect(page.rows).toBeLessThan(10)
      expect(offersOn(visitor.page())).toHaveLength(Math.min(count, 20))
      const [user] = await selectRows(
        db,
        sql`select (select count(*)::int from memberships where user_id = users.id) as count from users where email = ${email}`,
      )
      expect(user).toEqual({ count: 0 })
    }
    expect(costs[1]).toBe(costs[0])
    expect(costs[0]).toBeLessThan(20)
  })
})

const departuresOf = ({ id }: { id: string }) =>
  selectRows(db, sql`select kind from departures where user_id = ${id}`)

async function principalOf({ email }: { email: string }): Promise<Principal> {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('there is no such person')
  return { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
}
