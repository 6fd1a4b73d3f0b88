import { revokeAllGrants } from '../agents/oauth/records/grant-records.repository.ts'
import { revokeAllKeys } from '../areas/apiKeys/apiKeys.repository.ts'
import { settleAllUnmailed } from '../areas/notifications/recipients.repository.ts'
import { deletePendingDeliveries } from '../areas/webhooks/deliveries.repository.ts'
import { deleteAllAccountTokens } from '../accounts/sign-in/credentials.repository.ts'
import { deleteAllPendingSignIns } from '../accounts/second-factor/second-factor.repository.ts'
import { deleteAllSessions } from '../accounts/sessions/sessions.repository.ts'
import type { Database } from '../db/client.ts'
import { prepareErasure } from '../db/sql/erasures.ts'
import type { Clock } from '../kernel/clock.ts'
import { dropMailJobs } from '../platform/jobs/job-operations.repository.ts'

/** How much was dropped and ended. */
export interface Quarantined {
  mails: number
  deliveries: number
  sessions: number
  links: number
  grants: number
  keys: number
}

/**
 * Makes a copy of an installation harmless: drops the mails and deliveries that wait, and ends what lets people, programs and
 * agents of the original in. It keeps all other data and appends no events, which would be sent to webhooks later.
 */
export function quarantine(db: Database, clock: Clock): Promise<Quarantined> {
  return db.transaction(async (tx) => {
    await prepareErasure(tx)
    const now = clock.now()
    const mails = await dropMailJobs(tx)
    await settleAllUnmailed(tx, now)
    const deliveries = await deletePendingDeliveries(tx)
    await deleteAllPendingSignIns(tx)
    return {
      mails,
      deliveries,
      sessions: await deleteAllSessions(tx),
      links: await deleteAllAccountTokens(tx),
      grants: await revokeAllGrants(tx, now),
      keys: await revokeAllKeys(tx, now),
    }
  })
}
