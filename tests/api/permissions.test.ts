import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { isAllowed, permissions } from '../../src/access/permissions.ts'
import { errors } from '../../src/kernel/errors.ts'
import { roles, type Role } from '../../src/kernel/roles.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { addMember, createWorkspace, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({
  environment: { DATA_DIR: await makeFolder(), UPLOAD_LIMIT_PER_HOUR: '0' },
})
const { as, createPerson } = service

const png = await makePng()

interface Operation {
  allowed: Role[]
  request: (slug: string) => InjectOptions
}

/** Who may do what, written down once more, by hand, with the request that does it. */
const operations: Record<string, Operation> = {
  'workspaces.get': {
    allowed: ['owner', 'admin', 'member', 'viewer'],
    request: (slug) => ({ url: `/v1/workspaces/${slug}` }),
  },
  'workspaces.slugAvailability': {
    allowed: ['owner', 'admin', 'member', 'viewer'],
    request: (slug) => ({ url: `/v1/workspaces/${slug}/slug-availability` }),
  },
  'workspaces.update': {
    allowed: ['owner', 'admin'],
    request: (slug) => ({
      method: 'PATCH',
      url: `/v1/workspaces/${slug}`,
      payload: { name: 'Changed', slug },
    }),
  },
  'workspaces.uploadIcon': {
    allowed: ['owner', 'admin'],
    request: (slug) => ({ method: 'POST', url: `/v1/workspaces/${slug}/icon`, ...buildUpload(png) }),
  },
}

const rows = Object.entries(operations)
const cases = rows.flatMap(([id, operation]) => roles.map((role) => ({ id, role, ...operation })))

describe('every role and every operation on a workspace', () => {
  it.each(cases)('$id by a $role', async ({ role, allowed, request }) => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const workspace = await createWorkspace(service, owner)
    await addMember(service, workspace, person, role)
    const answer = await as(person, request(workspace.slug))
    if (allowed.includes(role)) {
      expect(answer.statusCode).toBe(200)
    } else {
      expectError(answer, errors.roleInsufficient)
      expect(await findEvents(service, workspace)).toHaveLength(1)
    }
  })

  it.each(rows)('%s by somebody who is not a member', async (_id, { request }) => {
    const workspace = await createWorkspace(service, await createPerson())
    expectError(await as(await createPerson(), request(workspace.slug)), errors.notAMember)
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })

  it.each(rows)('%s in a workspace that there is not', async (_id, { request }) => {
    expectError(await as(await createPerson(), request(randomSlug())), errors.notFound)
  })
})

describe('the table in the code', () => {
  it('says the same', () => {
    const actions = (Object.keys(permissions) as (keyof typeof permissions)[]).filter((action) =>
      action.startsWith('workspaces.'),
    )
    const table = actions.map((action) => [action, roles.filter((role) => isAllowed(role, action))])
    expect(Object.fromEntries(table)).toEqual(
      Object.fromEntries(Object.entries(operations).map(([id, { allowed }]) => [id, allowed])),
    )
  })
})
