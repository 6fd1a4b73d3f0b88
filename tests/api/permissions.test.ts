import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { permissions } from '../../src/access/permissions.ts'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import { roles, type Role } from '../../src/domain/roles.ts'
import { createKey } from '../support/api-keys.ts'
import { addPerson, createCompany, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { findOperation, operations, permissionTable, type Operation } from '../support/operations.ts'
import { buildRequest, prepareRequest, type PreparedRequest } from '../support/prepare-request.ts'
import { createWorkspaceReader } from '../support/read-workspace.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const outcomes: Record<string, ErrorFactory | undefined> = {
  ok: undefined,
  role: errors.roleInsufficient,
  high: errors.roleTooHigh,
  out: errors.notAMember,
  none: errors.notFound,
  key: errors.apiKeyRequired,
  other: errors.inviteEmailMismatch,
  author: errors.notTheAuthor,
}

type Caller = Role | 'stranger' | 'nobody'

const service = await startTestApp()
const { app, as, createPerson } = service
const shared = await createCompany(service)
const readWorkspace = await createWorkspaceReader(service)
const stranger = await createPerson({ name: 'Sally Stranger' })

const [heading = [], ...rows] = permissionTable
  .trim()
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => line.split(/[\s|]+/).filter((cell) => cell !== ''))
const callers = heading.slice(3) as Caller[]

async function actorOf(company: TestCompany, caller: Caller, target: string): Promise<TestPerson> {
  if (caller === 'nobody' || caller === 'stranger') return stranger
  return target === 'self' ? addPerson(service, company.workspace, caller) : company[caller]
}

/** The request of a row of the table. */
function prepare(
  company: TestCompany,
  operation: Operation,
  actor: TestPerson,
  target: string,
  to: string,
): Promise<PreparedRequest> {
  return prepareRequest(service, operation, {
    company,
    actor,
    ...(target !== '-' && { target: target as Role | 'self' }),
    ...(to !== '-' && { values: { role: to } }),
  })
}

const operationIds = createDescriptionReader(app.swagger()).operations.map(({ operationId }) => operationId)

const inWorkspaces = Object.entries(operations).filter(([, { isOutside }]) => !isOutside)

/** What src/access/permissions.ts calls an operation that some may do only to themselves, or only to others. */
const actionNames: Record<string, string> = {
  'members.remove self': 'members.leave',
  'teams.removeMember self': 'teams.leave',
  'agentRequests.cancel others': 'agentRequests.cancelOthers',
  'comments.delete others': 'comments.deleteOthers',
  'attachments.delete others': 'attachments.deleteOthers',
  'evidence.withdraw others': 'evidence.withdrawOthers',
  'seeds.delete others': 'seeds.deleteOthers',
  'seeds.restore others': 'seeds.deleteOthers',
  'seeds.undoImport others': 'seeds.undoImportOthers',
  'seeds.merge others': 'seeds.mergeOthers',
  'seeds.unmerge others': 'seeds.mergeOthers',
  'integrations.revoke others': 'integrations.revokeAny',
  // The table is of shared ones.
  'savedFilters.create others': 'savedFilters.share',
  'savedFilters.update self': 'savedFilters.share',
  'savedFilters.update others': 'savedFilters.changeShared',
  'savedFilters.delete self': 'savedFilters.share',
  'savedFilters.delete others': 'savedFilters.changeShared',
}
/** The operations in the table of what concerns no role, which keys that act with a role below owner may not ask for. */
const ofAccount = /^(me\.|invites\.(accept|decline)$)/

/** What a key of an owner that acts with a lower role gets, which is what somebody of that role does but for these. */
function outcomeBelowOwner(id: string, target: string, cell: string): ErrorFactory | undefined {
  if (ofAccount.test(id)) return errors.keyRestricted
  // It does not change what its owner is.
  const isOfOwner = id.startsWith('members.') && target === 'self'
  return isOfOwner && cell === 'ok' ? errors.roleTooHigh : outcomes[cell]
}

const actionOf = (id: string, target: string) =>
  actionNames[`${id} ${target === 'self' ? 'self' : 'others'}`] ?? id

/** Whether an operation asks for the token of an invite, and not for a role. */
const isForInvited = (id = '') => findOperation(id).request.includes('{token}')

describe('the permission table', () => {
  it('has a cell for every caller', () => {
    expect(callers).toEqual(['owner', 'admin', 'member', 'viewer', 'stranger', 'nobody'])
    for (const row of rows) expect(row).toHaveLength(heading.length)
  })

  it('matches the permissions in src/access/permissions.ts', () => {
    const allowed: Record<string, Set<Role>> = {
      // No operations: they decide what `integrations.list` shows, and what the website does.
      'integrations.listAll': new Set(['owner', 'admin']),
      'integrations.grant': new Set(roles),
      'integrations.updateScopes': new Set(roles),
      'integrations.prolong': new Set(roles),
      'integrations.allowAgain': new Set(roles),
      'serviceAccounts.prolongClient': new Set(['owner', 'admin']),
      'integrations.updateAsking': new Set(roles),
      // Of what nobody else sees: savedFilters.test.ts.
      'savedFilters.create': new Set(roles),
      'savedFilters.update': new Set(roles),
      'savedFilters.delete': new Set(roles),
    }
    for (const [id = '', target = '', , ...cells] of rows.filter(([name]) => !isForInvited(name))) {
      for (const [i, role] of roles.entries()) {
        const isAllowed = ['ok', 'high'].includes(cells[i] ?? '')
        if (isAllowed) (allowed[actionOf(id, target)] ??= new Set()).add(role)
      }
    }
    // tests/contract/operations.test.ts names the operations that are missing.
    const isMissing = (action: string) => operationIds.includes(action) && !(action in operations)
    const ofCode = Object.entries(permissions)
      .filter(([action]) => !isMissing(action))
      .map(([action, some]) => [action, new Set<Role>(some)])
    expect(Object.fromEntries(ofCode)).toEqual(allowed)
  })
})

describe.each(rows.map(([id = '', target = '', to = '', ...cells]) => ({ id, target, to, cells })))(
  '$id, target: $target, role: $to',
  ({ id, target, to, cells }) => {
    it(`returns to keys of an owner that act as admin, member or viewer what people of these roles get: ${cells.slice(1, 4).join(' ')}`, async () => {
      const operation = findOperation(id)
      const company = await createCompany(service)
      const actor = await actorOf(company, 'owner', target)
      const prepareOne = async () => (await prepare(company, operation, actor, target, to)).request
      const asked = roles
        .map((maxRole, i) => ({ maxRole, expected: outcomeBelowOwner(id, target, cells[i] ?? '') }))
        .filter(({ maxRole }) => maxRole !== 'owner')
      // What is refused changes nothing, so that one request serves all.
      const request = await prepareOne()
      const before = await readWorkspace(company.workspace)
      for (const { maxRole, expected } of asked)
        if (expected) expectError(await as(await createKey(service, actor, { maxRole }), request), expected)
      expect(await readWorkspace(company.workspace)).toBe(before)
      for (const [i, { maxRole }] of asked.filter(({ expected }) => !expected).entries()) {
        const key = await createKey(service, actor, { maxRole })
        const answer = await as(key, i === 0 ? request : await prepareOne())
        expect(answer.statusCode, `${maxRole}: ${answer.body}`).toBe(200)
      }
    })

    it(`returns what the permission table says to owner, admin, member, viewer, stranger and nobody: ${cells.join(' ')}`, async () => {
      const operation = findOperation(id)
      // One for each row: reading one that grew with all of them took a third of the time.
      const ofRow = await createCompany(service)
      const readState = (company: TestCompany) => readWorkspace(company.workspace)
      const prepareFor = async (company: TestCompany, caller: Caller) => {
        const actor = await actorOf(company, caller, target)
        return prepare(company, operation, actor, target, to)
      }
      const asked = callers.map((caller, i) => ({ caller, expected: outcomes[cells[i] ?? ''] }))

      // What is refused changes nothing, so that one request serves all for whom the same would be made.
      const { given, request } = operation
      const isForCaller = target === 'self' || given !== undefined || request.includes('{agentRequestId}')
      const refused = []
      let made: Awaited<ReturnType<typeof prepareFor>> | undefined
      for (const { caller, expected } of asked.filter((one) => one.expected)) {
        if (isForCaller || !made) made = await prepareFor(ofRow, caller)
        const actor = isForCaller ? made.actor : await actorOf(ofRow, caller, target)
        refused.push({ caller, expected, actor, request: made.request })
      }
      const untouched = await readState(ofRow)
      for (const { caller, expected, actor, request } of refused) {
        const answer = await (caller === 'nobody' ? app.inject(request) : as(actor, request))
        if (expected) expectError(answer, expected)
      }
      expect(await readState(ofRow)).toBe(untouched)

      for (const { caller, expected } of asked) {
        if (expected) continue
        const company = operation.endsCompany ? await createCompany(service) : ofRow
        const { actor, request } = await prepareFor(company, caller)
        const before = await readState(company)
        const answer = await as(actor, request)
        expect(answer.statusCode, `${caller}: ${answer.body}`).toBe(200)
        // To give somebody the role that they have is no change.
        const isNoChange = id === 'members.updateRole' && to === (target === 'self' ? caller : target)
        // An export is an event.
        const isStill = (request.method === 'GET' && id !== 'workspaces.export') || isNoChange
        expect((await readState(company)) === before, caller).toBe(isStill)
      }
    })
  },
)

describe('an unknown slug', () => {
  it.each(inWorkspaces.filter(([, { request }]) => request.includes('{slug}')))(
    'returns 404 for %s, and changes nothing',
    async (_id, operation) => {
      const { owner, workspace } = shared
      const { values } = await prepare(shared, operation, owner, 'viewer', 'viewer')
      const request = await buildRequest(operation, { ...values, slug: randomSlug() })
      const before = await readWorkspace(workspace)
      expectError(await as(owner, request), errors.notFound)
      expect(await readWorkspace(workspace)).toBe(before)
    },
  )
})
