import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { batchMax } from '../../src/areas/agent/agent.mcp.ts'
import { createAgentAccess } from '../agent-access.ts'
import { atMost, compare } from '../compare.ts'
import { company, crowd, openSmallDatabase } from '../databases.ts'
import { withPool, type Area } from '../harness.ts'
import type { Load, Request } from '../loads.ts'
import { percentile, roundMs } from '../report.ts'
import { startService } from '../subjects.ts'
import { createNeighbour, fillWithLongTexts, findLargestSeed } from '../neighbour.ts'

/** The number of connections of the caller that creates the load. */
const connections = 10
/** The pause of the other caller after each response, so that it creates little load. */
const pauseMs = 5

// A process for the load starts within this time. The load begins that early, and ends a little later.
const startsWithinMs = 800
const loadsForSeconds = 1

const json = { 'content-type': 'application/json' }

export const neighbours: Area = {
  name: 'neighbours',
  title: `GET /v1/me of one caller, alone and beside another one with ${connections} connections`,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const neighbour = await createNeighbour(ours)
    const [access] = await createAgentAccess(ours, 1)
    if (!access) throw new Error('there is no agent')
    const seedId = await withPool(database.url, async (pool) => {
      await fillWithLongTexts(pool, [company.id, access.workspaceId])
      return findLargestSeed(pool, access.workspaceId)
    })
    const seeds = `/v1/workspaces/${company.slug}/seeds`
    const kit = { method: 'POST' as const, token: access.accessToken }
    const mcp = {
      ...kit,
      path: '/agent/mcp',
      headers: { ...json, accept: 'application/json, text/event-stream' },
    }
    const call = (input: object, id = 1) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'read_validation_kit', arguments: input },
    })
    const batchOf = (input: object) =>
      JSON.stringify(Array.from({ length: batchMax }, (_, i) => call(input, i)))
    const loads: Record<string, Request> = {
      'GET /v1/me': { path: '/v1/me' },
      'seeds.list, the largest page': { path: `${seeds}?limit=200` },
      'events.list, 200 of them': { path: `/v1/workspaces/${company.slug}/events?limit=200` },
      'people.list, q that nearly all have': {
        path: `/v1/workspaces/${crowd.slug}/people?limit=200&q=person`,
      },
      'seeds.create, refused for 64 KiB of unknown fields': {
        method: 'POST',
        path: seeds,
        headers: json,
        body: JSON.stringify(Object.fromEntries(Array.from({ length: 7_000 }, (_, i) => [`f${i}`, 0]))),
      },
      'agent.readValidationKit, the largest': { ...kit, path: '/agent/v1/validation-kit:read' },
      'tools/call read_validation_kit, the largest': { ...mcp, body: JSON.stringify(call({})) },
      [`${batchMax} × tools/call in a batch, all seeds`]: { ...mcp, body: batchOf({}) },
      [`${batchMax} × tools/call in a batch, the largest seed`]: { ...mcp, body: batchOf({ seedId }) },
    }
    const alone = { ...ours, name: 'alone' }
    return Object.entries(loads).map(([name, load]) => {
      const beside = { ...ours, name: 'beside' }
      return compare(bench, {
        name,
        load: measure(neighbour.apiKey, (subject) => (subject === beside ? load : undefined)),
        subjects: [alone, beside],
        rounds: 3,
        roundSeconds: 0.7,
        ratios: [{ of: beside, to: alone, by: 'p99Ms', goal: atMost(2) }],
      })
    })
  },
}

/** Measures one caller with pauses, while another one, in a separate process, sends requests as fast as possible. */
function measure(apiKey: string, loadOf: (subject: Parameters<Load>[0]) => Request | undefined): Load {
  return async (subject, seconds) => {
    const load = loadOf(subject)
    const loader =
      load &&
      startLoader(subject.origin, { token: subject.database.apiKey, ...load }, seconds + loadsForSeconds)
    // Waits until the load is at its maximum.
    if (loader) await setTimeout(startsWithinMs)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const tookMs: number[] = []
    const end = performance.now() + seconds * 1000
    for (let at = performance.now(); at < end; at = performance.now()) {
      await ask(`${subject.origin}/v1/me`, agent, apiKey)
      tookMs.push(performance.now() - at)
      await setTimeout(pauseMs)
    }
    agent.destroy()
    await loader?.ended
    return {
      requestsPerSecond: tookMs.length / seconds,
      p50Ms: roundMs(percentile(tookMs, 0.5)),
      p99Ms: roundMs(percentile(tookMs, 0.99)),
    }
  }
}

function startLoader(
  origin: string,
  { method = 'GET', path, headers, body, token }: Request,
  seconds: number,
) {
  const entry = createRequire(import.meta.url).resolve('autocannon')
  const all = { ...headers, authorization: `Bearer ${token}` }
  const child = spawn(
    process.execPath,
    [
      ...[entry, '-c', String(connections), '-d', String(seconds), '-m', method, '--no-progress'],
      ...Object.entries(all).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
      ...(body === undefined ? [] : ['-b', body]),
      origin + path,
    ],
    { stdio: 'ignore' },
  )
  return { ended: once(child, 'exit') }
}

async function ask(url: string, agent: Agent, apiKey: string): Promise<void> {
  const sent = request(url, { agent, headers: { authorization: `Bearer ${apiKey}` } }).end()
  const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  answer.resume()
  await once(answer, 'end')
  if (answer.statusCode !== 200) throw new Error(`GET /v1/me is answered with ${answer.statusCode}`)
}
