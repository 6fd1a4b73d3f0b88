import MarkdownIt from 'markdown-it'
import { Html } from '../components/html.ts'
import { renderForPages } from '../components/markdown.ts'
import { guides, siteTargetOf } from './guides.ts'

/** A rendered guide, with the headings of its sections. */
export interface RenderedGuide {
  body: Html
  sections: { id: string; title: string }[]
}

const markdown = new MarkdownIt()
renderForPages(markdown)

const titles: ReadonlyMap<string, string> = new Map(
  guides.map(({ file, title }) => [file.replace('docs/', ''), title]),
)
/**
 * Renders Markdown of the repository, which is trusted, for the site: links to other documents lead to their pages, and are
 * only text if there is none. `origins` are what the examples have in place of the origins of the service.
 */
export function renderGuide(
  text: string,
  file: string,
  origins: Readonly<Record<string, string>>,
): RenderedGuide {
  let source = text
    .replaceAll(/<!--.*?-->/gs, '')
    // A reference in parentheses would be an empty phrase.
    .replaceAll(/ \(\[[^\]]*\]\(([^()\s]+)\)\)/g, (reference, href: string) =>
      siteTargetOf(href, file) === undefined ? '' : reference,
    )
  for (const [example, origin] of Object.entries(origins)) source = source.replaceAll(example, origin)
  const tokens = markdown.parse(source, {})
  const used = new Map<string, number>()
  const sections: RenderedGuide['sections'] = []
  for (const [i, token] of tokens.entries()) {
    let isDropped = false
    for (const part of token.children ?? []) {
      if (part.type === 'link_open') {
        const target = siteTargetOf(String(part.attrGet('href')), file)
        isDropped = target === undefined
        part.attrSet('href', target ?? '')
      }
      // In the repository, some links have the name of the file as their text.
      if (part.type === 'text') part.content = titles.get(part.content) ?? part.content
      // What is hidden is not rendered, but the text of the link is.
      if (isDropped && part.type.startsWith('link_')) part.hidden = true
    }
    if (token.type !== 'heading_open') continue
    const title = (tokens[i + 1]?.children ?? []).map(({ content }) => content).join('')
    const id = anchorOf(title, used)
    token.attrSet('id', id)
    if (token.tag === 'h2') sections.push({ id, title })
  }
  return { body: new Html(markdown.renderer.render(tokens, markdown.options, {})), sections }
}

/** The anchor that GitHub gives a heading, so that links work there and here. */
function anchorOf(title: string, used: Map<string, number>): string {
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
  const times = used.get(anchor) ?? 0
  used.set(anchor, times + 1)
  return times === 0 ? anchor : `${anchor}-${times}`
}
