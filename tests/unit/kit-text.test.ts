import { describe, expect, it } from 'vitest'
import { countFitting, joinItems, joinSeed, splitSeed } from '../../src/agents/kit/kit-text.ts'

describe('countFitting', () => {
  it.each([['plain'], ['"quoted" \\ and\n\tlines'], ['€uro'], ['😀'], ['']])(
    'fills an array of %j to the last byte',
    (text) => {
      const items = Array.from({ length: 10 }, (_, i) => JSON.stringify({ id: i, text, more: [text, null] }))
      for (let count = 0; count <= 10; count++) {
        const bytes = count === 0 ? 2 : Buffer.byteLength(joinItems(items.slice(0, count)))
        // Without the brackets, and with a comma after the last one.
        expect(countFitting(items, bytes - 2 + 1)).toBe(count)
        if (count > 0) expect(countFitting(items, bytes - 2)).toBe(count - 1)
      }
    },
  )

  it('counts all items when there is much room', () => {
    expect(countFitting([], 0)).toBe(0)
    expect(countFitting([JSON.stringify({ text: '€'.repeat(1000) })], 100_000)).toBe(1)
  })
})

describe('splitSeed', () => {
  it.each([[0], [1], [3]])('splits off %i pieces of evidence, which joinSeed puts back', (count) => {
    const pieces = Array.from({ length: count }, (_, i) => JSON.stringify({ id: i }))
    const { bare, pieces: found } = splitSeed(`{"title":"a","evidence":[${pieces.join(', \n ')}]}`)
    expect({ bare, found }).toEqual({ bare: '{"title":"a","evidence":[]}', found: pieces })
    expect(joinSeed(bare, found)).toBe(`{"title":"a","evidence":[${pieces.join(',')}]}`)
  })
})
