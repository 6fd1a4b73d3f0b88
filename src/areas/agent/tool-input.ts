import type { TSchema } from '@sinclair/typebox'
import { withoutBlanks } from '../../kernel/schemas.ts'
import type { AgentTool } from './agent-tool.ts'

/**
 * The input of a tool as models mean it, before it is validated: aliases under the names of their fields, without blank
 * fields, and with a query that is too long cut. `readsNumbers`: numbers may be texts, as some clients send them.
 */
export function readInput(
  { input: schema, emptied, aliases = {} }: Pick<AgentTool, 'input' | 'emptied' | 'aliases'>,
  input: unknown,
  { readsNumbers = false }: { readsNumbers?: boolean } = {},
): unknown {
  if (!isObject(input)) return input
  const given = Object.entries(input).map(([name, value]): [string, unknown] => {
    const field = Object.hasOwn(aliases, name) ? String(aliases[name]) : name
    // Given under its own name too, it is refused as unknown.
    if (field === name || Object.hasOwn(input, field)) return [name, value]
    return [field, schema.properties[field]?.type === 'array' && typeof value === 'string' ? [value] : value]
  })
  const kept = withoutBlanks(Object.fromEntries(given), schema, emptied)
  return Object.fromEntries(
    Object.entries(kept as object).map(([name, value]: [string, unknown]) => {
      const field: TSchema | undefined = Object.hasOwn(schema.properties, name)
        ? schema.properties[name]
        : undefined
      if (typeof value !== 'string' || !field) return [name, value]
      if (name === 'query') return [name, cut(value, Number(field.maxLength))]
      if (readsNumbers && field.type === 'integer' && /^-?\d{1,15}$/.test(value.trim()))
        return [name, Number(value)]
      return [name, value]
    }),
  )
}

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
