import type { AgentCall } from '../../agents/grants/grants.service.ts'

/** Calls of an agent with less than half an hour between them, the oldest first. */
export type AgentRun = readonly AgentCall[]

const pauseMs = 30 * 60 * 1000

/** Parts calls, the newest first, into runs, the newest first. */
export function toRuns(calls: readonly AgentCall[]): AgentRun[] {
  const runs: AgentCall[][] = []
  for (const call of calls) {
    const run = runs.at(-1)
    const [later] = run ?? []
    if (run && later && Date.parse(later.calledAt) - Date.parse(call.calledAt) < pauseMs) run.unshift(call)
    else runs.push([call])
  }
  return runs
}
