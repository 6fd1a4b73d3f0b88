import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { eventTypeNames } from '../../src/website/views/events.views.ts'
import { operations } from '../support/operations.ts'

/** The types that no operation of the catalogue appends as it is described there, each with a test that has it appended. */
const elsewhere: Record<string, string> = {
  'api_key.stopped': 'api/members.remove.test.ts',
  'seed.criterion_changed': 'api/seeds.criteria.test.ts',
  'agent_request.created': 'agents/requests.test.ts',
  'agent_request.answered': 'agents/requests.test.ts',
  'agent_request.declined': 'agents/requests.test.ts',
  'agent_request.expired': 'agents/requests.test.ts',
  'member.left': 'api/members.remove.test.ts',
  'member.suspended': 'accounts/suspended.test.ts',
  'member.unsuspended': 'accounts/suspended.test.ts',
  'person.erased': 'accounts/delete-user.test.ts',
  'invite.accepted': 'api/invites.accept.test.ts',
  'invite.undeliverable': 'api/mail-outcomes.test.ts',
  'integration.granted': 'agents/oauth.test.ts',
  'integration.changed': 'agents/scopes.test.ts',
  'integration.used': 'agents/tools.test.ts',
  'service_account.client_prolonged': 'agents/service-clients.test.ts',
  'service_account.keys_known': 'api/serviceAccounts.test.ts',
  'webhook.disabled': 'api/webhook-deliveries.test.ts',
  'workspace.created': 'api/workspaces.create.test.ts',
  'workspace.restored': 'api/restored-workspaces.test.ts',
  'workspace.exported': 'api/workspaces.export.test.ts',
}

const appended = new Set(
  Object.values(operations).flatMap(({ event }) => (event ? [event.type, ...(event.also ?? [])] : [])),
)

describe.each(Object.keys(eventTypeNames))('%s', (type) => {
  it('is appended by an operation of the catalogue, or in a test that is named', async () => {
    const isInCatalogue = appended.has(type)
    expect(
      type in elsewhere,
      'add it to its operation in tests/support/operations.ts, or name its test',
    ).toBe(!isInCatalogue)
    if (isInCatalogue) return
    expect(await readFile(new URL(`../${elsewhere[type]}`, import.meta.url), 'utf8')).toContain(type)
  })
})
