import { expect, it } from 'vitest'
import { createBatch } from '../../src/db/sql/batch.ts'

function createRecorder(nameOf?: (key: string) => string) {
  const asked: (readonly string[])[] = []
  const find = createBatch(async (keys: readonly string[]) => {
    asked.push(keys)
    return keys.map((key) => ({ key }))
  }, nameOf)
  return { asked, find }
}

it('look-ups of one turn of the event loop are asked at once, and later ones again', async () => {
  const { asked, find } = createRecorder()
  expect(await Promise.all(['a', 'b', 'a'].map(find))).toEqual([{ key: 'a' }, { key: 'b' }, { key: 'a' }])
  expect(await find('a')).toEqual({ key: 'a' })
  expect(asked).toEqual([['a', 'b', 'a'], ['a']])
})

it('named look-ups of one turn share a value, and later ones are asked again', async () => {
  const { asked, find } = createRecorder(String)
  const [first, other, again] = await Promise.all(['a', 'b', 'a'].map(find))
  expect(again).toBe(first)
  expect(other).toEqual({ key: 'b' })
  expect(await find('a')).not.toBe(first)
  expect(asked).toEqual([['a', 'b'], ['a']])
})

it('a failed look-up is not kept', async () => {
  let failures = 1
  const find = createBatch(async (keys: readonly string[]) => {
    if (failures-- > 0) throw new Error('no connection')
    return keys
  }, String)
  const results = await Promise.allSettled([find('a'), find('a')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await find('a')).toBe('a')
})

it('named look-ups of more than a batch are asked again in the next turn', async () => {
  const { asked, find } = createRecorder(String)
  const keys = Array.from({ length: 150 }, (_, i) => `key ${i}`)
  const values = await Promise.all(keys.map(find))
  expect(values.map(({ key }) => key)).toEqual(keys)
  expect(await find('key 149')).not.toBe(values[149])
  expect(asked.map(({ length }) => length)).toEqual([100, 50, 1])
})
