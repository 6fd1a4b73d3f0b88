import { eq, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { canonicalizeEmail } from '../kernel/email.ts'

/** Whether a column of canonical addresses holds this address, however it is spelled. */
export function hasAddress(column: AnyPgColumn, email: string): SQL {
  // Nobody has the empty one, nor one without a canonical form.
  return eq(column, canonicalizeEmail(email) ?? '')
}
