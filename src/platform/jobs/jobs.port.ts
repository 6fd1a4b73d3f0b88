import type { Executor } from '../../db/client.ts'
import type { AccessCounts, AccountTokenPurpose, SecurityNotice } from '../../domain/accounts.ts'
import type { MemberField } from '../../domain/events/people.ts'
import type { ChangeSource } from '../../domain/principal.ts'

/** The names and payloads of jobs. A payload contains no secret. */
export interface Jobs {
  send_invite: { inviteId: string }
  send_role_changed: { workspaceId: string; userId: string; role: string; actorName: string }
  /** Tells an owner that the workspace was deleted. `actorName` is who deleted it. */
  send_workspace_deleted: { workspaceId: string; userId: string; actorName: string }
  /** Only the version before enqueues it. Remove it in the next one. */
  send_invite_accepted: { inviteId: string; memberName: string }
  /**
   * By address, not by user, so that enqueueing does not reveal whether the address has an account. With `isOfInvited`,
   * somebody signed up while only expected people may: an address without an account is told so.
   */
  send_account_mail: { purpose: AccountTokenPurpose; email: string; isOfInvited?: boolean }
  /** With what the change also revoked, if the person asked for it. */
  send_password_changed: { userId: string; revoked?: AccessCounts }
  send_api_keys_created: { userId: string }
  /** A key expires within a week. */
  send_api_key_expires: { apiKeyId: string }
  /** A rotated key works on, and the one that took its place was revoked. */
  send_rotated_key_works: { apiKeyId: string }
  /** The time of the sign-in, and its browser. */
  send_signed_in: { userId: string; userAgent: string; at: string }
  /** A change of how the person signs in. `detail` is the name of what was added or removed. */
  send_security_notice: { userId: string; notice: SecurityNotice; detail?: string }
  /** Tells a person that their account will be deleted, with the link that cancels it. */
  send_account_deletion: { userId: string }
  /** The link to a new email address. */
  send_email_change: { changeId: string }
  /** Tells the old address of a change that was asked for, or made. */
  send_email_change_notice: { userId: string; from: string; to: string; isDone: boolean }
  /** The access of an agent ended, because a code or token was used again. */
  send_access_ended: { grantId: string }
  /** The access of an agent ends soon, at a time (RFC 3339) that may have changed since. */
  send_access_ends: { grantId: string; expiresAt: string }
  /** Mails those who have not read by now that a comment mentions them. `noticeId` is the id of their notifications. */
  send_mentions: { commentId: string; noticeId: string }
  /** Mails a person what they have not read. */
  send_digest: { userId: string }
  /** Tells a person who accepted their invites, as far as they have not read it. */
  send_accepted_invites: { userId: string }
  /** Mails a person that seeds are to be decided soon, as far as they have not read it. */
  send_reminders: { userId: string }
  /** Tells an owner that the service disabled a webhook. */
  send_webhook_disabled: { webhookId: string; userId: string }
  /** Removes a deleted webhook with its deliveries. */
  remove_webhook: { webhookId: string }
  /** Appends `member.updated` in the workspaces of a person behind an id. */
  append_member_updates: {
    userId: string
    fields: MemberField[]
    after: string
    source: ChangeSource
    apiKeyId: string | null
  }
  /** Creates the next seeds of an import, or deletes the next ones of one that is undone, and goes on by another job. */
  run_seed_import: { importId: string; source: ChangeSource; apiKeyId: string | null }
  /** Appends the events of requests to agents that triggers have cancelled, which enqueue it. */
  tell_cancelled_requests: Record<string, never>
  /** Deletes unused pictures. */
  collect_pictures: Record<string, never>
}

export type JobName = keyof Jobs

export interface JobOptions {
  /** The request that causes the job, for the lines of the log. Undefined for a command, and for what the service does by itself. */
  requestId: string | undefined
  /** A waiting job with the same key is replaced. The new job runs at the time of the replaced one. */
  key?: string
  delaySeconds?: number
}

/** Enqueues jobs. */
export interface JobQueue {
  /**
   * Enqueues a job in the transaction of its change: a rollback removes the job too. The job runs at least once, and is
   * retried until it succeeds, up to 25 times, or ends by a `JobEndsError`.
   */
  enqueue<Name extends JobName>(
    transaction: Executor,
    name: Name,
    payload: Jobs[Name],
    options: JobOptions,
  ): Promise<void>
}

/** A job that runs. */
export interface RunningJob {
  /** The same in every attempt, and globally unique. */
  id: string
  /** Its number in the queue, as `list-jobs` shows it. */
  number: string
  name: JobName
  /** The request that caused it, if one did. */
  requestId?: string
  /** From 1. */
  attempt: number
  isLastAttempt: boolean
}

/** The handlers of jobs. */
export type JobHandlers = {
  [Name in JobName]: (payload: Jobs[Name], job: RunningJob) => Promise<void>
}

/** A handler throws it when another attempt would fail too. The job has failed then, and waits for `retry-jobs --failed`. */
export class JobEndsError extends Error {
  override readonly name = 'JobEndsError'
}
