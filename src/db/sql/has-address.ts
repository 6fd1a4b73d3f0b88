import { eq, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { canonicalizeEmail } from '../../kernel/email.ts'

/** Whether a column of canonical addresses equals an address, in any spelling. */
export function hasAddress(column: AnyPgColumn, email: string): SQL {
  return eq(column, comparableAddress(email))
}

/** What a column of canonical addresses is compared with, to find an address in any spelling. */
export function comparableAddress(email: string): string {
  // No row has an empty address, so an address without a canonical form matches nothing.
  return canonicalizeEmail(email) ?? ''
}
