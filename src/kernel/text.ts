import { errors } from './errors.ts'

/** The maximum length of the name of a person or a workspace. All lengths here are in code points. */
export const nameLengthMax = 100
/** The maximum length of the name of a team or an API key. */
export const labelLengthMax = 64
const queryLengthMax = 100

/** Normalizes text for storage and comparison: trimmed, and in Unicode Normalization Form C (UAX #15). */
export function normalizeText(text: string): string {
  return text.normalize('NFC').trim()
}

// Unicode classes the Hangul fillers as letters, and the Braille blank as a symbol, but they are invisible.
const fillers = '\\u115f\\u1160\\u3164\\uffa0'
const visible = `[^\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}\\u2800${fillers}]`
// Everything but control and format characters, line separators, lone surrogates and fillers.
const refused = `\\p{Cc}\\p{Cf}\\p{Cs}\\u2028\\u2029${fillers}`
const plain = `[^${refused}]`
// The format characters that emoji and some languages need: joiners, direction marks, and visible signs of Arabic and
// Syriac.
const joiners = '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u200c-\\u200f'
// Characters with a use in long texts, which in a name could make two names look alike: invisible ones, the Arabic letter
// mark, and direction embeddings and isolates.
const ofLongTexts = `${fillers}\\u00ad\\u061c\\u180e\\u200b\\u202a-\\u202c\\u2060-\\u2064\\u2066-\\u2069\\ufeff`
// The flags of England, Scotland and Wales (UTS #51 §1.4.6): anywhere else tag characters can hide text. Written as
// surrogate pairs, for clients whose patterns have no `u` flag.
const flag =
  '\\ud83c\\udff4\\udb40\\udc67\\udb40\\udc62(?:\\udb40\\udc65\\udb40\\udc6e\\udb40\\udc67|' +
  '\\udb40\\udc73\\udb40\\udc63\\udb40\\udc74|\\udb40\\udc77\\udb40\\udc6c\\udb40\\udc73)\\udb40\\udc7f'

/**
 * One line of text: not blank, and without control characters (such as NUL, which PostgreSQL refuses), line separators,
 * lone surrogates and deceptive characters (docs/decisions/0079). An ECMA-262 pattern for the `u` flag, as JSON Schema
 * requires.
 */
export const linePattern = `^(?=.*${visible})(?:${plain}|[${joiners}]|${flag})*$`

/**
 * The name of a person or a workspace: a line without web addresses. Names are in mails, whose programs turn these into
 * links.
 */
export const namePattern = `^(?!.*(?:://|[wW]{3}[.]))${linePattern.slice(1)}`

/** Text of several lines, separated by LF or CRLF; otherwise as `linePattern`, with more format characters. */
export const linesPattern = `^(?=[\\s\\S]*${visible})(?:${plain}|[${joiners}${ofLongTexts}]|${flag}|\\r?\\n)*$`

/** Normalizes text of several lines for storage, with LF as line break. */
export function normalizeLines(text: string): string {
  return normalizeText(text).replaceAll('\r\n', '\n')
}

const line = new RegExp(linePattern, 'u')
const lines = new RegExp(linesPattern, 'u')
const nameOfPerson = new RegExp(namePattern, 'u')

/** The line as it is stored, or undefined if it is invalid or longer than `maxLength` code points. */
export function parseLine(text: string, maxLength: number): string | undefined {
  return line.test(text) && isWithin(text, maxLength) ? normalizeText(text) : undefined
}

const refusedInLine = new RegExp(`(?![${joiners}])[${refused}]`, 'gu')

/** Removes the characters that are not allowed in a line. Names stored before a rule was added may have them. */
export function withoutRefused(text: string): string {
  return text.replace(refusedInLine, '')
}

/** Makes a line from an untrusted source fit for display: removes characters that are not allowed, and truncates it. */
export function cleanLine(text: string, maxLength: number): string | undefined {
  const cleaned = normalizeText(withoutRefused(text))
  return parseLine(Array.from(cleaned).slice(0, maxLength).join(''), maxLength)
}

/** The name of a person or a workspace as it is stored, or undefined if it is invalid. */
export function parseName(text: string): string | undefined {
  return nameOfPerson.test(text) ? parseLine(text, nameLengthMax) : undefined
}

/** The name of a person or a workspace as it is stored. Throws `name_invalid`. */
export function requireName(text: string): string {
  const name = parseName(text)
  if (name === undefined) throw errors.nameInvalid({ field: 'name' })
  return name
}

/** The name of a team or an API key as it is stored. Throws `label_invalid`. */
export function requireLabel(text: string): string {
  const label = parseLine(text, labelLengthMax)
  if (label === undefined) throw errors.labelInvalid({ field: 'name' })
  return label
}

/** The line of a field as it is stored. Throws `text_invalid`. */
export function requireLine(text: string, maxLength: number, field: string): string {
  const parsed = parseLine(text, maxLength)
  if (parsed === undefined) throw errors.textInvalid({ field })
  return parsed
}

/** The text of several lines of a field as it is stored. Throws `text_invalid`. */
export function requireLines(text: string, maxLength: number, field: string): string {
  if (!lines.test(text) || !isWithin(text, maxLength)) throw errors.textInvalid({ field })
  return normalizeLines(text)
}

/** Normalizes the search text of a list. Throws `text_invalid` for text that cannot be stored. */
export function parseQuery(query: string | undefined): string | undefined {
  return query === undefined ? undefined : requireLine(query, queryLengthMax, 'query')
}

function isWithin(text: string, maxLength: number): boolean {
  return Array.from(text).length <= maxLength
}

/** Whether PostgreSQL can store a text: without NUL, and without lone surrogates, which UTF-8 cannot encode. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text)
}

/** Whether PostgreSQL can store every text in a value, with the names of fields. */
export function isStorableThroughout(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value)
  return (
    typeof value !== 'object' || value === null || Object.entries(value).flat().every(isStorableThroughout)
  )
}
