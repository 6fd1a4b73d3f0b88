/**
 * What spreadsheets take for a formula, or for what may become one: `=`, `+`, `-`, `@`, their full-width forms, and the
 * control characters that some skip at the beginning of a cell. Apostrophes before it are from an earlier export.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/** A text as a cell that no spreadsheet evaluates: an apostrophe comes before what could be a formula. */
export function defuseCell(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** The text of a cell that `defuseCell` has made. All others are returned unchanged. */
export function restoreCell(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell
}

/** What a file begins with so that spreadsheets read it as UTF-8. */
export const byteOrderMark = '\ufeff'

/** Cells as a line of CSV (RFC 4180), without formulas. */
export function toCsvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(toCell).join(',')}\r\n`
}

function toCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = defuseCell(value)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
