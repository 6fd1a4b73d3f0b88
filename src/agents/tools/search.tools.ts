import { Type, type Static } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { agentSearchKinds, mayReadDiscussions, toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'
import { errors, ignoreNotFound } from '../../kernel/errors.ts'
import { parseJson, toJson } from '../../kernel/json-text.ts'
import { closed } from '../../kernel/schemas.ts'
import { searchLengthMax, type SearchMatch } from '../../domain/search.ts'
import type { SearchResult, SearchService } from '../../areas/workspaces/search/search.service.ts'
import type { AttachmentsService } from '../../areas/attachments/attachments.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'
import type { KitForm, KitService } from '../kit/kit.service.ts'
import type { SeedLinks } from '../kit/seed-links.ts'
import { AgentDocument, AgentSearch } from './agent-tools.schemas.ts'
import { describeAttachment, describeSeed } from './seed-document.ts'

const resultsMax = 20
// A model asks in a few words. Each of them is one query.
const wordsMax = 6
const wordLengthMin = 3

const foundNothing =
  'Nothing matches. Words are found whole or by their beginning, without regard to case and accents: try others, or ' +
  'list all seeds with read_validation_kit.'

const foundSome = 'No seed has all words. These have some of them.'
const foundSimilar = 'No exact match. These are similar: their words are almost those of the query.'

/**
 * `search` and `fetch` in the form that the deep research of ChatGPT requires: search returns ids, titles and URLs, fetch
 * the text of one of them. `form` is the form of the kit over MCP.
 */
export function searchTools(
  { kit, search, attachments }: { kit: KitService; search: SearchService; attachments: AttachmentsService },
  links: SeedLinks,
  form: KitForm,
): AgentTool[] {
  async function find(
    agent: AgentPrincipal,
    q: string,
    match: SearchMatch = 'exact',
  ): Promise<SearchResult[]> {
    const kinds = agentSearchKinds.filter((kind) => kind !== 'comment' || mayReadDiscussions(agent)).join()
    const request = { q, kinds, match, limit: resultsMax }
    const { items } = await search.search(toPrincipal(agent), agent.workspace.slug, request)
    return parseJson(items)
  }

  /** A file, of a comment only for who reads comments. Throws `not_found`. */
  async function fetchFile(agent: AgentPrincipal, attachmentId: string) {
    const path = { slug: agent.workspace.slug, attachmentId }
    const { seedId, commentId, ...file } = await attachments.read(toPrincipal(agent), path)
    if (commentId !== null && !mayReadDiscussions(agent)) throw errors.notFound()
    return toJson({
      ...{ id: attachmentId, title: file.name, text: describeAttachment(file) },
      url: links.urlOf(agent, seedId),
      metadata: { status: file.seedStatus, updatedAt: file.createdAt },
    })
  }

  return [
    defineTool({
      name: 'search',
      title: 'Search the seeds',
      description:
        'Finds seeds by words of their texts, evidence and comments, best first. Go on with fetch.',
      did: 'searched the seeds',
      scope: 'workspace:read',
      action: 'workspaces.search',
      http: { id: 'agent.search', path: '/agent/v1/seeds::search', returns: 'The results.' },
      input: closed(
        {
          query: Type.String({
            minLength: 1,
            maxLength: searchLengthMax,
            'x-text': 'query',
            description: 'A few words.',
          }),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: resultsMax, description: `Default ${resultsMax}.` }),
          ),
        },
        { examples: [{ query: 'onboarding' }] },
      ),
      output: AgentSearch,
      parts: [],
      hints: readingHints,
      async call(agent, { query, limit = resultsMax }) {
        const found: SearchResult[][] = []
        // One after the other: a search is worth one connection.
        for (const term of termsOf(query)) found.push(await find(agent, term))
        const wordCount = wordsOf(query).length
        const exact = rank(found, wordCount)
        const whole = exact.filter(({ hasAll }) => hasAll)
        const similar = exact.length === 0 ? rank([await find(agent, query, 'similar')], wordCount) : []
        const [seeds = [], note] = [
          [whole, null] as const,
          [exact, foundSome] as const,
          [similar, foundSimilar] as const,
        ].find(([some]) => some.length > 0) ?? [[], foundNothing]
        const results = seeds
          .slice(0, limit)
          .map(({ seed }) => ({ ...seed, url: links.urlOf(agent, seed.id) }))
        return toJson({ results, note })
      },
      errors: [],
      advice: {},
    }),
    defineTool({
      name: 'fetch',
      title: 'Fetch a seed',
      description: 'A seed as text, with newest evidence, participants, comments and files, or a file.',
      did: 'read a seed',
      scope: 'workspace:read',
      action: 'seeds.get',
      http: { id: 'agent.fetch', path: '/agent/v1/seeds::fetch', returns: 'The seed as text.' },
      input: closed(
        { id: Type.String({ description: 'Of a seed or file.' }) },
        { examples: [{ id: exampleIds.seed }] },
      ),
      output: AgentDocument,
      parts: [],
      hints: readingHints,
      seedOf: ({ id }) => id,
      async call(agent, { id }) {
        const found = await kit.read(agent, { seedId: id }, form).catch(ignoreNotFound)
        if (found === undefined) return fetchFile(agent, id)
        const read = parseJson(found)
        const [seed] = read.seeds
        if (!seed) throw errors.notFound()
        const { title, status, updatedAt, url } = seed
        return toJson({ id, title, text: describeSeed(seed, read), url, metadata: { status, updatedAt } })
      },
      errors: [errors.notFound],
      advice: {
        not_found: 'No seed or file of this workspace has this id. Call search for the ids that there are.',
      },
    }),
  ]
}

const wordsOf = (query: string) => query.split(/\s+/).filter((word) => word !== '')

/** The query as a whole, and each of its words. */
function termsOf(query: string): string[] {
  const words = wordsOf(query).filter((word) => word.length >= wordLengthMin)
  return [...new Set([query.trim(), ...words.slice(0, wordsMax)])].filter((term) => term !== '')
}

/** A seed that was found, by what was found first of it. */
type FoundSeed = Omit<Static<typeof AgentSearch>['results'][number], 'url'>

/**
 * Seeds that more of the lists have come first, then those that were found first. `hasAll`: in the first list, of the whole
 * query, or in as many as it has words.
 */
function rank(
  lists: readonly (readonly SearchResult[])[],
  wordCount: number,
): { seed: FoundSeed; hasAll: boolean }[] {
  const seeds = new Map<string, { seed: FoundSeed; hits: number; isWhole: boolean }>()
  for (const [i, list] of lists.entries()) {
    const inList = new Set<string>()
    for (const result of list) {
      const seed = toFoundSeed(result)
      if (!seed || inList.has(seed.id)) continue
      inList.add(seed.id)
      const found = seeds.get(seed.id)
      seeds.set(seed.id, {
        seed: found?.seed ?? seed,
        hits: (found?.hits ?? 0) + 1,
        isWhole: found?.isWhole ?? i === 0,
      })
    }
  }
  // The sort is stable.
  return [...seeds.values()]
    .sort((one, other) => other.hits - one.hits)
    .slice(0, resultsMax)
    .map(({ seed, hits, isWhole }) => ({ seed, hasAll: isWhole || hits >= wordCount }))
}

function toFoundSeed({ seedId, title, seedStatus, kind, excerpt }: SearchResult): FoundSeed | undefined {
  if (seedId === null || seedStatus === null || kind === 'person' || kind === 'team') return undefined
  return { id: seedId, title, status: seedStatus, kind, snippet: excerpt ?? '' }
}
