import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { ValidationKit } from '../../src/agents/kit/kit.service.ts'
import { createId } from '../../src/kernel/ids.ts'
import { eras, type AgentCaller } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, get, post, type TestCompany } from '../support/company.ts'
import { countTokensOf } from '../support/count-tokens.ts'
import { readTable } from '../support/kit-table.ts'
import { createScriptedModel } from '../support/scripted-model.ts'
import { findEvidence } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { db } = service

interface World extends TestCompany {
  seedIds: string[]
}

/** A workspace with 203 open seeds without evidence, the oldest last. */
async function createWorld(): Promise<World> {
  const company = await createCompany(service)
  const { workspace, owner, member } = company
  const seedIds = Array.from({ length: 203 }, createId)
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, hypothesis, status, created_by_user_id, lead_user_id, created_at, updated_at)
    select id::uuid, ${workspace.id}, 'Seed ' || i || ' of many that look alike',
      'Teams of up to ten people wait for days until somebody answers, so we want to try whether ' || i || ' of them would do it alone.',
      'Half of the people whom we ask finish it without help within a week.', 'open', ${owner.id},
      case when i % 2 = 0 then ${owner.id}::uuid end, now() - i * interval '1 day', now() - i * interval '1 hour'
    from jsonb_array_elements_text(${JSON.stringify(seedIds)}::jsonb) with ordinality as ids (id, i)`)
  await db.execute(sql`
    insert into seed_participants (seed_id, workspace_id, user_id, joined_at)
    select id::uuid, ${workspace.id}, ${member.id}, now()
    from jsonb_array_elements_text(${JSON.stringify(seedIds.slice(0, 10))}::jsonb) id`)
  return { ...company, seedIds }
}

type Use = AgentCaller['use']

interface Job {
  callsMax: number
  tokensMax: number
  /** Whose agent it is. Default: the member's. */
  person?: 'owner'
  /** `agent`: the same, not counted, for what it did before. */
  run: (use: Use, world: World, agent: AgentCaller) => Promise<void>
}

const statusOf = async (seedId: string | undefined) => {
  const [row] = await selectRows<{ status: string }>(db, sql`select status from seeds where id = ${seedId}`)
  return row?.status
}

interface Told {
  id: string
  kind: string
  seedId: string
  answered: boolean | null
}

/** The jobs of somebody who works with many seeds, each as a model does it, with the most calls and tokens. */
const jobs: Record<string, Job> = {
  'find the oldest seeds without evidence, and whose they are': {
    ...{ callsMax: 1, tokensMax: 3_000 },
    async run(use, { seedIds, owner }) {
      const filters = { noEvidenceSince: '1970-01-01', status: ['open'], sort: '-createdAt', limit: 20 }
      const kit = await use<ValidationKit>('read_validation_kit', filters)
      const rows = readTable(kit)
      expect(rows.map(({ id }) => id)).toEqual(seedIds.toReversed().slice(0, 20))
      expect(kit.totals.seeds).toBe(seedIds.length)
      expect(rows.slice(0, 2)).toMatchObject([{ leadName: null }, { leadName: owner.name }])
      expect(Date.parse(String(rows[0]?.createdOn))).toBeLessThan(Date.now() - 202 * 86_400_000)
    },
  },
  'list all seeds, for half of what comparing them takes': {
    ...{ callsMax: 4, tokensMax: 35_000 },
    async run(use, { seedIds }) {
      const readAll = async (detail: 'outline' | 'summary') => {
        let tokens = 0
        const ids: unknown[] = []
        for (let cursor: string | null = ''; cursor !== null;) {
          const kit: ValidationKit = await use('read_validation_kit', { detail, cursor })
          tokens += countTokensOf(kit)
          ids.push(...readTable(kit).map(({ id }) => id))
          cursor = kit.nextCursor
        }
        return { tokens, ids }
      }
      const [outline, summary] = [await readAll('outline'), await readAll('summary')]
      expect(outline.ids).toEqual(expect.arrayContaining(seedIds))
      expect(outline.tokens).toBeLessThanOrEqual(summary.tokens / 2)
    },
  },
  'add four findings with their sources': {
    ...{ callsMax: 1, tokensMax: 700 },
    async run(use, { seedIds }) {
      const evidence = [1, 2, 3, 4].map((i) => ({
        ...{
          seedId: seedIds[0],
          kind: 'survey',
          verdict: 'supports',
          summary: `調査 ${i}: 十人中七人が賛成。`,
        },
        sourceUrl: `https://example.com/findings/${i}`,
      }))
      const { results } = await use<{ results: { ok: boolean }[] }>('add_evidence_list', { evidence })
      expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true])
      expect(await findEvidence(service, { id: String(seedIds[0]) })).toHaveLength(4)
    },
  },
  'answer two mentions': {
    ...{ callsMax: 4, tokensMax: 1_500 },
    async run(use, { owner, member, seedIds }) {
      for (const seedId of seedIds.slice(1, 3)) {
        const body = `Where are the numbers, [@x](user:${member.id})?`
        await createComment(service, owner, { id: seedId }, { body })
      }
      const { notifications } = await use<{ notifications: Told[] }>('inbox')
      const open = notifications.filter(({ kind, answered }) => kind === 'mention' && answered === false)
      expect(open.map(({ seedId }) => seedId).toSorted()).toEqual(seedIds.slice(1, 3).toSorted())
      for (const { seedId } of open) {
        const { changed } = await use('add_comment', {
          seedId,
          body: `[@Ada](user:${owner.id}) In the survey.`,
        })
        expect(changed).toEqual(['added', `mentions ${owner.name}`])
      }
      expect(await use('mark_read', { ids: open.map(({ id }) => id) })).toEqual({ ok: true })
    },
  },
  'find duplicates among all seeds': {
    ...{ callsMax: 2, tokensMax: 29_999 },
    async run(use, { seedIds }) {
      const found: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const kit: ValidationKit = await use('read_validation_kit', { detail: 'summary', cursor })
        found.push(...(kit.summaries?.rows.map(([id]) => id) ?? []))
        cursor = kit.nextCursor
      }
      expect(found).toEqual(expect.arrayContaining(seedIds))
    },
  },
  'set five statuses': {
    ...{ callsMax: 1, tokensMax: 600 },
    async run(use, { seedIds }) {
      const statuses = ['validating', 'validated', 'dropped', 'validating', 'dropped']
      const changes = statuses.map((status, i) => ({ seedId: seedIds[100 + i], status }))
      await use('set_statuses', { changes })
      expect(await Promise.all(changes.map(({ seedId }) => statusOf(seedId)))).toEqual(statuses)
    },
  },
  'correct a wrong comment, finding and seed of its own': {
    ...{ callsMax: 3, tokensMax: 400 },
    async run(use, { seedIds }, agent) {
      const seedId = seedIds[3]
      const finding = { kind: 'note', verdict: 'supports', summary: 'Two offices asked for a second pilot.' }
      const [comment, evidence, seed] = await Promise.all([
        agent.use('add_comment', { seedId, body: 'Nobody asked.' }),
        agent.use('add_evidence', { seedId, ...finding }),
        agent.use('create_seed', { title: 'A seed by mistake', summary: 'It is there already.' }),
      ])
      await use('update_comment', { commentId: comment.id, body: 'Two offices asked. 😀' })
      await use('update_evidence', { evidenceId: evidence.id, verdict: 'contradicts' })
      await use('delete_seed', { seedId: seed.id })
      expect(await findEvidence(service, { id: String(seedId) })).toMatchObject([{ verdict: 'contradicts' }])
      expect(
        await selectRows(
          db,
          sql`select (select body from comments where id = ${comment.id}), deleted_at is not null as is_deleted
              from seeds where id = ${seed.id}`,
        ),
      ).toMatchObject([{ body: 'Two offices asked. 😀', is_deleted: true }])
    },
  },
  'hand over a seed': {
    person: 'owner',
    ...{ callsMax: 3, tokensMax: 1_500 },
    async run(use, { seedIds, admin }) {
      const seedId = seedIds[5]
      const { people } = await use<{ people: { userId: string; name: string }[] }>('list_people', {
        query: admin.name,
      })
      expect(people.map(({ userId }) => userId)).toEqual([admin.id])
      const userId = people[0]?.userId
      expect(await use('ask_to_join', { seedId, userId, as: 'lead' })).toEqual({ ok: true })
      await use('add_comment', { seedId, body: `[@${admin.name}](user:${userId}) It is yours. 引き継ぎ` })
      await service.as(admin, post(`/v1/seeds/${seedId}/join`))
      expect((await service.as(admin, get(`/v1/seeds/${seedId}`))).json()).toMatchObject({
        ...{ leadUserId: admin.id, joined: true },
      })
    },
  },
  'invite two people into a new team': {
    person: 'owner',
    ...{ callsMax: 3, tokensMax: 1_200 },
    async run(use, { workspace }) {
      const { team } = await use<{ team: { id: string } }>('create_team', { name: 'Research' })
      for (const name of ['grace', 'alan']) {
        const email = `${name}.${workspace.slug}@example.com`
        await use('create_invite', { email, role: 'member', teamIds: [team.id] })
      }
      const rows = await selectRows(
        db,
        sql`select 1 from invite_teams join teams on teams.id = invite_teams.team_id where teams.id = ${team.id}`,
      )
      expect(rows).toHaveLength(2)
    },
  },
  'say what happened in the week': {
    ...{ callsMax: 1, tokensMax: 1_500 },
    async run(use, { seedIds }, agent) {
      await agent.use('update_seed', { seedId: seedIds[150], status: 'validating' })
      const since = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10)
      const { digest } = await use<{ digest: { id: string }[] }>('list_events', { form: 'digest', since })
      expect(digest.map(({ id }) => id)).toContain(seedIds[150])
    },
  },
  'say who has done nothing lately': {
    ...{ callsMax: 1, tokensMax: 1_500 },
    async run(use) {
      const { people } = await use<{ people: { lastActivityAt: string | null }[] }>('list_people', {
        kind: 'member',
      })
      expect(people.length).toBeGreaterThanOrEqual(4)
      for (const { lastActivityAt } of people) expect(lastActivityAt).not.toBeUndefined()
    },
  },
}

describe.each(eras)('somebody who works with 203 seeds by the protocol %s', async (era) => {
  const world = await createWorld()

  it.each(Object.entries(jobs))('can %s', async (_job, job) => {
    const { callsMax, tokensMax, person = 'member', run } = job
    const { agent, use, calls, tokens } = await createScriptedModel(service, world.workspace, world[person], {
      era,
    })
    await run(use, world, agent)
    expect(calls()).toBeLessThanOrEqual(callsMax)
    expect(tokens()).toBeLessThanOrEqual(tokensMax)
  })
})
