import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { renderMarkdown } from '../../src/website/components/markdown.ts'
import { mentionedIn, toShownBody, toStoredBody } from '../../src/domain/comments.ts'

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

  const inCode = (mention: string) => [
    `\`${mention}\``,
    `\`\`\`\n${mention}\n\`\`\``,
    `~~~ ts\n${mention}\n~~~`,
    `Look:\n\n    ${mention}`,
    `> - \`${mention}\``,
    `\\${mention}`,
    `[a](https://x.example "${mention}")`,
    `https://x.example/${mention}`,
  ]

  it.each([...inCode(`[@Ada](user:${ada})`), ...inCode(`[@](user:${ada})`)])(
    'are no mentions where Markdown shows text: %j',
    (body) => {
      expect(mentionedIn(body)).toEqual([])
      const both = `${body}\n\n[@Ada](user:${ada}), [@Bob](user:${bob})`
      expect(mentionedIn(both)).toEqual([ada, bob])
      const names = new Map([[ada, 'Ada L.']])
      for (const [text, shown] of [
        [body, body],
        [both, `${body}\n\n[@Ada L.](user:${ada}), @Bob`],
      ] as const) {
        const stored = toStoredBody(text, new Set([ada]))
        expect(toShownBody(stored, names)).toBe(shown)
        expect(toStoredBody(shown, new Set([ada]))).toBe(stored)
        // What is told is what is shown.
        const mentioned = [
          ...renderMarkdown(text, '')
            .toString()
            .matchAll(/\/people\/([^"]*)" class="mention"/g),
        ]
        expect(mentioned.map(([, userId]) => userId)).toEqual(mentionedIn(text))
      }
    },
  )

  it.each([
    `> - [@Ada](user:${ada})`,
    `*[@Ada](user:${ada})*`,
    `\\\\[@Ada](user:${ada})`,
    `\`a\`[@A\`b](user:${ada})\``,
  ])('are found in %j', (body) => {
    expect(mentionedIn(body)).toEqual([ada])
    expect(renderMarkdown(body, '').toString()).toContain(`/people/${ada}" class="mention"`)
  })

  it('take time in proportion to the length of hostile texts', () => {
    const elapsed = (text: string) => {
      const start = performance.now()
      toStoredBody(text, new Set())
      return performance.now() - start
    }
    for (const part of [`[@](user:${ada})`, '[@', '[@\\', `\`[@](user:${ada})`, `> [@](user:${ada})`])
      expect(elapsed(`[@](user:${ada}) ${part.repeat(5000 / part.length)}`), part).toBeLessThan(500)
  })

  it('are stored the same after they were read', () => {
    const stored = `[@](user:${ada})`
    const shown = toShownBody(stored, new Map([[ada, '\\]](user:x) [@']]))
    expect(toStoredBody(shown, new Set([ada]))).toBe(stored)
  })
})
