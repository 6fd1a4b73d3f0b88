import { Type, type Static } from '@sinclair/typebox'
import { exampleIds } from '../../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../../http/description/operation.ts'
import { workspaceErrors } from '../../../kernel/errors.ts'
import { closed, named, nullableEnum, nullableString, ref, stringEnum } from '../../../kernel/schemas.ts'
import {
  searchComparedMax,
  searchCountMax,
  searchFilteredMax,
  searchKinds,
  searchLengthMax,
  searchMatches,
} from '../../../domain/search.ts'
import { seedStatuses } from '../../../domain/seeds.ts'
import { filtersOfSeeds } from '../../seeds/seed-filters.schemas.ts'
import { exampleSeed } from '../../seeds/seeds.schemas.ts'

const SearchResult = named(
  'SearchResult',
  {
    kind: stringEnum(searchKinds, { description: 'What was found.' }),
    id: Type.String({ description: 'The id of what was found; of a member, that of the person.' }),
    title: Type.String({
      description:
        'The title of the seed, also that of evidence and of a comment; the name of the person or the team.',
    }),
    excerpt: nullableString({
      description: 'A part of the text that was found; of a person, the email address. Null for a team.',
    }),
    seedId: nullableString({ description: 'The id of the seed; null for people and teams.' }),
    seedStatus: nullableEnum(seedStatuses, 'The status of the seed; null for people and teams.'),
    path: Type.String({ description: 'The path on the website.' }),
  },
  {
    kind: 'evidence',
    id: exampleIds.evidence,
    title: exampleSeed.title,
    excerpt: 'Seven of ten neighbours own a drill that they used once.',
    seedId: exampleIds.seed,
    seedStatus: exampleSeed.status,
    path: `/w/acme/seeds/${exampleIds.seed}#evidence-${exampleIds.evidence}`,
  },
)
export type SearchResult = Static<typeof SearchResult>

const countDescription = (of: string) =>
  Type.Integer({
    description: `The number of ${of}. ${searchCountMax} stands for ${searchCountMax} or more.`,
  })

const SearchCounts = named(
  'SearchCounts',
  {
    seeds: countDescription('seeds'),
    evidence: countDescription('pieces of evidence'),
    comments: countDescription('comments'),
    people: countDescription('members'),
    teams: countDescription('teams'),
  },
  { seeds: 24, evidence: 112, comments: 7, people: 0, teams: 1 },
)
export type SearchCounts = Static<typeof SearchCounts>

export const searchSchemas = [SearchResult, SearchCounts]

const q = Type.String({
  minLength: 1,
  maxLength: searchLengthMax,
  'x-text': 'query',
  description:
    'What to look for: all of its words, or words that begin with them. Words in quotes must follow each other. Of scripts ' +
    'without spaces, such as Chinese, Japanese and Thai, any part of a text is found. Case and accents do not matter. Text ' +
    'without a letter or a digit finds nothing.',
  examples: ['checkout'],
})
const kindPattern = `(${searchKinds.join('|')})`

const onlySeeds = 'Only seeds, with their evidence and comments,'

export const workspacesSearch = listOperation(
  {
    id: 'workspaces.search',
    summary: 'Search a workspace',
    description:
      'Finds seeds, evidence, comments, members and teams. Best first: the words in a title before those in a text, whole ' +
      `words before beginnings of words, and then the newest. Of a kind with more than ${searchComparedMax} matches, only ` +
      'those with the words in their title and the newest are found; with a filter by what seeds are, which ' +
      `finds no members and teams, of more than ${searchFilteredMax}. Withdrawn evidence and deleted seeds are not found.`,
    params: slugParams,
    returns: 'A page of results.',
    errors: workspaceErrors,
  },
  {
    item: SearchResult,
    filters: {
      q,
      kinds: Type.Optional(
        Type.String({
          maxLength: 100,
          pattern: `^${kindPattern}(,${kindPattern})*$`,
          'x-fault': `must be of these, separated by commas: ${searchKinds.join(', ')}`,
          description: `Only these kinds, separated by commas: ${searchKinds.map((kind) => `\`${kind}\``).join(', ')}.`,
          examples: ['seed,evidence'],
        }),
      ),
      ...filtersOfSeeds(onlySeeds),
      status: Type.Optional(stringEnum(seedStatuses, { description: `${onlySeeds} with this status.` })),
      match: Type.Optional(
        stringEnum(searchMatches, {
          description:
            '`exact`, the default, finds what has all words, each whole or as the beginning of one: `meeting` finds ' +
            '`meetings`. `similar` finds only what `exact` does not, often nothing: words in another number (`invoices` ' +
            'finds `invoice`), with or without an Arabic article, and in names and titles also from the middle of a word, ' +
            'or with a mistake in it. Ask for it when `exact` found little, and add its results to those.',
        }),
      ),
    },
  },
)

export const workspacesSearchCounts = operation({
  id: 'workspaces.searchCounts',
  summary: 'Count what a search finds',
  description:
    'The numbers of seeds, evidence, comments, members and teams that `workspaces.search` finds for the same text.',
  params: slugParams,
  querystring: closed({ q }),
  success: ref(SearchCounts),
  returns: 'The numbers by kind.',
  errors: workspaceErrors,
})
