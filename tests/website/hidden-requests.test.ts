import { expect, it } from 'vitest'
import { AgentRequest } from '../../src/areas/agentRequests/agentRequests.schemas.ts'
import { exampleOf } from '../../src/kernel/schemas.ts'
import type { WorkspaceVisit } from '../../src/website/plugins/workspace-visit.ts'
import { renderRequest } from '../../src/website/seeds/thread/agent-requests.views.ts'

const visit = {
  base: '/w/acme',
  may: () => false,
  principal: { user: { id: '' } },
} as unknown as WorkspaceVisit
const textOf = (hidden: boolean) =>
  String(renderRequest(visit, { ...exampleOf(AgentRequest), hidden })).replaceAll(/(?:<[^>]*>|\s)+/g, ' ')

it('says of a request why the agent does not see it', () => {
  expect(textOf(true)).toMatch(/Claude does not see this, since Ada Lovelace is suspended/)
  expect(textOf(false)).toMatch(/Waiting for Claude/)
})
