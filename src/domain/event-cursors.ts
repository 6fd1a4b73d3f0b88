import { decodeCursor, encodeCursor } from '../kernel/pagination.ts'

/** A position in the feed of a workspace: behind the event of a position. */
export interface FeedPosition {
  /** 0: before the first event. */
  position: number
  /** The id of the event; at position 0 that of the workspace. */
  id: string
}

/** The position before the first event of a workspace. */
export function startOfFeed(workspaceId: string): FeedPosition {
  return { position: 0, id: workspaceId }
}

/** Writes a position in the feed of a workspace as an opaque cursor. */
export function encodeFeedCursor(workspaceId: string, { position, id }: FeedPosition): string {
  return encodeCursor(feedId(workspaceId), [String(position), id])
}

/**
 * Reads a cursor of the feed of a workspace, from the parameter or header `field`. Throws `cursor_invalid` for anything
 * else, such as a cursor of another workspace. The event may have disappeared with a restored backup: ask for it.
 */
export function decodeFeedCursor(workspaceId: string, cursor: string, field: string): FeedPosition {
  const [position = '0', id = ''] = decodeCursor(feedId(workspaceId), cursor, ['number', 'id'], field) ?? []
  return { position: Number(position), id }
}

const feedId = (workspaceId: string) => `events.changes ${workspaceId}`
