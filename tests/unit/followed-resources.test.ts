import { expect, it, vi } from 'vitest'
import { createFollowedResources, type FollowedChanges } from '../../src/agents/mcp/followed-resources.ts'
import type { AgentPrincipal } from '../../src/domain/agent.ts'
import { untilTrue } from '../support/eventually.ts'

const agentOf = (id: string): AgentPrincipal => ({
  grant: {
    id,
    clientId: 'client',
    clientName: 'Client',
    scopes: [],
    consentVersion: 1,
    membersMayAsk: false,
    expiresAt: new Date(8e15),
  },
  user: { id: 'user' } as AgentPrincipal['user'],
  workspace: { id: 'workspace', name: 'Acme', slug: 'acme' },
  role: 'member',
})

/** A seed with a change at each position, in a workspace whose newest position is `last`. */
function createWorld() {
  const world = { last: 1 }
  const reads: (() => void)[] = []
  let poll: (last: number) => void = () => undefined
  const followed = createFollowedResources({
    followPositions: (_workspaceId, onPosition) => {
      poll = onPosition
      return () => undefined
    },
    readChanges: ({ after }) => {
      const changes: FollowedChanges = {
        last: world.last,
        seeds: new Map(after === null ? [] : [['seed', world.last]]),
        inboxes: new Map(),
      }
      return Promise.resolve(changes)
    },
    // Waits until it is released, so that others begin to follow meanwhile.
    readAgents: (ids) => new Promise((resolve) => reads.push(() => resolve(ids.map(agentOf)))),
    targetOf: () => ({ kind: 'seed', seedId: 'seed' }),
    onReadError: (error) => {
      throw error
    },
  })
  return { world, reads, poll: () => poll(world.last), followed }
}

it('who begins to follow while changes are read is told of those that come before they are', async () => {
  const { world, reads, poll, followed } = createWorld()
  const [first, second] = [vi.fn(), vi.fn()]
  await followed.follow(agentOf('first'), ['uri'], first)
  world.last = 2
  poll()
  await followed.follow(agentOf('second'), ['uri'], second)
  world.last = 3
  reads.shift()?.()
  await untilTrue(() => first.mock.calls.length === 1)
  expect(second).not.toHaveBeenCalled()
  // Nothing else happens.
  poll()
  reads.shift()?.()
  await untilTrue(() => second.mock.calls.length === 1)
  poll()
  expect(reads).toEqual([])
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1])
})
