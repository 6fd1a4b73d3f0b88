import type { Executor } from './client.ts'

/**
 * Builds a statement once for each executor. Otherwise Drizzle builds the SQL at every call, and the server plans an
 * unnamed statement at every call.
 */
export function prepared<Statement>(
  build: (executor: Executor) => Statement,
): (executor: Executor) => Statement {
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
