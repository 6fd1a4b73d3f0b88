import { Ajv } from 'ajv'
import ajvFormats from 'ajv-formats'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { ValidationKit, validationKitParts } from '../../src/agents/kit/kit.schemas.ts'
import { httpForm, type ValidationKit as Kit } from '../../src/agents/kit/kit.service.ts'
import { readKitRows, type KitQuery } from '../../src/agents/kit/kit.repository.ts'
import { readTable } from '../support/kit-table.ts'
import { mcpForm } from '../../src/agents/tools/read-validation-kit.tools.ts'
import { createId } from '../../src/kernel/ids.ts'
import { startOf } from '../../src/kernel/pagination.ts'
import { inlined } from '../../src/kernel/schemas.ts'
import { post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { createOAuthTester, type TestHost } from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app, db } = service
const tester = createOAuthTester(service)
const isKit = ajvFormats
  .default(new Ajv({ allowUnionTypes: true }))
  .compile(inlined(ValidationKit, validationKitParts))

async function letIn() {
  const host = await tester.createHost()
  const { access_token: token } = await tester.getTokens(await tester.createAgent(), host)
  return { host, token }
}

interface Answer {
  kit?: Kit
  /** The code of the error over HTTP, its text over MCP. */
  error?: string
  bytes: number
}

async function askOverHttp(token: string, input: object): Promise<Answer> {
  const answer = await app.inject({
    method: 'POST',
    url: '/agent/v1/validation-kit:read',
    headers: { authorization: `Bearer ${token}` },
    payload: input,
  })
  const bytes = Buffer.byteLength(answer.body)
  if (answer.statusCode !== 200) return { error: answer.json<{ code: string }>().code, bytes }
  return { kit: answer.json<Kit>(), bytes }
}

/** Asks for the seeds in full, unless the input says otherwise. */
async function askOverMcp(token: string, input: object): Promise<Answer> {
  const { detail } = input as { detail?: string | null }
  return askOverMcpAsIs(token, { ...input, detail: detail || 'full' })
}

async function askOverMcpAsIs(token: string, input: object): Promise<Answer> {
  const answer = await app.inject({
    method: 'POST',
    url: '/agent/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    payload: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_validation_kit', arguments: input },
    }),
  })
  const { result } = JSON.parse(/^data: (.*)$/m.exec(answer.body)?.[1] ?? answer.body) as {
    result: { content: { text: string }[]; structuredContent?: Kit; isError?: boolean }
  }
  const text = String(result.content[0]?.text)
  const bytes = Buffer.byteLength(text)
  if (result.isError === true) return { error: text, bytes }
  expect(result.structuredContent).toEqual(JSON.parse(text))
  return { kit: JSON.parse(text) as Kit, bytes }
}

const faces = [
  ['HTTP', askOverHttp, httpForm.bytesMax],
  ['MCP', askOverMcp, mcpForm.bytesMax],
] as const

/** Seeds of a workspace, the first changed last, each with evidence, the first added last. Returns the ids. */
async function fill(
  host: TestHost,
  seedCount: number,
  evidenceCount: number,
  summary?: string,
): Promise<string[]> {
  const ids = Array.from({ length: seedCount }, createId)
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, problem, status, created_at, updated_at)
    select id::uuid, ${host.workspaceId}, 'Seed ' || i, 'S ' || i, case when i % 2 = 0 then 'P ' || i end,
      case when i % 3 = 0 then 'validated' else 'open' end, '2026-01-01', '2026-02-01'::timestamptz - i * interval '1 hour'
    from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality as ids (id, i)`)
  // In parts: the search's triggers run for each piece, and a statement has 2.5 s.
  for (let begin = 0; begin < seedCount; begin += 50) {
    const part = ids.slice(begin, begin + 50)
    const pieceIds = JSON.stringify(Array.from({ length: part.length * evidenceCount }, createId))
    await db.execute(sql`
      insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      select made.id::uuid, seeds.id::uuid, 'note', 'supports', coalesce(${summary ?? null}, 'E ' || k), 'Ada', '2026-01-01'::timestamptz - k / 2 * interval '1 minute'
      from jsonb_array_elements_text(${JSON.stringify(part)}::jsonb) with ordinality as seeds (id, place)
        join (select id, (i - 1) / ${evidenceCount} + 1 as place, (i - 1) % ${evidenceCount} + 1 as k
          from jsonb_array_elements_text(${pieceIds}::jsonb) with ordinality as ids (id, i)) as made using (place)`)
  }
  return ids
}

/** The seeds that are not in full: items over HTTP, a table over MCP. */
const restOf = (kit: Kit) => [...kit.outline, ...readTable(kit)]
const idsOf = (kit: Kit) => [...kit.seeds, ...restOf(kit)].map(({ id }) => id)

describe.each(faces)('the validation kit over %s', (_face, ask, bytesMax) => {
  async function read(token: string, input: object = {}): Promise<Kit> {
    const { kit, error, bytes } = await ask(token, input)
    if (!kit) throw new Error(error)
    expect(isKit(kit), JSON.stringify(isKit.errors)).toBe(true)
    expect(bytes).toBeLessThanOrEqual(bytesMax)
    return kit
  }

  /** All answers, each continuing the one before. */
  async function readAll(token: string, input: object): Promise<Kit[]> {
    const kits = [await read(token, input)]
    for (let cursor = kits[0]?.nextCursor; typeof cursor === 'string'; cursor = kits.at(-1)?.nextCursor) {
      expect(kits.at(-1)?.truncated).toBe(true)
      kits.push(await read(token, { ...input, cursor }))
    }
    return kits
  }

  describe('a filter', () => {
    it('returns only seeds with the requested status, and counts only those in the totals', async () => {
      const { host, token } = await letIn()
      const ids = await fill(host, 7, 2)
      const kit = await read(token, { status: 'validated' })
      expect(idsOf(kit)).toEqual([ids[2], ids[5]])
      expect(kit).toMatchObject({
        totals: { seeds: 2, evidence: 4, comments: null },
        truncated: false,
        nextCursor: null,
      })
      expect(await read(token, { status: 'dropped' })).toMatchObject({
        ...{
          seeds: [],
          totals: { seeds: 0, evidence: 0, comments: null },
          truncated: false,
          nextCursor: null,
        },
      })
    })

    it('searches all words, whole or by their beginning, ignoring case and accents, and says when none match', async () => {
      const { host, token } = await letIn()
      const ids = await fill(host, 4, 0)
      await db.execute(sql`update seeds set summary = '100 % ÄRGER' where id = ${ids[1]}`)
      for (const [query, places] of [
        ['seed 3', [2]],
        ['S 4', [3]],
        ['p 2', [1]],
        ['  Ärger ', [1]],
        ['arg', [1]],
        ['3 seed', [2]],
        ['see 3', [2]],
        ['eed 3', []],
        ['%', []],
        ['_', []],
        ["'\\", []],
      ] as const) {
        const kit = await read(token, { query })
        expect(idsOf(kit), query).toEqual(places.map((place) => ids[place]))
        if (places.length === 0) expect(kit.note).toMatch(/^No seed matches\. .*try fewer words/)
      }
      expect((await read(token, { status: 'dropped' })).note).toBe('No seed matches these filters.')
      const empty = await letIn()
      expect((await read(empty.token)).note).toBe('This workspace has no seeds yet.')
    })

    it('returns the seeds that changed at updatedSince or later', async () => {
      const { host, token } = await letIn()
      const ids = await fill(host, 3, 0)
      const updatedSince = '2026-01-31T23:00:00+01:00'
      expect(idsOf(await read(token, { updatedSince }))).toEqual(ids.slice(0, 2))
      expect(idsOf(await read(token, { updatedSince: '9999-12-31T23:59:60Z' }))).toEqual([])
      expect(idsOf(await read(token, { updatedSince: '0001-01-01T00:00:00Z' }))).toEqual(ids)
    })

    it('can be combined with other filters', async () => {
      const { host, token } = await letIn()
      const ids = await fill(host, 9, 1)
      const input = { status: 'validated', query: 'SEED', updatedSince: '2026-01-31T18:00:00Z', limit: 1 }
      const kits = await readAll(token, input)
      expect(kits.map(idsOf)).toEqual([[ids[2]], [ids[5]]])
      for (const { totals } of kits) expect(totals).toEqual({ seeds: 2, evidence: 2, comments: null })
    })
  })

  it('a cursor continues the list of seeds, and returns each seed once', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 23, 1)
    // Changed at one moment, so that the id decides.
    await db.execute(sql`update seeds set updated_at = '2026-01-01' where workspace_id = ${host.workspaceId}`)
    const kits = await readAll(token, { limit: 5 })
    expect(kits.map(({ seeds }) => seeds.length)).toEqual([5, 5, 5, 5, 3])
    expect(kits.flatMap(idsOf)).toEqual(ids.toReversed())
    for (const { totals } of kits) expect(totals).toEqual({ seeds: 23, evidence: 23, comments: null })
    expect(kits.at(-1)?.truncated).toBe(false)
  })

  it('a cursor with seedId continues the evidence, and returns each piece once', async () => {
    const { host, token } = await letIn()
    const [, seedId = ''] = await fill(host, 3, 45)
    const kits = await readAll(token, { seedId })
    expect(kits.map(({ seeds }) => seeds[0]?.evidence.length)).toEqual([20, 20, 5])
    expect(kits.map(idsOf)).toEqual([[seedId], [seedId], [seedId]])
    const rows = await selectRows<{ id: string }>(
      db,
      sql`select id from evidence where seed_id = ${seedId} order by created_at desc, id desc`,
    )
    expect(kits.flatMap(({ seeds }) => seeds[0]?.evidence.map(({ id }) => id))).toEqual(
      rows.map(({ id }) => id),
    )
    for (const { totals } of kits) expect(totals).toEqual({ seeds: 1, evidence: 45, comments: null })
    expect(kits[0]?.note).toBe(
      'This answer has 1 of 1 seeds in full, 0 more in outline, and 20 of 45 pieces of evidence. ' +
        'To continue, pass nextCursor as cursor, with the same filters.',
    )
    expect(kits.at(-1)?.truncated).toBe(false)
    expect(kits.at(-1)?.note).toBe(null)
  })

  it('has the seed that a merged one is now, through all merges', async () => {
    const { host, token } = await letIn()
    const other = await letIn()
    const [first = '', second = '', third = ''] = await fill(host, 3, 15)
    for (const [from, into] of [
      [first, second],
      [second, third],
    ] as const)
      expect((await service.as(host, post(`/v1/seeds/${from}/merge`, { into }))).statusCode).toBe(200)
    const kits = await readAll(token, { seedId: first })
    expect(kits.map(idsOf)).toEqual([[third], [third], [third]])
    expect(kits.flatMap(({ seeds }) => seeds[0]?.evidence)).toHaveLength(45)
    expect((await ask(other.token, { seedId: first })).error).toMatch(/^not_found$|not found|no such/i)
  })

  it('rejects a cursor of another list as cursor_invalid', async () => {
    const { host, token } = await letIn()
    const [seedId, otherId] = await fill(host, 3, 3)
    const other = await letIn()
    await fill(other.host, 3, 0)
    const { nextCursor: ofSeeds } = await read(token, { limit: 1, status: 'open' })
    const { nextCursor: ofEvidence } = await read(token, { seedId, evidenceLimit: 1 })
    const { nextCursor: ofOther } = await read(other.token, { limit: 1 })
    const invalid = [
      { cursor: ofSeeds },
      { cursor: ofSeeds, status: 'validated' },
      { cursor: ofSeeds, status: 'open', query: 'Seed' },
      { cursor: ofSeeds, status: 'open', updatedSince: '2026-01-01T00:00:00Z' },
      { cursor: ofSeeds, status: 'open', seedId },
      { cursor: ofEvidence },
      { cursor: ofEvidence, seedId: otherId },
      { cursor: ofOther },
      { cursor: 'nonsense' },
    ]
    for (const input of invalid) {
      expect((await ask(token, input)).error, JSON.stringify(input)).toMatch(
        /^(cursor_invalid$|This cursor is invalid for this list\. .* pass the same seedId, status, query and updatedSince)/,
      )
    }
    expect((await ask(token, { cursor: ofSeeds, status: 'open', limit: 2, detail: 'outline' })).error).toBe(
      undefined,
    )
  })

  it('evidenceLimit limits the evidence of each seed, and the note says so', async () => {
    const { host, token } = await letIn()
    const [seedId] = await fill(host, 2, 3)
    const two = await read(token, { evidenceLimit: 2 })
    expect(two.seeds.map(({ evidence }) => evidence.length)).toEqual([2, 2])
    expect(two).toMatchObject({ truncated: true, nextCursor: null, totals: { seeds: 2, evidence: 6 } })
    expect(two.note).toBe(
      'This answer has 2 of 2 seeds in full, 0 more in outline, and 4 of 6 pieces of evidence. ' +
        'To read a seed with its evidence, pass its id as seedId.',
    )
    const none = await read(token, { evidenceLimit: 0 })
    expect(none.seeds.map(({ evidence }) => evidence)).toEqual([[], []])
    expect(none.truncated).toBe(true)
    expect(await read(token, { evidenceLimit: 3 })).toMatchObject({ truncated: false })
    const alone = await read(token, { seedId, evidenceLimit: 0 })
    expect(alone.seeds[0]).toMatchObject({ evidence: [], evidenceCounts: { supports: 3 } })
    expect(alone).toMatchObject({ truncated: true, nextCursor: null })
  })

  it('the outline omits texts, and lists every seed in pages of 200', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 450, 1)
    const kits = await readAll(token, { detail: 'outline' })
    expect(kits.map((kit) => restOf(kit).length)).toEqual([200, 200, 50])
    expect(kits.flatMap(idsOf)).toEqual(ids)
    expect(kits[0]).toMatchObject({
      seeds: [],
      totals: { seeds: 450, evidence: 450, comments: null },
      note:
        'This answer has 0 of 450 seeds in full, 200 more in outline, and 0 of 450 pieces of evidence. ' +
        'To read a seed with its evidence, pass its id as seedId. ' +
        'To continue, pass nextCursor as cursor, with the same filters.',
    })
    const seed = { id: ids[0], title: 'Seed 1', status: 'open', leadName: null, activeOn: '2026-01-31' }
    const counts = { supports: 1, contradicts: 0, neutral: 0 }
    const [first] = kits
    expect(first && restOf(first)[0]).toEqual(
      bytesMax === mcpForm.bytesMax
        ? { ...seed, ...counts }
        : {
            ...{ ...seed, updatedAt: '2026-01-31T23:00:00.000Z', createdAt: '2026-01-01T00:00:00.000Z' },
            ...{ evidenceCounts: counts, participantCount: 0, commentCount: 0 },
          },
    )
    expect(kits.at(-1)?.truncated).toBe(false)
    expect(idsOf(await read(token, { detail: 'outline', limit: 3 }))).toEqual(ids.slice(0, 3))
  })

  it('has summaries as a table, in pages', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 203, 1)
    await db.execute(sql`update seeds set hypothesis = 'H', lead_user_id = ${host.id} where id = ${ids[1]}`)
    const kits = await readAll(token, { detail: 'summary' })
    const rows = kits.flatMap(({ summaries }) => summaries?.rows ?? [])
    expect(rows.map(([id]) => id)).toEqual(ids)
    expect(kits.every(({ seeds, outline }) => seeds.length + outline.length === 0)).toBe(true)
    expect(kits.map(({ truncated }) => truncated)).toEqual([true, false])
    expect(kits[0]?.note).toMatch(/^This answer has 0 of 203 seeds in full, 200 more in summary, /)
    const columns = kits[0]?.summaries?.columns ?? []
    expect(Object.fromEntries(columns.map((column, i) => [column, rows[1]?.[i]]))).toEqual({
      ...{ id: ids[1], title: 'Seed 2', status: 'open', leadName: host.name },
      ...{ createdOn: '2026-01-01', supports: 1, contradicts: 0, neutral: 0 },
      // A trigger moved it.
      activeOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      ...{ participantCount: 0, commentCount: 0, summary: 'S 2', hypothesis: 'H' },
    })
  })

  it('has the filters and sorts of lists of seeds', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 12, 1)
    const bare = await fill(host, 3, 0)
    await db.execute(sql`
      update seeds set lead_user_id = ${host.id}, status = 'dropped', created_at = '2026-01-05' where id = ${ids[4]}`)
    await db.execute(sql`update seeds set activity_at = '2126-03-01' where id = ${ids[7]}`)
    await db.execute(sql`update seeds set decide_by = '2020-02-29' where id in (${ids[6]}, ${ids[4]})`)
    await db.execute(sql`update seeds set last_evidence_at = '2025-07-01' where id = ${ids[6]}`)
    expect(idsOf(await read(token, { due: 'overdue', detail: 'outline' }))).toEqual([ids[6]])
    expect((await read(token, { due: 'overdue' })).seeds).toMatchObject([
      { question: null, decideBy: '2020-02-29' },
    ])
    const asHost = async (path: string, name: string) => {
      const answer = await service.as(host, post(`/v1/workspaces/${host.slug}/${path}`, { name }))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<{ team?: { id: string }; label?: { id: string } }>()
    }
    const { team } = await asHost('teams', 'Café')
    const { label } = await asHost('labels', 'Preis')
    await db.execute(sql`update seeds set team_id = ${team?.id} where id = ${ids[1]}`)
    await db.execute(
      sql`update seeds set label_ids = array[${label?.id}::uuid] where id in (${ids[1]}, ${ids[2]})`,
    )
    for (const detail of ['outline', 'summary', 'full'] as const) {
      const idsWith = async (input: object) => {
        const kits = await readAll(token, { ...input, limit: 2, detail })
        return kits.flatMap(idsOf)
      }
      expect(await idsWith({ leadUserId: host.id }), detail).toEqual([ids[4]])
      expect(await idsWith({ leadUserId: 'x' }), detail).toEqual([])
      // In any case, and with a composed or a decomposed accent.
      expect(await idsWith({ team: ' CAFE\u0301 ' }), detail).toEqual([ids[1]])
      expect((await idsWith({ label: 'preis' })).toSorted(), detail).toEqual([ids[1], ids[2]].toSorted())
      expect(await idsWith({ team: 'Café', label: 'Preis', status: 'dropped' }), detail).toEqual([])
      expect(await idsWith({ team: 'Preis' }), detail).toEqual([])
      expect(await idsWith({ label: 'x' }), detail).toEqual([])
      expect(await idsWith({ due: 'overdue' }), detail).toEqual([ids[6]])
      expect(await idsWith({ due: 'week' }), detail).toEqual([])
      const silent = await idsWith({ due: 'silent' })
      expect(
        [ids[6], ids[4]].map((id) => silent.includes(id)),
        detail,
      ).toEqual([true, false])
      expect((await idsWith({ noEvidenceSince: '2026-06-01' })).length, detail).toBe(15)
      expect((await idsWith({ noEvidenceSince: '2025-06-01' })).toSorted(), detail).toEqual(bare.toSorted())
      expect(await idsWith({ status: ['dropped', 'validated'], query: 'seed' }), detail).toEqual(
        expect.arrayContaining([ids[2], ids[4], ids[5], bare[2]]),
      )
      expect(await idsWith({ status: ['dropped'] }), detail).toEqual([ids[4]])
      const byCreation = await idsWith({ sort: 'createdAt' })
      expect([byCreation[0], new Set(byCreation).size], detail).toEqual([ids[4], 15])
      expect(await idsWith({ sort: '-createdAt' }), detail).toEqual(byCreation.toReversed())
      const byActivity = await idsWith({ sort: 'activityAt' })
      expect([byActivity[0], new Set(byActivity).size], detail).toEqual([ids[7], 15])
    }
    for (const input of [{ leadUserId: 'x' }, { team: 'x' }, { label: 'x' }]) {
      expect((await read(token, input)).note).toBe('No seed matches these filters.')
    }
  })

  it('refuses characters that no name has', async () => {
    const { token } = await letIn()
    for (const name of ['query', 'leadUserId', 'team', 'label'])
      expect((await ask(token, { [name]: 'a\0b' })).error, name).toMatch(
        /^decode_error$|must not contain U\+0000/,
      )
  })

  it('takes a limit of up to 200 seeds, of which at most 50 are in full', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 210, 0)
    const outline = await read(token, { limit: 200, detail: 'outline' })
    expect(idsOf(outline)).toEqual(ids.slice(0, 200))
    const kits = await readAll(token, { limit: 200 })
    // Over MCP as many as fit, with an outline of the others.
    expect(Math.max(...kits.map(({ seeds }) => seeds.length))).toBeLessThanOrEqual(50)
    expect(kits.flatMap(idsOf)).toEqual(ids)
    expect((await ask(token, { limit: 201 })).error).toMatch(/^(decode_error$|.* limit must be <= 200)/)
  })

  it('treats null and the empty string as absent', async () => {
    const { host, token } = await letIn()
    await fill(host, 3, 1)
    const names = ['seedId', 'status', 'query', 'updatedSince', 'limit', 'cursor', 'evidenceLimit', 'detail']
    const timeless = async (input: object) => ({ ...(await read(token, input)), generatedAt: '' })
    const kit = await timeless({})
    for (const blank of [null, '']) {
      expect(await timeless(Object.fromEntries(names.map((name) => [name, blank])))).toEqual(kit)
    }
  })

  it('runs two queries for any input', async () => {
    const { host, token } = await letIn()
    const [seedId] = await fill(host, 60, 3)
    const { nextCursor: cursor } = await read(token, { limit: 2 })
    for (const input of [{}, { cursor }, { seedId }, { detail: 'outline' }, { query: 'S', status: 'open' }]) {
      expect(await countQueries(() => ask(token, input))).toBe(2)
    }
  })
})

describe('the validation kit over HTTP only', () => {
  it('puts seeds that do not fit on the next page', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 60, 1)
    await db.execute(
      sql`update seeds set summary = repeat('x', 2000), problem = repeat('€', 2000), audience = repeat('€', 2000)
          where workspace_id = ${host.workspaceId}`,
    )
    const kits: Kit[] = []
    for (let cursor: string | null | undefined; cursor !== null; cursor = kits.at(-1)?.nextCursor) {
      const { kit } = await askOverHttp(token, { ...(cursor !== undefined && { cursor }) })
      if (kit) kits.push(kit)
    }
    expect(kits.length).toBeGreaterThan(2)
    expect(kits.flatMap(({ seeds }) => seeds.map(({ id }) => id))).toEqual(ids)
    expect(kits.every(({ outline }) => outline.length === 0)).toBe(true)
  })
})

describe('the validation kit over MCP only', () => {
  it('is an outline without seedId, and in full with detail: full', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 60, 2)
    const { kit } = await askOverMcpAsIs(token, {})
    expect(kit).toMatchObject({ seeds: [], truncated: false, note: null })
    expect(kit && idsOf(kit)).toEqual(ids)
    const { kit: full } = await askOverMcpAsIs(token, { detail: 'full' })
    expect(full?.seeds).toHaveLength(50)
    const { kit: one } = await askOverMcpAsIs(token, { seedId: ids[0] })
    expect(one?.seeds[0]?.evidence).toHaveLength(2)
    const { kit: found } = await askOverMcpAsIs(token, { query: 'seed 7', detail: null })
    expect(found && readTable(found)).toMatchObject([{ id: ids[6] }])
  })

  it('equals the kit over HTTP when it fits', async () => {
    const { host, token } = await letIn()
    await fill(host, 5, 3)
    const kits = [await askOverHttp(token, {}), await askOverMcp(token, {})]
    const [http, mcp] = kits.map(({ kit }) => ({ ...kit, generatedAt: '' }))
    expect(mcp).toEqual(http)
    expect(mcp).toMatchObject({ truncated: false, nextCursor: null, note: null, outline: [] })
  })

  it('lists the seeds that do not fit in an outline, and continues with a cursor', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 300, 5, 'e'.repeat(300))
    const kits: Kit[] = []
    for (let cursor: string | null | undefined; cursor !== null; cursor = kits.at(-1)?.nextCursor) {
      const { kit, bytes } = await askOverMcp(token, { ...(cursor !== undefined && { cursor }) })
      expect(bytes).toBeLessThanOrEqual(mcpForm.bytesMax)
      if (kit) kits.push(kit)
    }
    expect(kits.flatMap(idsOf)).toEqual(ids)
    const [first] = kits
    expect(first?.seeds.length).toBeGreaterThan(10)
    expect(first?.seeds[0]?.evidence.length).toBeGreaterThan(0)
    const left = first && restOf(first).length
    expect(left).toBeGreaterThan(50)
    const pieces = first?.seeds.flatMap(({ evidence }) => evidence).length
    expect(first?.note).toBe(
      `This answer has ${first?.seeds.length} of 300 seeds in full, ${left} more in outline, ` +
        `and ${pieces} of 1500 pieces of evidence. To read a seed with its evidence, pass its id as seedId. ` +
        'To continue, pass nextCursor as cursor, with the same filters.',
    )
  })

  it('cuts a large kit between pieces of evidence, whatever their texts contain', async () => {
    const { host, token } = await letIn()
    const [seedId] = await fill(host, 3, 20)
    const hostile = '"evidence":[{}, \n {"id":"x"}]}, \n {",\n'
    await db.execute(sql`
      update seeds set title = ${hostile}, summary = repeat(${hostile}, 40), success_criteria = array[${hostile}, 'b']
      where workspace_id = ${host.workspaceId}`)
    await db.execute(sql`
      update evidence set summary = repeat(${hostile}, 60) where seed_id in (select id from seeds where workspace_id = ${host.workspaceId})`)
    const { kit: whole } = await askOverHttp(token, {})
    expect(whole).toMatchObject({ truncated: false, seeds: [{ title: hostile }, {}, {}] })
    for (const input of [{}, { seedId }]) {
      const { kit, bytes } = await askOverMcp(token, input)
      expect(bytes).toBeLessThanOrEqual(mcpForm.bytesMax)
      expect(kit?.truncated).toBe(true)
      const seeds = whole?.seeds.slice(0, kit?.seeds.length)
      const cut = seeds?.map((seed, place) => {
        const count = kit?.seeds[place]?.evidence.length ?? 0
        expect(count).toBeGreaterThan(0)
        return { ...seed, evidence: seed.evidence.slice(0, count) }
      })
      expect(kit?.seeds).toEqual(cut)
      // Another piece does not fit. Two KiB are for the fields beside the seeds, and for the outline that the kit began with.
      const piece = Buffer.byteLength(JSON.stringify(whole?.seeds[0]?.evidence[0]))
      expect(bytes + piece).toBeGreaterThan(mcpForm.bytesMax - 2 * 1024)
    }
  })

  it('is only an outline when no seed fits in full', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 100, 1)
    await db.execute(sql`
      update seeds set summary = repeat('😀', 2000), problem = repeat('😀', 2000), audience = repeat('😀', 2000),
        hypothesis = repeat('😀', 2000), success_criteria = array_fill(repeat('😀', 300), array[20])
      where workspace_id = ${host.workspaceId}`)
    const { kit, bytes } = await askOverMcp(token, {})
    expect(bytes).toBeLessThanOrEqual(mcpForm.bytesMax)
    expect(kit).toMatchObject({ seeds: [], truncated: true })
    expect(kit && idsOf(kit)).toEqual(ids.slice(0, kit && restOf(kit).length))
  })
})

describe('the statement for one seed', () => {
  it.each([0, 1, 20, 21, 45])(
    'returns the bytes of the statement for many seeds, with %i pieces of evidence',
    async (pieces) => {
      const host = await tester.createHost()
      const [seedId] = await fill(host, 1, pieces)
      await db.execute(sql`
        update seeds set title = 'A "title" \\ with' || chr(10) || '  😀', audience = 'A', hypothesis = '', updated_at = now(),
          success_criteria = array['one, ', '"two"', 'three'] where id = ${seedId}`)
      await db.execute(sql`
        update evidence set verdict = (array['supports', 'contradicts', 'neutral'])[ascii(right(id::text, 1)) % 3 + 1],
          summary = summary || repeat('",' || chr(10) || '€', ascii(right(id::text, 2)) * 10), author_user_id = ${host.id},
          source_url = nullif('https://example.com/' || right(id::text, 1), 'https://example.com/a'),
          agent_name = nullif('Agent "' || right(id::text, 1) || '"', 'Agent "b"')
        where seed_id = ${seedId}`)
      await db.execute(sql`
        insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
        values (${seedId}, ${host.id}, ${host.workspaceId}, now())`)
      const query: KitQuery = {
        ...{ workspaceId: host.workspaceId, userId: host.id, ...startOf.newestFirst },
        ...{ seedsLimit: 1, inFullMax: 1, outlineMax: 0, evidenceLimit: 20 },
        ...{ seedsBytesMax: 1e6, evidenceBytesMax: 1e6, seedUrlPrefix: 'https://example.com/seeds/' },
      }
      for (const changed of [
        {},
        { evidenceLimit: 0 },
        { evidenceLimit: 7 },
        { evidenceBytesMax: 5000 },
        { userId: createId() },
      ]) {
        const many = await readKitRows(db, { ...query, ...changed })
        expect(many.found).toBe(1)
        expect(await readKitRows(db, { ...query, ...changed, seedId: String(seedId) })).toEqual(many)
      }
    },
  )
})
