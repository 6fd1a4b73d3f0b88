import { describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import { roles } from '../../src/domain/roles.ts'
import { createKey, type TestRestrictions } from '../support/api-keys.ts'
import { checkEach } from '../support/check-each.ts'
import { createCompany, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { operations, type Operation } from '../support/operations.ts'
import { createOutsider, prepareRequest } from '../support/prepare-request.ts'
import { createWorkspaceReader } from '../support/read-workspace.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service
const readWorkspace = await createWorkspaceReader(service)

/** Every operation that API keys may ask for. */
const ofKeys = Object.entries(operations).filter(([, { request }]) => request.includes(' /v1/'))

const isRead = ({ request }: Operation) => request.startsWith('GET ')

/** A restriction, and what it refuses an operation with, in the workspace of the test and outside of it. */
interface Row {
  name: string
  restrict: (actor: TestPerson, company: TestCompany) => Promise<Partial<TestRestrictions>>
  refusalOf: (operation: Operation) => ErrorFactory | undefined
  /** Which operations it is tried with; by default all. */
  isAbout?: (operation: Operation) => boolean
}

const rows: Row[] = [
  {
    name: 'expires',
    restrict: async () => ({ expiresAt: '2100-01-01T00:00:00.000Z' }),
    // These would make, or become, a key that never expires, or give one a higher role.
    refusalOf: ({ request }) =>
      /^POST .*\/api-keys(\/restricted)?$|^PUT|^PATCH .*\{serviceAccountId\}$|\{serviceKeyId\}\/rotate$/.test(
        request,
      )
        ? errors.keyRestricted
        : undefined,
  },
  {
    name: 'only reads',
    restrict: async () => ({ access: 'read' }),
    refusalOf: (operation) => (isRead(operation) ? undefined : errors.keyReadOnly),
  },
  {
    name: 'is bound to the workspace',
    async restrict(actor, company) {
      // Who was invited is in no workspace that the key could be bound to yet.
      if (actor.id !== company.owner.id) return { workspaceIds: [(await createWorkspace(service, actor)).id] }
      return { workspaceIds: [company.workspace.id] }
    },
    refusalOf: ({ isOutside, isForBoundKeys, isForInvited, isForOffered, request }) =>
      (isOutside && !isForBoundKeys) || isForInvited || isForOffered || request.includes('{token}')
        ? errors.keyNotForWorkspace
        : undefined,
  },
  ...roles.map((maxRole): Row => ({
    name: `acts as ${maxRole} at most`,
    restrict: async () => ({ maxRole }),
    // In workspaces, the table of permissions decides: tests/api/permissions.test.ts.
    isAbout: ({ isOutside, isForInvited, isForOffered, request }) =>
      [isOutside, isForInvited, isForOffered, request.includes('{token}')].includes(true),
    refusalOf: ({ isForBoundKeys, isForKeysBelowOwner, request }) =>
      maxRole === 'owner' || isForBoundKeys || isForKeysBelowOwner || request === 'GET /v1/invites/{token}'
        ? undefined
        : errors.keyRestricted,
  })),
  {
    name: 'is bound to another workspace of its owner',
    restrict: async (actor) => ({ workspaceIds: [(await createWorkspace(service, actor)).id] }),
    refusalOf: ({ isForBoundKeys }) => (isForBoundKeys ? undefined : errors.keyNotForWorkspace),
  },
]

describe.each(rows)('a key that $name', ({ restrict, refusalOf, isAbout = () => true }) => {
  it('is refused by the operations that its restriction concerns, and by no others', async () => {
    const shared = await createCompany(service)
    const usual = await createKey(service, shared.owner, await restrict(shared.owner, shared))
    await checkEach(
      ofKeys.filter(([, operation]) => isAbout(operation)),
      ([id]) => id,
      async ([, operation]) => {
        const company = operation.endsCompany ? await createCompany(service) : shared
        const actor = (await createOutsider(service, operation)) ?? company.owner
        // Operations on keys concern the key itself.
        const isOwn = actor !== shared.owner || operation.request.includes('{apiKeyId}') || operation.endsKey
        const key = isOwn ? await createKey(service, actor, await restrict(actor, company)) : usual
        const { request } = await prepareRequest(service, operation, {
          company,
          actor,
          ...(operation.isForInvited && { invitedEmail: actor.email }),
          values: { apiKeyId: key.id },
        })
        const refusal = refusalOf(operation)
        const before = refusal && (await readWorkspace(company.workspace))
        const answer = await as(key, request)
        if (refusal) {
          expectError(answer, refusal)
          expect(await readWorkspace(company.workspace)).toBe(before)
        } else {
          expect(answer.statusCode, answer.body).toBe(200)
        }
        // Of all operations together, the owner would have too many.
        if (key !== usual) await service.services.apiKeys.revokeAny(key.id)
      },
    )
  })
})
