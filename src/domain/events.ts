import type { Static } from '@sinclair/typebox'
import { canonicalizeEmail } from '../kernel/email.ts'
import type { EventKind, EventReaders } from './events/kind.ts'
import { workspaceEvents } from './events/workspaces.ts'
import { personEvents } from './events/people.ts'
import { inviteEvents } from './events/invites.ts'
import { teamEvents } from './events/teams.ts'
import { seedEvents } from './events/seeds.ts'
import { evidenceEvents } from './events/evidence.ts'
import { commentEvents } from './events/comments.ts'
import { agentEvents } from './events/agents.ts'
import { serviceAccountEvents } from './events/service-accounts.ts'
import { webhookEvents } from './events/webhooks.ts'

/**
 * All types of events: `target.what_happened`. `data` may gain fields; a released field keeps its name and meaning. What is
 * needed to erase a person is in the names of the fields: see `withoutPerson`.
 */
export const eventKinds = {
  ...workspaceEvents,
  ...personEvents,
  ...inviteEvents,
  ...teamEvents,
  ...seedEvents,
  ...evidenceEvents,
  ...commentEvents,
  ...agentEvents,
  ...serviceAccountEvents,
  ...webhookEvents,
}

/** The types of events: `target.what_happened`. */
export type EventType = keyof typeof eventKinds

/** The data of an event of a type. */
export type EventDataOf<T extends EventType> = Static<(typeof eventKinds)[T]['data']>

/** What happened: a type of events with its data. */
export type Happening = { [T in EventType]: { type: T; data: EventDataOf<T> } }[EventType]

/** `Omit` for each member of a union by itself. */
export type OmitEach<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

/** What there is to know about the type of an event. */
export function kindOf(type: EventType): EventKind {
  return eventKinds[type] as unknown as EventKind
}

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventKinds, text)
}

/** The seed that an event is about, itself or through its evidence; null if none. */
export function seedIdOf(data: object): string | null {
  return 'seedId' in data && typeof data.seedId === 'string' ? data.seedId : null
}

/** The types of events that only these readers may see. */
const typesFor = (readers: EventReaders): readonly EventType[] =>
  (Object.keys(eventKinds) as EventType[]).filter((type) => kindOf(type).readers === readers)

/** The types of events that reveal invites, with the invited addresses, webhooks, and whatever else only owners and admins may see. */
export const managerEventTypes = typesFor('managers')

/** The types of events that reveal the grants of agents. */
export const grantEventTypes = typesFor('grantors')

/** A person, as events name them: by an id beside a name, and by addresses. */
export interface PersonInEvents {
  userId: string
  emails: readonly string[]
}

/** The fields of `data` that have the name of a person, with the field that says whose it is. */
const personFields = [
  ['userId', 'name'],
  ['invitedByUserId', 'invitedByName'],
  ['leadUserId', 'leadName'],
  ['leadUserIdBefore', 'leadNameBefore'],
] as const

/** The field of `data` that is an address of a person. */
export const emailField = 'email'

/**
 * The data of an event without the names and addresses of a person, in whose place is `replacement`; undefined if it has
 * none of them.
 */
export function withoutPerson(
  data: Readonly<Record<string, unknown>>,
  { userId, emails }: PersonInEvents,
  replacement: string,
): Record<string, unknown> | undefined {
  const own = new Set(emails.map(comparable))
  const email = data[emailField]
  const erased = [
    ...personFields
      .filter(([idField, name]) => data[idField] === userId && name in data)
      .map(([, name]) => name),
    ...(typeof email === 'string' && own.has(comparable(email)) ? [emailField] : []),
  ]
  if (erased.length === 0) return undefined
  return { ...data, ...Object.fromEntries(erased.map((field) => [field, replacement])) }
}

/** The fields of `data` that are names, with the field that has the id of what is named; without one, none has it. */
const nameFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(personFields.map(([idField, field]) => [field, idField])),
  title: 'seedId',
  titleBefore: '',
  teamName: 'teamId',
  labelName: 'labelId',
  filterName: 'filterId',
  clientName: 'grantId',
  host: 'webhookId',
  workspaceName: '',
  [emailField]: '',
}

/** What a sentence names. `id`: the person, seed, team, agent or webhook, if the event has it. */
export interface NamedPart {
  name: string
  id: string | null
}

/** The summary of an event in parts: words, and what they name. */
export type Sentence = readonly (string | NamedPart)[]

/** No text that is stored has it. */
const mark = '\0'

/**
 * The sentence of an event, made from its data and ids. An event of another version, whose data do not say enough, has its
 * stored summary, which names nothing.
 */
export function sentenceOf(event: {
  type: string
  data: Readonly<Record<string, unknown>>
  actorUserId: string | null
  actorName: string
  summary: string
}): Sentence {
  const kind = isEventType(event.type) ? kindOf(event.type) : undefined
  const data = kind && completeData(kind, event.data)
  if (!kind || !data) return [event.summary]
  const named: NamedPart[] = [{ name: event.actorName, id: event.actorUserId }]
  const marked = { ...data }
  for (const [field, idField] of Object.entries({ ...nameFields, ...kind.names })) {
    const [name, id] = [data[field], data[idField]]
    if (typeof name !== 'string') continue
    marked[field] = `${mark}${named.length}${mark}`
    named.push({ name, id: typeof id === 'string' ? id : null })
  }
  return kind
    .summarize(marked, `${mark}0${mark}`, event.actorUserId)
    .split(mark)
    .flatMap((part, i) => (i % 2 === 0 ? part : (named[Number(part)] ?? [])))
    .filter((part) => part !== '')
}

/** Data with null for fields that may be null and that an older version did not write; undefined if others are missing. */
function completeData(
  { data: schema }: EventKind,
  data: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const missing = (schema.required ?? []).filter((field) => !Object.hasOwn(data, field))
  const mayBeNull = (field: string) => [schema.properties[field]?.type].flat().includes('null')
  if (!missing.every(mayBeNull)) return undefined
  return { ...Object.fromEntries(missing.map((field) => [field, null])), ...data }
}

function comparable(address: string): string {
  return canonicalizeEmail(address) ?? address.toLowerCase()
}
