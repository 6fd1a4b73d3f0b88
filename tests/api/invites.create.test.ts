import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  findInvite,
  findJobs,
  get,
  post,
  randomEmail,
  tokenOf,
  type TestCompany,
  type TestInvite,
} from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock, environment: { WEB_URL: 'https://app.example.com' } })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

const countInvites = async ({ id }: { id: string }) =>
  (await selectRows(db, sql`select id from invites where workspace_id = ${id}`)).length

describe('200', () => {
  it('creates an invite, appends an event and enqueues the mail', async () => {
    const { url, workspace, admin } = await createCompany(service)
    const email = `Ivy.${randomEmail()}`
    const answer = await as(admin, post(`${url}/invites`, { email, role: 'admin' }))
    expect(answer.statusCode).toBe(200)
    const { invite, inviteUrl } = answer.json<{ invite: TestInvite; inviteUrl: string }>()
    const expiresAt = new Date(clock.now().getTime() + week)
    expect(answer.json()).toEqual({
      ok: true,
      invite: {
        id: invite.id,
        email,
        role: 'admin',
        status: 'pending',
        invitedByUserId: admin.id,
        invitedByName: 'Adam Admin',
        createdAt: clock.now().toISOString(),
        expiresAt: expiresAt.toISOString(),
        lastSentAt: null,
        delivery: 'waiting',
      },
      inviteUrl,
    })
    // 256 bits in base64url.
    expect(inviteUrl).toMatch(/^https:\/\/app\.example\.com\/invites\/[A-Za-z0-9_-]{43}$/)
    expect(await findInvite(service, invite)).toMatchObject({
      workspace_id: workspace.id,
      email,
      role: 'admin',
      state: 'open',
      invited_by_user_id: admin.id,
    })
    const tokens = await selectRows<{ hash: string }>(
      db,
      sql`select encode(token_hash, 'hex') as hash from invite_tokens where invite_id = ${invite.id}`,
    )
    expect(tokens).toEqual([{ hash: createHash('sha256').update(tokenOf(inviteUrl)).digest('hex') }])
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'invite', id: invite.id },
        { type: 'invite.created', summary: `Adam Admin invited ${email} as admin` },
      ),
    )
    expect(await findJobs(service, invite.id)).toEqual([
      { task: 'send_invite', payload: { inviteId: invite.id, requestId: expect.any(String) as string } },
    ])
  })

  it('stores the teams that the person is to join, each once', async () => {
    const company = await createCompany(service)
    const teams = await Promise.all([1, 2].map(() => createTeam(service, company.owner, company)))
    const teamIds = teams.map(({ id }) => id)
    const { id } = await createInvite(service, company.owner, company, { teamIds: [...teamIds, ...teamIds] })
    const rows = await selectRows<{ team_id: string }>(
      db,
      sql`select team_id from invite_teams where invite_id = ${id} order by team_id`,
    )
    expect(rows.map((row) => row.team_id)).toEqual(teamIds.toSorted())
  })

  it('trims the address, and keeps its case', async () => {
    const company = await createCompany(service)
    const email = `O'Neil+x@EXAMPLE.com`
    expect(await createInvite(service, company.owner, company, { email })).toMatchObject({ email })
  })

  it('replaces an expired invite to the same address', async () => {
    const company = await createCompany(service)
    const { email, id, token } = await createInvite(service, company.owner, company)
    clock.advance(week)
    const second = await createInvite(service, company.owner, company, { email: email.toUpperCase() })
    expect(second.id).not.toBe(id)
    expect(await findInvite(service, { id })).toMatchObject({ state: 'replaced' })
    const old = await as(company.owner, get(`/v1/invites/${token}`))
    expect(old.json()).toMatchObject({ status: 'expired' })
    const listed = (await as(company.owner, get(`${company.url}/invites`))).json<{ id: string }[]>()
    expect(listed.map((invite) => invite.id)).toEqual([second.id])
  })

  it('creates a new invite after one to the same address was revoked', async () => {
    const company = await createCompany(service)
    const { email, id } = await createInvite(service, company.owner, company)
    await as(company.owner, post(`${company.url}/invites/${id}/revoke`))
    expect((await createInvite(service, company.owner, company, { email })).id).not.toBe(id)
  })

  it('allows invites to one address in several workspaces', async () => {
    const email = randomEmail()
    for (const company of [await createCompany(service), await createCompany(service)])
      await createInvite(service, company.owner, company, { email })
    expect(await selectRows(db, sql`select id from invites where email = ${email}`)).toHaveLength(2)
  })
})

describe('400', () => {
  it.each([
    ['an empty object', {}, ['email', 'role']],
    ['no role', { email: 'x@example.com' }, ['role']],
    ['an unknown role', { email: 'x@example.com', role: 'guest' }, ['role']],
    ['null as address', { email: null, role: 'member' }, ['email']],
    ['an address of 255 characters', { email: `${'x'.repeat(243)}@example.com`, role: 'member' }, ['email']],
    ['an unknown field', { email: 'x@example.com', role: 'member', name: 'X' }, ['name']],
    ['null as teams', { email: 'x@example.com', role: 'member', teamIds: null }, ['teamIds']],
    [
      '11 teams',
      { email: 'x@example.com', role: 'member', teamIds: Array.from({ length: 11 }, createId) },
      ['teamIds'],
    ],
  ])('returns 400 for %s, and creates no invite', async (_name, body, fields) => {
    const { url, workspace, owner } = await createCompany(service)
    const answer = await as(owner, post(`${url}/invites`, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect([...new Set(issuesOf(answer).map(({ path }) => path[0]))]).toEqual(fields)
    expect(await countInvites(workspace)).toBe(0)
  })

  it.each([
    ['a malformed address', 'x'],
    ['two addresses', 'x@example.com, y@example.com'],
    ['an address with a name', 'X <x@example.com>'],
    ['an address with a line break', 'x@example.com\r\nBcc: y@example.com'],
    ['an address with NUL', 'x\0@example.com'],
    ['an IP address as domain', 'x@192.0.2.1'],
    ['a local part of 65 octets', `${'x'.repeat(65)}@example.com`],
    ['a label of 64 characters', `x@${'y'.repeat(64)}.example`],
    ['an address that is no address in Unicode either', 'x@exämple'],
  ])('returns 400 email_invalid for %s, and creates no invite', async (_name, email) => {
    const { url, workspace, owner } = await createCompany(service)
    const answer = await as(owner, post(`${url}/invites`, { email, role: 'member' }))
    expectError(answer, errors.emailInvalid, { field: 'email' })
    expect(await countInvites(workspace)).toBe(0)
  })
})

it('accepts domains in any script, and what surrounds a copied address', async () => {
  const company = await createCompany(service)
  const { owner, url } = company
  const name = randomEmail().split('@')[0]
  const email = `${name}@exämple.example`
  expect(await createInvite(service, owner, company, { email: ` ${email}\u200B` })).toMatchObject({ email })
  const listed = (await as(owner, { url: `${url}/invites` })).json<{ email: string }[]>()
  expect(listed).toMatchObject([{ email }])
  for (const same of [email, `${name}@xn--exmple-cua.example`]) {
    const answer = await as(owner, post(`${url}/invites`, { email: same, role: 'viewer' }))
    expectError(answer, errors.alreadyInvited)
  }
})

describe('401 and 403', () => {
  it('returns 401 without a key, and 403 to members, viewers, strangers, and admins who invite an owner', async () => {
    const { url, workspace, admin, member, viewer } = await createCompany(service)
    const invite = (role: string) => post(`${url}/invites`, { email: randomEmail(), role })
    expectError(await app.inject(invite('member')), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, invite('viewer')), errors.roleInsufficient)
    expectError(await as(await createPerson(), invite('viewer')), errors.notAMember)
    expectError(await as(admin, invite('owner')), errors.roleTooHigh)
    expect(await countInvites(workspace)).toBe(0)
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })
})

describe('404', () => {
  it('returns 404 for a team that is unknown, malformed or of another workspace, and creates no invite', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const [own, foreign] = [
      await createTeam(service, company.owner, company),
      await createTeam(service, other.owner, other),
    ]
    for (const id of [createId(), 'x', '', '\0', own.id.toUpperCase(), foreign.id]) {
      const body = { email: randomEmail(), role: 'member', teamIds: [own.id, id] }
      expectError(await as(company.owner, post(`${company.url}/invites`, body)), errors.notFound)
    }
    expect(await countInvites(company.workspace)).toBe(0)
  })
})

describe('409', () => {
  it('returns 409 already_invited for an address with a pending invite, in any case', async () => {
    const company = await createCompany(service)
    const { email } = await createInvite(service, company.owner, company)
    for (const again of [email, email.toUpperCase()]) {
      const answer = await as(company.admin, post(`${company.url}/invites`, { email: again, role: 'viewer' }))
      expectError(answer, errors.alreadyInvited)
    }
    expect(await countInvites(company.workspace)).toBe(1)
  })

  it('returns 409 already_member for the address of a member with its domain in ASCII form', async () => {
    const { url, owner, member } = await createCompany(service, { domain: 'bücher.example' })
    for (const domain of ['xn--bcher-kva.example', 'XN--BCHER-KVA.Example']) {
      const email = member.email.replace('bücher.example', domain)
      expectError(await as(owner, post(`${url}/invites`, { email, role: 'viewer' })), errors.alreadyMember)
    }
  })

  it('returns 409 already_member for the address of a member, in any case', async () => {
    const { url, workspace, owner, viewer } = await createCompany(service)
    for (const email of [owner.email, viewer.email.toUpperCase()])
      expectError(await as(owner, post(`${url}/invites`, { email, role: 'member' })), errors.alreadyMember)
    expect(await countInvites(workspace)).toBe(0)
  })
})

describe('429', () => {
  it('limits the invites of a workspace per hour, including resent ones', async () => {
    const limited = await startTestApp({ clock, environment: { INVITE_LIMIT_PER_HOUR: '3' } })
    const company = await createCompany(limited)
    const other = await createCompany(limited)
    const { id } = await createInvite(limited, company.owner, company)
    clock.advance(10 * 60_000)
    await createInvite(limited, company.admin, company)
    await limited.as(company.owner, post(`${company.url}/invites/${id}/resend`))

    const email = randomEmail()
    const create = () => limited.as(company.owner, post(`${company.url}/invites`, { email, role: 'member' }))
    const refused = await create()
    expectError(refused, errors.tooManyInvites)
    // Until the first of the three is an hour old.
    expect(refused.headers['retry-after']).toBe(String(50 * 60))
    const resent = await limited.as(company.owner, post(`${company.url}/invites/${id}/resend`))
    expectError(resent, errors.tooManyInvites)
    await createInvite(limited, other.owner, other)

    clock.advance(50 * 60_000)
    expectError(await create(), errors.tooManyInvites)
    clock.advance(1_000)
    expect((await create()).statusCode).toBe(200)
    expectError(
      await limited.as(
        company.owner,
        post(`${company.url}/invites`, { email: randomEmail(), role: 'member' }),
      ),
      errors.tooManyInvites,
    )
  })

  it('limits the invites to one address per hour, over all workspaces and in any case', async () => {
    const limited = await startTestApp({ clock, environment: { MAIL_LIMIT_PER_HOUR: '3' } })
    const email = randomEmail()
    const companies: TestCompany[] = []
    for (let i = 0; i < 4; i++) companies.push(await createCompany(limited))
    const [first, second, third, fourth] = companies as [TestCompany, TestCompany, TestCompany, TestCompany]
    const create = ({ owner, url }: TestCompany, address = email) =>
      limited.as(owner, post(`${url}/invites`, { email: address, role: 'member' }))
    const id = (await create(first)).json<{ invite: { id: string } }>().invite.id
    const resend = () => limited.as(first.owner, post(`${first.url}/invites/${id}/resend`))
    clock.advance(10 * 60_000)
    expect((await resend()).statusCode).toBe(200)
    expect((await create(second, email.toUpperCase())).statusCode).toBe(200)

    const refused = await create(third)
    expectError(refused, errors.tooManyInvitesToRecipient)
    expect(refused.headers['retry-after']).toBe(String(50 * 60))
    expectError(await resend(), errors.tooManyInvitesToRecipient)
    expect((await create(third, randomEmail())).statusCode).toBe(200)
    expect(
      await selectRows(limited.db, sql`select from invites where workspace_id = ${fourth.workspace.id}`),
    ).toEqual([])

    clock.advance(50 * 60_000 + 1_000)
    expect((await create(fourth)).statusCode).toBe(200)
  })

  it('never exceeds the limit of one address with 8 concurrent requests', async () => {
    const limited = await startTestApp({ clock, environment: { MAIL_LIMIT_PER_HOUR: '2' } })
    const email = randomEmail()
    const companies: TestCompany[] = []
    for (let i = 0; i < 8; i++) companies.push(await createCompany(limited))
    const answers = await Promise.all(
      companies.map(({ owner, url }) => limited.as(owner, post(`${url}/invites`, { email, role: 'member' }))),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
      200, 200, 429, 429, 429, 429, 429, 429,
    ])
  })

  it('limits a workspace to 200 invites per hour by default', async () => {
    const limited = await startTestApp({ clock, environment: { INVITE_LIMIT_PER_HOUR: undefined } })
    const { as } = limited
    expect(limited.config.inviteLimitPerHour).toBe(200)
    const company = await createCompany(limited)
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
      select gen_random_uuid(), ${company.workspace.id}, 'invite.created', 'user', 'x', 'api', 'x', ${clock.now().toISOString()}
      from generate_series(1, 199)`)
    await createInvite(limited, company.owner, company)
    const answer = await as(
      company.owner,
      post(`${company.url}/invites`, { email: randomEmail(), role: 'member' }),
    )
    expectError(answer, errors.tooManyInvites)
  })
})
