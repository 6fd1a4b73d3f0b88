import type { Executor } from './client.ts'

/**
 * A statement built once for each executor: Drizzle otherwise builds the SQL anew at every call, and without a name
 * the server plans it anew as well.
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
