import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { roles } from '../roles.ts'
import { closed, stringEnum } from '../../kernel/schemas.ts'

/** Who may see events of a type: everybody in the workspace; who may list invites and webhooks; or who may list an agent's grant. */
export const eventReaders = ['everybody', 'managers', 'grantors'] as const

export type EventReaders = (typeof eventReaders)[number]

/** What an event can be about. */
export type EventTargetType =
  | 'workspace'
  | 'user'
  | 'invite'
  | 'team'
  | 'label'
  | 'saved_filter'
  | 'seed'
  | 'evidence'
  | 'comment'
  | 'integration'
  | 'webhook'

/** What there is to know about a type of events. */
export interface EventKind<Fields extends TProperties = TProperties> {
  /** The fields of `data`: ids, names as they were, and values. Never the text of evidence. */
  data: TObject<Fields>
  readers: EventReaders
  /** The kind of thing that the event is about, and the field of `data` that has its id. */
  target: readonly [type: EventTargetType, field: string]
  /** Further fields of `data` that are names, with the fields that have their ids: see `nameFields`. */
  names?: Readonly<Record<string, string>>
  /** The summary: a sentence for people that begins with the actor's name if there is an actor. */
  summarize: (data: Static<TObject<Fields>>, actor: string, actorUserId?: string | null) => string
  example: Static<TObject<Fields>>
}

/** A field with an id, of what it is. */
export const id = (of: string) => Type.String({ description: `The id of ${of}.` })

/** A field with a text. */
export const text = (description: string) => Type.String({ description })

/** A field with a role. */
export const role = (description: string) => stringEnum(roles, { description })

/** A type of events, with the fields of its data. */
export function kind<Fields extends TProperties>(
  fields: Fields,
  rest: Omit<EventKind<Fields>, 'data' | 'target'> & {
    target: readonly [type: EventTargetType, field: keyof Fields & string]
  },
): EventKind<Fields> {
  return { data: closed(fields), ...rest }
}

/** Names in a sentence. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${String(names.at(-1))}`
}
