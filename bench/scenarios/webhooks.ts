import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { below } from '../compare.ts'
import type { Area, Subject } from '../harness.ts'
import { percentile, type Row } from '../report.ts'
import { startService } from '../compared-servers.ts'
import { openWriteDatabase, type WriteDatabase } from '../write-database.ts'
import { keepJobs } from './writes.ts'

const workspaces = 10
const eventsPerSecond = 100
const seconds = 10
const waitMsMax = 30_000
const name = `${eventsPerSecond} events a second, in ${workspaces} workspaces with a webhook each`

/** How soon events are sent to webhooks. */
export const webhooks: Area = {
  name: 'webhooks',
  title: 'From the response of a change to the first request to a webhook',
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    const subject = await startService(bench, await bench.copy('webhooks', original, keepJobs))
    return [{ name, run: () => measure(subject, original) }]
  },
}

async function measure(subject: Subject, database: WriteDatabase): Promise<readonly Row[]> {
  /** When each team was sent to the webhook, by its name. */
  const sentAt = new Map<string, number>()
  const receiver = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.once('end', () => {
      const { data } = JSON.parse(body) as { data: { data: { teamName: string } } }
      sentAt.set(data.data.teamName, performance.now())
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  try {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    for (let place = 0; place < workspaces; place++)
      await post(subject, database, { place, path: 'webhooks', body: { url, types: ['team.created'] } })
    const doneAt = await createTeams(subject, database)
    const giveUpAt = performance.now() + waitMsMax
    while (sentAt.size < doneAt.size && performance.now() < giveUpAt) await setTimeout(50)
    const tookMs = Array.from(doneAt, ([team, at]) => Math.max(0, (sentAt.get(team) ?? Infinity) - at))
    const row = { request: name, server: 'this service' }
    return [
      { ...row, values: [percentile(tookMs, 0.5)], unit: 'ms, p50' },
      { ...row, values: [percentile(tookMs, 0.99)], unit: 'ms, p99', goal: below(1_000) },
    ]
  } finally {
    receiver.close()
    receiver.closeAllConnections()
  }
}

/** Creates teams at a constant rate. Returns when each was answered, by its name. */
async function createTeams(subject: Subject, database: WriteDatabase): Promise<Map<string, number>> {
  const doneAt = new Map<string, number>()
  const begun: Promise<unknown>[] = []
  const startedAt = performance.now()
  for (let i = 0; i < eventsPerSecond * seconds; i++) {
    await setTimeout(startedAt + (i * 1_000) / eventsPerSecond - performance.now())
    const team = `Team ${i} of ${startedAt}`
    const request = { place: i % workspaces, path: 'teams', body: { name: team } }
    begun.push(post(subject, database, request).then(() => doneAt.set(team, performance.now())))
  }
  await Promise.all(begun)
  return doneAt
}

async function post(
  { origin }: Subject,
  { callers, slugs }: WriteDatabase,
  { place, path, body }: { place: number; path: string; body: object },
): Promise<void> {
  const answer = await fetch(`${origin}/v1/workspaces/${slugs[place]}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${callers[place]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
}
