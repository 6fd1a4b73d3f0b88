import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireSeedOf, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import {
  commentLengthMax,
  hasMentions,
  mentionedIn,
  toShownBody,
  toStoredBody,
} from '../../domain/comments.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import {
  joinRows,
  noRows,
  readPage,
  rowsOf,
  type JsonRows,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import { requireLines } from '../../kernel/text.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { notifyMentioned, notifyOfComment } from '../notifications/notify-of-comment.ts'
import { listEvidence } from '../evidence/evidence.repository.ts'
import type { Evidence } from '../evidence/evidence.schemas.ts'
import { insertFollowers } from '../seeds/followers.repository.ts'
import { lockSeed } from '../seeds/seeds.repository.ts'
import {
  deleteComment,
  findComment,
  insertComment,
  insertMentions,
  isEvidenceOf,
  keepMentions,
  listComments,
  listNewestComments,
  lockComment,
  lockMembersAmong,
  updateComment,
} from './comments.repository.ts'
import type { Comment } from './comments.schemas.ts'

export type { Comment }

export interface CommentInput {
  /** Markdown. */
  body: string
  /** Evidence of the seed; absent for the seed itself. */
  evidenceId?: string
}

/** The filter and the page of a list of comments. */
export interface CommentsRequest extends PageRequest {
  evidenceId?: string
}

/** What a thread shows: only evidence or only comments, or what only people or agents wrote. */
export const threadFilters = ['evidence', 'comments', 'people', 'agents'] as const

export interface ThreadRequest extends PageRequest {
  only?: (typeof threadFilters)[number]
}

/** A comment, or a piece of evidence. */
export type ThreadItem = Comment | Evidence

/**
 * The comments on seeds and their evidence. Its methods throw `not_found` unless the seed is in a workspace of the caller,
 * and `role_insufficient`.
 */
export interface CommentsService {
  /** Oldest first. */
  list(principal: Principal, seedId: string, request: CommentsRequest): Promise<Page<Comment>>
  /** Throws `not_found` for a comment of another workspace. */
  get(principal: Principal, commentId: string): Promise<Comment>
  /** The comments on a seed and its evidence together, newest first. */
  listThread(principal: Principal, seedId: string, request: ThreadRequest): Promise<Page<ThreadItem>>
  /** Throws `text_invalid`, and `not_found` for evidence of another seed. */
  create(principal: Principal, seedId: string, input: CommentInput): Promise<Comment>
  /** Of the caller's own. Throws `text_invalid` and `not_the_author`. */
  update(principal: Principal, commentId: string, input: { body: string }): Promise<void>
  /** Of the caller's own, or as owner or admin. Throws `not_the_author`. */
  delete(principal: Principal, commentId: string): Promise<void>
}

export interface CommentsServiceOptions {
  db: Database
  changes: Changes
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
  jobs: JobQueue
}

export function createCommentsService(options: CommentsServiceOptions): CommentsService {
  const { db, changes, requireWorkspaceOfSeed, requireSeedOf, jobs } = options

  return {
    async list(principal, seedId, { evidenceId, ...page }) {
      await requireWorkspaceOfSeed(principal, seedId, 'comments.list')
      // A malformed id is that of no evidence: the list is empty.
      const hasNone = evidenceId !== undefined && !isId(evidenceId)
      const query = { seedId, ...(evidenceId !== undefined && { evidenceId }) }
      return readPage<Comment>(page, {
        listId: `comments.list ${seedId} ${evidenceId ?? ''}`,
        order: 'oldestFirst',
        read: async (range) => (hasNone ? noRows : toShown(await listComments(db, { ...query, ...range }))),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, commentId) {
      await requireSeedOf(principal, { kind: 'comment', id: commentId }, 'comments.list')
      const comment = await findComment(db, commentId)
      if (!comment) throw errors.notFound()
      return show(comment)
    },

    async listThread(principal, seedId, { only, ...page }) {
      await requireWorkspaceOfSeed(principal, seedId, 'comments.list')
      const by = only === 'people' || only === 'agents' ? only : undefined
      const query = { seedId, ...(by !== undefined && { by }) }
      return readPage<ThreadItem>(page, {
        listId: `thread ${seedId} ${only ?? ''}`,
        order: 'newestFirst',
        read: async (range) =>
          mergeNewest(
            await Promise.all([
              only === 'comments' ? noRows : listEvidence(db, { ...query, includeWithdrawn: true, ...range }),
              only === 'evidence' ? noRows : listNewestComments(db, { ...query, ...range }).then(toShown),
            ]),
            range.limit,
          ),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async create(principal, seedId, { body, evidenceId }) {
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'comments.create')
      if (evidenceId !== undefined && !isId(evidenceId)) throw errors.notFound()
      const text = requireLines(body, commentLengthMax, 'body')
      const { user, agentName = null } = principal
      const lock = async (tx: Executor) => {
        const [seed, mentions, isOfSeed] = await together([
          // For its number of comments. Its title is in the event.
          lockSeed(tx, seedId, 'no key update'),
          lockMembersAmong(tx, workspace.id, mentionedIn(text)),
          evidenceId === undefined || isEvidenceOf(tx, seedId, evidenceId),
        ])
        return isOfSeed && seed ? { title: seed.title, mentions } : undefined
      }
      return changes.makeIn(principal, workspace, lock, async (context, { title, mentions }) => {
        const { now, write, appendEvent } = context
        const mentioned = mentions.map(({ userId }) => userId)
        const comment = {
          id: createId(),
          seedId,
          evidenceId: evidenceId ?? null,
          body: toStoredBody(text, new Set(mentioned)),
          authorUserId: user.id,
          authorName: user.name,
          agentName,
          createdAt: now,
          editedAt: null,
        }
        write((tx) => insertComment(tx, comment))
        if (mentioned.length > 0) write((tx) => insertMentions(tx, comment.id, mentioned))
        write((tx) => insertFollowers(tx, { workspaceId: workspace.id, seedId }, [user.id, ...mentioned]))
        notifyOfComment(context, jobs, {
          workspaceId: workspace.id,
          actor: principal,
          seedId,
          commentId: comment.id,
          evidenceId: comment.evidenceId,
          mentionedUserIds: mentioned,
        })
        appendEvent({
          type: 'comment.added',
          data: { commentId: comment.id, seedId, title, evidenceId: comment.evidenceId },
        })
        return toComment(comment, mentions)
      })
    },

    async update(principal, commentId, { body }) {
      const workspace = await requireSeedOf(principal, { kind: 'comment', id: commentId }, 'comments.update')
      const text = requireLines(body, commentLengthMax, 'body')
      const lock = (tx: Executor) => lockComment(tx, commentId)
      await changes.makeIn(principal, workspace, lock, async (context, comment) => {
        if (comment.authorUserId !== principal.user.id) throw errors.notTheAuthor()
        const { tx, now, write, appendEvent } = context
        const { seedId, title, evidenceId } = comment
        const members = await lockMembersAmong(tx, workspace.id, mentionedIn(text))
        const mentioned = members.map(({ userId }) => userId)
        const stored = toStoredBody(text, new Set(mentioned))
        if (stored === comment.body) return
        const before = await keepMentions(tx, commentId, mentioned)
        const added = mentioned.filter((userId) => !before.includes(userId))
        await updateComment(tx, commentId, { body: stored, editedAt: now })
        if (added.length > 0) {
          write((executor) => insertMentions(executor, commentId, added))
          write((executor) => insertFollowers(executor, { workspaceId: workspace.id, seedId }, added))
        }
        notifyMentioned(context, jobs, {
          workspaceId: workspace.id,
          actor: principal,
          seedId,
          commentId,
          evidenceId,
          mentionedUserIds: added,
        })
        appendEvent({ type: 'comment.updated', data: { commentId, seedId, title, evidenceId } })
      })
    },

    async delete(principal, commentId) {
      const workspace = await requireSeedOf(principal, { kind: 'comment', id: commentId }, 'comments.delete')
      const lock = async (tx: Executor) => {
        // First the seed, for its number of comments.
        await lockSeed(tx, workspace.seedId, 'no key update')
        return lockComment(tx, commentId)
      }
      await changes.makeIn(principal, workspace, lock, async ({ tx, appendEvent }, comment) => {
        const { seedId, title, evidenceId, authorUserId, authorName } = comment
        const isSelf = authorUserId === principal.user.id
        if (!isSelf && !isAllowed(workspace.role, 'comments.deleteOthers')) throw errors.notTheAuthor()
        await deleteComment(tx, commentId)
        appendEvent({
          type: 'comment.deleted',
          data: { commentId, seedId, title, evidenceId, userId: authorUserId, name: authorName, isSelf },
        })
      })
    },
  }
}

/** The newest rows of several lists, newest first. */
function mergeNewest(lists: readonly JsonRows[], limit: number): JsonRows {
  const rows = lists.flatMap(({ text }) => rowsOf(text)).map((text) => ({ text, ...positionIn(text) }))
  rows.sort((one, other) => (one.at === other.at ? (one.id < other.id ? 1 : -1) : one.at < other.at ? 1 : -1))
  return joinRows(rows.slice(0, limit).map(({ text }) => ({ text, count: 1 })))
}

function positionIn(row: string): { at: string; id: string } {
  const { createdAt, id } = JSON.parse(row) as ThreadItem
  return { at: createdAt, id }
}

type CommentRow = Omit<Comment, 'mentions' | 'createdAt' | 'editedAt'> & { createdAt: Date }

function toComment(row: CommentRow, mentions: Comment['mentions']): Comment {
  return show({ ...row, mentions, createdAt: row.createdAt.toISOString(), editedAt: null })
}

/** A comment with the names of those whom it mentions. */
function show(comment: Comment): Comment {
  const names = new Map(comment.mentions.map(({ userId, name }) => [userId, name]))
  return { ...comment, body: toShownBody(comment.body, names) }
}

/** Rows of comments as they are stored, as they are shown. */
function toShown({ text, count }: JsonRows): JsonRows {
  if (!hasMentions(text)) return { text, count }
  const rows = rowsOf(text).map((row) => JSON.stringify(show(JSON.parse(row) as Comment)))
  return joinRows(rows.map((row) => ({ text: row, count: 1 })))
}
