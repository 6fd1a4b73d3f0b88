import type { EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { NamedPart, Sentence } from '../../domain/events.ts'
import type { ShownEvent } from '../views/events.views.ts'

/**
 * What several events of a type are, in words behind the name of the actor. `of` is the field of `data` that all share,
 * whose name ends the sentence, with the field that has its id.
 * `isJoint`: several people may take part in them, as in a discussion.
 */
interface RunWords {
  of?: readonly [name: string, id: string]
  isJoint?: boolean
  describe: (count: string) => string
}

/** The types of which several in a row are shown as one. */
const runWords: Partial<Record<EventType, RunWords>> = {
  'invite.created': { describe: (count) => `invited ${count} people` },
  'invite.resent': { describe: (count) => `sent ${count} invites again` },
  'invite.revoked': { describe: (count) => `revoked ${count} invites` },
  'member.removed': { describe: (count) => `removed ${count} people` },
  'team.created': { describe: (count) => `created ${count} teams` },
  'team.member_added': {
    of: ['teamName', 'teamId'],
    describe: (count) => `added ${count} people to the team `,
  },
  'seed.created': { describe: (count) => `created ${count} seeds` },
  'seed.joined': { describe: (count) => `joined ${count} seeds` },
  'seed.left': { describe: (count) => `left ${count} seeds` },
  'seed.deleted': { describe: (count) => `deleted ${count} seeds` },
  'evidence.added': {
    of: ['title', 'seedId'],
    isJoint: true,
    describe: (count) => `added ${count} pieces of evidence to the seed `,
  },
  'evidence.seen': {
    of: ['title', 'seedId'],
    isJoint: true,
    describe: (count) => `said “I saw this too” ${count} times about the seed `,
  },
  'comment.added': {
    of: ['title', 'seedId'],
    isJoint: true,
    describe: (count) => `added ${count} comments to the seed `,
  },
}

/**
 * Shows each run of like events by one actor, or by several people, as one event, with the time of the latest, up to `max` of them. `isCut`: more
 * events follow, which may belong to the last run.
 */
export function joinRuns(
  events: readonly WorkspaceEvent[],
  { max, isCut }: { max: number; isCut: boolean },
): ShownEvent[] {
  const runs: WorkspaceEvent[][] = []
  let key: string | undefined
  for (const event of events) {
    const next = keyOf(event)
    const run = next !== undefined && next === key ? runs.at(-1) : undefined
    key = next
    if (run) run.push(event)
    else if (runs.length < max) runs.push([event])
    else return runs.flatMap((each) => describeRun(each, false))
  }
  return runs.flatMap((run, i) => describeRun(run, isCut && i === runs.length - 1))
}

/** What like events have in common; undefined for one that stands alone. */
function keyOf({ type, actorUserId, source, grantId, data }: WorkspaceEvent): string | undefined {
  const words = runWords[type as EventType]
  // The service acts in sentences that do not begin with a name. Who joins a team adds only themselves.
  if (!words || actorUserId === null || data.isSelf === true) return undefined
  const shared = words.of?.map((field) => data[field]) ?? []
  // Events of older versions have no data.
  if (!shared.every((value) => typeof value === 'string')) return undefined
  const by = words.isJoint && grantId === null ? null : [actorUserId, source, grantId]
  return JSON.stringify([type, by, shared])
}

function describeRun(run: WorkspaceEvent[], isCut: boolean): ShownEvent[] {
  const [latest] = run
  const words = latest && runWords[latest.type as EventType]
  if (!latest || !words || run.length === 1) return run
  const count = isCut ? `at least ${run.length}` : `${run.length}`
  const [name, id] = words.of?.map((field) => String(latest.data[field])) ?? []
  const shared: Sentence = name === undefined ? [] : [{ name, id: id ?? null }]
  return [{ ...latest, sentence: [...nameActors(run), ` ${words.describe(count)}`, ...shared] }]
}

const namesMax = 2

/** The names of those who acted, the latest first. */
function nameActors(run: readonly WorkspaceEvent[]): Sentence {
  const actors = [
    ...new Map(
      run.map(({ actorUserId, actorName }): [unknown, NamedPart] => [
        actorUserId,
        { name: actorName, id: actorUserId },
      ]),
    ).values(),
  ]
  const others = actors.length - namesMax
  const [first, second] = actors
  if (!first || !second) return actors
  if (others <= 0) return [first, ' and ', second]
  return [first, ', ', second, ` and ${others === 1 ? 'another' : `${others} others`}`]
}
