import type { Database } from '../../db/client.ts'
import { createUseRecorder } from '../../db/use-recorder.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { findLiveGrant, recordGrantUses } from './agent.repository.ts'

export interface AgentAuthenticator {
  /**
   * The agent that a grant stands for, as the database has it after this call; its use is noted. Undefined for a grant
   * that is unknown, revoked or expired, or whose person has left the workspace.
   */
  authenticate: (grantId: string) => Promise<AgentPrincipal | undefined>
  /** Writes down the uses that are not written yet, and stops. */
  close: () => Promise<void>
}

export interface AgentAuthenticatorOptions {
  db: Database
  clock: Clock
  /** Told when the uses of grants could not be written; they are tried again. */
  onRecordError: (error: unknown) => void
}

/** Tells what a grant allows to whom. Nothing is remembered: a grant revoked before a request began lets nothing through. */
export function createAgentAuthenticator(options: AgentAuthenticatorOptions): AgentAuthenticator {
  const { db, clock, onRecordError } = options
  const uses = createUseRecorder({ write: (batch) => recordGrantUses(db, batch), onRecordError })
  return {
    async authenticate(grantId) {
      const now = clock.now()
      const agent = isId(grantId) ? await findLiveGrant(db, grantId, now) : undefined
      if (agent) uses.record(grantId, now)
      return agent
    },
    close: () => uses.close(),
  }
}
