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
const never = '\\p{Cc}\\p{Cs}\\u2028\\u2029'
// What turns the direction of all that follows (UAX #9 §2.2), and text that is hidden: tags, and what is deprecated.
const deceptive = '\\u202d\\u202e\\u206a-\\u206f\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}'
// What has its place in long texts, but in a name only makes two look like one: embeddings, isolates, and what is not
// seen at all. Joiners and the marks of direction stay: emoji and some languages are not written without them.
const deceptiveInLine = '\\u00ad\\u180e\\u200b\\u202a-\\u202c\\u2060-\\u2069\\ufeff'
// The flags of England, Scotland and Wales are a black flag and tags (UTS #51 §1.4.6).
const flag = '\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}'

/**
 * One line of text that people write: not blank, without control characters (NUL, which PostgreSQL refuses, among them),
 * line separators, lone surrogates and what deceives readers (docs/decisions/0079). An ECMA-262 pattern for the `u` flag,
 * as JSON Schema takes it.
 */
export const linePattern = `^(?=.*${visible})(?:[^${never}${deceptive}${deceptiveInLine}]|${flag})*$`

/** Text of several lines that people write: as a line, with line breaks (LF or CRLF) between. */
export const linesPattern = `^(?=[\\s\\S]*${visible})(?:[^${never}${deceptive}]|${flag}|\\r?\\n)*$`

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

const refusedInLine = new RegExp(`[${never}${deceptive}${deceptiveInLine}]`, 'gu')

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
