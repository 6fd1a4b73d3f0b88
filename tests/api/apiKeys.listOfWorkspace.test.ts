import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { WorkspaceApiKey } from '../../src/areas/apiKeys/workspace-keys.service.ts'
import { actingKeyMs } from '../../src/domain/key-restrictions.ts'
import { createKey } from '../support/api-keys.ts'
import { createCompany, createTeam, get, post, type TestCompany } from '../support/company.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service

async function list({ admin, url }: TestCompany): Promise<WorkspaceApiKey[]> {
  const answer = await as(admin, get(`${url}/api-keys`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

const idsOf = (keys: readonly WorkspaceApiKey[]) => keys.map(({ id }) => id)

describe('200', () => {
  it('lists keys that are bound to the workspace, and those that changed something in it', async () => {
    const company = await createCompany(service)
    const { member, owner, url, workspace } = company
    const bound = await createKey(service, member, {
      workspaceIds: [workspace.id],
      maxRole: 'viewer',
      access: 'read',
    })
    const reading = await createKey(service, member, { access: 'read' })
    const acting = await createKey(service, owner, { maxRole: 'admin' })
    await as(reading, get(url))
    const before = await list(company)
    expect(idsOf(before)).not.toContain(acting.id)
    clock.advance(1_000)
    await createTeam(service, { ...owner, ...acting, id: owner.id }, company)
    const changedAt = clock.now().toISOString()
    const keys = await list(company)
    expect(keys.slice(0, 2)).toEqual([
      {
        ...{ id: acting.id, ownerUserId: owner.id, ownerName: owner.name, kind: 'person' },
        ...{ tokenPrefix: acting.tokenPrefix, lastFour: acting.lastFour, lastChangeAt: changedAt },
        ...{ access: 'full', maxRole: 'admin', expiresAt: null },
      },
      {
        ...{ id: bound.id, ownerUserId: member.id, ownerName: member.name, kind: 'person' },
        ...{ tokenPrefix: bound.tokenPrefix, lastFour: bound.lastFour, lastChangeAt: null },
        ...{ access: 'read', maxRole: 'viewer', expiresAt: null },
      },
    ])
    expect(idsOf(keys)).not.toContain(reading.id)
    clock.advance(actingKeyMs + 1)
    expect(idsOf(await list(company))).toEqual([bound.id])
  })

  it('leaves out keys that are revoked or expired, of other workspaces, and of those who left', async () => {
    const company = await createCompany(service)
    const { member, viewer, workspace } = company
    const elsewhere = await createWorkspace(service, member)
    const expiresAt = new Date(clock.now().getTime() + 60_000).toISOString()
    const workspaceIds = [workspace.id]
    const revoked = await createKey(service, member, { workspaceIds })
    await as(revoked, post(`/v1/api-keys/${revoked.id}/revoke`))
    const expiring = await createKey(service, member, { workspaceIds, expiresAt })
    const other = await createKey(service, member, { workspaceIds: [elsewhere.id] })
    const ofViewer = await createKey(service, viewer, { workspaceIds })
    // A change in another workspace is none here.
    await as(other, post(`/v1/workspaces/${elsewhere.slug}/teams`, { name: 'Weavers' }))
    expect(idsOf(await list(company)).slice(0, 2)).toEqual([ofViewer.id, expiring.id])
    clock.advance(60_000)
    await db.execute(
      sql`delete from memberships where workspace_id = ${workspace.id} and user_id = ${viewer.id}`,
    )
    const left = idsOf(await list(company))
    for (const { id } of [revoked, expiring, other, ofViewer]) expect(left).not.toContain(id)
  })
})
