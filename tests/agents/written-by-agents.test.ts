import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, get, type TestCompany } from '../support/company.ts'
import { createComment, findNotices, type TestComment } from '../support/comments.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import {
  addEvidence,
  createSeed,
  joinSeed,
  someEvidence,
  type TestEvidence,
  type TestSeed,
} from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { app, as } = service
const tester = createOAuthTester(service)

async function letIn({ workspace }: TestCompany, person: TestPerson) {
  const token = await tester.letIn(workspace, person, {
    scopes: ['validation-kit:read', 'workspace:read', 'seeds:write'],
  })
  return async <Answer>(path: string, payload: object = {}): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await app.inject({ method: 'POST', url: `/agent/v1/${path}`, headers, payload })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<Answer>()
  }
}

const company = await createCompany(service)
const { member, viewer, url } = company
const send = await letIn(company, member)

/** A seed of the agent with a piece of evidence of it, and one of its person. */
async function createSeedOfAgent() {
  const { seed } = await send<{ seed: TestSeed }>('seeds:create', { title: 'Robots', summary: 'They help' })
  await send('seeds:join', { seedId: seed.id })
  const { evidence: ofAgent } = await send<{ evidence: TestEvidence }>('evidence:add', {
    ...{ ...someEvidence, seedId: seed.id },
  })
  const ofPerson = await addEvidence(service, member, seed)
  return { seed, ofAgent, ofPerson }
}

const listEvidence = async ({ id }: TestSeed, query = '') => {
  const answer = await as(viewer, get(`/v1/seeds/${id}/evidence${query}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<TestEvidence[]>()
}

describe('a seed created by an agent', () => {
  it('names the agent and the person that it acted for', async () => {
    const { seed } = await createSeedOfAgent()
    expect(seed).toMatchObject({ agentName: 'Robbie', createdByUserId: member.id })
    expect((await as(viewer, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({ agentName: 'Robbie' })
    const listed = (await as(viewer, get(`${url}/seeds`))).json<TestSeed[]>()
    expect(listed.find(({ id }) => id === seed.id)).toMatchObject({ agentName: 'Robbie' })
  })

  it('has no agent name when a person created it', async () => {
    expect(await createSeed(service, member, company)).toMatchObject({ agentName: null })
  })
})

describe('evidence added by an agent', () => {
  it('names the agent and the author that it acted for', async () => {
    const { seed, ofAgent, ofPerson } = await createSeedOfAgent()
    expect(ofAgent).toMatchObject({ agentName: 'Robbie', authorName: member.name, authorUserId: member.id })
    expect(ofPerson).toMatchObject({ agentName: null, authorName: member.name })
    expect(await listEvidence(seed)).toEqual([ofPerson, ofAgent])
  })

  it('can be filtered by people and agents, in pages', async () => {
    const { seed, ofAgent, ofPerson } = await createSeedOfAgent()
    expect(await listEvidence(seed, '?by=agents')).toEqual([ofAgent])
    expect(await listEvidence(seed, '?by=people')).toEqual([ofPerson])
    const later = await addEvidence(service, member, seed)
    const first = await as(viewer, get(`/v1/seeds/${seed.id}/evidence?by=people&limit=1`))
    expect(first.json()).toEqual([later])
    const next = new URL(String(/<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1]))
    expect(await listEvidence(seed, next.search)).toEqual([ofPerson])
    const elsewhere = next.search.replace('by=people', 'by=agents')
    expectError(await as(viewer, get(`/v1/seeds/${seed.id}/evidence${elsewhere}`)), errors.cursorInvalid, {
      field: 'cursor',
    })
    const unknown = await as(viewer, get(`/v1/seeds/${seed.id}/evidence?by=robots`))
    expect(issuesOf(unknown)).toEqual([{ _tag: 'Type', path: ['by'] }])
  })

  it('names the agent in the validation kit and in the text of the seed', async () => {
    const { seed, ofAgent, ofPerson } = await createSeedOfAgent()
    const kit = await send<{ seeds: { evidence: TestEvidence[] }[] }>('validation-kit:read', {
      seedId: seed.id,
    })
    expect(kit.seeds[0]?.evidence.map(({ agentName }) => agentName)).toEqual([null, 'Robbie'])
    const { text } = await send<{ text: string }>('seeds:fetch', { id: seed.id })
    expect(text).toContain(
      `by the agent Robbie for ${member.name}, interview, supports (evidence ${ofAgent.id}): ${someEvidence.summary}`,
    )
    expect(text).toContain(
      `by ${member.name}, interview, supports (evidence ${ofPerson.id}): ${someEvidence.summary}`,
    )
  })

  it('still names the agent after the grant ended with the membership', async () => {
    const seed = await createSeed(service, member, company)
    const person = await addPerson(service, company.workspace, 'member')
    const sendAs = await letIn(company, person)
    await joinSeed(service, person, seed)
    await sendAs('evidence:add', { ...someEvidence, seedId: seed.id })
    const left = await as(person, { method: 'DELETE', url: `${url}/members/${person.id}` })
    expect(left.statusCode).toBe(200)
    expect(await listEvidence(seed)).toMatchObject([{ agentName: 'Robbie', authorName: person.name }])
  })
})

describe('a comment by an agent', () => {
  it('names the agent and the author that it acted for, and tells others', async () => {
    const { seed } = await createSeedOfAgent()
    const follower = await addPerson(service, company.workspace, 'member')
    await createComment(service, follower, seed)
    const { comment } = await send<{ comment: TestComment }>('comments:add', {
      seedId: seed.id,
      body: `Asked [@V](user:${viewer.id}).`,
    })
    expect(comment).toMatchObject({
      agentName: 'Robbie',
      authorUserId: member.id,
      authorName: 'Mary Member',
      body: `Asked [@Vera Viewer](user:${viewer.id}).`,
    })
    expect((await as(viewer, get(`/v1/seeds/${seed.id}/comments`))).json<unknown[]>()).toContainEqual(comment)
    expect(await findNotices(service, comment.id)).toEqual({
      [viewer.id]: 'mention',
      [follower.id]: 'comment',
    })
  })
})
