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
  /** The cursor of the previous page. Absent: the first page. */
  cursor?: string
}

/** A page of a list. */
export interface Page<T> {
  items: T[]
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null
}

/** The values of a list's sort columns in one row: a time and an id, after the name of the part in a list of parts. */
export type Position = readonly string[]

/** Which rows a page is made of: those after a position, in the order of the list. */
export interface PageRange {
  /** RFC 3339, or `-infinity` or `infinity` at the start of the list. */
  at: string
  id: string
  /** One row more than the page may have, which shows that there is a next page. */
  limit: number
}

/** The position before the first row. */
export const startOf = {
  oldestFirst: { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' },
  newestFirst: { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
}

/** A list that is read page by page, sorted by a time and an id (keyset pagination). */
export interface PagedList<Row, Item, Part extends string> {
  /** The operation, the workspace and every filter: cursors of another list are refused. */
  listId: string
  order: keyof typeof startOf
  /** For a list that is made of several lists, one after the other: their names in this order. */
  parts?: readonly Part[]
  /** Reads the rows of a range. It may end early where the page would be larger than `pageBytesMax`. */
  read: (range: PageRange, part: Part) => Promise<Row[]>
  positionOf: (row: Row) => { at: Date; id: string; part?: Part }
  toItem: (row: Row) => Item
}

/**
 * Reads a page of a list. It ends early where it would be larger than `pageBytesMax`, though not before its first item.
 * Throws `cursor_invalid` for a cursor of another list, and for one that was changed.
 */
export async function readPage<Row, Item, Part extends string = never>(
  { limit = pageLimitDefault, cursor }: PageRequest,
  { listId, order, parts, read, positionOf, toItem }: PagedList<Row, Item, Part>,
): Promise<Page<Item>> {
  const position = decodeCursor(listId, cursor, parts ? [parts, 'time', 'id'] : ['time', 'id'])
  const [at = startOf[order].at, id = startOf[order].id] = position?.slice(-2) ?? []
  const part = position && parts ? position[0] : parts?.[0]
  const rows = await read({ at, id, limit: limit + 1 }, part as Part)

  const candidates = rows.slice(0, limit).map(toItem)
  const items = candidates.slice(0, Math.max(1, await countFitting(candidates, pageBytesMax - 1)))
  const last = rows[items.length - 1]
  if (!last || rows.length === items.length) return { items, nextCursor: null }
  const end = positionOf(last)
  const values = [end.at.toISOString(), end.id]
  return { items, nextCursor: encodeCursor(listId, end.part ? [end.part, ...values] : values) }
}

/**
 * Writes a position as an opaque cursor, with a digest of it and of `listId`. The digest has no key: an invented position
 * gives access to nothing that the list itself does not give.
 */
export function encodeCursor(listId: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position))
  return Buffer.concat([digest(listId, payload), payload]).toString('base64url')
}

/** What each value of a position is: a time, an id, or one of a few words. */
export type PositionShape = readonly ('time' | 'id' | readonly string[])[]

/**
 * Reads a cursor of the list; undefined without one. Throws `cursor_invalid` for anything else, such as an invented
 * position that the database could not compare with.
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
  // The second test refuses other spellings of the same bytes.
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

/** Whether a text is a time as positions have it. PostgreSQL has no year 0 and no 30th of February. */
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
