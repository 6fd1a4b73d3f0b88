import type { Database } from '../db/client.ts'
import type { AppSecret, SecretBox } from '../platform/secrets/app-secret.port.ts'
import {
  listSealed,
  replaceSealed,
  sealedColumns,
  type SealedColumn,
  type SealedRow,
} from '../platform/secrets/sealed-columns.repository.ts'

/** What was done with the values of a kind. */
export interface Resealed {
  kind: string
  /** The values that were encrypted again. */
  resealed: number
  /** Those that are under APP_SECRET_PREVIOUS at the end, which somebody wrote meanwhile. */
  left: number
  /** Those that neither secret opens. */
  unreadable: number
}

/**
 * Encrypts again under APP_SECRET what is stored under APP_SECRET_PREVIOUS. Runs beside the service and with itself: a value
 * that changed meanwhile is left as it is. What is left is counted after all kinds are done, since a rotation of a
 * webhook's secret copies a value from one column to another.
 */
export async function reseal(
  db: Database,
  appSecret: AppSecret,
  { sliceSize = 200 } = {},
): Promise<Resealed[]> {
  const readAll = (column: SealedColumn) => readSlices(db, column, sliceSize)
  const numbers = new Map<SealedColumn, number>()
  for (const column of sealedColumns) {
    const box = appSecret.boxOf(column.purpose)
    let resealed = 0
    for await (const slice of readAll(column)) resealed += await resealSlice(db, { column, box, slice })
    numbers.set(column, resealed)
  }
  const results: Resealed[] = []
  for (const column of sealedColumns) {
    const box = appSecret.boxOf(column.purpose)
    const result = { kind: column.kind, resealed: numbers.get(column) ?? 0, left: 0, unreadable: 0 }
    for await (const slice of readAll(column)) {
      const secrets = slice.map(({ sealed }) => box.secretOf(sealed))
      result.left += secrets.filter((secret) => secret === 'previous').length
      result.unreadable += secrets.filter((secret) => secret === 'unknown').length
    }
    results.push(result)
  }
  return results
}

/** In one transaction, which keeps its rows locked for a moment only. Returns the number of values that it replaced. */
function resealSlice(
  db: Database,
  { column, box, slice }: { column: SealedColumn; box: SecretBox; slice: readonly SealedRow[] },
): Promise<number> {
  return db.transaction(async (tx) => {
    let replaced = 0
    for (const row of slice) {
      const text = box.secretOf(row.sealed) === 'previous' ? box.open(row.sealed) : undefined
      if (text !== undefined && (await replaceSealed(tx, column, row, box.seal(text)))) replaced++
    }
    return replaced
  })
}

async function* readSlices(db: Database, column: SealedColumn, limit: number): AsyncGenerator<SealedRow[]> {
  let slice = await listSealed(db, column, { after: undefined, limit })
  while (slice.length > 0) {
    yield slice
    slice = await listSealed(db, column, { after: slice.at(-1)?.id, limit })
  }
}
