import { domainToUnicode } from 'node:url'
import tlds from 'tlds' with { type: 'json' }
import { errors } from './errors.ts'

/** The maximum length of the name of a person or a workspace. All lengths here are in code points. */
export const nameLengthMax = 100
/** The maximum length of the name of a team or an API key. */
export const labelLengthMax = 64
const queryLengthMax = 100

// White space of one line: tabs, line breaks and all space separators, such as the no-break space.
const white = '\\t-\\r\\u0085\\p{Z}'
const whiteRun = new RegExp(`[${white}]+`, 'gu')
const lineBreak = /\r\n|[\v\f\u0085\u2028\u2029]/g

/**
 * Normalizes a line for storage and comparison: in Unicode Normalization Form C (UAX #15), with one space for each run of
 * white space, and trimmed.
 */
export function normalizeLine(text: string): string {
  return text.normalize('NFC').replace(whiteRun, ' ').trim()
}

/** Normalizes text of several lines for storage: in Normalization Form C, with LF as line break, and trimmed. */
export function normalizeLines(text: string): string {
  return text.normalize('NFC').replace(lineBreak, '\n').trim()
}

/**
 * What a text may contain (docs/design/errors.md#characters-that-deceive):
 *
 * - `line`: one line that people write. Not blank, and without control characters (such as NUL, which PostgreSQL
 * refuses), lone surrogates and deceptive characters. White space of every kind is taken, and stored as single spaces.
 * - `name`: the name of a person or a workspace: a line without web addresses. Names are in mails, whose programs turn
 *   these into links.
 * - `lines`: text of several lines: as `line`, with more format characters. Tabs are kept, line breaks are stored as LF.
 * - `query`: text that is only compared. It may be blank.
 * - `url`: an http or https URL.
 */
export type TextRule = 'line' | 'name' | 'lines' | 'query' | 'url'

// Unicode classes the Hangul fillers as letters, and the Braille blank as a symbol, but they are invisible.
const fillers = '\\u115f\\u1160\\u3164\\uffa0'
const visible = new RegExp(`[^\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}\\u2800${fillers}]`, 'u')
// Control and format characters, lone surrogates and fillers.
const refused = `[\\p{Cc}\\p{Cf}\\p{Cs}${fillers}]`
// The format characters that emoji and some languages need: joiners, direction marks, and visible signs of Arabic and
// Syriac.
const joiners = '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u200c-\\u200f'
// Characters with a use in long texts, which in a name could make two names look alike: invisible ones, the Arabic letter
// mark, and direction embeddings and isolates.
const ofLongTexts = `${fillers}\\u00ad\\u061c\\u180e\\u200b\\u202a-\\u202c\\u2060-\\u2064\\u2066-\\u2069\\ufeff`
// The flags of England, Scotland and Wales (UTS #51 §1.4.6): anywhere else tag characters can hide text.
const flags =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu

// The flag `v` subtracts classes: a lookahead takes four times as long.
const refusedInLine = new RegExp(`[${refused}--[${white}${joiners}]]`, 'v')
const refusedBy: Record<TextRule, RegExp> = {
  line: refusedInLine,
  name: refusedInLine,
  lines: new RegExp(`\\r(?!\\n)|[${refused}--[\\t-\\r\\u0085${joiners}${ofLongTexts}]]`, 'v'),
  query: new RegExp('[\\p{Cc}--[\\t-\\r\\u0085]]', 'v'),
  url: /[\s\p{Cc}\p{Cf}\p{Cs}]/u,
}

const schemeOrWww = /:\/\/|[wW]{3}\./
const endOfDomain = /(?<=[\p{L}\p{M}\p{N}-])\.([\p{L}\p{M}\p{N}-]+)(?::\p{N}{1,5})?\//gu
// Those of the root zone, and those that RFC 2606 reserves.
const topLevelDomains = new Set([...tlds, 'test', 'example', 'invalid', 'localhost'])

/**
 * Whether programs for mail would make a link of a part: a scheme, `www.`, or a domain with a path. `Node.js`, `A/B` and
 * `St./Saint` are none.
 */
function hasWebAddress(text: string): boolean {
  if (schemeOrWww.test(text)) return true
  return Array.from(text.matchAll(endOfDomain)).some(([, last = '']) =>
    topLevelDomains.has(domainToUnicode(last.toLowerCase())),
  )
}

const url = /^[hH][tT]{2}[pP][sS]?:\/\/./u

/** All expressions that texts of requests are tested by. */
export const textExpressions = [visible, ...Object.values(refusedBy), flags, schemeOrWww, endOfDomain, url]

/**
 * What is wrong with a text, as the end of a sentence about it, such as `must not contain U+0000 (character 17)`; undefined
 * for a text that the rule allows. Characters are counted as code points, from 1.
 */
export function findFault(text: string, rule: TextRule, lengthMax = Infinity): string | undefined {
  if (lengthMax < text.length && lengthMax < Array.from(text).length) return faultOfLength(lengthMax)
  const found = findRefused(text, refusedBy[rule])
  if (found !== undefined) return found
  if (rule === 'url') return url.test(text) ? undefined : 'must be an http or https URL'
  if (rule !== 'query' && !visible.test(text)) return blank
  if (rule === 'name' && hasWebAddress(text))
    return 'must not contain a web address: `://`, `www.`, or a domain followed by `/`'
  return undefined
}

/** What is wrong with a text that has no characters, or none that can be seen. */
export const blank = 'must not be blank'

/** What is wrong with a text of more code points. */
export function faultOfLength(lengthMax: number): string {
  return `must be at most ${lengthMax} characters`
}

function findRefused(text: string, characters: RegExp): string | undefined {
  // Tag characters are in the planes of U+DB40. Another character as long as a flag leaves all places as they are.
  const withoutFlags = text.includes('\udb40') ? text.replace(flags, (flag) => '-'.repeat(flag.length)) : text
  const match = characters.exec(withoutFlags)
  if (!match) return undefined
  const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `must not contain U+${code} (character ${Array.from(text.slice(0, match.index)).length + 1})`
}

/** The line as it is stored, or undefined if it is invalid or longer than `maxLength` code points. */
export function parseLine(text: string, maxLength: number): string | undefined {
  return findFault(text, 'line', maxLength) === undefined ? normalizeLine(text) : undefined
}

const allRefusedInLine = new RegExp(refusedInLine, 'gv')

/** Makes one line of a text, without the characters that no line may have. Names from before a rule may have them. */
export function withoutRefused(text: string): string {
  return text.replace(whiteRun, ' ').replace(allRefusedInLine, '')
}

/**
 * The beginning of a text, of at most `lengthMax` code points with the ellipsis that stands for the rest. It ends with a
 * whole word, or in a long one and where no spaces are between words with a whole character, as people see them. An address
 * of the web is whole or left out: its beginning leads elsewhere.
 */
export function shorten(text: string, lengthMax: number): string {
  const start = Array.from(text).slice(0, lengthMax)
  if (start.join('') === text) return text
  const characters = Array.from(new Intl.Segmenter().segment(start.join('')), ({ segment }) => segment)
  // What the last one goes on with may be in the rest.
  const whole = characters.length > 1 ? characters.slice(0, -1) : start.slice(0, -1)
  const words = whole.join('').split(/(?<=\s)/)
  const last = words.at(-1) ?? ''
  const isDropped = last.length <= 30 || last.includes('://')
  return `${words
    .slice(0, isDropped ? -1 : undefined)
    .join('')
    .trimEnd()}…`
}

/** Makes a line from an untrusted source fit for display: removes characters that are not allowed, and truncates it. */
export function cleanLine(text: string, maxLength: number): string | undefined {
  const cleaned = normalizeLine(withoutRefused(text))
  return parseLine(Array.from(cleaned).slice(0, maxLength).join(''), maxLength)
}

/** The name of a person or a workspace as it is stored, or undefined if it is invalid. */
export function parseName(text: string): string | undefined {
  return findFault(text, 'name', nameLengthMax) === undefined ? normalizeLine(text) : undefined
}

/** The name of a person or a workspace as it is stored. Throws `name_invalid`. */
export function requireName(text: string): string {
  const fault = findFault(text, 'name', nameLengthMax)
  if (fault !== undefined) throw errors.nameInvalid({ field: 'name', message: `The name ${fault}.` })
  return normalizeLine(text)
}

/** The name of a team or an API key as it is stored. Throws `label_invalid`. */
export function requireLabel(text: string): string {
  const fault = findFault(text, 'line', labelLengthMax)
  if (fault !== undefined) throw errors.labelInvalid({ field: 'name', message: `The name ${fault}.` })
  return normalizeLine(text)
}

/** The line of a field as it is stored. Throws `text_invalid`. */
export function requireLine(text: string, maxLength: number, field: string): string {
  requireFaultless(text, 'line', maxLength, field)
  return normalizeLine(text)
}

/** The text of several lines of a field as it is stored. Throws `text_invalid`. */
export function requireLines(text: string, maxLength: number, field: string): string {
  requireFaultless(text, 'lines', maxLength, field)
  return normalizeLines(text)
}

/** Normalizes the search text of a list. Throws `text_invalid` for text that cannot be stored. */
export function parseQuery(query: string | undefined): string | undefined {
  return query === undefined ? undefined : requireLine(query, queryLengthMax, 'query')
}

function requireFaultless(text: string, rule: TextRule, maxLength: number, field: string): void {
  const fault = findFault(text, rule, maxLength)
  if (fault !== undefined) throw errors.textInvalid({ field, message: `This text ${fault}.` })
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
