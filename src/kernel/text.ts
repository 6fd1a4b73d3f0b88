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

// The fillers of Hangul and the blank of Braille are letters and symbols to Unicode, and look like nothing.
const visible = '[^\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}\\u115f\\u1160\\u2800\\u3164\\uffa0]'
// All but control and format characters, separators of lines and lone surrogates.
const plain = '[^\\p{Cc}\\p{Cf}\\p{Cs}\\u2028\\u2029]'
// The format characters that emoji and languages are not written without: joiners, marks of direction, and signs of
// Arabic and Syriac that are seen.
const joiners = '\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u200c-\\u200f'
// Those that have their place in long texts, but in a name only make two look like one: what is not seen at all, and
// embeddings and isolates of direction.
const ofLongTexts = '\\u00ad\\u180e\\u200b\\u202a-\\u202c\\u2060-\\u2064\\u2066-\\u2069\\ufeff'
// The flags of England, Scotland and Wales (UTS #51 §1.4.6): elsewhere tags hide text. As pairs of surrogates, which
// programs can read that do not know the `u` flag.
const flag =
  '\\ud83c\\udff4\\udb40\\udc67\\udb40\\udc62(?:\\udb40\\udc65\\udb40\\udc6e\\udb40\\udc67|' +
  '\\udb40\\udc73\\udb40\\udc63\\udb40\\udc74|\\udb40\\udc77\\udb40\\udc6c\\udb40\\udc73)\\udb40\\udc7f'

/**
 * One line of text that people write: not blank, without control characters (NUL, which PostgreSQL refuses, among them),
 * line separators, lone surrogates and what deceives readers (docs/decisions/0079). An ECMA-262 pattern for the `u` flag,
 * as JSON Schema takes it.
 */
export const linePattern = `^(?=.*${visible})(?:${plain}|[${joiners}]|${flag})*$`

/** Text of several lines that people write: as a line, with line breaks (LF or CRLF) between. */
export const linesPattern = `^(?=[\\s\\S]*${visible})(?:${plain}|[${joiners}${ofLongTexts}]|${flag}|\\r?\\n)*$`

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

const refusedInLine = new RegExp(`(?![${joiners}])[\\p{Cc}\\p{Cf}\\p{Cs}\\u2028\\u2029]`, 'gu')

/** A line without the characters that a line may not have. Names from before a rule may have them. */
export function withoutRefused(text: string): string {
  return text.replace(refusedInLine, '')
}

/** A line that a stranger has given something, as it is shown: without what a line may not have, and cut. */
export function cleanLine(text: string, maxLength: number): string | undefined {
  const cleaned = normalizeText(withoutRefused(text))
  return parseLine(Array.from(cleaned).slice(0, maxLength).join(''), maxLength)
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
