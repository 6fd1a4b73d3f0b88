import { createMarkdown, mentionedUserIdOf } from '../../kernel/markdown.ts'
import { Html } from './html.ts'

/** More than two lines have. */
const excerptLengthMax = 400

const markdown = createMarkdown()

markdown.renderer.rules.link_open = (tokens, index, options, context, renderer) => {
  const token = tokens[index]
  const userId = token && mentionedUserIdOf(token)
  if (userId !== undefined) {
    token?.attrSet('href', `${String(context?.base)}/people/${userId}`)
    token?.attrSet('class', 'mention')
  } else token?.attrSet('rel', 'noopener noreferrer nofollow ugc')
  return renderer.renderToken(tokens, index, options)
}

/**
 * Renders text of people as Markdown: paragraphs, lists, quotes, emphasis, code and links. All else is text; HTML in it is
 * escaped. URLs become links. `base` is the path of the workspace, for links to the people whom a text mentions.
 */
export function renderMarkdown(text: string, base: string): Html {
  // The direction is that of the text, and does not reach the text around it.
  return new Html(`<div class="markdown" dir="auto">${markdown.render(text, { base })}</div>`)
}

/** The first lines of a text of people, as they read without Markdown. For lists, which show two lines. */
export function excerptOf(text: string): string {
  // Without half a character at its end.
  const start = text.slice(0, excerptLengthMax).replace(/[\uD800-\uDBFF]$/, '')
  // The content of a paragraph is in its children, that of a block of code is not.
  const words = markdown
    .parse(start, {})
    .flatMap(({ children, content }) => [...(children?.map(wordsOf) ?? [content]), ' '])
  const line = words.join('').replaceAll(/\s+/g, ' ').trim()
  return start === text ? line : `${line}…`
}

function wordsOf({ content, type }: { content: string; type: string }): string {
  return type === 'softbreak' || type === 'hardbreak' ? ' ' : content
}
