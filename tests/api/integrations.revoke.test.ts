import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, del, get, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { findRevokedAt, insertGrant } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'
import { createId } from '../../src/kernel/ids.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const tester = createOAuthTester(service)
const company = await createCompany(service)

const revoke = (person: TestPerson, id: string, { url } = company) =>
  as(person, post(`${url}/integrations/${id}/revoke`))
const revocationsOf = async ({ id }: { id: string }) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => type === 'integration.revoked' && target_id === id,
  )

/** An agent that a person has let into a workspace of theirs, with its token. */
async function letIn() {
  const host = await tester.createHost()
  const { access_token: token } = await tester.getTokens(await tester.createAgent(), host)
  const url = `/v1/workspaces/${host.slug}`
  const [grant] = (await as(host, get(`${url}/integrations`))).json<{ id: string }[]>()
  return { host, token, url, id: String(grant?.id) }
}

describe('200', () => {
  it('revokes the grant from the next request of the agent on', async () => {
    const { host, token, url, id } = await letIn()
    expect((await tester.readKit(token)).statusCode).toBe(200)
    const answer = await as(host, post(`${url}/integrations/${id}/revoke`))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect((await tester.readKit(token)).statusCode).toBe(401)
    expect((await as(host, get(`${url}/integrations`))).json()).toEqual([])
    expect(await findRevokedAt(service, { id })).toEqual(clock.now())
  })

  it('appends an event with who revoked which grant', async () => {
    const grant = await insertGrant(service, company.workspace, company.member)
    await revoke(company.admin, grant.id)
    expect(await revocationsOf(grant)).toEqual([
      eventBy(
        company.admin,
        { type: 'integration', id: grant.id },
        { type: 'integration.revoked', summary: 'Adam Admin revoked the access of Robbie' },
      ),
    ])
  })

  it('returns 200 when repeated, keeps the first time of revocation, and appends one event', async () => {
    const grant = await insertGrant(service, company.workspace, company.member)
    const moment = clock.now()
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(company.member, grant.id)))
    clock.advance(5_000)
    answers.push(await revoke(company.owner, grant.id))
    for (const answer of answers) expect(answer.json()).toEqual({ ok: true })
    expect(await findRevokedAt(service, grant)).toEqual(moment)
    expect(await revocationsOf(grant)).toHaveLength(1)
  })

  it.each(['owner', 'admin', 'member', 'viewer'] as const)(
    'lets a caller with the role %s revoke their own grant',
    async (role) => {
      const grant = await insertGrant(service, company.workspace, company[role])
      expect((await revoke(company[role], grant.id)).statusCode).toBe(200)
      expect(await findRevokedAt(service, grant)).not.toBeNull()
    },
  )

  it.each(['owner', 'admin'] as const)(
    'lets a caller with the role %s revoke the grant of every member',
    async (role) => {
      for (const other of ['owner', 'admin', 'member', 'viewer'] as const) {
        const grant = await insertGrant(service, company.workspace, company[other])
        expect((await revoke(company[role], grant.id)).statusCode).toBe(200)
        expect(await findRevokedAt(service, grant)).not.toBeNull()
      }
    },
  )
})

describe('400', () => {
  it('returns 400 for a body, and revokes nothing', async () => {
    const grant = await insertGrant(service, company.workspace, company.member)
    const url = `${company.url}/integrations/${grant.id}/revoke`
    const answer = await as(company.member, post(url, { reason: 'lost' }))
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['reason'] }])
    expect(await findRevokedAt(service, grant)).toBeNull()
  })
})

describe('403', () => {
  it('returns 403 to a stranger, and revokes nothing', async () => {
    const grant = await insertGrant(service, company.workspace, company.member)
    expectError(await revoke(await service.createPerson(), grant.id), errors.notAMember)
    expect(await findRevokedAt(service, grant)).toBeNull()
  })
})

describe('404', () => {
  it.each(['member', 'viewer'] as const)(
    'returns the same 404 to a %s for a grant of another user, an unknown id and a malformed id',
    async (role) => {
      const other = role === 'member' ? company.viewer : company.member
      const grant = await insertGrant(service, company.workspace, other)
      for (const id of [grant.id, createId(), 'x']) {
        expectError(await revoke(company[role], id), errors.notFound)
      }
      expect(await findRevokedAt(service, grant)).toBeNull()
      expect(await revocationsOf(grant)).toEqual([])
    },
  )

  it('returns 404 for a grant of another workspace, even to an owner of both', async () => {
    const other = await createCompany(service)
    const grant = await insertGrant(service, other.workspace, other.member)
    expectError(await revoke(company.owner, grant.id), errors.notFound)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${other.workspace.id}, ${company.owner.id}, 'owner', now(), now())`)
    expectError(await revoke(company.owner, grant.id), errors.notFound)
    expect(await findRevokedAt(service, grant)).toBeNull()
    expect((await revoke(company.owner, grant.id, other)).statusCode).toBe(200)
  })

  it('returns 404 for a grant of a removed member, whose access token stops working', async () => {
    const { host, token, url, id } = await letIn()
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${host.workspaceId}, ${company.owner.id}, 'owner', now(), now())`)
    expect((await tester.readKit(token)).statusCode).toBe(200)
    expect((await as(company.owner, del(`${url}/members/${host.id}`))).statusCode).toBe(200)
    expect((await tester.readKit(token)).statusCode).toBe(401)
    expectError(await as(company.owner, post(`${url}/integrations/${id}/revoke`)), errors.notFound)
  })
})
