import type { EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'

/**
 * What several events of a type are, in words behind the name of the actor. `of` is the field of `data` that all share.
 * `isJoint`: several people may take part in them, as in a discussion.
 */
interface RunWords {
  of?: string
  isJoint?: boolean
  describe: (count: string, shared: string) => string
}

/** The types of which several in a row are shown as one. */
const runWords: Partial<Record<EventType, RunWords>> = {
  'invite.created': { describe: (count) => `invited ${count} people` },
  'invite.resent': { describe: (count) => `sent ${count} invites again` },
  'invite.revoked': { describe: (count) => `revoked ${count} invites` },
  'member.removed': { describe: (count) => `removed ${count} people` },
  'team.created': { describe: (count) => `created ${count} teams` },
  'team.member_added': {
    of: 'teamName',
    describe: (count, team) => `added ${count} people to the team ${team}`,
  },
  'seed.created': { describe: (count) => `created ${count} seeds` },
  'seed.joined': { describe: (count) => `joined ${count} seeds` },
  'seed.left': { describe: (count) => `left ${count} seeds` },
  'seed.deleted': { describe: (count) => `deleted ${count} seeds` },
  'evidence.added': {
    of: 'title',
    isJoint: true,
    describe: (count, title) => `added ${count} pieces of evidence to the seed ${title}`,
  },
  'comment.added': {
    of: 'title',
    isJoint: true,
    describe: (count, title) => `added ${count} comments to the seed ${title}`,
  },
}

/**
 * Shows each run of like events by one actor, or by several people, as one event, with the time of the latest, up to `max` of them. `isCut`: more
 * events follow, which may belong to the last run.
 */
export function joinRuns(
  events: readonly WorkspaceEvent[],
  { max, isCut }: { max: number; isCut: boolean },
): WorkspaceEvent[] {
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
  const shared = words.of === undefined ? '' : data[words.of]
  // Events of older versions have no data.
  if (typeof shared !== 'string') return undefined
  const sharedId = words.of === undefined ? null : (data.seedId ?? data.teamId)
  const by = words.isJoint && grantId === null ? null : [actorUserId, source, grantId]
  return JSON.stringify([type, by, shared, sharedId])
}

function describeRun(run: WorkspaceEvent[], isCut: boolean): WorkspaceEvent[] {
  const [latest] = run
  const words = latest && runWords[latest.type as EventType]
  if (!latest || !words || run.length === 1) return run
  const count = isCut ? `at least ${run.length}` : `${run.length}`
  const shared = words.of === undefined ? '' : String(latest.data[words.of])
  return [{ ...latest, summary: `${nameActors(run)} ${words.describe(count, shared)}` }]
}

const namesMax = 2

/** The names of those who acted, the latest first. */
function nameActors(run: readonly WorkspaceEvent[]): string {
  const names = [...new Map(run.map((event) => [event.actorUserId, event.actorName])).values()]
  const others = names.length - namesMax
  if (others <= 0) return names.join(' and ')
  return `${names.slice(0, namesMax).join(', ')} and ${others === 1 ? 'another' : `${others} others`}`
}
