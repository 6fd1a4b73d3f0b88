import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { agentScopes } from '../../src/domain/agent.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { checkEach } from '../support/check-each.ts'
import {
  createCompany,
  del,
  get,
  patch,
  post,
  type TestCompany,
  type TestRequest,
} from '../support/company.ts'
import { expectError, type AnyAnswer } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { operations } from '../support/operations.ts'
import {
  addQuery,
  buildRequest,
  idsIn,
  makeValues,
  namesIn,
  pathOf,
  type Values,
} from '../support/prepare-request.ts'
import { createWorkspaceReader } from '../support/read-workspace.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app, as, db } = service
const readWorkspace = await createWorkspaceReader(service)

const lists = Object.entries(operations).filter(([, { list }]) => list !== undefined)

/** Two companies that know nothing of each other. `ours` asks for what is `theirs`. */
const [ours, theirs] = [await createTenant('ours'), await createTenant('theirs')]

interface Tenant extends TestCompany {
  /** Of everything that requests are about. */
  values: Values
  /** The second page of each list. */
  cursorOf: Record<string, string>
}

async function createTenant(label: string): Promise<Tenant> {
  const domain = `${label}.example`
  const company = await createCompany(service, { domain })
  const names = Object.values(operations).flatMap(namesIn)
  const values = await makeValues(service, names, {
    company,
    label: domain,
    values: { keptSlug: 'taken-over' },
  })
  for (const { given } of Object.values(operations)) await given?.(service, values)
  const { workspace, owner, url } = company
  await as(owner, patch(url, { name: `Secret of ${domain}`, slug: workspace.slug, allowedDomains: domain }))
  const cursorOf: Record<string, string> = {}
  for (const [id, operation] of lists) {
    for (let i = 0; i < 2; i++) await operation.list?.insert(service, values, new Date())
    const { headers } = await as(owner, get(addQuery(pathOf(operation, values), 'limit=1')))
    const link = /<([^>]+)>/.exec(String(headers.link))?.[1]
    cursorOf[id] = String(new URL(String(link)).searchParams.get('cursor'))
  }
  return { ...company, values, cursorOf }
}

/** Of an agent that may do all that its person may. */
const agentToken = await createOAuthTester(service).letIn(ours.workspace, ours.owner, { scopes: agentScopes })

/** What of the other company must not be read in any answer. */
const secrets = await findSecrets(theirs)

async function findSecrets({ workspace, values }: Tenant): Promise<string[]> {
  const rows = await selectRows<{ secret: string }>(
    db,
    sql`
      select unnest(array[users.id::text, users.email]) as secret from users
      join memberships on user_id = users.id where workspace_id = ${workspace.id}
      union select unnest(array[id::text, name]) from workspaces where id = ${workspace.id}
      union select unnest(array[id::text, email]) from invites where workspace_id = ${workspace.id}
      union select unnest(array[id::text, name]) from teams where workspace_id = ${workspace.id}
      union select unnest(array[id::text, title]) from seeds where workspace_id = ${workspace.id}
      union select unnest(array[evidence.id::text, evidence.summary])
        from evidence where workspace_id = ${workspace.id}
      union select unnest(array[id::text, client_id, client_name]) from agent_grants where workspace_id = ${workspace.id}
      union select unnest(array[id::text, summary]) from events where workspace_id = ${workspace.id}`,
  )
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.map((row) => row.secret)).toContain(values.teamId)
  return [...rows.map((row) => row.secret), 'theirs.example', theirs.workspace.slug]
}

/** What is stored of the other company, which nothing here may change. */
const untouched = await readState(theirs)

afterEach(async () => expect(await readState(theirs)).toEqual(untouched))

/** Asks as an owner, who may do everything in a workspace of their own, and sees what comes back. */
async function ask(request: TestRequest, what: string) {
  const answer = request.url.startsWith('/agent/')
    ? await app.inject({ ...request, headers: { ...request.headers, authorization: `Bearer ${agentToken}` } })
    : await as(ours.owner, request)
  const told = JSON.stringify([answer.headers, answer.body])
  const sent = JSON.stringify(request)
  for (const secret of secrets) {
    if (!sent.includes(secret)) expect(told.includes(secret), `${what} tells ${secret}: ${told}`).toBe(false)
  }
  if (!isOfEntries(answer)) {
    expect(answer.statusCode, `${what}: ${answer.body}`).toBeGreaterThanOrEqual(400)
    expect(answer.statusCode, `${what}: ${answer.body}`).toBeLessThan(500)
  }
  return answer
}

/** Whether an answer has a result for each entry of the request, which was made or not. */
function isOfEntries(answer: AnyAnswer & { body: string }): boolean {
  return answer.statusCode === 200 && answer.body.startsWith('{"results":')
}

/** That what was asked for does not exist, of each entry if there are several. */
function expectNotFound(answer: AnyAnswer & { body: string }): void {
  if (!isOfEntries(answer)) {
    expectError(answer, errors.notFound)
    return
  }
  const { results } = answer.json() as { results: object[] }
  expect(results.length).toBeGreaterThan(0)
  const message = expect.stringContaining(errors.notFound.message) as unknown
  for (const result of results)
    expect(result).toEqual({ ok: false, id: null, error: { code: errors.notFound.code, message } })
}

async function readState({ workspace, owner }: Tenant): Promise<unknown[]> {
  const uses = sql`select user_id, last_used_at from memberships where workspace_id = ${workspace.id} order by user_id`
  const keys = sql`select id, revoked_at from api_keys where user_id = ${owner.id} order by id`
  return [await readWorkspace(workspace), await selectRows(db, uses), await selectRows(db, keys)]
}

/** Whether a slug is free is for everybody to know. */
const tellsNothing = 'workspaces.slugAvailable'

const withIds = Object.entries(operations).filter(
  ([id, operation]) => idsIn(operation).length > 0 && id !== tellsNothing,
)

// An invite is read by whoever has its link, which is a secret itself: to read it is no intrusion.
const closed = withIds.filter(([id]) => id !== 'invites.get')

describe.each(closed)('%s with ids of another tenant', (id, operation) => {
  const taken = idsIn(operation)

  it('returns 403 or 404 without data of the other tenant, and changes nothing there', async () => {
    for (let mask = 1; mask < 2 ** taken.length; mask++) {
      const foreign = taken.filter((_name, i) => mask & (1 << i))
      const request = await buildRequest(operation, { ...ours.values, ...pick(theirs.values, foreign) })
      const answer = await ask(request, `${id} with their ${foreign.join()}`)
      if (foreign.includes('slug')) expectError(answer, errors.notAMember)
      else if (id === 'invites.accept' || id === 'invites.decline')
        expectError(answer, errors.inviteEmailMismatch)
      else expectNotFound(answer)
    }
  })
})

const invalidIds: [name: string, id: string][] = [
  ['unknown', createId()],
  ['malformed', 'x'],
  ['a UUID of another version', '123e4567-e89b-42d3-a456-426614174000'],
  ['in upper case', String(theirs.values.teamId).toUpperCase()],
  ['NUL', '%00'],
  ['text with NUL in the middle', 'a%00b'],
  ['an encoded slash', '..%2F..%2Fmembers'],
  ['SQL', "'%20or%20'1'='1"],
  ['a wildcard', '%25'],
  ['a number', '0'],
  ['an encoded lone surrogate', '%ED%A0%80'],
  ['5,000 characters long', 'a'.repeat(5_000)],
  ['a space', '%20'],
]

describe.each(withIds)('%s with an invalid id', (id, operation) => {
  it.each(idsIn(operation))('returns 404 (400 when it is not UTF-8) for each invalid %s', async (name) => {
    await checkEach(
      invalidIds,
      ([kind]) => kind,
      async ([kind, value]) => {
        const request = await buildRequest(operation, { ...ours.values, [name]: value })
        const answer = await ask(request, `${id} with ${name}, ${kind}`)
        // What is no UTF-8 is no path at all.
        if (value === '%ED%A0%80' && request.url.includes(value)) expect(answer.statusCode).toBe(400)
        else expectNotFound(answer)
      },
    )
  })
})

describe('a cursor of another tenant', () => {
  it.each(lists)('returns 400 cursor_invalid in %s', async (id, operation) => {
    const url = pathOf(operation, ours.values)
    const at = (cursor: string | undefined) => get(addQuery(url, `cursor=${cursor}`))
    expect((await as(ours.owner, at(ours.cursorOf[id]))).statusCode).toBe(200)
    expectError(await ask(at(theirs.cursorOf[id]), id), errors.cursorInvalid, { field: 'cursor' })
  })
})

describe('data of another tenant named in a body or query', () => {
  it('filters and searches find no data of another tenant', async () => {
    const { grantId, seedId } = theirs.values
    for (const filter of [`actorUserId=${theirs.owner.id}`, `grantId=${grantId}`, `seedId=${seedId}`]) {
      const { statusCode, body } = await as(ours.owner, get(`${ours.url}/events?${filter}`))
      expect([statusCode, body]).toEqual([200, '[]'])
    }
    for (const q of ['theirs', theirs.owner.email, String(theirs.values.invitedEmail), 'Secret of']) {
      const answer = await as(ours.owner, get(`${ours.url}/people?q=${encodeURIComponent(q)}`))
      expect([answer.statusCode, answer.body]).toEqual([200, '[]'])
    }
  })

  it('returns the same 404 for a user of another tenant, an unknown id and a malformed id', async () => {
    const teamUrl = `${ours.url}/teams/${ours.values.teamId}`
    const answers = await Promise.all(
      [theirs.viewer.id, createId(), 'nobody'].flatMap((userId) => [
        as(ours.owner, del(`${ours.url}/members/${userId}`)),
        as(ours.owner, post(`${teamUrl}/members`, { userId })),
        as(ours.owner, del(`${teamUrl}/members/${userId}`)),
      ]),
    )
    for (const answer of answers) expectError(answer, errors.notFound)
  })

  it('invites the email address of a user of another tenant without revealing the user', async () => {
    const answer = await as(
      ours.owner,
      post(`${ours.url}/invites`, { email: theirs.viewer.email, role: 'viewer' }),
    )
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain(theirs.viewer.id)
    expect(answer.body).not.toContain(theirs.viewer.name)
  })
})

describe('the link of an invite', () => {
  it('returns the invite and the workspace, but no ids', async () => {
    const answer = await as(ours.owner, get(`/v1/invites/${theirs.values.token}`))
    expect(answer.statusCode).toBe(200)
    const shown = [
      'theirs.example',
      theirs.workspace.slug,
      'Secret of theirs.example',
      theirs.values.invitedEmail,
    ]
    for (const secret of secrets) if (!shown.includes(secret)) expect(answer.body).not.toContain(secret)
  })

  it('does not appear in lists of invites, events and people', async () => {
    for (const path of ['invites', 'events', 'people']) {
      const { body } = await as(ours.owner, get(`${ours.url}/${path}?limit=200`))
      expect(body).not.toContain(ours.values.token)
    }
  })
})

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))
}
