import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { eras, letAgentIn } from '../support/agent-caller.ts'
import { createCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed, findEvidence, joinSeed } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { db, config } = service
const company = await createCompany(service)
const { workspace, owner, member, viewer } = company

interface Results {
  results: { ok: boolean; id: string | null; error: { code: string; message: string } | null }[]
}

const createSeeds = (count: number) =>
  Promise.all(Array.from({ length: count }, () => createSeed(service, owner, company)))

const statusesOf = async (seeds: { id: string }[]) => {
  const rows = await selectRows<{ id: string; status: string }>(
    db,
    sql`select id, status from seeds where workspace_id = ${workspace.id}`,
  )
  return seeds.map(({ id }) => rows.find((row) => row.id === id)?.status)
}

const eventsOf = (seed: { id: string }, type: string) =>
  selectRows(
    db,
    sql`select actor_type, grant_id, data from events where seed_id = ${seed.id} and type = ${type}`,
  )

const notificationsOf = (seed: { id: string }) =>
  selectRows(db, sql`select user_id, kind, agent_name from notifications where seed_id = ${seed.id}`)

describe.each(eras)('several changes in one call, in %s', async (era) => {
  const agent = await letAgentIn(service, workspace, member, { era })

  it('set statuses, each with its event and its notifications', async () => {
    const seeds = await createSeeds(5)
    const statuses = ['validating', 'validated', 'dropped', 'validating', 'open']
    const changes = seeds.map(({ id }, i) => ({
      seedId: id,
      status: statuses[i],
      statusReason: `理由 ${i} 🌱`,
    }))
    const { results } = await agent.use<Results>('set_statuses', { changes })
    expect(results).toEqual(seeds.map(({ id }) => ({ ok: true, id, error: null })))
    expect(await statusesOf(seeds)).toEqual(statuses)
    for (const [i, seed] of seeds.slice(0, 4).entries()) {
      expect(await eventsOf(seed, 'seed.updated')).toMatchObject([
        { actor_type: 'agent', grant_id: agent.grantId, data: { statusReason: `理由 ${i} 🌱` } },
      ])
      expect(await notificationsOf(seed)).toMatchObject([{ user_id: owner.id, kind: 'status' }])
    }
    // It was open before: as of a single change, nothing has happened.
    expect(await eventsOf(seeds[4] ?? { id: '' }, 'seed.updated')).toEqual([])
    await agent.use('set_statuses', { changes })
    expect(await eventsOf(seeds[0] ?? { id: '' }, 'seed.updated')).toHaveLength(1)
  })

  it('go on after an entry that fails, which has its own error with the advice of the single tool', async () => {
    const [joined, left] = await createSeeds(2)
    if (!joined || !left) throw new Error('no seeds')
    await joinSeed(service, member, joined)
    const finding = { kind: 'note', verdict: 'supports', summary: 'وجدنا سبعة من عشرة' }
    const entries = [joined.id, createId(), left.id, joined.id].map((seedId) => ({ seedId, ...finding }))
    const { results } = await agent.use<Results>('add_evidence_list', { evidence: entries })
    expect(results).toMatchObject([
      { ok: true, error: null },
      { ok: false, id: null, error: { code: 'not_found' } },
      { ok: false, id: null, error: { code: 'not_a_participant' } },
      { ok: true, error: null },
    ])
    expect(results[2]?.error?.message).toContain('Call join_seed with this seedId first.')
    const rows = await findEvidence(service, joined)
    const added = results.flatMap(({ id }) => id ?? [])
    expect(rows.map(({ id }) => id).toSorted()).toEqual(added.toSorted())
    expect(await findEvidence(service, left)).toEqual([])
    expect(await eventsOf(joined, 'evidence.added')).toHaveLength(2)
    expect(await notificationsOf(joined)).toHaveLength(2)
  })

  it('take URLs for ids, blanks for what is left out, and lists as JSON in a string', async () => {
    const seeds = await createSeeds(2)
    const changes = seeds.map(({ id }) => ({
      ...{ seedId: `${config.webUrl}/w/${workspace.slug}/seeds/${id}`, status: 'validating' },
      statusReason: null,
    }))
    for (const given of [changes, JSON.stringify(changes)]) {
      const { results } = await agent.use<Results>('set_statuses', { changes: given })
      expect(results.map(({ id }) => id)).toEqual(seeds.map(({ id }) => id))
    }
    expect(await statusesOf(seeds)).toEqual(['validating', 'validating'])
  })

  it('are 1 to 20, of the right form, or nothing is changed and the entry is named', async () => {
    const [seed] = await createSeeds(1)
    const change = { seedId: seed?.id, status: 'validating' }
    for (const [changes, told] of [
      [[], 'changes'],
      [Array.from({ length: 21 }, () => change), 'changes'],
      [[change, { ...change, status: 'done' }], 'changes.1.status'],
      [[change, { status: 'open' }], 'changes.1.seedId'],
    ] as const) {
      const answer = await agent.call('set_statuses', { changes })
      expect(answer.isError).toBe(true)
      expect(answer.content[0]?.text).toContain(told)
    }
    expect(await statusesOf(seed ? [seed] : [])).toEqual(['open'])
  })
})

describe('several changes over HTTP', () => {
  it('have the same results, and the errors of the form', async () => {
    const agent = await letAgentIn(service, workspace, member)
    const [seed] = await createSeeds(1)
    const answer = await agent.send('seeds:setStatuses', {
      changes: [
        { seedId: seed?.id, status: 'validated' },
        { seedId: createId(), status: 'validated' },
      ],
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.json<Results>().results).toMatchObject([
      { ok: true, id: seed?.id },
      { ok: false, error: { code: 'not_found' } },
    ])
    const refused = await agent.send('evidence:addList', { evidence: [{ seedId: seed?.id, kind: 'note' }] })
    expect(refused.statusCode).toBe(400)
  })

  it('need the scope and the role', async () => {
    const changes = [{ seedId: createId(), status: 'open' }]
    const reader = await letAgentIn(service, workspace, member, { scopes: ['validation-kit:read'] })
    expectError(await reader.send('seeds:setStatuses', { changes }), errors.insufficientScope)
    // Each entry of a viewer fails as the single change does.
    const ofViewer = await letAgentIn(service, workspace, viewer)
    const [seed] = await createSeeds(1)
    const answer = await ofViewer.send('seeds:setStatuses', {
      changes: [{ seedId: seed?.id, status: 'dropped' }],
    })
    expect(answer.json<Results>().results).toMatchObject([
      { ok: false, error: { code: 'role_insufficient' } },
    ])
  })

  it('have an entry that fails unexpectedly say nothing of why, and go on', async () => {
    const agent = await letAgentIn(service, workspace, member)
    const [broken, fine] = await createSeeds(2)
    await db.execute(
      sql.raw(
        `create function refuse_seed() returns trigger language plpgsql as $$ begin raise exception 'secret cause'; end $$;
         create trigger refuse_seed before update on seeds for each row when (new.id = '${broken?.id}') execute function refuse_seed()`,
      ),
    )
    const changes = [broken, fine].map((seed) => ({ seedId: seed?.id, status: 'validated' }))
    const { results } = await agent.use<Results>('set_statuses', { changes })
    expect(results).toMatchObject([{ ok: false, error: { code: 'internal' } }, { ok: true }])
    expect(results[0]?.error?.message).toMatch(/^This is a fault of the service/)
    await db.execute(sql`drop trigger refuse_seed on seeds`)
  })
})
