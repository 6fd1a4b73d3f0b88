import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../src/kernel/audit.ts'
import { countRefusals, refusalLinesMax } from '../../src/http/audited-refusals.ts'
import { auditedOperations, isAudited } from '../../src/http/audit.ts'
import { openAuditFile } from '../../src/platform/audit/audit-log.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, get, patch, post, randomEmail } from '../support/company.ts'
import { formsIn, noteRoutes } from '../support/note-routes.ts'
import { operations } from '../support/operations.ts'
import { createServiceAccount, createServiceClient } from '../support/service-accounts.ts'
import { startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { createVisitor, password, signUp, startWebsite } from './visitor.ts'

const environment = { AUDIT_LOG: 'stdout', LOG_LEVEL: 'error' }
const { started: website, routes } = await noteRoutes(() => startWebsite({ environment }))
const { as, log } = website

const each = (prefix: string, endings: string) => endings.split(' ').map((ending) => `${prefix}${ending}`)

/** The operations that concern no access. */
const unauditedOperations = [
  ...each(
    'agent.',
    'readValidationKit search fetch listPeople listEvents listInbox markRead declineRequest listComments updateComment',
  ),
  ...each(
    'agent.',
    'deleteComment askToJoin followSeed deleteSeed restoreSeed createSeed updateSeed addEvidence',
  ),
  ...each(
    'agent.',
    'setStatuses addEvidenceList addComment joinSeed leaveSeed updateEvidence withdrawEvidence',
  ),
  ...each('agent.', 'listTeams createTeam renameTeam deleteTeam addTeamMember removeTeamMember listInvites'),
  ...each('me.', 'updateProfile uploadPhoto updatePreferences removePhoto declineInvite declineOffer'),
  ...each('notifications.', 'markRead markUnread updatePreferences'),
  ...each('workspaces.', 'uploadIcon removeIcon'),
  'invites.decline',
  ...each('teams.', 'create rename delete addMember removeMember'),
  ...each('labels.', 'create update delete'),
  ...each('savedFilters.', 'create update delete'),
  ...each('webhooks.', 'resume test sample redeliver redeliverSince'),
  ...each('seeds.', 'create update delete restore import undoImport merge unmerge follow unfollow join'),
  ...each('seeds.', 'invitePerson leave addEvidence'),
  ...each('evidence.', 'update withdraw see unsee'),
  ...each('comments.', 'create update delete'),
  ...each('attachments.', 'create delete'),
  'agentRequests.cancel',
]

/** The forms that concern no access. */
const unauditedForms = [
  ...each('/settings/', 'theme profile profile/photo profile/photo/remove notifications notifications/kinds'),
  ...each('/notifications/', 'read unread'),
  ...each('/w/:slug/', 'first-steps seeds/new seeds/import seeds/imports/:id seeds/imports/:id/undo'),
  ...each('/w/:slug/', 'labels labels/:id/rename labels/:id/delete agent-requests/:id/cancel'),
  ...each('/w/:slug/', 'filters filters/replace filters/:id/edit filters/:id/delete'),
  ...each('/w/:slug/', 'comments/:id/edit comments/:id/delete attachments attachments/:id/delete'),
  ...each('/w/:slug/seeds/:id/', 'comments edit status criteria move lead join ask leave follow unfollow'),
  ...each('/w/:slug/seeds/:id/', 'delete restore merge unmerge evidence evidence/:evidenceId/comments'),
  ...each('/w/:slug/seeds/:id/evidence/:evidenceId/', 'edit withdraw see unsee'),
  ...each('/w/:slug/teams', ' /:id/rename /:id/delete /:id/members /:id/members/:userId/remove'),
]

/** The lines of the audit about a person, without what differs from run to run. */
function readLines(isWanted: (line: Record<string, unknown>) => boolean) {
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>)
  return lines.filter(({ audit }) => audit === true).filter(isWanted)
}

describe('the audit', () => {
  it('has each sign-in and each failure, with the address of the client, whatever the level of the log', async () => {
    const email = 'audited@example.com'
    await signUp(website, { email })
    const visitor = createVisitor(website)
    await visitor.get('/sign-in')
    await visitor.submit('/sign-in', { email, password: 'not the password' })
    const answer = await visitor.post('/sign-in', { email, password })
    expect(answer.statusCode).toBe(303)
    const lines = readLines(({ action, target }) => {
      return action === 'POST /sign-in' && (target as { email?: string }).email === email
    })
    expect(lines).toMatchObject([
      { outcome: 'refused', code: 'sign_in_failed', actor: {}, address: '127.0.0.1' },
      { outcome: 'done', actor: { userId: expect.any(String) as string } },
    ])
    expect(lines[1]?.requestId).toBe(answer.headers['x-request-id'])
    // The link of the mail is a secret, and so is what was typed.
    const text = log.join('\n')
    expect(text).toContain('POST /verify-email/:token')
    expect(text).not.toContain('not the password')
    expect(text).not.toContain(password)
    for (const { target } of readLines(() => true)) expect(target).not.toHaveProperty('token')
  })

  it('does not have what was typed into the field of the address by mistake', async () => {
    const visitor = createVisitor(website)
    await visitor.get('/sign-in')
    await visitor.submit('/sign-in', { email: 'My secret passphrase', password: 'x' })
    expect(log.join('\n')).not.toContain('My secret passphrase')
  })

  it('has keys, exports and refusals of the API with who did it, and no requests that only read', async () => {
    const company = await createCompany(website)
    const { owner, member, url } = company
    const key = (await as(owner, post('/v1/api-keys', { name: 'Nightly' }))).json<{ secret: string }>()
    await as(owner, get(`${url}/export`))
    await as(member, get(`${url}/export`))
    await as(owner, get('/v1/me'))
    await as(owner, get('/v1/api-keys'))
    const of = (id: string) =>
      readLines(({ actor }) => (actor as { userId?: string }).userId === id).map(
        ({ action, outcome, code, target }) => ({ action, outcome, code, target }),
      )
    const target = { slug: company.workspace.slug }
    expect(of(owner.id)).toEqual([
      expect.objectContaining({ action: 'workspaces.create', outcome: 'done' }),
      { action: 'apiKeys.create', outcome: 'done', target: {} },
      { action: 'workspaces.export', outcome: 'done', target },
    ])
    expect(of(member.id)).toEqual([
      { action: 'workspaces.export', outcome: 'refused', code: 'role_insufficient', target },
    ])
    expect(log.join('\n')).not.toContain(key.secret)
    expect(log.join('\n')).not.toContain('Nightly')
  })

  it('has what agents do and are refused over HTTP and MCP, with their grant, and nothing else that they do', async () => {
    const { workspace, admin, member } = await createCompany(website)
    const agent = await letAgentIn(website, workspace, admin)
    const of = (grantId: string) =>
      readLines(({ actor }) => (actor as { grantId?: string }).grantId === grantId).map(
        ({ action, outcome, code, actor, target }) => ({ action, outcome, code, actor, target }),
      )
    const [email, other] = [randomEmail(), randomEmail()]
    const { slug } = workspace
    await agent.send('invites:create', { email, role: 'member' })
    const { invite } = await agent.use<{ invite: { id: string } }>('create_invite', {
      ...{ email: other, role: 'viewer' },
    })
    await agent.use('resend_invite', { inviteId: invite.id })
    await agent.call('create_invite', { email, role: 'member' })
    await agent.send('invites:create', { email, role: 'member' })
    await agent.use('list_invites')
    await agent.use('create_seed', { title: 'A seed', summary: 'Of an agent' })
    const actor = { userId: admin.id, grantId: agent.grantId }
    const done = { outcome: 'done', code: undefined, actor }
    const twice = { outcome: 'refused', code: 'already_invited', actor, target: { slug, email } }
    expect(of(agent.grantId)).toEqual([
      // It exchanged its code.
      expect.objectContaining({ action: 'agentOAuth.token', outcome: 'done' }),
      { action: 'agent.createInvite', ...done, target: { slug, email } },
      { action: 'agent.createInvite', ...done, target: { slug, email: other } },
      { action: 'agent.resendInvite', ...done, target: { slug, inviteId: invite.id } },
      { action: 'agent.createInvite', ...twice },
      { action: 'agent.createInvite', ...twice },
    ])
    const ofMember = await letAgentIn(website, workspace, member, { scopes: ['validation-kit:read'] })
    expect((await ofMember.call('revoke_invite', { inviteId: invite.id })).isError).toBe(true)
    const ofAdmin = await letAgentIn(website, workspace, admin, { scopes: ['validation-kit:read'] })
    await expect(ofAdmin.call('create_invite', { email, role: 'viewer' })).rejects.toThrow()
    expect(of(ofMember.grantId)).toMatchObject([
      {},
      { action: 'agent.revokeInvite', outcome: 'refused', code: 'role_insufficient' },
    ])
    expect(of(ofAdmin.grantId)).toMatchObject([
      {},
      { action: 'agent.createInvite', outcome: 'refused', code: 'insufficient_scope', target: { slug } },
    ])
  })

  it('has the tokens that clients of service accounts get and are refused, without their secrets', async () => {
    const company = await createCompany(website)
    const account = await createServiceAccount(website, company.owner, company)
    const client = await createServiceClient(website, company.owner, account)
    const ask = (id: string, secret: string) =>
      website.app.inject({
        method: 'POST',
        url: '/agent/oauth/token',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        },
        payload: 'grant_type=client_credentials',
      })
    expect((await ask(client.clientId, String(client.secret))).statusCode).toBe(200)
    expect((await ask(client.clientId, 'wrong')).statusCode).toBe(401)
    await ask('a text of a stranger', 'wrong')
    const lines = readLines(({ action }) => action === 'agentOAuth.token')
    const target = { clientId: client.clientId }
    expect(lines.slice(-3)).toMatchObject([
      { outcome: 'done', actor: { grantId: client.id }, target },
      { outcome: 'refused', code: 'invalid_client', actor: {}, target },
      { outcome: 'refused', code: 'invalid_client', actor: {}, target: {} },
    ])
    expect(log.join('')).not.toContain(String(client.secret))
    expect(log.join('')).not.toContain('a text of a stranger')
  })

  it('has why a request was refused whose key is invalid, and who lets a domain in', async () => {
    const { owner, url, workspace } = await createCompany(website)
    await as({ apiKey: 'wsk_invalid' }, get(`${url}/export`))
    await as(owner, patch(url, { name: 'A name', slug: workspace.slug }))
    const lines = readLines(({ target }) => (target as { slug?: string }).slug === workspace.slug)
    expect(lines).toMatchObject([
      { action: 'workspaces.export', outcome: 'refused', code: 'api_key_required' },
      { action: 'workspaces.update', outcome: 'done', actor: { userId: owner.id } },
    ])
  })

  it('has a line for each operation that is not listed here', () => {
    const changing = Object.entries(operations).filter(([, { request }]) => !request.startsWith('GET'))
    const names = Object.keys(operations)
    expect([...auditedOperations].filter((name) => !names.includes(name))).toEqual([])
    const left = changing.map(([name]) => name).filter((name) => !auditedOperations.has(name))
    expect(left.toSorted()).toEqual(unauditedOperations.toSorted())
  })

  it('has a line for each tool of agents whose HTTP form has one, and for each of an operation that has one', () => {
    const { agentTools } = website.services
    const audited = agentTools.filter(({ http }) => http !== undefined && auditedOperations.has(http.id))
    const ofAudited = agentTools.filter(({ action = '' }) => auditedOperations.has(action))
    expect(audited.length).toBeGreaterThan(3)
    expect(audited).toEqual(ofAudited)
    // What has no HTTP form has no line.
    const withoutForm = agentTools.filter(({ http }) => !http).map(({ name }) => name)
    expect(withoutForm).toEqual(['read_validation_kit'])
  })

  it('has a line for each form that is not listed here', () => {
    const left = [...new Set(formsIn(routes))].filter((url) => !isAudited({ method: 'POST', url }))
    expect(left.toSorted()).toEqual(unauditedForms.toSorted())
  })

  it('has no text of strangers in place of an id or a slug', async () => {
    const text = `A${'b'.repeat(200)}`
    const { owner, url } = await createCompany(website)
    await website.app.inject(
      post(`/v1/workspaces/${text}/invites`, { email: 'x@example.com', role: 'member' }),
    )
    await as(owner, post(`${url}/webhooks/${text}/rotate-secret`, {}))
    expect(log.join('')).toContain('webhooks.rotateSecret')
    expect(log.join('')).not.toContain(text)
  })

  it('counts the refusals of an address after the first ones of a minute', () => {
    let now = 0
    const lines: AuditEntry[] = []
    const audit = countRefusals({ record: (entry) => void lines.push(entry) }, () => now)
    const entry = { action: 'POST /sign-in', actor: {}, target: {} }
    const refuse = (address: string, times: number) => {
      for (let i = 0; i < times; i++) audit.record({ ...entry, outcome: 'refused', address })
    }
    refuse('192.0.2.1', 1_000)
    refuse('192.0.2.2', 1)
    audit.record({ ...entry, outcome: 'done', address: '192.0.2.1' })
    expect(lines).toHaveLength(refusalLinesMax + 2)
    now = 60_000
    refuse('192.0.2.1', 1)
    expect(lines.slice(refusalLinesMax + 2)).toEqual([
      {
        ...{ action: 'refusals', outcome: 'refused', actor: {}, target: {} },
        ...{ address: '192.0.2.1', count: 1_000 - refusalLinesMax },
      },
      { ...entry, outcome: 'refused', address: '192.0.2.1' },
    ])
    audit.flush()
    expect(lines).toHaveLength(refusalLinesMax + 4)
  })

  it('counts them beyond the addresses that are told apart', () => {
    const lines: AuditEntry[] = []
    const audit = countRefusals({ record: (entry) => void lines.push(entry) }, () => 0)
    for (let i = 0; i < 10_100; i++)
      audit.record({ action: 'x', outcome: 'refused', actor: {}, target: {}, address: String(i) })
    expect(lines).toHaveLength(10_000 + refusalLinesMax)
    audit.flush()
    expect(lines.at(-1)).toMatchObject({ action: 'refusals', address: undefined, count: 80 })
  })

  it('writes what was counted when the process stops', async () => {
    const path = join(await makeFolder(), 'audit.log')
    const service = await startTestApp({ environment: { AUDIT_LOG: path } })
    await Promise.all(
      Array.from({ length: refusalLinesMax + 5 }, () =>
        service.app.inject(post('/v1/api-keys', { name: 'x' })),
      ),
    )
    await service.close()
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const counted = lines.map((line) => JSON.parse(line) as { count?: number })
    const total = counted.reduce((sum, { count = 1 }) => sum + count, 0)
    expect(total).toBe(refusalLinesMax + 5)
  })

  it.each([
    ['POST', '/settings/security/two-step/confirm', true],
    ['POST', '/settings/security/passkeys', true],
    ['POST', '/settings/confirm/password', true],
    ['POST', '/sign-out', true],
    ['POST', '/reset/:token', true],
    ['POST', '/w/:slug/settings/delete', true],
    ['POST', '/w/:slug/members/:userId/role', true],
    ['POST', '/onboarding', true],
    ['GET', '/sign-in/with/:provider/callback', true],
    ['POST', '/w/:slug/seeds', false],
    ['POST', '/settings/theme', false],
    ['GET', '/sign-in', false],
  ])('has %s %s: %s', (method, url, expected) => {
    expect(isAudited({ method, url })).toBe(expected)
  })

  it('is written to the end of a file that its owner alone may read', async () => {
    const path = join(await makeFolder(), 'folder', 'audit.log')
    const entry = {
      action: 'admin suspend-user',
      outcome: 'done',
      target: { email: '田中@example.com' },
    } as const
    for (const systemUser of ['ada', 'grace']) openAuditFile(path).record({ ...entry, actor: { systemUser } })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { audit: true, ...entry, actor: { systemUser: 'ada' } },
      { audit: true, ...entry, actor: { systemUser: 'grace' } },
    ])
  })
})
