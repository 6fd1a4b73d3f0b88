import { describe, expect, it } from 'vitest'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { someEvidence, type TestEvidence, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

// What tests/website/team.browser.test.ts does on the website, as programs and agents do it.
const service = await startTestApp()
const { as } = service

/** The ways of doing the same: by the API with a key, and by an agent over MCP. */
interface Way {
  createSeed(input: object): Promise<TestSeed>
  join(seed: TestSeed): Promise<unknown>
  addEvidence(seed: TestSeed, input: object): Promise<TestEvidence>
  correct(evidence: TestEvidence, input: object): Promise<unknown>
  withdraw(evidence: TestEvidence, reason: string): Promise<unknown>
  comment(seed: TestSeed, body: string): Promise<unknown>
  setStatus(seed: TestSeed, status: string): Promise<unknown>
  readSeed(seed: TestSeed): Promise<TestSeed>
  /** The titles of what a text finds. */
  find(text: string): Promise<string[]>
}

const company = await createCompany(service)
const { url, workspace } = company

function byApi(person: TestPerson): Way {
  const send = async <Answer>(request: ReturnType<typeof get>): Promise<Answer> => {
    const answer = await as(person, request)
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<Answer>()
  }
  return {
    createSeed: async (input) => (await send<{ seed: TestSeed }>(post(`${url}/seeds`, input))).seed,
    join: ({ id }) => send(post(`/v1/seeds/${id}/join`)),
    addEvidence: async ({ id }, input) =>
      (await send<{ evidence: TestEvidence }>(post(`/v1/seeds/${id}/evidence`, input))).evidence,
    correct: ({ id }, input) => send(patch(`/v1/evidence/${id}`, input)),
    withdraw: ({ id }, reason) => send(post(`/v1/evidence/${id}/withdraw`, { reason })),
    comment: ({ id }, body) => send(post(`/v1/seeds/${id}/comments`, { body })),
    setStatus: ({ id }, status) => send(patch(`/v1/seeds/${id}`, { status })),
    readSeed: ({ id }) => send(get(`/v1/seeds/${id}`)),
    find: async (text) =>
      (await send<{ title: string }[]>(get(`${url}/search?q=${encodeURIComponent(text)}`))).map(
        ({ title }) => title,
      ),
  }
}

async function overMcp(person: TestPerson): Promise<Way> {
  const agent = await letAgentIn(service, workspace, person)
  return {
    createSeed: async (input) =>
      (await agent.use<{ seed: TestSeed }>('create_seed', { ...input, detail: 'full' })).seed,
    join: ({ id }) => agent.use('join_seed', { seedId: id }),
    addEvidence: async ({ id }, input) =>
      (await agent.use<{ evidence: TestEvidence }>('add_evidence', { seedId: id, ...input, detail: 'full' }))
        .evidence,
    correct: ({ id }, input) => agent.use('update_evidence', { evidenceId: id, ...input }),
    withdraw: ({ id }, reason) => agent.use('withdraw_evidence', { evidenceId: id, reason }),
    comment: ({ id }, body) => agent.use('add_comment', { seedId: id, body }),
    setStatus: ({ id }, status) => agent.use('update_seed', { seedId: id, status }),
    // Agents read seeds in the kit, which the API answers to everybody as it is stored.
    readSeed: async ({ id }) =>
      (await agent.use<{ seeds: [TestSeed] }>('read_validation_kit', { seedId: id })).seeds[0],
    find: async (text) =>
      (await agent.use<{ results: { title: string }[] }>('search', { query: text })).results.map(
        ({ title }) => title,
      ),
  }
}

const ways: Record<string, (person: TestPerson) => Promise<Way>> = {
  'by the API': async (person) => byApi(person),
  'over MCP': overMcp,
}

describe.each(Object.entries(ways))('a team works on a seed %s', (name, open) => {
  it('writes, discusses, corrects, moves, finds and withdraws', async () => {
    const { owner, admin, member, viewer } = company
    const [ada, grace, mary] = await Promise.all([open(owner), open(member), open(admin)])
    const title = `Plain invoices ${name}`
    const seed = await ada.createSeed({ title, summary: 'People pay what they understand.' })

    await grace.join(seed)
    const evidence = await grace.addEvidence(seed, someEvidence)
    const sentence = `Who pays for the printing ${name}`
    await grace.comment(seed, `${sentence}, [@Vera](user:${viewer.id})?`)
    await mary.join(seed)
    await mary.addEvidence(seed, { ...someEvidence, verdict: 'contradicts' })
    expect((await ada.readSeed(seed)).evidenceCounts).toEqual({ supports: 1, contradicts: 1, neutral: 0 })

    // The mentioned viewer is told of both, and of nothing that they did.
    const told = (await as(viewer, get('/v1/me/notifications'))).json<{ kind: string; seedTitle: string }[]>()
    expect(told.filter(({ seedTitle }) => seedTitle === title).map(({ kind }) => kind)).toEqual([
      'evidence',
      'mention',
    ])

    await grace.correct(evidence, { summary: 'Eight of ten would' })
    await ada.setStatus(seed, 'validating')
    expect((await as(viewer, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      status: 'validating',
      commentCount: 1,
    })
    expect(await mary.find(sentence)).toContain(title)

    // By its author: an agent withdraws only evidence of its person (docs/agents.md).
    await grace.withdraw(evidence, 'Asked twice')
    expect((await ada.readSeed(seed)).evidenceCounts).toEqual({ supports: 0, contradicts: 1, neutral: 0 })
    const listed = await as(viewer, get(`/v1/seeds/${seed.id}/evidence?includeWithdrawn=true`))
    expect(listed.json()).toMatchObject([
      { verdict: 'contradicts', withdrawnAt: null },
      { summary: 'Eight of ten would', withdrawnReason: 'Asked twice' },
    ])
  })
})
