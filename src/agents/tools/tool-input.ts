import type { TObject, TSchema } from '@sinclair/typebox'
import { isId } from '../../kernel/ids.ts'
import { listIn, withoutBlanks } from '../../kernel/schemas.ts'
import type { AgentTool } from './agent-tool.ts'

type InputOf = Pick<AgentTool, 'input' | 'emptied' | 'aliases'>

/**
 * Makes a function that reads the input of a tool as models mean it, before it is validated. `webUrl`: the website, whose
 * URLs stand for ids.
 */
export function createInputReader(tool: InputOf, webUrl: string): (input: unknown) => unknown {
  const readIds = createIdReader(tool, webUrl)
  const readEntries = createEntriesReader(tool, webUrl)
  return (input) => readEntries(readIds(readFields(tool, input)))
}

/** Makes a function that reads the entries of lists of objects in the input of a tool, each as an input of its own. */
function createEntriesReader({ input }: InputOf, webUrl: string): (given: unknown) => unknown {
  const readers = Object.entries(input.properties).flatMap(([name, { items }]) =>
    isSchemaOfObject(items) ? [{ name, read: createInputReader({ input: items }, webUrl) }] : [],
  )
  return (given) => {
    if (!isObject(given)) return given
    const lists = readers.flatMap(({ name, read }) => {
      const list = given[name]
      return Array.isArray(list) ? [[name, list.map((entry: unknown) => read(entry))] as const] : []
    })
    return { ...given, ...Object.fromEntries(lists) }
  }
}

function isSchemaOfObject(schema: unknown): schema is TObject {
  return isObject(schema) && schema.type === 'object'
}

/**
 * An input with aliases under the names of their fields, without blank fields, and with a query that is too long cut.
 */
function readFields({ input: schema, emptied, aliases = {} }: InputOf, input: unknown): unknown {
  if (!isObject(input)) return input
  const given = Object.entries(input).map(([name, value]): [string, unknown] => {
    const field = Object.hasOwn(aliases, name) ? String(aliases[name]) : name
    // Given under its own name too, it is refused as unknown.
    if (field === name || Object.hasOwn(input, field)) return [name, value]
    return [field, schema.properties[field]?.type === 'array' && typeof value === 'string' ? [value] : value]
  })
  const kept = withoutBlanks(Object.fromEntries(given), schema, emptied) as Record<string, unknown>
  const { query } = kept
  if (typeof query !== 'string' || !Object.hasOwn(schema.properties, 'query')) return kept
  return { ...kept, query: cut(query, Number(schema.properties.query?.maxLength)) }
}

/** The name under which `toArguments` finds arguments that are no object. No tool has such a field. */
const notAnObject = ''

/** Arguments as an object, as the MCP SDK wants them: what is none is put under a name that `toArguments` knows. */
export function wrapArguments(given: unknown): Record<string, unknown> {
  return isObject(given) ? given : { [notAnObject]: given }
}

/** The arguments of a call over MCP: null, the empty string and the empty list are none, and JSON in a string is read. */
export function toArguments(input: Record<string, unknown>): unknown {
  if (!Object.hasOwn(input, notAnObject)) return input
  const given = parseJsonOf(input[notAnObject])
  const isNone = given === null || given === '' || (Array.isArray(given) && given.length === 0)
  return isNone ? {} : given
}

/**
 * Input that a schema refuses, as models and their programs mean it: a string of JSON for a list or an object, one value
 * for a list of one, a number as text. What remains wrong is left for the schema to refuse.
 */
export function repairInput(schema: TSchema, value: unknown): unknown {
  if (schema.type === 'integer' && typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value))
    return Number(value)
  const oneOrList = listIn(schema)
  const list = schema.type === 'array' ? schema : oneOrList
  if (list) {
    const parsed = parseJsonOf(value)
    if (oneOrList && !Array.isArray(parsed)) return value
    const items: unknown[] = Array.isArray(parsed) ? parsed : [value]
    return items.map((item) => repairInput(list.items as TSchema, item))
  }
  if (schema.type !== 'object') return value
  const given = parseJsonOf(value)
  if (!isObject(given)) return value
  const fields = (schema.properties ?? {}) as Record<string, TSchema>
  return Object.fromEntries(
    Object.entries(given).map(([name, part]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      return [name, field ? repairInput(field, part) : part]
    }),
  )
}

function parseJsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/**
 * Makes a function that puts ids in place of what models send for them in the arguments of a tool: ids in upper case, and
 * URLs of pages of the website. Fields of ids are named `id`, `…Id` or `…Ids`.
 */
function createIdReader({ input }: InputOf, webUrl: string): (given: unknown) => unknown {
  const start = `${webUrl.toLowerCase()}/`
  const fields = Object.keys(input.properties)
    .filter((name) => /(?:^i|I)ds?$/.test(name))
    .map((name) => {
      // `/seeds/ID#evidence-ID` has two ids: the one of what the field is named after, or else the first one.
      const kind = name.replace(/Ids?$/, '')
      return { name, ofKind: new RegExp(`[/#]${kind}s?[/-](${uuid})`) }
    })

  function readId(value: unknown, ofKind: RegExp): unknown {
    // An id has neither upper case nor a slash.
    if (typeof value !== 'string' || !/[A-Z/]/.test(value)) return value
    const text = value.trim().toLowerCase()
    if (isId(text)) return text
    if (!text.startsWith(start)) return value
    return (ofKind.exec(text) ?? anyId.exec(text))?.[1] ?? value
  }

  return (given) => {
    if (!isObject(given)) return given
    const read = { ...given }
    for (const { name, ofKind } of fields) {
      const value = given[name]
      if (value === undefined) continue
      read[name] = Array.isArray(value) ? value.map((id) => readId(id, ofKind)) : readId(value, ofKind)
    }
    return read
  }
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const anyId = new RegExp(`[/#](${uuid})`)

/** A query of at most so many code points, without a part of a word at its end. */
function cut(query: string, lengthMax: number): string {
  const characters = Array.from(query)
  if (characters.length <= lengthMax) return query
  const kept = characters.slice(0, lengthMax + 1).join('')
  return kept.includes(' ') ? kept.slice(0, kept.lastIndexOf(' ')) : characters.slice(0, lengthMax).join('')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
