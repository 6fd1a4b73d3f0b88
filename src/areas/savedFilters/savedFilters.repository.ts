import { and, asc, eq, isNull, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts'
import { labels } from '../../db/schema/labels.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { filtersOfSaved, savedFilters } from '../../db/schema/saved-filters.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, jsonArray, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { errors } from '../../kernel/errors.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import { sortingChoices, type SortingChoices } from '../labels/labels.repository.ts'
import { isKept } from '../seeds/seeds.repository.ts'
import type { SavedFilter } from './savedFilters.schemas.ts'

const filterColumns = {
  id: savedFilters.id,
  workspaceId: savedFilters.workspaceId,
  name: savedFilters.name,
  shared: sql<boolean>`${savedFilters.ownerUserId} is null`,
  createdByUserId: sql<string | null>`coalesce(${savedFilters.ownerUserId}, ${savedFilters.sharedByUserId})`,
  filters: filtersOfSaved,
  createdAt: savedFilters.createdAt,
  updatedAt: savedFilters.updatedAt,
}

/** Whether a saved filter is of the workspace, and one that the person sees. */
const isVisible = and(
  eq(savedFilters.workspaceId, hiddenParameter('workspaceId', 'uuid')),
  or(isNull(savedFilters.ownerUserId), eq(savedFilters.ownerUserId, hiddenParameter('userId', 'uuid'))),
)

/** Whose saved filters are meant: those that this person sees in the workspace. */
export interface FiltersOf {
  workspaceId: string
  userId: string
}

const selectFilters = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<SavedFilter>(filterColumns))
      .from(savedFilters)
      .where(and(isVisible, isAfter(savedFilters.createdAt, savedFilters.id)))
      .orderBy(asc(savedFilters.createdAt), asc(savedFilters.id))
      .limit(pageLimit),
  ).prepare('saved_filters_select'),
)

/** The saved filters that a person sees in a workspace, oldest first. */
export function listFilters(executor: Executor, input: FiltersOf & PageRange): Promise<JsonRows> {
  return readOne(selectFilters(executor).execute({ ...input }))
}

/** What a list of seeds can be filtered by. */
export interface FilterChoices extends SortingChoices {
  savedFilters: SavedFilter[]
}

const visibleFilters = subquery(sql<SavedFilter[]>`(
  select coalesce(${jsonArray<SavedFilter>(filterColumns, sql`${savedFilters.name}, ${savedFilters.id}`)}, '[]')
  from ${savedFilters} where ${isVisible}
)`)

const selectChoices = prepared((executor) =>
  executor
    .select({ ...sortingChoices, savedFilters: visibleFilters.as('saved_filters') })
    .from(sql`(values (0)) as choices`)
    .prepare('saved_filters_select_choices'),
)

/** What a person can filter lists of seeds by: teams, labels and saved filters, these by their names. */
export function listFilterChoices(executor: Executor, input: FiltersOf): Promise<FilterChoices> {
  return readOne(selectChoices(executor).execute({ ...input }))
}

const selectAll = prepared((executor) =>
  executor
    .select({ savedFilters: visibleFilters.as('saved_filters') })
    .from(sql`(values (0)) as filters`)
    .prepare('saved_filters_select_all'),
)

/** All saved filters that a person sees in a workspace, by their names. */
export async function listAllFilters(executor: Executor, input: FiltersOf): Promise<SavedFilter[]> {
  return (await readOne(selectAll(executor).execute({ ...input }))).savedFilters
}

const selectFilter = prepared((executor) =>
  executor
    .select(filterColumns)
    .from(savedFilters)
    .where(and(isVisible, eq(savedFilters.id, sql.placeholder('filterId'))))
    .prepare('saved_filters_select_one'),
)

/** A saved filter that a person sees. */
export async function findFilter(executor: Executor, input: FiltersOf & { filterId: string }) {
  const [filter] = await selectFilter(executor).execute({ ...input })
  return filter
}

const lockOne = prepared((executor) =>
  executor
    .select(filterColumns)
    .from(savedFilters)
    .where(and(isVisible, eq(savedFilters.id, sql.placeholder('filterId'))))
    .for('no key update')
    .prepare('saved_filters_lock'),
)

/** The same, locked until the transaction ends. */
export async function lockFilter(executor: Executor, input: FiltersOf & { filterId: string }) {
  const [filter] = await lockOne(executor).execute({ ...input })
  return filter
}

const isOwnedBy = (ownerUserId: string | null): SQL =>
  ownerUserId === null ? isNull(savedFilters.ownerUserId) : eq(savedFilters.ownerUserId, ownerUserId)

/** The number of saved filters of a person in a workspace, or with null of the shared ones. */
export function countFilters(
  executor: Executor,
  { workspaceId, ownerUserId }: { workspaceId: string; ownerUserId: string | null },
): Promise<number> {
  return executor.$count(savedFilters, and(eq(savedFilters.workspaceId, workspaceId), isOwnedBy(ownerUserId)))
}

/** Throws `saved_filter_name_taken`, and `not_a_member` if the person has left meanwhile. */
export async function insertFilter(executor: Executor, row: typeof savedFilters.$inferInsert): Promise<void> {
  await translating(executor.insert(savedFilters).values(row))
}

/** Throws what `insertFilter` throws. */
export async function updateFilter(
  executor: Executor,
  filterId: string,
  fields: Partial<typeof savedFilters.$inferInsert>,
): Promise<void> {
  await translating(executor.update(savedFilters).set(fields).where(eq(savedFilters.id, filterId)))
}

export async function deleteFilter(executor: Executor, filterId: string): Promise<void> {
  await executor.delete(savedFilters).where(eq(savedFilters.id, filterId))
}

/** The ids that filters name. */
export interface NamedIds {
  teamIds: string[]
  labelIds: string[]
  userIds: string[]
  seedIds: string[]
}

const countOf = (table: typeof teams | typeof labels | typeof seeds, name: keyof NamedIds, condition?: SQL) =>
  sql`(select count(*) from ${table} where ${and(
    eq(table.workspaceId, hiddenParameter('workspaceId', 'uuid')),
    sql`${table.id} = any(${keysParameter(name, 'uuid')})`,
    condition,
  )})`

const countNamed = prepared((executor) =>
  executor
    .select({
      count:
        sql<number>`(${countOf(teams, 'teamIds')} + ${countOf(labels, 'labelIds')} + ${countOf(seeds, 'seedIds', isKept)}
        + (select count(*) from ${memberships} where ${and(
          eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
          sql`${memberships.userId} = any(${keysParameter('userIds', 'uuid')})`,
        )}))::int`.as('count'),
    })
    .from(sql`(select) as nothing`)
    .prepare('saved_filters_count_named'),
)

/** How many of these teams, labels, members and seeds a workspace has. */
export async function countNamedIds(
  executor: Executor,
  input: NamedIds & { workspaceId: string },
): Promise<number> {
  return (await readOne(countNamed(executor).execute({ ...input }))).count
}

async function translating(statement: PromiseLike<unknown>): Promise<void> {
  try {
    await statement
  } catch (error) {
    const keys = ['saved_filters_own_name_key', 'saved_filters_shared_name_key']
    if (keys.some((key) => isUniqueViolation(error, key))) throw errors.savedFilterNameTaken({ cause: error })
    const members = ['saved_filters_owner_fk', 'saved_filters_shared_by_fk']
    if (members.some((key) => isForeignKeyViolation(error, key))) throw errors.notAMember({ cause: error })
    throw error
  }
}
