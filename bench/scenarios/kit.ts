import { createAgentAccess, kitSize, type AgentAccess } from '../agent-access.ts'
import { atLeast, compare } from '../compare.ts'
import { openSmallDatabase } from '../databases.ts'
import type { Area, Subject } from '../harness.ts'
import { repeat, type Request } from '../loads.ts'
import { assertSame, send } from '../same-answer.ts'
import { startBareKit, startService } from '../compared-servers.ts'

/** Few connections: a kit takes so long that the ones in work at the end of a round, which do not count, would be many. */
const atOnce = 10
const agentsMax = 10

export const kit: Area = {
  name: 'kit',
  title: `The validation kit, ${kitSize}, against a bare server`,
  isOfVersions: true,
  isAwake: true,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBareKit(bench, database)
    // Created here, since the access tokens expire after a few minutes. One after the other: each has a person of its own.
    const createAgents = async (subject: Subject) => {
      const agents: AgentAccess[] = []
      for (let i = 0; i < agentsMax; i++) agents.push(...(await createAgentAccess(subject, 1)))
      return agents
    }
    const agents = await createAgents(ours)
    // The bare server takes the id of a grant for a token.
    const others = bench.baseline
      ? await createAgents(bare)
      : agents.map((agent) => ({ ...agent, accessToken: agent.grantId }))
    const scenarios = [
      {
        name: 'POST /agent/v1/validation-kit:read',
        form: 'http' as const,
        count: 1,
        goal: atLeast(1),
      },
      {
        name: 'tools/call read_validation_kit, one seed, one agent',
        form: 'oneSeedOverMcp' as const,
        count: 1,
        goal: atLeast(0.6),
      },
      {
        ...{ name: `tools/call read_validation_kit, one seed, ${agentsMax} agents` },
        form: 'oneSeedOverMcp' as const,
        count: agentsMax,
        goal: atLeast(0.75),
      },
    ]
    return Promise.all(
      scenarios.map(async ({ name, form, count, goal }) => {
        const requestsOf = (subject: Subject) =>
          (subject === bare ? others : agents).slice(0, count).map((agent) => kitRequests(agent)[form])
        for (let place = 0; place < count && !bench.baseline; place++)
          await assertSameKit([ours, bare], (subject) => at(requestsOf(subject), place))
        return compare(bench, {
          name,
          load: repeat(requestsOf, atOnce),
          subjects: [ours, bare],
          rounds: 5,
          roundSeconds: 1.5,
          ratios: [{ of: ours, to: bare, goal }],
        })
      }),
    )
  },
}

function at<Item>(items: readonly Item[], place: number): Item {
  const item = items[place]
  if (item === undefined) throw new Error(`there is no item ${place}`)
  return item
}

/** The requests of an agent with its access token. */
export function kitRequests({
  accessToken,
  seedId,
}: AgentAccess): Record<'http' | 'oneSeedOverMcp', Request> {
  const method = 'POST' as const
  return {
    http: { method, path: '/agent/v1/validation-kit:read', token: accessToken },
    // Over MCP a kit of all seeds is truncated, which the bare server does not do. So the agent reads one seed.
    oneSeedOverMcp: {
      method,
      path: '/agent/mcp',
      token: accessToken,
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'read_validation_kit', arguments: { seedId } },
      }),
    },
  }
}

/** Throws unless the compared kits are equal, except for the time of their generation. */
async function assertSameKit(
  subjects: readonly Subject[],
  requestOf: (subject: Subject) => Request,
): Promise<void> {
  const kits: object[] = []
  for (const subject of subjects) {
    // The URLs of the seeds are those of the server.
    const answer = (await send(subject, requestOf(subject))).replaceAll(subject.origin, '')
    kits.push(...kitsOf(answer).map((each) => ({ ...each, generatedAt: '' })))
  }
  assertSame(kits, 'the kit')
}

interface McpAnswer {
  result: { content: { text: string }[]; structuredContent: object }
}

/** The kits in a response. MCP sends the kit twice, possibly in an event stream of one message. */
function kitsOf(answer: string): object[] {
  const json = JSON.parse(answer.replace(/^event: message\ndata: /, '')) as object | McpAnswer
  if (!('result' in json)) return [json]
  const { content, structuredContent } = json.result
  return [structuredContent, ...content.map(({ text }) => JSON.parse(text) as object)]
}
