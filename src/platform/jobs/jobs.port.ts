import type { Executor } from '../../db/client.ts'
import type { AccountTokenPurpose } from '../../kernel/accounts.ts'

/** The work that is done after a request, by name, with what it needs to know. Nothing in it is secret. */
export interface Jobs {
  send_invite: { inviteId: string }
  send_role_changed: { workspaceId: string; userId: string; role: string; actorName: string }
  send_invite_accepted: { inviteId: string; memberName: string }
  /** By address, not by person: leaving the job is the same whether anybody has the address. */
  send_account_mail: { purpose: AccountTokenPurpose; email: string }
  /** Jobs of an earlier release do not tell whether access was revoked: it was not. */
  send_password_changed: { userId: string; isAccessRevoked?: boolean }
  send_api_keys_created: { userId: string }
  /** What the browser called itself, and when it signed in. */
  send_signed_in: { userId: string; userAgent: string; at: string }
  /** Deletes pictures that nothing shows any more. */
  collect_pictures: Record<string, never>
}

export type JobName = keyof Jobs

export interface JobOptions {
  /** Of the jobs with one key that wait, only the last one is done, when the first one was to be. */
  key?: string
  delaySeconds?: number
}

/** Where services leave work. */
export interface JobQueue {
  /**
   * Leaves a job. Give it the transaction of the change that it follows from: the job is there exactly when the change
   * is, and is run at least once, again and again until it succeeds.
   */
  enqueue<Name extends JobName>(
    transaction: Executor,
    name: Name,
    payload: Jobs[Name],
    options?: JobOptions,
  ): Promise<void>
}

/** How each job is done. `id` is the same in every attempt. */
export type JobHandlers = {
  [Name in JobName]: (payload: Jobs[Name], job: { id: string }) => Promise<void>
}
