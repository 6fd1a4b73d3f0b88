import { eq, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { canonicalizeEmail } from '../kernel/email.ts'

/** Whether a column of canonical addresses equals an address, in any spelling. */
export function hasAddress(column: AnyPgColumn, email: string): SQL {
  // No row has an empty address, so an address without a canonical form matches nothing.
  return eq(column, canonicalizeEmail(email) ?? '')
}
