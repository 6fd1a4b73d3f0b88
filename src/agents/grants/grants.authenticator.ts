import type { Database } from '../../db/client.ts'
import { createBatch } from '../../db/sql/batch.ts'
import { createUseRecorder } from '../../concurrency/use-recorder.ts'
import type { AgentPrincipal } from '../../domain/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { findLiveGrants, recordGrantUses } from './grant-look-ups.repository.ts'

export interface AgentAuthenticator {
  /**
   * Reads the agent of a grant from the database and records the use. Undefined when the grant is unknown, revoked or
   * expired, the person has left the workspace or is suspended, or the identity provider that asserted them is not trusted
   * any more.
   */
  authenticate: (grantId: string) => Promise<AgentPrincipal | undefined>
  /** Reads the agents of grants without a use, in the order of the ids. */
  read: (grantIds: readonly string[]) => Promise<(AgentPrincipal | undefined)[]>
  /** Writes the pending uses and stops. */
  close: () => Promise<void>
}

export interface AgentAuthenticatorOptions {
  db: Database
  clock: Clock
  /** Whether an identity provider, by its issuer, is trusted to give agents access. */
  isTrustedIssuer: (issuer: string) => boolean
  /** Called when writing the uses of grants failed. They are retried. */
  onRecordError: (error: unknown) => void
}

/**
 * Authenticates agents by their grant. Requests that arrive in one turn of the event loop share one round trip. Nothing is
 * cached between turns: a revoked grant is refused from the next request on.
 */
export function createAgentAuthenticator(options: AgentAuthenticatorOptions): AgentAuthenticator {
  const { db, clock, isTrustedIssuer, onRecordError } = options
  const uses = createUseRecorder({
    write: (batch, retry) => recordGrantUses(db, batch, retry),
    onRecordError,
  })
  const read = async (grantIds: readonly string[]) => {
    const found = await findLiveGrants(db, grantIds, clock.now())
    return found.map((agent) => (isTrusted(agent) ? agent : undefined))
  }
  const isTrusted = (agent: AgentPrincipal | undefined) =>
    agent?.grant.assertedIssuer == null || isTrustedIssuer(agent.grant.assertedIssuer)
  const findGrant = createBatch(read)
  return {
    async authenticate(grantId) {
      const agent = isId(grantId) ? await findGrant(grantId) : undefined
      if (agent) uses.record(grantId, clock.now())
      return agent
    },
    read,
    close: () => uses.close(),
  }
}
