import { lt, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../db/client.ts'
import { agentCallLog, agentCalls, agentGrants } from '../../db/schema/agent-grants.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { insertEvent } from '../../access/event-log.repository.ts'
import { toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'

/** The calls of one tool by one agent on one day. */
export interface CallCount {
  agent: AgentPrincipal
  /** In UTC, as `YYYY-MM-DD`. */
  day: string
  tool: string
  /** What the agent did, as the end of a sentence: `read the validation kit`. */
  did: string
  calls: number
  failures: number
  lastCalledAt: Date
  /** The code of the last error. */
  lastFailure: string | null
  lastFailureAt: Date | null
}

/** Adds counts of calls, with an event for each that is the first of its agent, tool and day. */
export async function recordCalls(db: Database, counts: readonly CallCount[]): Promise<void> {
  await db.transaction(async (tx) => {
    const values = JSON.stringify(
      counts.map(({ agent, day, tool, calls, failures, lastCalledAt, lastFailure, lastFailureAt }) => ({
        grant_id: agent.grant.id,
        day,
        tool,
        calls,
        failures,
        last_called_at: lastCalledAt,
        last_failure: lastFailure,
        last_failure_at: lastFailureAt,
      })),
    )
    // Sorted, so that two replicas do not wait for each other. A grant may be deleted by now. Its workspace, which the event
    // refers to, is locked before it, as by those who delete a workspace.
    const { rows } = await tx.execute<{ grant_id: string; day: string; tool: string; is_first: boolean }>(sql`
      insert into ${agentCalls} as kept
      select call.* from jsonb_populate_recordset(null::${agentCalls}, ${values}::jsonb) as call
      join ${agentGrants} on ${agentGrants.id} = call.grant_id
      join ${workspaces} on ${workspaces.id} = ${agentGrants.workspaceId}
      order by call.grant_id, call.day, call.tool
      for key share of ${workspaces}
      on conflict (grant_id, day, tool) do update set
        calls = kept.calls + excluded.calls,
        failures = kept.failures + excluded.failures,
        last_called_at = greatest(kept.last_called_at, excluded.last_called_at),
        last_failure = coalesce(excluded.last_failure, kept.last_failure),
        last_failure_at = coalesce(excluded.last_failure_at, kept.last_failure_at)
      returning kept.grant_id, kept.day::text, kept.tool, (xmax = 0) as is_first`)
    const first = new Set(
      rows
        .filter((row) => 'is_first' in row && row.is_first)
        .map((row) => keyOf(row.grant_id, row.day, row.tool)),
    )
    for (const { agent, day, tool, did, lastCalledAt } of counts) {
      if (!first.has(keyOf(agent.grant.id, day, tool))) continue
      await insertEvent(tx, toPrincipal(agent), {
        workspaceId: agent.workspace.id,
        type: 'integration.used',
        data: {
          grantId: agent.grant.id,
          clientName: agent.grant.clientName,
          userId: agent.user.id,
          tool,
          did,
        },
        at: lastCalledAt,
      })
    }
  })
}

/** One call of an agent. */
export interface LoggedCall {
  id: string
  grantId: string
  calledAt: Date
  tool: string
  /** `ok`, or the code of the error. */
  code: string
  /** What the agent named, which may not exist. */
  seedId: string | null
  evidenceId: string | null
}

/** The most calls that are kept of each grant. */
const loggedCallsMax = 1000

/** Logs calls: of evidence, with its seed. Those of grants that were deleted meanwhile are left out. */
export async function logCalls(executor: Executor, calls: readonly LoggedCall[]): Promise<void> {
  const values = JSON.stringify(
    calls.map(({ id, grantId, calledAt, tool, code, seedId, evidenceId }) => ({
      id,
      grant_id: grantId,
      called_at: calledAt,
      tool,
      code,
      seed_id: seedId,
      evidence_id: evidenceId,
    })),
  )
  await executor.execute(sql`
    insert into ${agentCallLog} (grant_id, called_at, id, tool, seed_id, code)
    select call.grant_id, call.called_at, call.id, call.tool, coalesce(call.seed_id, ${evidence.seedId}), call.code
    from jsonb_to_recordset(${values}::jsonb)
      as call (grant_id uuid, called_at timestamptz, id uuid, tool text, seed_id uuid, evidence_id uuid, code text)
    join ${agentGrants} on ${agentGrants.id} = call.grant_id
    left join ${evidence} on ${evidence.id} = call.evidence_id
    on conflict do nothing`)
}

/** Deletes logged calls from before a time, and of each grant that was used since `usedSince` all but the newest. */
export async function deleteOldLoggedCalls(
  executor: Executor,
  { before, usedSince }: { before: Date; usedSince: Date },
): Promise<void> {
  await executor.delete(agentCallLog).where(lt(agentCallLog.calledAt, before))
  await executor.execute(sql`
    delete from ${agentCallLog} using ${agentGrants}, lateral (
      select newest.called_at, newest.id from ${agentCallLog} as newest
      where newest.grant_id = ${agentGrants.id}
      order by newest.called_at desc, newest.id desc offset ${loggedCallsMax} limit 1
    ) as excess
    where ${agentGrants.lastUsedAt} >= ${usedSince.toISOString()} and ${agentCallLog.grantId} = ${agentGrants.id}
      and (${agentCallLog.calledAt}, ${agentCallLog.id}) <= (excess.called_at, excess.id)`)
}

/** Deletes counts of calls before a day. */
export async function deleteOldCalls(executor: Executor, before: Date): Promise<void> {
  await executor.delete(agentCalls).where(lt(agentCalls.day, before.toISOString().slice(0, 10)))
}

function keyOf(...parts: string[]): string {
  return parts.join(' ')
}
