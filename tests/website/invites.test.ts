import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  createCompany,
  createInvite,
  createTeam,
  findInvite,
  findRoles,
  findTeamMembers,
  post,
  randomEmail,
} from '../support/company.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'
import { noticeOn, signInAs, type Visitor } from './visitor.ts'

const website = await startTestApp({
  environment: { INVITE_LIMIT_PER_HOUR: '120' },
})
const { as, createPerson, db } = website

async function startCompany() {
  const company = await createCompany(website)
  const path = `/w/${company.workspace.slug}/invites`
  const owner = await signInAs(website, company.owner)
  await owner.get(path)
  return { company, path, owner }
}

/** What the page says about each address. */
const outcomesOn = (page: string) =>
  Object.fromEntries(
    [...page.matchAll(/<strong>([^<]*)<\/strong>\s*<span class="hint">((?!by )[^<]*)<\/span/g)].map(
      ([, email, text]) => [String(email), String(text)],
    ),
  )

const addressesIn = (page: string) => /<textarea[^>]*>([^<]*)<\/textarea>/.exec(page)?.[1]?.split('\n')

const openInvites = async ({ company }: Awaited<ReturnType<typeof startCompany>>) =>
  selectRows<{ email: string; role: string }>(
    db,
    sql`select email, role from invites where workspace_id = ${company.workspace.id} and state = 'open' order by email`,
  )

describe('the form that invites people', () => {
  it('takes several addresses, and says what happened to each', async () => {
    const started = await startCompany()
    const { company, path, owner } = started
    const [first, second, third] = [randomEmail(), randomEmail(), randomEmail()]
    const { email: invited } = await createInvite(website, company.owner, company)
    const text = [
      `${first}, "Lovelace, Ada" <${second}>; \u200B${third}`,
      `${first.toUpperCase()} nobody`,
      company.member.email,
      invited,
    ].join('\r\n')
    const { body } = await owner.submit(path, { email: text, role: 'viewer' })
    expect(outcomesOn(body)).toEqual({
      [first]: 'Invited',
      [second]: 'Invited',
      [third]: 'Invited',
      nobody: 'Not an email address',
      [company.member.email]: 'Already a member',
      [invited]: 'Already invited',
    })
    expect(body).toMatch(/3 of 6 addresses invited/)
    expect(body.match(/value="[^"]*\/invites\/[\w-]{43}"/g)).toHaveLength(3)
    expect(addressesIn(body)).toEqual(['nobody'])
    expect(await openInvites(started)).toEqual(
      [first, second, third]
        .map((email) => ({ email, role: 'viewer' }))
        .concat({ email: invited, role: 'member' })
        .toSorted((a, b) => (a.email < b.email ? -1 : 1)),
    )
    // The links are shown once.
    expect((await owner.get(path)).body).not.toMatch(/\/invites\/[\w-]{43}"/)
  })

  it('says when the limit is reached, tries no further, and keeps the rest for later', async () => {
    const started = await startCompany()
    const { path, owner } = started
    const all = Array.from({ length: 130 }, (_, i) => `p${String(i).padStart(3, '0')}-${randomEmail()}`)
    const { body } = await owner.submit(path, { email: all.join(' '), role: 'member' })
    const outcomes = outcomesOn(body)
    expect(all.slice(0, 100).map((email) => outcomes[email])).toEqual(Array(100).fill('Invited'))
    expect(outcomes[String(all[100])]).toBe('Not invited: at most 100 addresses at once')
    expect(addressesIn(body)).toEqual(all.slice(100))
    const next = (await owner.submit(path, { email: all.slice(100).join('\n'), role: 'member' })).body
    expect(outcomesOn(next)[String(all[119])]).toBe('Invited')
    expect(outcomesOn(next)[String(all[120])]).toMatch(
      /^Too many invites from this workspace\. Try again in \d+ minutes\.$/,
    )
    expect(addressesIn(next)).toEqual(all.slice(120))
    expect(await openInvites(started)).toHaveLength(120)
  })

  it('invites once when it is sent twice', async () => {
    const started = await startCompany()
    const { path, owner, company } = started
    const fields = { email: `${randomEmail()} ${randomEmail()}`, role: 'member' }
    const answers = await Promise.all([owner.post(path, fields), owner.post(path, fields)])
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1)
    const events = await findEvents(website, company.workspace)
    expect(events.filter(({ type }) => type === 'invite.created')).toHaveLength(2)
  })

  it('shows the form again for one address that cannot be invited, with what was chosen', async () => {
    const { company, path, owner } = await startCompany()
    const team = await createTeam(website, company.owner, company, 'Looms')
    const fields = { email: company.member.email, role: 'viewer', [`team-${team.id}`]: 'on' }
    const { body, statusCode } = await owner.submit(path, fields)
    expect(statusCode).toBe(409)
    expect(body).toContain('A member already has this email address.')
    expect(addressesIn(body)).toEqual([company.member.email])
    expect(body).toMatch(new RegExp(`name="team-${team.id}"\\s+checked`))
    expect(body).toMatch(/value="viewer"\s+selected/)
  })

  it('says that an address is missing', async () => {
    const { path, owner } = await startCompany()
    for (const email of ['', ' ,; \n'])
      expect((await owner.submit(path, { email, role: 'member' })).statusCode).toBe(400)
  })

  it('adds the invited people to teams, at most ten', async () => {
    const { company, path, owner } = await startCompany()
    const teams = await Promise.all(
      Array.from({ length: 11 }, () => createTeam(website, company.owner, company)),
    )
    const [first, second] = [await createPerson(), await createPerson()]
    const teamsOf = (count: number) =>
      Object.fromEntries(teams.slice(0, count).map(({ id }) => [`team-${id}`, 'on']))
    const email = `${first.email} ${second.email}`
    const refused = await owner.submit(path, { email, role: 'member', ...teamsOf(11) })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('An invite can have at most 10 teams.')
    await owner.submit(path, { email, role: 'member', ...teamsOf(10) })
    const visitor = await signInAs(website, first)
    const id = /invites\/([0-9a-f-]{36})\/accept/.exec((await visitor.get('/onboarding')).body)?.[1]
    await visitor.submit(`/onboarding/invites/${String(id)}/accept`)
    expect(await findTeamMembers(website, { id: String(teams[9]?.id) })).toEqual([first.id])
    expect(await findTeamMembers(website, { id: String(teams[10]?.id) })).toEqual([])
  })
})

describe('the list of invites', () => {
  it('has one menu for each invite, whose buttons change its role, send it again and revoke it', async () => {
    const { company, path, owner } = await startCompany()
    const invite = await createInvite(website, company.owner, company, { role: 'member' })
    const { body } = await owner.get(path)
    const row = body.slice(body.indexOf(`Manage the invite to ${invite.email}`))
    const actions = [...row.matchAll(/formaction="([^"]*)"(?:\s+name="role"\s+value="(\w+)")?/g)]
    const of = (action: string) => `${path}/${invite.id}/${action}`
    expect(actions.map(([, action, role]) => [action, role])).toEqual([
      [of('role'), 'viewer'],
      [of('role'), 'admin'],
      [of('role'), 'owner'],
      [of('resend'), undefined],
      [of('revoke'), undefined],
    ])
    expect(noticeOn((await owner.submit(of('role'), { role: 'viewer' })).body)).toBe(
      `${invite.email} is now invited as a viewer.`,
    )
    await owner.get(path)
    const resent = await owner.submit(of('resend'))
    expect(resent.body).toContain(`Invite sent to ${invite.email}.`)
    expect(resent.body).toMatch(/value="[^"]*\/invites\/[\w-]{43}"/)
    expect(noticeOn((await owner.submit(of('revoke'))).body)).toBe(
      `The invite to ${invite.email} was revoked.`,
    )
    expect(await findInvite(website, invite)).toMatchObject({ state: 'revoked', role: 'viewer' })
  })

  it('has no menu for invites to a role above one’s own', async () => {
    const { company, path } = await startCompany()
    const invite = await createInvite(website, company.owner, company, { role: 'owner' })
    const { body } = await (await signInAs(website, company.admin)).get(path)
    expect(body).toContain(invite.email)
    expect(body).not.toContain('Manage the invite')
  })

  it('says which could not be delivered, and offers to correct the address', async () => {
    const { company, path, owner } = await startCompany()
    const { id, email } = await createInvite(website, company.owner, company, {
      email: `linüs+${company.workspace.slug}@example.com`,
      role: 'viewer',
    })
    expect((await owner.get(path)).body).not.toContain('not delivered')
    const correct = `${path}?correct=${id}`
    // It has not been refused: there is nothing to correct.
    expect(addressesIn((await owner.get(correct)).body)).toEqual([''])
    await db.execute(sql`update invites set refused_at = now() where id = ${id}`)
    const { body } = await owner.get(path)
    expect(body).toContain('not delivered')
    expect(body).toContain(`href="${correct}#invite"`)
    const corrected = await owner.get(correct)
    expect(addressesIn(corrected.body)).toEqual([email])
    expect(corrected.body).toMatch(/<option value="viewer" selected/)
    const other = await startCompany()
    expect((await other.owner.get(`${other.path}?correct=${id}`)).body).not.toContain(email)
  })

  it('is less than 60 kB for 50 invites', async () => {
    const { company, path, owner } = await startCompany()
    for (let i = 0; i < 50; i++)
      await createInvite(website, i < 25 ? company.owner : company.admin, company, {
        email: `person-${i}-${company.workspace.slug}@example.com`,
      })
    const { body } = await owner.get(path)
    expect(body.match(/Manage the invite/g)).toHaveLength(50)
    expect(Buffer.byteLength(body)).toBeLessThan(60_000)
  })
})

describe('declining an invite', () => {
  const invitePerson = async () => {
    const company = await createCompany(website)
    const person = await createPerson()
    const invite = await createInvite(website, company.owner, company, { email: person.email })
    return { company, person, invite, visitor: await signInAs(website, person) }
  }
  const inviteIn = (visitor: Visitor, token: string) => visitor.get(`/invites/${token}`)

  it('is possible on its page, which then says so', async () => {
    const { company, person, invite, visitor } = await invitePerson()
    const path = `/invites/${invite.token}`
    expect((await inviteIn(visitor, invite.token)).body).toContain(`action="${path}/decline"`)
    expect((await visitor.submit(`${path}/decline`)).headers.location).toBe(path)
    expect(await findInvite(website, invite)).toMatchObject({ state: 'declined' })
    const { body } = await inviteIn(visitor, invite.token)
    expect(body).toContain('This invite was declined.')
    expect(body).not.toContain('Accept invite')
    expect((await visitor.submit(path)).statusCode).toBe(409)
    expect(person.id in (await findRoles(website, company.workspace))).toBe(false)
  })

  it('is possible among the invites for oneself', async () => {
    const { invite, visitor } = await invitePerson()
    await visitor.get('/onboarding')
    const declined = await visitor.submit(`/onboarding/invites/${invite.id}/decline`)
    expect(noticeOn(declined.body)).toBe('The invite was declined.')
    expect(declined.body).not.toContain('Invites for you')
    expect(await findInvite(website, invite)).toMatchObject({ state: 'declined' })
  })

  it('is refused to others, and leads visitors to the page of the invite', async () => {
    const { invite } = await invitePerson()
    const other = await signInAs(website, await createPerson())
    await inviteIn(other, invite.token)
    expect((await other.submit(`/invites/${invite.token}/decline`)).statusCode).toBe(403)
    expect((await other.submit(`/onboarding/invites/${invite.id}/decline`)).statusCode).toBe(404)
    expect(await findInvite(website, invite)).toMatchObject({ state: 'open' })
  })

  it('is said to those who open the link without a session', async () => {
    const { person, invite } = await invitePerson()
    await as(person, post(`/v1/invites/${invite.token}/decline`))
    const { body } = await website.app.inject(`/invites/${invite.token}`)
    expect(body).toContain('This invite was declined.')
    expect(body).not.toContain('/sign-in?next')
  })
})
