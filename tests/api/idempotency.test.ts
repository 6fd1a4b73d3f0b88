import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createIdempotencyStore,
  deleteExpiredIdempotentRequests,
} from '../../src/access/idempotency.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { deriveKey, unseal } from '../../src/kernel/sealing.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { countWaiting, untilWaiting } from '../support/until-waiting.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, config, createPerson, db } = service

const create = (idempotencyKey: string, name = 'Once') => ({
  method: 'POST' as const,
  url: '/v1/api-keys',
  headers: { 'idempotency-key': idempotencyKey },
  payload: { name },
})

interface CreatedKey {
  id: string
  secret: string
}

const countKeys = async ({ id }: TestPerson) =>
  (
    await selectRows<{ count: number }>(
      db,
      // The first one is that of the person.
      sql`select count(*)::int - 1 as count from api_keys where user_id = ${id}`,
    )
  )[0]?.count

const findStored = ({ apiKeyId }: TestPerson) =>
  selectRows(db, sql`select * from idempotent_requests where api_key_id = ${apiKeyId}`)

describe('a retry with the same Idempotency-Key', () => {
  it('returns the same bytes, and does not execute the request again', async () => {
    const person = await createPerson()
    const first = await as(person, create('retry-1'))
    expect(first.statusCode).toBe(200)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    for (let i = 0; i < 3; i++) {
      const again = await as(person, create('retry-1'))
      expect(again.statusCode).toBe(200)
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
      expect(again.rawPayload.equals(first.rawPayload)).toBe(true)
      expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    }
    const { secret } = first.json<CreatedKey>()
    expect((await as({ apiKey: secret }, { url: '/v1/me' })).statusCode).toBe(200)
    expect(await countKeys(person)).toBe(1)
  })

  it('accepts the API key in the other header', async () => {
    const person = await createPerson()
    const first = await as(person, create('other-header'))
    const again = await app.inject({
      ...create('other-header'),
      headers: { 'idempotency-key': 'other-header', 'x-api-key': person.apiKey },
    })
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect(await countKeys(person)).toBe(1)
  })

  it('accepts the same JSON in another spelling', async () => {
    const person = await createPerson()
    const first = await as(person, create('other-words'))
    const again = await as(person, {
      ...create('other-words'),
      headers: { 'idempotency-key': 'other-words', 'content-type': 'application/json; charset=utf-8' },
      payload: '{ "name": "\\u004fnce" }\n',
    })
    expect(again.body).toBe(first.body)
    expect(await countKeys(person)).toBe(1)
  })

  it('executes each request without an Idempotency-Key', async () => {
    const person = await createPerson()
    const request = { ...create(''), headers: {} }
    await as(person, request)
    await as(person, request)
    expect(await countKeys(person)).toBe(2)
    expect(await findStored(person)).toEqual([])
  })

  it('replays the response of an operation without a body', async () => {
    const person = await createPerson()
    const { id } = (await as(person, create('to-revoke'))).json<CreatedKey>()
    const revoke = {
      method: 'POST' as const,
      url: `/v1/api-keys/${id}/revoke`,
      headers: { 'idempotency-key': 'revoke-it' },
    }
    const answers = [await as(person, revoke), await as(person, revoke)]
    expect(answers.map((answer) => answer.json<unknown>())).toEqual([{ ok: true }, { ok: true }])
    expect(answers.map((answer) => answer.headers['idempotent-replayed'])).toEqual([undefined, 'true'])
  })

  it('returns the same 409 again, even when its cause is gone', async () => {
    const person = await createPerson()
    await db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select gen_random_uuid(), ${person.id}, 'Filler', sha256(gen_random_uuid()::text::bytea), 'a', 'z', now()
      from generate_series(1, 99)`)
    const first = await as(person, create('limit'))
    expectError(first, errors.apiKeyLimit)
    await db.execute(sql`delete from api_keys where user_id = ${person.id} and name = 'Filler'`)
    const again = await as(person, create('limit'))
    expect(again.statusCode).toBe(409)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect((await as(person, create('limit-2'))).statusCode).toBe(200)
    expect(await countKeys(person)).toBe(1)
  })

  it('returns the same 404 again', async () => {
    const person = await createPerson()
    const revoke = {
      method: 'POST' as const,
      url: `/v1/api-keys/${createId()}/revoke`,
      headers: { 'idempotency-key': 'no-such-key' },
    }
    const answers = [await as(person, revoke), await as(person, revoke)]
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404])
    expect(answers[1]?.body).toBe(answers[0]?.body)
  })
})

describe('another request with the same Idempotency-Key', () => {
  it('returns 409 idempotency_key_reused when the body differs', async () => {
    const person = await createPerson()
    await as(person, create('reused', 'One'))
    expectError(await as(person, create('reused', 'Other')), errors.idempotencyKeyReused)
    expect(await countKeys(person)).toBe(1)
    expect((await as(person, create('reused', 'One'))).headers['idempotent-replayed']).toBe('true')
  })

  it('returns 409 idempotency_key_reused when the path differs', async () => {
    const person = await createPerson()
    const { id } = (await as(person, create('reused-path'))).json<CreatedKey>()
    const answer = await as(person, {
      method: 'POST',
      url: `/v1/api-keys/${id}/revoke`,
      headers: { 'idempotency-key': 'reused-path' },
    })
    expectError(answer, errors.idempotencyKeyReused)
    const rows = await selectRows(db, sql`select revoked_at from api_keys where id = ${id}`)
    expect(rows).toEqual([{ revoked_at: null }])
  })

  it('executes the request when another user sends it', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    const first = (await as(person, create('shared'))).json<CreatedKey>()
    const theirs = await as(other, create('shared', 'Theirs'))
    expect(theirs.statusCode).toBe(200)
    expect(theirs.headers['idempotent-replayed']).toBeUndefined()
    expect(theirs.json<CreatedKey>().secret).not.toBe(first.secret)
    expect([await countKeys(person), await countKeys(other)]).toEqual([1, 1])
  })

  it('executes the request when another API key of the same user sends it', async () => {
    const person = await createPerson()
    const second = (await as(person, create('first-key'))).json<CreatedKey>()
    const answer = await as({ apiKey: second.secret }, create('first-key'))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['idempotent-replayed']).toBeUndefined()
    expect(await countKeys(person)).toBe(2)
  })

  it('validates the request first, and returns 400 for an invalid body', async () => {
    const person = await createPerson()
    await as(person, create('form-first'))
    const answer = await as(person, { ...create('form-first'), payload: { name: '' } })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['idempotent-replayed']).toBeUndefined()
  })
})

describe('concurrent requests with the same Idempotency-Key', () => {
  it('executes one of 8 concurrent requests', async () => {
    const person = await createPerson()
    const answers = await Promise.all(Array.from({ length: 8 }, () => as(person, create('race'))))
    const fresh = answers.filter(
      (answer) => answer.statusCode === 200 && !('idempotent-replayed' in answer.headers),
    )
    expect(fresh).toHaveLength(1)
    for (const answer of answers) {
      if (answer.statusCode === 200) expect(answer.body).toBe(fresh[0]?.body)
      else expectError(answer, errors.idempotencyInFlight)
    }
    expect(await countKeys(person)).toBe(1)
  })

  it('returns 409 idempotency_in_flight with Retry-After while the first request is in progress, and its response afterwards', async () => {
    const person = await createPerson()
    const blocker = new pg.Client({ connectionString: config.databaseUrl })
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('select from users where id = $1 for update', [person.id])
    const first = as(person, create('slow'))
    await eventually(async () => expect(await findStored(person)).toHaveLength(1))

    const second = await as(person, create('slow'))
    expectError(second, errors.idempotencyInFlight)
    expect(second.headers['retry-after']).toBe('1')
    expectError(await as(person, create('slow', 'Different')), errors.idempotencyKeyReused)

    await blocker.query('rollback')
    await blocker.end()
    const { body, statusCode } = await first
    expect(statusCode).toBe(200)
    const third = await as(person, create('slow'))
    expect(third.headers['idempotent-replayed']).toBe('true')
    expect(third.body).toBe(body)
    expect(await countKeys(person)).toBe(1)
  })
})

describe('the header Idempotency-Key', () => {
  it.each([
    ['that is empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['with a space', 'one two'],
    ['with a letter beyond ASCII', 'clé'],
    ['with a tab', 'one\ttwo'],
  ])('returns 400 for an Idempotency-Key %s, and executes nothing', async (_name, key) => {
    const person = await createPerson()
    const answer = await as(person, create(key))
    expectError(answer, errors.idempotencyKeyInvalid, { field: 'Idempotency-Key' })
    expect(await countKeys(person)).toBe(0)
  })

  it.each([
    ['one character', '!'],
    ['255 characters', '~'.repeat(255)],
    ['a UUID', '0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f'],
    ['a quoted string', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
  ])('accepts %s as an Idempotency-Key', async (_name, key) => {
    const person = await createPerson()
    const first = await as(person, create(key))
    expect(first.statusCode).toBe(200)
    expect((await as(person, create(key))).body).toBe(first.body)
    expect(await countKeys(person)).toBe(1)
  })

  it('ignores the Idempotency-Key of methods other than POST', async () => {
    const person = await createPerson()
    const headers = { 'idempotency-key': 'patch' }
    const rename = (name: string) =>
      as(person, { method: 'PATCH', url: '/v1/me', headers, payload: { name } })
    expect((await rename('First')).statusCode).toBe(200)
    expect((await rename('Second')).statusCode).toBe(200)
    expect((await as(person, { url: '/v1/me', headers })).json()).toMatchObject({ name: 'Second' })
    expect(await findStored(person)).toEqual([])
  })
})

describe('the stored response', () => {
  it('stores neither the request, the response nor any key as plain text', async () => {
    const person = await createPerson()
    const name = 'A name to look for'
    const { secret, id } = (await as(person, create('look-for-me', name))).json<CreatedKey>()
    const [row] = await findStored(person)
    expect(row).toMatchObject({ api_key_id: person.apiKeyId, status: 200 })
    const bytes = Buffer.concat(
      Object.values(row ?? {}).map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
    )
    expect(bytes.length).toBeGreaterThan(200)
    for (const clear of [
      secret,
      secret.slice(4, 20),
      name,
      id,
      person.apiKey,
      'look-for-me',
      'tokenPrefix',
    ]) {
      expect(bytes.includes(clear), clear).toBe(false)
      expect(bytes.includes(Buffer.from(clear).toString('base64').replace(/=+$/, '')), clear).toBe(false)
    }
  })

  it.each(['x-api-key', 'authorization'])(
    'encrypts the stored response with a key derived from the API key in %s',
    async (header) => {
      const person = await createPerson()
      const { apiKey } = person
      const credential = header === 'x-api-key' ? apiKey : `Bearer ${apiKey}`
      const request = create('sealed')
      const answer = await app.inject({ ...request, headers: { ...request.headers, [header]: credential } })
      expect(answer.statusCode).toBe(200)
      const [row] = await findStored(person)
      const key = deriveKey(apiKey, 'idempotent answer')
      expect(unseal(row?.sealed_body as Buffer, key)).toBe(answer.body)
    },
  )

  it('encrypts differently each time, even the same response with the same API key', async () => {
    const person = await createPerson()
    for (const idempotencyKey of ['revoke-one', 'revoke-other']) {
      const { id } = (await as(person, { ...create(''), headers: {} })).json<CreatedKey>()
      const headers = { 'idempotency-key': idempotencyKey }
      const answer = await as(person, { method: 'POST', url: `/v1/api-keys/${id}/revoke`, headers })
      expect(answer.body).toBe('{"ok":true}')
    }
    const [one, two] = await findStored(person)
    expect(one?.sealed_body).toBeInstanceOf(Buffer)
    expect(one?.sealed_body).not.toEqual(two?.sealed_body)
  })

  it('keeps the response for 24 hours', async () => {
    const person = await createPerson()
    const first = await as(person, create('day'))
    clock.advance(24 * 60 * 60 * 1000 - 1)
    expect((await as(person, create('day'))).body).toBe(first.body)
    clock.advance(2)
    const later = await as(person, create('day'))
    expect(later.statusCode).toBe(200)
    expect(later.headers['idempotent-replayed']).toBeUndefined()
    expect(later.body).not.toBe(first.body)
    expect(await countKeys(person)).toBe(2)
    expect((await as(person, create('day'))).body).toBe(later.body)
  })

  it('deletes a stored response after 24 hours, and not before', async () => {
    const own = await startTestApp({ clock, environment: { DATABASE_URL: await clone() } })
    const person = await own.createPerson()
    await own.as(person, create('old'))
    clock.advance(60_000)
    await own.as(person, create('young'))
    clock.advance(24 * 60 * 60 * 1000 - 59_999)
    expect(await deleteExpiredIdempotentRequests(own.db, clock.now())).toBe(1)
    expect(await selectRows(own.db, sql`select key_hash from idempotent_requests`)).toHaveLength(1)
    expect((await own.as(person, create('young'))).headers['idempotent-replayed']).toBe('true')
  })

  it('deletes the stored responses of a deleted user', async () => {
    const person = await createPerson()
    await as(person, create('gone'))
    await db.execute(sql`delete from users where id = ${person.id}`)
    expect(await findStored(person)).toEqual([])
  })
})

describe('a request that was never completed', () => {
  const abandon = async (person: TestPerson) => {
    await db.execute(sql`
      update idempotent_requests set status = null, content_type = null, sealed_body = null
      where api_key_id = ${person.apiKeyId}`)
  }

  it('executes a retry after 2.5 seconds, and not before', async () => {
    const person = await createPerson()
    await as(person, create('died'))
    // As if its process had died before it answered.
    await abandon(person)
    clock.advance(2_500)
    expectError(await as(person, create('died')), errors.idempotencyInFlight)
    clock.advance(1)
    expectError(await as(person, create('died', 'Different')), errors.idempotencyKeyReused)
    const answer = await as(person, create('died'))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['idempotent-replayed']).toBeUndefined()
    expect((await as(person, create('died'))).body).toBe(answer.body)
    expect(await countKeys(person)).toBe(2)
  })

  it('executes one of several concurrent retries', async () => {
    const person = await createPerson()
    await as(person, create('died-too'))
    await abandon(person)
    clock.advance(2_501)
    await Promise.all(Array.from({ length: 6 }, () => as(person, create('died-too'))))
    expect(await countKeys(person)).toBe(2)
  })
})

describe('a request that takes longer than its lock of 2.5 seconds', () => {
  /** Has two attempts at a request wait for each other's rows, the second begun when the lock of the first has ended. */
  async function attemptTwice(person: TestPerson, request: ReturnType<typeof create>) {
    const blocker = new pg.Client({ connectionString: config.databaseUrl })
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('select from users where id = $1 for update', [person.id])
    const before = await countWaiting(service)
    const first = as(person, request)
    await untilWaiting(service, before + 1)
    clock.advance(2_501)
    const second = as(person, request)
    await untilWaiting(service, before + 2)
    await blocker.query('rollback')
    await blocker.end()
    return Promise.all([first, second])
  }

  it('executes the request once, and returns its response to both attempts', async () => {
    const person = await createPerson()
    const [first, second] = await attemptTwice(person, create('two-attempts'))
    expect([first.statusCode, second.statusCode]).toEqual([200, 200])
    expect(second.body).toBe(first.body)
    expect([first, second].filter((answer) => 'idempotent-replayed' in answer.headers)).toHaveLength(1)
    expect(await countKeys(person)).toBe(1)
  })

  it('does not return a conflict with its own success', async () => {
    const person = await createPerson()
    const request = {
      ...create('two-attempts'),
      url: '/v1/workspaces',
      payload: { name: 'Twice', slug: `twice-${person.id.slice(-8)}` },
    }
    const [first, second] = await attemptTwice(person, request)
    expect([first.statusCode, second.statusCode]).toEqual([200, 200])
    expect(second.body).toBe(first.body)
    expect((await as(person, { url: '/v1/workspaces' })).json()).toHaveLength(1)
  })

  const storable = async () => {
    const { apiKeyId } = await createPerson()
    return { apiKeyId, keyHash: Buffer.from('key'), fingerprint: Buffer.from('request') }
  }

  it('locks the request no longer when the clock of another process is ahead', async () => {
    const request = await storable()
    const ahead = createTestClock(new Date(clock.now().getTime() + 5 * 60_000))
    expect(await createIdempotencyStore(db, ahead).begin(request)).toMatchObject(request)
    expect(await createIdempotencyStore(db, clock).begin(request)).toMatchObject(request)
    expect(await createIdempotencyStore(db, clock).begin(request)).toBe('in_flight')
  })

  it('keeps the lock of a later attempt when the earlier one fails', async () => {
    const request = await storable()
    const store = createIdempotencyStore(db, clock)
    const first = await store.begin(request)
    clock.advance(2_501)
    const second = await store.begin(request)
    if (!(typeof first === 'object' && 'lockedUntil' in first)) throw new Error('the first has not begun')
    if (!(typeof second === 'object' && 'lockedUntil' in second)) throw new Error('the second has not begun')
    await store.abandon(first)
    expect(await store.begin(request)).toBe('in_flight')
    await store.abandon(second)
    expect(await store.begin(request)).toMatchObject(request)
  })
})

describe('a 500 response', () => {
  it('does not store the response, so that the request can be retried', async () => {
    const broken = await startTestApp({ environment: { DATABASE_URL: await clone() } })
    const person = await broken.createPerson()
    await broken.db.execute(sql`alter table api_keys rename column last_four to last_4`)
    expectError(await broken.as(person, create('unlucky')), errors.internal)
    expect(await selectRows(broken.db, sql`select * from idempotent_requests`)).toEqual([])

    await broken.db.execute(sql`alter table api_keys rename column last_4 to last_four`)
    const answer = await broken.as(person, create('unlucky'))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['idempotent-replayed']).toBeUndefined()
  })

  it('releases the Idempotency-Key before the response is sent', async () => {
    const broken = await startTestApp({ environment: { DATABASE_URL: await clone() } })
    const person = await broken.createPerson()
    await broken.db.execute(sql`alter table api_keys rename column last_four to last_4`)
    const lock = async (query: string) => {
      const client = await broken.db.$client.connect()
      onTestFinished(() => client.release(true))
      await client.query('begin')
      await client.query(`${query} for update`)
      return () => client.query('rollback')
    }
    const unlockPerson = await lock(`select from users where id = '${person.id}'`)
    let isAnswered = false
    const answering = broken.as(person, create('unlucky')).then((answer) => {
      isAnswered = true
      return answer
    })
    await untilWaiting(broken, 1)
    const unlockRequest = await lock('select from idempotent_requests')
    await unlockPerson()
    const freeing = sql`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like '%idempotent_requests%'`
    await eventually(async () => expect(await selectRows(broken.db, freeing)).toHaveLength(1))
    expect(isAnswered).toBe(false)
    await unlockRequest()
    expectError(await answering, errors.internal)
  })
})

describe('a 429 response', () => {
  it('does not store the response, and executes the same request after Retry-After', async () => {
    const limited = await startTestApp({
      clock,
      environment: { DATABASE_URL: await clone(), INVITE_LIMIT_PER_HOUR: '1' },
    })
    const person = await limited.createPerson()
    const slug = 'limited'
    await limited.as(person, { method: 'POST', url: '/v1/workspaces', payload: { name: 'Limited', slug } })
    const invite = (email: string, headers: Record<string, string> = {}) =>
      limited.as(person, {
        method: 'POST',
        url: `/v1/workspaces/${slug}/invites`,
        headers,
        payload: { email, role: 'member' },
      })
    expect((await invite('first@example.com')).statusCode).toBe(200)
    const key = { 'idempotency-key': 'limited' }
    for (let i = 0; i < 2; i++) {
      const refused = await invite('second@example.com', key)
      expectError(refused, errors.tooManyInvites)
      expect(refused.headers['retry-after']).toBe('3600')
      expect(refused.headers['idempotent-replayed']).toBeUndefined()
    }
    clock.advance(3_600_001)
    const answer = await invite('second@example.com', key)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['idempotent-replayed']).toBeUndefined()
    expect((await invite('second@example.com', key)).headers['idempotent-replayed']).toBe('true')
  })
})
