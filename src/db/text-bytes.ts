import { sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { evidence, seeds } from './schema/seeds.ts'

type Text = AnyPgColumn | SQL | SQL.Aliased

/** How many bytes the texts of a row have in all. The server knows it of a column without reading the text. */
export function textBytes(...texts: Text[]): SQL<number> {
  const sizes = texts.map((text) => sql`coalesce(octet_length(${text}), 0)`)
  return sql<number>`${sql.join(sizes, sql` + `)}`
}

/**
 * How many bytes the rows before a row have. Kept below a bound, it ends a list with the row that crosses it: what is
 * larger than an answer may be is not even read.
 */
export function bytesBefore(size: Text, order: SQL): SQL<number> {
  return sql<number>`sum(${size}) over (order by ${order} rows unbounded preceding) - ${size}`
}

/** How many bytes the texts of a seed have. */
export const seedBytes = textBytes(
  seeds.title,
  seeds.summary,
  seeds.problem,
  seeds.audience,
  seeds.hypothesis,
  sql`array_to_string(${seeds.successCriteria}, ',')`,
)

/** How many bytes the texts of a piece of evidence have. */
export const evidenceBytes = textBytes(evidence.summary, evidence.sourceUrl)
