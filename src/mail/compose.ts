import { escapeHtml } from '../kernel/escape-html.ts'
import { serviceName } from '../domain/service-name.ts'
import { withoutRefused } from '../kernel/text.ts'

/** The content of a mail, as HTML and for mail programs without HTML. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

/** What a mail says. Names and texts of people may be in all of it: `compose` escapes them. */
export interface MailParts {
  subject: string
  paragraphs: string[]
  /** What somebody wrote, below the paragraphs. */
  quote?: string | undefined
  /** Things with a link each, below the paragraphs. */
  items?: MailItem[]
  /** A sentence below the things. */
  afterItems?: string
  /** Other things with a link each, below that. */
  furtherItems?: MailItem[]
  /** What to do: a button, and the address in plain text. */
  link: { label: string; url: string }
  footer: string
  /** A link below the footer. */
  footerLink?: { label: string; url: string }
}

export interface MailItem {
  text: string
  url: string
  /** A sentence below the link. */
  note?: string
  /** What people wrote, with who did. */
  quotes?: { text: string; quote: string }[]
}

// Without colors but those of the button, which is readable on light and on dark ground: mail programs choose the rest.
const bodyStyle = 'font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:auto;padding:16px'
const nameStyle = 'font-weight:600;font-size:18px'
const buttonStyle =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#3a4fc4;color:#fff;text-decoration:none'
const smallStyle = 'font-size:14px;opacity:0.8;overflow-wrap:anywhere'
// Set off from what the mail says, so that nothing in it looks like a part of that.
const quoteStyle = 'margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #8a8f98;overflow-wrap:anywhere'
const quotedByStyle = 'margin:0 0 4px'
const itemStyle = 'margin:24px 0 8px;overflow-wrap:anywhere'

/** Makes the parts of a mail: the same words in both, with the name of the service. It loads nothing from the network. */
export function compose(parts: MailParts): MailContent {
  const { link, footer, footerLink, quote, items = [], afterItems, furtherItems = [] } = parts
  const subject = withoutRefused(parts.subject)
  const paragraphs = parts.paragraphs.map(withoutRefused)
  // Wrapped, one line per element: mail limits the length of lines (RFC 5322 §2.1.1), and people read the source.
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    '</head>',
    `<body style="${bodyStyle}">`,
    `<p style="${nameStyle}">${escapeHtml(serviceName)}</p>`,
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(wrap(paragraph))}</p>`),
    ...(quote === undefined ? [] : [quoteInHtml(quote)]),
    ...items.flatMap(itemInHtml),
    ...(afterItems === undefined ? [] : [`<p>${escapeHtml(afterItems)}</p>`]),
    ...furtherItems.flatMap(itemInHtml),
    `<p><a style="${buttonStyle}"`,
    `href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
    `<p style="${smallStyle}">If the button does not work, open this address:`,
    `<a href="${escapeHtml(link.url)}">${escapeHtml(link.url)}</a></p>`,
    `<p style="${smallStyle}">${escapeHtml(wrap(footer))}`,
    ...(footerLink
      ? [`<br><a href="${escapeHtml(footerLink.url)}">${escapeHtml(footerLink.label)}</a>`]
      : []),
    '</p>',
    '</body>',
    '</html>',
    '',
  ]
  return {
    subject,
    text: [
      serviceName,
      ...paragraphs.map(wrap),
      ...(quote === undefined ? [] : [quoteInText(quote)]),
      ...items.flatMap(itemInText),
      ...(afterItems === undefined ? [] : [afterItems]),
      ...furtherItems.flatMap(itemInText),
      `${link.label}:\n${link.url}`,
      [wrap(footer), ...(footerLink ? [`${footerLink.label}:\n${footerLink.url}`] : [])].join('\n'),
      '',
    ].join('\n\n'),
    html: html.join('\n'),
  }
}

function itemInHtml({ text, url, note, quotes = [] }: MailItem): string[] {
  const title = `<a href="${escapeHtml(url)}">${escapeHtml(wrap(withoutRefused(text)))}</a>`
  return [
    `<p style="${itemStyle}">${title}`,
    ...(note === undefined ? [] : [`<br>${escapeHtml(wrap(withoutRefused(note)))}`]),
    '</p>',
    ...quotes.flatMap(({ text: by, quote }) => [
      `<p style="${quotedByStyle}">${escapeHtml(wrap(`${withoutRefused(by)}:`))}</p>`,
      quoteInHtml(quote),
    ]),
  ]
}

function itemInText({ text, url, note, quotes = [] }: MailItem): string[] {
  return [
    `${wrap(withoutRefused(text))}:\n${url}`,
    ...(note === undefined ? [] : [wrap(withoutRefused(note))]),
    ...quotes.map(({ text: by, quote }) => `${wrap(`${withoutRefused(by)}:`)}\n${quoteInText(quote)}`),
  ]
}

/** The lines of a quote, without characters that change the direction of what follows, or that cannot be seen. */
function linesOf(quote: string): string[] {
  return quote.split('\n').map((line) => withoutRefused(line).trimEnd())
}

/** Each line has a direction of its own. */
function quoteInHtml(quote: string): string {
  const lines = linesOf(quote).map((line) => `<div dir="auto">${escapeHtml(wrap(line))}</div>`)
  return [`<blockquote style="${quoteStyle}">`, ...lines, '</blockquote>'].join('\n')
}

function quoteInText(quote: string): string {
  const lines = linesOf(quote).flatMap((line) => wrapWords(line, quoteColumns))
  return lines.map((line) => `> ${line}`).join('\n')
}

const quoteColumns = 70

/** Wraps a line, long words and lines without spaces too, but no address of the web. */
function wrapWords(line: string, columns: number): string[] {
  const wrapped: string[] = []
  let current = ''
  let used = 0
  for (const word of line.split(' ').flatMap((word) => splitWord(word, columns))) {
    const gap = word.isFirst && current !== '' ? ' ' : ''
    if (current !== '' && used + gap.length + word.columns > columns) {
      wrapped.push(current)
      current = ''
      used = 0
    }
    const before = current === '' ? '' : gap
    current += before + word.text
    used += before.length + word.columns
  }
  return [...wrapped, current]
}

interface PartOfWord {
  text: string
  columns: number
  /** Whether a space is before it. */
  isFirst: boolean
}

/** The characters of a word that is longer than a line, each of which may begin one; otherwise the word. */
function splitWord(word: string, columnsMax: number): PartOfWord[] {
  const characters = Array.from(new Intl.Segmenter().segment(word), ({ segment }) => segment)
  // Characters of East Asia and emoji are as wide as two others.
  const parts = characters.map((text, i) => ({
    text,
    columns: (text.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2,
    isFirst: i === 0,
  }))
  const columns = parts.reduce((sum, part) => sum + part.columns, 0)
  if (columns > columnsMax && !word.includes('://')) return parts
  return [{ text: word, columns, isFirst: true }]
}

/** Wraps text to lines of at most 72 characters, except longer words. */
function wrap(text: string): string {
  return text.replace(/(?=\S)(.{1,72})(?:\s+|$)/gu, '$1\n').trimEnd()
}
