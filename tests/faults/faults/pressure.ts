import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import sharp from 'sharp'
import { buildUpload } from '../../support/forms.ts'
import { combine, conclude, isExcess, judge, percentile, summarize, type Fault } from '../fault.ts'
import { createClient, insist, underLoad, type Attempt, type Client } from '../load.ts'
import { createMemoryGroup, type MemoryGroup } from '../parts/memory-groups.ts'
import { measureProcess } from '../parts/processes.ts'
import type { Stage } from '../stage.ts'

// Too little to decode a large picture.
const smallMiB = 96

const isServed = ({ status }: Attempt) => status >= 200 && status < 300

/** A request of somebody: mostly lists, which are dear, and some that write. */
function sendSome(client: Client, { callers }: Stage, round: number): Promise<Attempt> {
  const caller = callers[round % callers.length]
  const path = `/v1/workspaces/${caller?.slug}/seeds`
  const apiKey = caller?.apiKey ?? ''
  if (round % 5 > 0) return client.send({ operation: 'list', path: `${path}?limit=50`, apiKey })
  const body = JSON.stringify({ title: randomUUID(), summary: 'x'.repeat(200) })
  return client.send({ operation: 'seed +', method: 'POST', path, apiKey, body })
}

/** Sends at a rate, whatever is answered. */
async function sendAt(stage: Stage, client: Client, perSecond: number, ms: number): Promise<Attempt[]> {
  const sent: Promise<Attempt>[] = []
  const startedAt = performance.now()
  for (let now = startedAt; now < startedAt + ms; now = performance.now()) {
    const due = ((now - startedAt) / 1_000) * perSecond
    while (sent.length < due) sent.push(sendSome(client, stage, sent.length))
    await pause(5)
  }
  return Promise.all(sent)
}

/** What is served in a second, at most, when so many always wait. */
async function measureCapacity(stage: Stage, client: Client, ms: number): Promise<number> {
  const end = performance.now() + ms
  let served = 0
  await Promise.all(
    Array.from({ length: 24 }, async (_, i) => {
      for (let round = i; performance.now() < end; round += 7)
        if (isServed(await sendSome(client, stage, round))) served += 1
    }),
  )
  return (served / ms) * 1_000
}

export const overload: Fault = {
  name: 'overload',
  does: 'three times what one replica can do, for a minute',
  goal: 'what is not served is 503 with Retry-After; p99 of the served below ten times the normal; /health and /ready answer within 1 s; normal within 5 s of the end',
  stage: { replicas: 1 },
  async run(stage, { isShort }) {
    const [replica] = stage.replicas
    if (!replica) throw new Error('there is no replica')
    const client = createClient(stage.origin, 4_000)
    await sendAt(stage, client, 50, 3_000)
    const capacity = await measureCapacity(stage, client, 5_000)
    const normal = percentile(timesOf(await sendAt(stage, client, capacity / 2, 5_000)), 0.99)
    const system = createClient(replica.origin, 4)
    const looks: Attempt[] = []
    let isOver = false
    const looking = (async () => {
      while (!isOver as boolean) {
        for (const path of ['/health', '/ready']) looks.push(await system.send({ operation: path, path }))
        await pause(100)
      }
    })()
    const startedAt = performance.now()
    const sending = sendAt(stage, client, capacity * 3, isShort ? 15_000 : 60_000)
    await pause(isShort ? 15_000 : 60_000)
    const endedAt = performance.now()
    const recoveryMs = await untilNormal(stage, endedAt, normal * 10)
    const sent = await sending
    isOver = true
    await looking
    client.close()
    system.close()
    const served = sent.filter(isServed)
    const shed = sent.filter(
      (one) => (one.status === 503 || isExcess(one.code)) && one.retryAfterSeconds !== undefined,
    )
    const byProxy = shed.filter(({ code }) => code === 'proxy').length
    const others = sent.filter((one) => !served.includes(one) && !shed.includes(one))
    const p99 = percentile(timesOf(served), 0.99)
    const unanswered = looks.filter((one) => !isServed(one))
    const slow = looks.filter((one) => one.ms > 1_000)
    const rate = sent.length / ((endedAt - startedAt) / 1_000)
    return {
      ...conclude(
        [
          others.length > 0 && `${others.length} were neither served nor 503: ${summarize(others)}`,
          p99 > normal * 10 && {
            late: `p99 of the served was ${Math.round(p99)} ms, normal is ${Math.round(normal)} ms`,
          },
          unanswered.length > 0 && `${unanswered.length} of ${looks.length} /health and /ready failed`,
          slow.length > 0 && {
            late: `${slow.length} of ${looks.length} /health and /ready took more than 1 s`,
          },
          recoveryMs > 5_000 && { late: `normal again only after ${recoveryMs} ms` },
        ],
        `${Math.round(capacity)}/s is what it can do, ${Math.round(rate)}/s were sent, ` +
          `${served.length} served (p99 ${Math.round(p99)} ms, normal ${Math.round(normal)} ms), ${shed.length} shed, ${byProxy} of them by HAProxy`,
      ),
      ...{ requests: sent.length, failed: sent.length - served.length, recoveryMs },
      slowestMs: Math.round(sent.reduce((most, { ms }) => Math.max(most, ms), 0)),
    }
  },
}

const timesOf = (attempts: readonly Attempt[]) => attempts.map(({ ms }) => ms)

/** When ten requests in a row are served as fast as usual: how long after the end the first of them was sent. */
async function untilNormal(stage: Stage, endedAt: number, msMax: number): Promise<number> {
  const client = createClient(stage.origin, 4)
  let since = performance.now()
  for (let good = 0, round = 0; good < 10 && performance.now() < endedAt + 60_000; round++) {
    const attempt = await sendSome(client, stage, round * 5 + 1)
    if (isServed(attempt) && attempt.ms <= msMax) good += 1
    else {
      good = 0
      since = performance.now()
    }
    await pause(20)
  }
  client.close()
  return Math.round(since - endedAt)
}

let groups: MemoryGroup[]

/** The largest picture that is taken, over and over, until it is said to be over. */
async function uploadLarge({ origin, callers }: Stage, isOver: () => boolean): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  const client = createClient(origin, 4, attempts)
  const picture = await sharp({ create: { width: 5_000, height: 5_000, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const { headers, payload } = buildUpload(picture)
  await Promise.all(
    callers.slice(0, 4).map(async ({ apiKey }) => {
      while (!isOver())
        await insist(client, {
          ...{ operation: 'large photo', method: 'POST', path: '/v1/me/photo', apiKey, body: payload },
          headers: { ...headers, 'idempotency-key': randomUUID() },
        })
    }),
  )
  client.close()
  return attempts
}

export const memoryLimit: Fault = {
  name: 'memory-limit',
  does: `each replica in a control group of 768 MiB, as in deploy/kubernetes, with four uploads of 25 megapixels at a time; then one in ${smallMiB} MiB, started again whenever the kernel kills it`,
  goal: 'with 768 MiB nothing fails; where the kernel kills, nothing acknowledged is lost, doubled or refused',
  async stage(scope) {
    groups = await Promise.all([0, 1, 2].map(() => createMemoryGroup(scope)))
    for (const group of groups) await group.limit(768)
    return { replicaOf: (i) => ({ wrapper: groups[i]?.wrapper ?? [] }) }
  },
  async run(stage, { isShort }) {
    const ms = isShort ? 5_000 : 15_000
    const large: Attempt[] = []
    const measure = (work: () => Promise<unknown>) =>
      underLoad(stage, async (load) => {
        let isOver = false
        const uploads = uploadLarge(stage, () => isOver)
        await work()
        isOver = true
        large.push(...(await uploads))
        load.isOver()
      })
    const enough = judge(await measure(() => pause(ms)), { allSucceed: true })
    const failed = large.filter((one) => !isServed(one))
    if (failed.length > 0) enough.misses.push(`large uploads: ${summarize(failed)}`)
    const peaks = await Promise.all(groups.map(({ readPeakMiB }) => readPeakMiB()))
    const [replica] = stage.replicas
    const [group] = groups
    if (!replica || !group) throw new Error('there is no replica')
    await replica.stop()
    await group.limit(smallMiB)
    await replica.start()
    const small = await measure(async () => {
      for (const end = performance.now() + ms; performance.now() < end;) {
        await Promise.race([replica.process().ended, pause(end - performance.now())])
        if (!replica.process().isRunning()) await replica.start()
      }
    })
    const outcome = judge(small, { recoveryMsMax: 5_000 })
    const kills = await group.countKills()
    if (kills === 0) outcome.misses.push('the kernel has killed nothing')
    enough.notes.push(`at most ${Math.max(...peaks)} MiB of 768 in use`)
    outcome.notes.push(`with ${smallMiB} MiB killed ${kills} times`)
    return combine([enough, outcome])
  },
}

interface Sample {
  memoryMiB: number
  handles: number
  connections: number
  jobs: number
}

export const soak: Fault = {
  name: 'soak',
  does: 'mixed load for 20 minutes',
  goal: 'nothing fails; memory, handles, connections and jobs are as in the first half at the end; no error and no warning in the log',
  async run(stage, { minutes }) {
    const samples: Sample[] = []
    const report = await underLoad(stage, async () => {
      // What is loaded and compiled at first is no leak.
      await pause(minutes * 60_000 * 0.1)
      const end = performance.now() + minutes * 60_000 * 0.9
      while (performance.now() < end) {
        samples.push(await takeSample(stage))
        await pause(Math.min(10_000, minutes * 1_000))
      }
    })
    const half = Math.floor(samples.length / 2)
    const outcome = judge(report, { allSucceed: true })
    for (const [what, slack] of [
      ['memoryMiB', 30],
      ['handles', 10],
      ['connections', 5],
      ['jobs', 10],
    ] as const) {
      const before = percentile(
        samples.slice(0, half).map((sample) => sample[what]),
        0.5,
      )
      const after = percentile(
        samples.slice(-Math.ceil(half / 2)).map((sample) => sample[what]),
        0.5,
      )
      outcome.notes.push(`${what} ${before} to ${after}`)
      if (after > before * 1.1 + slack) outcome.misses.push(`${what} grew from ${before} to ${after}`)
    }
    const found = await Promise.all(
      stage.replicas.map(({ find }) => find(/"level":(40|50|60)|MaxListeners|nhandled/)),
    )
    // All processes of a fault are on this machine, of which the service warns at its start.
    const complaints = found.map((lines) =>
      lines.filter((line) => !line.includes('BASE_URL names this machine')),
    )
    if (complaints.some((lines) => lines.length > 0))
      outcome.misses.push(
        `${complaints.map(({ length }) => length).join(', ')} warnings and errors in the logs, such as ${complaints.flat()[0]}`,
      )
    outcome.notes.push(`${minutes} minutes`)
    return outcome
  },
}

async function takeSample({ replicas, postgres }: Stage): Promise<Sample> {
  const measured = await Promise.all(replicas.map(({ process }) => measureProcess(process().pid)))
  const [row] = await postgres.query<{ connections: number; jobs: number }>(
    `select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') connections,
       (select count(*)::int from graphile_worker.jobs) jobs`,
  )
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return {
    memoryMiB: sum(measured.map(({ memoryMiB }) => memoryMiB)),
    handles: sum(measured.map(({ handles }) => handles)),
    connections: row?.connections ?? 0,
    jobs: row?.jobs ?? 0,
  }
}
