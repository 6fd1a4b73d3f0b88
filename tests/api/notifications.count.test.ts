import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createKey, noRestrictions } from '../support/api-keys.ts'
import { addPerson, createCompany, get } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { insertNotification } from '../support/notifications.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)
const { owner, workspace } = company

const path = '/v1/me/notifications/count'

async function countOf(person: { apiKey: string }): Promise<number> {
  const answer = await as(person, get(path))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ unread: number }>().unread
}

it('returns the number of unread notifications of the caller, without those about deleted seeds', async () => {
  const reader = await addPerson(service, workspace, 'viewer')
  const at = { workspaceId: workspace.id, userId: reader.id }
  expect(await countOf(reader)).toBe(0)
  const seed = await createSeed(service, owner, company)
  for (let i = 0; i < 2; i++) await insertNotification(service, at)
  await insertNotification(service, at, { readAt: new Date() })
  await insertNotification(service, at, {
    kind: 'status',
    seedId: seed.id,
    data: { from: 'open', to: 'dropped' },
  })
  await insertNotification(service, { ...at, userId: owner.id })
  expect(await countOf(reader)).toBe(3)
  await db.execute(sql`update seeds set deleted_at = now() where id = ${seed.id}`)
  expect(await countOf(reader)).toBe(2)
})

it('counts to 100, and for a bound key only what is from its workspaces', async () => {
  const reader = await addPerson(service, workspace, 'viewer')
  const other = await createWorkspace(service, reader)
  for (let i = 0; i < 103; i++)
    await insertNotification(service, { workspaceId: other.id, userId: reader.id })
  expect(await countOf(reader)).toBe(100)
  await insertNotification(service, { workspaceId: workspace.id, userId: reader.id })
  const key = await createKey(service, reader, { ...noRestrictions, workspaceIds: [workspace.id] })
  expect(await countOf({ apiKey: key.secret })).toBe(1)
})

it('returns 401 without a key', async () => {
  expectError(await service.app.inject(path), errors.apiKeyRequired)
})
