import { setImmediate as nextTurn } from 'node:timers/promises'
import { importFaultsMax, type RowFault } from '../../../domain/seed-imports.ts'
import { ApiError, errors } from '../../../kernel/errors.ts'
import { restoreCell } from '../../../kernel/csv-cells.ts'
import { parseNewTexts } from '../seed-texts.ts'
import { readCsv, type CsvRow, type CsvTable } from './read-csv.ts'
import {
  completeTableSeed,
  importedColumns,
  importedFields,
  type ImportedColumn,
  type TableSeed,
} from './seed-columns.ts'

/** Which field of a seed each column is, by the name of the column. */
export type Mapping = Record<string, string>

/** A column of a table that can be mapped. */
export interface TableColumn {
  name: string
  /** The first cell that is not empty. */
  example: string
}

/** A table as an import reads it. */
export interface ReadTable {
  /** The columns that can be mapped: those with a name that no other one has. */
  columns: TableColumn[]
  mapping: Mapping
  /** All rows, with those that have faults. */
  total: number
  seeds: TableSeed[]
  faultyCount: number
  /** The first of them. */
  faults: RowFault[]
}

/**
 * Reads a table of seeds; without a mapping by the names of its columns. Throws `table_invalid`, and `mapping_invalid` for a
 * mapping that does not fit it.
 */
export async function readTable(content: Buffer, given?: Mapping): Promise<ReadTable> {
  const table = await readCsv(content)
  const columns = columnsOf(table)
  const mapping = given ?? guessMapping(columns.map(({ name }) => name))
  const places = placesOf(table, mapping)
  const read: ReadTable = {
    ...{ columns, mapping, total: table.rows.length },
    ...{ seeds: [], faultyCount: 0, faults: [] },
  }
  for (const [i, row] of table.rows.entries()) {
    // Others run between some rows.
    if (i % 50 === 0) await nextTurn()
    const { seed, faults } = readRow(row, table.headers.length, places)
    if (seed) read.seeds.push(seed)
    else read.faultyCount += 1
    read.faults.push(...faults.slice(0, importFaultsMax - read.faults.length))
  }
  return read
}

/** The columns of a table, with a mapping by their names: for a form that asks which field each is. Throws `table_invalid`. */
export async function readColumns(content: Buffer): Promise<{ columns: TableColumn[]; mapping: Mapping }> {
  const columns = columnsOf(await readCsv(content))
  return { columns, mapping: guessMapping(columns.map(({ name }) => name)) }
}

/** A mapping as a form has it. Throws `mapping_invalid`. */
export function parseMapping(text: string): Mapping {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid('It is not JSON.', error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('It is not a JSON object.')
  const entries = Object.entries(value)
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw invalid('Each column must have the name of a field.')
  return Object.fromEntries(entries)
}

const invalid = (message: string, cause?: unknown) =>
  errors.mappingInvalid({ field: 'mapping', addition: message, cause })

function columnsOf({ headers, rows }: CsvTable): TableColumn[] {
  return headers.flatMap((name, place) => {
    if (name === '' || headers.indexOf(name) !== headers.lastIndexOf(name)) return []
    const filled = rows.find(({ cells }) => (cells[place] ?? '').trim() !== '')
    return { name, example: restoreCell(filled?.cells[place] ?? '') }
  })
}

/** The fields whose names, headings or other names these columns have, each once. */
function guessMapping(names: readonly string[]): Mapping {
  const keyOf = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, ' ')
  const mapping = new Map<string, string>()
  const take = (namesOf: (column: ImportedColumn) => readonly string[]) => {
    for (const column of importedColumns) {
      if ([...mapping.values()].includes(column.field)) continue
      const keys = namesOf(column).map(keyOf)
      const name = names.find((each) => keys.includes(keyOf(each)) && !mapping.has(each))
      if (name !== undefined) mapping.set(name, column.field)
    }
  }
  take(({ field, heading }) => [field, heading])
  take(({ aliases = [] }) => aliases)
  return Object.fromEntries([...mapping].sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)))
}

type Place = [column: ImportedColumn, place: number]

/** Where the cells of each field are. Throws `mapping_invalid`. */
function placesOf({ headers }: CsvTable, mapping: Mapping): Place[] {
  const places = Object.entries(mapping).map(([name, field]): Place => {
    const column = importedColumns.find((each) => each.field === field)
    if (!column) throw invalid(`“${field}” is none of the fields ${importedFields.join(', ')}.`)
    const place = headers.indexOf(name.trim())
    if (place < 0 || name.trim() === '') throw invalid(`The table has no column “${name}”.`)
    if (headers.lastIndexOf(name.trim()) !== place) throw invalid(`The table has several columns “${name}”.`)
    return [column, place]
  })
  const fields = places.map(([{ field }]) => field)
  const twice = fields.find((field, i) => fields.indexOf(field) !== i)
  if (twice !== undefined) throw invalid(`Two columns are “${twice}”.`)
  const missing = importedColumns.find(({ isRequired, field }) => isRequired && !fields.includes(field))
  if (missing) throw invalid(`No column is the ${missing.heading.toLowerCase()}.`)
  return places.sort(([, a], [, b]) => a - b)
}

/** The seed of a row, or all of its faults. */
function readRow(
  { number: row, cells }: CsvRow,
  columnCount: number,
  places: readonly Place[],
): { seed?: TableSeed; faults: RowFault[] } {
  const { code } = errors.tableInvalid
  if (cells.slice(columnCount).some((cell) => cell.trim() !== ''))
    return { faults: [{ row, field: null, code, message: 'This row has more cells than the header.' }] }
  const faults: RowFault[] = []
  const parts: Partial<TableSeed> = {}
  for (const [{ field, parse }, place] of places) {
    try {
      Object.assign(parts, parse(restoreCell(cells[place] ?? '')))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      faults.push({ row, field, code: error.code, message: error.message })
    }
  }
  if (faults.length > 0) return { faults }
  const seed = completeTableSeed(parts as TableSeed)
  // The same rules as for a seed that is created alone.
  parseNewTexts(seed)
  return { seed, faults }
}
