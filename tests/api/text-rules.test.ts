import { randomUUID } from 'node:crypto'
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
const { accounts, apiKeys, evidence, me, seeds, teams, workspaces } = services

const user = await accounts.create({
  email: `${randomUUID()}@example.com`,
  name: 'Grace Hopper',
  isVerified: true,
})
const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
const slug = `w-${randomUUID().slice(0, 8)}`
await workspaces.create(principal, { name: 'Acme', slug })
const team = await teams.create(principal, slug, { name: 'Design' })
const seed = await seeds.create(principal, slug, { title: 'A seed', summary: 'Of an idea' })
await seeds.join(principal, seed.id)

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
    "a person's name",
    errors.nameInvalid,
    'name',
    100,
    (name) => accounts.create({ email: `${randomUUID()}@example.com`, name, isVerified: false }),
  ],
  ["the caller's name", errors.nameInvalid, 'name', 100, (name) => me.updateProfile(principal, { name })],
  ["a key's name", errors.labelInvalid, 'name', 64, (name) => apiKeys.create(principal, { name })],
  [
    "a workspace's name",
    errors.nameInvalid,
    'name',
    100,
    (name) => workspaces.create(principal, { name, slug: `x-${randomUUID().slice(0, 8)}` }),
  ],
  [
    "a workspace's new name",
    errors.nameInvalid,
    'name',
    100,
    (name) => workspaces.update(principal, slug, { name, slug }),
  ],
  ["a team's name", errors.labelInvalid, 'name', 64, (name) => teams.create(principal, slug, { name })],
  [
    "a team's new name",
    errors.labelInvalid,
    'name',
    64,
    (name) => teams.rename(principal, { slug, teamId: team.id }, { name }),
  ],
  [
    "a seed's title",
    errors.textInvalid,
    'title',
    120,
    (title) => seeds.create(principal, slug, { title, summary: 'x' }),
  ],
  [
    "a seed's criterion",
    errors.textInvalid,
    'successCriteria',
    300,
    (criterion) => seeds.update(principal, seed.id, { successCriteria: [criterion] }),
  ],
]

describe.each(cases)('%s, passed to the service', (_, refusal, field, lengthMax, run) => {
  it.each([...badLines, tooLong(lengthMax)])(
    'refuses %j with status 400, and stores nothing',
    async (text) => {
      const before = await countRows()
      await expect(run(text)).rejects.toMatchObject({ code: refusal.code, field, status: 400 })
      expect(await countRows()).toEqual(before)
    },
  )

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

describe.each([
  ...(['summary', 'problem', 'audience', 'hypothesis'] as const).flatMap((field) => [
    [
      `a seed's ${field}`,
      field,
      2000,
      (text: string) => seeds.create(principal, slug, { title: 'x', summary: 'x', [field]: text }),
    ] as const,
    [
      `a seed's new ${field}`,
      field,
      2000,
      (text: string) => seeds.update(principal, seed.id, { [field]: text }),
    ] as const,
  ]),
  [
    'evidence',
    'summary',
    4000,
    (summary: string) => evidence.add(principal, seed.id, { kind: 'note', verdict: 'neutral', summary }),
  ],
] as const)('%s, passed to the service', (_, field, lengthMax, run) => {
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

/** Counts the rows that have a line. */
async function countTexts(text: string): Promise<number> {
  const [row] = await selectRows<{ count: number }>(
    db,
    sql`select (
      (select count(*) from users where name = ${text})
      + (select count(*) from api_keys where name = ${text})
      + (select count(*) from workspaces where name = ${text})
      + (select count(*) from teams where name = ${text})
      + (select count(*) from seeds where title = ${text} or success_criteria = array[${text}])
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
      (select count(*) from evidence join seeds on seeds.id = evidence.seed_id where ${ofWorkspaces}) as evidence,
      (select count(*) from events where actor_user_id = ${user.id}) as events`,
  )
}
