import type { Database } from '../../db/client.ts'
import { createWriteBehind } from '../../concurrency/write-behind.ts'
import type { AgentPrincipal } from '../../domain/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { logCalls, recordCalls, type CallCount, type LoggedCall } from './agent-calls.repository.ts'
import type { AgentTool } from '../tools/agent-tool.ts'

/** Counts the calls of agents, and logs each of them without its arguments. */
export interface AgentCalls {
  /** The same tool, whose calls are counted and logged. */
  counted(tool: AgentTool): AgentTool
  /** Runs a call of a tool, counts it and logs it. */
  count<T extends string>(
    agent: AgentPrincipal,
    tool: Pick<AgentTool, 'name' | 'did' | 'seedOf'>,
    input: object | null | undefined,
    call: () => Promise<T>,
  ): Promise<T>
  /** Writes what was counted and logged, and stops. */
  close(): Promise<void>
}

export interface AgentCallsOptions {
  db: Database
  clock: Clock
  /** Called when calls could not be written. They are retried. */
  onRecordError: (error: unknown) => void
}

// Of all agents within the seconds that writing may take; about 3 MB.
const loggedWaitingMax = 10_000

/** Counts calls by agent, tool and day, and writes counts and calls in batches outside of requests. */
export function createAgentCalls({ db, clock, onRecordError }: AgentCallsOptions): AgentCalls {
  const counts = createWriteBehind<CallCount>({
    keyOf: ({ agent, day, tool }) => `${agent.grant.id} ${day} ${tool}`,
    merge: sum,
    write: (batch) => recordCalls(db, batch),
    onError: onRecordError,
  })
  const log = createWriteBehind<LoggedCall>({
    keyOf: ({ id }) => id,
    merge: (_before, call) => call,
    write: (batch) => logCalls(db, batch),
    waitingMax: loggedWaitingMax,
    onError: onRecordError,
  })

  const calls: AgentCalls = {
    async count(agent, tool, input, call) {
      const { name, did } = tool
      const now = clock.now()
      const day = now.toISOString().slice(0, 10)
      const counted = { agent, day, tool: name, did, calls: 1, lastCalledAt: now }
      const logged = { id: createId(), grantId: agent.grant.id, calledAt: now, tool: name }
      try {
        const answer = await call()
        counts.add({ ...counted, failures: 0, lastFailure: null, lastFailureAt: null })
        log.add({ ...logged, ...subjectOf(tool, input, answer), code: 'ok' })
        return answer
      } catch (error) {
        const lastFailure = error instanceof ApiError ? error.code : 'internal'
        counts.add({ ...counted, failures: 1, lastFailure, lastFailureAt: now })
        log.add({ ...logged, ...subjectOf(tool, input), code: lastFailure })
        throw error
      }
    },
    counted: (tool) => ({
      ...tool,
      call: (agent, input) => calls.count(agent, tool, input, () => tool.call(agent, input)),
    }),
    async close() {
      await Promise.all([counts.close(), log.close()])
    },
  }
  return calls
}

/** What a call was about, as the agent named it. */
function subjectOf(
  { seedOf }: Pick<AgentTool, 'seedOf'>,
  input: object | null | undefined,
  answer?: string,
): Pick<LoggedCall, 'seedId' | 'evidenceId'> {
  const given: { seedId?: unknown; evidenceId?: unknown } = input ?? {}
  const seedId = seedOf ? seedOf(given, answer as Parameters<typeof seedOf>[1]) : given.seedId
  return { seedId: idOrNull(seedId), evidenceId: idOrNull(given.evidenceId) }
}

function idOrNull(value: unknown): string | null {
  return typeof value === 'string' && isId(value) ? value : null
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
