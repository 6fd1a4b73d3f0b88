import { describe, expect, it } from 'vitest'
import { createId, isId } from '../../src/kernel/ids.ts'

describe('createId', () => {
  it('creates unique UUIDs of version 7 that sort by creation', () => {
    const ids = Array.from({ length: 2_000 }, () => createId())
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted()).toEqual(ids)
  })

  it('starts with the current time, or with the time of the last id if that is later', () => {
    const timeOf = (id: string) => parseInt(id.replace('-', '').slice(0, 12), 16)
    // Another test file of this process may have set the clock forward.
    const last = timeOf(createId())
    const before = Date.now()
    const time = timeOf(createId())
    expect(time).toBeGreaterThanOrEqual(Math.max(before, last))
    expect(time).toBeLessThanOrEqual(Math.max(Date.now(), last))
  })
})

describe('isId', () => {
  it('accepts an id from createId', () => {
    expect(isId(createId())).toBe(true)
  })

  it.each([
    '',
    'x',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'c9bf9e57-1685-4c89-bafb-ff5af830be8a',
    '0198c2a43b5d7c3e8f1a2b3c4d5e6f70',
    '{0198c2a4-3b5d-7c3e-8f1a-2b3c4d5e6f70}',
    '0198c2a4-3b5d-7c3e-8f1a-2b3c4d5e6f7',
    '0198c2a4-3b5d-7c3e-8f1a-2b3c4d5e6f70\n',
    '0198c2a4-3b5d-7c3e-cf1a-2b3c4d5e6f70',
    'a'.repeat(100_000),
  ])('rejects %j', (value) => {
    expect(isId(value)).toBe(false)
  })
})
