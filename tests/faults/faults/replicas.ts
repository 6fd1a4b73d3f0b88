import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as oauth from 'oauth4webapi'
import { Browser } from '../../support/browser.ts'
import { combine, conclude, judge, type Fault, type Outcome } from '../fault.ts'
import { createClient, underLoad, type Client } from '../load.ts'
import { until } from '../parts/processes.ts'
import { makeScratch, root, type Caller, type Replica, type Stage } from '../stage.ts'
import { addMails } from './surroundings.ts'

const clientOf = ({ origin }: Replica) => createClient(origin, 8)

function callerOf({ callers }: Stage): Caller {
  const [caller] = callers
  if (!caller) throw new Error('there are no callers')
  return caller
}

/** An agent is let in: registered, sent to a person who allows it, given a token. Each step goes where HAProxy sends it. */
async function letIn({ origin }: Stage, { email, password, workspaceId }: Caller, tokenOrigin = origin) {
  const redirectUri = 'https://agent.example/callback'
  const registered = await fetch(`${origin}/agent/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri], client_name: 'Robbie' }),
  })
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  const verifier = oauth.generateRandomCodeVerifier()
  const browser = new Browser(origin)
  await browser.signIn(email, password)
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state: 'some state' },
    ...{ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  })
  const page = await (await browser.open(`/agent/oauth/authorize?${query.toString()}`)).text()
  const action = /<form[^>]*action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1]
  if (action === undefined) throw new Error('there was nothing to consent to')
  const decided = await browser.submit(page, action, { decision: 'allow', workspaceId })
  const code = new URL(String(decided.headers.get('location'))).searchParams.get('code')
  const answer = await fetch(`${tokenOrigin}/agent/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: String(code), code_verifier: verifier },
      ...{ redirect_uri: redirectUri, client_id: clientId },
    }),
  })
  const tokens = (await answer.json()) as { access_token?: string; error?: string }
  if (tokens.access_token === undefined) throw new Error(`no token: ${JSON.stringify(tokens)}`)
  return tokens.access_token
}

/** The status with which each replica answers a token. */
const readKits = (replicas: readonly Replica[], token: string) =>
  Promise.all(
    replicas.map(async ({ origin }) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${origin}/agent/v1/validation-kit:read`, { method: 'POST', headers })).status
    }),
  )

async function makeKey(client: Client, apiKey: string): Promise<{ id: string; secret: string }> {
  const body = JSON.stringify({ name: randomUUID() })
  const made = await client.send({ operation: 'key +', method: 'POST', path: '/v1/api-keys', apiKey, body })
  if (made.status !== 200) throw new Error(`no key: ${made.body}`)
  return JSON.parse(made.body) as { id: string; secret: string }
}

/** The files that say how far the clocks of the replicas and of the database are ahead, in seconds. */
let clocks: Record<'replicas' | 'database', string>

/** How a program has the clock that a file says, by the library of faketime; what it measures goes on evenly. */
async function fakeClock(file: string): Promise<Record<string, string>> {
  const triplet = (await readdir('/usr/lib')).find((name) =>
    existsSync(`/usr/lib/${name}/faketime/libfaketime.so.1`),
  )
  return {
    LD_PRELOAD: `/usr/lib/${triplet}/faketime/libfaketime.so.1`,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}

const clockJump: Fault = {
  name: 'clock-jump',
  does: 'the clocks jump an hour ahead under load, and back after 10 s: of the replicas, then of all, as of one machine',
  goal: 'nothing fails; tokens from before and meanwhile hold',
  needs: ['faketime'],
  async stage(scope) {
    const folder = await makeScratch(scope)
    clocks = { replicas: join(folder, 'replicas'), database: join(folder, 'database') }
    for (const file of Object.values(clocks)) await writeFile(file, '+0')
    const environment = await fakeClock(clocks.replicas)
    return {
      databaseEnvironment: await fakeClock(clocks.database),
      replicaOf: () => ({ environment }),
    }
  },
  async run(stage) {
    const caller = callerOf(stage)
    const misses: string[] = []
    const jump = async (names: readonly (keyof typeof clocks)[], seconds: number) => {
      for (const name of names) await writeFile(clocks[name], `+${seconds}`)
      const aheadOf = {
        replicas: async () => {
          const answers = await Promise.all(stage.replicas.map(({ origin }) => fetch(`${origin}/health`)))
          return answers.map(({ headers }) => Date.parse(headers.get('date') ?? '') - Date.now())
        },
        database: async () => {
          const [row] = await stage.postgres.query<{ now: Date }>('select clock_timestamp() as now')
          return [Number(row?.now) - Date.now()]
        },
      }
      const isThere = (ms: number) => Math.abs(ms - seconds * 1_000) < 10_000
      for (const name of names)
        await until(async () => (await aheadOf[name]()).every(isThere), `the clock of the ${name}`)
    }
    const tokens = [await letIn(stage, caller)]
    const readAll = async (when: string) => {
      const statuses = (await Promise.all(tokens.map((token) => readKits(stage.replicas, token)))).flat()
      if (statuses.some((status) => status !== 200)) misses.push(`tokens ${when}: ${statuses.join(', ')}`)
    }
    const outcomes: Outcome[] = []
    for (const names of [['replicas'] as const, ['database', 'replicas'] as const]) {
      const report = await underLoad(stage, async () => {
        await jump(names, 3_600)
        // Less than an hour old where it was given, and known from there.
        tokens.push(await letIn(stage, caller))
        await pause(10_000)
        await jump(names, 0)
        await readAll(`after the clock of ${names.join(' and ')} was back`)
      })
      outcomes.push(judge(report, { allSucceed: true }))
    }
    const outcome = combine(outcomes)
    return { ...outcome, misses: [...outcome.misses, ...misses] }
  },
}

export const replicasFaults: Fault[] = [
  {
    name: 'five-start',
    does: 'five replicas start at once on an empty database',
    goal: 'all are ready within 30 s; each migration has run once',
    stage: { replicas: 5, isEmpty: true },
    async run({ replicas, postgres }) {
      const startedAt = performance.now()
      await Promise.all(replicas.map((replica) => replica.start()))
      const recoveryMs = Math.round(performance.now() - startedAt)
      const [row] = await postgres.query<{ n: number }>(
        'select count(*)::int n from drizzle.__drizzle_migrations',
      )
      const files = (await readdir(join(root, 'drizzle'))).filter((name) => name.endsWith('.sql'))
      return {
        ...conclude([
          row?.n !== files.length && `${row?.n} migrations have run, of ${files.length}`,
          recoveryMs > 30_000 && { late: `ready only after ${recoveryMs} ms` },
        ]),
        recoveryMs,
      }
    },
  },
  {
    name: 'revoked',
    does: 'a key is revoked on one replica and used on the others at once, 1,000 times',
    goal: 'refused by each on the next request',
    async run(stage, { isShort }) {
      const clients = stage.replicas.map(clientOf)
      const { apiKey } = callerOf(stage)
      const rounds = isShort ? 100 : 1_000
      let passed = 0
      let unknown = 0
      for (let i = 0; i < rounds; i++) {
        const [first, ...others] = [0, 1, 2].map((n) => clients[(i + n) % clients.length])
        if (!first) throw new Error('there are no replicas')
        const { id, secret } = await makeKey(first, apiKey)
        const use = () =>
          Promise.all(
            others.flatMap((one) =>
              one ? [one.send({ operation: 'me', path: '/v1/me', apiKey: secret })] : [],
            ),
          )
        unknown += (await use()).filter(({ status }) => status !== 200).length
        const path = `/v1/api-keys/${id}/revoke`
        const revoked = await first.send({ operation: 'revoke', method: 'POST', path, apiKey })
        if (revoked.status !== 200) throw new Error(`not revoked: ${revoked.body}`)
        passed += (await use()).filter(({ status }) => status !== 401).length
      }
      for (const client of clients) client.close()
      return {
        ...conclude([
          passed > 0 && `${passed} of ${rounds * 2} passed`,
          unknown > 0 && `${unknown} new keys were refused`,
        ]),
        ...{ requests: rounds * 6, failed: unknown },
      }
    },
  },
  {
    name: 'shared-limits',
    does: 'one caller sends 600 requests to three replicas where 200 a minute are allowed',
    goal: '200 pass',
    needs: ['redis-server'],
    stage: { hasRedis: true, environment: { RATE_LIMIT_PER_MINUTE: '200' } },
    async run(stage) {
      const clients = stage.replicas.map(clientOf)
      const { apiKey } = callerOf(stage)
      const answers = await Promise.all(
        clients.flatMap((client) =>
          Array.from({ length: 200 }, () => client.send({ operation: 'me', path: '/v1/me', apiKey })),
        ),
      )
      for (const client of clients) client.close()
      const passed = answers.filter(({ status }) => status === 200).length
      const others = answers.filter(({ status }) => ![200, 429].includes(status)).length
      return {
        ...conclude([passed !== 200 && `${passed} passed`, others > 0 && `${others} failed otherwise`]),
        ...{ requests: 600, failed: 600 - passed },
      }
    },
  },
  {
    name: 'jobs-once',
    does: 'three replicas do the jobs of a load',
    goal: 'nothing fails; each mail is sent once',
    async run(stage) {
      const report = await underLoad(stage, () => pause(8_000), { workers: 24, thinkMs: 5 })
      const outcome = judge(report, { allSucceed: true })
      await addMails(outcome, stage, report)
      return outcome
    },
  },
  {
    name: 'consent-across',
    does: 'agents are let in, each step on another replica, 20 times; each token is used on every replica',
    goal: 'every token is given and holds everywhere; one signing key',
    async run(stage) {
      const refused: string[] = []
      for (let i = 0; i < 20; i++) {
        const caller = stage.callers[i % stage.callers.length] ?? callerOf(stage)
        const given = await letIn(stage, caller).catch((error: unknown) => String(error))
        const statuses = given.startsWith('Error') ? [given] : await readKits(stage.replicas, given)
        refused.push(...statuses.filter((status) => status !== 200).map(String))
      }
      const keys = await stage.postgres.query('select 1 from signing_keys')
      return {
        ...conclude([
          refused.length > 0 && `${refused.length} refused: ${[...new Set(refused)].slice(0, 3).join(', ')}`,
          keys.length !== 1 && `${keys.length} signing keys`,
        ]),
        ...{ requests: 80, failed: refused.length },
      }
    },
  },
  {
    name: 'clock',
    does: 'the clock of one of three replicas is five minutes ahead',
    goal: 'nothing fails; codes and tokens of one replica hold on the others, both ways',
    needs: ['faketime'],
    stage: {
      replicaOf: (i) =>
        i === 1
          ? { wrapper: ['faketime', '-f', '+5m'], environment: { FAKETIME_DONT_FAKE_MONOTONIC: '1' } }
          : {},
    },
    async run(stage) {
      const report = await underLoad(stage, () => pause(5_000))
      const outcome = judge(report, { allSucceed: true })
      for (const { origin } of stage.replicas.slice(0, 2)) {
        const where = origin === stage.replicas[1]?.origin ? 'ahead' : 'right'
        const refused: string[] = []
        // The code is from any of the three.
        for (let i = 0; i < 9; i++) {
          const token = await letIn(stage, callerOf(stage), origin).catch((error: unknown) => String(error))
          const statuses = token.startsWith('Error') ? [token] : await readKits(stage.replicas, token)
          if (statuses.some((status) => status !== 200)) refused.push(statuses.join(', '))
        }
        if (refused.length > 0)
          outcome.misses.push(`${refused.length} of 9 failed where the clock is ${where}: ${refused[0]}`)
      }
      return outcome
    },
  },
  clockJump,
]
