import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createKey, noRestrictions } from '../support/api-keys.ts'
import { addPerson, createCompany, post } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { findNotifications, insertNotification } from '../support/notifications.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service
const { workspace } = await createCompany(service)

const path = '/v1/me/notifications/read'

async function addReader(count: number) {
  const reader = await addPerson(service, workspace, 'viewer')
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const createdAt = new Date(Date.UTC(2026, 10, 20 + i))
    ids.push(
      await insertNotification(service, { workspaceId: workspace.id, userId: reader.id }, { createdAt }),
    )
  }
  return { reader, ids }
}

const readBy = async (person: TestPerson) =>
  (await findNotifications(service, person)).map(({ isRead }) => isRead)

async function markRead(person: { apiKey: string }, body: object): Promise<void> {
  const answer = await as(person, post(path, body))
  expect(answer.statusCode, answer.body).toBe(200)
  expect(answer.json()).toEqual({ ok: true })
}

describe('200', () => {
  it('marks some as read, and ignores ids that are none of the caller’s notifications', async () => {
    const { reader, ids } = await addReader(3)
    const other = await addReader(1)
    await markRead(reader, { ids: [ids[1], other.ids[0], createId(), 'nonsense'] })
    expect(await readBy(reader)).toEqual([false, true, false])
    expect(await readBy(other.reader)).toEqual([false])
  })

  it('marks all until a time as read, that time included, and keeps when they were read before', async () => {
    const { reader } = await addReader(3)
    await markRead(reader, { until: '2026-11-21T00:00:00.000Z' })
    expect(await readBy(reader)).toEqual([true, true, false])
    await markRead(reader, { until: '2026-11-21T01:00:00+01:00' })
    expect(await readBy(reader)).toEqual([true, true, false])
  })

  it('reaches only the workspaces of a bound key', async () => {
    const { reader, ids } = await addReader(1)
    const other = await createWorkspace(service, reader)
    const here = await insertNotification(service, { workspaceId: other.id, userId: reader.id })
    const key = await createKey(service, reader, { ...noRestrictions, workspaceIds: [other.id] })
    await markRead({ apiKey: key.secret }, { ids: [...ids, here] })
    expect(await readBy(reader)).toEqual([false, true])
    await markRead({ apiKey: key.secret }, { until: '2030-01-01T00:00:00.000Z' })
    expect(await readBy(reader)).toEqual([false, true])
  })
})

describe('400', () => {
  it.each([
    {},
    { ids: [] },
    { ids: [5] },
    { until: 'yesterday' },
    { ids: [createId()], until: '2026-11-21T00:00:00.000Z' },
    { ids: Array.from({ length: 201 }, () => createId()) },
    { all: true },
  ])('returns 400 for %j', async (body) => {
    const { reader } = await addReader(1)
    expectError(await as(reader, post(path, body)), errors.decodeError, { issues: anyIssues })
    expect(await readBy(reader)).toEqual([false])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const answer = await service.app.inject({ ...post(path, { ids: [createId()] }) })
    expectError(answer, errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 for a key that may only read', async () => {
    const { reader, ids } = await addReader(1)
    const key = await createKey(service, reader, { ...noRestrictions, access: 'read' })
    const answer = await as({ apiKey: key.secret }, post(path, { ids }))
    expectError(answer, errors.keyReadOnly)
    expect(await readBy(reader)).toEqual([false])
  })
})
