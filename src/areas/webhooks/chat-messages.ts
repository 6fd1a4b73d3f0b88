import { kindOf, isEventType } from '../../domain/events.ts'
import type { WebhookFormat, WebhookRequest } from '../../domain/webhooks.ts'
import { shorten } from '../../kernel/text.ts'

/** What a message says of an event: a sentence, and where it leads. */
export interface ChatLine {
  text: string
  /** An https address of the website. Null: nowhere. */
  url: string | null
}

/** How a chat wants its messages. */
interface ChatFormat {
  /** The body of a request. */
  render: (lines: readonly ChatLine[]) => object
  /** Whether a body is as short as the chat takes it. */
  fits: (body: object) => boolean
}

/** The most events that a message names, and the most characters that it has of each. */
const linesMax = 20
const lineLengthMax = 300
const linkText = 'Open'
/** A character that is not seen, and that ends words. */
const gap = '\u200b'

const textOf = (
  lines: readonly ChatLine[],
  escape: (text: string) => string,
  link: (url: string) => string,
) => lines.map(({ text, url }) => escape(text) + (url === null ? '' : ` ${link(url)}`)).join('\n')

const escapeSlack = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const markdown = /[\\`*_~|#[\]()>+\-!]/g

/** Mattermost also reads the mentions and links of Slack, and takes `@` with a word for a mention wherever it is. */
const escapeMattermost = (text: string) => text.replace(markdown, '\\$&').replace(/[@<]/g, `$&${gap}`)

const escapeDiscord = (text: string) => text.replace(/[\\`*_~|#[\]()<>+\-!@:]/g, '\\$&')

const formats: Record<WebhookFormat, ChatFormat> = {
  // Three characters are escaped, and only `<` begins a mention or a link (docs.slack.dev, "Formatting message text").
  slack: {
    render: (lines) => ({
      text: textOf(lines, escapeSlack, (url) => `<${escapeSlack(url)}|${linkText}>`),
      unfurl_links: false,
    }),
    fits: ({ text }: { text?: string }) => (text ?? '').length <= 4_000,
  },
  // Texts of a RichTextBlock are no Markdown (adaptivecards.io). A message has at most 28 KB.
  teams: {
    render: (lines) => ({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: lines.map(({ text, url }) => ({ type: 'RichTextBlock', inlines: toRuns(text, url) })),
          },
        },
      ],
    }),
    fits: (body) => Buffer.byteLength(JSON.stringify(body)) <= 24_000,
  },
  // Nobody is notified, whatever the text has (discord.com/developers, "Allowed Mentions").
  discord: {
    render: (lines) => ({
      content: textOf(lines, escapeDiscord, (url) => `[${linkText}](<${url}>)`),
      allowed_mentions: { parse: [] },
    }),
    fits: ({ content }: { content?: string }) => (content ?? '').length <= 2_000,
  },
  mattermost: {
    render: (lines) => ({ text: textOf(lines, escapeMattermost, (url) => `[${linkText}](${url})`) }),
    fits: ({ text }: { text?: string }) => (text ?? '').length <= 4_000,
  },
}

function toRuns(text: string, url: string | null): object[] {
  const run = { type: 'TextRun', text }
  if (url === null) return [run]
  const link = { type: 'TextRun', text: linkText, selectAction: { type: 'Action.OpenUrl', url } }
  return [{ ...run, text: `${text} ` }, link]
}

/**
 * The request with a message for a chat. What does not fit is counted in its last line. It is not signed: chats know who
 * sends by the URL, which is a secret.
 */
export function makeChatRequest(
  format: WebhookFormat,
  { url, userAgent, lines }: { url: string; userAgent: string; lines: readonly ChatLine[] },
): WebhookRequest {
  const { render, fits } = formats[format]
  const short = lines.map((line) => ({ ...line, text: shorten(line.text, lineLengthMax) }))
  let shown = Math.min(short.length, linesMax)
  let body = render(withRest(short, shown))
  while (shown > 1 && !fits(body)) body = render(withRest(short, --shown))
  return {
    url,
    headers: { 'content-type': 'application/json', 'user-agent': userAgent },
    body: JSON.stringify(body),
  }
}

function withRest(lines: readonly ChatLine[], shown: number): ChatLine[] {
  const rest = lines.length - shown
  const counted = { text: `And ${rest} more ${rest === 1 ? 'event' : 'events'}.`, url: null }
  return [...lines.slice(0, shown), ...(rest > 0 ? [counted] : [])]
}

/** Whether a chat may have an event: what only some people may see is sent if its type was chosen. */
export function mayHave({ types }: { types: readonly string[] }, type: string): boolean {
  if (types.length > 0) return types.includes(type)
  return isEventType(type) && kindOf(type).readers === 'everybody'
}
