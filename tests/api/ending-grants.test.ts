import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { notifyOfEndingGrants } from '../../src/areas/notifications/notifications.jobs.ts'
import { createCompany, findNotifications, post, type TestCompany } from '../support/company.ts'
import { insertGrant } from '../support/seeds.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const dayMs = 24 * 60 * 60 * 1000

// A database of its own, since the notices are about all grants in it.
const clock = createTestClock()
const service = await startTestApp({ clock, environment: { DATABASE_URL: await clone() } })
const { as, db } = service

/** Gives an agent of the member access that ends so many days from now, and was given so many days ago. */
const grant = (
  { workspace, member }: TestCompany,
  { endsIn, givenAgo }: { endsIn: number; givenAgo: number },
) =>
  insertGrant(service, workspace, member, {
    clientName: 'Claude',
    createdAt: new Date(clock.now().getTime() - givenAgo * dayMs),
    lifetimeMs: (endsIn + givenAgo) * dayMs,
  })

const notify = () => notifyOfEndingGrants({ db, clock })

describe('the notice a week before the access of an agent ends', () => {
  it('goes to the person of the access, once, in the name of the service', async () => {
    const company = await createCompany(service)
    const { id, expiresAt } = await grant(company, { endsIn: 8, givenAgo: 82 })
    await notify()
    expect(await findNotifications(service, company.workspace)).toEqual([])
    clock.advance(dayMs + 1)
    await notify()
    await notify()
    expect(await findNotifications(service, company.workspace)).toEqual([
      {
        user_id: company.member.id,
        kind: 'agent',
        actor_user_id: null,
        actor_name: 'The service',
        data: { grantId: id, clientName: 'Claude', reason: 'ends_soon', endsAt: expiresAt },
      },
    ])
  })

  it('is not sent for access that was given within the week, has ended or was revoked', async () => {
    const company = await createCompany(service)
    await grant(company, { endsIn: 5, givenAgo: 6 })
    await grant(company, { endsIn: -1, givenAgo: 90 })
    const { id } = await grant(company, { endsIn: 5, givenAgo: 85 })
    const revoked = await as(company.member, post(`${company.url}/integrations/${id}/revoke`))
    expect(revoked.statusCode, revoked.body).toBe(200)
    await notify()
    expect(await findNotifications(service, company.workspace)).toEqual([])
  })

  it('is sent again for the new end after the access was prolonged', async () => {
    const company = await createCompany(service)
    const { id } = await grant(company, { endsIn: 5, givenAgo: 85 })
    await notify()
    await db.execute(
      sql`update agent_grants set expires_at = expires_at + '90 days'::interval where id = ${id}`,
    )
    await notify()
    expect(await findNotifications(service, company.workspace)).toHaveLength(1)
    clock.advance(90 * dayMs)
    await notify()
    expect(await findNotifications(service, company.workspace)).toHaveLength(2)
  })
})
