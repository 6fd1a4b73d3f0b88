import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { isId } from '../../kernel/ids.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { listEvents, type EventRow } from './events.repository.ts'

export interface WorkspaceEvent extends Omit<EventRow, 'createdAt'> {
  createdAt: string
}

/** What a client asks of the feed; the times are RFC 3339. */
export interface EventsRequest extends PageRequest {
  type?: string
  actorUserId?: string
  /** From this time on. */
  since?: string
  /** Until before this time. */
  until?: string
}

export interface EventsService {
  /** What happened in a workspace, newest first: without what the lists of invites and grants hide from the caller. */
  list(principal: Principal, slug: string, request: EventsRequest): Promise<Page<WorkspaceEvent>>
}

export function createEventsService(options: {
  db: Database
  requireWorkspace: RequireWorkspace
}): EventsService {
  const { db, requireWorkspace } = options
  return {
    async list(principal, slug, { limit = pageLimitDefault, cursor, ...filter }) {
      const { id, role } = await requireWorkspace(principal, slug, 'events.list')
      const { type, actorUserId, since, until } = filter
      const listId = `events.list ${id} ${JSON.stringify([type, actorUserId, since, until])}`
      const before = decodeCursor(listId, cursor)
      // Nobody has an id that is none, so nobody did anything.
      if (actorUserId !== undefined && !isId(actorUserId)) return { items: [], nextCursor: null }
      const rows = await listEvents(db, {
        workspaceId: id,
        filter: {
          ...(type !== undefined && { type }),
          ...(actorUserId !== undefined && { actorUserId }),
          ...(since !== undefined && { since: parseTime(since) }),
          ...(until !== undefined && { until: parseTime(until) }),
        },
        view: {
          showsInvites: isAllowed(role, 'invites.list'),
          grantsOf: isAllowed(role, 'integrations.listAll') ? undefined : principal.user.id,
        },
        before,
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: (row) => ({ ...row, createdAt: row.createdAt.toISOString() }),
      })
    },
  }
}

// Beyond these a time has no four-digit year, or PostgreSQL does not know it. There are no events before or after.
const timeMin = Date.UTC(1970, 0, 1)
const timeMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A time of the request. One out of bounds is moved to the bound, and a leap second to the one before. */
function parseTime(text: string): Date {
  const time = Date.parse(text.replace(':60', ':59'))
  return new Date(Math.min(Math.max(timeMin, time), timeMax))
}
