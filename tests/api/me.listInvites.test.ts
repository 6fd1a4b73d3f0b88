import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createKey } from '../support/api-keys.ts'
import { createCompany, createInvite, del, get, patch, post, type TestCompany } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, createWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const url = '/v1/me/invites'

const list = async (person: { apiKey: string }) => {
  const answer = await as(person, get(url))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ id: string }[]>()
}

const idsOf = async (person: { apiKey: string }) => (await list(person)).map(({ id }) => id)

/** A person, and an invite to them. */
async function invitePerson(inviterOf = ({ admin }: TestCompany) => admin) {
  const company = await createCompany(service)
  const person = await createPerson({ email: `Ivy-${crypto.randomUUID()}@Example.com` })
  const email = person.email.toLowerCase()
  const invite = await createInvite(service, inviterOf(company), company, { email, role: 'viewer' })
  return { company, person, invite }
}

describe('200', () => {
  it("returns the invites to the caller's address, newest first", async () => {
    const { company, person, invite } = await invitePerson()
    const { workspace } = company
    await db.execute(sql`update workspaces set icon_key = 'icon.webp' where id = ${workspace.id}`)
    clock.advance(1_000)
    const other = await createCompany(service)
    const newer = await createInvite(service, other.owner, other, { email: person.email, role: 'owner' })
    expect(await list(person)).toEqual([
      {
        id: newer.id,
        workspaceName: 'Acme',
        workspaceSlug: other.workspace.slug,
        workspaceIconUrl: null,
        role: 'owner',
        invitedByName: 'Olga Owner',
        expiresAt: newer.expiresAt,
      },
      {
        id: invite.id,
        workspaceName: 'Acme',
        workspaceSlug: workspace.slug,
        workspaceIconUrl: 'http://localhost:3000/pictures/icon.webp',
        role: 'viewer',
        invitedByName: 'Adam Admin',
        expiresAt: invite.expiresAt,
      },
    ])
  })

  const endings: [
    string,
    (made: { company: TestCompany; person: TestPerson; invite: { id: string; token: string } }) => unknown,
  ][] = [
    [
      'was revoked',
      ({ company, invite }) => as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`)),
    ],
    ['was accepted', ({ person, invite }) => as(person, post(`/v1/invites/${invite.token}/accept`))],
    ['was declined', ({ person, invite }) => as(person, post(`/v1/invites/${invite.token}/decline`))],
    ['has expired', () => clock.advance(7 * 24 * 60 * 60 * 1000)],
    [
      'is to a workspace of the caller',
      ({ company, person }) => addMember(service, company.workspace, person, 'member'),
    ],
    [
      'is of somebody who left',
      ({ company }) => as(company.admin, del(`${company.url}/members/${company.admin.id}`)),
    ],
    [
      'is of somebody who may no longer invite',
      ({ company }) =>
        as(company.owner, patch(`${company.url}/members/${company.admin.id}`, { role: 'member' })),
    ],
    [
      'is to an address that nobody has verified',
      ({ person }) => db.execute(sql`update users set email_verified_at = null where id = ${person.id}`),
    ],
  ]
  it.each(endings)('leaves out an invite that %s', async (_name, end) => {
    const made = await invitePerson()
    expect(await idsOf(made.person)).toEqual([made.invite.id])
    await end(made)
    expect(await list(made.person)).toEqual([])
  })

  it('leaves out an invite for a role that its inviter could no longer give', async () => {
    const { company, person, invite } = await invitePerson(({ owner }) => owner)
    await db.execute(sql`update invites set role = 'owner' where id = ${invite.id}`)
    expect(await idsOf(person)).toEqual([invite.id])
    await db.execute(sql`
      update memberships set role = 'admin' where user_id = ${company.owner.id} and workspace_id = ${company.workspace.id}`)
    expect(await idsOf(person)).toEqual([])
  })

  it('returns to a key that is bound to workspaces only the invites to these', async () => {
    const { company, person, invite } = await invitePerson()
    const own = await createWorkspace(service, person)
    const key = await createKey(service, person, { workspaceIds: [own.id] })
    expect(await idsOf(person)).toEqual([invite.id])
    expect(await idsOf(key)).toEqual([])
    // They were in that workspace, and are invited again.
    await addMember(service, company.workspace, person, 'viewer')
    const former = await createKey(service, person, { workspaceIds: [company.workspace.id] })
    await db.execute(sql`
      delete from memberships where user_id = ${person.id} and workspace_id = ${company.workspace.id}`)
    expect(await idsOf(former)).toEqual([invite.id])
  })

  it('runs one query beside that of the key', async () => {
    const { person } = await invitePerson()
    await list(person)
    expect(await countQueries(() => list(person))).toBe(2)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(get(url)), errors.apiKeyRequired)
  })
})
