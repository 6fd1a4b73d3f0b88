import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteOldLoggedCalls } from '../../src/agents/calls/agent-calls.repository.ts'
import type { AgentCall } from '../../src/agents/grants/grants.service.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { toRuns } from '../../src/website/agents/agent-runs.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, get } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const databaseUrl = await clone()
const service = await startTestApp({ clock, environment: { DATABASE_URL: databaseUrl } })
const { as, db } = service

/** What is logged, after all of it was written. */
async function readLog(
  company: { url: string },
  person: TestPerson,
  grantId: string,
): Promise<Omit<AgentCall, 'id' | 'calledAt'>[]> {
  const answer = await as(person, get(`${company.url}/integrations/${grantId}/calls`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer
    .json<AgentCall[]>()
    .map(({ tool, code, seedId, seedTitle }) => ({ tool, code, seedId, seedTitle }))
}

describe('the calls of an agent', () => {
  it('are logged on both faces with their seed and their code, without arguments, newest first', async () => {
    const started = await startTestApp({ clock, environment: { DATABASE_URL: databaseUrl } })
    const company = await createCompany(started)
    const { member, workspace } = company
    const other = await createCompany(started)
    const seed = await createSeed(started, member, company, { title: 'Bikes' })
    const foreign = await createSeed(started, other.member, other, { title: 'Secret' })
    const agent = await letAgentIn(started, workspace, member)
    await agent.use('read_validation_kit')
    clock.advance(1_000)
    await agent.use('fetch', { id: seed.id })
    clock.advance(1_000)
    await agent.send('seeds:join', { seedId: foreign.id })
    clock.advance(1_000)
    const finding = { kind: 'interview', verdict: 'supports', summary: 'They like it.' }
    const evidence = await agent.use<{ id: string }>('add_evidence', {
      seedId: seed.id,
      ...finding,
    })
    clock.advance(1_000)
    await agent.use('withdraw_evidence', { evidenceId: evidence.id })
    clock.advance(1_000)
    const created = await agent.use<{ id: string }>('create_seed', {
      title: 'Trains',
      summary: 'On rails.',
    })
    clock.advance(1_000)
    await agent.ask('resources/read', { uri: `workspace://${workspace.slug}/seeds/${seed.id}` })
    // Closing writes what was logged.
    await started.close()
    const bikes = { seedId: seed.id, seedTitle: 'Bikes' }
    const none = { seedId: null, seedTitle: null }
    expect(await readLog(company, member, agent.grantId)).toEqual([
      { tool: 'read_validation_kit', code: 'ok', ...bikes },
      { tool: 'create_seed', code: 'ok', seedId: created.id, seedTitle: 'Trains' },
      { tool: 'withdraw_evidence', code: 'ok', ...bikes },
      { tool: 'add_evidence', code: 'ok', ...bikes },
      { tool: 'join_seed', code: 'not_found', ...none },
      { tool: 'fetch', code: 'ok', ...bikes },
      { tool: 'read_validation_kit', code: 'ok', ...none },
    ])
  })

  it('are shown to those who may list the grant, also after it has ended', async () => {
    const company = await createCompany(service)
    const { id } = await insertGrant(service, company.workspace, company.member)
    await insertCalls(id, 1)
    const url = `${company.url}/integrations/${id}/calls`
    await db.execute(sql`update agent_grants set revoked_at = now() where id = ${id}`)
    for (const person of [company.owner, company.admin, company.member])
      expect(await readLog(company, person, id)).toHaveLength(1)
    expectError(await as(company.viewer, get(url)), errors.notFound)
    const other = await createCompany(service)
    expectError(await as(other.owner, get(`${other.url}/integrations/${id}/calls`)), errors.notFound)
    expectError(
      await as(company.owner, get(`${company.url}/integrations/${createId()}/calls`)),
      errors.notFound,
    )
    expectError(await as(company.owner, get(`${company.url}/integrations/no-id/calls`)), errors.notFound)
  })

  const insertCalls = (grantId: string, count: number) =>
    db.execute(sql`
      insert into agent_call_log (grant_id, called_at, id, tool, code)
      select ${grantId}, ${clock.now().toISOString()}::timestamptz - i * interval '1 second', gen_random_uuid(), 'fetch', 'ok'
      from generate_series(1, ${count}) i`)

  it('are kept for a while, and the newest thousand of each grant', async () => {
    const company = await createCompany(service)
    const [busy, quiet] = [
      await insertGrant(service, company.workspace, company.member),
      await insertGrant(service, company.workspace, company.member),
    ]
    await insertCalls(busy.id, 1_007)
    await insertCalls(quiet.id, 3)
    await db.execute(
      sql`update agent_grants set last_used_at = ${clock.now().toISOString()} where id = ${busy.id}`,
    )
    const count = async ({ id }: { id: string }) =>
      selectRows<{ at: string }>(
        db,
        sql`select called_at::text as at from agent_call_log where grant_id = ${id} order by called_at`,
      )
    const usedSince = new Date(clock.now().getTime() - 1_000)
    await deleteOldLoggedCalls(db, { before: new Date(0), usedSince })
    expect(await count(busy)).toHaveLength(1_000)
    expect(await count(quiet)).toHaveLength(3)
    const newest = (await count(busy)).at(-1)
    await deleteOldLoggedCalls(db, { before: new Date(clock.now().getTime() - 1_500), usedSince })
    expect(await count(busy)).toEqual([newest])
    expect(await count(quiet)).toHaveLength(1)
  })
})

describe('a run', () => {
  it('has the calls with less than half an hour between them, the oldest first', () => {
    const at = (minute: number) => new Date(minute * 60_000).toISOString()
    const callOf = (minute: number): AgentCall => ({
      ...{
        id: String(minute),
        calledAt: at(minute),
        tool: 'fetch',
        code: 'ok',
        seedId: null,
        seedTitle: null,
      },
    })
    const minutes = toRuns([200, 171, 142, 112, 82.01, 0].map(callOf)).map((run) =>
      run.map(({ id }) => Number(id)),
    )
    expect(minutes).toEqual([[142, 171, 200], [82.01, 112], [0]])
    expect(toRuns([])).toEqual([])
  })
})
