/** What the text of a statement is compared with. */
export interface KnownNames {
  tablesOfWorkspaces: ReadonlySet<string>
  /** The columns of all tables. */
  columns: ReadonlySet<string>
}

/**
 * What a statement may read of somebody else, as far as its text tells. Names without quotes are not looked at: Drizzle
 * writes none, and tests write such statements themselves.
 */
export function findStatementFaults(text: string, known: KnownNames): string[] {
  const sql = text.replaceAll(/\s+/g, ' ')
  // Migrations have no caller: as they are run, and their files.
  if (sql.startsWith('begin;') || sql.includes('--> statement-breakpoint')) return []
  return [...findSelfComparisons(sql), ...findColumnsWithoutTable(sql, known), ...findWholeTables(sql, known)]
}

/** Columns that are compared with themselves, which is always true. */
function findSelfComparisons(sql: string): string[] {
  const found = sql.matchAll(/(?<![.\w"])("\w+"(?:\."\w+")?) = \1(?![.\w"])/g)
  return Array.from(found, ([, column]) => `${column} is compared with itself`)
}

interface Part {
  /** Whether it sees the columns of a query around it. */
  isSubquery: boolean
  clause: string
}

const clauses = new Set('select from join on where group having order returning set as'.split(' '))
const beforeTables = new Set(['from', 'join', 'as', 'materialized'])

/** Columns in conditions of subqueries that are written without their table: they may be of the query around it. */
function findColumnsWithoutTable(sql: string, { columns }: KnownNames): string[] {
  const found: string[] = []
  const parts: [Part, ...Part[]] = [{ isSubquery: false, clause: '' }]
  const tokens = sql.match(/'(?:[^']|'')*'|"\w+"(?:\."\w+")?|[\w.$]+|\S/g) ?? []
  for (const [i, token] of tokens.entries()) {
    const part = parts.at(-1) ?? parts[0]
    const previous = tokens[i - 1] ?? ''
    const isCondition = part.isSubquery && ['on', 'where'].includes(part.clause)
    if (token === '(') {
      const isTable = beforeTables.has(previous) || (previous === ',' && part.clause === 'from')
      parts.push({ ...part, ...(tokens[i + 1] === 'select' && { isSubquery: !isTable }) })
    } else if (token === ')' && parts.length > 1) parts.pop()
    else if (clauses.has(token)) part.clause = token
    else if (isCondition && /^"\w+"$/.test(token) && columns.has(token.slice(1, -1)))
      found.push(`${token} in a subquery has no table`)
  }
  return found
}

const notAlias = 'where|on|inner|left|cross|join|for|order|group|limit|union|using|set|returning'
const reads = new RegExp(`\\b(?:from|join) "(\\w+)"(?: as)?(?: "?(?!(?:${notAlias})\\b)(\\w+))?`, 'g')

/** What reads all workspaces, and shows nobody in one anything of another. */
const ofAllWorkspaces = [
  // Clean-ups delete by age.
  /^delete from .* < \$/,
  // All secrets are sealed again, by a command.
  /^select .*sealed_secret" from "\w+" where /,
  // Operators list the clients of all.
  /"oauth_records".* full join .*"agent_grants" group by/,
  // Whether any workspace allows a client.
  /from "agent_policies" where \("agent_policies"\."is_on" = \$\d and "agent_policies"\."clients" @>/,
]

/** Tables of workspaces of which no row is chosen by a workspace, a seed or another id: all rows of all workspaces. */
function findWholeTables(sql: string, { tablesOfWorkspaces }: KnownNames): string[] {
  if (ofAllWorkspaces.some((pattern) => pattern.test(sql))) return []
  const found: string[] = []
  for (const [, table = '', alias] of sql.matchAll(reads)) {
    if (!tablesOfWorkspaces.has(table)) continue
    const column = `(?:"?\\b${alias ?? table}"?\\."?|(?<![\\w."]))(?:\\w+_)?id"?`
    const isChosen = new RegExp(`${column}(?:::\\w+)?\\)* (?:=|in) |(?:=|\\bin) \\(*${column}`)
    if (!isChosen.test(sql)) found.push(`rows of all workspaces are read from ${table}`)
  }
  return found
}
