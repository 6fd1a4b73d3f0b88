import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, get } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { insertGrant, type TestGrant } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service

const list = async (person: TestPerson, url: string) =>
  (await as(person, get(`${url}/integrations`))).json<TestGrant[]>()

describe('200', () => {
  it('returns all grants to owners and admins, newest first, and to others only their own', async () => {
    const company = await createCompany(service)
    const grants: Record<string, TestGrant> = {}
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      clock.advance(1_000)
      grants[role] = await insertGrant(service, company.workspace, company[role], {
        createdAt: clock.now(),
        clientName: `Agent of ${role}`,
        clientUri: role === 'owner' ? 'https://agent.example' : null,
      })
    }
    const { owner, admin, member, viewer } = grants
    expect(await list(company.owner, company.url)).toEqual([viewer, member, admin, owner])
    expect(await list(company.admin, company.url)).toEqual([viewer, member, admin, owner])
    expect(await list(company.member, company.url)).toEqual([member])
    expect(await list(company.viewer, company.url)).toEqual([viewer])
  })

  it('returns when a grant was last used, and the current name of its user', async () => {
    const company = await createCompany(service)
    const grant = await insertGrant(service, company.workspace, company.member)
    await db.execute(
      sql`update agent_grants set last_used_at = '2026-01-02T03:04:05.678Z' where id = ${grant.id}`,
    )
    await db.execute(sql`update users set name = 'Mary Married' where id = ${company.member.id}`)
    expect(await list(company.member, company.url)).toEqual([
      { ...grant, userName: 'Mary Married', lastUsedAt: '2026-01-02T03:04:05.678Z' },
    ])
  })

  it('omits revoked grants, expired grants and grants of other workspaces', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const grant = await insertGrant(service, company.workspace, company.member, { createdAt: clock.now() })
    const revoked = await insertGrant(service, company.workspace, company.member)
    await db.execute(sql`update agent_grants set revoked_at = now() where id = ${revoked.id}`)
    const short = await insertGrant(service, company.workspace, company.member, {
      createdAt: new Date(clock.now().getTime() - 1),
      lifetimeMs: 1_001,
    })
    await insertGrant(service, other.workspace, other.member)
    expect(await list(company.owner, company.url)).toEqual([grant, short])
    clock.advance(999)
    expect(await list(company.owner, company.url)).toEqual([grant, short])
    clock.advance(1)
    expect(await list(company.owner, company.url)).toEqual([grant])
  })

  it('omits the grants of a user who has left', async () => {
    const company = await createCompany(service)
    const person = await addPerson(service, company.workspace, 'member')
    await insertGrant(service, company.workspace, person)
    expect(await list(company.owner, company.url)).toHaveLength(1)
    await as(person, del(`${company.url}/members/${person.id}`))
    expect(await list(company.owner, company.url)).toEqual([])
  })

  it.each(['owner', 'member'] as const)(
    'returns each grant once over all pages to the role %s',
    async (role) => {
      const company = await createCompany(service)
      const ids: string[] = []
      // Several at one moment: then ids decide.
      for (let i = 0; i < 7; i++) {
        if (i % 3 === 0) clock.advance(1_000)
        const options = { createdAt: clock.now() }
        ids.unshift((await insertGrant(service, company.workspace, company.member, options)).id)
      }
      const seen: string[] = []
      let url: string | undefined = `${company.url}/integrations?limit=2`
      while (url !== undefined) {
        const answer = await as(company[role], get(url))
        const page = answer.json<TestGrant[]>()
        expect(page.length).toBeGreaterThan(0)
        seen.push(...page.map(({ id }) => id))
        const next = /<([^>]+)>; rel="next"/.exec(String(answer.headers.link))?.[1]
        url = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
      }
      expect(seen).toEqual(ids)
    },
  )

  it('returns 400 cursor_invalid when a member sends a cursor of the list of all grants', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 2; i++) await insertGrant(service, company.workspace, company.member)
    const { headers } = await as(company.owner, get(`${company.url}/integrations?limit=1`))
    const cursor = new URL(String(/<([^>]+)>/.exec(String(headers.link))?.[1])).searchParams.get('cursor')
    const url = `${company.url}/integrations?cursor=${cursor}`
    expect((await as(company.admin, get(url))).statusCode).toBe(200)
    expectError(await as(company.member, get(url)), errors.cursorInvalid, { field: 'cursor' })
  })
})

describe('400, 403 and 404', () => {
  it('returns 400 for a filter, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const company = await createCompany(service)
    const filtered = await as(company.owner, get(`${company.url}/integrations?userId=${company.member.id}`))
    expect(issuesOf(filtered)).toEqual([{ _tag: 'Unexpected', path: ['userId'] }])
    const stranger = await service.createPerson()
    expectError(await as(stranger, get(`${company.url}/integrations`)), errors.notAMember)
    expectError(await as(stranger, get('/v1/workspaces/no-such-place/integrations')), errors.notFound)
  })
})
