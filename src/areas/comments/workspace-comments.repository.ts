import { and, desc, eq, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comments } from '../../db/schema/comments.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import { isBy } from '../evidence/evidence.repository.ts'
import { isKept } from '../seeds/seeds.repository.ts'
import { commentColumns } from './comments.repository.ts'
import type { Comment } from './comments.schemas.ts'

/** Which comments of a workspace a list contains. */
export interface WorkspaceCommentsFilter {
  /** Only comments on these seeds. */
  seedIds?: readonly string[]
  /** Only what was written or edited since. */
  since?: Date
  by?: EvidenceAuthors
}

const workspaceId = hiddenParameter('workspaceId', 'uuid')
const since = hiddenParameter('since', 'timestamptz')
const seedIds = keysParameter('seedIds', 'uuid')

const isOfWorkspace = eq(comments.workspaceId, workspaceId)
const isOnPage = isBefore(comments.createdAt, comments.id)
const newestFirst = sql`order by ${desc(comments.createdAt)}, ${desc(comments.id)} limit ${pageLimit}`

const selectAll = prepared((executor) => prepareList(executor, {}, 'comments_select_of_workspace'))

/** Comments of a workspace, newest first, without those on deleted seeds. Their bodies are as they are stored. */
export function listCommentsOfWorkspace(
  executor: Executor,
  {
    filter,
    ...values
  }: { workspaceId: string; filter: WorkspaceCommentsFilter; seedUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  if (Object.keys(filter).length === 0) return readOne(selectAll(executor).execute(values))
  // There are too many combinations to prepare each once.
  return readOne(
    prepareList(executor, filter).execute({
      ...values,
      ...(filter.seedIds && { seedIds: [...filter.seedIds] }),
      ...(filter.since && { since: filter.since.toISOString() }),
    }),
  )
}

/** Without a name, the statement is for one use. */
function prepareList(executor: Executor, filter: WorkspaceCommentsFilter, name = '') {
  const isWanted = filter.by && isBy(filter.by, comments.agentName)
  const select = filter.seedIds ? selectOfSeeds : selectNewest
  const page = filter.since
    ? sql`${select(and(isWanted, sql`${comments.createdAt} >= ${since}`))}
        union all ${selectEdited(filter, isWanted)}`
    : select(isWanted)
  const rows = executor
    .select(itemColumns<Comment>(commentColumns))
    .from(sql`(${page}) as ${comments}`)
    .orderBy(desc(comments.createdAt), desc(comments.id))
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare(name)
}

/** Whether a seed of the workspace is not deleted. A subquery, since a join could read the comments in another order. */
const isOfKept = (seedId: SQL | Column) =>
  subquery(
    sql`(select ${and(isKept, eq(seeds.workspaceId, workspaceId))} from ${seeds} where ${seeds.id} = ${seedId})`,
  )

function selectNewest(filter: SQL | undefined): SQL {
  return sql`(
    select ${comments}.* from ${comments}
    where ${and(isOfWorkspace, isOnPage, filter, isOfKept(comments.seedId))} ${newestFirst}
  )`
}

/**
 * A page of each seed, by the index alone, and then the rows of the newest: in the order of the list, all comments on other
 * seeds would be read.
 */
function selectOfSeeds(filter: SQL | undefined): SQL {
  return sql`(
    select found.* from (
      select newest.id from (select distinct unnest(${seedIds}) as seed_id) as asked
      cross join lateral (
        select ${comments.id}, ${comments.createdAt} from ${comments}
        where ${and(sql`${comments.seedId} = asked.seed_id`, isOnPage, filter)} ${newestFirst}
      ) as newest
      where ${isOfKept(sql`asked.seed_id`)} order by newest.created_at desc, newest.id desc limit ${pageLimit}
    ) as page
    cross join lateral (select * from ${comments} where ${comments.id} = page.id offset 0) as found
  )`
}

/**
 * What is older and was edited since, by the index of what was edited: in the order of the list, all that is older would be
 * read.
 */
function selectEdited({ seedIds: asked }: WorkspaceCommentsFilter, isWanted: SQL | undefined): SQL {
  const isOfSeeds = asked && sql`${comments.seedId} = any(${seedIds})`
  const isEdited = and(isOfWorkspace, sql`${comments.editedAt} >= ${since}`)
  const isOlder = sql`${comments.createdAt} < ${since}`
  return sql`(
    select ${comments}.* from (
      select * from (select * from ${comments} where ${isEdited} offset 0) as ${comments}
      where ${and(isOlder, isOnPage, isOfSeeds, isWanted)}
      order by ${desc(comments.createdAt)}, ${desc(comments.id)} offset 0
    ) as ${comments}
    where ${isOfKept(comments.seedId)} ${newestFirst}
  )`
}
