import { lt, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { agentGrantAddresses, agentGrants } from '../../../db/schema/agent-grants.ts'

/** That tokens of a grant were fetched from an address. */
export interface Fetched {
  grantId: string
  address: string
  at: Date
}

/** The most addresses that are kept of each grant. */
const addressesMax = 20

/** Records where tokens were fetched, each pair of grant and address once. Grants that were deleted are left out. */
export async function recordGrantAddresses(executor: Executor, fetched: readonly Fetched[]): Promise<void> {
  const values = JSON.stringify(fetched.map(({ grantId, ...rest }) => ({ grant_id: grantId, ...rest })))
  // Sorted, so that two replicas do not wait for each other.
  await executor.execute(sql`
    insert into ${agentGrantAddresses} as kept (grant_id, address, first_seen_at, last_seen_at)
    select fetched.grant_id, fetched.address, fetched.at, fetched.at
    from jsonb_to_recordset(${values}::jsonb) as fetched (grant_id uuid, address text, at timestamptz)
    join ${agentGrants} on ${agentGrants.id} = fetched.grant_id
    order by fetched.grant_id, fetched.address
    on conflict (grant_id, address)
      do update set last_seen_at = greatest(kept.last_seen_at, excluded.last_seen_at)`)
}

/** Deletes addresses from which nothing was fetched since a time, and of each grant all but the latest. */
export async function deleteOldGrantAddresses(executor: Executor, before: Date): Promise<void> {
  await executor.delete(agentGrantAddresses).where(lt(agentGrantAddresses.lastSeenAt, before))
  await executor.execute(sql`
    delete from ${agentGrantAddresses} using (
      select grant_id, address,
        row_number() over (partition by grant_id order by last_seen_at desc, address) as row
      from ${agentGrantAddresses}
    ) as ordered
    where ordered.row > ${addressesMax}
      and ${agentGrantAddresses.grantId} = ordered.grant_id and ${agentGrantAddresses.address} = ordered.address`)
}
