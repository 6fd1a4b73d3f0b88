import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { drawNoise } from '../../support/images.ts'
import { buildUpload } from '../../support/forms.ts'
import { conclude, judge, type Fault } from '../fault.ts'
import { createClient, insist, underLoad } from '../load.ts'
import { until } from '../parts/processes.ts'
import type { Caller, Replica, Stage } from '../stage.ts'

export const rollingRestart: Fault = {
  name: 'rolling-restart',
  does: 'SIGTERM to one replica after the other, each started again, with slow uploads and slow readers under way',
  goal: 'nothing fails; a replica listens for a second after the signal, and says Connection: close',
  async run(stage) {
    const misses: string[] = []
    const report = await underLoad(stage, async (load) => {
      misses.push(...(await restartInTurns(stage, stage.replicas)))
      load.isOver()
    })
    const outcome = judge(report, { allSucceed: true })
    return { ...outcome, misses: [...outcome.misses, ...misses] }
  },
}

/** Restarts one replica after the other, with slow uploads and slow readers under way. Gives what was missed. */
export async function restartInTurns(stage: Stage, replicas: readonly Replica[]): Promise<string[]> {
  const [first, second] = stage.callers
  if (!first || !second) throw new Error('there are no callers')
  const upload = buildUpload(await drawNoise(512).png().toBuffer())
  let isOver = false
  const works = [() => uploadSlowly(stage, first, upload), () => readSlowly(stage, second)]
  const slow = [...works, ...works, ...works].map((work) => repeat(work, () => isOver))
  const drains: Drain[] = []
  for (const replica of replicas) {
    const drain = watchDrain(replica)
    await replica.stop()
    drains.push(await drain)
    await replica.start()
    // HAProxy has to find it.
    await pause(1_500)
  }
  isOver = true
  const broken = (await Promise.all(slow)).flat()
  const listens = drains.map(({ listensMs }) => listensMs)
  const misses: string[] = []
  if (broken.length > 0) misses.push(`${broken.length} slow ones failed: ${broken.slice(0, 3).join(', ')}`)
  if (Math.min(...listens) < 1_000) misses.push(`listens ${listens.join(', ')} ms after the signal`)
  if (!drains.every(({ saysClose }) => saysClose)) misses.push('connections are not told to close')
  return misses
}

async function repeat(work: () => Promise<string | undefined>, isOver: () => boolean): Promise<string[]> {
  const failures: string[] = []
  while (!isOver()) {
    const failure = await work()
    if (failure !== undefined) failures.push(failure)
  }
  return failures
}

/** An upload that takes three seconds. Gives what went wrong. */
function uploadSlowly(
  { origin }: Stage,
  { apiKey }: Caller,
  { headers, payload }: ReturnType<typeof buildUpload>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = httpRequest(
      `${origin}/v1/me/photo`,
      {
        method: 'POST',
        agent: false,
        headers: { ...headers, authorization: `Bearer ${apiKey}`, 'content-length': payload.length },
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('close', () =>
          resolve(
            answer.statusCode === 200
              ? undefined
              : `upload ${answer.statusCode} ${Buffer.concat(chunks).toString()}`,
          ),
        )
      },
    )
    request.on('error', ({ message }) => resolve(`upload ${message}`))
    void (async () => {
      const size = Math.ceil(payload.length / 30)
      for (let at = 0; at < payload.length; at += size) {
        request.write(payload.subarray(at, at + size))
        await pause(100)
      }
      request.end()
    })()
  })
}

/** Reads the API description, half a megabyte and more, over three seconds. */
function readSlowly({ origin }: Stage, { apiKey }: Caller): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const request = httpRequest(`${origin}/openapi.json`, { agent: false, headers }, (answer) => {
      const timer = setInterval(() => void answer.read(), 250)
      answer.on('readable', () => undefined)
      answer.once('close', () => {
        clearInterval(timer)
        resolve(answer.complete && answer.statusCode === 200 ? undefined : `reader ${answer.statusCode}`)
      })
    })
    request.on('error', ({ message }) => resolve(`reader ${message}`))
    request.end()
  })
}

interface Drain {
  listensMs: number
  saysClose: boolean
}

/** Watches a replica that is stopped now: how long it listens, and what it says while it is not ready. */
async function watchDrain({ port, process }: Replica): Promise<Drain> {
  const signalledAt = performance.now()
  let listensMs = 0
  let saysClose = false
  while (process().isRunning()) {
    const answer = await askOnce(port)
    if (answer === undefined) break
    listensMs = Math.round(performance.now() - signalledAt)
    if (answer.includes(' 503 ')) saysClose ||= /^connection: close/im.test(answer)
    await pause(20)
  }
  return { listensMs, saysClose }
}

function askOnce(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.setEncoding('utf8')
    socket.once('error', () => resolve(undefined))
    socket.once('close', () => resolve(undefined))
    socket.once('data', (text: string) => {
      resolve(text)
      socket.destroy()
    })
    socket.write('GET /ready HTTP/1.1\r\nHost: x\r\n\r\n')
  })
}

export const kills: Fault = {
  name: 'kill-9',
  does: 'SIGKILL to a replica under load, ten times, in turns, each started again',
  goal: 'nothing acknowledged is lost; with Idempotency-Key and retries nothing is there twice or refused',
  isInCi: true,
  async run(stage, { isShort }) {
    const report = await underLoad(
      stage,
      async (load) => {
        for (let i = 0; i < (isShort ? 3 : 10); i++) {
          const replica = stage.replicas[i % stage.replicas.length]
          await replica?.process().kill()
          await replica?.start()
          await pause(1_200)
        }
        load.isOver()
      },
      // Mostly writing, so that some are always under way.
      { workers: 24, thinkMs: 5 },
    )
    return judge(report, { recoveryMsMax: 3_000 })
  },
}

export const killedJobs: Fault = {
  name: 'killed-jobs',
  does: 'SIGKILL to the replica that holds two jobs, and five times just after a mail was taken',
  goal: 'the jobs run on another replica within 60 s; a mail that comes twice has the same Message-ID',
  stage: { replicas: 1 },
  async run(stage) {
    const { mail, replicas, postgres } = stage
    const [replica] = replicas
    if (!replica) throw new Error('there is no replica')
    mail.mood.isFrozen = true
    const held = await invite(stage, replica, 2)
    const countHeld = () =>
      postgres.query<{ n: number }>(
        'select count(*)::int n from graphile_worker.jobs where locked_at is not null',
      )
    await until(async () => (await countHeld())[0]?.n === 2, 'two jobs to run')
    const other = await stage.addReplica()
    await replica.process().kill()
    mail.mood.isFrozen = false
    const killedAt = performance.now()
    const areSent = () => held.every((address) => mail.taken.has(address))
    const inTime = await until(areSent, 'the mails', 180_000).then(
      () => true,
      () => false,
    )
    const recoveryMs = Math.round(performance.now() - killedAt)

    const later: string[] = []
    for (let i = 0; i < 5; i++) {
      const [address = ''] = await invite(stage, other, 1)
      later.push(address)
      // Without a pause: the answer to the mail is on its way.
      while (!mail.taken.has(address)) await new Promise((done) => setImmediate(done))
      await other.process().kill()
      await other.start()
    }
    // Whoever holds them is no more: as an operator would, sooner than by itself.
    await postgres.query(
      'select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs',
    )
    const countLeft = () => postgres.query('select 1 from graphile_worker.jobs')
    await until(async () => (await countLeft()).length === 0, 'the jobs to be done', 60_000)
    const all = [...held, ...later].map((address) => mail.taken.get(address) ?? [])
    const twice = all.filter((ids) => ids.length > 1)
    const different = twice.filter((ids) => new Set(ids).size > 1)
    return {
      ...conclude(
        [
          !inTime && 'the jobs did not run within three minutes',
          inTime && recoveryMs > 60_000 && { late: `the jobs ran again only after ${recoveryMs} ms` },
          different.length > 0 && `${different.length} mails came twice with another Message-ID`,
        ],
        `${twice.length} of ${all.length} mails came twice`,
      ),
      lost: all.filter((ids) => ids.length === 0).length,
      doubled: different.length,
      recoveryMs,
    }
  },
}

async function invite({ callers }: Stage, replica: Replica, count: number): Promise<string[]> {
  const client = createClient(replica.origin, 4)
  const [caller] = callers
  const addresses = Array.from({ length: count }, () => `${randomUUID()}@example.com`)
  for (const email of addresses) {
    const { status, body } = await insist(client, {
      ...{ operation: 'invite', method: 'POST', path: `/v1/workspaces/${caller?.slug}/invites` },
      ...{ apiKey: caller?.apiKey ?? '', body: JSON.stringify({ email, role: 'member' }) },
    })
    if (status !== 200) throw new Error(`the invite was refused: ${body}`)
  }
  client.close()
  return addresses
}
