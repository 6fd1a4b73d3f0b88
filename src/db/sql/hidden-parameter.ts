import { sql, type SQL } from 'drizzle-orm'

/**
 * A parameter of a prepared statement whose value the planner does not see. Otherwise it may find the plan for these
 * values cheaper than the general one, and plan the statement anew at each execution, which can take longer than the
 * execution itself.
 */
export function hiddenParameter(
  name: string,
  type: 'bigint' | 'boolean' | 'date' | 'int' | 'text' | 'timestamptz' | 'uuid',
): SQL {
  return sql`(select ${sql.placeholder(name)}::${sql.raw(type)})`
}

/** The length of a page, as the value `limit` of a prepared statement. */
export const pageLimit = hiddenParameter('limit', 'int') as unknown as number
