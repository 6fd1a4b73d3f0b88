import { and, asc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isUniqueViolation } from '../../db/errors.ts'
import { labels } from '../../db/schema/labels.ts'
import { teams } from '../../db/schema/teams.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { errors } from '../../kernel/errors.ts'
import { pageLimitMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { Label } from './labels.schemas.ts'

const labelColumns = {
  id: labels.id,
  workspaceId: labels.workspaceId,
  name: labels.name,
  createdAt: labels.createdAt,
}

const selectLabels = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(itemColumns<Label>(labelColumns))
      .from(labels)
      .where(
        and(eq(labels.workspaceId, sql.placeholder('workspaceId')), isAfter(labels.createdAt, labels.id)),
      )
      .orderBy(asc(labels.createdAt), asc(labels.id))
      .limit(pageLimit),
  ).prepare('labels_select_of_workspace'),
)

/** Labels of a workspace, oldest first. */
export function listLabels(
  executor: Executor,
  input: { workspaceId: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectLabels(executor).execute({ ...input }))
}

/** The ids and names of what seeds of a workspace can be sorted by. */
export interface SortingChoices {
  teams: { id: string; name: string }[]
  labels: { id: string; name: string }[]
}

const namesOf = (table: typeof labels | typeof teams) =>
  subquery(sql<SortingChoices['labels']>`(
  select coalesce(json_agg(json_build_object('id', named.id, 'name', named.name)), '[]')
  from (
    select ${table.id}, ${table.name} from ${table} where ${table.workspaceId} = ${sql.placeholder('workspaceId')}
    order by ${table.createdAt}, ${table.id} limit ${sql.raw(String(pageLimitMax))}
  ) as named
)`)

/** The columns of `SortingChoices`, for the statement's `workspaceId`. */
export const sortingChoices = { teams: namesOf(teams).as('teams'), labels: namesOf(labels).as('labels') }

const selectChoices = prepared((executor) =>
  executor
    .select(sortingChoices)
    .from(sql`(values (0)) as choices`)
    .prepare('labels_select_choices'),
)

/** The labels of a workspace, and its teams, of those the first ones. */
export function listChoices(executor: Executor, workspaceId: string): Promise<SortingChoices> {
  return readOne(selectChoices(executor).execute({ workspaceId }))
}

/** A label of a workspace. */
export async function findLabel(executor: Executor, workspaceId: string, labelId: string) {
  const [label] = await executor
    .select(labelColumns)
    .from(labels)
    .where(and(eq(labels.id, labelId), eq(labels.workspaceId, workspaceId)))
  return label
}

/** The number of labels of a workspace. */
export function countLabels(executor: Executor, workspaceId: string): Promise<number> {
  return executor.$count(labels, eq(labels.workspaceId, workspaceId))
}

/** Throws `label_name_taken`. */
export async function insertLabel(executor: Executor, row: typeof labels.$inferInsert): Promise<void> {
  await translatingNameTaken(executor.insert(labels).values(row))
}

/** A label of a workspace, locked until the transaction ends. */
export async function lockLabel(
  executor: Executor,
  workspaceId: string,
  labelId: string,
): Promise<{ id: string; name: string } | undefined> {
  const [label] = await executor
    .select({ id: labels.id, name: labels.name })
    .from(labels)
    .where(and(eq(labels.id, labelId), eq(labels.workspaceId, workspaceId)))
    .for('no key update')
  return label
}

/** Throws `label_name_taken`. */
export async function renameLabel(executor: Executor, labelId: string, name: string): Promise<void> {
  await translatingNameTaken(executor.update(labels).set({ name }).where(eq(labels.id, labelId)))
}

/** Seeds keep its id, which nothing shows any more: 10,000 of them are not changed for it. */
export async function deleteLabel(executor: Executor, labelId: string): Promise<void> {
  await executor.delete(labels).where(eq(labels.id, labelId))
}

async function translatingNameTaken(statement: PromiseLike<unknown>): Promise<void> {
  try {
    await statement
  } catch (error) {
    if (isUniqueViolation(error, 'labels_name_key')) throw errors.labelNameTaken({ cause: error })
    throw error
  }
}
