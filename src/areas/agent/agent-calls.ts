import type { Database } from '../../db/client.ts'
import { createWriteBehind } from '../../db/write-behind.ts'
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

/** Counts calls by agent, tool and day, and writes the counts in batches outside of requests. */
export function createAgentCalls({ db, clock, onRecordError }: AgentCallsOptions): AgentCalls {
  const counts = createWriteBehind<CallCount>({
    keyOf: ({ agent, day, tool }) => `${agent.grant.id} ${day} ${tool}`,
    merge: sum,
    write: (batch) => recordCalls(db, batch),
    onError: onRecordError,
  })

  const calls: AgentCalls = {
    async count(agent, { name, did }, call) {
      const now = clock.now()
      const day = now.toISOString().slice(0, 10)
      const counted = { agent, day, tool: name, did, calls: 1, lastCalledAt: now }
      try {
        const answer = await call()
        counts.add({ ...counted, failures: 0, lastFailure: null, lastFailureAt: null })
        return answer
      } catch (error) {
        const lastFailure = error instanceof ApiError ? error.code : 'internal'
        counts.add({ ...counted, failures: 1, lastFailure, lastFailureAt: now })
        throw error
      }
    },
    counted: (tool) => ({
      ...tool,
      call: (agent, input) => calls.count(agent, tool, () => tool.call(agent, input)),
    }),
    close: counts.close,
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
