import { readdir } from 'node:fs/promises'
import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { findStatementFaults, type KnownNames } from './statement-faults.ts'

const seen = new Set<string>()
const unchecked = new Set<string>()
let isNoting = false

/** Notes each statement that is sent from now on, once for each text. */
export function noteStatements(): void {
  if (isNoting) return
  isNoting = true
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the client as `this` below
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text?: string }]
    const text = typeof first === 'string' ? first : first.text
    if (text !== undefined && !seen.has(text)) {
      seen.add(text)
      unchecked.add(text)
    }
    return send.apply(this, args)
  } as typeof pg.Client.prototype.query
}

/** Throws if a statement that was sent since the last call may read what it should not (`findStatementFaults`). */
export async function assertStatementsSound(): Promise<void> {
  if (unchecked.size === 0) return
  const known = await readKnownNames()
  const faults = [...unchecked].flatMap((text) =>
    findStatementFaults(text, known).map((fault) => `${fault}: ${text}`),
  )
  unchecked.clear()
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

/** The names of the tables and columns of the schema. */
export async function readKnownNames(): Promise<KnownNames> {
  const schema = new URL('../../src/db/schema/', import.meta.url)
  const tablesOfWorkspaces = new Set<string>()
  const columns = new Set<string>()
  for (const file of await readdir(schema)) {
    const module = (await import(new URL(file, schema).href)) as Record<string, unknown>
    for (const table of Object.values(module).filter((value) => is(value, PgTable))) {
      const config = getTableConfig(table)
      for (const { name } of config.columns) columns.add(name)
      if (config.columns.some(({ name, notNull }) => name === 'workspace_id' && notNull))
        tablesOfWorkspaces.add(config.name)
    }
  }
  return { tablesOfWorkspaces, columns }
}
