import { and, asc, desc, gt, isNotNull, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { signingKeys } from '../../db/schema/oauth.ts'
import { authenticatorApps } from '../../db/schema/second-factors.ts'
import { webhookFormerSecrets, webhooks } from '../../db/schema/webhooks.ts'
import type { Purpose } from './app-secret.port.ts'

/** A column whose values are encrypted under APP_SECRET for as long as their rows exist. */
export interface SealedColumn {
  /** What its values are, to operators. */
  kind: string
  purpose: Purpose
  table: PgTable
  /** The primary key. */
  id: PgColumn
  value: PgColumn
  /** The order in which its rows were made. */
  createdAt: PgColumn
}

const ofWebhooks = {
  purpose: 'secrets of webhooks',
  table: webhooks,
  id: webhooks.id,
  createdAt: webhooks.createdAt,
} as const

/** All of them. What is encrypted for minutes only, as the answers to authorization requests are, is not stored anew. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    kind: 'signing keys',
    purpose: 'signing key',
    table: signingKeys,
    id: signingKeys.id,
    value: signingKeys.sealedPrivateJwk,
    createdAt: signingKeys.createdAt,
  },
  {
    kind: 'authenticator apps',
    purpose: 'authenticator apps',
    table: authenticatorApps,
    id: authenticatorApps.userId,
    value: authenticatorApps.sealedSecret,
    createdAt: authenticatorApps.createdAt,
  },
  { kind: 'secrets of webhooks', ...ofWebhooks, value: webhooks.sealedSecret },
  { kind: 'previous secrets of webhooks', ...ofWebhooks, value: webhooks.previousSealedSecret },
  {
    kind: 'former secrets of webhooks',
    purpose: 'secrets of webhooks',
    table: webhookFormerSecrets,
    id: webhookFormerSecrets.id,
    value: webhookFormerSecrets.sealedSecret,
    createdAt: webhookFormerSecrets.createdAt,
  },
]

export interface SealedRow {
  id: string
  sealed: Buffer
}

/** The values of the rows after an id, in the order of ids. */
export async function listSealed(
  executor: Executor,
  { table, id, value }: SealedColumn,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<SealedRow[]> {
  const rows = await executor
    .select({ id, sealed: value })
    .from(table)
    .where(and(isNotNull(value), after === undefined ? undefined : gt(id, after)))
    .orderBy(asc(id))
    .limit(limit)
  return rows as SealedRow[]
}

/** The value of the newest row; undefined if there is none. */
export async function findNewestSealed(
  executor: Executor,
  { table, id, value, createdAt }: SealedColumn,
): Promise<Buffer | undefined> {
  const [row] = await executor
    .select({ sealed: value })
    .from(table)
    .where(isNotNull(value))
    .orderBy(desc(createdAt), desc(id))
    .limit(1)
  return row?.sealed as Buffer | undefined
}

/** Replaces a value, unless it has changed meanwhile. Returns whether it did. */
export async function replaceSealed(
  executor: Executor,
  { table, id, value }: SealedColumn,
  row: SealedRow,
  sealed: Buffer,
): Promise<boolean> {
  const { rows } = await executor.execute(sql`
    update ${table} set ${sql.identifier(value.name)} = ${sealed}
    where ${id} = ${row.id} and ${value} = ${row.sealed}
    returning ${id}`)
  return rows.length > 0
}
