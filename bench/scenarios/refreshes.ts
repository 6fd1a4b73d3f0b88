import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { createAgentAccess, type AgentAccess } from '../agent-access.ts'
import { openSmallDatabase } from '../databases.ts'
import { percentile, type Area, type Load } from '../harness.ts'
import { startService } from '../subjects.ts'

/** Agents that refresh repeatedly, each with the refresh token of its last response. */
const chains = 20

export const refreshes: Area = {
  name: 'refreshes',
  title: `Refreshes of access tokens, ${chains} chains in parallel`,
  async prepare(bench) {
    const ours = await startService(bench, await openSmallDatabase(bench))
    return [
      {
        name: 'POST /agent/oauth/token',
        load: refresh(await createAgentAccess(ours, chains)),
        subjects: [ours],
        rounds: 5,
        roundSeconds: 2,
        goalPerSecond: 500,
      },
    ]
  },
}

function refresh(agents: readonly AgentAccess[]): Load {
  const tokens = new Map(agents.map(({ clientId, refreshToken }) => [clientId, refreshToken]))
  return async ({ origin }, seconds) => {
    const connection = new Agent({ keepAlive: true, maxSockets: chains })
    const start = performance.now()
    const end = start + seconds * 1000
    const tookMs: number[] = []
    const follow = async ({ clientId }: AgentAccess) => {
      for (let at = performance.now(); at < end; at = performance.now()) {
        const refreshToken = await exchange(origin, connection, {
          grant_type: 'refresh_token',
          client_id: clientId,
          refresh_token: String(tokens.get(clientId)),
        })
        tokens.set(clientId, refreshToken)
        tookMs.push(performance.now() - at)
      }
    }
    try {
      await Promise.all(agents.map(follow))
    } finally {
      connection.destroy()
    }
    const requestsPerSecond = (tookMs.length / (performance.now() - start)) * 1000
    return {
      requestsPerSecond,
      p50Ms: Math.round(percentile(tookMs, 0.5)),
      p99Ms: Math.round(percentile(tookMs, 0.99)),
    }
  }
}

/** Returns the next refresh token. */
async function exchange(origin: string, agent: Agent, parameters: Record<string, string>): Promise<string> {
  const call = request(`${origin}/agent/oauth/token`, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  call.end(new URLSearchParams(parameters).toString())
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`a refresh is answered with ${answer.statusCode}: ${body}`)
  return (JSON.parse(body) as { refresh_token: string }).refresh_token
}
