import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { createCompany, get } from '../support/company.ts'
import { findOperation } from '../support/operations.ts'
import { prepareRequest } from '../support/prepare-request.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app, as } = service
const { operations, resolve, answerOf } = createDescriptionReader(app.swagger())

/** The operations that create something which a GET reads, and whether that has an entity tag. */
const creations: Record<string, boolean> = {
  'apiKeys.create': false,
  'apiKeys.createRestricted': false,
  'apiKeys.rotate': false,
  'attachments.create': false,
  'comments.create': true,
  'invites.create': true,
  'labels.create': true,
  'savedFilters.create': true,
  'seeds.addEvidence': true,
  'seeds.create': true,
  'serviceAccounts.create': true,
  'teams.create': true,
  'webhooks.create': true,
  'workspaces.create': true,
}

it('the operations whose description has Location are those that are tested here', () => {
  const located = operations.filter((operation) => answerOf(operation, 200)?.headers?.Location)
  expect(located.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(creations))
  for (const operation of located)
    expect(Boolean(resolve(answerOf(operation, 200) ?? {}).headers?.ETag)).toBe(
      creations[operation.operationId],
    )
})

describe.each(Object.entries(creations))('%s', (id, hasTag) => {
  it('says where what it created is read, and its tag there, also when it is repeated', async () => {
    const company = await createCompany(service)
    const { actor, request } = await prepareRequest(service, findOperation(id), { company })
    const key = { 'idempotency-key': `created by ${id}`.replaceAll(' ', '-') }
    const headers = { ...request.headers, ...key }
    const answer = await as(actor, { ...request, headers })
    expect(answer.statusCode, answer.body).toBe(200)
    const { location, etag } = answer.headers
    const read = await as(actor, get(String(location)))
    expect(read.statusCode, read.body).toBe(200)
    const created = answer.json<Record<string, { id?: string }>>()
    const createdId = created.id ?? Object.values(created).find((value) => typeof value === 'object')?.id
    expect(createdId).toBeTypeOf('string')
    expect(read.body).toContain(JSON.stringify(createdId))
    if (hasTag) expect(etag).toMatch(/^"[\w-]{16}\.[\w-]{16}"$/)
    expect(read.headers.etag).toBe(etag)
    const again = await as(actor, { ...request, headers })
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', location, ...(hasTag && { etag }) })
    expect(again.body).toBe(answer.body)
  })

  it('says nothing of the kind when it is refused', async () => {
    const company = await createCompany(service)
    const { request } = await prepareRequest(service, findOperation(id), { company })
    const answer = await app.inject(request)
    expect(answer.statusCode).toBe(401)
    expect(answer.headers).not.toHaveProperty('location')
    expect(answer.headers).not.toHaveProperty('etag')
  })
})
