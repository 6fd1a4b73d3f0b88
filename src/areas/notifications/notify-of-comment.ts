import type { ChangeContext } from '../../access/change.ts'
import { createId } from '../../kernel/ids.ts'
import { mentionMailedAfterMs } from '../../domain/notifications.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { notifyFollowers, notifyMembers, type Notice } from './notify.repository.ts'

/** A comment that people are told of. */
export interface CommentNotice extends Pick<Notice, 'workspaceId' | 'actor'> {
  seedId: string
  commentId: string
  /** The evidence that it is about. */
  evidenceId: string | null
  /** The people whom it mentions. After an edit: those whom it did not mention before. */
  mentionedUserIds: readonly string[]
  /** Who asked for it, and is told so; null if nobody did. */
  answeredUserId?: string | null
}

type Context = Pick<ChangeContext<never>, 'now' | 'write'>

/**
 * Tells people of a new comment: those whom it mentions, and those who follow the seed, each of them once. The mentioned
 * are mailed five minutes later unless they have read it by then. With the writes of the change of the comment.
 */
export function notifyOfComment(context: Context, jobs: JobQueue, notice: CommentNotice): void {
  const { evidenceId, mentionedUserIds, answeredUserId = null, ...about } = notice
  const told = [...mentionedUserIds, ...(answeredUserId === null ? [] : [answeredUserId])]
  const { now: at, write } = context
  notifyMentioned(context, jobs, notice)
  write((tx) => notifyFollowers(tx, { kind: 'comment', data: { evidenceId }, ...about, at }, told))
}

/** Tells those whom a comment mentions, as after an edit. They are mailed as `notifyOfComment` says. */
export function notifyMentioned({ now: at, write }: Context, jobs: JobQueue, notice: CommentNotice): void {
  const { evidenceId, mentionedUserIds, ...about } = notice
  if (mentionedUserIds.length === 0) return
  const id = createId()
  write((tx) =>
    notifyMembers(tx, { id, kind: 'mention', data: { evidenceId }, ...about, at }, mentionedUserIds),
  )
  const payload = { commentId: about.commentId, noticeId: id }
  const options = { requestId: about.actor?.requestId, delaySeconds: mentionMailedAfterMs / 1000 }
  write((tx) => jobs.enqueue(tx, 'send_mentions', payload, options))
}
