import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

/**
 * Commands, the first run and the website call services without the schemas of the API. What the API refuses by its
 * schemas, services refuse as well.
 */
const { db, services } = await startTestApp()
const {
  accounts,
  apiKeys,
  comments,
  evidence,
  evidenceEdits,
  labels,
  me,
  savedFilters,
  seeds,
  serviceAccounts,
  teams,
  webhooks,
  workspaces,
} = services

const user = await accounts.create({
  email: `${randomUUID()}@example.com`,
  name: 'Grace Hopper',
  isVerified: true,
})
const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
const slug = `w-${randomUUID().slice(0, 8)}`
await workspaces.create(principal, { name: 'Acme', slug })
const team = await teams.create(principal, slug, { name: 'Design' })
const label = await labels.create(principal, slug, { name: 'Prices' })
const filter = await savedFilters.create(principal, slug, { name: 'Due', shared: false, filters: {} })
const seed = await seeds.create(principal, slug, { title: 'A seed', summary: 'Of an idea' })
await seeds.join(principal, seed.id)
const addNote = () =>
  evidence.add(principal, seed.id, { kind: 'note', verdict: 'neutral', summary: 'A finding' })
const piece = await addNote()
const unwithdrawn = [await addNote(), await addNote()]
const { comment } = await comments.create(principal, seed.id, { body: 'A question' })
const account = await serviceAccounts.create(principal, slug, { name: 'Sync', role: 'member' })
const { webhook } = await webhooks.create(principal, slug, { url: 'https://example.invalid/' })

const badLines = [
  '',
  ' ',
  '\u200b',
  '\u001b[31mred\u001b[0m',
  'a\u0007',
  'a\u009b1m',
  'x\ud800',
  'Grace \u202erenwO',
  'Gra\u200bce',
  'Grace\u{e0041}',
]
const tooLong = (lengthMax: number) => '🧑'.repeat(lengthMax + 1)

const cases: [
  what: string,
  refusal: ErrorFactory,
  field: string,
  lengthMax: number,
  run: (text: string) => Promise<unknown>,
][] = [
  [
    'accounts.create name',
    errors.nameInvalid,
    'name',
    100,
    (name) => accounts.create({ email: `${randomUUID()}@example.com`, name, isVerified: false }),
  ],
  ['me.updateProfile name', errors.nameInvalid, 'name', 100, (name) => me.updateProfile(principal, { name })],
  ['apiKeys.create name', errors.labelInvalid, 'name', 64, (name) => apiKeys.create(principal, { name })],
  [
    'workspaces.create name',
    errors.nameInvalid,
    'name',
    100,
    (name) => workspaces.create(principal, { name, slug: `x-${randomUUID().slice(0, 8)}` }),
  ],
  [
    'workspaces.update name',
    errors.nameInvalid,
    'name',
    100,
    (name) => workspaces.update(principal, slug, { name, slug }),
  ],
  ['teams.create name', errors.labelInvalid, 'name', 64, (name) => teams.create(principal, slug, { name })],
  [
    'teams.rename name',
    errors.labelInvalid,
    'name',
    64,
    (name) => teams.rename(principal, { slug, teamId: team.id }, { name }),
  ],
  [
    'savedFilters.create name',
    errors.labelInvalid,
    'name',
    64,
    (name) => savedFilters.create(principal, slug, { name, shared: false, filters: {} }),
  ],
  [
    'savedFilters.update name',
    errors.labelInvalid,
    'name',
    64,
    (name) => savedFilters.update(principal, { slug, filterId: filter.id }, { name }),
  ],
  ['labels.create name', errors.labelInvalid, 'name', 64, (name) => labels.create(principal, slug, { name })],
  [
    'labels.update name',
    errors.labelInvalid,
    'name',
    64,
    (name) => labels.update(principal, { slug, labelId: label.id }, { name }),
  ],
  [
    'serviceAccounts.create name',
    errors.labelInvalid,
    'name',
    64,
    (name) => serviceAccounts.create(principal, slug, { name, role: 'member' }),
  ],
  [
    'serviceAccounts.update name',
    errors.labelInvalid,
    'name',
    64,
    (name) => serviceAccounts.update(principal, { slug, serviceAccountId: account.id }, { name }),
  ],
  [
    'serviceAccounts.createKey name',
    errors.labelInvalid,
    'name',
    64,
    (name) => serviceAccounts.createKey(principal, { slug, serviceAccountId: account.id }, { name }),
  ],
  [
    'seeds.create title',
    errors.textInvalid,
    'title',
    120,
    (title) => seeds.create(principal, slug, { title, summary: 'x' }),
  ],
  [
    'seeds.update successCriteria',
    errors.textInvalid,
    'successCriteria',
    300,
    (criterion) => seeds.update(principal, seed.id, { successCriteria: [criterion] }),
  ],
  [
    'seeds.create question',
    errors.textInvalid,
    'question',
    300,
    (question) => seeds.create(principal, slug, { title: 'x', summary: 'x', question }),
  ],
  [
    'seeds.update question',
    errors.textInvalid,
    'question',
    300,
    (question) => seeds.update(principal, seed.id, { question }),
  ],
  [
    'seeds.update statusReason',
    errors.textInvalid,
    'statusReason',
    300,
    async (statusReason) => {
      const { status } = await seeds.get(principal, seed.id)
      const next = status === 'open' ? 'validating' : 'open'
      await seeds.update(principal, seed.id, { status: next, statusReason })
    },
  ],
  [
    'evidence.withdraw reason',
    errors.textInvalid,
    'reason',
    300,
    async (reason) => {
      await evidenceEdits.withdraw(principal, unwithdrawn[0]?.id ?? '', { reason })
      unwithdrawn.shift()
    },
  ],
]

describe.each(cases)('%s, passed to the service', (_, refusal, field, lengthMax, run) => {
  // An empty reason or question stands for none.
  const bad = field === 'question' || field.toLowerCase().endsWith('reason') ? badLines.slice(1) : badLines
  it.each([...bad, tooLong(lengthMax)])('refuses %j with status 400, and stores nothing', async (text) => {
    const before = await countRows()
    await expect(run(text)).rejects.toMatchObject({ code: refusal.code, field, status: 400 })
    expect(await countRows()).toEqual(before)
  })

  it('stores white space of every kind as single spaces', async () => {
    const text = `${randomUUID().slice(0, 8)}\t\u00a0of\r\none\u2028\u0085line`
    await run(text)
    const stored = text.replaceAll(/[\s\u0085]+/g, ' ')
    expect(await countTexts(stored)).toBe(1)
  })

  it('accepts the maximum length of the API', async () => {
    await expect(run(randomUUID().slice(0, 8) + '🧑'.repeat(lengthMax - 8))).resolves.not.toThrow()
  })
})

const texts = [
  ...(['summary', 'problem', 'audience', 'hypothesis'] as const).flatMap((field) => [
    [
      `seeds.create ${field}`,
      field,
      2000,
      (text: string) => seeds.create(principal, slug, { title: 'x', summary: 'x', [field]: text }),
    ] as const,
    [
      `seeds.update ${field}`,
      field,
      2000,
      (text: string) => seeds.update(principal, seed.id, { [field]: text }),
    ] as const,
  ]),
  [
    'seeds.addEvidence summary',
    'summary',
    4000,
    (summary: string) => evidence.add(principal, seed.id, { kind: 'note', verdict: 'neutral', summary }),
  ],
  [
    'evidence.update summary',
    'summary',
    4000,
    (summary: string) => evidenceEdits.update(principal, piece.id, { summary }),
  ],
  ['comments.create body', 'body', 5000, (body: string) => comments.create(principal, seed.id, { body })],
  ['comments.update body', 'body', 5000, (body: string) => comments.update(principal, comment.id, { body })],
  [
    'webhooks.update description',
    'description',
    200,
    (description: string) => webhooks.update(principal, { slug, webhookId: webhook.id }, { description }),
  ],
] as const

describe.each(texts)('%s, passed to the service', (_, field, lengthMax, run) => {
  it.each([' ', '\u001b[2J', 'a\rb', 'a\u202eb', 'a\u{e0041}', tooLong(lengthMax)])(
    'refuses %j with text_invalid, and stores nothing',
    async (text) => {
      const before = await countRows()
      await expect(run(text)).rejects.toMatchObject({ code: 'text_invalid', field })
      expect(await countRows()).toEqual(before)
    },
  )

  it('accepts line breaks and tabs', async () => {
    await expect(run('a\r\nb\tc')).resolves.not.toThrow()
  })
})

it.each(['', 'a', 'Acme', 'a--b', '-ab', 'a\u001b', 'x'.repeat(49)])(
  'services refuse the slug %j with slug_invalid',
  async (bad) => {
    for (const run of [
      workspaces.create(principal, { name: 'Acme', slug: bad }),
      workspaces.update(principal, slug, { name: 'Acme', slug: bad }),
    ])
      await expect(run).rejects.toMatchObject({ code: 'slug_invalid', field: 'slug' })
  },
)

it.each([
  '',
  'x',
  'ftp://example.com',
  'https://a b',
  'https://a:b@example.com',
  `https://e.com/${'x'.repeat(2048)}`,
])('services refuse the source URL %j with source_url_invalid', async (sourceUrl) => {
  await expect(
    evidence.add(principal, seed.id, { kind: 'note', verdict: 'neutral', summary: 'x', sourceUrl }),
  ).rejects.toMatchObject({ code: 'source_url_invalid', field: 'sourceUrl' })
})

/** Texts of bodies whose rule is that of another operation here: the same function of a service reads them. */
const readBySameFunction: Record<string, string> = {
  'apiKeys.createRestricted name': 'apiKeys.create name',
  'seeds.create criteria': 'seeds.update successCriteria',
  'seeds.create successCriteria': 'seeds.update successCriteria',
  'seeds.update criteria': 'seeds.update successCriteria',
  'seeds.update title': 'seeds.create title',
  'webhooks.create description': 'webhooks.update description',
}

it('each text in the body of an operation has a row here, or is read by the function of one that has', async () => {
  const rows: string[] = [...cases, ...texts].map(([what]) => what)
  const written = await findTextsOfBodies()
  expect(written.length).toBeGreaterThan(20)
  expect(
    written.filter((text) => !rows.includes(text) && !rows.includes(readBySameFunction[text] ?? '')),
  ).toEqual([])
})

/** The fields with a rule for text in the bodies of operations in areas: `teams.create name`. */
async function findTextsOfBodies(): Promise<string[]> {
  const areas = new URL('../../src/areas/', import.meta.url)
  const files = readdirSync(areas, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.schemas.ts'),
  )
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, areas).href) as Promise<Record<string, unknown>>),
  )
  return modules.flatMap(Object.values).flatMap((exported) => {
    const { operationId, body } = (exported ?? {}) as { operationId?: string; body?: BodySchema }
    // An optional body is one of several.
    const properties = [body, ...(body?.anyOf ?? [])].flatMap((schema) =>
      Object.entries(schema?.properties ?? {}),
    )
    return properties
      .filter(([, field]) => operationId !== undefined && hasRule(field))
      .map(([field]) => `${operationId} ${field}`)
  })
}

interface BodySchema {
  properties?: Record<string, unknown>
  anyOf?: BodySchema[]
}

function hasRule(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const rule: unknown = Reflect.get(schema, 'x-text')
  return ['line', 'lines', 'name'].includes(String(rule)) || Object.values(schema).some(hasRule)
}

/** Counts the rows that have a line. */
async function countTexts(text: string): Promise<number> {
  const [row] = await selectRows<{ count: number }>(
    db,
    sql`select (
      (select count(*) from users where name = ${text})
      + (select count(*) from api_keys where name = ${text})
      + (select count(*) from workspaces where name = ${text})
      + (select count(*) from teams where name = ${text})
      + (select count(*) from labels where name = ${text})
      + (select count(*) from saved_filters where name = ${text})
      + (select count(*) from evidence where withdrawn_reason = ${text})
      + (select count(*) from events where data ->> 'statusReason' = ${text})
      + (select count(*) from seeds where title = ${text} or success_criteria = array[${text}] or question = ${text})
    )::int as count`,
  )
  return Number(row?.count)
}

/** Counts what there is of the principal, and all people. The service also writes by itself, such as what agents used. */
async function countRows(): Promise<unknown> {
  const ofWorkspaces = sql`workspace_id in (select id from workspaces where creator_user_id = ${user.id})`
  return selectRows(
    db,
    sql`select (select count(*) from users) as users,
      (select count(*) from api_keys where user_id = ${user.id}) as keys,
      (select count(*) from workspaces where creator_user_id = ${user.id}) as workspaces,
      (select count(*) from teams where ${ofWorkspaces}) as teams,
      (select count(*) from seeds where ${ofWorkspaces}) as seeds,
      (select count(*) from evidence where ${ofWorkspaces}) as evidence,
      (select count(*) from events where actor_user_id = ${user.id}) as events`,
  )
}
