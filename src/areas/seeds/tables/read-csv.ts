import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { importRowsMax } from '../../../domain/seed-imports.ts'
import { errors } from '../../../kernel/errors.ts'

/** A table that was read: its header, and the rows that are not blank. */
export interface CsvTable {
  headers: string[]
  rows: CsvRow[]
}

/** A row of a table. */
export interface CsvRow {
  /** As spreadsheets count: the header is row 1. */
  number: number
  cells: string[]
}

const columnsMax = 200
const rowBytesMax = 100_000
// Each quotation mark of a row may be written as two.
const lineLengthMax = 2 * rowBytesMax + columnsMax
// Spreadsheets write many rows of empty cells below a table.
const blankRowsMax = 50_000
const chunkBytes = 32 * 1024

/** The first bytes of what people upload in place of CSV. */
const otherFormats: readonly { bytes: readonly number[]; is: string }[] = [
  { bytes: [0x50, 0x4b], is: 'a ZIP archive or an Excel workbook (.xlsx)' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], is: 'an old Excel workbook (.xls)' },
  { bytes: [0x25, 0x50, 0x44, 0x46], is: 'a PDF' },
]

const saveAsCsv = 'Save the table as CSV in UTF-8.'

/**
 * Reads a table in CSV (RFC 4180) with commas, semicolons or tabs. Bounded: what has more columns, longer rows or more rows
 * than a table of seeds is refused before all of it is read. Throws `table_invalid`, which says what is wrong.
 */
export async function readCsv(content: Buffer): Promise<CsvTable> {
  const text = decode(content)
  assertLinesAreShort(text)
  const delimiter = findDelimiter(text)
  // Loaded with the first table, to keep the start fast.
  const { parse } = await import('csv-parse')
  const parser = Readable.from(chunksOf(content)).pipe(
    parse({
      bom: true,
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      // Spreadsheets do not quote the cells that they copy.
      relax_quotes: delimiter === '\t',
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: rowBytesMax,
      info: true,
    }),
  )
  let headers: string[] | undefined
  let blankRows = 0
  const rows: CsvRow[] = []
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRecord>) {
      const isBlank = record.every((cell) => cell.trim() === '')
      if (record.length > columnsMax) throw invalid(`It has more than ${columnsMax} columns.`)
      if (isBlank) {
        blankRows += 1
        if (blankRows > blankRowsMax) throw invalid('It has too many empty rows.')
      } else if (!headers) headers = record.map((cell) => cell.trim())
      else if (rows.length === importRowsMax)
        throw invalid(`It has more than ${importRowsMax.toLocaleString('en')} rows. Split it.`)
      else rows.push({ number: info.records + info.empty_lines, cells: record })
    }
  } catch (error) {
    throw toTableError(error)
  }
  if (!headers) throw invalid('It is empty.')
  if (rows.length === 0) throw invalid('It has a header, and no rows.')
  return { headers, rows }
}

interface ParsedRecord {
  record: string[]
  info: { records: number; empty_lines: number }
}

function invalid(message: string, cause?: unknown) {
  return errors.tableInvalid({ field: 'file', message: `The table cannot be read. ${message}`, cause })
}

function decode(content: Buffer): string {
  for (const { bytes, is } of otherFormats)
    if (bytes.every((byte, i) => content[i] === byte)) throw invalid(`This is ${is}. ${saveAsCsv}`)
  const [first, second] = content
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw invalid(`This is UTF-16. ${saveAsCsv}`)
  if (content.includes(0)) throw invalid(`It is not text. ${saveAsCsv}`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    throw invalid(`This is not UTF-8, but perhaps Windows-1252. ${saveAsCsv}`, error)
  }
}

/** The separator that the header has most of, outside of quotes. */
function findDelimiter(text: string): string {
  const counts = new Map([',', ';', '\t'].map((sign) => [sign, 0]))
  let isQuoted = false
  let hasCells = false
  for (let i = 0; i < Math.min(text.length, rowBytesMax); i += 1) {
    const sign = text.charAt(i)
    if (sign === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (sign === '\n' || sign === '\r') {
      if (hasCells) break
    } else counts.set(sign, (counts.get(sign) ?? -Infinity) + 1)
    if (sign.trim() !== '') hasCells = true
  }
  const [[delimiter] = [',']] = [...counts].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a)
  return delimiter
}

/** The parser works on each in one go, and lets others run between them. */
async function* chunksOf(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += chunkBytes) {
    await nextTurn()
    yield content.subarray(at, at + chunkBytes)
  }
}

/** The parser would make an array of all cells of a row before it can be refused. */
function assertLinesAreShort(text: string): void {
  const lineBreak = /[\r\n]/g
  let start = 0
  while (start < text.length) {
    lineBreak.lastIndex = start
    const end = lineBreak.exec(text)?.index ?? text.length
    if (end - start > lineLengthMax) throw invalid('A row is too long, or its lines have no ends.')
    start = end + 1
  }
}

const quoteFault = 'A quotation mark is not closed, or is in a cell that is not quoted'

/** What the parser found wrong, in words. */
function toTableError(error: unknown): unknown {
  const { code, lines } = error as { code?: string; lines?: number }
  const about = lines === undefined ? '.' : ` (at line ${lines}).`
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return invalid(`${quoteFault}${about}`, error)
    case 'CSV_MAX_RECORD_SIZE':
      return invalid(
        `A row has more than ${rowBytesMax.toLocaleString('en')} bytes${about} ${quoteFault}?`,
        error,
      )
    default:
      return error
  }
}
