import type { TSchema } from '@sinclair/typebox'
import { format, resolveConfig } from 'prettier'
import { eventKinds, kindOf, type EventType } from '../src/domain/events.ts'
import type { EventReaders } from '../src/domain/events/kind.ts'

/** Renders docs/events.md from the table of the types of events. */
export async function renderEventsPage(): Promise<string> {
  const sections = (Object.keys(eventKinds) as EventType[]).map(renderType)
  return format([introduction, ...sections].join('\n\n'), {
    ...(await resolveConfig(import.meta.filename)),
    parser: 'markdown',
  })
}

const exampleActor = 'Grace Hopper'

const readersInWords: Record<EventReaders, string> = {
  everybody: 'everybody in the workspace',
  managers: 'owners and admins',
  grantors: 'owners and admins, and the person who gave the grant',
}

function renderType(type: EventType): string {
  const { data, readers, target, summarize, example } = kindOf(type)
  const rows = Object.entries(data.properties).map(
    ([name, schema]) => `| \`${name}\` | ${typeOf(schema)} | ${schema.description ?? ''} |`,
  )
  return [
    `## ${type}`,
    `“${summarize(example, exampleActor)}”`,
    `Seen by ${readersInWords[readers]}. \`targetType\` is \`${target[0]}\`, \`targetId\` is \`data.${target[1]}\`.`,
    `| Field of \`data\` | Type | Description |\n| - | - | - |\n${rows.join('\n')}`,
    `\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``,
  ].join('\n\n')
}

/** The type of a field in words. */
function typeOf(schema: TSchema): string {
  const { type, items, properties } = schema as {
    type?: string | string[]
    enum?: string[]
    items?: TSchema
    properties?: Record<string, TSchema>
  }
  const words = (schema.enum as string[] | undefined)?.map((word) => `\`${word}\``)
  if (words) return words.join(', ')
  const [first = '', ...others] = [type ?? []].flat()
  const or = others.includes('null') ? ' or null' : ''
  if (items) return `array of ${typeOf(items)}${or}`
  if (!properties) return `${first}${or}`
  const fields = Object.entries(properties).map(([name, part]) => `\`${name}\`: ${typeOf(part)}`)
  return `object of ${fields.join('; ')}${or}`
}

const introduction = `
# Events

<!-- npm run docs writes this page from src/domain/events.ts. -->

Each change in a workspace creates one event, in the transaction of the change. \`GET /v1/workspaces/{slug}/events\` lists them, and [following-events.md](following-events.md) says how to follow them. An event says what happened twice: \`summary\` for people, and \`data\` for programs.

- \`data\` has ids, names as they were at the time, and values. It never has the text of evidence.
- Types, fields and values may be added: ignore what you do not know. None is removed, each keeps its meaning, and a type stays visible to those who see it.
- Events of a version from before there was \`data\` have \`{}\`.
- Names change without the rows that show them: \`member.updated\` reports another name, address or photo of a member in \`fields\`. [first-copy.md](first-copy.md#apply-an-event) says how a copy applies events.
- When an account is deleted, its names and addresses in \`actorName\`, \`summary\` and \`data\` are replaced by “Deleted user”, and \`person.erased\` is appended. [Forget a person](first-copy.md#forget-a-person) is the rule for copies.
- The filter \`seedId\` finds all events about a seed, those of its evidence included; \`grantId\` finds what an agent did.
`
