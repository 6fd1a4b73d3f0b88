/** The longest name of a person or a workspace, in characters. */
export const nameLengthMax = 100

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

/** The line as it is stored, or undefined for what is none or is longer than `maxLength` characters (code points). */
export function parseLine(text: string, maxLength: number): string | undefined {
  const isLine = new RegExp(linePattern, 'u').test(text) && Array.from(text).length <= maxLength
  return isLine ? normalizeText(text) : undefined
}
