import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createToolSubscriptions } from '../../src/agents/mcp/tool-subscriptions.ts'
import type { AgentPrincipal } from '../../src/domain/agent.ts'
import { createPersonStreams } from '../../src/concurrency/person-streams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const agentWith = (...scopes: string[]): AgentPrincipal => ({
  grant: {
    ...{ id: 'grant', clientId: 'client', clientName: 'Robbie', scopes },
    ...{ consentVersion: 1, membersMayAsk: false, expiresAt: new Date() },
  },
  user: { id: 'user', name: 'Ada', email: 'ada@example.com', emailVerifiedAt: null, imageKey: null },
  workspace: { id: 'workspace', name: 'Acme', slug: 'acme' },
  role: 'member',
})

/** Subscriptions whose reads answer what `reads` says, one after the other. */
function createTester(reads: (AgentPrincipal | undefined | Error)[]) {
  const [asked, outages, kinds]: [string[][], unknown[], string[]] = [[], [], []]
  const followed = new Set<{ uris: readonly string[]; onChange: (uri: string) => void }>()
  const subscriptions = createToolSubscriptions({
    async readAgents(grantIds) {
      asked.push([...grantIds])
      const next = reads.shift()
      if (next instanceof Error) throw next
      return [next]
    },
    describe: ({ grant, onlyReads }) => `${grant.scopes.join(' ')} ${onlyReads === true}`,
    onReadError: (error) => outages.push(error),
    personStreams: createPersonStreams(),
    resources: {
      async follow(_agent, uris, onChange) {
        const following = { uris, onChange }
        followed.add(following)
        // Something changes before the stream is open.
        onChange(String(uris[0]))
        return () => void followed.delete(following)
      },
    },
  })
  /** Opens a stream as the SDK does. Returns the signal that ends it. */
  async function open(agent: AgentPrincipal, uris: string[] = []): Promise<AbortSignal> {
    let given: AbortSignal | undefined
    await subscriptions.run(agent, uris, async (signal) => {
      given = signal
      signal.addEventListener(
        'abort',
        subscriptions.bus.subscribe((event) => kinds.push(event.kind)),
      )
      return new Response()
    })
    if (!given) throw new Error('the stream was refused')
    return given
  }
  return { asked, followed, kinds, open, outages, subscriptions }
}

const poll = () => vi.advanceTimersByTimeAsync(2_000)
const told = ['tools_list_changed', 'prompts_list_changed']

it('tells of a change once, and goes on after an outage, which is reported once', async () => {
  const [before, after] = [agentWith('a'), agentWith('a', 'b')]
  const { kinds, open, outages } = createTester([before, new Error('1'), new Error('2'), after, after])
  await open(before)
  for (const count of [0, 0, 0, 2, 2]) {
    await poll()
    expect(kinds).toHaveLength(count)
  }
  expect(kinds).toEqual(told)
  expect(outages).toHaveLength(1)
})

it('keeps in mind that the token of a stream narrows the scopes of the grant', async () => {
  const { kinds, open } = createTester([agentWith('a', 'b'), agentWith('a', 'b', 'c'), agentWith('b', 'c')])
  await open({ ...agentWith('a'), tokenScopes: ['a', 'd'] })
  for (const expected of [[], [], told]) {
    await poll()
    expect(kinds).toEqual(expected)
  }
})

it('keeps in mind that a stream asked for reading tools only', async () => {
  const agent = agentWith('a')
  const { kinds, open } = createTester([agent])
  await open({ ...agent, onlyReads: true })
  await poll()
  expect(kinds).toEqual([])
})

it('asks once for all streams of a grant, and for nothing once they have ended', async () => {
  const agent = agentWith('a')
  const { asked, open, subscriptions } = createTester([agent, agent, undefined])
  const signals = [await open(agent), await open(agent)]
  await poll()
  expect(asked).toEqual([['grant']])
  subscriptions.close()
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
  await poll()
  await poll()
  expect(asked).toHaveLength(1)
})

it('forgets a request that opened no stream', async () => {
  const agent = agentWith('a')
  const { asked, subscriptions } = createTester([])
  for (let i = 0; i < 20; i++)
    expect(await subscriptions.run(agent, [], async () => new Response())).toBeInstanceOf(Response)
  await poll()
  expect(asked).toEqual([])
})

it('tells of followed resources, also of what changed before the stream was open, until the stream ends', async () => {
  const agent = agentWith('a')
  const { followed, kinds, open, subscriptions } = createTester([agent])
  const signal = await open(agent, ['workspace://acme/inbox'])
  expect(kinds).toEqual(['resource_updated'])
  const [{ onChange } = {}] = followed
  onChange?.('workspace://acme/inbox')
  expect(kinds).toEqual(['resource_updated', 'resource_updated'])
  subscriptions.close()
  expect(signal.aborted).toBe(true)
  expect(followed.size).toBe(0)
})
