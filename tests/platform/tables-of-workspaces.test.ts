import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readStatements } from '../../scripts/statements.ts'
import { afterFile } from '../support/after-file.ts'
import { readKnownNames } from '../support/sound-statements.ts'
import { findStatementFaults } from '../support/statement-faults.ts'
import { clone } from '../support/test-app.ts'

const pool = new pg.Pool({ connectionString: await clone(), max: 2 })
afterFile(() => pool.end())

const text = await readFile('docs/scale.md', 'utf8')
/** The tables in each row of docs/scale.md#distributed-by-workspace, and the statements, by its first column. */
const places = readNames(text, '| Where')
const statementsOfSeveral = readNames(text, '| Which')

interface Column {
  table: string
  name: string
  type: string
  isNotNull: boolean
  /** Whether an insert may leave it out. */
  isFilled: boolean
}

const { rows: columns } = await pool.query<Column>(`
  select relname as table, attname as name, format_type(atttypid, null) as type, attnotnull as "isNotNull",
    atthasdef or attgenerated <> '' or attidentity <> '' as "isFilled"
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`)

interface ForeignKey {
  name: string
  table: string
  columns: string[]
  to: string
  toColumns: string[]
}

const { rows: foreignKeys } = await pool.query<ForeignKey>(`
  select conname as name, conrelid::regclass::text as table, confrelid::regclass::text as to,
    array(select attname::text from unnest(conkey) with ordinality as key (attnum, n)
      join pg_attribute using (attnum) where attrelid = conrelid order by n) as columns,
    array(select attname::text from unnest(confkey) with ordinality as key (attnum, n)
      join pg_attribute using (attnum) where attrelid = confrelid order by n) as "toColumns"
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`)

const ofWorkspaces = new Set(places['With their workspace'])
const isBetweenThem = ({ table, to }: ForeignKey) => ofWorkspaces.has(table) && ofWorkspaces.has(to)

describe('docs/scale.md', () => {
  it('says of each table where its rows are', () => {
    const tables = new Set(columns.map(({ table }) => table))
    expect(Object.values(places).flat().toSorted()).toEqual([...tables].toSorted())
  })

  it('names as those with their workspace those that have its id', () => {
    const having = columns.filter(({ name, isNotNull }) => name === 'workspace_id' && isNotNull)
    const elsewhere = new Set(places.Directory)
    expect([...ofWorkspaces].toSorted()).toEqual(
      having
        .map(({ table }) => table)
        .filter((table) => !elsewhere.has(table))
        .toSorted(),
    )
  })

  it('names as those with what they belong to those that have one foreign key to a table of workspaces', () => {
    for (const table of places['With what they belong to'] ?? []) {
      const parents = foreignKeys.filter((key) => key.table === table && ofWorkspaces.has(key.to))
      expect(parents, table).toHaveLength(1)
    }
  })
})

describe('rows of two workspaces', () => {
  it('are held apart by each foreign key between their tables', () => {
    const loose = foreignKeys
      .filter(isBetweenThem)
      .filter(({ columns: from, toColumns }) =>
        [from, toColumns].some((names) => names.indexOf('workspace_id') !== 0),
      )
    expect(loose).toEqual([])
  })

  it.each(foreignKeys.filter(isBetweenThem))(
    'do not refer to each other: $table $columns of $to',
    async (key) => {
      const { name, table, columns: from, to, toColumns } = key
      const [column = '', toColumn = ''] = [from[1], toColumns[1]]
      const [own, other] = [crypto.randomUUID(), crypto.randomUUID()]
      const [first, second, foreign] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
      const client = await pool.connect()
      try {
        await client.query('begin')
        await dropOtherConstraints(client, key)
        // Without triggers and foreign keys.
        await client.query('set local session_replication_role = replica')
        await insert(client, to, { workspace_id: own, [toColumn]: first })
        await insert(client, to, { workspace_id: own, [toColumn]: second })
        await insert(client, to, { workspace_id: other, [toColumn]: foreign })
        await insert(client, table, { workspace_id: own, [column]: first })
        await client.query('set local session_replication_role = origin')
        const refer = (id: string) =>
          client.query(`update ${table} set ${column} = $1 where workspace_id = $2 and ${column} = $3`, [
            id,
            own,
            first,
          ])
        await client.query('savepoint before')
        expect((await refer(second)).rowCount).toBe(1)
        await client.query('rollback to before')
        await expect(refer(foreign)).rejects.toMatchObject({ code: '23503', constraint: name })
      } finally {
        await client.query('rollback')
        client.release()
      }
    },
  )
})

describe('prepared statements', async () => {
  const statements = await readStatements()

  it('name the workspace of the rows that they read or change, but those that docs/scale.md lists', () => {
    const nameless = [...statements].filter(([, sql]) => isOnTableOfWorkspaces(sql) && !namesWorkspace(sql))
    expect(nameless.map(([name]) => name).toSorted()).toEqual(
      Object.values(statementsOfSeveral).flat().toSorted(),
    )
  })

  it.each([
    ['select "title" from "seeds" where "seeds"."id" = $1', false],
    ['select "seeds"."workspace_id" from "seeds" where "seeds"."id" = $1', false],
    ['delete from "evidence" where "evidence"."seed_id" = $1 and "workspace_id" = "workspace_id"', false],
    ['select from "seeds" where "seeds"."workspace_id" = $1 and "seeds"."id" = $2', true],
    ['select from "search_entries" where "workspace_id"::text = (select $1::uuid)::text', true],
    ['insert into "seeds" ("id", "workspace_id") values ($1, $2)', true],
  ])('are known for %s', (sql, isNamed) => {
    expect(isOnTableOfWorkspaces(sql)).toBe(true)
    expect(namesWorkspace(sql)).toBe(isNamed)
  })

  it('read nothing of others (statement-faults.ts)', async () => {
    const known = await readKnownNames()
    expect(
      [...statements].flatMap(([name, sql]) =>
        findStatementFaults(sql, known).map((fault) => `${name}: ${fault}`),
      ),
    ).toEqual([])
  })
})

/** Whether a statement reads or changes a table of workspaces, as far as its text tells. */
function isOnTableOfWorkspaces(sql: string): boolean {
  const names = sql.matchAll(/\b(?:from|join|into|update)\s+"(\w+)"/g)
  return [...names].some(([, name = '']) => ofWorkspaces.has(name))
}

/** Whether a statement compares a workspace with its values, or inserts it, as far as its text tells. */
function namesWorkspace(sql: string): boolean {
  const isCompared =
    /"?workspace_id"?(?:::text)? = (?:(?:any\s*\()?\s*(?:\$|\(\s*select \$)|asked\.|told\.)/.test(sql) ||
    sql.includes('"workspaces"."id" = $')
  return isCompared || /\binto "\w+" \([^)]*"workspace_id"/.test(sql)
}

/** Leaves a foreign key alone with the unique keys, so that rows need no others, any values will do, and no trigger runs. */
async function dropOtherConstraints(client: pg.PoolClient, { name, table, to }: ForeignKey): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement from pg_constraint
      where conrelid = any($1::regclass[]) and contype in ('c', 'f') and conname <> $2`,
    [[table, to], name],
  )
  for (const { statement } of rows) await client.query(statement)
  await client.query(`alter table ${table} disable trigger user`)
}

/** Inserts a row with some values, and with any value in each other column that needs one. */
async function insert(client: pg.PoolClient, table: string, given: Record<string, string>): Promise<void> {
  const anyValue: Record<string, unknown> = {
    integer: 0,
    bigint: 0,
    boolean: false,
    jsonb: '{}',
    'text[]': '{}',
    bytea: Buffer.from('any'),
    date: '2026-01-01',
    'timestamp with time zone': '2026-01-01T00:00:00Z',
  }
  const values: Record<string, unknown> = { ...given }
  for (const { name, type, isNotNull, isFilled } of columns.filter((column) => column.table === table)) {
    if (!isNotNull || isFilled) continue
    values[name] ??= type === 'uuid' || type === 'text' ? crypto.randomUUID() : anyValue[type]
  }
  const names = Object.keys(values)
  await client.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(values),
  )
}

/** The names in the second column of a table, by the first one. */
function readNames(text: string, head: string): Record<string, string[]> {
  const [rows = ''] = text.slice(text.indexOf(head)).split('\n\n')
  return Object.fromEntries(
    rows
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, first = '', names = '']) => [first, names.match(/(?<=`)\w+(?=`)/g) ?? []]),
  )
}
