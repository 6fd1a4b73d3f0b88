import { describe, expect, it } from 'vitest'
import { countFitting, jsonBytesOf } from '../../src/kernel/json-size.ts'

describe('countFitting', () => {
  it.each([['plain'], ['"quoted" \\ and\n\tlines'], ['€uro'], ['😀'], ['']])(
    'fills an array of %j to the last byte',
    async (text) => {
      const items = Array.from({ length: 10 }, (_, i) => ({ id: i, text, more: [text, null, true] }))
      for (let count = 0; count <= 10; count++) {
        const bytes = count === 0 ? 2 : jsonBytesOf(items.slice(0, count))
        // Without the brackets, and with a comma after the last one.
        expect(await countFitting(items, bytes - 2 + 1)).toBe(count)
        if (count > 0) expect(await countFitting(items, bytes - 2)).toBe(count - 1)
      }
    },
  )

  it('takes whatever fits by far', async () => {
    expect(await countFitting([], 0)).toBe(0)
    expect(await countFitting([{ text: '€'.repeat(1000) }], 100_000)).toBe(1)
  })
})
