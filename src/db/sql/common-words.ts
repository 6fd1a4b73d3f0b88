import { sql, type SQL } from 'drizzle-orm'
import type { SearchEntryKind, SearchMatch } from '../../domain/search.ts'
import { searchEntries } from '../schema/search.ts'
import { hiddenParameter } from './hidden-parameter.ts'

const { id, workspaceId, kind, at, words } = searchEntries
const workspace = hiddenParameter('workspaceId', 'uuid')
const asked = hiddenParameter('asked', 'text')
// The newest of which it is told whether nearly all match. Reading the index would be slow then: it gives all matches.
const sampleSize = sql.raw('200')
const sampleOfCommon = sql.raw('100')

/** `named`: as `exact`, or in the middle of a word of a name or an address, as in the directory. */
type Match = SearchMatch | 'named'

interface Asked {
  inTitle?: boolean
  isPrefix?: boolean
  match?: Match
}

/**
 * What is similar to the words of the query, once for all kinds: for `queryOf` with `similar`, in a `with` of the same
 * statement. It takes a millisecond, and more for long words.
 */
export const similarForms = sql`similar_forms as materialized (
  select search_similar_form(true, true, ${asked}, true) as of_names,
    search_similar_form(true, false, ${asked}, true) as of_texts,
    search_similar_form(false, false, ${asked}, true) as of_words
)`

/** Asks for the words of the query, in an initial plan: once, and by the index. */
export function queryOf(
  of: SearchEntryKind,
  { inTitle = false, isPrefix = true, match = 'exact' }: Asked = {},
): SQL {
  const flags = sql.raw(`'${of}', ${inTitle}`)
  const prefix = sql.raw(String(isPrefix))
  if (match === 'exact') return sql`(select search_query(${workspace}, ${flags}, ${prefix}, ${asked}))`
  if (match === 'named')
    return sql`(select search_similar(${workspace}, ${flags}, ${prefix}, ${asked}, false))`
  const form = !isPrefix ? 'of_words' : of === 'evidence' || of === 'comment' ? 'of_texts' : 'of_names'
  return sql`(select search_in_scope(${workspace}, ${flags}, ${sql.raw(form)}) from similar_forms)`
}

/** The newest of a kind. */
export function newestOf(of: SearchEntryKind, limit: SQL, ofWorkspace = workspace): SQL {
  return sql`select ${id}, ${at}, ${words} from ${searchEntries}
    where ${workspaceId} = ${ofWorkspace} and ${kind} = ${sql.raw(`'${of}'`)}
    order by ${at} desc, ${id} desc limit ${limit}`
}

/**
 * Whether at least half of the newest of a kind match. With the values `workspaceId` and `asked`. A statement that is
 * planned for its values passes the workspace, so that the planner knows how large it is.
 */
export function isCommon(of: SearchEntryKind, match: Match = 'exact', ofWorkspace = workspace): SQL {
  return sql`(select count(*) >= ${sampleOfCommon} from (${newestOf(of, sampleSize, ofWorkspace)}) as sample where words @@ ${queryOf(of, { match })})`
}
