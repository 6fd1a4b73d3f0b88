import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  decodeCursor,
  encodeCursor,
  readPage,
  type PageRange,
  type PositionShape,
} from '../../src/kernel/pagination.ts'

const position = ['2026-11-21T03:04:05.678Z', createId()]

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return (error as ApiError).code
  }
  return 'none'
}

const refuses = (cursor: string, shape?: PositionShape) =>
  expect(codeOf(() => decodeCursor('list', cursor, shape))).toBe('cursor_invalid')

describe('a cursor', () => {
  it('is the position that it was made of, in its list', () => {
    expect(decodeCursor('list', encodeCursor('list', position))).toEqual(position)
    expect(decodeCursor('list', undefined)).toBeUndefined()
  })

  it('needs no escapes in a URL', () => {
    expect(encodeCursor('list', position)).toMatch(/^[A-Za-z0-9_-]+$/)
  })

  it('is refused by another list', () => {
    const cursor = encodeCursor('list', position)
    for (const other of ['list2', '', 'LIST', 'list ', 'list\0'])
      expect(codeOf(() => decodeCursor(other, cursor))).toBe('cursor_invalid')
  })

  it('is bound to the whole name of its list', () => {
    // Where the name ends and the position begins is part of it.
    const shifted = encodeCursor('list\0', position)
    refuses(shifted)
  })

  it('is refused in another spelling', () => {
    const cursor = encodeCursor('list', position)
    for (const other of [`${cursor}=`, `${cursor}==`, `${cursor} `, ` ${cursor}`, `${cursor}\n`])
      refuses(other)
    const base64 = Buffer.from(cursor, 'base64url').toString('base64')
    if (base64 !== cursor) refuses(base64)
  })

  it('is of the shape that its list has', () => {
    const kinds = ['member', 'invited']
    const shape: PositionShape = [kinds, 'time', 'id']
    expect(decodeCursor('list', encodeCursor('list', ['member', ...position]), shape)).toEqual([
      'member',
      ...position,
    ])
    refuses(encodeCursor('list', ['owner', ...position]), shape)
    refuses(encodeCursor('list', position), shape)
    refuses(encodeCursor('list', ['member', ...position]))
    refuses(encodeCursor('list', []))
    refuses(encodeCursor('list', position.toReversed()))
  })
})

describe('a page', () => {
  const at = new Date('2026-11-21T03:04:05.678Z')
  const ids = Array.from({ length: 3 }, () => createId())
  const ranges: (PageRange & { part?: string })[] = []

  /** A list of the first `size` ids. */
  const listOf = (size: number) => ({
    listId: 'list',
    read: async (range: PageRange) => {
      ranges.push(range)
      const rows = ids.slice(0, size)
      return rows.slice(rows.indexOf(range.id) + 1, rows.indexOf(range.id) + 1 + range.limit)
    },
    positionOf: (id: string) => ({ at, id }),
    toItem: (id: string) => `item ${id}`,
  })

  it.each([
    ['oldestFirst', { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }],
    ['newestFirst', { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }],
  ] as const)('starts before the first row, %s', async (order, start) => {
    await readPage({}, { ...listOf(3), order })
    expect(ranges.at(-1)).toEqual({ ...start, limit: 101 })
  })

  it('of as many rows as there may be, or fewer, has no next one', async () => {
    for (const size of [0, 1, 2])
      expect(await readPage({ limit: 2 }, { ...listOf(size), order: 'oldestFirst' })).toEqual({
        items: ids.slice(0, size).map((id) => `item ${id}`),
        nextCursor: null,
      })
  })

  it('of more rows is cut, and continues after its last one', async () => {
    const list = { ...listOf(3), order: 'oldestFirst' as const }
    const first = await readPage({ limit: 2 }, list)
    expect(first.items).toEqual([`item ${ids[0]}`, `item ${ids[1]}`])
    const cursor = String(first.nextCursor)
    expect(decodeCursor('list', cursor)).toEqual([at.toISOString(), ids[1]])
    expect(await readPage({ limit: 2, cursor }, list)).toEqual({
      items: [`item ${ids[2]}`],
      nextCursor: null,
    })
    expect(ranges.at(-1)).toEqual({ at: at.toISOString(), id: ids[1], limit: 3 })
  })

  it('of a list of parts continues in the part of its last row', async () => {
    const parts: (string | undefined)[] = []
    const list = {
      ...listOf(3),
      order: 'oldestFirst' as const,
      parts: ['member', 'invited'] as const,
      read: (range: PageRange, part: string) => {
        parts.push(part)
        return listOf(3).read(range)
      },
      positionOf: (id: string) => ({
        at,
        id,
        part: id === ids[1] ? ('invited' as const) : ('member' as const),
      }),
    }
    const { nextCursor } = await readPage({ limit: 2 }, list)
    expect(decodeCursor('list', String(nextCursor), [list.parts, 'time', 'id'])).toEqual([
      'invited',
      at.toISOString(),
      ids[1],
    ])
    const next = await readPage({ limit: 2, cursor: String(nextCursor) }, list)
    expect(next.items).toEqual([`item ${ids[2]}`])
    expect(parts).toEqual(['member', 'invited'])
  })
})
