import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../http/examples.ts'
import { exampleOf, named, nullableString, ref } from '../../kernel/schemas.ts'
import { Event } from '../events/events.schemas.ts'
import { Person } from '../people/people.schemas.ts'
import { Evidence, Seed } from '../seeds/seeds.schemas.ts'

const url = Type.String({ description: 'The page of the seed on the website.' })
const exampleUrl = `https://app.example.com/w/acme/seeds/${exampleIds.seed}`

const nextCursor = nullableString({
  description: 'Give it as `cursor`, with the same filters, for the next page; null on the last one.',
})

/** A seed, for agents. */
export const AgentSeed = named(
  'AgentSeed',
  { seed: ref(Seed), url },
  { seed: exampleOf(Seed), url: exampleUrl },
)

/** A new piece of evidence, for agents. */
export const AgentEvidence = named(
  'AgentEvidence',
  { evidence: ref(Evidence), url },
  { evidence: exampleOf(Evidence), url: exampleUrl },
)

/** A page of people, for agents. */
export const AgentPeople = named(
  'AgentPeople',
  { people: Type.Array(ref(Person)), nextCursor },
  { people: [exampleOf(Person)], nextCursor: null },
)

/** A page of events, for agents. */
export const AgentEvents = named(
  'AgentEvents',
  { events: Type.Array(ref(Event)), nextCursor },
  { events: [exampleOf(Event)], nextCursor: null },
)

export const agentToolsSchemas = [AgentSeed, AgentEvidence, AgentPeople, AgentEvents]
