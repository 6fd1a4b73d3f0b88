import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it, vi } from 'vitest'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'
import { createCompany } from '../support/company.ts'
import { findPort, makeDirectory, startService, stopService, until } from './service.ts'

vi.setConfig({ testTimeout: 120_000 })

const kills = 3
const clients = 8

/** A POST that is sent, with one key, until it is answered. */
interface Intent {
  key: string
  path: string
  body: object
  /** The id of what is created, in an answer. */
  idOf: (answer: unknown) => string
}

it('kill -9 while POSTs with an Idempotency-Key are answered loses and doubles nothing', async () => {
  const environment = {
    DATABASE_URL: await clone(),
    RATE_LIMIT_PER_MINUTE: '0',
    INVITE_LIMIT_PER_HOUR: '0',
  }
  const { as, createPerson, db } = await startTestApp({ environment })
  const { url, owner } = await createCompany({ as, createPerson, db })
  const port = await findPort()
  const options = { dataDir: await makeDirectory(), port, environment }

  let isOver = false
  const answered = new Set<string>()
  const unanswered: Intent[] = []
  const refused: unknown[] = []

  /** Sends a request as a client does that trusts its key: one without an answer is sent again later. */
  async function send(intent: Intent): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${port}${intent.path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${owner.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': intent.key,
      },
      body: JSON.stringify(intent.body),
    })
      .then(async (response) => ({
        status: response.status,
        body: (await response.json()) as { code?: string },
      }))
      // Refused, or broken off.
      .catch(() => ({ status: 0, body: undefined }))
    if (answer.status === 200) answered.add(intent.idOf(answer.body))
    else if ([0, 503].includes(answer.status) || answer.body?.code === 'idempotency_in_flight')
      unanswered.push(intent)
    else refused.push(answer)
  }

  const intend = (count: number): Intent[] => [
    {
      key: randomUUID(),
      path: `${url}/seeds`,
      body: { title: `Seed ${count}`, summary: 'An idea' },
      idOf: (answer) => (answer as { seed: { id: string } }).seed.id,
    },
    {
      key: randomUUID(),
      path: `${url}/teams`,
      body: { name: `Team ${count}` },
      idOf: (answer) => (answer as { team: { id: string } }).team.id,
    },
    {
      key: randomUUID(),
      path: `${url}/invites`,
      body: { email: `person-${count}@example.com`, role: 'member' },
      idOf: (answer) => (answer as { invite: { id: string } }).invite.id,
    },
  ]

  let count = 0
  const work = async () => {
    while (!isOver) for (const intent of intend((count += 1))) await send(intent)
  }
  for (let kill = 0; kill < kills; kill++) {
    const service = await startService(options)
    const { size } = answered
    isOver = false
    const working = Array.from({ length: clients }, work)
    // At a random moment of the work.
    const enough = size + 20 + randomInt(60)
    await until(() => answered.size >= enough)
    service.signal('SIGKILL')
    isOver = true
    await Promise.all([service.ended, ...working])
  }
  expect(unanswered.length).toBeGreaterThan(0)
  const last = await startService(options)
  await until(async () => {
    for (const intent of unanswered.splice(0)) await send(intent)
    return unanswered.length === 0
  })
  expect(await stopService(last)).toBe(0)

  expect(refused).toEqual([])
  const made = await selectRows<{ id: string; events: number }>(
    db,
    sql`select id, (select count(*)::int from events where target_id = made.id) as events
      from (select id from seeds union all select id from teams union all select id from invites) made`,
  )
  expect(made.map(({ id }) => id).toSorted()).toEqual([...answered].toSorted())
  expect(made.filter(({ events }) => events !== 1)).toEqual([])
})
