import { createHash } from 'node:crypto'
import { errors } from './errors.ts'
import { isId } from './ids.ts'
import { countFitting } from './json-size.ts'

export const pageLimitDefault = 100
export const pageLimitMax = 200
/** The most bytes of a page as JSON, unless its first item alone is larger. */
export const pageBytesMax = 1024 * 1024

/** What a client asks of a list. */
export interface PageRequest {
  /** 1 to 200, by default 100. */
  limit?: number
  /** As a former answer gave it. */
  cursor?: string
}

/** Some of a list. */
export interface Page<T> {
  items: T[]
  /** What leads to the next page; null on the last one. */
  nextCursor: string | null
}

/** A place in a list: the values of its sort columns in the last row that was given. */
export type Position = readonly string[]

/**
 * Cuts a page from rows of which one more than `limit` was asked for, so that a next page is only promised when there
 * is something on it. The page ends earlier where it would be larger than `pageBytesMax`; there is at least one item.
 */
export async function toPage<Row, T>(
  rows: readonly Row[],
  limit: number,
  options: { listId: string; positionOf: (row: Row) => Position; toItem: (row: Row) => T },
): Promise<Page<T>> {
  const candidates = rows.slice(0, limit).map(options.toItem)
  const items = candidates.slice(0, Math.max(1, await countFitting(candidates, pageBytesMax - 1)))
  const last = rows[items.length - 1]
  const hasMore = rows.length > items.length && last !== undefined
  return {
    items,
    nextCursor: hasMore ? encodeCursor(options.listId, options.positionOf(last)) : null,
  }
}

/**
 * Writes a place as an opaque cursor. It is bound to the list, by a digest of `listId` (the operation, the workspace and
 * the filters): a cursor of another list, and one that was changed, is refused. The digest has no key, for a made-up
 * place gives nobody anything that the list itself would not.
 */
export function encodeCursor(listId: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position))
  return Buffer.concat([digest(listId, payload), payload]).toString('base64url')
}

/** What each value of a position is: a time, an id, or one of a few words. */
export type PositionShape = readonly ('time' | 'id' | readonly string[])[]

/**
 * Reads a cursor of the list. Throws `cursor_invalid` for anything else, a made-up position that the database could not
 * compare with among them. Undefined for no cursor: the start.
 */
export function decodeCursor(
  listId: string,
  cursor: string | undefined,
  shape: PositionShape = ['time', 'id'],
): Position | undefined {
  if (cursor === undefined) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const payload = bytes.subarray(digestLength)
  const isOfList = digest(listId, payload).equals(bytes.subarray(0, digestLength))
  // The last test refuses other spellings of the same bytes.
  const position =
    isOfList && bytes.toString('base64url') === cursor ? parsePosition(payload.toString(), shape) : undefined
  if (!position) throw errors.cursorInvalid({ field: 'cursor' })
  return position
}

function parsePosition(text: string, shape: PositionShape): Position | undefined {
  const values = parseJson(text)
  const isPosition =
    Array.isArray(values) &&
    values.length === shape.length &&
    shape.every((kind, i) => isOfKind(values[i], kind))
  return isPosition ? (values as Position) : undefined
}

function isOfKind(value: unknown, kind: PositionShape[number]): boolean {
  if (typeof value !== 'string') return false
  if (kind === 'id') return isId(value)
  return kind === 'time' ? isTime(value) : kind.includes(value)
}

/** Whether a text is a time as it is written into positions. PostgreSQL knows no year 0, and no 30th of February. */
function isTime(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString() === text && /^(?!0000)\d{4}-/.test(text)
}

const digestLength = 8

function digest(listId: string, payload: Buffer): Buffer {
  return createHash('sha256').update(listId).update('\0').update(payload).digest().subarray(0, digestLength)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
