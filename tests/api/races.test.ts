import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { insertMemberIfNew, lockMembersOfWorkspace } from '../../src/access/memberships.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import type { Role } from '../../src/domain/roles.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createTeam,
  del,
  findInconsistencies,
  findInvite,
  findJobs,
  findRoles,
  findTeamMembers,
  get,
  patch,
  post,
  randomEmail,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { findEvents } from '../support/workspaces.ts'

const service = await startTestApp({
  environment: { DATABASE_POOL_MAX: '20' },
})
const { as, createPerson, db } = service

/** How often each race is run: who comes first is another one each time. */
const rounds = 4

const statusesOf = (answers: LightMyRequestResponse[]) => answers.map((answer) => answer.statusCode)

const countEvents = async ({ workspace }: TestCompany, type: string) =>
  (await findEvents(service, workspace)).filter((event) => event.type === type).length

/** Runs a race again and again, each time in the other order of starting. */
async function repeat(run: (inOrder: <T>(requests: (() => Promise<T>)[]) => Promise<T[]>) => Promise<void>) {
  for (let round = 0; round < rounds; round++) {
    await run(async (requests) => {
      const isReversed = round % 2 === 1
      const started = (isReversed ? requests.toReversed() : requests).map((request) => request())
      const answers = await Promise.all(started)
      return isReversed ? answers.toReversed() : answers
    })
  }
}

async function expectAnOwner({ workspace }: TestCompany): Promise<void> {
  expect(Object.values(await findRoles(service, workspace))).toContain('owner')
}

afterEach(async () => {
  expect(await findInconsistencies(service)).toEqual([])
})

describe('concurrent changes of owners', () => {
  it('lets only one of two owners demote the other', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { url, owner, workspace } = company
      const other = await addPerson(service, workspace, 'owner')
      const answers = await inOrder([
        () => as(owner, patch(`${url}/members/${other.id}`, { role: 'viewer' })),
        () => as(other, patch(`${url}/members/${owner.id}`, { role: 'viewer' })),
      ])
      expect(statusesOf(answers).toSorted()).toEqual([200, 403])
      const roles = await findRoles(service, workspace)
      expect([roles[owner.id], roles[other.id]].toSorted()).toEqual(['owner', 'viewer'])
      expect(await countEvents(company, 'member.role_changed')).toBe(1)
    })
  })

  it('lets only one of two owners remove the other', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { url, owner, workspace } = company
      const other = await addPerson(service, workspace, 'owner')
      const [first, second] = await inOrder([
        () => as(owner, del(`${url}/members/${other.id}`)),
        () => as(other, del(`${url}/members/${owner.id}`)),
      ])
      const [won, lost] = first?.statusCode === 200 ? [first, second] : [second, first]
      expect(won?.statusCode).toBe(200)
      if (lost) expectError(lost, errors.notAMember)
      await expectAnOwner(company)
      expect(await countEvents(company, 'member.removed')).toBe(1)
    })
  })

  it('lets all but one of five owners give up their role', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { url, owner, workspace } = company
      const owners = [owner]
      for (let i = 0; i < 4; i++) owners.push(await addPerson(service, workspace, 'owner'))
      const answers = await inOrder(
        owners.map(
          (person, i) => () =>
            as(
              person,
              i % 2 === 0
                ? del(`${url}/members/${person.id}`)
                : patch(`${url}/members/${person.id}`, { role: 'member' }),
            ),
        ),
      )
      for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.lastOwner)
      expect(statusesOf(answers).toSorted()).toEqual([200, 200, 200, 200, 409])
      await expectAnOwner(company)
    })
  })

  it('keeps an owner when one leaves and demotes the other at the same time', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { url, owner, workspace } = company
      const other = await addPerson(service, workspace, 'owner')
      const [leaving, demoting] = await inOrder([
        () => as(owner, del(`${url}/members/${owner.id}`)),
        () => as(owner, patch(`${url}/members/${other.id}`, { role: 'admin' })),
      ])
      if (leaving?.statusCode === 200 && demoting) expectError(demoting, errors.notAMember)
      else if (leaving) {
        expect(demoting?.statusCode).toBe(200)
        expectError(leaving, errors.lastOwner)
      }
      await expectAnOwner(company)
    })
  })
})

describe('concurrent requests to accept an invite', () => {
  const acceptable = async (role: Role = 'member') => {
    const company = await createCompany(service)
    const person = await createPerson({ name: 'Ivy Invited' })
    const invite = await createInvite(service, company.owner, company, { email: person.email, role })
    const accept = () => as(person, post(`/v1/invites/${invite.token}/accept`))
    return { company, person, invite, accept }
  }

  it('creates one membership for 50 requests', async () => {
    for (let round = 0; round < 2; round++) {
      const { company, person, invite, accept } = await acceptable()
      const answers = await Promise.all(Array.from({ length: 50 }, accept))
      for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.inviteUsed)
      expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(1)
      expect((await findRoles(service, company.workspace))[person.id]).toBe('member')
      expect(await findInvite(service, invite)).toMatchObject({ state: 'accepted' })
      expect(await countEvents(company, 'member.joined')).toBe(1)
      expect(await findJobs(service, invite.id)).toEqual([
        { task: 'send_invite', payload: { inviteId: invite.id, requestId: expect.any(String) as string } },
      ])
    }
  })

  it('either accepts or revokes the invite, not both', async () => {
    await repeat(async (inOrder) => {
      const { company, person, invite, accept } = await acceptable()
      const [accepting, revoking] = await inOrder([
        accept,
        () => as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`)),
      ])
      const isMember = person.id in (await findRoles(service, company.workspace))
      expect(isMember).toBe(accepting?.statusCode === 200)
      if (accepting && !isMember) expectError(accepting, errors.inviteRevoked)
      if (revoking && isMember) expectError(revoking, errors.inviteUsed)
      else expect(revoking?.statusCode).toBe(200)
      expect(await findInvite(service, invite)).toMatchObject({ state: isMember ? 'accepted' : 'revoked' })
      expect(await countEvents(company, 'invite.revoked')).toBe(isMember ? 0 : 1)
      expect(await countEvents(company, 'member.joined')).toBe(isMember ? 1 : 0)
    })
  })

  it('either accepts or declines the invite, not both', async () => {
    await repeat(async (inOrder) => {
      const { company, person, invite, accept } = await acceptable()
      const [accepting, declining] = await inOrder([
        accept,
        () => as(person, post(`/v1/me/invites/${invite.id}/decline`)),
      ])
      const isMember = person.id in (await findRoles(service, company.workspace))
      expect(isMember).toBe(accepting?.statusCode === 200)
      if (accepting && !isMember) expectError(accepting, errors.inviteDeclined)
      if (declining && isMember) expectError(declining, errors.inviteUsed)
      else expect(declining?.statusCode).toBe(200)
      expect(await findInvite(service, invite)).toMatchObject({ state: isMember ? 'accepted' : 'declined' })
      expect(await countEvents(company, 'invite.declined')).toBe(isMember ? 0 : 1)
      expect(await countEvents(company, 'member.joined')).toBe(isMember ? 1 : 0)
    })
  })

  it('declines once for 10 requests', async () => {
    const { company, person, invite } = await acceptable()
    const decline = () => as(person, post(`/v1/invites/${invite.token}/decline`))
    const answers = await Promise.all(Array.from({ length: 10 }, decline))
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]))
    expect(await countEvents(company, 'invite.declined')).toBe(1)
  })

  it('accepts the invite with its other teams when one of them is deleted', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const person = await createPerson()
      const [team, other] = [
        await createTeam(service, company.owner, company),
        await createTeam(service, company.owner, company),
      ]
      const invite = await createInvite(service, company.owner, company, {
        email: person.email,
        teamIds: [team.id, other.id],
      })
      const answers = await inOrder([
        () => as(person, post(`/v1/invites/${invite.token}/accept`)),
        () => as(company.owner, del(team.url)),
      ])
      expect(statusesOf(answers)).toEqual([200, 200])
      expect(await findTeamMembers(service, team)).toEqual([])
      expect(await findTeamMembers(service, other)).toEqual([person.id])
    })
  })

  it('invites to a team or returns not_found while the team is deleted', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const team = await createTeam(service, company.owner, company)
      const body = { email: randomEmail(), role: 'member', teamIds: [team.id] }
      const [inviting, deleting] = await inOrder([
        () => as(company.admin, post(`${company.url}/invites`, body)),
        () => as(company.owner, del(team.url)),
      ])
      expect(deleting?.statusCode).toBe(200)
      if (inviting && inviting.statusCode !== 200) expectError(inviting, errors.notFound)
    })
  })

  it('either accepts the invite by the old link or resends it, not both', async () => {
    await repeat(async (inOrder) => {
      const { company, person, invite, accept } = await acceptable()
      const [accepting, resending] = await inOrder([
        accept,
        () => as(company.owner, post(`${company.url}/invites/${invite.id}/resend`)),
      ])
      const isMember = person.id in (await findRoles(service, company.workspace))
      expect(isMember).toBe(accepting?.statusCode === 200)
      if (accepting && !isMember) expectError(accepting, errors.notFound)
      if (resending && isMember) expectError(resending, errors.inviteUsed)
      else expect(resending?.statusCode).toBe(200)
      expect(await countEvents(company, 'invite.resent')).toBe(isMember ? 0 : 1)
    })
  })

  it.each([
    ['the removal', (id: string) => del(id)],
    ['a demotion', (id: string) => patch(id, { role: 'viewer' })],
  ])(
    'either accepts the invite or returns invite_revoked during %s of the inviter',
    async (_name, change) => {
      await repeat(async (inOrder) => {
        const company = await createCompany(service)
        const person = await createPerson()
        const invite = await createInvite(service, company.admin, company, { email: person.email })
        const [accepting, changing] = await inOrder([
          () => as(person, post(`/v1/invites/${invite.token}/accept`)),
          () => as(company.owner, change(`${company.url}/members/${company.admin.id}`)),
        ])
        expect(changing?.statusCode).toBe(200)
        const isMember = person.id in (await findRoles(service, company.workspace))
        expect(isMember).toBe(accepting?.statusCode === 200)
        if (accepting && !isMember) expectError(accepting, errors.inviteRevoked)
      })
    },
  )

  it('returns the actual role when the role of the invite is changed', async () => {
    await repeat(async (inOrder) => {
      const { company, person, invite, accept } = await acceptable('viewer')
      const [accepting, changing] = await inOrder([
        accept,
        () => as(company.owner, patch(`${company.url}/invites/${invite.id}`, { role: 'admin' })),
      ])
      expect(accepting?.statusCode).toBe(200)
      const role = (await findRoles(service, company.workspace))[person.id]
      expect(accepting?.json()).toMatchObject({ role })
      if (changing && role === 'viewer') expectError(changing, errors.inviteUsed)
      else expect([changing?.statusCode, role]).toEqual([200, 'admin'])
    })
  })

  it('accepts the invites of 8 workspaces for one user', async () => {
    const person = await createPerson()
    const companies = await Promise.all(Array.from({ length: 8 }, () => createCompany(service)))
    const invites = await Promise.all(
      companies.map((company) => createInvite(service, company.owner, company, { email: person.email })),
    )
    const answers = await Promise.all(
      invites.map(({ token }) => as(person, post(`/v1/invites/${token}/accept`))),
    )
    expect(statusesOf(answers)).toEqual(companies.map(() => 200))
    expect((await as(person, get('/v1/workspaces'))).json()).toHaveLength(companies.length)
  })

  it('never exceeds 1,000 workspaces per user', async () => {
    const person = await createPerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'filler', ${person.id}, now() from generate_series(1, 998) returning id)
      insert into memberships select id, ${person.id}, 'owner', now(), now() from filler`)
    const companies = await Promise.all(Array.from({ length: 5 }, () => createCompany(service)))
    const invites = await Promise.all(
      companies.map((company) => createInvite(service, company.owner, company, { email: person.email })),
    )
    const answers = await Promise.all(
      invites.map(({ token }) => as(person, post(`/v1/invites/${token}/accept`))),
    )
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.workspaceLimit)
    expect(statusesOf(answers).toSorted()).toEqual([200, 200, 409, 409, 409])
  })
})

describe('concurrent invites', () => {
  it('creates one invite to the same address, in any case', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const email = randomEmail()
      const answers = await inOrder(
        [company.owner, company.admin, company.owner, company.admin].map(
          (person, i) => () =>
            as(
              person,
              post(`${company.url}/invites`, {
                email: i % 2 === 0 ? email : email.toUpperCase(),
                role: 'member',
              }),
            ),
        ),
      )
      for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.alreadyInvited)
      expect(statusesOf(answers).toSorted()).toEqual([200, 409, 409, 409])
      expect(await countEvents(company, 'invite.created')).toBe(1)
    })
  })

  it('never exceeds the hourly limit of a workspace', async () => {
    const limited = await startTestApp({ environment: { INVITE_LIMIT_PER_HOUR: '3' } })
    const company = await createCompany(limited)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        limited.as(company.owner, post(`${company.url}/invites`, { email: randomEmail(), role: 'viewer' })),
      ),
    )
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.tooManyInvites)
    expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(3)
  })

  it('keeps one of the returned links valid after 8 concurrent resends', async () => {
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => as(company.owner, post(`${company.url}/invites/${invite.id}/resend`))),
    )
    expect(statusesOf(answers)).toEqual(Array(8).fill(200))
    const links = await Promise.all(
      answers.map((answer) =>
        as(
          company.owner,
          get(`/v1/invites/${answer.json<{ inviteUrl: string }>().inviteUrl.split('/').at(-1)}`),
        ),
      ),
    )
    expect(statusesOf(links).filter((status) => status === 200)).toHaveLength(1)
    expect(await countEvents(company, 'invite.resent')).toBe(8)
  })
})

describe('concurrent changes of teams', () => {
  it('creates one team with the same name, in any case', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const answers = await inOrder(
        ['Design', 'DESIGN', 'design', ' Design '].map(
          (name) => () => as(company.admin, post(`${company.url}/teams`, { name })),
        ),
      )
      for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.teamNameTaken)
      expect(statusesOf(answers).toSorted()).toEqual([200, 409, 409, 409])
      expect(await countEvents(company, 'team.created')).toBe(1)
    })
  })

  it('returns 409 team_name_taken to both requests that swap the names of two teams', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const [one, other] = [
        await createTeam(service, company.owner, company, 'One'),
        await createTeam(service, company.owner, company, 'Other'),
      ]
      const answers = await inOrder([
        () => as(company.owner, patch(one.url, { name: 'Other' })),
        () => as(company.owner, patch(other.url, { name: 'One' })),
      ])
      for (const answer of answers) expectError(answer, errors.teamNameTaken)
    })
  })

  it('adds a member to a team once', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const team = await createTeam(service, company.owner, company)
      const answers = await inOrder(
        Array.from(
          { length: 5 },
          () => () => as(company.admin, post(`${team.url}/members`, { userId: company.viewer.id })),
        ),
      )
      for (const answer of answers)
        if (answer.statusCode !== 200) expectError(answer, errors.alreadyTeamMember)
      expect(statusesOf(answers).toSorted()).toEqual([200, 409, 409, 409, 409])
      expect(await findTeamMembers(service, team)).toEqual([company.viewer.id])
    })
  })

  it('leaves no team membership of a user who is removed from the workspace', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const teams = await Promise.all(
        Array.from({ length: 3 }, () => createTeam(service, company.owner, company)),
      )
      const [removing, ...adding] = await inOrder([
        () => as(company.owner, del(`${company.url}/members/${company.viewer.id}`)),
        ...teams.map(
          (team) => () => as(company.admin, post(`${team.url}/members`, { userId: company.viewer.id })),
        ),
      ])
      expect(removing?.statusCode).toBe(200)
      for (const answer of adding) if (answer.statusCode !== 200) expectError(answer, errors.notFound)
      for (const team of teams) expect(await findTeamMembers(service, team)).toEqual([])
      const added = adding.filter((answer) => answer.statusCode === 200)
      expect(await countEvents(company, 'team.member_added')).toBe(added.length)
    })
  })

  it('leaves no membership in a deleted team', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const team = await createTeam(service, company.owner, company)
      const [deleting, adding, removing] = await inOrder([
        () => as(company.owner, del(team.url)),
        () => as(company.admin, post(`${team.url}/members`, { userId: company.viewer.id })),
        () => as(company.owner, del(`${company.url}/members/${company.viewer.id}`)),
      ])
      expect([deleting?.statusCode, removing?.statusCode]).toEqual([200, 200])
      if (adding && adding.statusCode !== 200) expectError(adding, errors.notFound)
      expect(await selectRows(db, sql`select * from team_members where team_id = ${team.id}`)).toEqual([])
    })
  })
})

describe('concurrent changes of a member', () => {
  it('returns 403 when the caller is demoted while waiting for the lock', async () => {
    const company = await createCompany(service)
    const { admin, viewer, url, workspace } = company
    const client = await db.$client.connect()
    onTestFinished(() => client.release(true))
    await client.query('begin')
    await client.query('select from workspaces where id = $1 for no key update', [workspace.id])
    const answers = Promise.all([
      as(admin, post(`${url}/invites`, { email: randomEmail(), role: 'viewer' })),
      as(admin, del(`${url}/members/${viewer.id}`)),
    ])
    await untilWaiting(service, 2)
    await client.query(`update memberships set role = 'member' where user_id = $1`, [admin.id])
    await client.query('commit')
    for (const answer of await answers) expectError(answer, errors.roleInsufficient)
    expect(await findRoles(service, workspace)).toMatchObject({ [viewer.id]: 'viewer' })
  })

  it('removes a member whose role is being changed', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const member = `${company.url}/members/${company.member.id}`
      const [changing, removing] = await inOrder([
        () => as(company.owner, patch(member, { role: 'admin' })),
        () => as(company.owner, del(member)),
      ])
      expect(removing?.statusCode).toBe(200)
      if (changing && changing.statusCode !== 200) expectError(changing, errors.notFound)
      expect(company.member.id in (await findRoles(service, company.workspace))).toBe(false)
      expect(await countEvents(company, 'member.role_changed')).toBe(changing?.statusCode === 200 ? 1 : 0)
    })
  })

  it('either makes a member an owner or lets an admin remove them, not both', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const member = `${company.url}/members/${company.member.id}`
      const [raising, removing] = await inOrder([
        () => as(company.owner, patch(member, { role: 'owner' })),
        () => as(company.admin, del(member)),
      ])
      const isThere = company.member.id in (await findRoles(service, company.workspace))
      expect(raising?.statusCode).toBe(isThere ? 200 : 404)
      if (removing && isThere) expectError(removing, errors.roleTooHigh)
      else expect(removing?.statusCode).toBe(200)
    })
  })

  it('removes a member once', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const remove = () => as(company.owner, del(`${company.url}/members/${company.viewer.id}`))
      const answers = await inOrder([remove, remove, remove])
      for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.notFound)
      expect(statusesOf(answers).toSorted()).toEqual([200, 404, 404])
      expect(await countEvents(company, 'member.removed')).toBe(1)
    })
  })

  it('creates one membership when a user accepts an invite and joins by domain', async () => {
    for (let round = 0; round < rounds; round++) {
      const company = await createCompany(service)
      const person = await createPerson()
      const { token } = await createInvite(service, company.owner, company, {
        email: person.email,
        role: 'admin',
      })
      const [accepting] = await Promise.all([
        as(person, post(`/v1/invites/${token}/accept`)),
        // As joining by domain does, under the lock of the members.
        service.db.transaction(async (tx) => {
          await lockMembersOfWorkspace(tx, company.workspace.id)
          const now = new Date()
          const row = { workspaceId: company.workspace.id, userId: person.id, role: 'member' as const }
          await insertMemberIfNew(tx, { ...row, joinedAt: now, lastUsedAt: now })
        }),
      ])
      expect(accepting.statusCode).toBe(200)
      const role = (await findRoles(service, company.workspace))[person.id]
      expect(accepting.json()).toMatchObject({ role })
    }
  })
})

describe('webhooks', () => {
  const url = 'https://hooks.example.com/'

  it('are deleted beside changes that are delivered to them, without a deadlock or a failed change', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { owner, admin, member, viewer } = company
      const webhooks = await Promise.all([1, 2, 3].map(() => createWebhook(service, owner, company, { url })))
      const deleting = webhooks.map(
        ({ path }, i) =>
          () =>
            as(i % 2 === 0 ? owner : admin, del(path)),
      )
      const changing = Array.from(
        { length: 6 },
        (_, i) => () => as(i % 2 === 0 ? owner : admin, post(`${company.url}/teams`, { name: `Team ${i}` })),
      )
      const leaving = [member, viewer].map(
        ({ id }) =>
          () =>
            as(owner, del(`${company.url}/members/${id}`)),
      )
      const answers = await inOrder([...changing, ...deleting, ...leaving])
      expect(statusesOf(answers)).toEqual(answers.map(() => 200))
      expect((await as(owner, get(`${company.url}/webhooks`))).json()).toEqual([])
      expect(await countEvents(company, 'webhook.deleted')).toBe(3)
    })
  })

  it('that are deleted at the same moment are deleted once', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { path } = await createWebhook(service, company.owner, company, { url })
      const answers = await inOrder([company.owner, company.admin].map((actor) => () => as(actor, del(path))))
      expect(statusesOf(answers).toSorted()).toEqual([200, 404])
      expect(await countEvents(company, 'webhook.deleted')).toBe(1)
    })
  })

  it('of an admin who is removed at the same moment are added before that, or not at all', async () => {
    await repeat(async (inOrder) => {
      const company = await createCompany(service)
      const { owner, admin } = company
      const [adding, removing] = await inOrder([
        () => as(admin, post(`${company.url}/webhooks`, { url })),
        () => as(owner, del(`${company.url}/members/${admin.id}`)),
      ])
      expect(removing?.statusCode).toBe(200)
      const { length } = (await as(owner, get(`${company.url}/webhooks`))).json<unknown[]>()
      expect(length).toBe(adding?.statusCode === 200 ? 1 : 0)
      if (adding && length === 0) expectError(adding, errors.notAMember)
    })
  })
})
