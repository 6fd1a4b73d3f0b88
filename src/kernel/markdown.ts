import MarkdownIt from 'markdown-it'

/** How deep quotes and lists are nested at most. Deeper ones are text. */
const nestingMax = 20
/** The cells of all tables of a text. A line of one character fills a row of as many cells as the table has columns. */
const cellsMax = 2000

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
// A name has at most 100 characters, each of which may be escaped.
const mentionOf = (kind: string) => `\\[@((?:[^\\[\\]\\\\\\n]|\\\\[^\\n]){0,200})\\]\\(${kind}:(${id})\\)`

/** What looks like a mention of a person, `[@Name](user:ID)`: it is none in code, for example. */
export const mentionLike = new RegExp(mentionOf('user'), 'g')
/** What looks like a mention of an agent, `[@Name](agent:GRANT)`. */
export const agentMentionLike = new RegExp(mentionOf('agent'), 'g')
/** What looks like a mention of a team, `[@Name](team:ID)`. */
export const teamMentionLike = new RegExp(mentionOf('team'), 'g')
const mentionHere = new RegExp(mentionOf('(user|agent|team)'), 'y')

/**
 * Makes the parser of all text of people, which decides what is a mention, for those who are told and for those who read:
 * CommonMark with tables, without HTML, images and headings. Line breaks stay, as in the text that was typed. A mention is a
 * link whose first token has the id of the person in `meta.mentionedUserId`, of the grant of an agent in
 * `meta.mentionedGrantId`, or of the team in `meta.mentionedTeamId`; other links lead to http, https and mailto.
 * What exceeds a limit is text.
 */
export function createMarkdown(): InstanceType<typeof MarkdownIt> {
  const markdown = new MarkdownIt('zero', { linkify: true, breaks: true, maxNesting: 3 * nestingMax })
    .enable([
      'autolink',
      'backticks',
      'blockquote',
      'code',
      'emphasis',
      'entity',
      'escape',
      'fence',
      'hr',
      'link',
    ])
    .enable(['linkify', 'list', 'newline', 'strikethrough', 'table'])
  limitNesting(markdown)
  limitCells(markdown)
  // Only what begins with a scheme, so that file names and version numbers do not become links.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
  markdown.validateLink = (url) => /^(?:https?:|mailto:)/i.test(url)
  markdown.inline.ruler.before('link', 'mention', (state, isSilent) => {
    mentionHere.lastIndex = state.pos
    const [text, name = '', kind, mentionedId] = mentionHere.exec(state.src) ?? []
    if (text === undefined || state.pos + text.length > state.posMax) return false
    if (!isSilent) {
      state.push('link_open', 'a', 1).meta = { [metaOf[kind as keyof typeof metaOf]]: mentionedId }
      state.push('text', '', 0).content = `@${markdown.utils.unescapeAll(name)}`
      state.push('link_close', 'a', -1)
    }
    state.pos += text.length
    return true
  })
  return markdown
}

const metaOf = { user: 'mentionedUserId', agent: 'mentionedGrantId', team: 'mentionedTeamId' } as const

/** The id of the person whom a token of `createMarkdown` mentions. */
export function mentionedUserIdOf({ meta }: { meta: unknown }): string | undefined {
  return (meta as { mentionedUserId?: string } | null)?.mentionedUserId
}

/** The grant of the agent that a token of `createMarkdown` mentions. */
export function mentionedGrantIdOf({ meta }: { meta: unknown }): string | undefined {
  return (meta as { mentionedGrantId?: string } | null)?.mentionedGrantId
}

/** The id of the team that a token of `createMarkdown` mentions. */
export function mentionedTeamIdOf({ meta }: { meta: unknown }): string | undefined {
  return (meta as { mentionedTeamId?: string } | null)?.mentionedTeamId
}

type Markdown = InstanceType<typeof MarkdownIt>
type BlockRule = Parameters<Markdown['block']['ruler']['at']>[1]

/** What of the limits the text of an environment has used. */
interface Used {
  nesting?: number
  cells?: number
}

/** Has quotes and lists begin `nestingMax` levels deep at most. The parser itself would leave out what is deeper. */
function limitNesting({ block }: Markdown): void {
  const alternatives = ['paragraph', 'reference', 'blockquote']
  for (const [name, alt] of [
    ['blockquote', [...alternatives, 'list']],
    ['list', alternatives],
  ] as const) {
    const rule = readRule(name)
    const limited: BlockRule = (state, startLine, endLine, isSilent) => {
      const used = state.env as Used
      const { nesting = 0 } = used
      if (nesting >= nestingMax) return false
      used.nesting = nesting + 1
      const isFound = rule(state, startLine, endLine, isSilent)
      used.nesting = nesting
      return isFound
    }
    block.ruler.at(name, limited, { alt: [...alt] })
  }
}

/** Ends tables where a text has used up its cells. */
function limitCells({ block }: Markdown): void {
  const rule = readRule('table')
  const limited: BlockRule = (state, startLine, endLine, isSilent) => {
    if (!rule(state, startLine, endLine, true)) return false
    const used = state.env as Used
    const { cells = 0 } = used
    const delimiters = state.src.slice(state.bMarks[startLine + 1], state.eMarks[startLine + 1])
    const columns = delimiters.match(/-+/g)?.length ?? 0
    const rows = Math.floor((cellsMax - cells) / columns)
    if (rows < 1) return false
    if (isSilent) return true
    // The line of delimiters is no row.
    rule(state, startLine, Math.min(endLine, startLine + 1 + rows), false)
    used.cells = cells + columns * (state.line - startLine - 1)
    return true
  }
  block.ruler.at('table', limited, { alt: ['paragraph', 'reference'] })
}

function readRule(name: string): BlockRule {
  // This preset has paragraphs alone, which are the last rule.
  const [rule] = new MarkdownIt('zero').enable(name).block.ruler.getRules('')
  if (!rule) throw new Error(`no rule ${name}`)
  return rule
}

let plain: InstanceType<typeof MarkdownIt> | undefined

/** A text of people as it reads without Markdown, with its line breaks. A row of a table is one line. */
export function toPlainText(text: string): string {
  plain ??= createMarkdown()
  // The content of a paragraph is in its children, that of a block of code is not.
  const words = plain.parse(text, {}).flatMap(({ children, content, type }) => {
    if (children) return children.map(wordsOf)
    return /^t[dh]_/.test(type) ? (type.endsWith('close') ? '  ' : '') : [content, '\n']
  })
  const lines = words.join('').split('\n')
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
    .trim()
}

function wordsOf({ content, type }: { content: string; type: string }): string {
  return type === 'softbreak' || type === 'hardbreak' ? '\n' : content
}
