import { describe, expect, it } from 'vitest'
import { eventKinds, kindOf, type EventType } from '../../src/domain/events.ts'
import type { EventTargetType } from '../../src/domain/events/kind.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createDescriptionReader } from '../../scripts/description.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, get } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { findOperation, operations, type Operation } from '../support/operations.ts'
import { pathOf, prepareRequest } from '../support/prepare-request.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service

/** The operation that reads what an event is about; what the catalogue calls its id, and the field that has it. */
const readers: Record<
  EventTargetType,
  { operation: string; name: string; field: 'id' | 'userId' | 'workspaceId' }
> = {
  workspace: { operation: 'workspaces.get', name: 'workspaceId', field: 'workspaceId' },
  user: { operation: 'members.get', name: 'userId', field: 'userId' },
  invite: { operation: 'invites.getById', name: 'inviteId', field: 'id' },
  label: { operation: 'labels.get', name: 'labelId', field: 'id' },
  saved_filter: { operation: 'savedFilters.get', name: 'filterId', field: 'id' },
  team: { operation: 'teams.get', name: 'teamId', field: 'id' },
  seed: { operation: 'seeds.get', name: 'seedId', field: 'id' },
  evidence: { operation: 'evidence.get', name: 'evidenceId', field: 'id' },
  comment: { operation: 'comments.get', name: 'commentId', field: 'id' },
  integration: { operation: 'integrations.get', name: 'grantId', field: 'id' },
  webhook: { operation: 'webhooks.get', name: 'webhookId', field: 'id' },
}

/** The types of events after which their target no longer exists. */
const removals: readonly EventType[] = [
  ...([
    'workspace.deleted',
    'member.removed',
    'member.left',
    'team.deleted',
    'seed.deleted',
    'label.deleted',
    'saved_filter.deleted',
  ] as const),
  ...(['comment.deleted', 'integration.revoked', 'webhook.deleted', 'service_account.deleted'] as const),
]

const types = Object.keys(eventKinds) as EventType[]
const changes = Object.entries(operations).flatMap(([id, operation]) =>
  operation.event ? [[id, operation] as const] : [],
)

/** Reads what an event is about, by the id that the event has. */
function readTarget(reader: TestPerson, slug: string, event: Record<string, unknown>) {
  const { operation, name } = readers[event.target_type as EventTargetType]
  const path = pathOf(findOperation(operation), { slug, [name]: String(event.target_id) })
  return as(reader, get(path))
}

async function expectTarget(reader: TestPerson, slug: string, event: Record<string, unknown>) {
  const answer = await readTarget(reader, slug, event)
  expect(answer.statusCode, answer.body).toBe(200)
  const { field } = readers[event.target_type as EventTargetType]
  expect(answer.json<Record<string, unknown>>()[field]).toBe(event.target_id)
}

describe('what events are about', () => {
  it('has an operation that reads it, for each type of target', () => {
    expect(Object.keys(readers).toSorted()).toEqual(
      [...new Set(types.map((type) => kindOf(type).target[0]))].toSorted(),
    )
    const ids = createDescriptionReader(service.app.swagger()).operations.map(
      ({ operationId }) => operationId,
    )
    expect(ids).toEqual(expect.arrayContaining(Object.values(readers).map(({ operation }) => operation)))
  })

  it('is each type of target after a change of the API, but integrations, which consent makes', () => {
    const found = changes.map(([, { event }]) => String(event?.target[0]))
    expect([...new Set([...found, 'integration'])].toSorted()).toEqual(Object.keys(readers).toSorted())
  })

  it.each(changes)('is read by its id after %s, or no longer exists', async (_id, operation: Operation) => {
    const company = await createCompany(service)
    const { actor, request } = await prepareRequest(service, operation, { company })
    const answer = await as(actor, request)
    expect(answer.statusCode, answer.body).toBe(200)
    const { slug } = company.workspace
    const event = (await findEvents(service, company.workspace)).at(-1) ?? {}
    if (removals.includes(event.type as EventType))
      expectError(await readTarget(company.owner, slug, event), errors.notFound)
    else await expectTarget(company.owner, slug, event)
  })

  it('is read by its id after an agent was let in', async () => {
    const company = await createCompany(service)
    const { grantId } = await letAgentIn(service, company.workspace, company.member)
    const events = await findEvents(service, company.workspace)
    const granted = events.find(({ type }) => type === 'integration.granted')
    expect(granted).toMatchObject({ target_type: 'integration', target_id: grantId })
    await expectTarget(company.member, company.workspace.slug, granted ?? {})
  })
})
