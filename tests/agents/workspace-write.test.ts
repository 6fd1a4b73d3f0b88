import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, createInvite, createTeam, randomEmail } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { db, services } = service
const company = await createCompany(service)
const { workspace, owner, admin, member, viewer } = company
const agent = await letAgentIn(service, workspace, admin)

const lastEventOf = async (type: string) => {
  const [event] = await selectRows(
    db,
    sql`select actor_type, actor_user_id, grant_id, data from events
        where workspace_id = ${workspace.id} and type = ${type} order by created_at desc, id desc limit 1`,
  )
  return event
}
const ofAgent = { actor_type: 'agent', actor_user_id: admin.id, grant_id: agent.grantId }

/** The caller of an agent's request, as the services get it. */
const principalOf = async ({ email }: { email: string }, grantId: string) => {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('nobody has this address')
  return { user, source: 'mcp', apiKeyId: null, sessionId: null, grantId } as const
}

const rowOf = async (inviteId: string) => {
  const [row] = await selectRows(db, sql`select role, state, expires_at from invites where id = ${inviteId}`)
  return row
}

describe('the tools for teams', () => {
  it('create, rename and delete a team, and change who is in it, each with an event of the agent', async () => {
    const { team } = await agent.use<{ team: { id: string } }>('create_team', { name: 'Field work' })
    expect(team).toMatchObject({ name: 'Field work', memberCount: 0 })
    expect(await lastEventOf('team.created')).toMatchObject({ ...ofAgent, data: { teamId: team.id } })
    const teamId = team.id
    expect(await agent.use('rename_team', { teamId, name: 'Interviews' })).toEqual({ ok: true })
    expect(await agent.use('add_team_member', { teamId, userId: viewer.id })).toEqual({ ok: true })
    expect(await lastEventOf('team.member_added')).toMatchObject({ ...ofAgent, data: { userId: viewer.id } })
    const { teams } = await agent.use<{ teams: object[] }>('list_teams')
    expect(teams).toContainEqual({ ...team, name: 'Interviews', memberCount: 1 })
    expect(await agent.use('remove_team_member', { teamId, userId: viewer.id })).toEqual({ ok: true })
    expect(await agent.use('delete_team', { teamId })).toEqual({ ok: true })
    expect(await lastEventOf('team.deleted')).toMatchObject(ofAgent)
    expect(await selectRows(db, sql`select 1 from teams where id = ${teamId}`)).toEqual([])
  })

  it('say what to do after a name that is taken, and after an id that does not exist', async () => {
    const { id } = await createTeam(service, owner, company, 'Sales')
    const taken = await agent.call('create_team', { name: 'SALES' })
    expect(taken.content[0]?.text).toContain('Call list_teams to see them')
    const unknown = await agent.call('delete_team', { teamId: createId() })
    expect(unknown.content[0]?.text).toContain('Call list_teams.')
    const stranger = await service.createPerson()
    expectError(await agent.send('teams:addMember', { teamId: id, userId: stranger.id }), errors.notFound)
    expect(await selectRows(db, sql`select 1 from team_members where team_id = ${id}`)).toEqual([])
  })
})

describe('the tools for invites', () => {
  it('invite a person, send again, change and revoke it, without its link in any answer', async () => {
    const email = randomEmail().replace('@', '@b\u00FCcher.')
    const { id: teamId } = await createTeam(service, owner, company, 'Newcomers')
    const input = { email, role: 'member', teamIds: [teamId] }
    const created = await agent.use<{ invite: { id: string } }>('create_invite', input)
    expect(created.invite).toMatchObject({ email, role: 'member', status: 'pending' })
    const inviteId = created.invite.id
    expect(await lastEventOf('invite.created')).toMatchObject({ ...ofAgent, data: { inviteId, email } })
    const listed = await agent.use<{ invites: { id: string }[] }>('list_invites')
    expect(listed.invites.map(({ id }) => id)).toContain(inviteId)
    const again = await agent.use('resend_invite', { inviteId })
    expect(again).toEqual({ ok: true, expiresAt: expect.any(String) as string })
    expect(await agent.use('update_invite', { inviteId, role: 'viewer' })).toEqual({ ok: true })
    expect(await rowOf(inviteId)).toMatchObject({ role: 'viewer', state: 'open' })
    expect(await agent.use('revoke_invite', { inviteId })).toEqual({ ok: true })
    expect(await rowOf(inviteId)).toMatchObject({ state: 'revoked' })
    const overHttp = await agent.send('invites:create', { email: randomEmail(), role: 'viewer' })
    for (const answer of [created, listed, again, overHttp.json<object>()])
      expect(JSON.stringify(answer)).not.toMatch(/inviteUrl|\/invites\//)
    expect(overHttp.statusCode).toBe(200)
  })

  it('give at most the role of a member, also for the agent of an owner', async () => {
    const ofOwner = await letAgentIn(service, workspace, owner)
    for (const role of ['admin', 'owner']) {
      const answer = await ofOwner.send('invites:create', { email: randomEmail(), role })
      expect(issuesOf(answer)).toMatchObject([{ path: ['role'] }])
      const { id: inviteId } = await createInvite(service, owner, company, {
        email: randomEmail(),
        role: 'admin',
      })
      const changed = await ofOwner.send('invites:update', { inviteId, role })
      expect(issuesOf(changed)).toMatchObject([{ path: ['role'] }])
    }
    const { id: inviteId } = await createInvite(service, owner, company, {
      email: randomEmail(),
      role: 'admin',
    })
    for (const [path, rest] of [
      ['resend', {}],
      ['update', { role: 'viewer' }],
      ['revoke', {}],
    ] as const)
      expectError(await ofOwner.send(`invites:${path}`, { inviteId, ...rest }), errors.roleTooHigh)
    expect(await rowOf(inviteId)).toMatchObject({ role: 'admin', state: 'open' })
    const answer = await ofOwner.call('revoke_invite', { inviteId })
    expect(answer.content[0]?.text).toContain('Ask your person to do it on the website')
  })

  it('are refused by the service too: no caller with a grant invites an admin', async () => {
    const email = randomEmail()
    const principal = await principalOf(owner, agent.grantId)
    await expect(
      services.invites.create(principal, workspace.slug, { email, role: 'admin' }),
    ).rejects.toMatchObject({ code: 'role_too_high' })
    expect(await selectRows(db, sql`select 1 from invites where email = ${email}`)).toEqual([])
  })

  it('invite nobody after the grant was revoked while the call was under way', async () => {
    const other = await letAgentIn(service, workspace, admin)
    await db.execute(sql`update agent_grants set revoked_at = now() where id = ${other.grantId}`)
    const email = randomEmail()
    const principal = await principalOf(admin, other.grantId)
    await expect(
      services.invites.create(principal, workspace.slug, { email, role: 'viewer' }),
    ).rejects.toMatchObject({ code: 'agent_token_required' })
    expect(await selectRows(db, sql`select 1 from invites where email = ${email}`)).toEqual([])
  })
})

describe('the scope workspace:write', () => {
  it('is required, and no challenge names it', async () => {
    const without = await letAgentIn(service, workspace, admin, {
      scopes: ['validation-kit:read', 'workspace:read', 'seeds:write'],
    })
    const answer = await without.send('teams:create', { name: 'Not there' })
    expectError(answer, errors.insufficientScope)
    expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"')
    expect(answer.headers['www-authenticate']).not.toContain('workspace:write')
    expect(await selectRows(db, sql`select 1 from teams where name = 'Not there'`)).toEqual([])
  })

  it('lets the agent of a member change nothing', async () => {
    const ofMember = await letAgentIn(service, workspace, member)
    expectError(await ofMember.send('teams:create', { name: 'Not there' }), errors.roleInsufficient)
    const invite = await ofMember.send('invites:create', { email: randomEmail(), role: 'viewer' })
    expectError(invite, errors.roleInsufficient)
    expectError(await ofMember.send('invites:list'), errors.roleInsufficient)
  })
})
