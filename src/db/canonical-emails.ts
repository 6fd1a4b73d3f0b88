import type pg from 'pg'
import { canonicalizeEmail } from '../kernel/email.ts'
import { isUniqueViolation } from './errors.ts'

const batchSize = 1000

interface Row {
  id: string
  email: string
}

// If several users have the same address, the first step that finds one sets it: verified users first, then the oldest.
const steps = [
  { table: 'users', filter: 'email_verified_at is not null', index: 'users_canonical_email_key' },
  { table: 'users', filter: 'email_verified_at is null', index: 'users_canonical_email_key' },
  { table: 'invites', filter: 'true', index: 'invites_open_canonical_email_key' },
] as const

type Step = (typeof steps)[number]

/**
 * Sets missing canonical addresses: of rows older than the column, and of rows that a running older version has
 * written. It locks one batch of rows at a time. A row stays without one if its address has no canonical form, or if
 * another row has the same (docs/decisions/0075).
 */
export async function fillCanonicalEmails(pool: pg.Pool): Promise<void> {
  for (const step of steps) await fillStep(pool, step)
}

async function fillStep(pool: pg.Pool, step: Step): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await pool.query<Row>(
      `select id, email from ${step.table}
        where canonical_email is null and ${step.filter} and id > $1 order by id limit ${batchSize}`,
      [after],
    )
    const last = rows.at(-1)
    if (!last) return
    await fillRows(pool, step, rows)
    after = last.id
  }
}

async function fillRows(pool: pg.Pool, step: Step, rows: readonly Row[]): Promise<void> {
  try {
    await pool.query(
      `update ${step.table} as own set canonical_email = given.canonical_email
        from unnest($1::uuid[], $2::text[]) as given (id, canonical_email)
        where own.id = given.id and own.canonical_email is null`,
      [rows.map(({ id }) => id), rows.map(({ email }) => canonicalizeEmail(email) ?? null)],
    )
  } catch (error) {
    if (!isUniqueViolation(error, step.index)) throw error
    // Retry row by row, so that a conflict affects only its own row.
    if (rows.length > 1) for (const row of rows) await fillRows(pool, step, [row])
  }
}
