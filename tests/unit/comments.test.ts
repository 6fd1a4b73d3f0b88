import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { renderMarkdown } from '../../src/website/components/markdown.ts'
import {
  agentNamesIn,
  agentsMentionedIn,
  mentionedIn,
  toShownBody,
  toStoredBody,
  withAgents,
} from '../../src/domain/comments.ts'
import { toPlainText } from '../../src/kernel/markdown.ts'
import { expectLinear } from '../support/expect-linear.ts'

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

  it('take time in proportion to the length of hostile texts', async () => {
    for (const part of [`[@](user:${ada})`, '[@', '[@\\', `\`[@](user:${ada})`, `> [@](user:${ada})`])
      await expectLinear(
        (length) => toStoredBody(`[@](user:${ada}) ${part.repeat(length / part.length)}`, new Set()),
        1_250,
        part,
      )
  })

  it('are stored the same after they were read', () => {
    const stored = `[@](user:${ada})`
    const shown = toShownBody(stored, new Map([[ada, '\\]](user:x) [@']]))
    expect(toStoredBody(shown, new Set([ada]))).toBe(stored)
  })
})

describe('a mention of an agent', () => {
  const grantId = '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e04'
  const source = (name: string) => `[@${name}](agent:${grantId})`

  it('gets the name of the agent, escaped, and reads as that', () => {
    const stored = withAgents(`${source('x')} 見て`, new Map([[grantId, 'Cl*au*de [2] <b>']]))
    expect(stored).toBe(`${source('Cl\\*au\\*de \\[2\\] \\<b>')} 見て`)
    expect(agentsMentionedIn(stored)).toEqual([grantId])
    expect(agentNamesIn(stored)).toEqual(new Map([[grantId, 'Cl*au*de [2] <b>']]))
    expect(withAgents(stored, agentNamesIn(stored))).toBe(stored)
    expect(toPlainText(stored)).toBe('@Cl*au*de [2] <b> 見て')
  })

  it('of one that is not asked is text, and stays as it is in code', () => {
    expect(withAgents(`${source('Claude')} and \`${source('Claude')}\``, new Map())).toBe(
      `@Claude and \`${source('Claude')}\``,
    )
    expect(agentsMentionedIn(`\`${source('Claude')}\``)).toEqual([])
  })

  it('is none of a person', () => {
    expect(mentionedIn(source('Claude'))).toEqual([])
    expect(agentsMentionedIn(`[@Ada](user:${grantId})`)).toEqual([])
  })
})
