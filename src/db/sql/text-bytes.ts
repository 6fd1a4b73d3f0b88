import { sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { evidence, seeds } from '../schema/seeds.ts'

type Text = AnyPgColumn | SQL | SQL.Aliased

/** The total size of the texts of a row, in bytes. PostgreSQL knows the size of a column without reading the text. */
export function textBytes(...texts: Text[]): SQL<number> {
  const sizes = texts.map((text) => sql`coalesce(octet_length(${text}), 0)`)
  return sql<number>`${sql.join(sizes, sql` + `)}`
}

/**
 * The total size of the rows before a row, in bytes. A condition that it is below a limit ends a list with the row that
 * exceeds the limit, so that later rows are not read.
 */
export function bytesBefore(size: Text, order: SQL): SQL<number> {
  return sql<number>`sum(${size}) over (order by ${order} rows unbounded preceding) - (${size})`
}

/** The size of the texts of a seed, in bytes. */
export const seedBytes = textBytes(
  seeds.title,
  seeds.summary,
  seeds.problem,
  seeds.audience,
  seeds.hypothesis,
  seeds.question,
  // Twice: `criteria` has them too.
  sql`array_to_string(${seeds.successCriteria}, ',')`,
  sql`array_to_string(${seeds.successCriteria}, ',')`,
)

/** The size of the texts of evidence, in bytes. */
export const evidenceBytes = textBytes(evidence.summary, evidence.sourceUrl)
