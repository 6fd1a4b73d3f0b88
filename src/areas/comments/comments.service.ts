import type { Changes, LockInput } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireSeedOf, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import {
  agentNamesIn,
  agentsMentionedIn,
  commentLengthMax,
  mentionedIn,
  teamNamesIn,
  teamsMentionedIn,
  toStoredBody,
  withAgents,
  withTeams,
} from '../../domain/comments.ts'
import { versionedFiles } from '../../domain/attachments.ts'
import { errors } from '../../kernel/errors.ts'
import { parseFilterIds } from '../../kernel/filter-ids.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { toCommentUrl } from '../../domain/page-urls.ts'
import {
  noRows,
  orderOf,
  readPage,
  type CreationSort,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { requireLines } from '../../kernel/text.ts'
import { parseTime } from '../../kernel/times.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import {
  attach,
  listAttachmentsOf,
  parseAttachmentIds,
  setAttachments,
} from '../attachments/used-attachments.repository.ts'
import { answer, ask, lockAsked, lockWaiting, mayAsk } from '../agentRequests/asking.ts'
import { notifyMentioned, notifyOfComment } from '../notifications/notify-of-comment.ts'
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
  lockComment,
  lockMembersAmong,
  updateComment,
  type LockedComment,
} from './comments.repository.ts'
import type { AskedAgent, Comment } from './comments.schemas.ts'
import { lockTeamsAmong, type MentionedTeam } from './mentioned-teams.repository.ts'
import { show, toShown } from './shown-comments.ts'
import { listCommentsOfWorkspace } from './workspace-comments.repository.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import {
  createThreads,
  threadFilters,
  type DiscussedEvidence,
  type ShownEvidence,
  type ThreadItem,
  type Threads,
  type ThreadsOptions,
  type WithPicture,
} from './thread.ts'

export { threadFilters }
export type { AskedAgent, Comment, DiscussedEvidence, ShownEvidence, ThreadItem, WithPicture }

export interface CommentInput {
  /** Markdown. */
  body: string
  /** Evidence of the seed; absent for the seed itself. */
  evidenceId?: string
  /** The request that an agent answers with it. */
  requestId?: string
  /** Files that the author has uploaded, and nothing uses. */
  attachmentIds?: readonly string[]
}

/** What the author changes in a comment. */
export interface CommentEdit {
  body: string
  /** All files that it is to have. One that is left out is deleted. */
  attachmentIds?: readonly string[]
}

/** The filter, the order and the page of a list of comments. */
export interface CommentsRequest extends PageRequest {
  evidenceId?: string
  /** By default `createdAt`. */
  sort?: CreationSort
}

/** The filters and the page of a list of the comments of a workspace. */
export interface WorkspaceCommentsRequest extends PageRequest {
  /** Only comments on these seeds. Each text may have several ids, separated by commas. */
  seedIds?: readonly string[]
  /** RFC 3339: only what was written or edited since. A date without a time is its start in UTC. */
  since?: string
  by?: EvidenceAuthors
}

/**
 * The comments on seeds and their evidence. Its methods throw `not_found` unless the seed is in a workspace of the caller,
 * and `role_insufficient`.
 */
export interface CommentsService extends Threads {
  /** By default oldest first. */
  list(principal: Principal, seedId: string, request: CommentsRequest): Promise<Page<Comment>>
  /** Newest first, without comments on deleted seeds. Throws `id_limit`, and what access to a workspace throws. */
  listOfWorkspace(
    principal: Principal,
    slug: string,
    request: WorkspaceCommentsRequest,
  ): Promise<Page<Comment>>
  /** Throws `not_found` for a comment of another workspace. */
  get(principal: Principal, commentId: string): Promise<Comment>
  /**
   * Of a person, it asks the agents that it mentions and the person may ask, and tells the members of the teams that it
   * mentions, of at most `mentionedTeamSizeMax` each; in what others write these are text. An answer tells who asked. Throws
   * `text_invalid`, `not_found` for evidence of another seed and for a request that the caller was not asked on this seed,
   * `request_not_waiting`, `agent_busy`, `ask_limit`, `attachment_limit` and `attachment_not_found`.
   */
  create(
    principal: Principal,
    seedId: string,
    input: CommentInput,
  ): Promise<{ comment: Comment; requests: AskedAgent[] }>
  /**
   * Of the caller's own; of an agent, what it wrote. Throws `text_invalid`, `not_the_author`, `attachment_limit`,
   * `attachment_not_found` and `precondition_failed`.
   */
  update(principal: ExpectingCall, commentId: string, input: CommentEdit): Promise<void>
  /** Of the caller's own, or as owner or admin; of an agent, what it wrote. Throws `not_the_author`. */
  delete(principal: Principal, commentId: string): Promise<void>
}

/** The version of a comment: of its text and its files. In the text the names of those whom it mentions do not count. */
export function versionOfComment({
  body,
  mentions,
  teamMentions,
  attachments,
}: Pick<Comment, 'body' | 'mentions' | 'teamMentions'> & { attachments: readonly { id: string }[] }): string {
  const mentioned = new Set(mentions.map(({ userId }) => userId))
  const teams = new Map(teamMentions.map(({ teamId }) => [teamId, '']))
  const text = toStoredBody(withTeams(body, teams), mentioned)
  return versionOfFields({ body: text, ...versionedFiles(attachments) })
}

export interface CommentsServiceOptions extends ThreadsOptions {
  changes: Changes
  requireWorkspace: RequireWorkspace
  requireSeedOf: RequireSeedOf
  jobs: JobQueue
}

export function createCommentsService(options: CommentsServiceOptions): CommentsService {
  const { db, changes, requireWorkspace, requireWorkspaceOfSeed, requireSeedOf, jobs, seedUrlPrefix } =
    options

  return {
    ...createThreads(options),

    async list(principal, askedId, { evidenceId, sort = 'createdAt', ...page }) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(principal, askedId, 'comments.list')
      // A malformed id is that of no evidence: the list is empty.
      const hasNone = evidenceId !== undefined && !isId(evidenceId)
      const order = orderOf(sort)
      const query = {
        workspaceId,
        seedId,
        order,
        seedUrlPrefix,
        ...(evidenceId !== undefined && { evidenceId }),
      }
      return readPage<Comment>(page, {
        listId: `comments.list ${seedId} ${evidenceId ?? ''}${order === 'newestFirst' ? ` ${sort}` : ''}`,
        order,
        read: async (range) => (hasNone ? noRows : toShown(await listComments(db, { ...query, ...range }))),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listOfWorkspace(principal, slug, { seedIds, since, by, ...page }) {
      const asked = seedIds && parseFilterIds(seedIds, 'seedIds')
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'comments.listOfWorkspace')
      const filter = {
        ...(asked && { seedIds: asked }),
        ...(since !== undefined && { since: parseTime(since) }),
        ...(by !== undefined && { by }),
      }
      return readPage<Comment>(page, {
        listId: `comments.listOfWorkspace ${workspaceId} ${JSON.stringify(filter)}`,
        order: 'newestFirst',
        read: async (range) =>
          toShown(await listCommentsOfWorkspace(db, { workspaceId, filter, seedUrlPrefix, ...range })),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, commentId) {
      const { id: workspaceId } = await requireSeedOf(
        principal,
        { kind: 'comment', id: commentId },
        'comments.get',
      )
      const comment = await findComment(db, { workspaceId, commentId, seedUrlPrefix })
      if (!comment) throw errors.notFound()
      return show(comment)
    },

    async create(principal, seedId, { body, evidenceId, requestId, attachmentIds: givenIds = [] }) {
      const attachmentIds = parseAttachmentIds(givenIds)
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'comments.create')
      if (evidenceId !== undefined && !isId(evidenceId)) throw errors.notFound()
      const text = requireLines(body, commentLengthMax, 'body')
      const { user, agentName = null, grantId } = principal
      const grantIds = mayAsk(principal) ? agentsMentionedIn(text) : []
      const teamIds = mayAsk(principal) ? teamsMentionedIn(text) : []
      const userIds = mentionedIn(text)
      const lock = async (tx: Executor, { clock }: LockInput) => {
        const found = await lockTeamsAmong(tx, workspace.id, teamIds)
        const teams = found.filter(({ isTooLarge }) => !isTooLarge)
        const key = { workspaceId: workspace.id, seedId }
        const [seed, members, isOfSeed] = await together([
          // For its number of comments. Its title is in the event.
          lockSeed(tx, key, 'no key update'),
          lockMembersAmong(tx, workspace.id, withMembersOf(teams, userIds)),
          evidenceId === undefined || isEvidenceOf(tx, key, evidenceId),
        ])
        if (!isOfSeed || !seed) return undefined
        const when = { workspaceId: workspace.id, now: clock.now() }
        const agents = await lockAsked(tx, principal, { ...when, grantIds })
        const request =
          requestId === undefined ? undefined : await lockWaiting(tx, principal, { ...when, requestId })
        if (request && request.seedId !== seedId) return undefined
        return { title: seed.title, members, teams, agents, request }
      }
      return changes.makeIn(
        principal,
        workspace,
        lock,
        async (context, { title, members, teams, agents, request }) => {
          const { tx, now, write, appendEvent } = context
          const mentions = members.filter(({ userId }) => userIds.includes(userId))
          const mentioned = mentions.map(({ userId }) => userId)
          const id = createId()
          const agentNames = new Map(agents.map((each) => [each.grantId, each.agentName]))
          const teamNames = new Map(teams.map((each) => [each.teamId, each.name]))
          const known = withTeams(withAgents(text, agentNames), teamNames)
          const comment = {
            id,
            workspaceId: workspace.id,
            seedId,
            // An answer stands where it was asked for.
            evidenceId: evidenceId ?? request?.evidenceId ?? null,
            body: toStoredBody(known, new Set(mentioned)),
            authorUserId: user.id,
            authorName: user.name,
            agentName,
            createdAt: now,
            editedAt: null,
          }
          write((executor) => insertComment(executor, { ...comment, grantId }))
          const owner = { workspaceId: workspace.id, seedId, commentId: id }
          const attachments = await attach(tx, owner, { ids: attachmentIds, userId: user.id })
          if (mentioned.length > 0) write((executor) => insertMentions(executor, comment.id, mentioned))
          write((executor) =>
            insertFollowers(executor, { workspaceId: workspace.id, seedId }, [user.id, ...mentioned]),
          )
          const told = members.map(({ userId }) => userId)
          notifyOfComment(context, jobs, {
            workspaceId: workspace.id,
            actor: principal,
            seedId,
            commentId: comment.id,
            evidenceId: comment.evidenceId,
            mentionedUserIds: told,
            answeredUserId: request?.askedByUserId ?? null,
          })
          appendEvent({
            type: 'comment.added',
            data: {
              ...{ commentId: comment.id, seedId, title, evidenceId: comment.evidenceId },
              ...(attachmentIds.length > 0 && { attachmentIds }),
            },
          })
          const requests = ask(context, principal, { ...comment, title }, agents)
          if (request) {
            const isTold = told.includes(request.askedByUserId ?? '')
            answer(context, principal, request, { answerCommentId: comment.id, isTold })
          }
          const teamMentions = teams.map(({ teamId, name }) => ({ teamId, name }))
          const url = toCommentUrl(comment, seedUrlPrefix)
          return { comment: toComment({ ...comment, url, mentions, teamMentions, attachments }), requests }
        },
      )
    },

    async update(principal, commentId, { body, attachmentIds: givenIds }) {
      const ids = givenIds && parseAttachmentIds(givenIds)
      const workspace = await requireSeedOf(principal, { kind: 'comment', id: commentId }, 'comments.update')
      const text = requireLines(body, commentLengthMax, 'body')
      const lock = (tx: Executor) => lockComment(tx, commentId)
      await changes.makeIn(principal, workspace, lock, async (context, comment) => {
        if (!isOwn(principal, comment)) throw errors.notTheAuthor()
        const { tx, now, write, appendEvent } = context
        await assertExpectedComment(tx, principal, { workspaceId: workspace.id, commentId, seedUrlPrefix })
        const { seedId, title, evidenceId } = comment
        const teamsBefore = teamNamesIn(comment.body)
        const teams = await lockTeamsAmong(tx, workspace.id, mayAsk(principal) ? teamsMentionedIn(text) : [])
        const addedTeams = teams.filter(({ teamId, isTooLarge }) => !teamsBefore.has(teamId) && !isTooLarge)
        const userIds = mentionedIn(text)
        const members = await lockMembersAmong(
          tx,
          workspace.id,
          withMembersOf(addedTeams, userIds),
          commentId,
        )
        const mentions = members.filter(({ userId }) => userIds.includes(userId))
        const mentioned = mentions.map(({ userId }) => userId)
        // An edit asks nobody: agents that it did not mention before are text.
        const known = withAgents(text, agentNamesIn(comment.body))
        const addedNames = addedTeams.map(({ teamId, name }) => [teamId, name] as const)
        const withNames = withTeams(known, new Map([...teamsBefore, ...addedNames]))
        const stored = toStoredBody(withNames, new Set(mentioned))
        const owner = { workspaceId: workspace.id, seedId, commentId }
        const attached = await listAttachmentsOf(tx, owner)
        const idsBefore = attached.map(({ id }) => id)
        const attachments = (ids ?? idsBefore).map((id) => ({ id }))
        const teamMentions = teams.map(({ teamId, name }) => ({ teamId, name }))
        principal.onVersion?.(versionOfComment(show({ body: stored, mentions, teamMentions, attachments })))
        const isSameText = stored === comment.body
        if (isSameText && (ids ?? idsBefore).join() === idsBefore.join()) return
        if (ids) await setAttachments(tx, owner, { ids, before: attached, userId: principal.user.id })
        const before = await keepMentions(tx, commentId, mentioned)
        const added = mentioned.filter((userId) => !before.includes(userId))
        const toldBefore = new Set([
          ...before,
          ...teams.filter(({ teamId }) => teamsBefore.has(teamId)).flatMap((team) => team.userIds),
        ])
        const toldByTeam = members
          .map(({ userId }) => userId)
          .filter((userId) => !mentioned.includes(userId) && !toldBefore.has(userId))
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
          mentionedUserIds: [...added, ...toldByTeam],
        })
        appendEvent({ type: 'comment.updated', data: { commentId, seedId, title, evidenceId } })
      })
    },

    async delete(principal, commentId) {
      const workspace = await requireSeedOf(principal, { kind: 'comment', id: commentId }, 'comments.delete')
      const lock = async (tx: Executor) => {
        // First the seed, for its number of comments.
        await lockSeed(tx, { workspaceId: workspace.id, seedId: workspace.seedId }, 'no key update')
        const comment = await lockComment(tx, commentId)
        // Unless it has moved to another seed meanwhile, which is not locked.
        return comment?.seedId === workspace.seedId ? comment : undefined
      }
      await changes.makeIn(principal, workspace, lock, async ({ tx, appendEvent }, comment) => {
        const { seedId, title, evidenceId, authorUserId, authorName } = comment
        const isSelf = authorUserId === principal.user.id
        const mayDeleteOthers =
          principal.grantId === null && isAllowed(workspace.role, 'comments.deleteOthers')
        if (!isOwn(principal, comment) && !mayDeleteOthers) throw errors.notTheAuthor()
        await deleteComment(tx, commentId)
        appendEvent({
          type: 'comment.deleted',
          data: { commentId, seedId, title, evidenceId, userId: authorUserId, name: authorName, isSelf },
        })
      })
    },
  }
}

/** Whether the caller wrote a comment. What a person wrote by hand, or through another agent, is not an agent's. */
function isOwn(
  { user, grantId }: Principal,
  comment: Pick<LockedComment, 'authorUserId' | 'grantId'>,
): boolean {
  return comment.authorUserId === user.id && (grantId === null || comment.grantId === grantId)
}

/** Throws `precondition_failed` for a version that a request does not expect. One that expects none reads nothing. */
async function assertExpectedComment(
  tx: Executor,
  principal: ExpectingCall,
  input: { workspaceId: string; commentId: string; seedUrlPrefix: string },
): Promise<void> {
  if (principal.expected === undefined) return
  const comment = await findComment(tx, input)
  // It is locked, so it exists.
  assertExpected(principal, comment ? versionOfComment(show(comment)) : '')
}

type CommentRow = Omit<Comment, 'createdAt' | 'editedAt'> & { createdAt: Date }

function toComment(row: CommentRow): Comment {
  return show({ ...row, createdAt: row.createdAt.toISOString(), editedAt: null })
}

/** People, and the members of teams, each once. */
function withMembersOf(teams: readonly MentionedTeam[], userIds: readonly string[]): string[] {
  return [...new Set([...userIds, ...teams.flatMap((team) => team.userIds)])]
}
