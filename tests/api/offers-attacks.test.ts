import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { canonicalizeEmail } from '../../src/kernel/email.ts'
import {
  createCompany,
  createInvite,
  del,
  findRoles,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { addMember, allowDomains, deleteWorkspace, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db, services } = service

const accept = (id: string) => post(`/v1/me/offers/${id}/accept`)
const decline = (id: string) => post(`/v1/me/offers/${id}/decline`)
const at = (domain: string, name: string = randomUUID()) => `${name}@${domain}`
const randomDomain = () => `${randomSlug('d')}.example`

const listOffers = async (person: TestPerson) =>
  (await as(person, get('/v1/me/offers')))
    .json<{ workspaceId: string }[]>()
    .map(({ workspaceId }) => workspaceId)

async function createOpenCompany(domain: string): Promise<TestCompany> {
  const company = await createCompany(service)
  await allowDomains(service, company.workspace, [domain])
  return company
}

/** A person at a domain, and a company that allows it. */
async function offer(domain = randomDomain()) {
  return {
    domain,
    company: await createOpenCompany(domain),
    person: await createPerson({ email: at(domain) }),
  }
}

const moveTo = (person: TestPerson, email: string) =>
  db.execute(sql`
    update users set email = ${email}, canonical_email = ${canonicalizeEmail(email)} where id = ${person.id}`)

const roleOf = async ({ workspace }: TestCompany, { id }: { id: string }) =>
  (await findRoles(service, workspace))[id]

async function expectNoOffer(person: TestPerson, company: TestCompany) {
  const { id } = company.workspace
  const before = await findEvents(service, company.workspace)
  expect(await listOffers(person)).not.toContain(id)
  expectError(await as(person, accept(id)), errors.notFound)
  expectError(await as(person, decline(id)), errors.notFound)
  expect(await roleOf(company, person)).toBeUndefined()
  expect(await findEvents(service, company.workspace)).toEqual(before)
}

/** Sends a request that waits for the row of its user, changes something meanwhile, and returns the answer. */
async function whileWaiting(
  person: TestPerson,
  send: () => Promise<unknown>,
  change: (client: { query: (text: string, values?: unknown[]) => Promise<unknown> }) => Promise<unknown>,
): Promise<unknown> {
  const client = await db.$client.connect()
  try {
    await client.query('begin')
    await client.query('select from users where id = $1 for update', [person.id])
    const sent = send()
    await untilWaiting(service, 1)
    await change(client)
    await client.query('commit')
    return await sent
  } finally {
    // With its transaction, if that is still open.
    client.release(true)
  }
}

describe('the address of a person', () => {
  it.each([
    ['a subdomain', (domain: string) => `mail.${domain}`],
    ['its parent domain', (domain: string) => domain.slice(domain.indexOf('.') + 1)],
    ['a domain that ends with it', (domain: string) => `x${domain}`],
    ['a domain that begins with it', (domain: string) => `${domain}.example`],
    ['another top-level domain', (domain: string) => domain.replace('.example', '.invalid')],
    ['a Cyrillic lookalike', (domain: string) => domain.replace('e', '\u0435')],
    ['a letter with an accent', (domain: string) => domain.replace('d-', 'd́-')],
  ])('at %s gets no offer', async (_, change) => {
    const { domain, company } = await offer()
    const email = at(change(domain))
    expect(canonicalizeEmail(email)).toBeDefined()
    await expectNoOffer(await createPerson({ email }), company)
  })

  it('gets no offer with the domain before the last @, in quotes or as its local part', async () => {
    const { domain, company } = await offer()
    for (const email of [at(randomDomain(), domain), at(randomDomain(), `ada%${domain}`)])
      await expectNoOffer(await createPerson({ email }), company)
  })

  it.each([
    ['in upper case', (domain: string) => at(domain).toUpperCase()],
    ['with a plus', (domain: string) => at(domain, 'ada+team')],
  ])('gets the offer %s', async (_, write) => {
    const { domain, company } = await offer()
    const person = await createPerson({ email: write(domain) })
    expect(await listOffers(person)).toEqual([company.workspace.id])
    expect((await as(person, accept(company.workspace.id))).statusCode).toBe(200)
    expect(await roleOf(company, person)).toBe('member')
  })

  it('gets the offer of an internationalized domain in either form, and of none that only looks like it', async () => {
    const name = randomSlug('bücher')
    const ascii = new URL(`http://${name}.example`).hostname
    const company = await createOpenCompany(ascii)
    for (const domain of [`${name}.example`, ascii, ascii.toUpperCase()]) {
      const person = await createPerson({ email: at(domain) })
      expect(await listOffers(person), domain).toEqual([company.workspace.id])
    }
    for (const lookalike of [name.replace('ü', 'u'), name.replace('ü', 'ue'), name.replace('ü', 'ű')])
      await expectNoOffer(await createPerson({ email: at(`${lookalike}.example`) }), company)
  })

  it('gets no offer while it is not verified, and keeps none when the person has moved away', async () => {
    const { domain, company, person } = await offer()
    await expectNoOffer(await createPerson({ email: at(domain), isVerified: false }), company)
    expect(await listOffers(person)).toEqual([company.workspace.id])
    await moveTo(person, at(randomDomain()))
    await expectNoOffer(person, company)
  })

  it('counts as it is under the lock, when it changes while the person joins or accepts an invite', async () => {
    const { company, person } = await offer()
    const { id } = company.workspace
    const email = at(randomDomain())
    const change = (client: { query: (text: string, values?: unknown[]) => Promise<unknown> }) =>
      client.query('update users set email = $2, canonical_email = $2 where id = $1', [person.id, email])
    expectError((await whileWaiting(person, () => as(person, accept(id)), change)) as never, errors.notFound)
    expect(await roleOf(company, person)).toBeUndefined()

    const invited = await createPerson()
    const { token } = await createInvite(service, company.owner, company, { email: invited.email })
    const other = at(randomDomain())
    const answer = await whileWaiting(
      invited,
      () => as(invited, post(`/v1/invites/${token}/accept`)),
      (client) =>
        client.query('update users set email = $2, canonical_email = $2 where id = $1', [invited.id, other]),
    )
    expectError(answer as never, errors.inviteEmailMismatch)
    expect(await roleOf(company, invited)).toBeUndefined()
  })
})

describe('a workspace', () => {
  it('is not joined when the domain was removed, or the workspace deleted, while the person clicks', async () => {
    const change = {
      removed: sql`allowed_domains = '{}'`,
      replaced: sql`allowed_domains = '{other.example}'`,
      deleted: sql`deleted_at = now()`,
    }
    for (const [how, set] of Object.entries(change)) {
      const { company, person } = await offer()
      const { id } = company.workspace
      const answer = await whileWaiting(
        person,
        () => as(person, accept(id)),
        () => db.execute(sql`update workspaces set ${set} where id = ${id}`),
      )
      expectError(answer as never, errors.notFound)
      expect(await roleOf(company, person), how).toBeUndefined()
      if (how !== 'deleted') await expectNoOffer(person, company)
    }
  })

  it('tells a stranger nothing: what is not offered, unknown, deleted or malformed is one answer', async () => {
    const { company, person } = await offer()
    const closed = await createCompany(service)
    const deleted = await createOpenCompany(randomDomain())
    await deleteWorkspace(service, deleted.owner, deleted.workspace)
    const stranger = await createPerson({ email: at(randomDomain()) })
    const ids = [company.workspace.id, closed.workspace.id, deleted.workspace.id, createId(), 'x', '%00']
    const answers = await Promise.all(
      ids.flatMap((id) => [accept(id), decline(id)]).map((request) => as(stranger, request)),
    )
    const bodies = answers.map(({ statusCode, body }) => {
      const { error } = JSON.parse(body) as { error: { requestId?: unknown } }
      return JSON.stringify([statusCode, { ...error, requestId: '' }])
    })
    expect(new Set(bodies).size).toBe(1)
    expect(await listOffers(stranger)).toEqual([])
    expect(await listOffers(person)).toEqual([company.workspace.id])
  })

  it('is joined once, as a member, by many clicks at once, and not again by its members', async () => {
    const { company, person } = await offer()
    const { id } = company.workspace
    const answers = await Promise.all(Array.from({ length: 8 }, () => as(person, accept(id))))
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    const events = await findEvents(service, company.workspace)
    expect(events.filter(({ target_id: target }) => target === person.id)).toHaveLength(1)
    for (const role of ['viewer', 'admin'] as const) {
      const member = await createPerson({ email: at(String(person.email.split('@')[1])) })
      await addMember(service, company.workspace, member, role)
      expectError(await as(member, accept(id)), errors.notFound)
      expect(await roleOf(company, member)).toBe(role)
    }
  })

  it('is offered to a colleague by each workspace that allows the domain, and joined only by choice', async () => {
    const { domain, company, person } = await offer()
    const other = await createOpenCompany(domain)
    expect(await listOffers(person)).toEqual([company.workspace.id, other.workspace.id])
    expect((await as(person, accept(other.workspace.id))).statusCode).toBe(200)
    expect(await roleOf(company, person)).toBeUndefined()
    expect(await listOffers(person)).toEqual([company.workspace.id])
  })

  it('does not allow the domain of others, of everybody, or one that the caller has left', async () => {
    const domain = randomDomain()
    const company = await createCompany(service, { domain })
    const { owner, workspace } = company
    const allow = (person: TestPerson, allowedDomains: string) =>
      as(person, patch(company.url, { name: 'Acme', slug: workspace.slug, allowedDomains }))
    for (const text of [
      randomDomain(),
      `mail.${domain}`,
      domain.slice(domain.indexOf('.') + 1),
      `${domain}, x.example`,
    ])
      expect((await allow(owner, text)).statusCode, text).toBe(400)
    await moveTo(owner, at('gmail.com'))
    for (const text of ['gmail.com', 'GMAIL.com', '@Gmail.Com', 'ｇmail.com', domain])
      expect((await allow(owner, text)).statusCode, text).toBe(400)
    await db.execute(sql`update users set email_verified_at = null where id = ${company.admin.id}`)
    expect((await allow(company.admin, domain)).statusCode).toBe(400)
    for (const person of [company.member, company.viewer])
      expectError(await allow(person, domain), errors.roleInsufficient)
  })
})

describe('a former member', () => {
  const join = (person: TestPerson, company: TestCompany) => as(person, accept(company.workspace.id))
  const leave = (person: TestPerson, { url }: TestCompany, actor = person) =>
    as(actor, del(`${url}/members/${person.id}`))

  it('who was made a viewer is a viewer again after leaving and joining, also when they decline in between', async () => {
    for (const declines of [false, true]) {
      const { company, person } = await offer()
      await join(person, company)
      await as(company.owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
      for (let i = 0; i < 2; i++) {
        expect((await leave(person, company)).statusCode).toBe(200)
        if (declines) expect((await as(person, decline(company.workspace.id))).statusCode).toBe(200)
        expect((await join(person, company)).statusCode).toBe(200)
        expect(await roleOf(company, person)).toBe('viewer')
      }
      expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({ type: 'member.joined' })
      await as(company.owner, patch(`${company.url}/members/${person.id}`, { role: 'member' }))
      await leave(person, company)
      await join(person, company)
      expect(await roleOf(company, person)).toBe('member')
    }
  })

  it('who was an admin or an owner is a member after joining again', async () => {
    for (const role of ['admin', 'owner'] as const) {
      const { company, person } = await offer()
      await addMember(service, company.workspace, person, role)
      await leave(person, company)
      await join(person, company)
      expect(await roleOf(company, person)).toBe('member')
    }
  })

  it('who was removed joins by no address of theirs, no other workspace’s offer, and no invite that has ended', async () => {
    const { domain, company, person } = await offer()
    const other = await createOpenCompany(domain)
    await join(person, company)
    await leave(person, company, company.owner)
    await expectNoOffer(person, company)
    await moveTo(person, at(domain))
    await expectNoOffer(person, company)
    await join(person, other)
    await leave(person, other)
    await expectNoOffer(person, company)

    const ends = {
      revoked: (id: string) => as(company.owner, post(`${company.url}/invites/${id}/revoke`)),
      declined: (_id: string, token: string) => as(person, post(`/v1/invites/${token}/decline`)),
      expired: (id: string) => db.execute(sql`update invites set expires_at = now() where id = ${id}`),
    }
    for (const end of Object.values(ends)) {
      const { email } = (await as(person, get('/v1/me'))).json<{ email: string }>()
      const invite = await createInvite(service, company.owner, company, { email, role: 'viewer' })
      // The invite is as a viewer, and the offer would be as a member.
      await expectNoOffer(person, company)
      await end(invite.id, invite.token)
      await expectNoOffer(person, company)
    }
  })

  it('who was removed does not come back by signing in, and neither while the workspace was deleted', async () => {
    const { company, person } = await offer()
    await join(person, company)
    await leave(person, company, company.owner)
    await deleteWorkspace(service, company.owner, company.workspace)
    await services.ownership.restore(company.workspace.slug, {})
    await expectNoOffer(person, company)
  })
})

it('offers are for people with a credential: none is joined by a request without one', async () => {
  const { company } = await offer()
  for (const request of [accept(company.workspace.id), decline(company.workspace.id), get('/v1/me/offers')])
    expectError(await app.inject(request), errors.apiKeyRequired)
})
