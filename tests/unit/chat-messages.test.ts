import { describe, expect, it } from 'vitest'
import { makeChatRequest, type ChatLine } from '../../src/areas/webhooks/chat-messages.ts'
import { webhookFormats, type WebhookFormat } from '../../src/domain/webhooks.ts'

const page = 'https://app.example.com/s/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b#comment-1'

const bodyOf = (format: WebhookFormat, ...lines: ChatLine[]): unknown =>
  JSON.parse(makeChatRequest(format, { url: 'https://chat.example/x', userAgent: 'Workspaces', lines }).body)
const textOf = (format: 'slack' | 'mattermost', ...lines: ChatLine[]) =>
  (bodyOf(format, ...lines) as { text: string }).text
const discordOf = (...lines: ChatLine[]) =>
  bodyOf('discord', ...lines) as { content: string; allowed_mentions: object }

interface TeamsMessage {
  type: string
  attachments: {
    contentType: string
    content: { type: string; body: { type: string; inlines: { type: string; text: string }[] }[] }
  }[]
}

const rowsOf = (...lines: ChatLine[]) =>
  (bodyOf('teams', ...lines) as TeamsMessage).attachments[0]?.content.body ?? []

const line = (text: string): ChatLine => ({ text, url: page })

/** Names that mean something in chats. */
const hostile = [
  '<!channel> <!here> <!everyone>',
  '@everyone @here @channel @all @grace',
  '<@U024BE7LH> <@&1234> <#C024BE7LR|general> <subteam^S1>',
  '<https://evil.example|Sign in>',
  '[Sign in](https://evil.example)',
  '**bold** _it_ ~no~ ||spoiler|| `code` > quote',
  '# Heading',
  '- item',
  '\\<!channel\\>',
  '&lt;!channel&gt;',
  '<at>Grace</at>',
]

describe('Slack', () => {
  it('gets a sentence with a link, and no other control sequence', () => {
    expect(textOf('slack', line('Grace <b> & Ada created “Tools”'))).toBe(
      `Grace &lt;b&gt; &amp; Ada created “Tools” <${page}|Open>`,
    )
    for (const text of hostile) {
      const sent = textOf('slack', line(text)).replace(` <${page}|Open>`, '')
      // docs.slack.dev: "<" begins every mention, link and command; the three characters are sent as entities.
      expect(sent).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
      const read = sent.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
      expect(read).toBe(text)
    }
  })
})

describe('Mattermost', () => {
  it('gets no mention, no link of others and no mark', () => {
    expect(textOf('mattermost', line('Grace created Tools'))).toBe(`Grace created Tools [Open](${page})`)
    for (const text of hostile) {
      const sent = textOf('mattermost', line(text)).replace(` [Open](${page})`, '')
      // What it reads from Slack, what it takes for a mention, and Markdown.
      expect(sent).not.toMatch(/<(?!\u200b)|@(?!\u200b)/)
      expect(sent).not.toMatch(/(?<!\\)(?:\\\\)*[`*_~|#[\]()>]/)
      const read = sent.replace(/\u200b/g, '').replace(/\\([^a-z\d\s])/gi, '$1')
      expect(read).toBe(text)
    }
  })
})

describe('Discord', () => {
  it('notifies nobody, and shows the text as it is', () => {
    expect(discordOf(line('Grace created Tools'))).toEqual({
      content: `Grace created Tools [Open](<${page}>)`,
      allowed_mentions: { parse: [] },
    })
    for (const text of hostile) {
      const sent = discordOf(line(text)).content.replace(` [Open](<${page}>)`, '')
      expect(sent).not.toMatch(/(?<!\\)(?:\\\\)*[`*_~|#[\]()<>@]/)
      expect(sent.replace(/\\([^a-z\d\s])/gi, '$1')).toBe(text)
    }
  })
})

describe('Teams', () => {
  it('gets a card of texts, which are no Markdown', () => {
    expect(bodyOf('teams', line('Grace created Tools'))).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              {
                type: 'RichTextBlock',
                inlines: [
                  { type: 'TextRun', text: 'Grace created Tools ' },
                  { type: 'TextRun', text: 'Open', selectAction: { type: 'Action.OpenUrl', url: page } },
                ],
              },
            ],
          },
        },
      ],
    })
    const rows = rowsOf(...hostile.map((text) => ({ text, url: null })))
    expect(rows.map(({ type, inlines }) => [type, inlines.map(({ text }) => text)])).toEqual(
      hostile.map((text) => ['RichTextBlock', [text]]),
    )
  })
})

describe('every chat', () => {
  const sizes: Record<WebhookFormat, (...lines: ChatLine[]) => [size: number, max: number]> = {
    slack: (...lines) => [textOf('slack', ...lines).length, 4_000],
    mattermost: (...lines) => [textOf('mattermost', ...lines).length, 4_000],
    discord: (...lines) => [discordOf(...lines).content.length, 2_000],
    teams: (...lines) => [Buffer.byteLength(JSON.stringify(bodyOf('teams', ...lines))), 28_000],
  }

  it.each(webhookFormats)('gets no more than it takes, with the number of the rest: %s', (format) => {
    for (const text of ['"', '&', '*', 'あ', '🦉', 'مرحبا ', 'word '].map((part) => part.repeat(900))) {
      const lines = Array.from({ length: 100 }, () => line(text))
      const [size, max] = sizes[format](...lines)
      expect(size).toBeLessThanOrEqual(max)
      const whole = JSON.stringify(bodyOf(format, ...lines))
      const told = Number(/And (\d+) more events?/.exec(whole)?.[1])
      expect(whole.split(page).length - 1 + told).toBe(100)
      expect(told).toBeLessThan(100)
    }
    const few = JSON.stringify(bodyOf(format, ...Array.from({ length: 20 }, (_, i) => line(`Event ${i}`))))
    expect(few).not.toMatch(/more/)
    expect(JSON.stringify(bodyOf(format, ...Array.from({ length: 21 }, () => line('Event'))))).toMatch(
      /And 1 more event\b/,
    )
  })

  it.each(webhookFormats)('gets a sentence without a link where there is none: %s', (format) => {
    expect(JSON.stringify(bodyOf(format, { text: 'Grace joined', url: null }))).not.toMatch(/Open/)
  })
})
