import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { seedUrl } from '../../db/sql/page-urls.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { searchEntries } from '../../db/schema/search.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { similarSeedsMax, type SeedStatus } from '../../domain/seeds.ts'

/** A seed whose title has words of another title. */
export interface SeedByTitle {
  id: string
  title: string
  status: SeedStatus
  url: string
}

const workspaceId = hiddenParameter('workspaceId', 'uuid')
const asked = hiddenParameter('asked', 'text')
// How many words of the title are looked for, the longest, and of how many of them also two together: of two common words, the
// index gives those titles that have both.
const wordsMax = sql.raw('6')
const pairedMax = sql.raw('4')
// Of each. A word that more titles have says little alone.
const titlesOfWordMax = sql.raw('40')
const candidatesMax = sql.raw('60')
// Titles that have all of the title, one word after the other. With so many of them, nothing else is looked for.
const titlesMax = sql.raw('10')
const enoughTitles = sql.raw(String(similarSeedsMax))

const selectCandidates = prepared((executor) => {
  const { id, words, workspaceId: ofWorkspace } = searchEntries
  const isTelling = sql`length(word) > 2 or search_is_unspaced(word) and length(word) > 1 or word ~ '[0-9]'`
  const found = sql`(
    with whole_title as materialized (
      -- In quotes. Made once: as a part of the condition, it would be for each row that the index gives.
      select search_query(${workspaceId}, 'seed', true, false, '"' || replace(${asked}, '"', ' ') || '"') as query
    ), whole_titles as materialized (
      select found.id from whole_title, lateral (
        select ${id} from ${searchEntries}
        where ${words} @@ whole_title.query and ${ofWorkspace}::text = ${workspaceId}::text limit ${titlesMax}
      ) as found
    ), asked_words as materialized (
      select word, row_number() over (order by length(word) desc, n) as n,
        search_query(${workspaceId}, 'seed', true, length(word) > 2, word) as query
      from (
        select word, min(n) as n, bool_or(${isTelling}) as is_telling
        from unnest(search_words(${asked})) with ordinality as list (word, n) group by word
      ) as each_word
      where (select count(*) from whole_titles) < ${enoughTitles}
        and (is_telling or not exists (select from unnest(search_words(${asked})) as word where ${isTelling}))
      order by n limit ${wordsMax}
    ), known_words as materialized (
      select word, n, query, exists (
        select from ${searchEntries} where ${words} @@ asked_words.query and ${ofWorkspace}::text = ${workspaceId}::text
      ) as is_known from asked_words
    ), terms as materialized (
      select query from known_words where is_known
      union all
      select string_agg('(' || query::text || ')', ' & ')::tsquery from known_words where is_known having count(*) > 2
      union all
      select one.query && other.query
      from known_words as one join known_words as other on one.n < other.n and other.n <= ${pairedMax}
      where one.is_known and other.is_known
      union all
      -- What no title has may have a mistake in it, or be in the middle of a word.
      select search_similar(${workspaceId}, 'seed', true, true, word, true) from known_words where not is_known
    )
    select id, sum(1.0 / matches) as weight from (
      select id, count(*) over () as matches from whole_titles
      union all
      select matching.id, count(*) over (partition by term) as matches
      from (select query, row_number() over () as term from terms) as terms, lateral (
        select ${id} from ${searchEntries}
        where ${words} @@ terms.query and ${ofWorkspace}::text = ${workspaceId}::text limit ${titlesOfWordMax}
      ) as matching
    ) as matched group by id order by weight desc, id desc limit ${candidatesMax}
  ) as found`
  return executor
    .select({ id: seeds.id, title: seeds.title, status: seeds.status, url: seedUrl(seeds.id) })
    .from(found)
    .innerJoin(seeds, sql`${seeds.id} = found.id and ${seeds.deletedAt} is null`)
    .prepare('seeds_select_similar')
})

/**
 * Seeds of a workspace whose titles have words of a title, or almost: by the index of words, which has the words and the
 * groups of three letters of titles (docs/design/search.md#similar-titles).
 */
export function findSeedsByTitle(
  executor: Executor,
  input: { workspaceId: string; asked: string; seedUrlPrefix: string },
): Promise<SeedByTitle[]> {
  return selectCandidates(executor).execute(input)
}
