import MarkdownIt from 'markdown-it'

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
// A name has at most 100 characters, each of which may be escaped.
const mention = `\\[@((?:[^\\[\\]\\\\\\n]|\\\\[^\\n]){0,200})\\]\\(user:(${id})\\)`

/** What looks like a mention, `[@Name](user:ID)`: it is none in code, for example. */
export const mentionLike = new RegExp(mention, 'g')
const mentionHere = new RegExp(mention, 'y')

/**
 * Makes the parser of all text of people, which decides what is a mention, for those who are told and for those who read:
 * CommonMark without HTML, images, headings and rules. Line breaks stay, as in the text that was typed. A mention is a link
 * whose first token has the id of the person in `meta.mentionedUserId`; other links lead to http, https and mailto.
 */
export function createMarkdown(): InstanceType<typeof MarkdownIt> {
  const markdown = new MarkdownIt('zero', { linkify: true, breaks: true })
    .enable(['autolink', 'backticks', 'blockquote', 'code', 'emphasis', 'entity', 'escape', 'fence', 'link'])
    .enable(['linkify', 'list', 'newline', 'strikethrough'])
  // Only what begins with a scheme, so that file names and version numbers do not become links.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
  markdown.validateLink = (url) => /^(?:https?:|mailto:)/i.test(url)
  markdown.inline.ruler.before('link', 'mention', (state, isSilent) => {
    mentionHere.lastIndex = state.pos
    const [text, name = '', userId] = mentionHere.exec(state.src) ?? []
    if (text === undefined || state.pos + text.length > state.posMax) return false
    if (!isSilent) {
      state.push('link_open', 'a', 1).meta = { mentionedUserId: userId }
      state.push('text', '', 0).content = `@${markdown.utils.unescapeAll(name)}`
      state.push('link_close', 'a', -1)
    }
    state.pos += text.length
    return true
  })
  return markdown
}

/** The id of the person whom a token of `createMarkdown` mentions. */
export function mentionedUserIdOf({ meta }: { meta: unknown }): string | undefined {
  return (meta as { mentionedUserId?: string } | null)?.mentionedUserId
}
