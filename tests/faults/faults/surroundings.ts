import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { conclude, judge, percentile, type Fault, type Outcome, type Settings } from '../fault.ts'
import { createClient, insist, underLoad, type LoadReport } from '../load.ts'
import type { MailSink } from '../parts/mail.ts'
import { execute, until } from '../parts/processes.ts'
import { root, type Stage } from '../stage.ts'

interface RedisFault extends Pick<Fault, 'name' | 'does'> {
  breaks: (redis: NonNullable<Stage['redis']>, settings: Settings) => Promise<void>
}

const redisFault = ({ name, does, breaks }: RedisFault): Fault => ({
  ...{ name, does },
  goal: 'nothing fails; requests take at most 50 ms longer; one warning in each replica',
  needs: ['redis-server'],
  stage: { hasRedis: true, environment: { RATE_LIMIT_PER_MINUTE: '1000000' } },
  async run(stage, settings) {
    const { redis, replicas } = stage
    if (!redis) throw new Error('there is no Redis')
    let from = 0
    let to = 0
    const report = await underLoad(
      stage,
      async (load) => {
        from = performance.now()
        await breaks(redis, settings)
        to = performance.now()
        load.isOver()
      },
      { beforeMs: 5_000 },
    )
    const outcome = judge(report, { allSucceed: true })
    // The same requests before and meanwhile: what is read, by the median and by the slow ones.
    const times = report.attempts.filter(({ operation }) => operation === 'me' || operation === 'seed')
    const before = times.filter(({ startedAt }) => startedAt < from).map(({ ms }) => ms)
    const meanwhile = times.filter((one) => one.startedAt >= from && one.startedAt < to).map(({ ms }) => ms)
    for (const [what, share] of [
      ['median', 0.5],
      ['p95', 0.95],
    ] as const) {
      const delayMs = Math.round(percentile(meanwhile, share) - percentile(before, share))
      outcome.notes.push(`${delayMs > 50 ? 'late: ' : ''}the ${what} changed by ${delayMs} ms`)
    }
    const warnings = await Promise.all(replicas.map(({ find }) => find(/"level":40.*redis/i)))
    if (warnings.some((lines) => lines.length !== 1))
      outcome.misses.push(`${warnings.map(({ length }) => length).join(', ')} warnings instead of one each`)
    return outcome
  },
})

interface MailFault extends Pick<Fault, 'name' | 'does'> {
  breaks: (mail: MailSink, settings: Settings, stage: Stage) => Promise<void>
  /** Whose mails need not come. */
  isExcepted?: (address: string) => boolean
}

const refused = 'refused@example.com'

const mailFault = ({ name, does, breaks, isExcepted = () => false }: MailFault): Fault => ({
  ...{ name, does },
  goal: 'nothing fails; every mail comes once within two minutes of the return',
  async run(stage, settings) {
    const report = await underLoad(
      stage,
      async (load) => {
        await breaks(stage.mail, settings, stage)
        load.isOver()
      },
      { workers: 6, thinkMs: 50 },
    )
    const outcome = judge(report, { allSucceed: true })
    await addMails(outcome, stage, report, isExcepted)
    return outcome
  },
})

/** Waits for the mails of the invites that were acknowledged, and tells of those that do not come or come twice. */
export async function addMails(
  outcome: Outcome,
  { mail }: Stage,
  { ledger }: LoadReport,
  isExcepted: (address: string) => boolean = () => false,
): Promise<void> {
  const awaited = ledger.invited().filter((address) => !isExcepted(address))
  const startedAt = performance.now()
  const areThere = () => awaited.every((address) => mail.taken.has(address))
  await until(areThere, 'the mails', 120_000).catch(() => undefined)
  const missing = awaited.filter((address) => !mail.taken.has(address))
  const twice = awaited.filter((address) => (mail.taken.get(address)?.length ?? 0) > 1)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  outcome.notes.push(`${awaited.length} mails, the last ${seconds} s after the load`)
  if (missing.length > 0) outcome.misses.push(`${missing.length} mails did not come within 120 s`)
  if (twice.length > 0) outcome.misses.push(`${twice.length} mails came twice`)
}

export const surroundingsFaults: Fault[] = [
  redisFault({
    name: 'redis-gone',
    does: 'Redis is killed, and started again after 10 s',
    async breaks(redis) {
      await redis.process().kill()
      await pause(10_000)
      await redis.start()
    },
  }),
  redisFault({
    name: 'redis-frozen',
    does: 'Redis is stopped (SIGSTOP) for 30 s',
    async breaks(redis, { isShort }) {
      await redis.process().freeze()
      await pause(isShort ? 10_000 : 30_000)
      await redis.process().thaw()
    },
  }),
  mailFault({
    name: 'mail-gone',
    does: 'the mail server refuses connections for 10 s',
    async breaks(mail) {
      await mail.stop()
      await pause(10_000)
      await mail.start()
    },
  }),
  mailFault({
    name: 'mail-frozen',
    does: 'the mail server takes connections and says nothing for 30 s',
    async breaks({ mood }, { isShort }) {
      mood.isFrozen = true
      await pause(isShort ? 10_000 : 30_000)
      mood.isFrozen = false
    },
  }),
  mailFault({
    name: 'mail-4xx',
    does: 'the mail server answers 451 for 10 s',
    async breaks({ mood }) {
      mood.answers = 451
      await pause(10_000)
      delete mood.answers
    },
  }),
  {
    ...mailFault({
      name: 'mail-5xx',
      does: 'the mail server refuses one recipient for good with 550',
      async breaks({ mood, taken }, _settings, { origin, callers }) {
        mood.refuses = { recipient: refused, with: 550 }
        const client = createClient(origin, 1)
        await insist(client, {
          ...{ operation: 'invite +', method: 'POST', path: `/v1/workspaces/${callers[0]?.slug}/invites` },
          ...{ apiKey: callers[0]?.apiKey ?? '', body: JSON.stringify({ email: refused, role: 'member' }) },
        })
        client.close()
        await pause(10_000)
        if (taken.has(refused)) throw new Error('the mail server did not refuse')
      },
      isExcepted: (address) => address === refused,
    }),
    goal: 'nothing fails; every other mail comes once',
  },
  {
    name: 'mail-away',
    does: 'the mail server is away for an hour, which the database pretends, and `retry-jobs --waiting` follows',
    goal: 'every mail comes once, at once',
    isInCi: true,
    async run({ mail, origin, callers, postgres, environment }) {
      await mail.stop()
      const client = createClient(origin, 4)
      const addresses = Array.from({ length: 20 }, (_, i) => `away-${i}@example.com`)
      for (const email of addresses)
        await insist(client, {
          ...{ operation: 'invite +', method: 'POST', path: `/v1/workspaces/${callers[0]?.slug}/invites` },
          ...{ apiKey: callers[0]?.apiKey ?? '', body: JSON.stringify({ email, role: 'member' }) },
        })
      client.close()
      const countJobs = async (condition: string) =>
        (await postgres.query<{ id: string }>(`select id from graphile_worker.jobs where ${condition}`))
          .length
      const isInvite = "task_identifier = 'send_invite'"
      const isWaiting = `${isInvite} and locked_at is null and last_error is not null`
      await until(async () => (await countJobs(isWaiting)) >= addresses.length, 'the failures', 20_000)
      // As after an hour: the next attempt is 50 minutes away.
      await postgres.query(
        `update graphile_worker._private_jobs set attempts = 8, run_at = now() + interval '50 minutes',
          created_at = created_at - interval '1 hour'
          where id in (select id from graphile_worker.jobs where ${isWaiting})`,
      )
      await mail.start()
      const program = join(root, 'dist/cli/admin.js')
      await execute(process.execPath, [program, 'retry-jobs', '--waiting'], { environment })
      const areThere = () => addresses.every((address) => mail.taken.has(address))
      await until(areThere, 'the mails', 20_000).catch(() => undefined)
      await until(async () => (await countJobs(isInvite)) === 0, 'the end of the jobs', 10_000).catch(
        () => undefined,
      )
      const missing = addresses.filter((address) => !mail.taken.has(address))
      const twice = addresses.filter((address) => (mail.taken.get(address)?.length ?? 0) > 1)
      return conclude([
        missing.length > 0 && `${missing.length} mails did not come`,
        twice.length > 0 && `${twice.length} mails came twice`,
      ])
    },
  },
]
