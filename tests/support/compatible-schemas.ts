import { isDeepStrictEqual } from 'node:util'
import type { Schema } from '../../scripts/description.ts'
import { readAlternatives, type Alternative } from './schema-alternatives.ts'

/**
 * What may become of a schema. `input`: it accepts at least what it did. `output`: it has at least what it had, with the same
 * types; it may gain fields, and its enumerations values. `fixed`: it stays as it is. `error`: the same, but for its codes.
 */
export type Position = 'input' | 'output' | 'fixed' | 'error'

/** A change that breaks clients, and the field that it is of. */
export interface Break {
  path: string
  what: string
}

/** Each side of a comparison, with what resolves its references. */
export interface Side {
  schema: Schema
  resolve: (schema: Schema) => Schema
}

/** The fields of errors that have a code, of which an operation may gain some. */
const codeFields = ['code', 'error']

/** Finds what breaks clients when a schema becomes another. */
export function compareSchemas(was: Side, is: Side, position: Position): Break[] {
  const before = readAlternatives(was.schema, was.resolve)
  const after = readAlternatives(is.schema, is.resolve)
  const pairs = before.flatMap((from) =>
    partnersOf(from, after).map((to) => ({
      ...{ from, to },
      breaks: compareAlternatives(from, to, was, is, position),
    })),
  )
  const closest = (candidates: typeof pairs) =>
    candidates.toSorted((a, b) => a.breaks.length - b.breaks.length)[0]

  const kept = before
    .filter(({ type }) => !(position === 'output' && type === 'null'))
    .map((from) => closest(pairs.filter((pair) => pair.from === from)) ?? lost(from, after, position))
  const added = after
    .filter((to) => !(position === 'input' || (position === 'error' && isOtherError(to, before))))
    .map((to) => closest(pairs.filter((pair) => pair.to === to)) ?? gained(to, before, after))
  return [...new Set([...kept, ...added])].flatMap(({ breaks }) => breaks)
}

/** Those that may be the same as one: by name, or else by type. */
function partnersOf(one: Alternative, others: Alternative[]): Alternative[] {
  const named = others.filter(({ name }) => name !== undefined && name === one.name)
  if (named.length > 0) return named
  const number = ['integer', 'number']
  return others.filter(
    ({ type }) =>
      type === one.type ||
      type === undefined ||
      one.type === undefined ||
      (number.includes(type) && number.includes(one.type)),
  )
}

function isOtherError({ name }: Alternative, before: Alternative[]): boolean {
  return name !== undefined && before.every((error) => error.name !== name)
}

/** An alternative that no other may be the same as. */
function lost(from: Alternative, after: Alternative[], position: Position): { breaks: Break[] } {
  const [to] = after
  if (to && after.length === 1 && from.type !== 'null') return { breaks: [typeChanged(from, to)] }
  const what = position === 'input' ? `${label(from)} is refused` : `is never ${label(from)}`
  return { breaks: [{ path: '', what }] }
}

/** The same for one that is new. */
function gained(to: Alternative, before: Alternative[], after: Alternative[]): { breaks: Break[] } {
  const isSaid = before.length === 1 && after.length === 1 && before[0]?.type !== 'null'
  return { breaks: isSaid ? [] : [{ path: '', what: `may be ${label(to)}` }] }
}

function typeChanged(from: Alternative, to: Alternative): Break {
  return { path: '', what: `${label(from)} became ${label(to)}` }
}

function label({ name, type = 'anything' }: Alternative): string {
  return name ?? type
}

function compareAlternatives(
  from: Alternative,
  to: Alternative,
  was: Side,
  is: Side,
  position: Position,
): Break[] {
  if (!isSameType(from.type, to.type, position)) return [typeChanged(from, to)]
  const compareParts = (before: Schema, after: Schema, place = position) =>
    compareSchemas({ ...was, schema: before }, { ...is, schema: after }, place)
  const own = [
    ...compareValues(from, to, position),
    ...compareRestrictions(from, to, position),
    ...compareFields(from, to, position),
    ...(position === 'input' && from.default !== undefined && !isDeepStrictEqual(from.default, to.default)
      ? [changed('default', from.default, to.default)]
      : []),
  ].map((what) => ({ path: '', what }))
  const ofFields = Object.entries(from.properties).flatMap(([field, before]) => {
    const after = to.properties[field]
    // The codes of an error, and what is in its other fields.
    const place = position === 'error' ? (codeFields.includes(field) ? 'output' : 'fixed') : position
    return after ? under(field, compareParts(before, after, place)) : []
  })
  const [before, after] = [from.items ?? {}, to.items ?? {}]
  const ofItems = from.items || to.items ? under('[]', compareParts(before, after)) : []
  return [...own, ...ofFields, ...ofItems]
}

/** An unknown type is any, and an integer is a number. */
function isSameType(from: string | undefined, to: string | undefined, position: Position): boolean {
  if (from === to) return true
  if (position === 'fixed' || position === 'error') return false
  const [wide, narrow] = position === 'input' ? [to, from] : [from, to]
  return wide === undefined || (wide === 'number' && narrow === 'integer')
}

function under(step: string, breaks: Break[]): Break[] {
  return breaks.map(({ path, what }) => ({
    path: path === '' || path.startsWith('[]') ? `${step}${path}` : `${step}.${path}`,
    what,
  }))
}

function compareValues(from: Alternative, to: Alternative, position: Position): string[] {
  if (!from.values) return to.values && position !== 'output' ? [`only takes ${list(to.values)}`] : []
  if (!to.values) return position === 'input' ? [] : [`is not one of ${list(from.values)} only`]
  if (from.isConstant && position !== 'input')
    return isDeepStrictEqual(from.values, to.values)
      ? []
      : [changed('const', from.values[0], list(to.values))]
  const lost = from.values.filter((value) => !to.values?.includes(value))
  const gained = to.values.filter((value) => !from.values?.includes(value))
  return [
    ...lost.map((value) => `the value ${String(value)} is gone`),
    ...(position === 'fixed' ? gained.map((value) => `the value ${String(value)} is new`) : []),
  ]
}

const lowerBounds = ['minLength', 'minItems', 'minProperties', 'minimum', 'exclusiveMinimum']
const upperBounds = ['maxLength', 'maxItems', 'maxProperties', 'maximum', 'exclusiveMaximum']

/** Whether a keyword with another value, or without one, refuses more or less than it did. */
function compareRestrictions(from: Alternative, to: Alternative, position: Position): string[] {
  const keywords = new Set([...Object.keys(from.restrictions), ...Object.keys(to.restrictions)])
  return [...keywords].flatMap((keyword) => {
    const [was, is] = [from.restrictions[keyword], to.restrictions[keyword]]
    if (isDeepStrictEqual(was, is)) return []
    const sign = lowerBounds.includes(keyword) ? 1 : upperBounds.includes(keyword) ? -1 : 0
    const boundOf = (value: unknown) => (value === undefined ? -Infinity : sign * Number(value))
    const isNarrower = sign === 0 ? is !== undefined : boundOf(is) > boundOf(was)
    const isWider = sign === 0 ? was !== undefined : boundOf(is) < boundOf(was)
    if (position === 'input' ? !isNarrower : position === 'output' && !isWider) return []
    if (position === 'input' && keyword === 'minLength' && is === 1 && refusesEmpty(from)) return []
    return [changed(keyword, was, is)]
  })
}

function refusesEmpty({ restrictions: { pattern } }: Alternative): boolean {
  return typeof pattern === 'string' && !new RegExp(pattern, 'u').test('')
}

function compareFields(from: Alternative, to: Alternative, position: Position): string[] {
  const [had, has] = [Object.keys(from.properties), Object.keys(to.properties)]
  const isFixed = position === 'fixed' || position === 'error'
  const newFields = has.filter((field) => !had.includes(field))
  const required = to.required.filter((field) => !from.required.includes(field))
  const optional = from.required.filter((field) => has.includes(field) && !to.required.includes(field))
  const [wasOpen, isOpen] = [from.additionalProperties !== false, to.additionalProperties !== false]
  const phrases: [boolean, string[], string][] = [
    [true, had.filter((field) => !has.includes(field)), 'is gone'],
    [isFixed, newFields, 'is new'],
    [position === 'input', required, 'is required'],
    [isFixed, required.filter((field) => had.includes(field)), 'is required'],
    [position !== 'input', optional, 'is optional'],
  ]
  return [
    ...phrases.flatMap(([isBreak, fields, what]) =>
      isBreak ? fields.map((field) => `the field ${field} ${what}`) : [],
    ),
    ...(wasOpen && !isOpen ? ['has no further fields'] : []),
    ...(!wasOpen && isOpen && position !== 'input' ? ['has further fields'] : []),
    ...(wasOpen && isOpen && !isDeepStrictEqual(from.additionalProperties, to.additionalProperties)
      ? [changed('additionalProperties', from.additionalProperties, to.additionalProperties)]
      : []),
  ]
}

function changed(keyword: string, was: unknown, is: unknown): string {
  return `${keyword} ${print(was)} became ${print(is)}`
}

function print(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
}

function list(values: unknown[]): string {
  return values.map(print).join(', ')
}
