import { Type } from '@sinclair/typebox'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createDescriptionReader, type Schema } from '../../scripts/description.ts'
import { exportSchemas } from '../../src/areas/workspaces/export/workspace-export.schemas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { closed } from '../../src/kernel/schemas.ts'
import { createCompany, createInvite, createTeam, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { operations } from '../support/operations.ts'
import { makeValues, namesIn } from '../support/prepare-request.ts'
import { createFaultFinder } from '../support/schema-faults.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { allowActions, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, services } = service

interface Line {
  kind: string
  data: Record<string, unknown>
}

/** Schemas that refer to others as the API description does. */
function toPublished(schemas: object): Record<string, Schema> {
  const text = JSON.stringify(schemas).replaceAll(/"\$ref":"(\w+)#"/g, '"$ref":"#/components/schemas/$1"')
  return JSON.parse(text) as Record<string, Schema>
}

const read = (body: string) =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

describe('200', () => {
  it('appends an event when it begins, which only managers see', async () => {
    const company = await createCompany(service)
    await as(company.owner, get(`${company.url}/export`))
    await services.exports.exportForOperator(company.workspace.slug)
    const list = async (person: TestPerson) =>
      (await as(person, get(`${company.url}/events?types=workspace.exported`))).json<{ summary: string }[]>()
    expect((await list(company.admin)).map(({ summary }) => summary)).toEqual([
      'An operator began an export of the workspace',
      'Olga Owner began an export of the workspace',
    ])
    expect(await list(company.viewer)).toEqual([])
  })

  it('has each thing in the workspace in a line, without secrets, and the number of lines at the end', async () => {
    const company = await createCompany(service)
    const names = Object.values(operations).flatMap(namesIn)
    const values = await makeValues(service, names, { company, values: { keptSlug: randomSlug() } })
    for (const { given } of Object.values(operations)) await given?.(service, values)
    const team = await createTeam(service, company.owner, company, 'Research')
    await as(company.owner, post(`${team.url}/members`, { userId: company.member.id }))
    const { token } = await createInvite(service, company.owner, company)
    const answer = await as(company.owner, get(`${company.url}/export`))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    const date = clock.now().toISOString().slice(0, 10)
    expect(answer.headers['content-disposition']).toBe(
      `attachment; filename="${company.workspace.slug}-${date}.ndjson"`,
    )
    const lines = read(answer.body)
    const findFaults = createFaultFinder(createDescriptionReader(app.swagger()).document)
    const schemas = toPublished({ ...exportSchemas, end: closed({ count: Type.Integer() }) })
    for (const { kind, data } of lines)
      expect(findFaults(schemas[kind] ?? {}, data), `${kind} ${JSON.stringify(data)}`).toEqual([])
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(
      new Set([
        ...[
          'workspace',
          'member',
          'team',
          'teamMember',
          'label',
          'savedFilter',
          'invite',
          'integration',
          'webhook',
          'serviceAccount',
          'seed',
        ],
        ...[
          'participant',
          'evidence',
          'evidenceSeen',
          'comment',
          'attachment',
          'agentRequest',
          'event',
          'end',
        ],
      ]),
    )
    expect(lines.at(-1)).toEqual({ kind: 'end', data: { count: lines.length - 1 } })
    expect(lines[0]).toEqual({
      kind: 'workspace',
      data: {
        id: company.workspace.id,
        name: 'Acme',
        slug: company.workspace.slug,
        allowedDomains: expect.any(Array) as unknown,
        creatorUserId: company.owner.id,
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as unknown,
      },
    })
    expect(answer.body).not.toContain(token)
    expect(answer.body).not.toMatch(/secret|hash|token/i)
    const events = (await as(company.owner, get(`${company.url}/events?limit=200`))).json<{ id: string }[]>()
    const exported = lines.filter(({ kind }) => kind === 'event').map(({ data }) => data)
    const place = { workspaceId: company.workspace.id, url: 'any' }
    expect(exported.toReversed().map((event) => ({ ...event, ...place }))).toEqual(
      events.map((event) => ({ ...event, url: 'any' })),
    )
  })

  it('has all rows of lists that are longer than a page, each once', async () => {
    const company = await createCompany(service)
    await fill(company.workspace, { seeds: 520, evidenceEach: 2, events: 1_203 })
    const lines = read((await as(company.owner, get(`${company.url}/export`))).body)
    const idsOf = (wanted: string) =>
      lines.filter(({ kind }) => kind === wanted).map(({ data }) => String(data.id))
    for (const [kind, count] of [
      ['seed', 520],
      ['evidence', 1_040],
    ] as const) {
      expect(idsOf(kind)).toHaveLength(count)
      expect(new Set(idsOf(kind)).size).toBe(count)
    }
    expect(new Set(idsOf('event')).size).toBe(idsOf('event').length)
    expect(idsOf('event').length).toBeGreaterThanOrEqual(1_203)
  })
})

/** Inserts rows with the same time, whose order their ids decide. */
async function fill(
  { id }: { id: string },
  { seeds, evidenceEach, events }: Record<'seeds' | 'evidenceEach' | 'events', number>,
): Promise<void> {
  await service.db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
    select gen_random_uuid(), ${id}, 'Seed', 'A summary', 'open', '2026-11-01', '2026-11-01'
    from generate_series(1, ${seeds}::int)`)
  await service.db.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
    select gen_random_uuid(), seeds.id, 'note', 'neutral', 'A finding', 'Ada', '2026-11-02'
    from seeds, generate_series(1, ${evidenceEach}::int) where workspace_id = ${id}`)
  await service.db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
    select gen_random_uuid(), ${id}, 'team.created', 'system', 'Ada', 'system', 'Ada created a team', '2026-11-03'
    from generate_series(1, ${events}::int)`)
}

describe('while it is sent', () => {
  /** Begins an export, and reads its first chunk. */
  async function begin(owner: TestPerson, slug: string) {
    const principal = await services.authenticator.authenticate(owner.apiKey)
    if (!principal) throw new Error('the key does not work')
    const { lines } = await services.exports.exportWorkspace(principal, slug)
    await lines.next()
    return lines
  }

  it('refuses another export of the workspace, until it has ended', async () => {
    const company = await createCompany(service)
    const lines = await begin(company.owner, company.workspace.slug)
    expectError(await as(company.owner, get(`${company.url}/export`)), errors.exportInProgress)
    await lines.return(undefined)
    expect((await as(company.owner, get(`${company.url}/export`))).statusCode).toBe(200)
  })

  it('breaks off when the caller no longer owns the workspace', async () => {
    const company = await createCompany(service)
    const { owner, admin, url, workspace } = company
    const lines = await begin(owner, workspace.slug)
    await allowActions(service, workspace, owner)
    await as(owner, post(`${url}/transfer-ownership`, { userId: admin.id }))
    clock.advance(11_000)
    await expect(lines.next()).rejects.toMatchObject({ code: 'not_a_member' })
    await as(admin, patch(`${url}/members/${owner.id}`, { role: 'owner' }))
    expect((await as(owner, get(`${url}/export`))).statusCode).toBe(200)
  })
})

describe('404', () => {
  it('is answered to HEAD, which would read everything', async () => {
    const company = await createCompany(service)
    const headers = { authorization: `Bearer ${company.owner.apiKey}` }
    const answer = await app.inject({ method: 'HEAD', url: `${company.url}/export`, headers })
    expect(answer.statusCode).toBe(404)
  })
})
