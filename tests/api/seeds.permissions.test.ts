import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { isAllowed, permissions } from '../../src/access/permissions.ts'
import { errors } from '../../src/kernel/errors.ts'
import { roles, type Role } from '../../src/kernel/roles.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed, insertGrant, joinSeed, someEvidence } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, createPerson, db } = service
const company = await createCompany(service)

const everybody: Role[] = ['owner', 'admin', 'member', 'viewer']
const writers: Role[] = ['owner', 'admin', 'member']
const managers: Role[] = ['owner', 'admin']

interface Place {
  /** Of a seed that the caller is in. */
  seedUrl: string
  ownGrantId: string
  othersGrantId: string
}

/** Who may do what, written down once more, by hand, with the request that does it. */
const operations: Record<string, { allowed: Role[]; request: (place: Place) => InjectOptions }> = {
  'seeds.list': { allowed: everybody, request: () => get(`${company.url}/seeds`) },
  'seeds.create': {
    allowed: writers,
    request: () => post(`${company.url}/seeds`, { title: 'One', summary: 'More' }),
  },
  'seeds.get': { allowed: everybody, request: ({ seedUrl }) => get(seedUrl) },
  'seeds.update': { allowed: writers, request: ({ seedUrl }) => patch(seedUrl, { title: 'Changed' }) },
  'seeds.join': { allowed: writers, request: ({ seedUrl }) => post(`${seedUrl}/join`) },
  'seeds.leave': { allowed: writers, request: ({ seedUrl }) => post(`${seedUrl}/leave`) },
  'seeds.listEvidence': { allowed: everybody, request: ({ seedUrl }) => get(`${seedUrl}/evidence`) },
  'seeds.addEvidence': {
    allowed: writers,
    request: ({ seedUrl }) => post(`${seedUrl}/evidence`, someEvidence),
  },
  'integrations.list': { allowed: everybody, request: () => get(`${company.url}/integrations`) },
  'integrations.revoke': {
    allowed: everybody,
    request: ({ ownGrantId }) => post(`${company.url}/integrations/${ownGrantId}/revoke`),
  },
  'integrations.revokeAny': {
    allowed: managers,
    request: ({ othersGrantId }) => post(`${company.url}/integrations/${othersGrantId}/revoke`),
  },
}
const ids = Object.keys(operations)

async function createPlace(person: { id: string; name: string }): Promise<Place> {
  const seed = await createSeed(service, company.owner, company)
  await joinSeed(service, company.owner, seed)
  const { rowCount } = await db.$client.query(
    `insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
      select $1, user_id, workspace_id, now() from memberships where workspace_id = $2 and user_id = $3`,
    [seed.id, company.workspace.id, person.id],
  )
  const own = rowCount === 1 ? await insertGrant(service, company.workspace, person) : { id: seed.id }
  const others = await insertGrant(service, company.workspace, company.owner)
  return { seedUrl: `/v1/seeds/${seed.id}`, ownGrantId: own.id, othersGrantId: others.id }
}

describe('every role and every operation on seeds and agents', () => {
  it.each(ids.flatMap((id) => roles.map((role) => ({ id, role }))))(
    '$id by a $role',
    async ({ id, role }) => {
      const person = await createPerson({ name: 'Somebody' })
      await addMember(service, company.workspace, person, role)
      const place = await createPlace(person)
      const events = await findEvents(service, company.workspace)
      const answer = await as(person, operations[id]?.request(place) ?? {})
      if (operations[id]?.allowed.includes(role)) {
        expect(answer.statusCode, answer.body).toBe(200)
      } else {
        // A grant of others is a secret.
        expectError(answer, id === 'integrations.revokeAny' ? errors.notFound : errors.roleInsufficient)
        expect(await findEvents(service, company.workspace)).toEqual(events)
      }
    },
  )

  it.each(ids)('%s by somebody who is not a member', async (id) => {
    const person = await createPerson()
    const request = operations[id]?.request(await createPlace(person)) ?? {}
    const events = await findEvents(service, company.workspace)
    const isBySlug = (request.url as string).startsWith(company.url)
    expectError(await as(person, request), isBySlug ? errors.notAMember : errors.notFound)
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })
})

describe('the table in the code', () => {
  it('says the same', () => {
    const actions = (Object.keys(permissions) as (keyof typeof permissions)[]).filter((action) =>
      /^(seeds|integrations)\./.test(action),
    )
    const table = actions.map((action) => [action, roles.filter((role) => isAllowed(role, action))])
    expect(Object.fromEntries(table)).toEqual({
      ...Object.fromEntries(ids.map((id) => [id, operations[id]?.allowed])),
      'integrations.listAll': managers,
      'integrations.grant': roles,
    })
  })
})
