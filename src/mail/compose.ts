import { escapeHtml } from '../kernel/escape-html.ts'
import { serviceName } from '../domain/service-name.ts'
import { withoutRefused } from '../kernel/text.ts'

/** The content of a mail, as HTML and for mail programs without HTML. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

/** What a mail says. Names may be in all of it: `compose` escapes them. */
export interface MailParts {
  subject: string
  paragraphs: string[]
  /** Things with a link each, below the paragraphs. */
  items?: { text: string; url: string }[]
  /** A sentence below the things. */
  afterItems?: string
  /** What to do: a button, and the address in plain text. */
  link: { label: string; url: string }
  footer: string
}

// Without colors but those of the button, which is readable on light and on dark ground: mail programs choose the rest.
const bodyStyle = 'font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:auto;padding:16px'
const nameStyle = 'font-weight:600;font-size:18px'
const buttonStyle =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#3a4fc4;color:#fff;text-decoration:none'
const smallStyle = 'font-size:14px;opacity:0.8;overflow-wrap:anywhere'

/** Makes the parts of a mail: the same words in both, with the name of the service. It loads nothing from the network. */
export function compose({ link, footer, items = [], afterItems, ...written }: MailParts): MailContent {
  const subject = withoutRefused(written.subject)
  const paragraphs = written.paragraphs.map(withoutRefused)
  const listed = items.map(({ text, url }) => ({ text: wrap(withoutRefused(text)), url }))
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
    ...listed.map(({ text, url }) => `<p><a href="${escapeHtml(url)}">${escapeHtml(text)}</a></p>`),
    ...(afterItems === undefined ? [] : [`<p>${escapeHtml(afterItems)}</p>`]),
    `<p><a style="${buttonStyle}"`,
    `href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
    `<p style="${smallStyle}">If the button does not work, open this address:`,
    `<a href="${escapeHtml(link.url)}">${escapeHtml(link.url)}</a></p>`,
    `<p style="${smallStyle}">${escapeHtml(wrap(footer))}</p>`,
    '</body>',
    '</html>',
    '',
  ]
  return {
    subject,
    text: [
      serviceName,
      ...paragraphs.map(wrap),
      ...listed.map(({ text, url }) => `${text}:\n${url}`),
      ...(afterItems === undefined ? [] : [afterItems]),
      `${link.label}:\n${link.url}`,
      wrap(footer),
      '',
    ].join('\n\n'),
    html: html.join('\n'),
  }
}

/** Wraps text to lines of at most 72 characters, except longer words. */
function wrap(text: string): string {
  return text.replace(/(?=\S)(.{1,72})(?:\s+|$)/gu, '$1\n').trimEnd()
}
