import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../../http/description/examples.ts'
import type { AgentPrincipal } from '../../../kernel/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import { parseJson, toJson } from '../../../kernel/json-text.ts'
import { closed, noControlCharacters } from '../../../kernel/schemas.ts'
import { defineTool, readingHints, type AgentTool } from '../agent-tool.ts'
import { AgentDocument, AgentSearch } from './agent-tools.schemas.ts'
import type { KitOutlineItem } from '../agent.schemas.ts'
import type { KitForm, KitService } from '../agent.service.ts'
import type { SeedLinks } from '../seed-links.ts'
import { describeSeed } from './seed-document.ts'

const resultsMax = 20
// A model asks in a few words. Each of them is one query.
const wordsMax = 6
const wordLengthMin = 3

/**
 * `search` and `fetch` in the form that the deep research of ChatGPT requires: search returns ids, titles and URLs, fetch
 * the text of one of them. `form` is the form of the kit over MCP.
 */
export function searchTools(kit: KitService, links: SeedLinks, form: KitForm): AgentTool[] {
  const find = async (agent: AgentPrincipal, query: string): Promise<KitOutlineItem[]> =>
    parseJson(await kit.read(agent, { query, detail: 'outline', limit: resultsMax }, form)).outline

  return [
    defineTool({
      name: 'search',
      title: 'Search the seeds',
      description:
        'Finds up to 20 seeds of the workspace whose title, summary or problem contains words of the query. Seeds with ' +
        'the most of these words come first. Call fetch with an id of the results to read the text. For people, use ' +
        'list_people; for activity, use list_events.',
      did: 'searched the seeds',
      scope: 'workspace:read',
      action: 'seeds.list',
      http: { id: 'agent.search', path: '/agent/v1/seeds::search', returns: 'The results.' },
      input: closed(
        {
          query: Type.String({
            minLength: 1,
            maxLength: 100,
            pattern: noControlCharacters,
            description: 'A few words, such as `onboarding calls`.',
          }),
        },
        { examples: [{ query: 'onboarding' }] },
      ),
      output: AgentSearch,
      parts: [],
      hints: readingHints,
      async call(agent, { query }) {
        const found: KitOutlineItem[][] = []
        // One after the other: a search is worth one connection.
        for (const term of termsOf(query)) found.push(await find(agent, term))
        const results = rank(found)
          .slice(0, resultsMax)
          .map(({ id, title }) => ({ id, title, url: links.urlOf(agent, id) }))
        return toJson({ results })
      },
      errors: [],
      advice: {},
    }),
    defineTool({
      name: 'fetch',
      title: 'Fetch a seed',
      description:
        'Returns one seed as text, with its newest evidence, by an id that search returned. read_validation_kit with ' +
        'seedId returns the same as data.',
      did: 'read a seed',
      scope: 'workspace:read',
      action: 'seeds.get',
      http: { id: 'agent.fetch', path: '/agent/v1/seeds::fetch', returns: 'The seed as text.' },
      input: closed(
        { id: Type.String({ description: 'An id that search returned.' }) },
        { examples: [{ id: exampleIds.seed }] },
      ),
      output: AgentDocument,
      parts: [],
      hints: readingHints,
      async call(agent, { id }) {
        const read = parseJson(await kit.read(agent, { seedId: id }, form))
        const [seed] = read.seeds
        if (!seed) throw errors.notFound()
        const { title, status, updatedAt, url } = seed
        return toJson({ id, title, text: describeSeed(seed, read), url, metadata: { status, updatedAt } })
      },
      errors: [errors.notFound],
      advice: { not_found: 'No seed of this workspace has this id. Call search for the ids that there are.' },
    }),
  ]
}

/** The query as a whole, and each of its words. */
function termsOf(query: string): string[] {
  const words = query.split(/\s+/).filter((word) => word.length >= wordLengthMin)
  return [...new Set([query.trim(), ...words.slice(0, wordsMax)])].filter((term) => term !== '')
}

/** Seeds that more of the lists have come first, then those that changed last. */
function rank(lists: readonly (readonly KitOutlineItem[])[]): KitOutlineItem[] {
  const seeds = new Map(lists.flat().map((seed) => [seed.id, seed]))
  const countOf = ({ id }: KitOutlineItem) =>
    lists.filter((list) => list.some((seed) => seed.id === id)).length
  return [...seeds.values()].sort(
    (one, other) => countOf(other) - countOf(one) || other.updatedAt.localeCompare(one.updatedAt),
  )
}
