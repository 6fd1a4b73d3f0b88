import { withTokenScopes, type AgentPrincipal } from '../../domain/agent.ts'

/** What a subscription to a resource is about: the inbox of its agent, or a seed. */
export type FollowedTarget = { kind: 'inbox' } | { kind: 'seed'; seedId: string }

/** Whose inbox is compared: that of a person, with the requests that wait for their agent. */
export interface FollowedInbox {
  userId: string
  grantId: string
}

/** What happened in a workspace behind a position, as of one moment. */
export interface FollowedChanges {
  /** The position of the newest event that was looked at. */
  last: number
  /** The position of the newest event about each of the seeds, behind the position that was asked for. */
  seeds: ReadonlyMap<string, number>
  /** For the inbox of each grant a text, which changes when something is added to it, and when a request ends. */
  inboxes: ReadonlyMap<string, string>
}

export interface FollowedResourcesOptions {
  /** Calls back with the position of the newest event of a workspace whenever it was polled. Returns what stops it. */
  followPositions: (workspaceId: string, onPosition: (last: number) => void) => () => void
  readChanges: (query: {
    workspaceId: string
    after: number | null
    seedIds: readonly string[]
    inboxes: readonly FollowedInbox[]
  }) => Promise<FollowedChanges>
  /** Reads the agents of grants as they are now; undefined for a grant that has ended. */
  readAgents: (grantIds: readonly string[]) => Promise<readonly (AgentPrincipal | undefined)[]>
  /** What a URI is about; undefined if the agent may not read it, as it is now. */
  targetOf: (agent: AgentPrincipal, uri: string) => FollowedTarget | undefined
  /** Called once for each outage in which changes cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
}

/** Tells agents that resources have changed. */
export interface FollowedResources {
  /**
   * Calls `onChange` with each URI whose resource changes from now on, while the agent may read it. Returns a function that
   * stops it.
   */
  follow(agent: AgentPrincipal, uris: readonly string[], onChange: (uri: string) => void): Promise<() => void>
}

interface Follower {
  agent: AgentPrincipal
  uris: readonly string[]
  /** The position of the newest event that it was told of. */
  at: number
  inbox: string | undefined
  onChange: (uri: string) => void
}

/** A follower with what it may read now, of what it follows. */
interface Allowed {
  follower: Follower
  targets: ReadonlyMap<string, FollowedTarget>
}

/** The followers of one workspace. */
interface Room {
  followers: Set<Follower>
  isBusy: boolean
  stop: () => void
}

/**
 * Follows resources by the positions of events, which streams of events poll too (docs/design/events.md#streams). Only
 * when a workspace has a new event, one statement reads what it changed for all who follow something there, and another
 * whether they still may.
 */
export function createFollowedResources(options: FollowedResourcesOptions): FollowedResources {
  const { followPositions, readChanges, readAgents, targetOf, onReadError } = options
  const rooms = new Map<string, Room>()
  let isFailing = false

  function createRoom(workspaceId: string): Room {
    const room: Room = { followers: new Set(), isBusy: false, stop: () => undefined }
    room.stop = followPositions(workspaceId, (last) => {
      // One that began while changes were read was not told of them.
      const isBehind = [...room.followers].some(({ at }) => at !== last)
      if (isBehind && !room.isBusy) void advance(workspaceId, room)
    })
    rooms.set(workspaceId, room)
    return room
  }

  async function advance(workspaceId: string, room: Room): Promise<void> {
    room.isBusy = true
    try {
      const followers = [...room.followers]
      const grantIds = [...new Set(followers.map(({ agent }) => agent.grant.id))]
      const found = await readAgents(grantIds)
      const agents = new Map(grantIds.map((id, i) => [id, found[i]]))
      const allowed = followers.flatMap((follower) => {
        const agent = agents.get(follower.agent.grant.id)
        if (!agent) return []
        const narrowed = withTokenScopes(agent, follower.agent.tokenScopes)
        return [{ follower, targets: findTargets(narrowed, follower.uris) }]
      })
      const after = Math.min(...followers.map(({ at }) => at))
      const changes = await readChanges({ workspaceId, after, ...toQuery(allowed) })
      for (const each of allowed) tell(each, changes)
      for (const follower of followers) follower.at = changes.last
      isFailing = false
    } catch (error) {
      // The next poll tries again.
      if (!isFailing) onReadError(error)
      isFailing = true
    }
    room.isBusy = false
  }

  function findTargets(agent: AgentPrincipal, uris: readonly string[]): Map<string, FollowedTarget> {
    const found = new Map<string, FollowedTarget>()
    for (const uri of uris) {
      const target = targetOf(agent, uri)
      if (target) found.set(uri, target)
    }
    return found
  }

  function tell({ follower, targets }: Allowed, changes: FollowedChanges): void {
    // A backup from before was restored: anything may have changed.
    const isEarlier = changes.last < follower.at
    const inbox = changes.inboxes.get(follower.agent.grant.id)
    const isInboxChanged = inbox !== follower.inbox
    follower.inbox = inbox
    for (const [uri, target] of targets) {
      const isChanged =
        target.kind === 'inbox' ? isInboxChanged : (changes.seeds.get(target.seedId) ?? 0) > follower.at
      if (isChanged || isEarlier) follower.onChange(uri)
    }
  }

  return {
    async follow(agent, uris, onChange) {
      const workspaceId = agent.workspace.id
      const follower: Follower = { agent, uris, at: 0, inbox: undefined, onChange }
      const targets = findTargets(agent, uris)
      const start = await readChanges({
        workspaceId,
        after: null,
        ...toQuery([{ follower, targets }]),
      })
      follower.at = start.last
      follower.inbox = start.inboxes.get(agent.grant.id)
      const room = rooms.get(workspaceId) ?? createRoom(workspaceId)
      room.followers.add(follower)
      return () => {
        room.followers.delete(follower)
        if (room.followers.size > 0 || rooms.get(workspaceId) !== room) return
        room.stop()
        rooms.delete(workspaceId)
      }
    },
  }
}

/** What is read for followers: the seeds and inboxes that they follow, each once. */
function toQuery(followers: readonly Allowed[]): { seedIds: string[]; inboxes: FollowedInbox[] } {
  const seedIds = new Set<string>()
  const inboxes = new Map<string, FollowedInbox>()
  for (const { follower, targets } of followers) {
    const { user, grant } = follower.agent
    for (const target of targets.values()) {
      if (target.kind === 'seed') seedIds.add(target.seedId)
      else inboxes.set(grant.id, { userId: user.id, grantId: grant.id })
    }
  }
  return { seedIds: [...seedIds], inboxes: [...inboxes.values()] }
}
