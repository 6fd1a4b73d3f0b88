import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { expireRequests, tellCancelled } from '../../src/areas/agentRequests/agentRequests.jobs.ts'
import type { AgentRequest } from '../../src/areas/agentRequests/agentRequests.schemas.ts'
import type { AgentScope } from '../../src/domain/agent.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import type { Role } from '../../src/domain/roles.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { findNotices } from '../support/comments.ts'
import { addPerson, createCompany, del, findJobs, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createServiceAccount, createServiceKey } from '../support/service-accounts.ts'
import { addEvidence, createSeed, type TestSeed } from '../support/seeds.ts'
import type { TestNotification } from '../support/notifications.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db, services } = service
const company = await createCompany(service)
const { workspace, owner } = company
const url = `${company.url}/agent-requests`
const askedScopes: AgentScope[] = ['validation-kit:read', 'workspace:read', 'seeds:write']

interface Comment {
  id: string
  body: string
  evidenceId: string | null
}
interface Asked {
  id: string
  askedByName: string
  fromYourPerson: boolean
  text: string
}

async function comment(person: TestPerson, seed: TestSeed, payload: { body: string; evidenceId?: string }) {
  clock.advance(1000)
  const answer = await as(person, post(`/v1/seeds/${seed.id}/comments`, payload))
  expect(answer.statusCode, answer.body).toBe(200)
  const { comment: written, requests } = answer.json<{ comment: Comment; requests: object[] }>()
  return { ...written, requests }
}

const mentionOf = (grantId: string) => `[@Claude](agent:${grantId})`

/** A person with an agent that others may ask or not, another member, and a seed. */
async function createAsked({
  role = 'member',
  scopes = askedScopes,
  membersMayAsk = false,
}: { role?: Role; scopes?: AgentScope[]; membersMayAsk?: boolean } = {}) {
  const person = await addPerson(service, workspace, role, 'Ada 愛 <b>')
  const other = await addPerson(service, workspace, 'member', 'Grace مرحبا')
  const agent = await letAgentIn(service, workspace, person, { scopes })
  const seed = await createSeed(service, owner, company)
  if (membersMayAsk) await letMembersAsk(person, agent.grantId)
  const ask = (by: TestPerson, body = `${mentionOf(agent.grantId)} find evidence against this`) =>
    comment(by, seed, { body })
  const requests = async () =>
    (await as(owner, get(`${url}?grantId=${agent.grantId}`))).json<AgentRequest[]>()
  const inbox = async () => (await agent.use<{ requests: Asked[] }>('inbox')).requests
  return { person, other, agent, seed, ask, requests, inbox }
}

async function letMembersAsk(person: TestPerson, grantId: string, membersMayAsk = true) {
  const { user } = await principalOf(person)
  return services.grants.updateAsking(
    { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null },
    workspace.slug,
    grantId,
    membersMayAsk,
  )
}

async function principalOf(person: TestPerson) {
  const found = await services.authenticator.authenticate(person.apiKey)
  if (!found) throw new Error('no such key')
  return found
}

const eventsOf = async (commentId: string) =>
  (await as(owner, get(`${company.url}/events?targetId=${commentId}`)))
    .json<{ type: string; summary: string; actorType: string }[]>()
    .map(({ type, summary }) => [type, summary])
    .toReversed()

describe('asking an agent', () => {
  it('makes a request by its own person, which the agent answers', async () => {
    const { person, agent, ask, requests, inbox, seed } = await createAsked()
    const asking = await ask(person)
    expect(asking.body).toMatch(/^\[@.+\]\(agent:/)
    const [request, ...others] = await requests()
    expect(others).toEqual([])
    expect(request).toMatchObject({
      ...{ commentId: asking.id, seedId: seed.id, evidenceId: null, grantId: agent.grantId },
      ...{ forUserId: person.id, forName: person.name, askedByUserId: person.id, askedByName: person.name },
      ...{ text: asking.body, state: 'waiting', reason: null, answerCommentId: null },
    })
    expect(Date.parse(String(request?.expiresAt)) - Date.parse(String(request?.createdAt))).toBe(
      48 * 3_600_000,
    )
    const [asked] = await inbox()
    expect(asked).toMatchObject({ id: request?.id, fromYourPerson: true, text: asking.body })
    await agent.use('add_comment', { seedId: seed.id, body: 'Ten said no.', requestId: request?.id })
    const [answered] = await requests()
    expect(answered?.state).toBe('answered')
    const answer = await as(owner, get(`/v1/comments/${String(answered?.answerCommentId)}`))
    expect(answer.json<Comment>().body).toBe('Ten said no.')
    expect(await inbox()).toEqual([])
    expect((await eventsOf(asking.id)).map(([type]) => type)).toEqual([
      'comment.added',
      'agent_request.created',
      'agent_request.answered',
    ])
    const again = await agent.call('add_comment', { seedId: seed.id, body: 'Again.', requestId: request?.id })
    expect(again.isError).toBe(true)
    expect(again.content[0]?.text).toContain('does not wait')
  })

  it('by another member needs the tick of its person, and reaches the agent as content', async () => {
    const { person, other, agent, ask, requests, inbox } = await createAsked()
    const refused = await ask(other)
    expect(refused.body).toBe('@Claude find evidence against this')
    expect(refused.requests).toEqual([])
    expect(await requests()).toEqual([])
    await letMembersAsk(person, agent.grantId)
    const asking = await ask(other)
    const [request] = await requests()
    expect(asking.requests).toEqual([{ id: request?.id, grantId: agent.grantId, agentName: 'Robbie' }])
    expect(await inbox()).toMatchObject([
      { askedByName: other.name, fromYourPerson: false, text: asking.body },
    ])
    // What waits is cancelled when it is no longer theirs to ask.
    await letMembersAsk(person, agent.grantId, false)
    expect((await requests())[0]?.state).toBe('cancelled')
  })

  it('on evidence is answered there', async () => {
    const { person, agent, seed, requests } = await createAsked()
    const evidence = await addEvidence(service, owner, seed)
    const body = `${mentionOf(agent.grantId)}, is this true?`
    await comment(person, seed, { body, evidenceId: evidence.id })
    const [request] = await requests()
    const answer = await agent.send('comments:add', {
      seedId: seed.id,
      body: 'It is.',
      requestId: request?.id,
    })
    expect(answer.json<{ comment: Comment }>().comment.evidenceId).toBe(evidence.id)
  })

  it('can be declined with a reason, over HTTP too', async () => {
    const { person, agent, ask, requests, inbox } = await createAsked()
    const { id: commentId } = await ask(person)
    const [request] = await requests()
    const decline = () =>
      agent.send('requests:decline', { requestId: request?.id, reason: 'No source. 無い' })
    expect((await decline()).json()).toEqual({ ok: true })
    expect(await requests()).toMatchObject([{ state: 'declined', reason: 'No source. 無い' }])
    expect(await inbox()).toEqual([])
    expect((await eventsOf(commentId)).at(-1)?.[0]).toBe('agent_request.declined')
    expectError(await decline(), errors.requestNotWaiting)
    const unknown = await agent.send('requests:decline', { requestId: createId(), reason: 'No.' })
    expectError(unknown, errors.notFound)
  })

  it('is not answered by another agent, nor on another seed', async () => {
    const { person, ask, agent, requests } = await createAsked()
    const { agent: another } = await createAsked()
    await ask(person)
    const [request] = await requests()
    const requestId = request?.id
    const decline = await another.send('requests:decline', { requestId, reason: 'No.' })
    expectError(decline, errors.notFound)
    const elsewhere = await createSeed(service, owner, company)
    const answer = await agent.send('comments:add', { seedId: elsewhere.id, body: 'Here.', requestId })
    expectError(answer, errors.notFound)
    expect((await requests())[0]?.state).toBe('waiting')
  })

  it('asks nobody anew when a comment is edited', async () => {
    const { person, agent, ask, requests, seed } = await createAsked()
    const asking = await ask(person)
    const edited = `${asking.body}, please`
    await as(person, patch(`/v1/comments/${asking.id}`, { body: edited }))
    expect((await as(person, get(`/v1/comments/${asking.id}`))).json<Comment>().body).toBe(edited)
    const plain = await comment(person, seed, { body: 'Nothing.' })
    const answer = await as(person, patch(`/v1/comments/${plain.id}`, { body: mentionOf(agent.grantId) }))
    expect(answer.json()).toEqual({ ok: true, requests: [] })
    expect((await as(person, get(`/v1/comments/${plain.id}`))).json<Comment>().body).toBe('@Claude')
    expect(await requests()).toHaveLength(1)
  })

  it('is text in code, and in what agents and service accounts write', async () => {
    const { person, agent, requests, seed } = await createAsked({ membersMayAsk: true })
    const code = `\`${mentionOf(agent.grantId)}\``
    expect((await comment(person, seed, { body: code })).body).toBe(code)
    await agent.use('add_comment', { seedId: seed.id, body: `${mentionOf(agent.grantId)} go on` })
    const account = await createServiceAccount(service, owner, company, { name: 'Sync', role: 'member' })
    const key = await createServiceKey(service, owner, company, account)
    const written = await service.app.inject({
      method: 'POST',
      url: `/v1/seeds/${seed.id}/comments`,
      headers: { authorization: `Bearer ${key.secret}` },
      payload: { body: mentionOf(agent.grantId) },
    })
    expect(written.json<{ comment: Comment }>().comment.body).toBe('@Claude')
    expect(await requests()).toEqual([])
  })

  it.each<[string, AgentScope[]]>([
    ['seeds:write', ['validation-kit:read', 'workspace:read']],
    ['workspace:read', ['validation-kit:read', 'seeds:write']],
  ])('needs a grant with the scope %s', async (_scope, scopes) => {
    const { person, ask, requests } = await createAsked({ scopes })
    expect((await ask(person)).body).toMatch(/^@Claude/)
    expect(await requests()).toEqual([])
  })

  it('with workspace:write is for its own person alone, and takes the tick away', async () => {
    const { person, other, agent, ask, requests } = await createAsked({ membersMayAsk: true })
    await ask(other)
    const { user } = await principalOf(person)
    const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
    await services.grants.updateScopes(principal, workspace.slug, agent.grantId, [
      ...askedScopes,
      'workspace:write',
    ])
    expect((await requests())[0]?.state).toBe('cancelled')
    await expect(letMembersAsk(person, agent.grantId)).rejects.toMatchObject({ code: 'not_found' })
    expect((await ask(other)).body).toMatch(/^@Claude/)
    expect((await ask(person)).body).toMatch(/^\[@/)
  })

  it('reaches no grant of another workspace, that was revoked, or of a viewer', async () => {
    const elsewhere = await createCompany(service)
    const agent = await letAgentIn(service, elsewhere.workspace, elsewhere.owner, { scopes: askedScopes })
    const { person, agent: own, ask, requests } = await createAsked()
    expect((await ask(person, mentionOf(agent.grantId))).body).toBe('@Claude')
    expect((await ask(person, mentionOf(createId()))).body).toBe('@Claude')
    await db.execute(sql`update memberships set role = 'viewer' where user_id = ${person.id}`)
    expect((await as(person, get(`${url}/agents`))).statusCode).toBe(403)
    expect((await ask(owner)).body).toMatch(/^@Claude/)
    await as(owner, post(`${company.url}/integrations/${own.grantId}/revoke`))
    expect((await ask(owner)).body).toMatch(/^@Claude/)
    expect(await requests()).toEqual([])
  })
})

describe('an agent that others may ask', () => {
  it('sees what a member sees, whatever the role of its person', async () => {
    const { person, agent } = await createAsked({ role: 'admin' })
    await as(owner, post(`${company.url}/invites`, { email: 'hidden@example.com', role: 'member' }))
    const lines = async () =>
      (await agent.use<{ lines: unknown[] }>('list_events', { types: ['invite.created'], form: 'short' }))
        .lines
    expect((await lines()).length).toBeGreaterThan(0)
    await letMembersAsk(person, agent.grantId)
    expect(await lines()).toEqual([])
  })
})

describe('the end of a request', () => {
  type Asking = Awaited<ReturnType<typeof createAsked>>
  const become = (person: TestPerson, role: Role) =>
    as(owner, patch(`${company.url}/members/${person.id}`, { role }))

  it.each<[string, (asking: Asking) => Promise<unknown>]>([
    [
      'its grant is revoked',
      ({ agent }) => as(owner, post(`${company.url}/integrations/${agent.grantId}/revoke`)),
    ],
    [
      'the person of the agent is removed',
      ({ person }) => as(owner, del(`${company.url}/members/${person.id}`)),
    ],
    ['who asked is removed', ({ other }) => as(owner, del(`${company.url}/members/${other.id}`))],
    ['the person of the agent becomes a viewer', ({ person }) => become(person, 'viewer')],
    ['who asked becomes a viewer', ({ other }) => become(other, 'viewer')],
    [
      'others may not ask the agent any more',
      ({ person, agent }) => letMembersAsk(person, agent.grantId, false),
    ],
  ])('is that %s, which a job tells', async (_, end) => {
    const asking = await createAsked({ membersMayAsk: true })
    const { id: commentId } = await asking.ask(asking.other)
    const jobs = async () =>
      (await findJobs(service, '{}')).filter(({ task }) => task === 'tell_cancelled_requests')
    const before = await jobs()
    await end(asking)
    expect((await asking.requests())[0]?.state).toBe('cancelled')
    expect((await jobs()).length).toBeGreaterThan(before.length)
    for (let i = 0; i < 2; i++) await tellCancelled({ db, clock })
    const events = await eventsOf(commentId)
    expect(events.filter(([type]) => type === 'agent_request.cancelled')).toHaveLength(1)
    expect(events.at(-1)?.[1]).toMatch(/^The service cancelled a request to /)
  })

  it('waits for a suspension: no agent sees or answers what a suspended person asked, and people see why', async () => {
    const { other, agent, ask, requests, inbox, seed } = await createAsked({ membersMayAsk: true })
    const asking = await ask(other)
    const [request] = await requests()
    expect(request).toMatchObject({ state: 'waiting', hidden: false })
    const decline = () => agent.send('requests:decline', { requestId: request?.id, reason: 'No.' })
    const answer = () => agent.send('comments:add', { seedId: seed.id, body: 'Yes.', requestId: request?.id })
    await services.accounts.suspend(other.id, { isForced: false })
    expect(await inbox()).toEqual([])
    expectError(await decline(), errors.requestNotWaiting)
    expectError(await answer(), errors.requestNotWaiting)
    expect(await requests()).toMatchObject([{ state: 'waiting', hidden: true }])
    expect((await eventsOf(asking.id)).map(([type]) => type)).toEqual([
      'comment.added',
      'agent_request.created',
    ])
    await services.accounts.unsuspend(other.id)
    expect(await inbox()).toMatchObject([{ id: request?.id }])
    expect((await answer()).statusCode).toBe(200)
    expect(await requests()).toMatchObject([{ state: 'answered', hidden: false }])
  })

  it('is not that a role changes with which people may still ask', async () => {
    const { person, other, ask, requests } = await createAsked({ membersMayAsk: true })
    await ask(other)
    await become(other, 'admin')
    await become(other, 'member')
    await become(person, 'admin')
    expect((await requests())[0]?.state).toBe('waiting')
  })

  it('is two days without an answer', async () => {
    const { person, agent, ask, requests, inbox } = await createAsked()
    const { id: commentId } = await ask(person)
    const [request] = await requests()
    clock.advance(48 * 3_600_000 + 1)
    expect(await inbox()).toEqual([])
    const late = await agent.send('requests:decline', { requestId: request?.id, reason: 'Late.' })
    expectError(late, errors.requestNotWaiting)
    await expireRequests({ db, clock })
    expect((await requests())[0]?.state).toBe('expired')
    const [type, summary] = (await eventsOf(commentId)).at(-1) ?? []
    expect(type).toBe('agent_request.expired')
    expect(summary).toContain('which had no answer')
  })

  it('is the deletion of its comment or of its seed', async () => {
    const { person, ask, requests, seed, inbox } = await createAsked()
    const { id } = await ask(person)
    await as(person, del(`/v1/comments/${id}`))
    expect(await requests()).toEqual([])
    await ask(person)
    await as(owner, del(`/v1/seeds/${seed.id}`))
    expect(await requests()).toEqual([])
    expect(await inbox()).toEqual([])
  })

  it('is cancelling it, by who asked, owners and admins', async () => {
    const { person, other, ask, requests } = await createAsked()
    const { id: commentId } = await ask(person)
    const cancel = async (by: TestPerson) =>
      as(by, post(`${url}/${String((await requests())[0]?.id)}/cancel`))
    expectError(await cancel(other), errors.notTheAuthor)
    expect((await cancel(person)).json()).toEqual({ ok: true })
    expect((await cancel(owner)).json()).toEqual({ ok: true })
    expect(await requests()).toMatchObject([{ state: 'cancelled' }])
    expect((await eventsOf(commentId)).filter(([type]) => type === 'agent_request.cancelled')).toHaveLength(1)
    const stranger = await createCompany(service)
    const foreign = `${stranger.url}/agent-requests/${String((await requests())[0]?.id)}/cancel`
    expectError(await as(stranger.owner, post(foreign)), errors.notFound)
  })
})

describe('the people of a request', () => {
  /** What a person was told of requests, oldest first. */
  const toldTo = async (person: TestPerson) =>
    (await as(person, get('/v1/me/notifications')))
      .json<TestNotification[]>()
      .filter(({ kind }) => kind.startsWith('agent_'))
      .map(({ kind, text, path }) => [kind, text, path])
      .toReversed()

  it('are its asker, who is told how it ended, and that of the agent, who is told when others ask', async () => {
    const { person, other, agent, ask, seed, requests } = await createAsked({ membersMayAsk: true })
    const path = (commentId: string) => `/w/${workspace.slug}/seeds/${seed.id}#comment-${commentId}`
    const robbie = `Robbie for ${person.name}`
    const first = await ask(other)
    const [waiting] = await requests()
    expect(await toldTo(other)).toEqual([])
    const asked = ['agent_asked', `${other.name} asked your agent Robbie in ${seed.title}`]
    expect(await toldTo(person)).toEqual([[...asked, path(first.id)]])
    await agent.use('add_comment', { seedId: seed.id, body: 'Ten said no.', requestId: waiting?.id })
    const [answered] = await requests()
    const answerId = String(answered?.answerCommentId)
    // In place of that somebody commented.
    expect(await findNotices(service, answerId)).toMatchObject({ [other.id]: 'agent_request' })
    const second = await ask(other)
    await agent.use('decline_request', { requestId: (await requests())[0]?.id, reason: 'No source.' })
    const third = await ask(other)
    clock.advance(48 * 3_600_000 + 1)
    await expireRequests({ db, clock })
    const fourth = await ask(other)
    await as(owner, post(`${url}/${String((await requests())[0]?.id)}/cancel`))
    const fifth = await ask(other)
    await letMembersAsk(person, agent.grantId, false)
    await tellCancelled({ db, clock })
    expect(await toldTo(other)).toEqual([
      ['agent_request', `${robbie} answered your request in ${seed.title}`, path(answerId)],
      ['agent_request', `${robbie} declined your request in ${seed.title}`, path(second.id)],
      ['agent_request', `Robbie did not answer your request in ${seed.title} in time`, path(third.id)],
      ['agent_request', `Your request to Robbie in ${seed.title} was cancelled`, path(fourth.id)],
      ['agent_request', `Your request to Robbie in ${seed.title} was cancelled`, path(fifth.id)],
    ])
    expect(await toldTo(person)).toHaveLength(5)
  })

  it('are told of what they asked their own agent, and not that they asked it or took it back', async () => {
    const { person, agent, ask, requests, seed } = await createAsked()
    const cancelled = await ask(person)
    await as(person, post(`${url}/${String((await requests())[0]?.id)}/cancel`))
    expect(await findNotices(service, cancelled.id)).not.toHaveProperty(person.id)
    await ask(person)
    await agent.use('decline_request', { requestId: (await requests())[0]?.id, reason: 'No source.' })
    expect((await toldTo(person)).map(([, text]) => text)).toEqual([
      `Robbie for ${person.name} declined your request in ${seed.title}`,
    ])
  })

  it('are told once of an answer that mentions who asked', async () => {
    const { other, agent, ask, requests, seed } = await createAsked({ membersMayAsk: true })
    await ask(other)
    const body = `[@Grace](user:${other.id}) ten said no.`
    await agent.use('add_comment', { seedId: seed.id, body, requestId: (await requests())[0]?.id })
    const answerId = String((await requests())[0]?.answerCommentId)
    expect(await findNotices(service, answerId)).toMatchObject({ [other.id]: 'mention' })
  })

  it('turn off that others ask their agents', async () => {
    const { person, other, ask } = await createAsked({ membersMayAsk: true })
    await as(person, patch('/v1/me/notifications/preferences', { agentRequests: 'off' }))
    await ask(other)
    expect(await toldTo(person)).toEqual([])
  })
})

describe('the limits', () => {
  it('let 20 requests wait for an agent, also when people ask at once', async () => {
    const { agent, seed, requests } = await createAsked({ membersMayAsk: true })
    const people = await Promise.all(
      Array.from({ length: 21 }, (_, i) => addPerson(service, workspace, 'member', `Asker ${i}`)),
    )
    const body = mentionOf(agent.grantId)
    const answers = await Promise.all(
      people.map((by) => as(by, post(`/v1/seeds/${seed.id}/comments`, { body }))),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([
      ...Array<number>(20).fill(200),
      409,
    ])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    if (refused) expectError(refused, errors.agentBusy)
    expect(await requests()).toHaveLength(20)
  })

  it('let a person ask 20 times a day', async () => {
    const { person, ask, requests, seed, agent } = await createAsked()
    for (let i = 0; i < 20; i++) {
      await ask(person)
      await db.execute(sql`update agent_requests set state = 'answered' where grant_id = ${agent.grantId}`)
    }
    const body = mentionOf(agent.grantId)
    const refused = await as(person, post(`/v1/seeds/${seed.id}/comments`, { body }))
    expectError(refused, errors.askLimit)
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(23 * 3600)
    clock.advance(seconds * 1000)
    await ask(person)
    expect(await requests()).toHaveLength(21)
  })
})

describe('agentRequests', () => {
  it('lists who may be asked, for people', async () => {
    const { person, other, agent } = await createAsked()
    const askable = async (by: TestPerson) =>
      (await as(by, get(`${url}/agents`))).json<{ grantId: string }[]>().map(({ grantId }) => grantId)
    expect(await askable(person)).toContain(agent.grantId)
    expect(await askable(other)).not.toContain(agent.grantId)
    await letMembersAsk(person, agent.grantId)
    expect(await askable(other)).toContain(agent.grantId)
  })

  it('reads one, and none of another workspace or that does not exist', async () => {
    const { person, ask, requests } = await createAsked()
    await ask(person)
    const [request] = await requests()
    const read = (place: string, by: TestPerson, id = String(request?.id)) => as(by, get(`${place}/${id}`))
    expect((await read(url, person)).json()).toEqual(request)
    expectError(await read(url, owner, createId()), errors.notFound)
    expectError(await read(url, owner, 'x'), errors.notFound)
    const stranger = await createCompany(service)
    expectError(await read(`${stranger.url}/agent-requests`, stranger.owner), errors.notFound)
  })

  it('lists by state, page by page', async () => {
    const { person, ask, requests, agent } = await createAsked()
    for (let i = 0; i < 3; i++) await ask(person)
    const all = await requests()
    const first = await as(owner, get(`${url}?grantId=${agent.grantId}&state=waiting&limit=2`))
    expect(first.json<AgentRequest[]>()).toEqual(all.slice(0, 2))
    const next = /<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
    expect((await as(owner, get(new URL(next).pathname + new URL(next).search))).json()).toEqual(all.slice(2))
    expect((await as(owner, get(`${url}?grantId=${agent.grantId}&state=expired`))).json()).toEqual([])
  })
})
