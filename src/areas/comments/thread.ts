import type { RequireSeedOf, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import {
  joinRows,
  noRows,
  readPage,
  rowsOf,
  type JsonRows,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { Comment } from './comments.schemas.ts'
import { show, toShown } from './shown-comments.ts'
import {
  findPiece,
  listDiscussion,
  listPieces,
  listThreadComments,
  type DiscussedEvidence,
  type ShownEvidence,
  type WithPicture,
} from './thread.repository.ts'

export type { DiscussedEvidence, ShownEvidence, WithPicture }

/** What a thread shows: only evidence or only comments, or what only people or agents wrote. */
export const threadFilters = ['evidence', 'comments', 'people', 'agents'] as const

export interface ThreadRequest extends PageRequest {
  only?: (typeof threadFilters)[number]
}

/** A comment, or a piece of evidence, with its discussion unless the thread is of people or agents alone. */
export type ThreadItem = WithPicture<Comment> | ShownEvidence | DiscussedEvidence

/** The threads of seeds on the website. Methods throw `not_found` unless the seed is in a workspace of the caller. */
export interface Threads {
  /**
   * The evidence of a seed and the comments on the seed itself, newest first. With a filter for comments, people or agents,
   * comments on evidence stand among them.
   */
  listThread(principal: Principal, seedId: string, request: ThreadRequest): Promise<Page<ThreadItem>>
  /** Also when it is withdrawn. Throws `not_found` for evidence of another seed. */
  getPiece(principal: Principal, path: { seedId: string; evidenceId: string }): Promise<ShownEvidence>
  /** The comments on a piece of evidence, oldest first. */
  listDiscussion(
    principal: Principal,
    path: { seedId: string; evidenceId: string },
    page: PageRequest,
  ): Promise<Page<WithPicture<Comment>>>
}

export interface ThreadsOptions {
  db: Database
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
  pictures: PictureStore
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
}

export function createThreads(options: ThreadsOptions): Threads {
  const { db, requireWorkspaceOfSeed, requireSeedOf, pictures, seedUrlPrefix } = options
  const urls = { pictureUrlPrefix: pictures.urlPrefix, seedUrlPrefix }

  return {
    async listThread(principal, askedId, { only, ...page }) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(principal, askedId, 'comments.list')
      const by = only === 'people' || only === 'agents' ? only : undefined
      const userId = principal.user.id
      const query = { seedId, workspaceId, userId, ...urls, ...(by !== undefined && { by }) }
      const isAboutSeed = only === undefined
      return readPage<ThreadItem>(page, {
        listId: `thread ${seedId} ${only ?? ''}`,
        order: 'newestFirst',
        read: async (range) =>
          mergeNewest(
            await Promise.all([
              only === 'comments'
                ? noRows
                : listPieces(db, { ...query, ...range }).then((rows) =>
                    toShown(rows, (row) => withShownComments(row as ShownEvidence | DiscussedEvidence)),
                  ),
              only === 'evidence'
                ? noRows
                : listThreadComments(db, { ...query, isAboutSeed, ...range }).then(toShown),
            ]),
            range.limit,
          ),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async getPiece(principal, { seedId, evidenceId }) {
      const item = { kind: 'evidence', id: evidenceId } as const
      const { id: workspaceId } = await requireSeedOf(principal, item, 'seeds.listEvidence')
      const piece = await findPiece(db, {
        seedId,
        workspaceId,
        userId: principal.user.id,
        evidenceId,
        ...urls,
      })
      if (!piece) throw errors.notFound()
      return piece
    },

    async listDiscussion(principal, { seedId, evidenceId }, page) {
      const item = { kind: 'evidence', id: evidenceId } as const
      const { id: workspaceId } = await requireSeedOf(principal, item, 'comments.list')
      return readPage<WithPicture<Comment>>(page, {
        listId: `discussion ${seedId} ${evidenceId}`,
        order: 'oldestFirst',
        read: async (range) =>
          toShown(
            await listDiscussion(db, {
              ...{ seedId, workspaceId, userId: principal.user.id, evidenceId },
              ...{ ...urls, ...range },
            }),
          ),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },
  }
}

/** A piece of evidence with the comments under it as they are shown. */
function withShownComments(piece: ShownEvidence | DiscussedEvidence) {
  if (!('discussion' in piece)) return piece
  const comments = piece.discussion.comments.map(show)
  return { ...piece, discussion: { ...piece.discussion, comments } }
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
