import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { batchMax } from '../../src/agents/mcp/agent.mcp.ts'
import { createAgentAccess } from '../agent-access.ts'
import { atMost, compare } from '../compare.ts'
import { company, crowd, openSmallDatabase } from '../databases.ts'
import { withPool, type Area, type Subject } from '../harness.ts'
import { byWrk, type Load as Measure, type Request } from '../loads.ts'
import { percentile, roundMs } from '../report.ts'
import { startService } from '../compared-servers.ts'
import { hasWrk } from '../wrk.ts'
import { createNeighbour, fillWithLongTexts, findLargestSeed } from '../neighbour.ts'

/** The number of connections of the caller that creates the load, and of a viewer who changes nothing. */
const connections = 10
const uselessConnections = 64
/** The pause of the other caller after each response, so that it creates little load. */
const pauseMs = 5

// A process for the load starts within this time. The load begins that early, and ends a little later.
const startsWithinMs = 800
const loadsForSeconds = 1

const json = { 'content-type': 'application/json' }

export const neighbours: Area = {
  name: 'neighbours',
  title: `One caller, alone and beside another one: GET /v1/me beside ${connections} connections, and a change of an owner beside ${uselessConnections}`,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const elsewhere = await startService(bench, database, ', another process')
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
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
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
      'tools/call read_validation_kit, the largest': {
        ...mcp,
        body: JSON.stringify(call({ detail: 'full' })),
      },
      [`${batchMax} × tools/call in a batch, all seeds`]: { ...mcp, body: batchOf({ detail: 'full' }) },
      [`${batchMax} × tools/call in a batch, the largest seed`]: { ...mcp, body: batchOf({ seedId }) },
    }
    const alone = { ...ours, name: 'alone' }
    const beside = { ...ours, name: 'beside' }
    // What the processors and PostgreSQL, which they share, cost by themselves.
    const besideElsewhere = { ...ours, name: 'beside another process with the load' }
    const trial = (name: string, measured: Request, load: Omit<Load, 'of'>, by: 'p50Ms' | 'p99Ms') =>
      compare(bench, {
        name,
        load: measure(measured, (subject) => {
          if (subject === alone) return undefined
          return { ...load, of: subject === beside ? ours : elsewhere }
        }),
        subjects: [alone, beside, besideElsewhere],
        rounds: 3,
        roundSeconds: 0.7,
        ratios: [
          { of: beside, to: besideElsewhere, by, goal: atMost(1.5) },
          { of: beside, to: alone, by },
        ],
      })
    const { rename, leave } = await createUselessLeave(ours, neighbour.apiKey)
    return [
      ...Object.entries(loads).map(([name, request]) =>
        trial(
          name,
          { path: '/v1/me', token: neighbour.apiKey },
          { request: { token: ours.database.apiKey, ...request }, connections },
          'p99Ms',
        ),
      ),
      trial(
        'teams.rename by an owner, beside teams.removeMember by a viewer who is in no team',
        rename,
        { request: leave, connections: uselessConnections },
        'p50Ms',
      ),
    ]
  },
}

/** What another caller repeats. */
interface Load {
  request: Request
  connections: number
  /** The server that it is sent to. */
  of: Subject
}

/**
 * Makes a workspace with a team and with a neighbour as its viewer. Returns the owner's request that changes it, and one of
 * the viewer that changes nothing.
 */
async function createUselessLeave(
  { origin, database: { apiKey } }: Subject,
  neighbour: string,
): Promise<{ rename: Request; leave: Request }> {
  async function call<Answer>(token: string, path: string, body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, ...(body && json) }
    const method = body ? 'POST' : 'GET'
    const answer = await fetch(origin + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} is answered with ${answer.status}`)
    return (await answer.json()) as Answer
  }
  const viewer = await call<{ id: string; email: string }>(neighbour, '/v1/me')
  const slug = `useless-${Date.now()}`
  const path = `/v1/workspaces/${slug}`
  await call(apiKey, '/v1/workspaces', { name: 'Useless', slug })
  const { inviteUrl } = await call<{ inviteUrl: string }>(apiKey, `${path}/invites`, {
    email: viewer.email,
    role: 'viewer',
  })
  await call(neighbour, `/v1/invites/${inviteUrl.split('/').pop()}/accept`, {})
  const { team } = await call<{ team: { id: string } }>(apiKey, `${path}/teams`, { name: 'Team' })
  let renames = 0
  return {
    rename: {
      method: 'PATCH',
      path: `${path}/teams/${team.id}`,
      headers: json,
      // A new name each time.
      get body() {
        return JSON.stringify({ name: `Team ${renames++}` })
      },
      token: apiKey,
    },
    leave: { method: 'DELETE', path: `${path}/teams/${team.id}/members/${viewer.id}`, token: neighbour },
  }
}

/** Measures one caller with pauses, while another one, in a separate process, sends requests as fast as possible. */
function measure(measured: Request, loadOf: (subject: Subject) => Load | undefined): Measure {
  return async (subject, seconds) => {
    const load = loadOf(subject)
    const loader = load && startLoader(load, seconds + loadsForSeconds)
    // Its failure is thrown below.
    loader?.catch(() => undefined)
    // Waits until the load is at its maximum.
    if (loader) await setTimeout(startsWithinMs)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const tookMs: number[] = []
    const end = performance.now() + seconds * 1000
    for (let at = performance.now(); at < end; at = performance.now()) {
      await ask(subject.origin, agent, measured)
      tookMs.push(performance.now() - at)
      await setTimeout(pauseMs)
    }
    agent.destroy()
    await loader
    return {
      requestsPerSecond: tookMs.length / seconds,
      p50Ms: roundMs(percentile(tookMs, 0.5)),
      p99Ms: roundMs(percentile(tookMs, 0.99)),
    }
  }
}

/** Starts the load in a process of its own. Its requests may be refused. */
function startLoader({ request, connections, of }: Load, seconds: number) {
  if (hasWrk) return byWrk(of, seconds, { requests: [request], connections, repeats: true, mayRefuse: true })
  const { method = 'GET', path, headers, body, token } = request
  const entry = createRequire(import.meta.url).resolve('autocannon')
  const all = { ...headers, authorization: `Bearer ${token}` }
  const child = spawn(
    process.execPath,
    [
      entry,
      '-c',
      String(connections),
      '-d',
      String(seconds),
      '-m',
      method,
      '--no-progress',
      ...Object.entries(all).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
      ...(body === undefined ? [] : ['-b', body]),
      of.origin + path,
    ],
    { stdio: 'ignore' },
  )
  return once(child, 'exit')
}

async function ask(origin: string, agent: Agent, { method = 'GET', path, headers, body, token }: Request) {
  const sent = request(origin + path, {
    agent,
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
  })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  answer.resume()
  await once(answer, 'end')
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} is answered with ${answer.statusCode}`)
}
