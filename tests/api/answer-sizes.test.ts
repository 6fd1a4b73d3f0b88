import { sql, type SQL } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { ValidationKit } from '../../src/agents/kit/kit.service.ts'
import { readTable } from '../support/kit-table.ts'
import { mcpForm } from '../../src/agents/tools/read-validation-kit.tools.ts'
import { httpForm } from '../../src/agents/kit/kit.service.ts'
import { createId } from '../../src/kernel/ids.ts'
import { pageBytesMax } from '../../src/kernel/pagination.ts'
import { createOAuthTester, type TestHost } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app, config, db } = service
const tester = createOAuthTester(service)
const origin = `http://127.0.0.1:${await listen(app)}`

/** Rows with ids as the service makes them, `i` from one on. */
function newIds(count: number): SQL {
  const ids = JSON.stringify(Array.from({ length: count }, createId))
  return sql`jsonb_array_elements_text(${ids}::jsonb) with ordinality as new_ids (id, i)`
}

/** Seeds with the longest texts that there can be, of a character, and evidence of the same kind. */
async function fill(host: TestHost, seeds: number, evidence: number, character: string): Promise<string[]> {
  const text = character.repeat(2000)
  const criteria = JSON.stringify(Array.from({ length: 20 }, () => character.repeat(300)))
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, problem, audience, hypothesis, success_criteria, status,
      created_at, updated_at)
    select id::uuid, ${host.workspaceId}, 'Seed ' || i, ${text}, ${text}, ${text}, ${text},
      array(select jsonb_array_elements_text(${criteria}::jsonb)), 'open', now() - i * interval '1 hour',
      now() - i * interval '1 hour'
    from ${newIds(seeds)}`)
  await db.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, source_url, author_name, created_at)
    select made.id::uuid, seeds.id, 'note', 'neutral', k || ${text + text.slice(0, -character.length * 2)},
      'https://example.com/' || ${text.slice(0, 2000)}, 'Ada', now() - k * interval '1 minute'
    from (select id, row_number() over (order by created_at desc) as place from seeds
        where workspace_id = ${host.workspaceId}) as seeds
      join (select id, (i - 1) / ${evidence} + 1 as place, (i - 1) % ${evidence} + 1 as k from ${newIds(seeds * evidence)}) as made
        using (place)`)
  const rows = await selectRows<{ id: string }>(
    db,
    sql`select id from seeds where workspace_id = ${host.workspaceId} order by created_at desc`,
  )
  return rows.map(({ id }) => id)
}

/** Follows the links of a list; returns the items of each page, which are no larger than promised. */
async function readPages(host: TestHost, path: string): Promise<{ id: string }[][]> {
  const pages: { id: string }[][] = []
  for (let next: string | undefined = `${config.baseUrl}${path}`; next !== undefined;) {
    const answer: Response = await fetch(next.replace(config.baseUrl, origin), {
      headers: { authorization: `Bearer ${host.apiKey}` },
    })
    const body = await answer.text()
    expect(answer.status, body).toBe(200)
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(pageBytesMax)
    pages.push(JSON.parse(body) as { id: string }[])
    next = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return pages
}

const idsOf = (pages: { id: string }[][]) => pages.flat().map(({ id }) => id)

describe('the size limit of a page', () => {
  it.each(['x', '"', '€', '😀'])(
    'ends a page of seeds full of %s early, and the next pages return the rest',
    async (character) => {
      const host = await tester.createHost()
      const ids = await fill(host, 90, 0, character)
      const pages = await readPages(host, `/v1/workspaces/${host.slug}/seeds?limit=200`)
      expect(idsOf(pages)).toEqual(ids)
      expect(pages.length).toBeGreaterThan(1)
      // Full, but for the seed that did not fit.
      const largest = Math.max(...pages.slice(0, -1).map((page) => Buffer.byteLength(JSON.stringify(page))))
      expect(largest).toBeGreaterThan(pageBytesMax - 60 * 1024)
    },
  )

  it('ends a page of seeds with a status filter early, and the next pages return the rest', async () => {
    const host = await tester.createHost()
    const ids = await fill(host, 30, 0, '😀')
    expect(idsOf(await readPages(host, `/v1/workspaces/${host.slug}/seeds?limit=200&status=open`))).toEqual(
      ids,
    )
  })

  it('ends a page of evidence early, and the next pages return the rest', async () => {
    const host = await tester.createHost()
    const [seedId] = await fill(host, 1, 150, '😀')
    const pages = await readPages(host, `/v1/seeds/${seedId}/evidence?limit=200`)
    expect(pages.length).toBeGreaterThan(2)
    expect(new Set(idsOf(pages)).size).toBe(150)
  })

  it('ends a page of people in many teams early, and the next pages return the rest', async () => {
    const host = await tester.createHost()
    const slug = `/v1/workspaces/${host.slug}`
    await db.execute(sql`
      with people as (
        insert into users (id, name, email, created_at) select id::uuid, 'P', id || '@example.com', now()
        from ${newIds(40)} returning id
      ), joined as (
        insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select ${host.workspaceId}, id, 'member', now(), now() from people returning user_id
      ), made as (
        insert into teams (id, workspace_id, name, created_at)
        select id::uuid, ${host.workspaceId}, i || repeat('€', 60), now() from ${newIds(300)}
        returning id
      )
      insert into team_members (workspace_id, team_id, user_id, added_at)
      select ${host.workspaceId}, made.id, user_id, now() from made, joined`)
    const pages = await readPages(host, `${slug}/people?limit=200`)
    expect(pages.length).toBeGreaterThan(2)
    expect(new Set(idsOf(pages)).size).toBe(41)
    expect((await readPages(host, `${slug}/members?limit=200`)).flat()).toHaveLength(41)
  })
})

describe('the size limit of the validation kit', () => {
  const read = async (token: string, payload: object = {}) => {
    const answer = await fetch(`${origin}/agent/v1/validation-kit:read`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    })
    const body = await answer.text()
    expect(answer.status, body).toBe(200)
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(httpForm.bytesMax)
    return JSON.parse(body) as ValidationKit
  }

  const call = async (token: string, input: object) => {
    const answer = await fetch(`${origin}/agent/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'read_validation_kit', arguments: input },
      }),
    })
    const body = await answer.text()
    const message = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as {
      result: { structuredContent: ValidationKit }
    }
    return message.result.structuredContent
  }

  async function letIn() {
    const host = await tester.createHost()
    const { access_token: token } = await tester.getTokens(await tester.createAgent(), host)
    return { host, token }
  }

  it.each(['x', '"', '€', '😀'])(
    'limits a kit with texts full of %s, and sets truncated',
    async (character) => {
      const { host, token } = await letIn()
      const ids = await fill(host, 50, 20, character)
      const kit = await read(token)
      expect(kit.truncated).toBe(true)
      expect(kit.seeds.map(({ id }) => id)).toEqual(ids.slice(0, kit.seeds.length))
      expect(kit.seeds.length).toBeGreaterThanOrEqual(3)
      const shown = kit.seeds.map(({ evidence }) => evidence.length)
      // In rounds: the first seeds may be one piece ahead.
      expect(shown).toEqual(shown.toSorted((a, b) => b - a))
      expect(Number(shown[0]) - Number(shown.at(-1))).toBeLessThanOrEqual(1)
      expect(shown[0]).toBeGreaterThan(0)
      for (const { evidence, evidenceCounts } of kit.seeds) {
        expect(evidence.map(({ summary }) => Number.parseInt(summary))).toEqual(evidence.map((_, k) => k + 1))
        expect(evidenceCounts).toEqual({ supports: 0, contradicts: 0, neutral: 20 })
      }
      expect(Buffer.byteLength(JSON.stringify(kit))).toBeGreaterThan(httpForm.bytesMax - 64 * 1024)
    },
  )

  it('returns one requested seed with all its 20 pieces of evidence', async () => {
    const { host, token } = await letIn()
    const [, , seedId] = await fill(host, 3, 20, '€')
    const kit = await read(token, { seedId })
    expect(kit).toMatchObject({ truncated: false, seeds: [{ id: seedId }] })
    expect(kit.seeds[0]?.evidence).toHaveLength(20)
  })

  it('limits the kit to less over MCP, and returns the evidence of one seed in pages', async () => {
    const { host, token } = await letIn()
    const ids = await fill(host, 50, 20, 'x')
    const [seedId] = ids
    const kit = await call(token, { detail: 'full' })
    const bytes = Buffer.byteLength(JSON.stringify(kit))
    expect(bytes).toBeLessThanOrEqual(mcpForm.bytesMax)
    expect(bytes).toBeGreaterThan(mcpForm.bytesMax / 2)
    expect(kit.truncated).toBe(true)
    expect(kit.seeds[0]?.evidence.length).toBeGreaterThan(0)
    expect([...kit.seeds, ...readTable(kit)].map(({ id }) => id)).toEqual(ids)
    const whole = (await read(token, { seedId })).seeds[0]?.evidence
    expect(whole).toHaveLength(20)
    const pages: ValidationKit[] = []
    for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.nextCursor) {
      pages.push(await call(token, { seedId, ...(cursor !== undefined && { cursor }) }))
      expect(Buffer.byteLength(JSON.stringify(pages.at(-1)))).toBeLessThanOrEqual(mcpForm.bytesMax)
    }
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flatMap(({ seeds }) => seeds[0]?.evidence)).toEqual(whole)
  })

  it('returns all evidence of a seed with the longest texts over MCP, page by page', async () => {
    const { host, token } = await letIn()
    const [seedId] = await fill(host, 1, 3, '😀')
    const shown: unknown[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const kit = await call(token, { seedId, ...(cursor !== undefined && { cursor }) })
      shown.push(...kit.seeds.flatMap(({ evidence }) => evidence))
      cursor = kit.nextCursor
    }
    expect(shown).toEqual((await read(token, { seedId })).seeds[0]?.evidence)
  })
})
