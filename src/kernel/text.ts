import { errors } from './errors.ts'

/** The longest name of a person or a workspace, in characters (code points, as all lengths here). */
export const nameLengthMax = 100
/** The longest name of a team or an API key. */
export const labelLengthMax = 64
const queryLengthMax = 100

/** Text as it is stored and compared: trimmed, and in Unicode Normalization Form C (UAX #15). */
export function normalizeText(text: string): string {
  return text.normalize('NFC').trim()
}

/**
 * One line of text that people write: not blank, without control characters (NUL, which PostgreSQL refuses, among them),
 * line separators and lone surrogates. An ECMA-262 pattern for the `u` flag, as JSON Schema takes it.
 */
export const linePattern = '^(?=.*[^\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}])[^\\p{Cc}\\p{Cs}\\u2028\\u2029]*$'

/** Text of several lines that people write: as a line, with line breaks (LF or CRLF) between. */
export const linesPattern =
  '^(?=[\\s\\S]*[^\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}])(?:[^\\p{Cc}\\p{Cs}\\u2028\\u2029]|\\r?\\n)*$'

/** Text of several lines as it is stored: as a line, with LF between. */
export function normalizeLines(text: string): string {
  return normalizeText(text).replaceAll('\r\n', '\n')
}

const line = new RegExp(linePattern, 'u')
const lines = new RegExp(linesPattern, 'u')

/** The line as it is stored, or undefined for what is none or is longer than `maxLength` characters (code points). */
export function parseLine(text: string, maxLength: number): string | undefined {
  return line.test(text) && isWithin(text, maxLength) ? normalizeText(text) : undefined
}

/** The name of a person or a workspace as it is stored. Throws `name_invalid`. */
export function requireName(text: string): string {
  const name = parseLine(text, nameLengthMax)
  if (name === undefined) throw errors.nameInvalid({ field: 'name' })
  return name
}

/** The name of a team or an API key as it is stored. Throws `label_invalid`. */
export function requireLabel(text: string): string {
  const label = parseLine(text, labelLengthMax)
  if (label === undefined) throw errors.labelInvalid({ field: 'name' })
  return label
}

/** A line of a field as it is stored. Throws `text_invalid`. */
export function requireLine(text: string, maxLength: number, field: string): string {
  const parsed = parseLine(text, maxLength)
  if (parsed === undefined) throw errors.textInvalid({ field })
  return parsed
}

/** Text of several lines of a field as it is stored. Throws `text_invalid`. */
export function requireLines(text: string, maxLength: number, field: string): string {
  if (!lines.test(text) || !isWithin(text, maxLength)) throw errors.textInvalid({ field })
  return normalizeLines(text)
}

/** What a list is searched for; undefined for nothing. Throws `text_invalid` for what no stored text can hold. */
export function parseQuery(query: string | undefined): string | undefined {
  return query === undefined ? undefined : requireLine(query, queryLengthMax, 'query')
}

function isWithin(text: string, maxLength: number): boolean {
  return Array.from(text).length <= maxLength
}

/** Whether PostgreSQL can keep a text: it has no NUL, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text)
}
