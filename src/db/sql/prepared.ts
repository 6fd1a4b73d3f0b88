import { getTableColumns, sql } from 'drizzle-orm'
import type { PgInsertValue, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'

/** Builds every prepared statement of the modules that are loaded: docs/statements.sql is made of them. */
export const builders: ((executor: Executor) => unknown)[] = []

/**
 * Builds a statement once for each executor. Otherwise Drizzle builds the SQL at every call, and the server plans an
 * unnamed statement at every call. A transaction has the executor of its connection. `execute` sends the statement at
 * once, before it returns.
 */
export function prepared<Statement>(
  build: (executor: Executor) => Statement,
): (executor: Executor) => Statement {
  builders.push(build)
  const statements = new WeakMap<Executor, Statement>()
  return (executor) => {
    let statement = statements.get(executor)
    if (statement === undefined) {
      statement = build(executor)
      statements.set(executor, statement)
    }
    return statement
  }
}

/** The row of a prepared `insert`: a placeholder of the same name for each column but some, which stay empty. */
export function placeholdersOf<Table extends PgTable>(
  table: Table,
  ...without: readonly string[]
): PgInsertValue<Table> {
  const names = Object.entries(getTableColumns(table))
    .filter(([name, { generated }]) => generated === undefined && !without.includes(name))
    .map(([name]) => name)
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as PgInsertValue<Table>
}
