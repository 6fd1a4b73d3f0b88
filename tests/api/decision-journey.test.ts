import { describe, expect, it } from 'vitest'
import { letAgentIn } from '../support/agent-caller.ts'
import { uploadFile } from '../support/attachments.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, createTeam, get, patch, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { beginImport, findImport } from '../support/seed-imports.ts'
import { someEvidence, type TestSeed } from '../support/seeds.ts'
import { clone, startTestApp, type TestPerson } from '../support/test-app.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'

// What tests/website/decision.browser.test.ts does on the website, as programs and agents do it. Tables, files and merges
// are of people and programs: agents read what they bring.
const service = await startTestApp({
  deliveries: { pollEveryMs: 20, random: () => 0 },
  environment: { DATABASE_URL: await clone() },
})
const { as } = service
await service.services.startJobs()

/** The ways of doing the same: by the API with a key, and by an agent over MCP. */
interface Way {
  addEvidence(seed: TestSeed, input: object): Promise<unknown>
  change(seed: TestSeed, changes: object): Promise<unknown>
  read(seed: TestSeed): Promise<TestSeed>
}

type Company = Awaited<ReturnType<typeof createCompany>>

async function send<Answer>(person: TestPerson, request: ReturnType<typeof get>): Promise<Answer> {
  const answer = await as(person, request)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Answer>()
}

const ways: Record<string, (person: TestPerson, company: Company) => Promise<Way>> = {
  'by the API': async (person) => ({
    addEvidence: ({ id }, input) => send(person, post(`/v1/seeds/${id}/evidence`, input)),
    change: ({ id }, changes) => send(person, patch(`/v1/seeds/${id}`, changes)),
    read: ({ id }) => send(person, get(`/v1/seeds/${id}`)),
  }),
  'over MCP': async (person, { workspace }) => {
    const agent = await letAgentIn(service, workspace, person)
    return {
      addEvidence: ({ id }, input) => agent.use('add_evidence', { seedId: id, ...input }),
      change: ({ id }, changes) => agent.use('update_seed', { seedId: id, ...changes }),
      read: async ({ id }) =>
        (await agent.use<{ seeds: [TestSeed] }>('read_validation_kit', { seedId: id })).seeds[0],
    }
  },
}

describe.each(Object.entries(ways))('a team decides about an idea %s', (_, open) => {
  it('from a table of ideas to a message in a chat', async () => {
    const company = await createCompany(service)
    const { owner, member, viewer, workspace, url } = company
    const table = [
      'Title,Summary,Success criteria',
      '見積もりを音声で — Quotes by voice,Fitters say what they need,"Eight of ten would use it\nTwo pay for it"',
      'Quotes by voice for fitters,The same in other words,',
      'مكتبة إعارة الأدوات,Nobody owns a ladder,',
    ].join('\n')
    const importId = await beginImport(service, owner, company, table)
    await eventually(async () =>
      expect(await findImport(service, owner, company, importId)).toMatchObject({ state: 'done', done: 3 }),
    )
    const seeds = await send<TestSeed[]>(owner, get(`${url}/seeds`))
    const seedOf = (begin: string) => {
      const seed = seeds.find(({ title }) => title.startsWith(begin))
      if (!seed) throw new Error(`no seed ${begin}`)
      return seed
    }
    const [kept, double] = [seedOf('見積もり'), seedOf('Quotes by voice')]
    await send(owner, post(`/v1/seeds/${double.id}/merge`, { into: kept.id }))

    const team = await createTeam(service, owner, company, 'Research')
    await send(owner, post(`${url}/teams/${team.id}/members`, { userId: viewer.id }))
    const file = await uploadFile(
      service,
      member,
      workspace.slug,
      'role,answer\nfitter,yes\n',
      'interviews.csv',
    )
    await createComment(service, member, kept, {
      body: `[@Research](team:${team.id}), is this all?`,
      attachmentIds: [file.id],
    })
    const told = await send<{ kind: string }[]>(viewer, get('/v1/me/notifications'))
    expect(told.map(({ kind }) => kind)).toEqual(['mention'])

    const way = await open(member, company)
    await send(member, post(`/v1/seeds/${kept.id}/join`))
    const { criteria } = await way.read(kept)
    expect(criteria).toMatchObject([{ text: 'Eight of ten would use it' }, { text: 'Two pay for it' }])
    const [first, second] = criteria.map(({ id }) => id)
    await way.addEvidence(kept, { ...someEvidence, criterionIds: [first] })
    const chat = await startReceiver()
    await createWebhook(service, owner, company, {
      ...{ url: chat.url, format: 'slack', types: ['seed.updated'], seedIds: [kept.id] },
    })
    const statusReason = 'Eight of ten fitters would use it <!channel>.'
    await way.change(kept, {
      criteria: [
        { id: first, text: 'Eight of ten would use it', state: 'met' },
        { id: second, text: 'Two pay for it', state: 'open' },
      ],
      ...{ status: 'validated', statusReason },
    })
    const [message] = await chat.waitFor(1)
    const { text } = JSON.parse(message?.body ?? '{}') as { text: string }
    expect(text).toContain('from open to validated')
    expect(text).not.toContain('<!channel>')
    expect(await send(viewer, get(`/v1/seeds/${kept.id}`))).toMatchObject({
      ...{ status: 'validated', statusReason, decidedByUserId: member.id, commentCount: 1 },
      criteria: [{ state: 'met' }, { state: 'open' }],
      evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
    })
  })
})
