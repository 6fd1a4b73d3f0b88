import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { comments } from '../../../db/schema/comments.ts'
import { searchEntries } from '../../../db/schema/search.ts'
import { evidence, isUndecided, quietSince, seeds } from '../../../db/schema/seeds.ts'
import { teams } from '../../../db/schema/teams.ts'
import { users } from '../../../db/schema/users.ts'
import { keysParameter } from '../../../db/sql/batch.ts'
import { isCommon, newestOf, queryOf, similarForms } from '../../../db/sql/common-words.ts'
import { hiddenParameter, pageLimit } from '../../../db/sql/hidden-parameter.ts'
import { jsonRows, readOne } from '../../../db/sql/json-rows.ts'
import { prepared } from '../../../db/sql/prepared.ts'
import { isSortedInto } from '../../../db/sql/seed-sorting.ts'
import { subquery } from '../../../db/schema/subquery.ts'
import type { JsonRows, PageRange } from '../../../kernel/pagination.ts'
import { seedBalances } from '../../../domain/seeds.ts'
import { hasBalance, type SeedFilter } from '../../seeds/seed-lists.repository.ts'
import {
  searchComparedMax,
  searchCountMax,
  searchFilteredMax,
  searchKinds,
  searchKindsOfSeeds,
  type SearchKind,
  type SearchMatch,
} from '../../../domain/search.ts'

// The form of words, and what asks for them, is in functions of the database (migration 0010): what is stored and what
// is asked for cannot differ.

/** How well something matches, best first: its title with whole words or their beginnings, then all of its text. */
export const searchRanks = ['4', '3', '2', '1'] as const

const { id, workspaceId, at, words } = searchEntries
const workspace = hiddenParameter('workspaceId', 'uuid')
const asked = hiddenParameter('asked', 'text')
const countMax = sql.raw(String(searchCountMax))
const countedMax = sql.raw(String(4 * searchCountMax))
const excerptLength = sql.raw('160')

// Compared as text, which no index can do: the index of words has all that is needed, and a scan of the workspace by the
// other index would be slow where few entries match.
const isInWorkspace = sql`${workspaceId}::text = ${workspace}::text`

/** The first matches of a kind. Those of other workspaces are apart in the index. */
function matchesOf(
  of: SearchKind,
  limit: SQL,
  { condition = sql`true`, match = 'exact' }: { condition?: SQL; match?: SearchMatch } = {},
): SQL {
  return sql`select ${id}, ${at}, ${words} from ${searchEntries}
    where ${words} @@ ${queryOf(of, { match })} and ${isOnly(of, match)} and ${isInWorkspace} and ${condition} limit ${limit}`
}

/** What is similar only is not what matches exactly. */
function isOnly(of: SearchKind, match: SearchMatch): SQL {
  return match === 'exact' ? sql`true` : sql`not words @@ ${queryOf(of)}`
}

/** Which results are wanted: all, or those of seeds that a filter chooses. */
interface Wanted {
  match: SearchMatch
  isFiltered: boolean
}

/** The most matches of a kind of which all are compared. */
const comparedMaxOf = ({ isFiltered }: Wanted) =>
  sql.raw(String(isFiltered ? searchFilteredMax : searchComparedMax))

/** What is compared of a kind: all matches, or of too many the newest, and those with the words in their title. */
function candidatesOf(of: SearchKind, wanted: Wanted): SQL {
  const { match, isFiltered } = wanted
  const comparedMax = comparedMaxOf(wanted)
  const name = sql.raw(`matching_${of}`)
  const isTooMuch = sql`((select count(*) from ${name}) > ${comparedMax} or (select is_common from ${sql.raw(`common_${of}`)}))`
  const rank = sql`case
    when words @@ ${queryOf(of, { inTitle: true, isPrefix: false, match })} then 4
    when words @@ ${queryOf(of, { inTitle: true, match })} then 3
    when words @@ ${queryOf(of, { isPrefix: false, match })} then 2
    else 1 end`
  return sql`
    select ${sql.raw(`'${of}'`)} as kind, id, at, ${rank} as rank from (
      select id, at, words from ${name} where not (${isTooMuch})
      union all
      select id, at, words from (
        select id, at, words from (
          ${newestOf(of, sql`2 * ${comparedMax}`)}
        ) as newest
        where words @@ ${queryOf(of, { match })} and ${isOnly(of, match)} limit ${comparedMax}
      ) as newest_matching where ${isTooMuch}
      union all
      select id, at, words from (
        select ${id}, ${at}, ${words} from ${searchEntries}
        where ${words} @@ ${queryOf(of, { inTitle: true, match })} and ${isOnly(of, match)} and ${isInWorkspace} and ${isTooMuch}
        limit ${comparedMax}
      ) as titled
    ) as compared
    ${isFiltered ? sql`where ${isOfChosenSeed(of)}` : sql``}`
}

/** Where the seed of what is compared is found. By a join: an expression in the condition would be computed twice. */
function fromSeedOf(of: SearchKind): SQL {
  if (of === 'evidence')
    return sql`${evidence} join ${seeds} on ${seeds.id} = ${evidence.seedId} where ${evidence.id} = compared.id`
  if (of === 'comment')
    return sql`${comments} join ${seeds} on ${seeds.id} = ${comments.seedId} where ${comments.id} = compared.id`
  return sql`${seeds} where ${seeds.id} = compared.id`
}

/** Whether what is compared is a seed that the filter chooses, or part of one. */
function isOfChosenSeed(of: SearchKind): SQL {
  const lists = { teamIds: keysParameter('teamIds', 'uuid'), labelIds: keysParameter('labelIds', 'uuid') }
  const balance = hiddenParameter('balance', 'text')
  const cases = sql.join(
    seedBalances.map((one) => sql`when ${sql.raw(`'${one}'`)} then ${hasBalance[one]}`),
    sql` `,
  )
  const [from, to] = [hiddenParameter('dueFrom', 'date'), hiddenParameter('dueTo', 'date')]
  const silentSince = hiddenParameter('silentSince', 'timestamptz')
  const [statuses, leads] = [keysParameter('statuses', 'text'), keysParameter('leadUserIds', 'uuid')]
  return subquery(sql`exists (
    select from ${fromSeedOf(of)} and ${seeds.workspaceId} = ${workspace}
      and ${isSortedInto(lists)}
      and (${statuses} = '{}' or ${seeds.status} = any(${statuses}))
      and (${leads} = '{}' or ${seeds.leadUserId} = any(${leads}))
      and (not ${hiddenParameter('withoutLead', 'boolean')} or ${seeds.leadUserId} is null)
      and (${balance} is null or case ${balance} ${cases} end)
      and (${silentSince} is null or (${quietSince} < ${silentSince} and ${isUndecided}))
      and (${to} is null or (${seeds.decideBy} between coalesce(${from}, '-infinity') and ${to} and ${isUndecided}))
  )`)
}

/** The beginning of a text, or its part around the first word that was asked for. `source` has the text and its place. */
const excerpt = sql`case when source.start > 1 then '…' else '' end
  || substr(source.text, source.start, ${excerptLength})
  || case when length(source.text) >= source.start + ${excerptLength} then '…' else '' end`

// By characters of the text without accents, of which there are rarely more than of the text: a hint where to cut.
const firstAsked = sql`(select coalesce((search_words(${asked}))[1], ''))`

function prepareFound(executor: Executor, name: string, wanted: Wanted) {
  const { match, isFiltered } = wanted
  const kinds = isFiltered ? searchKindsOfSeeds : searchKinds
  const isAsked = (of: SearchKind) => sql`${sql.raw(`'${of}'`)} = any(${keysParameter('kinds', 'text')})`
  const matching = kinds.flatMap((of) => {
    const common = sql.raw(`common_${of}`)
    const isOfIndex = sql`${isAsked(of)} and not (select is_common from ${common})`
    return [
      sql`${common} as materialized (select ${isAsked(of)} and ${isCommon(of, match)} as is_common)`,
      sql`${sql.raw(`matching_${of}`)} as materialized (${matchesOf(of, sql`${comparedMaxOf(wanted)} + 1`, { condition: isOfIndex, match })})`,
    ]
  })
  const candidates = sql.join(
    kinds.map((of) => candidatesOf(of, wanted)),
    sql` union all `,
  )
  const position = sql`(${hiddenParameter('rank', 'int')}, ${hiddenParameter('at', 'timestamptz')}, ${hiddenParameter('id', 'uuid')})`
  const ofMention = sql.raw(`'\\[@[^]]*\\]\\((?:user|agent):[0-9a-f-]{36}\\)'`)
  const bodyOf = (text: SQL) => sql`regexp_replace(${text}, ${ofMention}, '@…', 'g')`
  const item = sql`row_to_json((select item from (select
    page.kind as "kind",
    page.id as "id",
    coalesce(${seeds.title}, ${users.name}, ${teams.name}) as "title",
    case page.kind when 'person' then ${users.email} when 'team' then null else ${excerpt} end as "excerpt",
    ${seeds.id} as "seedId",
    ${seeds.status} as "seedStatus",
    ${sql.placeholder('pathPrefix')}::text || case page.kind
      when 'person' then '/people/' || page.id
      when 'team' then '/teams/' || page.id
      when 'seed' then '/seeds/' || page.id
      else '/seeds/' || ${seeds.id} || '#' || page.kind || '-' || page.id
    end as "path"
  ) as item))`
  const page = sql`(
    with ${sql.join(match === 'similar' ? [similarForms, ...matching] : matching, sql`, `)}
    select kind, id, at, rank from (
      select distinct kind, id, at, rank from (${candidates}) as candidates
    ) as found
    where (rank, at, id) < ${position}
    order by rank desc, at desc, id desc
    limit ${pageLimit}
  )`
  const isOf = (of: SearchKind, column: SQL) => sql`page.kind = ${sql.raw(`'${of}'`)} and ${column} = page.id`
  const rows = sql`(
    select ${item} as item, page.at, page.rank from ${page} as page
      left join ${evidence} on ${isOf('evidence', sql`${evidence.id}`)}
      left join ${comments} on ${isOf('comment', sql`${comments.id}`)}
      left join ${seeds} on ${seeds.id} = coalesce(${evidence.seedId}, ${comments.seedId}, case page.kind when 'seed' then page.id end)
      left join ${users} on ${isOf('person', sql`${users.id}`)}
      left join ${teams} on ${isOf('team', sql`${teams.id}`)}
      cross join lateral (
        select text, greatest(1, position(${firstAsked} in search_form(text)) - 60) as start from (
          select case page.kind when 'seed' then ${seeds.summary} when 'evidence' then ${evidence.summary}
            when 'comment' then ${bodyOf(sql`${comments.body}`)} end as text
          offset 0
        ) as found_text
        offset 0
      ) as source
    order by page.rank desc, page.at desc, page.id desc
  ) as rows`
  const milliseconds = sql`(extract(epoch from rows.at) * 1000)::bigint::text`
  return executor
    .select({
      ...jsonRows(sql`rows.item`),
      ranks: sql<string>`coalesce(string_agg(rows.rank || ' ' || ${milliseconds}, ','), '')`.as('ranks'),
    })
    .from(rows)
    .prepare(name)
}

function prepareBoth(isFiltered: boolean, name: string) {
  return {
    exact: prepared((executor) => prepareFound(executor, name, { match: 'exact', isFiltered })),
    similar: prepared((executor) =>
      prepareFound(executor, `${name}_similar`, { match: 'similar', isFiltered }),
    ),
  }
}

const selectFound = prepareBoth(false, 'search_select')
const selectFiltered = prepareBoth(true, 'search_select_filtered')

/** What a search finds, best first. */
export interface FoundRows extends JsonRows {
  /** The rank and the time of each item, in milliseconds since 1970: `4 1795410319500`, separated by commas. */
  ranks: string
}

/** The values of the statement for a filter: empty lists and null stand for all seeds. */
function valuesOf({ teamId, labelIds = [], statuses = [], leadUserId, balance, due }: SeedFilter) {
  const isSilent = due !== undefined && 'silentSince' in due
  return {
    teamIds: teamId === undefined ? [] : [teamId],
    labelIds: [...labelIds],
    statuses: [...statuses],
    leadUserIds: leadUserId == null ? [] : [leadUserId],
    withoutLead: leadUserId === null,
    balance: balance ?? null,
    dueFrom: isSilent ? null : (due?.from ?? null),
    dueTo: isSilent ? null : (due?.to ?? null),
    silentSince: isSilent ? due.silentSince.toISOString() : null,
  }
}

export interface SearchQuery {
  workspaceId: string
  /** What is asked for: all of its words. */
  asked: string
}

/** What a search finds in a workspace, best first, and the newest first among what matches alike. One statement. */
export async function search(
  executor: Executor,
  query: SearchQuery & {
    kinds: readonly SearchKind[]
    match: SearchMatch
    /** Which seeds are wanted, with their evidence and comments; how it finds words has no effect. */
    filter: SeedFilter | undefined
    rank: string
    pathPrefix: string
  } & PageRange,
): Promise<FoundRows> {
  const { kinds, match, rank, filter, ...rest } = query
  const values = { ...rest, kinds: [...kinds], rank: Number(rank) }
  if (!filter) return readOne(selectFound[match](executor).execute(values))
  return readOne(selectFiltered[match](executor).execute({ ...values, ...valuesOf(filter) }))
}

/** The numbers of matches by kind, each up to `searchCountMax`. */
export type FoundCounts = Record<SearchKind, number>

const selectCounts = prepared((executor) => {
  // The parts of a case are run only if they are reached.
  const countOf = (of: SearchKind) => sql<number>`(case
    when ${isCommon(of)} and (
      select count(*) from (
        select from (${newestOf(of, countedMax)}) as newest where words @@ ${queryOf(of)} limit ${countMax}
      ) as counted
    ) = ${countMax} then ${countMax}
    else (select count(*)::int from (${matchesOf(of, countMax)}) as ${sql.raw(`matching_${of}`)})
  end)`
  return executor
    .select({
      seed: countOf('seed').as('seeds'),
      evidence: countOf('evidence').as('evidence'),
      comment: countOf('comment').as('comments'),
      person: countOf('person').as('people'),
      team: countOf('team').as('teams'),
    })
    .from(sql`(select) as nothing`)
    .prepare('search_count')
})

/** The numbers of what a search finds. One statement. */
export function countFound(executor: Executor, query: SearchQuery): Promise<FoundCounts> {
  return readOne(selectCounts(executor).execute({ ...query }))
}
