import { sql } from 'drizzle-orm'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import type { ValidationKit } from '../../src/agents/kit/kit.service.ts'
import type { AgentScope } from '../../src/domain/agent.ts'
import { eventKinds } from '../../src/domain/events.ts'
import { createId } from '../../src/kernel/ids.ts'
import { eras, type AgentCaller, type Era } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, type TestCompany } from '../support/company.ts'
import { countTokensOf } from '../support/count-tokens.ts'
import { readTable } from '../support/kit-table.ts'
import { createScriptedModel } from '../support/scripted-model.ts'
import { findEvidence, joinSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { db } = service

const topics = [
  ...['Onboarding without calls', 'Invoices by voice', 'Robots for the office', 'Lunch on Mondays'],
  ...['Passkeys for shops', 'A map of suppliers', 'Contracts in plain words', 'Returns without labels'],
  ...['Shared calendars', 'Meters read by photo', 'A club for repairs', 'Rent for tools'],
  ...['Tutors on demand', 'Seats that move', 'Parcels by night', 'Menus for allergies'],
  ...['Bikes for nurses', 'Quiet rooms'],
]
const findings = [
  'Seven of ten people whom we asked would use it every week, and two would pay for it at once.',
  'In the pilot 34 of 60 teams finished within a day; the others waited for an answer of support.',
  'The numbers of last quarter show that the problem costs three hours a week for each team.',
]

interface World extends TestCompany {
  seedIds: string[]
}

/** A workspace with 18 seeds, each but the last four with up to six findings, and 400 events of the last week. */
async function createWorld(): Promise<World> {
  const company = await createCompany(service)
  const { workspace, owner } = company
  await addPerson(service, workspace, 'member', 'Grace Hopper')
  const seedIds = topics.map(createId)
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, problem, audience, hypothesis, success_criteria, status, created_by_user_id, lead_user_id, created_at, updated_at)
    select id::uuid, ${workspace.id}, title, 'What if ' || lower(title) || ' were simple for everybody, and took a minute?',
      'Today it takes days, and nobody knows whom to ask.', 'Teams of up to ten people.', 'Half of them do it without help.',
      array['30 of 60 invited teams finish within a day'], case when i % 5 = 0 then 'validated' else 'open' end,
      ${owner.id}, null, now() - interval '30 days', now() - i * interval '1 hour'
    from rows from (
      jsonb_array_elements_text(${JSON.stringify(seedIds)}::jsonb), jsonb_array_elements_text(${JSON.stringify(topics)}::jsonb)
    ) with ordinality as seeds (id, title, i)`)
  await db.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, source_url, author_user_id, author_name, created_at)
    select gen_random_uuid(), seeds.id::uuid, 'interview', case when seeds.i = 3 or k % 3 = 0 then 'contradicts' else 'supports' end,
      ${JSON.stringify(findings)}::jsonb ->> (k % 3), 'https://example.com/findings/' || k, ${owner.id}, ${owner.name}, now() - k * interval '1 day'
    from jsonb_array_elements_text(${JSON.stringify(seedIds.slice(0, -4))}::jsonb) with ordinality as seeds (id, i),
      generate_series(1, 1 + seeds.i::int % 6) k`)
  await db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, target_type, target_id, seed_id, summary, data, created_at)
    select gen_random_uuid(), ${workspace.id}, type, case when n % 4 = 0 then 'agent' else 'user' end, ${owner.id}, names.name, 'api', 'seed',
      seeds.id, seeds.id, names.name || ' did something to the seed ' || title, jsonb_build_object('seedId', seeds.id, 'title', title),
      now() - n * interval '20 minutes'
    from generate_series(1, 400) n
      join lateral (select (array['evidence.added', 'comment.added', 'seed.updated', 'seed.joined'])[1 + n % 4] as type,
        (array['Ada Lovelace', 'Grace Hopper', 'Mary Member'])[1 + n % 3] as name) as names on true
      join seeds on seeds.id = (${JSON.stringify(seedIds)}::jsonb ->> (n % 18))::uuid`)
  await joinSeed(service, company.member, { id: String(seedIds[2]) })
  return { ...company, seedIds }
}

const createModel = (
  { workspace, member }: World,
  era: Era,
  { person = member, ...options }: { scopes?: readonly AgentScope[]; person?: TestPerson } = {},
) => createScriptedModel(service, workspace, person, { era, ...options })

type Use = AgentCaller['use']

const outlineOf = async (use: Use) => readTable(await use<ValidationKit>('read_validation_kit'))

/** What agents are typically asked for, each as a model does it, with what it has to find or do and the most tokens. */
const jobs: Record<string, { tokensMax: number; run: (use: Use, world: World) => Promise<void> }> = {
  'find the weakest seed and add evidence': {
    tokensMax: 3_300,
    async run(use, { seedIds }) {
      const balance = ({ supports, contradicts }: Record<string, string | number | null | undefined>) =>
        Number(supports) - Number(contradicts)
      const { summaries } = await use<ValidationKit>('read_validation_kit', { detail: 'summary' })
      const { columns = [], rows = [] } = summaries ?? {}
      const seeds = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
      const [weakest] = seeds.sort((one, other) => balance(one) - balance(other))
      expect(weakest?.id).toBe(seedIds[2])
      const seedId = weakest?.id
      const kit = await use<ValidationKit>('read_validation_kit', { seedId })
      if (kit.seeds[0]?.joined !== true) await use('join_seed', { seedId })
      const finding = { kind: 'note', verdict: 'supports', summary: 'Two offices asked for a second pilot.' }
      await use('add_evidence', { seedId, ...finding })
      expect(await findEvidence(service, { id: String(seedId) })).toHaveLength(5)
    },
  },
  'say what happened in the week': {
    tokensMax: 1_500,
    async run(use) {
      const since = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10)
      const { digest, note, nextCursor } = await use<{
        digest: { events: string[] }[]
        note: null
        nextCursor: null
      }>('list_events', { form: 'digest', since })
      expect(digest).toHaveLength(18)
      const count = digest
        .flatMap(({ events }) => events)
        .reduce((sum, text) => sum + Number(text.split(' ')[1]), 0)
      expect(count).toBeGreaterThanOrEqual(400)
      expect({ note, nextCursor }).toEqual({ note: null, nextCursor: null })
    },
  },
  'say who works on robots': {
    tokensMax: 1_000,
    async run(use, { member }) {
      const { results } = await use<{ results: { id: string }[] }>('search', { query: 'robots' })
      const { text } = await use<{ text: string }>('fetch', { id: results[0]?.id })
      expect(text).toContain(`## Participants\n\n- ${member.name} (${member.id})`)
    },
  },
  'make three seeds of a text': {
    tokensMax: 2_000,
    async run(use, { workspace }) {
      const known = (await outlineOf(use)).map(({ title }) => title)
      expect(known).toContain('Quiet rooms')
      for (const title of ['Soup for students', 'Desks by the hour', 'Letters read aloud']) {
        await use('create_seed', {
          title,
          summary: `The notes say: ${title}.`,
          problem: 'It is not there today.',
        })
      }
      const rows = await selectRows(
        db,
        sql`select 1 from seeds where workspace_id = ${workspace.id} and agent_name is not null`,
      )
      expect(rows).toHaveLength(3)
    },
  },
  'say which seeds lack evidence': {
    tokensMax: 900,
    async run(use, { seedIds }) {
      const noEvidenceSince = '1970-01-01'
      const rows = readTable(await use<ValidationKit>('read_validation_kit', { noEvidenceSince }))
      const bare = rows.filter((row) =>
        [row.supports, row.contradicts, row.neutral].every((count) => count === 0),
      )
      // Beside those that the job above may have made.
      expect(bare.map(({ id }) => String(id)).filter((id) => seedIds.includes(id))).toEqual(seedIds.slice(-4))
    },
  },
  'answer a comment': {
    tokensMax: 2_000,
    async run(use, world) {
      const { owner, member, seedIds } = world
      const question = `Where are the numbers, [@x](user:${member.id})?`
      const { id } = await createComment(service, owner, { id: String(seedIds[1]) }, { body: question })
      const { lines } = await use<{ lines: { seed: string; actor: string }[] }>('list_events', {
        ...{ types: ['comment.added'], limit: '3' },
      })
      expect(lines[0]).toMatchObject({ actor: owner.name, seed: seedIds[1] })
      const seedId = lines[0]?.seed
      const { comments } = await use<ValidationKit>('read_validation_kit', { seedId, evidenceLimit: 3 })
      expect(comments?.[0]).toMatchObject({
        id,
        body: `Where are the numbers, [@${member.name}](user:${member.id})?`,
      })
      const body = `[@${owner.name}](user:${owner.id}) They are in the findings of this week.`
      const { changed } = await use<{ changed: string[] }>('add_comment', { seedId, body })
      expect(changed).toEqual(['added', `mentions ${owner.name}`])
    },
  },
}

describe.each(eras)('a scripted model of the protocol %s', async (era) => {
  const world = await createWorld()

  it.each(Object.entries(jobs))('can %s with few tokens', async (_job, { tokensMax, run }) => {
    const { use, tokens } = await createModel(world, era)
    await run(use, world)
    expect(tokens()).toBeLessThanOrEqual(tokensMax)
    // The limit is not far above what it takes, so that it holds.
    expect(tokens()).toBeGreaterThan(tokensMax / 2)
  })

  it.each<[scopes: AgentScope[], tokensMax: number]>([
    [['validation-kit:read'], 700],
    [['validation-kit:read', 'workspace:read', 'seeds:write', 'workspace:write'], 4_500],
  ])('reads the tools of the scopes %j in at most %i tokens', async (scopes, tokensMax) => {
    // Who has all tools.
    const { agent } = await createModel(world, era, { scopes, person: world.owner })
    const { tools } = await agent.ask<{ tools: Record<string, unknown>[] }>('tools/list')
    const read = tools.map(({ name, title, description, inputSchema }) =>
      JSON.stringify({ name, title, description, inputSchema }),
    )
    expect(countTokens(read.join('\n'))).toBeLessThanOrEqual(tokensMax)
    // Not handed to models, but kept in bounds: clients read it with each list.
    expect(countTokensOf(tools)).toBeLessThanOrEqual(tokensMax * 1.6)
  })

  it('reads in the mean at most 130 tokens for a tool, of at most 190 that are sent, each argument described', async () => {
    const { agent } = await createModel(world, era, { person: world.owner })
    const { tools } = await agent.ask<{ tools: ListedTool[] }>('tools/list')
    // It has all types of events.
    const counted = tools.filter(({ name }) => name !== 'list_events')
    const meanOf = (toSent: (tool: ListedTool) => object) =>
      counted.reduce((sum, tool) => sum + countTokensOf(toSent(tool)), 0) / counted.length
    expect(
      meanOf(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ).toBeLessThanOrEqual(130)
    expect(meanOf((tool) => tool)).toBeLessThanOrEqual(190)
    const bare = tools.flatMap(({ name, inputSchema: { properties } }) =>
      Object.entries(properties).flatMap(([field, { description = '' }]) =>
        description === '' ? [`${name}.${field}`] : [],
      ),
    )
    expect(bare).toEqual([])
    const types = tools.find(({ name }) => name === 'list_events')?.inputSchema.properties.types
    // Each target once, with all that happens to it: `team.created|renamed, …`.
    const named = Array.from(
      String(types?.description).matchAll(/(\w+)\.([\w|]+)/g),
      ([, target, all = '']) => all.split('|').map((what) => `${target}.${what}`),
    )
    expect(named.flat().toSorted()).toEqual(Object.keys(eventKinds).toSorted())
  })

  it('compares 203 seeds with fewer than 30,000 tokens', async () => {
    const company = await createCompany(service)
    const ids = Array.from({ length: 203 }, createId)
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, hypothesis, status, created_by_user_id, lead_user_id, created_at, updated_at)
      select id::uuid, ${company.workspace.id}, 'Seed ' || i || ' of many that look alike',
        'Teams of up to ten people wait for days until somebody answers, so we want to try whether ' || i || ' of them would do it alone.',
        'Half of the people whom we ask finish it without help within a week.', 'open', ${company.owner.id}, ${company.owner.id}, now(), now()
      from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality as ids (id, i)`)
    const { use, tokens } = await createModel({ ...company, seedIds: ids }, era)
    const found: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const kit: ValidationKit = await use<ValidationKit>('read_validation_kit', {
        detail: 'summary',
        cursor,
      })
      found.push(...(kit.summaries?.rows.map(([id]) => id) ?? []))
      cursor = kit.nextCursor
    }
    expect(found.toSorted()).toEqual(ids.toSorted())
    expect(tokens()).toBeLessThan(30_000)
    expect(tokens()).toBeGreaterThan(15_000)
  })
})

interface ListedTool {
  name: string
  description: string
  inputSchema: { properties: Record<string, { description?: string }> }
}
