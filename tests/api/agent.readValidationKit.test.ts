import { Ajv } from 'ajv'
import ajvFormats from 'ajv-formats'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { ValidationKit, validationKitParts } from '../../src/agents/kit/kit.schemas.ts'
import { createKitService, type ValidationKit as Kit } from '../../src/agents/kit/kit.service.ts'
import { createSeedLinks } from '../../src/agents/kit/seed-links.ts'
import { openDatabase, requestLimits } from '../../src/db/client.ts'
import { inlined } from '../../src/kernel/schemas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, get, patch, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { issuesOf } from '../support/expect-error.ts'
import { createOAuthTester, type TestHost } from '../support/oauth-client.ts'
import { addEvidence, createSeed, joinSeed, type TestEvidence } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { createId } from '../../src/kernel/ids.ts'
import { parseJson } from '../../src/kernel/json-text.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, config, db, services } = service
const tester = createOAuthTester(service)
const isKit = ajvFormats
  .default(new Ajv({ allowUnionTypes: true }))
  .compile(inlined(ValidationKit, validationKitParts))

/** An agent that a person has let into a workspace of theirs. */
async function letIn() {
  const host = await tester.createHost()
  const { access_token: token } = await tester.getTokens(await tester.createAgent(), host)
  return { host, token, url: `/v1/workspaces/${host.slug}`, workspace: { id: host.workspaceId } }
}

const ask = (token: string, options: { payload?: object | string; headers?: object } = {}) =>
  app.inject({
    method: 'POST',
    url: '/agent/v1/validation-kit:read',
    ...(options.payload !== undefined && { payload: options.payload }),
    headers: { authorization: `Bearer ${token}`, ...options.headers },
  })

async function read(token: string, payload: object = {}): Promise<Kit> {
  const answer = await ask(token, { payload })
  expect(answer.statusCode, answer.body).toBe(200)
  const kit = answer.json<Kit>()
  expect(isKit(kit), JSON.stringify(isKit.errors)).toBe(true)
  return kit
}

/** Seeds of a workspace, the first changed last, each with evidence, the first added last. */
async function fill(host: TestHost, seedCount: number, evidenceCount: number): Promise<void> {
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
    select md5(${host.id} || i)::uuid, ${host.workspaceId}, 'Seed ' || i, 'S', 'open', now(), now() - i * interval '1 hour'
    from generate_series(1, ${seedCount}::int) as i`)
  await db.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
    select gen_random_uuid(), seeds.id, 'note', (array['supports', 'contradicts', 'neutral'])[k % 3 + 1], 'E ' || k, 'Ada',
      now() - k * interval '1 minute'
    from seeds, generate_series(1, ${evidenceCount}::int) as k where workspace_id = ${host.workspaceId}`)
}

/** Evidence as kits have it: none of it was withdrawn. */
function toCounted({
  workspaceId,
  attachments,
  withdrawnAt,
  withdrawnByName,
  withdrawnReason,
  seenByCount,
  seenByMe,
  ...piece
}: TestEvidence) {
  expect(workspaceId).toMatch(/^[0-9a-f-]{36}$/)
  expect(attachments).toEqual([])
  expect([withdrawnAt, withdrawnByName, withdrawnReason]).toEqual([null, null, null])
  expect([seenByCount, seenByMe]).toEqual([0, false])
  return piece
}

describe('200', () => {
  it('returns the workspace, the grant, the seeds and their evidence', async () => {
    const { host, token, url, workspace } = await letIn()
    const member = await addPerson(service, workspace, 'member', 'Ada Lovelace')
    const older = await createSeed(service, host, { url }, { title: 'Older' })
    const seed = await createSeed(
      service,
      host,
      { url },
      {
        title: 'Newer',
        problem: 'P',
        audience: 'A',
        hypothesis: 'H',
        successCriteria: ['One', 'Two'],
      },
    )
    clock.advance(1_000)
    for (const person of [host, member]) await joinSeed(service, person, seed)
    const first = await addEvidence(service, member, seed, { verdict: 'contradicts' })
    clock.advance(1_000)
    const second = await addEvidence(service, host, seed, { sourceUrl: 'https://example.com/' })
    const [grant] = (await as(host, get(`${url}/integrations`))).json<{ id: string; expiresAt: string }[]>()
    const kit = await read(token)
    const shown = (of: typeof seed) => ({
      id: of.id,
      title: of.title,
      summary: of.summary,
      problem: of.problem,
      audience: of.audience,
      hypothesis: of.hypothesis,
      successCriteria: of.successCriteria,
      criteria: of.criteria,
      question: null,
      decideBy: null,
      status: of.status,
      createdAt: of.createdAt,
      url: `${config.webUrl}/w/${host.slug}/seeds/${of.id}`,
    })
    expect(kit).toEqual({
      version: '1',
      generatedAt: clock.now().toISOString(),
      workspace: { id: host.workspaceId, name: 'Acme', slug: host.slug },
      grant: {
        id: grant?.id,
        clientName: 'Robbie',
        userId: host.id,
        userName: host.name,
        role: 'owner',
        scopes: ['validation-kit:read'],
        expiresAt: grant?.expiresAt,
      },
      seeds: [
        {
          ...shown(seed),
          updatedAt: second.createdAt,
          agentName: null,
          leadUserId: host.id,
          participantCount: 2,
          joined: true,
          evidenceCounts: { supports: 1, contradicts: 1, neutral: 0 },
          evidence: [second, first].map(toCounted),
        },
        {
          ...shown(older),
          updatedAt: older.updatedAt,
          agentName: null,
          leadUserId: host.id,
          participantCount: 1,
          joined: true,
          evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
          evidence: [],
        },
      ],
      comments: null,
      participants: null,
      attachments: null,
      totals: { seeds: 2, evidence: 2, comments: null },
      truncated: false,
      nextCursor: null,
      note: null,
      outline: [],
      summaries: null,
    })
  })

  it('returns the same for no body, an empty body and {}', async () => {
    const { token } = await letIn()
    const json = { 'content-type': 'application/json' }
    const kit = await read(token)
    expect(kit).toMatchObject({ seeds: [], truncated: false })
    for (const options of [{}, { headers: json }, { payload: '', headers: json }, { payload: {} }]) {
      const answer = await ask(token, options)
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual(kit)
    }
  })

  it('returns only the requested seed when seedId is given', async () => {
    const { host, token, url } = await letIn()
    const seeds = [await createSeed(service, host, { url }), await createSeed(service, host, { url })]
    for (const { id } of seeds) {
      expect((await read(token, { seedId: id })).seeds.map((seed) => seed.id)).toEqual([id])
    }
  })

  it('sorts seeds by their last edit or evidence, newest first', async () => {
    const { host, token, url } = await letIn()
    const [a, b, c] = [
      await createSeed(service, host, { url }, { title: 'a' }),
      await createSeed(service, host, { url }, { title: 'b' }),
      await createSeed(service, host, { url }, { title: 'c' }),
    ]
    const order = async () => (await read(token)).seeds.map(({ title }) => title).join('')
    // Made at one moment: the latest id first.
    expect(await order()).toBe('cba')
    clock.advance(1_000)
    await as(host, patch(`/v1/seeds/${b.id}`, { status: 'validated' }))
    expect(await order()).toBe('bca')
    clock.advance(1_000)
    await joinSeed(service, host, a)
    expect(await order()).toBe('bca')
    await addEvidence(service, host, a)
    expect(await order()).toBe('abc')
    expect(c.title).toBe('c')
  })

  it('returns up to 50 seeds with their 20 newest pieces of evidence each, and counts all evidence', async () => {
    const { host, token } = await letIn()
    await fill(host, 50, 20)
    const whole = await read(token)
    expect(whole.truncated).toBe(false)
    expect(whole.seeds.map(({ title }) => title)).toEqual(
      Array.from({ length: 50 }, (_, i) => `Seed ${i + 1}`),
    )
    for (const seed of whole.seeds) {
      expect(seed.evidence.map(({ summary }) => summary)).toEqual(
        Array.from({ length: 20 }, (_, k) => `E ${k + 1}`),
      )
      expect(seed.evidence.every(({ seedId }) => seedId === seed.id)).toBe(true)
      expect(seed.evidenceCounts).toEqual({ supports: 6, contradicts: 7, neutral: 7 })
    }
  })

  it('sets truncated when a seed has more than 20 pieces of evidence, and returns the newest 20', async () => {
    const { host, token } = await letIn()
    await fill(host, 2, 21)
    const kit = await read(token)
    expect(kit.truncated).toBe(true)
    expect(kit.seeds.map(({ evidence }) => evidence.length)).toEqual([20, 20])
    expect(kit.seeds[0]?.evidence.map(({ summary }) => summary)).not.toContain('E 21')
    expect(kit.seeds[0]?.evidenceCounts).toEqual({ supports: 7, contradicts: 7, neutral: 7 })
  })

  it('sets truncated when there are more than 50 seeds, and still returns an older seed by its id', async () => {
    const { host, token } = await letIn()
    await fill(host, 51, 1)
    const kit = await read(token)
    expect(kit.truncated).toBe(true)
    expect(kit.seeds).toHaveLength(50)
    expect(kit.seeds.map(({ title }) => title)).not.toContain('Seed 51')
    const [{ rows }] = [
      await db.execute<{ id: string }>(sql`
      select id from seeds where workspace_id = ${host.workspaceId} and title = 'Seed 51'`),
    ]
    // Made for a test, with an id that is none of ours.
    await db.execute(sql`delete from evidence where seed_id = ${rows[0]?.id}`)
    const id = createId()
    await db.execute(sql`update seeds set id = ${id} where id = ${rows[0]?.id}`)
    expect(await read(token, { seedId: id })).toMatchObject({
      truncated: false,
      seeds: [{ title: 'Seed 51' }],
    })
  })

  it('runs two queries, for no seeds and for 50 seeds with 20 pieces of evidence each', async () => {
    const { host, token } = await letIn()
    const count = () => countQueries(() => read(token))
    expect(await count()).toBe(2)
    await fill(host, 50, 20)
    expect(await count()).toBe(2)
  })

  it('returns quotes, backslashes, emoji, line breaks and markup in texts unchanged', async () => {
    const { host, token, url } = await letIn()
    const summary = 'He said "yes" \\ \u{1f331}\nand </script> {"a":1}'
    const seed = await createSeed(service, host, { url }, { summary })
    await joinSeed(service, host, seed)
    await addEvidence(service, host, seed, { summary })
    const [shown] = (await read(token)).seeds
    expect([shown?.summary, shown?.evidence[0]?.summary]).toEqual([summary, summary])
  })

  it.each(['UTC', 'Asia/Kolkata'])(
    'returns times in UTC with milliseconds when the database session is in %s',
    async (timeZone) => {
      const { host, token, url } = await letIn()
      const { id } = await createSeed(service, host, { url })
      const times = ['06.789', '05.120', '04.100', '03.000'].map((second) => `2026-11-21T23:59:${second}Z`)
      for (const time of times) {
        await db.execute(sql`
        insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
        values (gen_random_uuid(), ${id}, 'note', 'neutral', 'E', 'Ada', ${time})`)
      }
      const { rows } = await db.$client.query<{ name: string }>('select current_database() as name')
      // Read through sessions of its own, as the database has them begin.
      await db.$client.query(`alter database "${rows[0]?.name}" set timezone = '${timeZone}'`)
      const other = openDatabase({
        url: String(config.databaseUrl),
        poolMax: 1,
        limits: requestLimits,
        onIdleError: () => undefined,
      })
      try {
        const agent = await services.authenticateAgent(token)
        if (!agent) throw new Error('the agent is not let in')
        const kit = parseJson(
          await createKitService({ db: other, clock, links: createSeedLinks(config.webUrl) }).read(agent),
        )
        expect(kit.seeds[0]?.evidence.map(({ createdAt }) => createdAt)).toEqual(times)
      } finally {
        await other.$client.end()
        await db.$client.query(`alter database "${rows[0]?.name}" reset timezone`)
      }
    },
  )

  it('returns nothing of other workspaces, even when the user is a member of them', async () => {
    const { host, token } = await letIn()
    const company = await createCompany(service)
    await createSeed(service, company.owner, company)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${company.workspace.id}, ${host.id}, 'owner', now(), now())`)
    expect((await read(token)).seeds).toEqual([])
  })

  it('returns the current role of the user', async () => {
    const { host, token, url, workspace } = await letIn()
    const owner = await addPerson(service, workspace, 'owner')
    await as(owner, patch(`${url}/members/${host.id}`, { role: 'viewer' }))
    expect((await read(token)).grant.role).toBe('viewer')
  })
})

describe('400', () => {
  it('returns 400 with one issue for an invalid body', async () => {
    const { token } = await letIn()
    for (const [payload, tag, path] of [
      [{ seedID: 'x' }, 'Unexpected', ['seedID']],
      [{ seedId: 5 }, 'Type', ['seedId']],
      [{ other: null }, 'Unexpected', ['other']],
      [{ status: 'new' }, 'Type', ['status']],
      [{ query: 'a\0' }, 'Refinement', ['query']],
      [{ updatedSince: 'yesterday' }, 'Refinement', ['updatedSince']],
      [{ limit: 0 }, 'Refinement', ['limit']],
      [{ limit: 201 }, 'Refinement', ['limit']],
      [{ limit: '5' }, 'Type', ['limit']],
      [{ evidenceLimit: -1 }, 'Refinement', ['evidenceLimit']],
      [{ evidenceLimit: 21 }, 'Refinement', ['evidenceLimit']],
      [{ detail: 'all' }, 'Type', ['detail']],
      [[], 'Type', []],
    ] as const) {
      const answer = await ask(token, { payload: payload as object })
      expect(answer.statusCode).toBe(400)
      expect(issuesOf(answer)).toEqual([{ _tag: tag, path }])
    }
    const headers = { 'content-type': 'application/json' }
    expect((await ask(token, { payload: '{', headers })).statusCode).toBe(400)
    expect((await ask(token, { payload: 'null', headers })).statusCode).toBe(400)
  })
})

describe('401', () => {
  it('returns 401 for an API key, and for an access token under /v1', async () => {
    const { host, token } = await letIn()
    expect((await ask(host.apiKey)).statusCode).toBe(401)
    const withHeader = await app.inject({
      method: 'POST',
      url: '/agent/v1/validation-kit:read',
      headers: { 'x-api-key': host.apiKey },
    })
    expect(withHeader.statusCode).toBe(401)
    expect((await as({ apiKey: token }, get('/v1/me'))).statusCode).toBe(401)
  })
})

describe('404', () => {
  it('returns the same 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const { host, token } = await letIn()
    const company = await createCompany(service)
    const seed = await createSeed(service, company.owner, company)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${company.workspace.id}, ${host.id}, 'owner', now(), now())`)
    for (const seedId of [seed.id, createId(), seed.id.toUpperCase(), 'x', '\0', "'"]) {
      const answer = await ask(token, { payload: { seedId } })
      expect(answer.statusCode, seedId).toBe(404)
      expect(answer.json()).toMatchObject({ _tag: 'NotFound', code: errors.notFound.code })
    }
  })

  it('returns 404 for another method, and for other spellings of the path', async () => {
    const { token } = await letIn()
    const headers = { authorization: `Bearer ${token}` }
    for (const [method, url] of [
      ['GET', '/agent/v1/validation-kit:read'],
      ['POST', '/agent/v1/validation-kit'],
      ['POST', '/agent/v1/validation-kit::read'],
      ['POST', '/agent/v1/validation-kit:write'],
    ] as const) {
      expect((await app.inject({ method, url, headers })).statusCode, url).toBe(404)
    }
    expect((await as({ apiKey: token }, post('/v1/validation-kit:read'))).statusCode).toBe(404)
  })
})

describe('the grant', () => {
  it('sets lastUsedAt of the grant within 5 seconds of a request', async () => {
    const { host, token, url } = await letIn()
    await read(token)
    await expect
      .poll(
        async () =>
          (await as(host, get(`${url}/integrations`))).json<{ lastUsedAt: string }[]>()[0]?.lastUsedAt,
      )
      .toBe(clock.now().toISOString())
  })
})
