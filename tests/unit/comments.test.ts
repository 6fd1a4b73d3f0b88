import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { mentionedIn, toShownBody, toStoredBody } from '../../src/kernel/comments.ts'

const [ada, bob] = [createId(), createId()]

describe('mentions', () => {
  it('are found once for each person', () => {
    const body = `[@Ada](user:${ada}) [@](user:${bob}) [@Ada](user:${ada}) [Ada](user:${ada}) [@x](user:1)`
    expect(mentionedIn(body)).toEqual([ada, bob])
  })

  it('are stored without names, and shown with those of now', () => {
    const stored = toStoredBody(`Hi [@Ada](user:${ada}), [@Bob](user:${bob})`, new Set([ada]))
    expect(stored).toBe(`Hi [@](user:${ada}), @Bob`)
    expect(toShownBody(stored, new Map([[ada, 'A [x] *y*']]))).toBe(
      `Hi [@A \\[x\\] \\*y\\*](user:${ada}), @Bob`,
    )
    expect(toShownBody(stored, new Map())).toBe('Hi @Deleted user, @Bob')
  })

  it('are stored the same after they were read', () => {
    const stored = `[@](user:${ada})`
    const shown = toShownBody(stored, new Map([[ada, '\\]](user:x) [@']]))
    expect(toStoredBody(shown, new Set([ada]))).toBe(stored)
  })
})
