import {
  createMarkdown,
  mentionedGrantIdOf,
  mentionedTeamIdOf,
  mentionedUserIdOf,
  toPlainText,
} from '../../kernel/markdown.ts'
import { Html } from './html.ts'

/** More than two lines have. */
const excerptLengthMax = 400

const markdown = createMarkdown()
renderForPages(markdown)

markdown.renderer.rules.link_open = (tokens, index, options, context, renderer) => {
  const token = tokens[index]
  const userId = token && mentionedUserIdOf(token)
  const teamId = token && mentionedTeamIdOf(token)
  const page = userId === undefined ? teamId && `teams/${teamId}` : `people/${userId}`
  if (page !== undefined) {
    token?.attrSet('href', `${String(context?.base)}/${page}`)
    token?.attrSet('class', 'mention')
  } else if (token && mentionedGrantIdOf(token) !== undefined) {
    // Of the agents of others, most people have no page: a link without an address is text.
    token.attrSet('class', 'mention')
  } else token?.attrSet('rel', 'noopener noreferrer nofollow ugc')
  return renderer.renderToken(tokens, index, options)
}

/**
 * Renders text of people as Markdown: paragraphs, lists, tables, quotes, rules, emphasis, code and links. All else is text; HTML in it is
 * escaped. URLs become links. `base` is the path of the workspace, for links to the people and teams that a text mentions.
 */
export function renderMarkdown(text: string, base: string): Html {
  // The direction is that of the text, and does not reach the text around it.
  return new Html(`<div class="markdown" dir="auto">${markdown.render(text, { base })}</div>`)
}

/** The first lines of a text of people, as they read without Markdown. For lists, which show two lines. */
export function excerptOf(text: string): string {
  // Without half a character at its end.
  const start = text.slice(0, excerptLengthMax).replace(/[\uD800-\uDBFF]$/, '')
  const line = toPlainText(start).replaceAll(/\s+/g, ' ')
  return start === text ? line : `${line}…`
}

/** Has a renderer make what the pages of the website can show: without styles, and with parts that scroll by themselves. */
export function renderForPages({ renderer, utils }: ReturnType<typeof createMarkdown>): void {
  const { rules } = renderer
  // What is wider than the page scrolls by itself, also by the keyboard.
  rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'
  rules.table_close = () => '</table></div>\n'
  for (const name of ['code_block', 'fence'])
    rules[name] = (tokens, index) =>
      `<pre role="group" aria-label="Code" tabindex="0"><code>${utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`

  // The content security policy allows no styles in attributes.
  for (const name of ['td_open', 'th_open'])
    rules[name] = (tokens, index, options, _context, renderer) => {
      const token = tokens[index]
      const alignment = /^text-align:(\w+)$/.exec(String(token?.attrGet('style') ?? ''))?.[1]
      if (token && alignment !== undefined) token.attrs = [['class', `align-${alignment}`]]
      return renderer.renderToken(tokens, index, options)
    }
}
