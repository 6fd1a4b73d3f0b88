import { insertServiceEvent } from '../../access/event-log.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import {
  endRequest,
  lockExpired,
  lockUntold,
  setTold,
  type LockedRequest,
} from './agentRequests.repository.ts'
import { tellAsker, toEventData } from './asking.ts'

interface AgentRequestsJobsOptions {
  db: Database
  clock: Clock
}

/** Ends the requests that were not answered in time, with an event for each. Who asked is told. */
export async function expireRequests({ db, clock }: AgentRequestsJobsOptions): Promise<void> {
  await endSome(
    { db, clock },
    {
      state: 'expired',
      lock: lockExpired,
      end: (tx, request) => endRequest(tx, request, { state: 'expired' }),
    },
  )
}

/** Appends the events of the requests that triggers have cancelled, and tells who asked. */
export async function tellCancelled({ db, clock }: AgentRequestsJobsOptions): Promise<void> {
  await endSome({ db, clock }, { state: 'cancelled', lock: lockUntold, end: setTold })
}

interface Ending {
  state: 'expired' | 'cancelled'
  lock: (tx: Executor, now: Date) => Promise<LockedRequest[]>
  end: (tx: Executor, request: LockedRequest) => Promise<void>
}

async function endSome({ db, clock }: AgentRequestsJobsOptions, { state, lock, end }: Ending): Promise<void> {
  for (;;) {
    // eslint-disable-next-line no-restricted-syntax -- the clock has no principal
    const count = await db.transaction(async (tx) => {
      const now = clock.now()
      const requests = await lock(tx, now)
      for (const request of requests) {
        await end(tx, request)
        await tellAsker(tx, request, { state, actor: null, now })
        const { workspaceId } = request
        const event = { type: `agent_request.${state}`, data: toEventData(request) } as const
        await insertServiceEvent(tx, { workspaceId, ...event, at: now })
      }
      return requests.length
    })
    if (count === 0) return
  }
}
