import { createHash } from 'node:crypto'
import { errors } from './errors.ts'
import { isId } from './ids.ts'
import { parseJson, type Json } from './json-text.ts'

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
  /** One item on each line. */
  items: Json<T[]>
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null
}

/** Rows of a list as JSON objects, one on each line: separated by a comma and a line feed. */
export interface JsonRows {
  text: string
  count: number
}

const separator = ',\n'

export const noRows: JsonRows = { text: '', count: 0 }

/** The rows of several lists, one list after the other. */
export function joinRows(lists: readonly JsonRows[]): JsonRows {
  const filled = lists.filter(({ count }) => count > 0)
  return {
    text: filled.map(({ text }) => text).join(separator),
    count: filled.reduce((sum, { count }) => sum + count, 0),
  }
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

/** One of the times that a statement returned beside its rows: milliseconds since 1970, separated by commas. */
export function timeAt(times: string, index: number): string {
  return new Date(Number(times.split(',')[index])).toISOString()
}

/** The orders of a list by when its items were created: oldest first, or newest first. */
export const creationSorts = ['createdAt', '-createdAt'] as const
export type CreationSort = (typeof creationSorts)[number]

/** The order of a list that is sorted so. */
export function orderOf(sort: CreationSort): ListOrder {
  return sort === 'createdAt' ? 'oldestFirst' : 'newestFirst'
}

/** The position before the first row. */
export const startOf = {
  oldestFirst: { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' },
  newestFirst: { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
}

/** The order of a list by time and id. */
export type ListOrder = keyof typeof startOf

/** A list that is read page by page, sorted by a time and an id (keyset pagination). */
export interface PagedList<Item, Part extends string> {
  /** The operation, the workspace and every filter: cursors of another list are refused. */
  listId: string
  order: ListOrder
  /** For a list that is made of several lists, one after the other: their names in this order. */
  parts?: readonly Part[]
  /** Reads the rows of a range as items. Only where they are larger than `pageBytesMax` it may leave out the rest. */
  read: (range: PageRange, part: Part) => Promise<JsonRows>
  /** The position of an item. `index` counts the rows that were read. */
  positionOf: (item: Item, index: number) => { at: string; id: string; part?: Part }
}

/**
 * Reads a page of a list. It ends early where it would be larger than `pageBytesMax`, though not before its first item.
 * Throws `cursor_invalid` for a cursor of another list, and for one that was changed.
 */
export async function readPage<Item, Part extends string = never>(
  { limit = pageLimitDefault, cursor }: PageRequest,
  list: PagedList<Item, Part>,
): Promise<Page<Item>> {
  const { listId, order, parts, read } = list
  const position = decodeCursor(listId, cursor, parts ? [parts, 'time', 'id'] : ['time', 'id'])
  const [at = startOf[order].at, id = startOf[order].id] = position?.slice(-2) ?? []
  const part = position && parts ? position[0] : parts?.[0]
  const rows = await read({ at, id, limit: limit + 1 }, part as Part)

  const { text, count } = cutRows(rows, limit)
  const items = `[${text}]` as Json<Item[]>
  if (count === rows.count) return { items, nextCursor: null }
  return { items, nextCursor: cursorOf(list, lastRow(text), count - 1) }
}

/** The cursor of the position of a row. */
function cursorOf<Item, Part extends string>(
  { listId, positionOf }: Pick<PagedList<Item, Part>, 'listId' | 'positionOf'>,
  row: string,
  index = 0,
): string {
  const { part, at, id } = positionOf(parseJson(row as Json<Item>), index)
  return encodeCursor(listId, part ? [part, at, id] : [at, id])
}

/** The rows in a text of `JsonRows`. */
export function rowsOf(text: string): string[] {
  return text === '' ? [] : text.split(separator)
}

/** The last of the rows in a text of `JsonRows`. */
export function lastRow(text: string): string {
  const before = text.lastIndexOf(separator)
  return before === -1 ? text : text.slice(before + separator.length)
}

/** Rows without the last one, if there is one more than `limit`. */
function firstRows(rows: JsonRows, limit: number): JsonRows {
  if (rows.count <= limit) return rows
  return { text: rows.text.slice(0, rows.text.lastIndexOf(separator)), count: limit }
}

/** The first rows, as many as a page of `limit` items may have. */
export function cutRows(rows: JsonRows, limit: number): JsonRows {
  const { text, count } = firstRows(rows, limit)
  // Both brackets of the array take as many bytes as a separator.
  if (Buffer.byteLength(text) + separator.length <= pageBytesMax) return { text, count }
  const lines = text.split(separator)
  let bytes = 0
  const excess = lines.findIndex(
    (line) => (bytes += Buffer.byteLength(line) + separator.length) > pageBytesMax,
  )
  const fitting = lines.slice(0, Math.max(1, excess))
  return { text: fitting.join(separator), count: fitting.length }
}

/**
 * Writes a position as an opaque cursor, with a digest of it and of `listId`. The digest has no key: an invented position
 * gives access to nothing that the list itself does not give.
 */
export function encodeCursor(listId: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position))
  return Buffer.concat([digest(listId, payload), payload]).toString('base64url')
}

/** What each value of a position is: a time, an id, a number from 0, or one of a few words. */
export type PositionShape = readonly ('time' | 'id' | 'number' | readonly string[])[]

/**
 * Reads a cursor of the list, from the parameter `field`; undefined without one. Throws `cursor_invalid` for anything else,
 * such as an invented position that the database could not compare with.
 */
export function decodeCursor(
  listId: string,
  cursor: string | undefined,
  shape: PositionShape = ['time', 'id'],
  field = 'cursor',
): Position | undefined {
  if (cursor === undefined) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const payload = bytes.subarray(digestLength)
  const isOfList = digest(listId, payload).equals(bytes.subarray(0, digestLength))
  // The second test refuses other spellings of the same bytes.
  const position =
    isOfList && bytes.toString('base64url') === cursor ? parsePosition(payload.toString(), shape) : undefined
  if (!position) throw errors.cursorInvalid({ field })
  return position
}

function parsePosition(text: string, shape: PositionShape): Position | undefined {
  const values = parseOrNothing(text)
  const isPosition =
    Array.isArray(values) &&
    values.length === shape.length &&
    shape.every((kind, i) => isOfKind(values[i], kind))
  return isPosition ? (values as Position) : undefined
}

function isOfKind(value: unknown, kind: PositionShape[number]): boolean {
  if (typeof value !== 'string') return false
  if (kind === 'id') return isId(value)
  if (kind === 'number') return /^(?:0|[1-9]\d{0,14})$/.test(value)
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

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
