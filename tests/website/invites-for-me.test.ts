import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import type { Principal } from '../../src/domain/principal.ts'
import {
  createCompany,
  createInvite,
  findInvite,
  findRoles,
  patch,
  post,
  randomEmail,
  type TestCompany,
  type TestInvite,
} from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import type { TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, allowDomains, eventBy, findEvents, randomSlug } from '../support/workspaces.ts'
import { noticeOn, signInAs, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, createPerson, db, services } = website

const week = 7 * 24 * 60 * 60 * 1000

/** A person with an invite of a company, signed in. */
async function invitePerson({ role }: { role?: 'owner' | 'admin' | 'viewer' } = {}) {
  const company = await createCompany(website)
  const person = await createPerson({ name: 'Ivy Invited', email: `Ivy-${randomUUID()}@Example.com` })
  const invite = await createInvite(website, company.admin, company, {
    email: person.email.toLowerCase(),
    role: role ?? 'viewer',
  })
  return { company, person, invite, visitor: await signInAs(website, person) }
}

const acceptPath = ({ id }: { id: string }) => `/onboarding/invites/${id}/accept`

const invitesOn = (page: string) => [...page.matchAll(/invites\/([^/"]+)\/accept/g)].map(([, id]) => id)

/** The ids of the invites that the onboarding page shows. */
async function seeInvites(visitor: Visitor): Promise<(string | undefined)[]> {
  return invitesOn((await visitor.get('/onboarding')).body)
}

async function accept(visitor: Visitor, invite: { id: string }) {
  await visitor.get('/onboarding')
  return visitor.submit(acceptPath(invite))
}

const isIn = async ({ workspace }: TestCompany, { id }: { id: string }) =>
  id in (await findRoles(website, workspace))

async function principalOf({ email }: { email: string }): Promise<Principal> {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('there is no such person')
  return { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
}

describe('a pending invite to the person’s address', () => {
  it('is on the onboarding page with the name of the sender, and can be accepted there', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    const { admin, workspace } = company
    expect(
      (await as(company.owner, patch(company.url, { name: 'Acme <3', slug: workspace.slug }))).json(),
    ).toMatchObject({ ok: true })
    const { body } = await visitor.get('/onboarding')
    expect(body).toContain('Join or create a workspace')
    expect(body).toContain('Invites for you')
    expect(body).toContain('<bdi>Acme &lt;3</bdi>')
    expect(body).toContain(`invited by <bdi>${admin.name}</bdi>`)
    expect(body).toContain('Viewer')
    expect(body).toContain(`<time datetime="${invite.expiresAt}"`)
    expect(invitesOn(body)).toEqual([invite.id])

    clock.advance(1_000)
    const accepted = await visitor.submit(acceptPath(invite))
    expect(noticeOn(accepted.body)).toBe(`You joined Acme &lt;3 as a viewer. ${admin.name} invited you.`)
    expect(await findRoles(website, workspace)).toMatchObject({ [person.id]: 'viewer' })
    expect(await findInvite(website, invite)).toMatchObject({ state: 'accepted' })
    expect((await findEvents(website, workspace)).at(-1)).toEqual({
      ...eventBy(
        person,
        { type: 'user', id: person.id },
        {
          type: 'member.joined',
          summary: 'Ivy Invited accepted the invite of Adam Admin and joined as viewer',
        },
      ),
      api_key_id: null,
      source: 'web',
    })
    await website.db.execute(sql`select graphile_worker.add_job('enqueue_accepted_invites', '{}'::json)`)
    await website.waitForMail(admin.email, /Ivy Invited/)
    expect(await seeInvites(visitor)).toEqual([])
  })

  it('is on the first page after signing up', async () => {
    const company = await createCompany(website)
    const email = randomEmail()
    const invite = await createInvite(website, company.owner, company, { email })
    const visitor = await signUp(website, { email })
    const page = await visitor.open('/')
    expect(invitesOn(page.body)).toEqual([invite.id])
    expect(page.body).not.toContain('ask a member to')
  })

  it('is on the home page of the person’s other workspaces', async () => {
    const { person, visitor } = await invitePerson()
    const own = await createCompany(website)
    const home = `/w/${own.workspace.slug}`
    await addMember(website, own.workspace, person, 'member')
    const { body } = await visitor.get(home)
    expect(body.replaceAll(/\s+/g, ' ')).toContain('<bdi>Adam Admin</bdi> invited you to <bdi>')
    expect(body).toContain('href="/onboarding#invites"')
    expect((await (await signInAs(website, own.member)).get(home)).body).not.toContain('invited you')

    const second = await createCompany(website)
    await createInvite(website, second.owner, second, { email: person.email })
    expect((await visitor.get(home)).body.match(/invited you to/g)).toHaveLength(2)
    expect(await seeInvites(visitor)).toHaveLength(2)
    expect(visitor.page()).toContain('id="invites"')
  })

  it('returns to the pending consent request of an agent after it is accepted', async () => {
    const { invite, visitor } = await invitePerson()
    visitor.cookies.set('consent', 'waiting')
    expect((await accept(visitor, invite)).headers.location).toBe('/agent/oauth/consent/waiting')
  })

  it('hides the offer to join the same workspace by domain', async () => {
    const domain = `${randomSlug('d')}.example`
    const company = await createCompany(website)
    const person = await createPerson({ email: `${randomUUID()}@${domain}` })
    await allowDomains(website, company.workspace, [domain])
    await db.execute(sql`update users set first_signed_in_at = now() where id = ${person.id}`)
    const invite = await createInvite(website, company.owner, company, { email: person.email, role: 'admin' })
    const visitor = await signInAs(website, person)
    expect(await seeInvites(visitor)).toEqual([invite.id])
    expect(visitor.page()).not.toContain('Workspaces that you can join')
    await accept(visitor, invite)
    expect(await findRoles(website, company.workspace)).toMatchObject({ [person.id]: 'admin' })
  })

  it('shows once, above the page, why it can no longer be accepted', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    await visitor.get('/onboarding')
    await as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`))
    const refused = await visitor.submit(acceptPath(invite))
    expect(refused.statusCode).toBe(409)
    expect(refused.body.split(errors.inviteRevoked.message)).toHaveLength(2)
    // Above the page, not in the form that creates a workspace.
    expect(refused.body.indexOf(errors.inviteRevoked.message)).toBeLessThan(refused.body.indexOf('<h1>'))
    expect(await isIn(company, person)).toBe(false)
  })
})

describe('an invite on the onboarding page', () => {
  interface Case {
    company: TestCompany
    person: TestPerson
    invite: TestInvite
    visitor: Visitor
  }
  const cases: [string, number, (invited: Case) => Promise<unknown>][] = [
    ['when it has expired', 409, async () => clock.advance(week)],
    [
      'when it was revoked',
      409,
      ({ company, invite }) => as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`)),
    ],
    [
      'when the member who sent it may no longer invite',
      409,
      ({ company }) =>
        as(company.owner, patch(`${company.url}/members/${company.admin.id}`, { role: 'member' })),
    ],
    [
      'when the email address of the person is not verified',
      404,
      ({ person }) => db.execute(sql`update users set email_verified_at = null where id = ${person.id}`),
    ],
    [
      'when the person has changed their email address',
      404,
      ({ person }) => {
        const email = randomEmail()
        return db.execute(
          sql`update users set email = ${email}, canonical_email = ${email} where id = ${person.id}`,
        )
      },
    ],
  ]

  it.each(cases)('is neither shown nor accepted %s', async (_name, status, change) => {
    const invited = await invitePerson()
    expect(await seeInvites(invited.visitor)).toEqual([invited.invite.id])
    await change(invited)
    expect(await seeInvites(invited.visitor)).toEqual([])
    expect(invited.visitor.page()).not.toContain('Invites for you')
    expect((await accept(invited.visitor, invited.invite)).statusCode).toBe(status)
    expect(await isIn(invited.company, invited.person)).toBe(false)
    expect(await findInvite(website, invited.invite)).not.toMatchObject({ state: 'accepted' })
  })

  it('is neither shown nor accepted when a newer invite has replaced it', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    clock.advance(week)
    const { id } = await createInvite(website, company.owner, company, { email: person.email })
    expect(await findInvite(website, invite)).toMatchObject({ state: 'replaced' })
    expect(await seeInvites(visitor)).toEqual([id])
    expect((await accept(visitor, invite)).statusCode).toBe(409)
    expect(noticeOn((await accept(visitor, { id })).body)).toContain(`You joined ${company.workspace.name}`)
  })

  it('is not shown when the person is already a member, who keeps their role', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    await addMember(website, company.workspace, person, 'member')
    expect(await seeInvites(visitor)).toEqual([])
    await accept(visitor, invite)
    expect(await findRoles(website, company.workspace)).toMatchObject({ [person.id]: 'member' })
  })

  it('is neither shown nor accepted when it is for another person, or does not exist', async () => {
    const { company, invite } = await invitePerson()
    const other = await createPerson()
    const visitor = await signInAs(website, other)
    expect(await seeInvites(visitor)).toEqual([])
    for (const id of [invite.id, randomUUID(), 'x', `${invite.id}'`]) {
      await visitor.get('/onboarding')
      expect((await visitor.submit(acceptPath({ id: encodeURIComponent(id) }))).statusCode).toBe(404)
    }
    expect(await isIn(company, other)).toBe(false)
    expect(await findInvite(website, invite)).toMatchObject({ state: 'open' })
  })
})

describe('accepting an invite twice', () => {
  it('creates one membership when the requests are concurrent', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    const other = await signInAs(website, person)
    await Promise.all([visitor.get('/onboarding'), other.get('/onboarding')])
    const answers = await Promise.all([
      visitor.submit(acceptPath(invite)),
      other.submit(acceptPath(invite)),
      as(person, post(`/v1/invites/${invite.token}/accept`)),
    ])
    const accepted = answers.filter(({ statusCode }) => statusCode < 400)
    expect(accepted).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(2)
    expect(await findRoles(website, company.workspace)).toMatchObject({ [person.id]: 'viewer' })
    const joined = (await findEvents(website, company.workspace)).filter(
      ({ type }) => type === 'member.joined',
    )
    expect(joined).toHaveLength(1)
  })

  it('redirects to the workspace each time', async () => {
    const { company, invite, visitor } = await invitePerson()
    await visitor.get('/onboarding')
    const answers = [await visitor.post(acceptPath(invite)), await visitor.post(acceptPath(invite))]
    const locations = answers.map(({ headers }) => headers.location)
    expect(locations[0]).toMatch(new RegExp(`^/w/${company.workspace.slug}\\?flash=`))
    expect(locations[1]).toBe(locations[0])
  })
})

describe('a person with many invites', () => {
  it('lists the 20 newest, and reads them in one statement by an index', async () => {
    const { company, person, visitor } = await invitePerson()
    const email = person.email.toLowerCase()
    const expiresAt = new Date(clock.now().getTime() + week).toISOString()
    // In parts: the search's triggers run for each invite, and a statement has 2.5 s.
    for (let part = 0; part < 3; part++)
      await db.execute(sql`
        with others as (
          insert into workspaces (id, name, slug, created_at)
          select gen_random_uuid(), 'Other', 'other-' || n || ${randomSlug()}, now() from generate_series(1, 10) as n
          returning id
        ), joined as (
          insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
          select id, ${company.owner.id}, 'owner', now(), now() from others
        )
        insert into invites
          (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
        select gen_random_uuid(), id, email, email, 'member', 'open', ${company.owner.id}, now(), ${expiresAt}::timestamptz
        from others, generate_series(1, 200) as n,
          lateral (select case n when 1 then ${email} else ${email} || n end as email) as address`)
    await db.execute(sql`analyze invites, users, workspaces`)
    expect(await seeInvites(visitor)).toHaveLength(20)

    const principal = await principalOf(person)
    const { texts } = await recordStatements(() => services.receivedInvites.list(principal, { limit: 20 }))
    expect(texts).toHaveLength(1)
    const [text = ''] = texts
    const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))
    const plan = await db.transaction(async (tx) => {
      await tx.execute(sql`set local plan_cache_mode = force_generic_plan`)
      await tx.execute(sql.raw(`prepare invites_explained as ${text}`))
      const execute = `execute invites_explained (${Array(count).fill('null').join(', ')})`
      const { rows } = await tx.execute(sql.raw(`explain ${execute}`))
      await tx.execute(sql`deallocate invites_explained`)
      return JSON.stringify(rows)
    })
    expect(plan).toContain('invites_open_by_address_idx')
  })
})
