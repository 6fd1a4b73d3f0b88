import { insertServiceEvent } from '../../access/event-log.repository.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { endRequest, lockExpired } from './agentRequests.repository.ts'
import { toEventData } from './asking.ts'

/** Ends the requests that were not answered in time, with an event for each. */
export async function expireRequests({ db, clock }: { db: Database; clock: Clock }): Promise<void> {
  for (;;) {
    // eslint-disable-next-line no-restricted-syntax -- the clock has no principal
    const count = await db.transaction(async (tx) => {
      const now = clock.now()
      const expired = await lockExpired(tx, now)
      for (const request of expired) {
        await endRequest(tx, request, { state: 'expired' })
        const { workspaceId } = request
        const data = toEventData(request)
        await insertServiceEvent(tx, { workspaceId, type: 'agent_request.expired', data, at: now })
      }
      return expired.length
    })
    if (count === 0) return
  }
}
