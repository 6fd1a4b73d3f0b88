import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { importSliceRows } from '../../src/domain/seed-imports.ts'
import { seedTitleLengthMax } from '../../src/domain/seeds.ts'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import {
  createCompany,
  findJobs,
  findNotifications,
  get,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildForm } from '../support/forms.ts'
import { beginImport, findImport, makeTable, runSlice, sendTable } from '../support/seed-imports.ts'
import { type TestSeed } from '../support/seeds.ts'
import { createServiceAccount, createServiceKey } from '../support/service-accounts.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'

// Jobs do not run here: each test runs the slices that it looks at.
const service = await startTestApp()
const { as, db } = service

const listSeeds = async ({ url, viewer }: TestCompany) =>
  (await as(viewer, get(`${url}/seeds?limit=200`))).json<TestSeed[]>()

const countSeeds = async ({ workspace }: TestCompany) => {
  const [counted] = await selectRows<{ count: number; titles: number }>(
    db,
    sql`select count(*)::int as count, count(distinct title)::int as titles from seeds where workspace_id = ${workspace.id}`,
  )
  return counted
}

const findEventTypes = async ({ workspace }: TestCompany) =>
  (
    await selectRows<{ type: string }>(
      db,
      sql`select type from events where workspace_id = ${workspace.id} order by position`,
    )
  ).map(({ type }) => type)

/** A 400 whose message says more exactly what is wrong. */
function expectInvalid(answer: LightMyRequestResponse, { code, message }: ErrorFactory): void {
  expect(answer.statusCode).toBe(400)
  const told = answer.json<{ code: string; message: string }>()
  expect(told.code).toBe(code)
  expect(told.message.startsWith(message.slice(0, -1))).toBe(true)
  expect(told.message.length).toBeGreaterThan(message.length)
}

describe('200', () => {
  it('creates the seeds of a table as seeds.create would, and sets their statuses', async () => {
    const company = await createCompany(service)
    const { member, viewer, workspace } = company
    const { id: webhookId } = await createWebhook(service, company.owner, company, {
      url: 'https://example.com/hook',
      types: ['seed.created'],
    })
    const table = [
      'Title,Summary,Problem,Audience,Hypothesis,Success criteria,Question,Decide by,Status,Reason for the status,Other',
      'アイデア 👩‍👩‍👧,مرحبا بالعالم,Slow,All,"It, works","Ten do\r\n\r\nNine stay",Go on?,2027-01-31,Validated,34 of 60,x',
      "Plain,'=1+1,,,,,,,,,",
    ].join('\r\n')
    const importId = await beginImport(service, member, company, table)
    expect(await findImport(service, viewer, company, importId)).toMatchObject({
      ...{ state: 'running', total: 2, done: 0, faultyCount: 0, faults: [], finishedAt: null },
      ...{ createdByUserId: member.id, createdByName: member.name, keptCount: null },
    })
    await runSlice(service, importId)
    expect(await findImport(service, viewer, company, importId)).toMatchObject({ state: 'done', done: 2 })
    const seeds = await listSeeds(company)
    expect(seeds).toHaveLength(2)
    const byTitle = (start: string) => seeds.find(({ title }) => title.startsWith(start))
    expect(byTitle('ア')).toMatchObject({
      ...{ title: 'アイデア 👩‍👩‍👧', summary: 'مرحبا بالعالم', problem: 'Slow', audience: 'All' },
      ...{ hypothesis: 'It, works', successCriteria: ['Ten do', 'Nine stay'], question: 'Go on?' },
      ...{ decideBy: '2027-01-31', status: 'validated', statusReason: '34 of 60' },
      ...{ decidedByUserId: member.id, decidedByName: member.name },
      ...{ createdByUserId: member.id, leadUserId: member.id, participantCount: 1, agentName: null },
    })
    expect(byTitle('Plain')).toMatchObject({
      ...{ summary: '=1+1', problem: null, question: null, decideBy: null, successCriteria: [] },
      ...{ status: 'open', statusReason: null, decidedAt: null },
    })
    const types = await findEventTypes(company)
    expect(types.filter((type) => type.startsWith('seed.') || type.includes('import'))).toEqual([
      ...['workspace.imported', 'seed.created', 'seed.updated', 'seed.created'],
    ])
    expect(await findNotifications(service, workspace)).toEqual([])
    const deliveries = await selectRows(
      db,
      sql`select 1 from webhook_deliveries where webhook_id = ${webhookId} and type = 'seed.created'`,
    )
    expect(deliveries).toHaveLength(2)
  })

  it('reads the columns that a mapping names', async () => {
    const company = await createCompany(service)
    const mapping = JSON.stringify({ Was: 'title', Warum: 'summary' })
    const importId = await beginImport(service, company.member, company, 'Was;Warum;Title\nA;B;C\n', {
      mapping,
    })
    await runSlice(service, importId)
    expect(await listSeeds(company)).toMatchObject([{ title: 'A', summary: 'B' }])
  })

  it('says what it would do, and does nothing, with dryRun', async () => {
    const company = await createCompany(service)
    const table = 'Name,Description,Status\nA,B,open\n,B,never\nC,D,\n'
    const answer = await sendTable(service, company.member, company, table, { dryRun: 'true' })
    expect(answer.json()).toEqual({
      ok: true,
      importId: null,
      preview: {
        mapping: [
          { column: 'Name', field: 'title' },
          { column: 'Description', field: 'summary' },
          { column: 'Status', field: 'status' },
        ],
        ...{ total: 3, faultyCount: 1 },
        faults: [
          { row: 3, field: 'title', code: 'text_invalid', message: 'This text must not be blank.' },
          {
            ...{ row: 3, field: 'status', code: 'text_invalid' },
            message: 'This must be one of open, validating, validated, dropped.',
          },
        ],
      },
    })
    expect(await findEventTypes(company)).not.toContain('workspace.imported')
    expect(
      await selectRows(db, sql`select 1 from seed_imports where workspace_id = ${company.workspace.id}`),
    ).toEqual([])
  })

  it('answers a retry with the same Idempotency-Key once, also with dryRun', async () => {
    const company = await createCompany(service)
    for (const dryRun of ['true', 'false']) {
      const form = buildForm(
        { name: 'dryRun', content: dryRun },
        { filename: 'a.csv', type: 'text/csv', content: makeTable(1) },
      )
      const headers = { ...form.headers, 'idempotency-key': `import-${dryRun}` }
      const send = () =>
        as(company.member, { method: 'POST', url: `${company.url}/seeds/import`, ...form, headers })
      const [first, second] = [await send(), await send()]
      expect(first.statusCode, first.body).toBe(200)
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.json()).toEqual(first.json())
    }
  })

  it('leaves rows with faults out with skipFaults', async () => {
    const company = await createCompany(service)
    const table = `Title,Summary\nA,B\n${'x'.repeat(seedTitleLengthMax + 1)},B\nC,D\n`
    const importId = await beginImport(service, company.member, company, table, { skipFaults: 'true' })
    await runSlice(service, importId)
    expect(await findImport(service, company.member, company, importId)).toMatchObject({
      ...{ state: 'done', total: 2, done: 2, faultyCount: 1 },
      faults: [{ row: 3, field: 'title', code: 'text_invalid' }],
    })
    expect((await listSeeds(company)).map(({ title }) => title).toSorted()).toEqual(['A', 'C'])
  })

  it('lets service accounts import, whose seeds nobody leads', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company, { role: 'member' })
    const key = await createServiceKey(service, company.owner, company, account)
    const robot = { ...company.member, apiKey: key.secret }
    const importId = await beginImport(service, robot, company, makeTable(1))
    await runSlice(service, importId)
    expect(await listSeeds(company)).toMatchObject([
      { createdByUserId: account.userId, leadUserId: null, participantCount: 1 },
    ])
  })
})

describe('slices', () => {
  const total = 2 * importSliceRows + 50

  it('are transactions of 100 seeds, whose rows go with them; the next one is enqueued with each', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(total))
    const rowsLeft = async () =>
      (
        await selectRows<{ left: number }>(
          db,
          sql`select count(rows)::int as left from seed_import_slices where import_id = ${importId}`,
        )
      )[0]?.left
    expect(await rowsLeft()).toBe(3)
    for (const [done, left] of [
      [100, 2],
      [200, 1],
      [250, 0],
    ] as const) {
      await runSlice(service, importId)
      expect(await countSeeds(company)).toEqual({ count: done, titles: done })
      expect(await rowsLeft()).toBe(left)
      const { state, done: told } = await findImport(service, company.viewer, company, importId)
      expect({ state, told }).toEqual({ state: left === 0 ? 'done' : 'running', told: done })
    }
    // One by the request, and one by each slice but the last.
    expect(await findJobs(service, importId)).toHaveLength(3)
    await runSlice(service, importId)
    expect(await countSeeds(company)).toEqual({ count: total, titles: total })
  })

  it('are made whole or not at all, and once, also by processes that run the same job', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(total))
    const { id } = company.workspace
    // The connection of the process ends in the middle of a slice, as when it is killed.
    await db.execute(sql`
      create function end_connection() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`)
    await db.execute(
      sql.raw(`create trigger end_connection after insert on seeds for each row
        when (new.workspace_id = '${id}' and new.title = 'Idea 150') execute function end_connection()`),
    )
    await runSlice(service, importId)
    await expect(runSlice(service, importId)).rejects.toThrow()
    expect(await countSeeds(company)).toEqual({ count: 100, titles: 100 })
    await db.execute(sql`drop trigger end_connection on seeds`)
    await db.execute(sql`drop function end_connection`)
    await Promise.all(Array.from({ length: 4 }, () => runSlice(service, importId)))
    await runSlice(service, importId)
    expect(await countSeeds(company)).toEqual({ count: total, titles: total })
    expect(await findImport(service, company.viewer, company, importId)).toMatchObject({
      state: 'done',
      done: total,
    })
  })

  it('stop when who imports may no longer create seeds, and after the last attempt', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(total))
    await runSlice(service, importId)
    await db.execute(sql`
      update memberships set role = 'viewer' where workspace_id = ${company.workspace.id} and user_id = ${company.member.id}`)
    await runSlice(service, importId)
    expect(await findImport(service, company.viewer, company, importId)).toMatchObject({
      state: 'stopped',
      done: 100,
    })
    const left = sql`select 1 from seed_import_slices where import_id = ${importId} and rows is not null`
    expect(await selectRows(db, left)).toEqual([])
    const second = await beginImport(service, company.admin, company, makeTable(1))
    await db.execute(
      sql.raw(`create function refuse_seed() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
        create trigger refuse_seed before insert on seeds for each row
        when (new.workspace_id = '${company.workspace.id}') execute function refuse_seed()`),
    )
    await expect(runSlice(service, second)).rejects.toThrow()
    expect((await findImport(service, company.viewer, company, second)).state).toBe('running')
    await expect(runSlice(service, second, { isLastAttempt: true })).rejects.toThrow()
    await db.execute(sql.raw('drop trigger refuse_seed on seeds; drop function refuse_seed'))
    expect((await findImport(service, company.viewer, company, second)).state).toBe('stopped')
  })
})

describe('400', () => {
  it('imports nothing if rows have faults, and lists them', async () => {
    const company = await createCompany(service)
    const answer = await sendTable(service, company.member, company, 'Title,Summary\nA,B\nC,\nD,E,F\n')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      code: 'decode_error',
      message: '2 rows of the table have faults, of 3. Nothing was imported.',
      issues: [
        { _tag: 'Refinement', path: ['rows', 3, 'summary'], message: 'This text must not be blank.' },
        { _tag: 'Refinement', path: ['rows', 4], message: 'This row has more cells than the header.' },
      ],
    })
    expect(await countSeeds(company)).toEqual({ count: 0, titles: 0 })
  })

  it('table_invalid for what is no table', async () => {
    const company = await createCompany(service)
    for (const content of ['', 'a,b\n"1', Buffer.from('PK\u0003\u0004')])
      expectInvalid(await sendTable(service, company.member, company, content), errors.tableInvalid)
  })

  it('mapping_invalid for a mapping that does not fit the table', async () => {
    const company = await createCompany(service)
    const table = 'Title,Summary,X,X\nA,B,C,D\n'
    const mappings = [
      ...['no json', '[]', '{"Title":1}', '{}', '{"Title":"title"}', '{"Title":"title","Summary":"title"}'],
      ...['{"Title":"title","Summary":"constructor"}', '{"Title":"title","Nowhere":"summary"}'],
      ...['{"Title":"title","X":"summary"}', '{"Title":"title","":"summary"}', '{"__proto__":"title"}'],
    ]
    for (const mapping of mappings) {
      const answer = await sendTable(service, company.member, company, table, { mapping })
      expectInvalid(answer, errors.mappingInvalid)
    }
    expectInvalid(await sendTable(service, company.member, company, 'A,B\n1,2'), errors.mappingInvalid)
  })

  it('decode_error for unknown fields and words', async () => {
    const company = await createCompany(service)
    for (const fields of [{ dryRun: 'yes' }, { other: 'x' }]) {
      const answer = await sendTable(service, company.member, company, makeTable(1), fields)
      expect(answer.json()).toMatchObject({ code: 'decode_error' })
    }
  })
})

describe('403, 404, 409, 413', () => {
  it('refuses viewers and strangers', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    expectError(await sendTable(service, company.viewer, company, makeTable(1)), errors.roleInsufficient)
    expectError(await sendTable(service, other.owner, company, makeTable(1)), errors.notAMember)
    const importId = await beginImport(service, company.owner, company, makeTable(1))
    expectError(await as(other.owner, get(`${other.url}/seeds/imports/${importId}`)), errors.notFound)
    expectError(await as(other.owner, post(`${other.url}/seeds/imports/${importId}/undo`)), errors.notFound)
    expectError(await as(company.owner, get(`${company.url}/seeds/imports/nothing`)), errors.notFound)
  })

  it('imports one table of a workspace at a time', async () => {
    const company = await createCompany(service)
    const answers = await Promise.all(
      [1, 2].map((count) => sendTable(service, company.owner, company, makeTable(count))),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    expect(refused?.json()).toMatchObject({ code: 'import_in_progress' })
  })

  it('refuses a file above 5 MiB', async () => {
    const company = await createCompany(service)
    const answer = await sendTable(service, company.owner, company, 'x'.repeat(5 * 1024 * 1024 + 1))
    expectError(answer, errors.bodyTooLarge)
  })
})
