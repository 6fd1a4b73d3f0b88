import { customType, foreignKey, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core'

/** Bytes, as a Buffer. */
export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/**
 * A timestamp with the millisecond precision of a JavaScript Date: a value that is read equals the one that was
 * written, as keyset pagination requires.
 */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** The columns of a table of workspaces that a key refers to. */
interface Referred {
  workspaceId: AnyPgColumn
  id: AnyPgColumn
}

/** A foreign key to a row of the same workspace (docs/design/database.md#rows-of-workspaces). */
export const keyInWorkspace = (
  name: string,
  { workspaceId }: Pick<Referred, 'workspaceId'>,
  column: AnyPgColumn,
  to: Referred,
) => foreignKey({ name, columns: [workspaceId, column], foreignColumns: [to.workspaceId, to.id] })
