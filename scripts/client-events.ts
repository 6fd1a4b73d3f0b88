import type { TSchema } from '@sinclair/typebox'
import { format, resolveConfig } from 'prettier'
import { eventKinds, kindOf, type EventType } from '../src/domain/events.ts'

/** Renders packages/client/src/events.ts: the types of events as TypeScript, from the table of them. */
export async function renderClientEvents(): Promise<string> {
  const types = Object.keys(eventKinds) as EventType[]
  const entries = types.map((type) => `'${type}': ${toTypeScript(kindOf(type).data)}`)
  return format(`${head}\nexport interface EventDataByType {\n${entries.join('\n')}\n}\n${tail}`, {
    ...(await resolveConfig(import.meta.filename)),
    parser: 'typescript',
  })
}

/** The schemas of the table have only these forms. */
function toTypeScript(schema: TSchema): string {
  const {
    type,
    items,
    properties,
    required = [],
  } = schema as {
    type?: string | string[]
    items?: TSchema
    properties?: Record<string, TSchema>
    required?: readonly string[]
  }
  const words = schema.enum as string[] | undefined
  if (words) return words.map((word) => `'${word}'`).join(' | ')
  const [first, ...others] = [type ?? []].flat()
  const orNull = others.includes('null') ? ' | null' : ''
  if (first === 'array' && items) return `(${toTypeScript(items)})[]${orNull}`
  if (first === 'object' && properties) {
    const fields = Object.entries(properties).map(([name, part]) => {
      const comment = part.description === undefined ? '' : `/** ${part.description} */\n`
      return `${comment}${name}${required.includes(name) ? '' : '?'}: ${toTypeScript(part)}`
    })
    return `{\n${fields.join('\n')}\n}${orNull}`
  }
  if (first === 'integer') return `number${orNull}`
  if (first === 'string' || first === 'boolean') return `${first}${orNull}`
  throw new Error(`there is no rule for a schema with the type ${String(type)}`)
}

const head = `// npm run docs writes this file from src/domain/events.ts.
import type { components } from './api.ts'

/** The data of events by their types. */`

const tail = `
/** The types of events. A newer service may have more. */
export type EventType = keyof EventDataByType

/** An event, whose \`type\` says what its \`data\` is. Events from before there was data have an empty object. */
export type WorkspaceEvent = {
  [Type in EventType]: Omit<components['schemas']['Event'], 'type' | 'data'> & {
    type: Type
    data: EventDataByType[Type]
  }
}[EventType]
`
