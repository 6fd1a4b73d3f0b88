import { Type } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../../http/description/examples.ts'
import {
  closed,
  exampleOf,
  named,
  nullableString,
  ok,
  ref,
  Timestamp,
  timestamp,
} from '../../../kernel/schemas.ts'
import { Comment } from '../../comments/comments.schemas.ts'
import { Event } from '../../events/events.schemas.ts'
import { Invite } from '../../invites/invites.schemas.ts'
import { Person } from '../../people/people.schemas.ts'
import { Evidence } from '../../evidence/evidence.schemas.ts'
import { Seed } from '../../seeds/seeds.schemas.ts'
import { Team } from '../../teams/teams.schemas.ts'

const url = Type.String({ description: 'The page of the seed on the website.' })
const exampleUrl = `https://app.example.com/w/acme/seeds/${exampleIds.seed}`

const nextCursor = nullableString({
  description: 'Pass it as `cursor`, with the same filters, for the next page; null on the last page.',
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

/** A new comment, for agents. */
export const AgentComment = named(
  'AgentComment',
  { comment: ref(Comment), url },
  { comment: exampleOf(Comment), url: exampleUrl },
)

/** The answer to a change that makes nothing new. */
export const AgentDone = named('AgentDone', { ok }, { ok: true })

/** A new team, for agents. */
export const AgentTeam = named('AgentTeam', { team: ref(Team) }, { team: exampleOf(Team) })

/** A page of teams, for agents. */
export const AgentTeams = named(
  'AgentTeams',
  { teams: Type.Array(ref(Team)), nextCursor },
  { teams: [exampleOf(Team)], nextCursor: null },
)

/** A new invite, for agents: its link is in its email alone. */
export const AgentInvite = named('AgentInvite', { invite: ref(Invite) }, { invite: exampleOf(Invite) })

/** A page of invites, for agents. */
export const AgentInvites = named(
  'AgentInvites',
  { invites: Type.Array(ref(Invite)), nextCursor },
  { invites: [exampleOf(Invite)], nextCursor: null },
)

/** An invite that was sent again, for agents. */
export const AgentInviteSent = named(
  'AgentInviteSent',
  { ok, expiresAt: timestamp('When the new link stops working.') },
  { ok: true, expiresAt: exampleExpiry },
)

/** A page of people, for agents. */
export const AgentPeople = named(
  'AgentPeople',
  { people: Type.Array(ref(Person)), nextCursor },
  { people: [exampleOf(Person)], nextCursor: null },
)

const AgentEventLine = closed({
  time: Type.String(),
  actor: Type.String({ description: 'The person, or `an agent for` the person.' }),
  type: Type.String(),
  seed: Type.String({ description: 'The id of the seed that it is about; empty if it is about none.' }),
  sentence: Type.String({ description: 'What the actor did.' }),
})

const AgentSeedDigest = closed({
  id: Type.String({ description: 'The id of the seed.' }),
  title: Type.String(),
  last: Type.String({ description: 'The date of the last event.' }),
  by: Type.String({ description: 'Who did something.' }),
  events: Type.Array(Type.String(), {
    description: 'Types of events with their numbers, and a changed status.',
  }),
})

/** A page of events, for agents. */
export const AgentEvents = named(
  'AgentEvents',
  {
    lines: Type.Array(AgentEventLine, { description: 'With the form `short`.' }),
    digest: Type.Array(AgentSeedDigest, {
      description: 'With the form `digest`: events by seed, the latest first.',
    }),
    others: Type.Array(Type.String(), {
      description: 'With the form `digest`: types of events about no seed, with their numbers.',
    }),
    events: Type.Array(ref(Event), { description: 'With the form `full`.' }),
    note: nullableString({ description: 'What is left out; null if nothing is.' }),
    nextCursor,
  },
  {
    lines: [
      {
        time: '2026-11-21T03:04:05Z',
        actor: exampleOf(Event).actorName,
        type: exampleOf(Event).type,
        seed: exampleIds.seed,
        sentence: `created the seed ${exampleOf(Seed).title}`,
      },
    ],
    digest: [],
    others: [],
    events: [],
    note: null,
    nextCursor: null,
  },
)

/** What a search found. The fields are those that the deep research of ChatGPT requires. */
export const AgentSearch = named(
  'AgentSearch',
  {
    results: Type.Array(
      closed({ id: Type.String({ description: 'The id for `fetch`.' }), title: Type.String(), url }),
    ),
    note: nullableString({ description: 'Why nothing was found; otherwise null.' }),
  },
  { results: [{ id: exampleIds.seed, title: exampleOf(Seed).title, url: exampleUrl }], note: null },
)

/** A seed as text. The fields are those that the deep research of ChatGPT requires. */
export const AgentDocument = named(
  'AgentDocument',
  {
    id: Type.String(),
    title: Type.String(),
    text: Type.String({ description: 'The seed with its newest evidence, in Markdown.' }),
    url,
    metadata: closed({ status: Type.String(), updatedAt: Timestamp }),
  },
  {
    id: exampleIds.seed,
    title: exampleOf(Seed).title,
    text: `# ${exampleOf(Seed).title}\n\nStatus: validating`,
    url: exampleUrl,
    metadata: { status: 'validating', updatedAt: exampleTime },
  },
)

export const agentToolsSchemas = [
  AgentSearch,
  AgentDocument,
  AgentSeed,
  AgentEvidence,
  AgentComment,
  AgentDone,
  AgentPeople,
  AgentEvents,
  AgentTeam,
  AgentTeams,
  AgentInvite,
  AgentInvites,
  AgentInviteSent,
]
