import { readdir } from 'node:fs/promises'
import pg from 'pg'
import { format } from 'sql-formatter'
import { openDrizzle } from '../src/db/transactions.ts'
import { builders } from '../src/db/sql/prepared.ts'

const source = new URL('../src/', import.meta.url)

/** The SQL of the prepared statements of all repositories, by their names. Connects to no database. */
export async function readStatements(): Promise<ReadonlyMap<string, string>> {
  for (const file of await readdir(source, { recursive: true })) {
    if (file.endsWith('.repository.ts')) await import(new URL(file, source).href)
  }
  const executor = openDrizzle(new pg.Pool())
  const texts = new Map<string, string>()
  for (const build of builders) {
    for (const { name, text } of findQueries(build(executor))) {
      if (texts.has(name) && texts.get(name) !== text) throw new Error(`two statements have the name ${name}`)
      texts.set(name, text)
    }
  }
  return texts
}

/** Renders docs/statements.sql. */
export async function renderStatements(): Promise<string> {
  const statements = [...(await readStatements())]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `-- ${name}\n${format(text, { language: 'postgresql', expressionWidth: 100 })};`)
  return `-- The prepared statements of the service, by their names: the SQL of all hot paths and changes.\n-- Made by \`npm run docs\`.\n\n${statements.join('\n\n')}\n`
}

interface Query {
  name: string
  text: string
}

/** The queries of a prepared statement, or of several in an object. */
function findQueries(built: unknown): Query[] {
  const { rawQueryConfig } = built as { rawQueryConfig?: Query }
  return rawQueryConfig ? [rawQueryConfig] : Object.values(built as object).flatMap(findQueries)
}
