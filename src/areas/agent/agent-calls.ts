import type { Database } from '../../db/client.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { recordCalls, type CallCount } from './agent-calls.repository.ts'
import type { AgentTool } from './agent-tool.ts'

/** Counts the calls of agents. */
export interface AgentCalls {
  /** The same tool, whose calls are counted. */
  counted(tool: AgentTool): AgentTool
  /** Runs a call of a tool, and counts it. */
  count<T>(agent: AgentPrincipal, tool: Pick<AgentTool, 'name' | 'did'>, call: () => Promise<T>): Promise<T>
  /** Writes what was counted, and stops. */
  close(): Promise<void>
}

export interface AgentCallsOptions {
  db: Database
  clock: Clock
  /** Called when counts could not be written. They are retried. */
  onRecordError: (error: unknown) => void
}

const flushIntervalMs = 1_000

/** Counts calls by agent, tool and day, and writes the counts in batches outside of requests. */
export function createAgentCalls({ db, clock, onRecordError }: AgentCallsOptions): AgentCalls {
  let waiting = new Map<string, CallCount>()

  function add(count: CallCount): void {
    const key = `${count.agent.grant.id} ${count.day} ${count.tool}`
    const before = waiting.get(key)
    waiting.set(key, before ? sum(before, count) : count)
  }

  async function flush(): Promise<void> {
    if (waiting.size === 0) return
    const counts = [...waiting.values()]
    waiting = new Map()
    try {
      await recordCalls(db, counts)
    } catch (error) {
      onRecordError(error)
      for (const count of counts) add(count)
    }
  }

  let flushing = Promise.resolve()
  const timer = setInterval(() => {
    flushing = flushing.then(flush)
  }, flushIntervalMs).unref()

  const calls: AgentCalls = {
    async count(agent, { name, did }, call) {
      const now = clock.now()
      const day = now.toISOString().slice(0, 10)
      const counted = { agent, day, tool: name, did, calls: 1, lastCalledAt: now }
      try {
        const answer = await call()
        add({ ...counted, failures: 0, lastFailure: null, lastFailureAt: null })
        return answer
      } catch (error) {
        const lastFailure = error instanceof ApiError ? error.code : 'internal'
        add({ ...counted, failures: 1, lastFailure, lastFailureAt: now })
        throw error
      }
    },
    counted: (tool) => ({
      ...tool,
      call: (agent, input) => calls.count(agent, tool, () => tool.call(agent, input)),
    }),
    async close() {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
  return calls
}

/** The later of the two counts is the one whose agent and last failure are kept. */
function sum(one: CallCount, other: CallCount): CallCount {
  const [earlier, later] = one.lastCalledAt <= other.lastCalledAt ? [one, other] : [other, one]
  const { lastFailure, lastFailureAt } = later.lastFailureAt ? later : earlier
  return {
    ...later,
    calls: one.calls + other.calls,
    failures: one.failures + other.failures,
    lastFailure,
    lastFailureAt,
  }
}
