import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { parseJson } from '../../src/kernel/json-text.ts'
import {
  decodeCursor,
  encodeCursor,
  pageBytesMax,
  readPage,
  type JsonRows,
  type PageRange,
  type PositionShape,
} from '../../src/kernel/pagination.ts'
import { changeCharacter } from '../support/change-character.ts'

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
  it('decodes to the position that was encoded, for the same list', () => {
    expect(decodeCursor('list', encodeCursor('list', position))).toEqual(position)
    expect(decodeCursor('list', undefined)).toBeUndefined()
  })

  it('consists of characters that need no escaping in URLs', () => {
    expect(encodeCursor('list', position)).toMatch(/^[A-Za-z0-9_-]+$/)
  })

  it('is rejected by another list as cursor_invalid', () => {
    const cursor = encodeCursor('list', position)
    for (const other of ['list2', '', 'LIST', 'list ', 'list\0'])
      expect(codeOf(() => decodeCursor(other, cursor))).toBe('cursor_invalid')
  })

  it('is bound to the exact name of its list', () => {
    // Where the name ends and the position begins is part of it.
    const shifted = encodeCursor('list\0', position)
    refuses(shifted)
  })

  it('is rejected when any character is changed', () => {
    const cursor = encodeCursor('list', position)
    for (let i = 0; i < cursor.length; i++) refuses(changeCharacter(cursor, i))
  })

  it('is rejected when it is encoded differently', () => {
    const cursor = encodeCursor('list', position)
    for (const other of [`${cursor}=`, `${cursor}==`, `${cursor} `, ` ${cursor}`, `${cursor}\n`])
      refuses(other)
    const base64 = Buffer.from(cursor, 'base64url').toString('base64')
    if (base64 !== cursor) refuses(base64)
  })

  it('is rejected unless its position has the shape of the list', () => {
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

describe('a page of a list', () => {
  const at = '2026-11-21T03:04:05.678Z'
  const ids = Array.from({ length: 3 }, () => createId())
  const ranges: (PageRange & { part?: string })[] = []
  const toRows = (items: readonly object[]): JsonRows => ({
    text: items.map((item) => JSON.stringify(item)).join(',\n'),
    count: items.length,
  })

  /** A list of the first `size` ids. */
  const listOf = (size: number) => ({
    listId: 'list',
    read: async (range: PageRange) => {
      ranges.push(range)
      const rows = ids.slice(0, size)
      const start = rows.indexOf(range.id) + 1
      return toRows(rows.slice(start, start + range.limit).map((id) => ({ id })))
    },
    positionOf: ({ id }: { id: string }) => ({ at, id }),
  })

  const read = async (
    ...[request, list]: Parameters<typeof readPage<{ id: string }, 'member' | 'invited'>>
  ) => {
    const { items, nextCursor } = await readPage(request, list)
    return { ids: parseJson(items).map(({ id }) => id), nextCursor }
  }

  it.each([
    ['oldestFirst', { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }],
    ['newestFirst', { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }],
  ] as const)('starts before the first row, with the order %s', async (order, start) => {
    await readPage({}, { ...listOf(3), order })
    expect(ranges.at(-1)).toEqual({ ...start, limit: 101 })
  })

  it('has no next cursor when it has at most as many rows as the limit', async () => {
    for (const size of [0, 1, 2])
      expect(await read({ limit: 2 }, { ...listOf(size), order: 'oldestFirst' })).toEqual({
        ids: ids.slice(0, size),
        nextCursor: null,
      })
  })

  it('is cut at the limit, and its cursor continues after its last row', async () => {
    const list = { ...listOf(3), order: 'oldestFirst' as const }
    const first = await read({ limit: 2 }, list)
    expect(first.ids).toEqual([ids[0], ids[1]])
    const cursor = String(first.nextCursor)
    expect(decodeCursor('list', cursor)).toEqual([at, ids[1]])
    expect(await read({ limit: 2, cursor }, list)).toEqual({ ids: [ids[2]], nextCursor: null })
    expect(ranges.at(-1)).toEqual({ at, id: ids[1], limit: 3 })
  })

  it('continues in the part of its last row, in a list with parts', async () => {
    const parts: (string | undefined)[] = []
    const list = {
      ...listOf(3),
      order: 'oldestFirst' as const,
      parts: ['member', 'invited'] as const,
      read: (range: PageRange, part: string) => {
        parts.push(part)
        return listOf(3).read(range)
      },
      positionOf: ({ id }: { id: string }, place: number) => {
        expect(id).toBe(ids[place])
        return { at, id, part: id === ids[1] ? ('invited' as const) : ('member' as const) }
      },
    }
    const { nextCursor } = await read({ limit: 2 }, list)
    expect(decodeCursor('list', String(nextCursor), [list.parts, 'time', 'id'])).toEqual([
      'invited',
      at,
      ids[1],
    ])
    const next = await read({ limit: 2, cursor: String(nextCursor) }, list)
    expect(next.ids).toEqual([ids[2]])
    expect(parts).toEqual(['member', 'invited'])
  })

  describe('with large rows', () => {
    const readLarge = async (texts: readonly string[]) => {
      const items = texts.map((text) => ({ id: createId(), text }))
      const list = { ...listOf(0), order: 'oldestFirst' as const, read: async () => toRows(items) }
      const page = await readPage({}, list)
      const count = parseJson(page.items).length
      // The next page begins after the last item.
      const next = count === items.length ? null : encodeCursor('list', [at, String(items[count - 1]?.id)])
      expect(page.nextCursor).toBe(next)
      return { bytes: Buffer.byteLength(page.items), count }
    }
    // The bytes of an item around its text, of a separator and of the brackets.
    const around = JSON.stringify({ id: createId(), text: '' }).length
    const half = pageBytesMax / 2 - around - 2

    it.each([
      ['of one byte', 'x', 1],
      ['of three bytes', '€', 3],
      ['that JSON escapes', '\n', 2],
    ])('fills the page to the exact byte with characters %s', async (_, character, bytes) => {
      const filler = 'x'.repeat(half % bytes)
      const text = character.repeat(Math.floor(half / bytes)) + filler
      expect(await readLarge([text, text])).toEqual({ bytes: pageBytesMax, count: 2 })
      expect(await readLarge([text, `${text}x`])).toMatchObject({ count: 1 })
      expect(await readLarge([text, text, 'x'])).toMatchObject({ bytes: pageBytesMax, count: 2 })
    })

    it('contains its first item, whatever its size', async () => {
      expect(await readLarge(['x'.repeat(2 * pageBytesMax)])).toMatchObject({ count: 1 })
      expect(await readLarge(['x'.repeat(2 * pageBytesMax), 'x'])).toMatchObject({ count: 1 })
    })
  })
})
