import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { decodeCursor, encodeCursor, toPage, type PositionShape } from '../../src/kernel/pagination.ts'

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
  it('is the place that it was made of, in its list', () => {
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
    // Where the name ends and the place begins is part of it.
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
  const options = {
    listId: 'list',
    positionOf: (row: number) => [String(row)],
    toItem: (row: number) => row * 10,
  }

  it('of as many rows as there may be, or fewer, has no next one', async () => {
    for (const rows of [[], [1], [1, 2]])
      expect(await toPage(rows, 2, options)).toEqual({ items: rows.map((row) => row * 10), nextCursor: null })
  })

  it('of more rows is cut, and leads on from its last one', async () => {
    expect(await toPage([1, 2, 3], 2, options)).toEqual({
      items: [10, 20],
      nextCursor: encodeCursor('list', ['2']),
    })
  })
})
