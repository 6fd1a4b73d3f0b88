import { sql, type SQL } from 'drizzle-orm'
import type { SearchKind } from '../../domain/search.ts'
import { searchEntries } from '../schema/search.ts'
import { hiddenParameter } from './hidden-parameter.ts'

const { id, workspaceId, kind, at, words } = searchEntries
const workspace = hiddenParameter('workspaceId', 'uuid')
const asked = hiddenParameter('asked', 'text')
// The newest of which it is told whether nearly all match. Reading the index would be slow then: it gives all matches.
const sampleSize = sql.raw('200')
const sampleOfCommon = sql.raw('100')

/** Asks for the words of the query, in an initial plan: once, and by the index. */
export function queryOf(of: SearchKind, { inTitle = false, isPrefix = true } = {}): SQL {
  const flags = sql.raw(`'${of}', ${inTitle}, ${isPrefix}`)
  return sql`(select search_query(${workspace}, ${flags}, ${asked}))`
}

/** The newest of a kind. */
export function newestOf(of: SearchKind, limit: SQL): SQL {
  return sql`select ${id}, ${at}, ${words} from ${searchEntries}
    where ${workspaceId} = ${workspace} and ${kind} = ${sql.raw(`'${of}'`)}
    order by ${at} desc, ${id} desc limit ${limit}`
}

/** Whether at least half of the newest of a kind match. With the values `workspaceId` and `asked`. */
export function isCommon(of: SearchKind): SQL {
  return sql`(select count(*) >= ${sampleOfCommon} from (${newestOf(of, sampleSize)}) as sample where words @@ ${queryOf(of)})`
}
