import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { withTokenScopes, type AgentPrincipal } from '../../domain/agent.ts'
import type { PersonStreams } from '../../concurrency/person-streams.ts'
import type { FollowedResources } from './followed-resources.ts'

/** The streams of `subscriptions/listen` on which agents are told that their tools, prompts and resources have changed. */
export interface ToolSubscriptions {
  /** What the SDK's streams subscribe to. */
  bus: ServerEventBus
  /**
   * Runs a request that may open a stream, with a signal that ends it, and follows resources for it. Undefined without
   * running it if the grant or its person has as many streams as they may have.
   */
  run(
    agent: AgentPrincipal,
    uris: readonly string[],
    answer: (signal: AbortSignal) => Promise<Response>,
  ): Promise<Response> | undefined
  /** Ends all streams. Clients open them again, elsewhere. */
  close(): void
}

export interface ToolSubscriptionsOptions {
  /** Reads the agents of grants as they are now; undefined for a grant that has ended. */
  readAgents: (grantIds: readonly string[]) => Promise<readonly (AgentPrincipal | undefined)[]>
  /** What an agent has: a text that changes with its tools and prompts. */
  describe: (agent: AgentPrincipal) => string
  /** Called once for each outage in which agents cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
  pollEveryMs?: number
  lifetimeMs?: number
  /** The most streams of one grant in a process. */
  grantStreamsMax?: number
  /** The streams of people in the process, those of the API included. */
  personStreams: PersonStreams
  resources: FollowedResources
}

/** The most streams of a process. */
export const streamsMax = 1_000
/** The most resources that one stream follows. */
export const streamResourcesMax = 50

interface Stream {
  agent: AgentPrincipal
  /** What the agent had when its client was told last. */
  described: string
  publish?: (event: ServerEvent) => void
  /** Resources that changed before the SDK opened the stream. */
  changed: Set<string>
  unfollow?: () => void
  end: () => void
}

/**
 * Polls the grants that have streams by one statement, as streams of events poll positions
 * (docs/design/events.md#streams): the scopes of a grant are changed on the website, by any process. A stream ends with
 * its grant, and after a while, so that streams spread over the processes again.
 */
export function createToolSubscriptions(options: ToolSubscriptionsOptions): ToolSubscriptions {
  const { readAgents, describe, onReadError, personStreams, resources } = options
  const { pollEveryMs = 2_000, lifetimeMs = 60 * 60 * 1000, grantStreamsMax = 10 } = options
  const streams = new Set<Stream>()
  const opening = new AsyncLocalStorage<Stream>()
  let isPolling = false
  let isFailing = false

  function schedule(): void {
    isPolling = streams.size > 0
    if (isPolling) setTimeout(() => void poll().then(schedule), pollEveryMs).unref()
  }

  async function poll(): Promise<void> {
    const asked = [...streams]
    const grantIds = [...new Set(asked.map(({ agent }) => agent.grant.id))]
    if (grantIds.length === 0) return
    try {
      const agents = await readAgents(grantIds)
      isFailing = false
      const byId = new Map(grantIds.map((id, i) => [id, agents[i]]))
      for (const stream of asked) tell(stream, byId.get(stream.agent.grant.id))
    } catch (error) {
      if (!isFailing) onReadError(error)
      isFailing = true
    }
  }

  function tell(stream: Stream, agent: AgentPrincipal | undefined): void {
    if (!agent) {
      stream.end()
      return
    }
    const { onlyReads, tokenScopes } = stream.agent
    const narrowed = withTokenScopes(agent, tokenScopes)
    const described = describe({ ...narrowed, ...(onlyReads !== undefined && { onlyReads }) })
    if (described === stream.described) return
    stream.described = described
    stream.publish?.({ kind: 'tools_list_changed' })
    stream.publish?.({ kind: 'prompts_list_changed' })
  }

  async function follow(stream: Stream, uris: readonly string[]): Promise<void> {
    const unfollow = await resources.follow(stream.agent, uris, (uri) => {
      if (stream.publish) stream.publish({ kind: 'resource_updated', uri })
      else stream.changed.add(uri)
    })
    stream.unfollow = unfollow
    // It may have ended meanwhile.
    if (!streams.has(stream)) unfollow()
  }

  return {
    bus: {
      // Events are told to each stream by itself: those of one agent concern no other.
      publish: () => undefined,
      // Called by the SDK as it opens the stream of the request.
      subscribe(listener) {
        const stream = opening.getStore()
        if (!stream) return () => undefined
        stream.publish = listener
        for (const uri of stream.changed) listener({ kind: 'resource_updated', uri })
        if (!isPolling) schedule()
        return stream.end
      },
    },

    run(agent, uris, answer) {
      const ofGrant = [...streams].filter((stream) => stream.agent.grant.id === agent.grant.id)
      const release = ofGrant.length < grantStreamsMax ? personStreams.open(agent.user.id) : undefined
      if (!release) return undefined
      const controller = new AbortController()
      const timer = setTimeout(() => stream.end(), lifetimeMs).unref()
      const stream: Stream = {
        agent,
        described: describe(agent),
        changed: new Set(),
        end() {
          clearTimeout(timer)
          release()
          stream.unfollow?.()
          if (streams.delete(stream)) controller.abort()
        },
      }
      streams.add(stream)
      return opening.run(stream, async () => {
        try {
          if (uris.length > 0) await follow(stream, uris)
          return await answer(controller.signal)
        } finally {
          // It was refused, or subscribes to nothing.
          if (!stream.publish) stream.end()
        }
      })
    },

    close() {
      for (const stream of streams) stream.end()
    },
  }
}
