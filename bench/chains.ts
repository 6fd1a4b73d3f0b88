import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { paths } from '../src/agents/oauth/protocol.ts'
import type { Subject } from './harness.ts'
import type { Load } from './loads.ts'
import { percentile, roundMs } from './report.ts'

/** Agents that refresh repeatedly, each with the refresh token of its last response. */
export const chains = 20

export interface Chain {
  clientId: string
  /** Replaced by each refresh. */
  refreshToken: string
}

/** What a refresh is answered with (RFC 6749 §5.1). */
export interface TokenAnswer {
  access_token: string
  refresh_token: string
  [name: string]: unknown
}

export function refreshInTurn(chainsOf: (subject: Subject) => readonly Chain[]): Load {
  return async (subject, seconds) => {
    const agent = new Agent({ keepAlive: true, maxSockets: chains })
    const start = performance.now()
    const end = start + seconds * 1000
    const tookMs: number[] = []
    const follow = async (chain: Chain) => {
      for (let at = performance.now(); at < end; at = performance.now()) {
        await refresh(subject.origin, chain, agent)
        tookMs.push(performance.now() - at)
      }
    }
    try {
      await Promise.all(chainsOf(subject).map(follow))
    } finally {
      agent.destroy()
    }
    return {
      requests: tookMs.length,
      requestsPerSecond: (tookMs.length / (performance.now() - start)) * 1000,
      p50Ms: roundMs(percentile(tookMs, 0.5)),
      p99Ms: roundMs(percentile(tookMs, 0.99)),
    }
  }
}

/** Refreshes the tokens of an agent. */
export async function refresh(origin: string, chain: Chain, agent?: Agent): Promise<TokenAnswer> {
  const call = request(`${origin}${paths.token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    ...(agent && { agent }),
  })
  const parameters = { client_id: chain.clientId, refresh_token: chain.refreshToken }
  call.end(new URLSearchParams({ grant_type: 'refresh_token', ...parameters }).toString())
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`a refresh is answered with ${answer.statusCode}: ${body}`)
  const tokens = JSON.parse(body) as TokenAnswer
  chain.refreshToken = tokens.refresh_token
  return tokens
}
