import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import sharp from 'sharp'
import { buildUpload } from '../support/forms.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Caller, Stage } from './stage.ts'

/** A request, as it is sent. */
export interface Call {
  /** What it is called in the record. */
  operation: string
  method?: string
  path: string
  apiKey?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/** What came of one request. */
export interface Attempt {
  operation: string
  apiKey: string | undefined
  /** In milliseconds, as performance.now() has it. */
  startedAt: number
  ms: number
  /** 0 when there was no answer. */
  status: number
  /** The error's code, that of the connection's error, or `proxy` when the service has not seen the request. */
  code: string
  retryAfterSeconds?: number
  body: string
}

/** What is under way, for the fault to tell when it is over. */
export interface Load {
  /** Tells that what was broken is whole again: recovery is measured from here. */
  isOver: () => void
  /** Further requests that belong to the record. */
  send: (call: Call) => Promise<Attempt>
  attempts: readonly Attempt[]
}

/** The record of a load, held against the database. */
export interface LoadReport {
  attempts: readonly Attempt[]
  failures: Attempt[]
  slowestMs: number
  /** The longest time in which nothing was answered. */
  gapMs: number
  /** From the end of the fault to the start of the last request that failed, or to the first success. */
  recoveryMs: number | undefined
  ledger: Ledger
  lost: number
  doubled: number
}

export interface LoadOptions {
  workers?: number
  /** How long each worker thinks between two requests. */
  thinkMs?: number
  /** Before the fault, and after it. */
  beforeMs?: number
  afterMs?: number
  /** Whose key each worker has, by the number of the caller. Default: each another's. */
  callerOf?: (worker: number) => number
}

// Longer than anything may take.
const hangMs = 60_000
const retryAfterMsMax = 2_000
const giveUpMs = 90_000

/** Reads and writes by many callers through HAProxy while a fault runs, and what came of it. */
export async function underLoad(
  stage: Stage,
  fault: (load: Load) => Promise<void>,
  options: LoadOptions = {},
): Promise<LoadReport> {
  const {
    workers = 12,
    thinkMs = 25,
    beforeMs = 2_000,
    afterMs = 5_000,
    callerOf = (i: number) => i,
  } = options
  const attempts: Attempt[] = []
  const client = createClient(stage.origin, workers + 8, attempts)
  const ledger = createLedger(`load-${randomUUID().slice(0, 8)}`)
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  let isEnding = false
  let overAt: number | undefined
  const all = await Promise.all(
    Array.from({ length: workers }, (_, i) => {
      const caller = stage.callers[callerOf(i) % stage.callers.length]
      if (!caller) throw new Error('there are no callers')
      return createWorker({ caller, client, ledger, picture, isEnding: () => isEnding })
    }),
  )
  const startedAt = performance.now()
  const running = all.map(async (step) => {
    while (!isEnding) {
      await step()
      await pause(thinkMs * (0.5 + Math.random()))
    }
  })
  try {
    await pause(beforeMs)
    await fault({
      isOver: () => (overAt = performance.now()),
      send: client.send,
      attempts,
    })
    await pause(afterMs)
  } finally {
    isEnding = true
    await Promise.all(running)
    client.close()
  }
  const { lost, doubled } = await ledger.verify(stage.postgres)
  const counted = attempts.filter((attempt) => attempt.startedAt >= startedAt)
  const failures = counted.filter(isFailure)
  return {
    attempts: counted,
    failures,
    slowestMs: Math.round(largest(counted.map(({ ms }) => ms))),
    gapMs: Math.round(findGap(counted, startedAt)),
    recoveryMs: overAt === undefined ? undefined : Math.round(findRecovery(counted, overAt)),
    ...{ ledger, lost, doubled },
  }
}

const isFailure = ({ status }: Attempt) => status < 200 || status > 299

function findGap(attempts: readonly Attempt[], startedAt: number): number {
  const answeredAt = attempts.filter(({ status }) => status > 0).map((one) => one.startedAt + one.ms)
  let last = startedAt
  let gap = 0
  for (const at of answeredAt.sort((a, b) => a - b)) {
    gap = Math.max(gap, at - last)
    last = at
  }
  return gap
}

function findRecovery(attempts: readonly Attempt[], overAt: number): number {
  const successes = attempts.filter((one) => !isFailure(one) && one.startedAt + one.ms > overAt)
  const first = successes.reduce((least, one) => Math.min(least, one.startedAt + one.ms), Infinity)
  const failures = attempts.filter((one) => isFailure(one) && one.startedAt > overAt)
  return largest([first - overAt, ...failures.map(({ startedAt }) => startedAt - overAt)])
}

// There may be more than a function takes arguments.
const largest = (values: readonly number[]) => values.reduce((most, value) => Math.max(most, value), 0)

/** Sends requests over connections that are kept, and records what comes of them. */
export function createClient(origin: string, connections: number, attempts: Attempt[] = []) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  async function send(call: Call): Promise<Attempt> {
    const startedAt = performance.now()
    const { status, headers, body, error } = await exchange(origin, agent, call)
    const attempt: Attempt = {
      operation: call.operation,
      apiKey: call.apiKey,
      startedAt,
      ms: performance.now() - startedAt,
      status,
      code: error ?? codeOf(status, headers, body),
      body,
    }
    const retryAfter = Number(headers['retry-after'])
    if (retryAfter >= 0) attempt.retryAfterSeconds = retryAfter
    // Bodies are for whoever asked.
    attempts.push({ ...attempt, body: '' })
    return attempt
  }
  return { send, close: () => agent.destroy() }
}

export type Client = ReturnType<typeof createClient>

interface Exchange {
  status: number
  headers: IncomingMessage['headers']
  body: string
  error?: string
}

function exchange(origin: string, agent: Agent, call: Call): Promise<Exchange> {
  const { method = 'GET', path, apiKey, body } = call
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      resolve({ status: 0, headers: {}, body: '', error: error.code ?? error.message })
    }
    const request = httpRequest(
      origin + path,
      {
        agent,
        method,
        headers: {
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
          ...call.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', fail)
        response.once('close', () => {
          clearTimeout(timer)
          if (!response.complete) fail(Object.assign(new Error(), { code: 'CUT_OFF' }))
          const { statusCode = 0, headers } = response
          resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() })
        })
      },
    )
    const timer = setTimeout(() => request.destroy(Object.assign(new Error(), { code: 'HANGS' })), hangMs)
    request.once('error', fail)
    request.end(body)
  })
}

function codeOf(status: number, headers: IncomingMessage['headers'], body: string): string {
  if (status < 300) return ''
  if (headers['x-request-id'] === undefined) return 'proxy'
  try {
    return String((JSON.parse(body) as { code?: unknown }).code)
  } catch {
    return 'no error of ours'
  }
}

/**
 * Sends a request until it succeeds, as a client that has an `Idempotency-Key` may: again after errors of the connection,
 * 5xx and "still running", when it is told to or after a moment. Gives the last answer.
 */
export async function insist(client: Client, call: Call, isEnding = () => false): Promise<Attempt> {
  const startedAt = performance.now()
  for (let round = 0; ; round++) {
    const attempt = await client.send(call)
    const { status, code, retryAfterSeconds } = attempt
    if (status !== 0 && status < 500 && code !== 'idempotency_in_flight') return attempt
    // Work that was begun is ended, also when the load is.
    if (performance.now() - startedAt > (isEnding() ? 20_000 : giveUpMs)) return attempt
    await pause(Math.min((retryAfterSeconds ?? 0.1 * 2 ** round) * 1_000, retryAfterMsMax))
  }
}

interface WorkerOptions {
  caller: Caller
  client: Client
  ledger: Ledger
  picture: Buffer
  isEnding: () => boolean
}

/** One caller's next request, over and over: six reads to four writes. */
async function createWorker(options: WorkerOptions): Promise<() => Promise<unknown>> {
  const { caller, client, ledger, picture, isEnding } = options
  const { apiKey, slug } = caller
  const workspace = `/v1/workspaces/${slug}`
  let version = 0

  const write = (operation: string, path: string, body: object | Buffer, headers = {}) =>
    insist(
      client,
      {
        ...{ operation, method: 'POST', path, apiKey },
        body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
        headers: { 'idempotency-key': randomUUID(), ...headers },
      },
      isEnding,
    )
  const create = async (kind: 'seed' | 'team' | 'evidence' | 'invite', path: string, body: object) => {
    const entry = ledger.intend(kind, Object.values(body)[0] as string)
    const answer = await write(`${kind} +`, path, body)
    if (answer.status === 200) entry.acknowledge(answer.body)
    return answer
  }
  const createSeed = () =>
    create('seed', `${workspace}/seeds`, { title: ledger.name(), summary: 'Written under load.' })

  const own = (JSON.parse((await createSeed()).body) as { seed: { id: string } }).seed.id
  await write('seed join', `/v1/seeds/${own}/join`, {})
  const upload = buildUpload(picture)
  const reads: [operation: string, path: string][] = [
    ['me', '/v1/me'],
    ['seed', `/v1/seeds/${own}`],
    ['workspace', workspace],
    ['workspaces', '/v1/workspaces'],
  ]
  const lists = ['seeds', 'people', 'events', 'members', 'teams', 'invites'].map((list): [string, string] => [
    `list ${list}`,
    `${workspace}/${list}?limit=20`,
  ])
  const read = (from: [operation: string, path: string][]) => {
    const [operation = '', path = ''] = from[Math.floor(Math.random() * from.length)] ?? []
    return client.send({ operation, path, apiKey })
  }
  const update = async () => {
    version += 1
    const body = JSON.stringify({ summary: `${version}` })
    const call = { operation: 'seed change', method: 'PATCH', path: `/v1/seeds/${own}`, apiKey, body }
    if ((await insist(client, call, isEnding)).status === 200) ledger.acknowledgeVersion(own, version)
  }
  const evidence = () =>
    create('evidence', `/v1/seeds/${own}/evidence`, {
      ...{ summary: ledger.name(), kind: 'experiment', verdict: 'supports' },
    })
  const invite = () =>
    create('invite', `${workspace}/invites`, { email: `${ledger.name()}@example.com`, role: 'member' })
  const steps: [share: number, step: () => Promise<unknown>][] = [
    [0.45, () => read(reads)],
    [0.15, () => read(lists)],
    [0.15, createSeed],
    [0.08, () => create('team', `${workspace}/teams`, { name: ledger.name() })],
    [0.08, evidence],
    [0.05, update],
    [0.03, invite],
    [0.01, () => write('photo', '/v1/me/photo', upload.payload, upload.headers)],
  ]
  return () => {
    let point = Math.random()
    for (const [share, step] of steps) if ((point -= share) < 0) return step()
    return createSeed()
  }
}
