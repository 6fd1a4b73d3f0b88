/** A document of the repository that is published at `/docs/guides/NAME`. */
export interface Guide {
  name: string
  /** Where it is in the repository. */
  file: string
  title: string
  /** What it is for, in the index. */
  summary: string
  /** Publishes only the sections with this heading, each below the heading that it is in. */
  only?: string
}

/** The guides, in the order in which they are read. */
export const guides: readonly Guide[] = [
  {
    name: 'conventions',
    file: 'docs/conventions.md',
    title: 'Conventions',
    summary:
      'What holds for every operation: authentication, pages, limits, retries, conditional requests, errors and versions.',
  },
  {
    name: 'first-copy',
    file: 'docs/first-copy.md',
    title: 'A first copy',
    summary: 'How a program copies a workspace, keeps the copy true, and when it forgets a person.',
  },
  {
    name: 'following-events',
    file: 'docs/following-events.md',
    title: 'Following events',
    summary: 'How a program gets each event once and in order, by polling or as a stream.',
  },
  {
    name: 'events',
    file: 'docs/events.md',
    title: 'Events',
    summary: 'All types of events, with their data and an example of each.',
  },
  {
    name: 'webhooks',
    file: 'docs/webhooks.md',
    title: 'Webhooks',
    summary: 'How the service sends events to a URL of yours, and how a receiver verifies them.',
  },
  {
    name: 'apps',
    file: 'docs/apps.md',
    title: 'Apps with OAuth',
    summary: 'How a program without MCP acts for a person in one workspace, with the consent of that person.',
  },
  {
    name: 'agents',
    file: 'docs/agents.md',
    title: 'Agents',
    summary: 'How agents are connected over MCP, and what they may do.',
  },
  {
    name: 'agent-tools',
    file: 'docs/agent-tools.md',
    title: 'Tools of agents',
    summary: 'What each tool takes and returns, with an example.',
  },
  {
    name: 'validate-an-idea',
    file: 'docs/validate-an-idea.md',
    title: 'Validating an idea',
    summary: 'From a hypothesis over evidence to a decision, for people and agents.',
  },
  {
    name: 'changelog',
    file: 'CHANGELOG.md',
    title: 'Changes of the API',
    summary: 'What each release added to the API, and what it changed and fixed there.',
    only: 'API',
  },
]

/** The pages of the service that show what a file of the repository has. */
const pagesOfFiles: ReadonlyMap<string, string> = new Map([
  ...guides.map(({ name, file }) => [file, `/docs/guides/${name}`] as const),
  ['docs/errors.md', '/docs/errors'],
  ['docs/openapi.json', '/openapi.json'],
])

/** Whether a link leads to another site, or to a part of its own page. */
const isAbsolute = (href: string) => /^(?:[a-z][a-z0-9+.-]*:|#)/i.test(href)

/**
 * The target on the site of a link in a file of the repository; undefined if what it leads to is not published. Only guides
 * have the anchors of their files.
 */
export function siteTargetOf(href: string, file: string): string | undefined {
  if (isAbsolute(href)) return href
  const { pathname, hash } = new URL(href, `file:///${file}`)
  const page = pagesOfFiles.get(pathname.slice(1))
  return page?.startsWith('/docs/guides/') ? page + hash : page
}

/** The text of a guide, out of that of its file. */
export function textOfGuide({ only, title }: Guide, text: string): string {
  if (only === undefined) return text
  const sections = text.split(/^(?=## )/m).flatMap((section) => {
    const [heading = ''] = section.replaceAll(/[[\]]/g, '').split('\n')
    const part = section.split(/^(?=### )/m).find((text) => text.startsWith(`### ${only}\n`))
    return part === undefined ? [] : [`${heading}\n${part.slice(part.indexOf('\n'))}`]
  })
  return [`# ${title}\n`, ...sections].join('\n')
}
