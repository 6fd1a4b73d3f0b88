import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sql } from 'drizzle-orm'
import { eventually } from '../support/eventually.ts'
import { createOAuthTester, type TestAgent, type Tokens } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const environment = { APP_SECRET: 'shared by the replicas, of 32 characters or more' }
const [first, second] = [await startTestApp({ environment }), await startTestApp({ environment })]
const [here, there] = [createOAuthTester(first), createOAuthTester(second)]
const port = await listen(first.app)

const minute = 60_000
const advance = (ms: number) => vi.setSystemTime(Date.now() + ms)

// All that reads the time reads this: ours, that of the OAuth server, and that of whoever verifies a token.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterEach(() => void vi.useRealTimers())

async function connectAgent(): Promise<{ agent: TestAgent; tokens: Tokens }> {
  const agent = await here.createAgent()
  return { agent, tokens: await here.getTokens(agent, await here.createHost()) }
}

/** What programs of one agent share. */
interface CredentialFile {
  agent: TestAgent
  tokens: Tokens
}

/** One process of an agent. It reads the file when it starts, and again before a refresh if `isCareful`. */
class Program {
  readonly #file: CredentialFile
  readonly #isCareful: boolean
  readonly #tester: typeof here
  #tokens: Tokens
  /** How many times it had to refresh. */
  refreshes = 0

  constructor(file: CredentialFile, options: { isCareful: boolean; tester?: typeof here }) {
    this.#file = file
    this.#isCareful = options.isCareful
    this.#tester = options.tester ?? here
    this.#tokens = file.tokens
  }

  /** Reads the kit, and refreshes its token first if that is refused. Throws when a person would have to sign in. */
  async work(): Promise<void> {
    if ((await this.#read()) === 200) return
    if (this.#isCareful && this.#file.tokens !== this.#tokens) {
      this.#tokens = this.#file.tokens
      if ((await this.#read()) === 200) return
    }
    const answer = await this.#tester.refresh(this.#file.agent, this.#tokens.refresh_token)
    if (answer.statusCode !== 200) throw new Error(`a new sign-in would be needed: ${answer.body}`)
    this.refreshes++
    this.#tokens = this.#file.tokens = answer.json<Tokens>()
    expect(await this.#read()).toBe(200)
  }

  async #read(): Promise<number> {
    return (await this.#tester.readKit(this.#tokens.access_token)).statusCode
  }
}

describe('twenty processes that share one credential file', () => {
  it('stay connected for twelve hours, on two replicas', async () => {
    const file = await connectAgent()
    const programs = Array.from(
      { length: 20 },
      (_, i) => new Program(file, { isCareful: i % 2 === 0, tester: i % 3 === 0 ? there : here }),
    )
    for (let passed = 1; passed <= 12 * 60; passed++) {
      advance(minute)
      await programs[passed % programs.length]?.work()
      // Once in two hours all at once, when a new token has just expired.
      if (passed % 121 === 0) await Promise.all(programs.map((program) => program.work()))
    }
    // Access tokens last an hour, so that those that do not read the file again had to refresh.
    for (const { refreshes } of programs.filter((_, i) => i % 2 === 1)) expect(refreshes).toBeGreaterThan(6)
  })

  it('stay connected with an older copy of the file', async () => {
    const file = await connectAgent()
    const copy = { ...file }
    await new Program(file, { isCareful: true }).work()
    advance(61 * minute)
    await new Program(file, { isCareful: true }).work()
    advance(29 * minute)
    await new Program(copy, { isCareful: false }).work()
    await new Program(file, { isCareful: false }).work()
  })
})

describe('an agent on a laptop', () => {
  it('stays connected when it sleeps for 1, 7 and 29 days', async () => {
    const program = new Program(await connectAgent(), { isCareful: false })
    for (const days of [1, 7, 29]) {
      advance(days * 24 * 60 * minute)
      await program.work()
    }
    expect(program.refreshes).toBe(3)
  })

  it('stays connected when it sleeps while it waits for a response', async () => {
    const file = await connectAgent()
    advance(61 * minute)
    await here.refresh(file.agent, file.tokens.refresh_token)
    advance(25 * minute)
    await new Program(file, { isCareful: false }).work()
  })
})

describe('a token response that is lost', () => {
  it.each([1, 5])('can be requested again with the old token, after %i attempts', async (times) => {
    const { agent, tokens } = await connectAgent()
    for (let i = 1; i <= times; i++) {
      await sendAndHangUp(agent, tokens.refresh_token)
      await eventually(async () => expect(await countUsed(agent)).toBe(1))
      advance(minute)
    }
    const answer = await here.refresh(agent, tokens.refresh_token)
    expect(answer.statusCode, answer.body).toBe(200)
    expect((await here.readKit(answer.json<Tokens>().access_token)).statusCode).toBe(200)
  })
})

/** Sends a refresh, and closes the connection when the request is out. */
async function sendAndHangUp({ clientId }: TestAgent, refreshToken: string): Promise<void> {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
  }).toString()
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const head = [
    'POST /agent/oauth/token HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Once it is written.
  socket.destroySoon()
}

/** How many refresh tokens of a client were exchanged. */
async function countUsed({ clientId }: TestAgent): Promise<number> {
  const rows = await selectRows(
    first.db,
    sql`select 1 from oauth_records where client_id = ${clientId} and consumed_at is not null and kind = 'RefreshToken'`,
  )
  return rows.length
}
