import { describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import {
  createCompany,
  createInvite,
  createSeed,
  createTeam,
  del,
  get,
  insertGrant,
  patch,
  post,
  randomEmail,
  type TestCompany,
  type TestRequest,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { allowDomains, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({ environment: { DATA_DIR: await makeFolder() } })
const { app, as, createPerson } = service
const png = await makePng()

/** A change of a workspace, and the event that is to tell of it. */
interface Change {
  request: TestRequest
  /** Whose key it is sent with; the owner's unless told. */
  actor?: TestPerson
  type: string
  target: { type: string; id: string | RegExp }
  /** In the words that people read. */
  summary: string
  /** What answers the same request sent again: nothing, when it changes nothing and is no error. */
  again?: ErrorFactory | 'changes'
  /** What answers somebody who may not. */
  refused?: ErrorFactory
}

const anyId = /^[0-9a-f-]{36}$/

const changes: Record<string, (company: TestCompany) => Promise<Change> | Change> = {
  'workspaces.update': async ({ url, workspace }) => {
    await allowDomains(service, workspace, ['alpha.example', 'beta.example'])
    return {
      request: patch(url, { name: 'Beta', slug: workspace.slug, allowedDomains: 'beta.example' }),
      type: 'workspace.updated',
      target: { type: 'workspace', id: workspace.id },
      summary:
        'Olga Owner renamed the workspace from Acme to Beta and set its allowed domains to beta.example',
    }
  },
  'workspaces.uploadIcon': ({ url, workspace }) => ({
    request: { method: 'POST', url: `${url}/icon`, ...buildUpload(png) },
    type: 'workspace.icon_changed',
    target: { type: 'workspace', id: workspace.id },
    summary: 'Olga Owner changed the icon of Acme',
    again: 'changes',
  }),
  'members.updateRole': ({ url, member }) => ({
    request: patch(`${url}/members/${member.id}`, { role: 'admin' }),
    type: 'member.role_changed',
    target: { type: 'user', id: member.id },
    summary: 'Olga Owner changed the role of Mary Member from member to admin',
  }),
  'members.remove': ({ url, member }) => ({
    request: del(`${url}/members/${member.id}`),
    type: 'member.removed',
    target: { type: 'user', id: member.id },
    summary: 'Olga Owner removed Mary Member',
    again: errors.notFound,
  }),
  'invites.create': ({ url }) => ({
    request: post(`${url}/invites`, { email: 'Ivy@example.com', role: 'viewer' }),
    type: 'invite.created',
    target: { type: 'invite', id: anyId },
    summary: 'Olga Owner invited Ivy@example.com as viewer',
    again: errors.alreadyInvited,
  }),
  'invites.resend': async (company) => {
    const { id, email } = await createInvite(service, company.owner, company)
    return {
      request: post(`${company.url}/invites/${id}/resend`),
      type: 'invite.resent',
      target: { type: 'invite', id },
      summary: `Olga Owner sent the invite to ${email} again`,
      again: 'changes',
    }
  },
  'invites.revoke': async (company) => {
    const { id, email } = await createInvite(service, company.owner, company)
    return {
      request: post(`${company.url}/invites/${id}/revoke`),
      type: 'invite.revoked',
      target: { type: 'invite', id },
      summary: `Olga Owner withdrew the invite to ${email}`,
    }
  },
  'invites.updateRole': async (company) => {
    const { id, email } = await createInvite(service, company.owner, company)
    return {
      request: patch(`${company.url}/invites/${id}`, { role: 'viewer' }),
      type: 'invite.role_changed',
      target: { type: 'invite', id },
      summary: `Olga Owner changed the role of the invite to ${email} from member to viewer`,
    }
  },
  'invites.accept': async (company) => {
    const actor = await createPerson({ name: 'Ivy Invited', email: randomEmail() })
    const { token } = await createInvite(service, company.admin, company, { email: actor.email })
    return {
      request: post(`/v1/invites/${token}/accept`),
      actor,
      type: 'member.joined',
      target: { type: 'user', id: actor.id },
      summary: 'Ivy Invited accepted the invite of Adam Admin and joined as member',
      again: errors.inviteUsed,
      refused: errors.inviteEmailMismatch,
    }
  },
  'teams.create': ({ url }) => ({
    request: post(`${url}/teams`, { name: ' Design ' }),
    type: 'team.created',
    target: { type: 'team', id: anyId },
    summary: 'Olga Owner created the team Design',
    again: errors.teamNameTaken,
  }),
  'teams.rename': async (company) => {
    const team = await createTeam(service, company.owner, company, 'Design')
    return {
      request: patch(team.url, { name: 'Research' }),
      type: 'team.renamed',
      target: { type: 'team', id: team.id },
      summary: 'Olga Owner renamed the team Design to Research',
    }
  },
  'teams.delete': async (company) => {
    const team = await createTeam(service, company.owner, company, 'Design')
    return {
      request: del(team.url),
      type: 'team.deleted',
      target: { type: 'team', id: team.id },
      summary: 'Olga Owner deleted the team Design',
      again: errors.notFound,
    }
  },
  'teams.addMember': async (company) => {
    const team = await createTeam(service, company.owner, company, 'Design')
    return {
      request: post(`${team.url}/members`, { userId: company.member.id }),
      type: 'team.member_added',
      target: { type: 'team', id: team.id },
      summary: 'Olga Owner added Mary Member to the team Design',
      again: errors.alreadyTeamMember,
    }
  },
  'teams.removeMember': async (company) => {
    const team = await createTeam(service, company.owner, company, 'Design')
    await as(company.owner, post(`${team.url}/members`, { userId: company.member.id }))
    return {
      request: del(`${team.url}/members/${company.member.id}`),
      type: 'team.member_removed',
      target: { type: 'team', id: team.id },
      summary: 'Olga Owner took Mary Member out of the team Design',
      again: errors.notFound,
    }
  },
}

const joinedSeed = async (company: TestCompany) => {
  const seed = await createSeed(service, company.owner, company, 'Rain')
  await as(company.owner, post(`${seed.url}/join`))
  return seed
}

const changesOfSeeds: typeof changes = {
  'seeds.create': ({ url }) => ({
    request: post(`${url}/seeds`, { title: 'Rain', summary: 'Water from above' }),
    type: 'seed.created',
    target: { type: 'seed', id: anyId },
    summary: 'Olga Owner created the seed Rain',
    again: 'changes',
  }),
  'seeds.update': async (company) => {
    const seed = await createSeed(service, company.owner, company, 'Rain')
    return {
      request: patch(seed.url, { problem: 'It is dry', status: 'validating' }),
      type: 'seed.updated',
      target: { type: 'seed', id: seed.id },
      summary: 'Olga Owner changed the problem and the status (from open to validating) of the seed Rain',
    }
  },
  'seeds.join': async (company) => {
    const seed = await createSeed(service, company.owner, company, 'Rain')
    return {
      request: post(`${seed.url}/join`),
      type: 'seed.joined',
      target: { type: 'seed', id: seed.id },
      summary: 'Olga Owner joined the seed Rain',
    }
  },
  'seeds.leave': async (company) => {
    const seed = await joinedSeed(company)
    return {
      request: post(`${seed.url}/leave`),
      type: 'seed.left',
      target: { type: 'seed', id: seed.id },
      summary: 'Olga Owner left the seed Rain',
    }
  },
  'seeds.addEvidence': async (company) => {
    const seed = await joinedSeed(company)
    return {
      request: post(`${seed.url}/evidence`, {
        kind: 'interview',
        verdict: 'supports',
        summary: 'They like it',
      }),
      type: 'evidence.added',
      target: { type: 'evidence', id: anyId },
      summary: 'Olga Owner added an interview that supports it to the seed Rain',
      again: 'changes',
    }
  },
  'integrations.revoke': async (company) => {
    const grantId = await insertGrant(service, company.workspace, company.owner)
    return {
      request: post(`${company.url}/integrations/${grantId}/revoke`),
      type: 'integration.revoked',
      target: { type: 'integration', id: grantId },
      summary: `Olga Owner ended the access of Agent ${grantId}`,
      refused: errors.notFound,
    }
  },
}
Object.assign(changes, changesOfSeeds)

/** Changes of what is the caller's own, and of no workspace that there is already. */
const elsewhere = [
  ...['apiKeys.create', 'apiKeys.revoke', 'me.updateProfile', 'me.updatePreferences', 'me.uploadPhoto'],
  ...['workspaces.create', 'agentOAuth.register', 'agentOAuth.token', 'agentOAuth.revoke'],
  // It only reads.
  'agent.readValidationKit',
]

const operations = Object.values(app.swagger().paths ?? {}).flatMap((methods) =>
  Object.entries(methods as Record<string, { operationId: string }>).map(([method, { operationId }]) => ({
    id: operationId,
    method,
  })),
)

const newEvents = async ({ workspace }: TestCompany, count: number) =>
  (await findEvents(service, workspace)).slice(count)

/** A text as it is, or one of a form. */
const matching = (text: string | RegExp): unknown =>
  text instanceof RegExp ? expect.stringMatching(text) : text

describe('the changes', () => {
  it('are those of every operation that changes a workspace', () => {
    const expected = operations.filter(({ id, method }) => method !== 'get' && !elsewhere.includes(id))
    expect(Object.keys(changes).toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
  })
})

describe.each(Object.entries(changes))('%s', (_id, prepare) => {
  it('leaves one event that tells who, through which key, what and on what', async () => {
    const company = await createCompany(service)
    const change = await prepare(company)
    const actor = change.actor ?? company.owner
    const { length } = await findEvents(service, company.workspace)
    const answer = await as(actor, change.request)
    expect(answer.statusCode, answer.body).toBe(200)
    const added = await newEvents(company, length)
    expect(added).toEqual([
      {
        type: change.type,
        actor_type: 'user',
        actor_user_id: actor.id,
        actor_name: actor.name,
        grant_id: null,
        api_key_id: actor.apiKeyId,
        source: 'api',
        target_type: change.target.type,
        target_id: matching(change.target.id),
        summary: change.summary,
      },
    ])

    // The feed tells it in the same words, first, to everybody who may know.
    const isForAll = !/^(invite|integration)\./.test(change.type)
    for (const reader of [company.admin, company.viewer]) {
      const [first] = (await as(reader, get(`${company.url}/events?limit=1`))).json<{ type: string }[]>()
      if (isForAll || reader === company.admin)
        expect(first).toMatchObject({ type: change.type, summary: change.summary })
      else expect(first?.type).toBe('workspace.created')
    }
  })

  it('leaves none when it is refused, or changes nothing', async () => {
    const company = await createCompany(service)
    const change = await prepare(company)
    const { length } = await findEvents(service, company.workspace)
    expectError(await as(company.viewer, change.request), change.refused ?? errors.roleInsufficient)
    expect(await newEvents(company, length)).toEqual([])

    const actor = change.actor ?? company.owner
    expect((await as(actor, change.request)).statusCode).toBe(200)
    const again = await as(actor, change.request)
    if (typeof change.again === 'function') expectError(again, change.again)
    else expect(again.statusCode).toBe(200)
    expect(await newEvents(company, length)).toHaveLength(change.again === 'changes' ? 2 : 1)
  })
})

// An upload has no Idempotency-Key, and needs none.
const posts = operations.filter(({ id, method }) => method === 'post' && id !== 'workspaces.uploadIcon')

describe.each(Object.entries(changes).filter(([id]) => posts.some((operation) => operation.id === id)))(
  '%s, sent twice with one Idempotency-Key',
  (_id, prepare) => {
    it('leaves one event', async () => {
      const company = await createCompany(service)
      const change = await prepare(company)
      const { length } = await findEvents(service, company.workspace)
      const request = { ...change.request, headers: { 'idempotency-key': randomSlug() } }
      const first = await as(change.actor ?? company.owner, request)
      const second = await as(change.actor ?? company.owner, request)
      expect([first.statusCode, second.statusCode]).toEqual([200, 200])
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.body).toBe(first.body)
      expect(await newEvents(company, length)).toHaveLength(1)
    })
  },
)

describe('what somebody does to themselves', () => {
  it('is told as that', async () => {
    const company = await createCompany(service)
    const { url, member, viewer, admin } = company
    const team = await createTeam(service, company.owner, company, 'Design')
    await as(company.owner, post(`${team.url}/members`, { userId: member.id }))
    const { length } = await findEvents(service, company.workspace)
    await as(member, del(`${team.url}/members/${member.id}`))
    await as(viewer, del(`${url}/members/${viewer.id}`))
    await as(admin, patch(`${url}/members/${admin.id}`, { role: 'member' }))
    const added = await newEvents(company, length)
    expect(added.map(({ type, summary }) => ({ type, summary }))).toEqual([
      { type: 'team.member_removed', summary: 'Mary Member left the team Design' },
      { type: 'member.left', summary: 'Vera Viewer left Acme' },
      {
        type: 'member.role_changed',
        summary: 'Adam Admin changed the role of Adam Admin from admin to member',
      },
    ])
  })
})
