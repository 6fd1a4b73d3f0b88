import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { operations } from '../support/operations.ts'
import { allowLeaving, makeValues, namesIn } from '../support/prepare-request.ts'
import { createFaultFinder } from '../support/schema-faults.ts'
import { addEvidence, createSeed, insertGrant, joinSeed, saveFilter } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as } = service
const exporting = get('/v1/me/export')

type Export = Record<string, Record<string, unknown>[]> & { profile: Record<string, unknown> }

describe('200', () => {
  it('has what is the caller’s, as described, without secrets and what others wrote', async () => {
    const company = await createCompany(service)
    const { owner, member } = company
    const names = Object.values(operations).flatMap(namesIn)
    const values = await makeValues(service, names, {
      company,
      actor: owner,
      values: { keptSlug: randomSlug() },
    })
    for (const { given } of Object.values(operations)) await given?.(service, values)
    await insertGrant(service, company.workspace, owner)
    const seed = await createSeed(service, owner, company, { title: 'Mine' })
    await joinSeed(service, member, seed)
    await saveFilter(service, owner, company)
    await saveFilter(service, member, company, { name: 'Filter of Mary', shared: true })
    await addEvidence(service, owner, seed, { summary: 'Mine too' })
    await addEvidence(service, member, seed, { summary: 'Of Mary' })
    await as(owner, post(`/v1/seeds/${seed.id}/comments`, { body: 'My words' }))
    await as(member, post(`/v1/seeds/${seed.id}/comments`, { body: 'Words of Mary' }))

    const answer = await as(owner, exporting)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['content-disposition']).toMatch(
      /^attachment; filename="account-\d{4}-\d\d-\d\d\.json"$/,
    )
    const exported = answer.json<Export>()
    const { document, operations: described, answerOf } = createDescriptionReader(app.swagger())
    const operation = described.find(({ operationId }) => operationId === 'me.export')
    const schema = operation && answerOf(operation, 200)?.content?.['application/json']?.schema
    if (!schema) throw new Error('me.export has no schema')
    expect(createFaultFinder(document)(schema, exported)).toEqual([])

    expect(exported.profile).toMatchObject({ id: owner.id, email: owner.email })
    expect(exported.workspaces?.[0]).toMatchObject({ slug: company.workspace.slug, role: 'owner' })
    expect(exported.evidence?.map(({ summary }) => summary)).toContain('Mine too')
    expect(exported.comments?.map(({ body }) => body)).toContain('My words')
    expect(exported.events?.map(({ type }) => type)).toContain('workspace.created')
    for (const list of [
      'apiKeys',
      'agents',
      'invites',
      'seeds',
      'savedFilters',
      'participations',
      'follows',
      'notifications',
    ])
      expect(exported[list]?.length, list).toBeGreaterThan(0)
    for (const foreign of ['Of Mary', 'Words of Mary', 'Filter of Mary', owner.apiKey, 'hash'])
      expect(answer.body).not.toContain(foreign)
  })
})

describe('403', () => {
  it('returns recent_proof_required unless it was allowed on the website', async () => {
    const company = await createCompany(service)
    expectError(await as(company.member, exporting), errors.recentProofRequired)
    await allowLeaving(service, { actorId: company.member.id, workspaceId: company.workspace.id })
    expect((await as(company.member, exporting)).statusCode).toBe(200)
  })
})
