import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createKey, noRestrictions } from '../support/api-keys.ts'
import { addPerson, createCompany, post } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { findNotifications, insertNotification } from '../support/notifications.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service
const { workspace } = await createCompany(service)

const path = '/v1/me/notifications/unread'

/** Somebody who has read two notifications. */
async function addReader() {
  const reader = await addPerson(service, workspace, 'viewer')
  const inbox = { workspaceId: workspace.id, userId: reader.id }
  const tell = (day: number) =>
    insertNotification(service, inbox, { createdAt: new Date(Date.UTC(2026, 10, day)), readAt: new Date() })
  return { reader, ids: [await tell(20), await tell(21)] }
}

const readBy = async (person: Parameters<typeof findNotifications>[1]) =>
  (await findNotifications(service, person)).map(({ isRead }) => isRead)

describe('200', () => {
  it('marks some as unread, however often, and ignores ids that are none of the caller’s notifications', async () => {
    const { reader, ids } = await addReader()
    const other = await addReader()
    const body = { ids: [ids[1], other.ids[0], createId(), 'nonsense'] }
    for (let i = 0; i < 2; i++) {
      const answer = await as(reader, post(path, body))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      expect(await readBy(reader)).toEqual([true, false])
    }
    expect(await readBy(other.reader)).toEqual([true, true])
    expect((await as(reader, { url: '/v1/me/notifications/count' })).json()).toEqual({ unread: 1 })
  })

  it('reaches only the workspaces of a bound key', async () => {
    const { reader, ids } = await addReader()
    const other = await createWorkspace(service, reader)
    const inbox = { workspaceId: other.id, userId: reader.id }
    const here = await insertNotification(service, inbox, { readAt: new Date() })
    const key = await createKey(service, reader, { ...noRestrictions, workspaceIds: [other.id] })
    await as({ apiKey: key.secret }, post(path, { ids: [...ids, here] }))
    expect(await readBy(reader)).toEqual([true, true, false])
  })
})

describe('400', () => {
  it.each([
    {},
    { ids: [] },
    { ids: [5] },
    { until: '2026-11-21T00:00:00.000Z' },
    { ids: Array.from({ length: 201 }, () => createId()) },
  ])('returns 400 for %j', async (body) => {
    const { reader } = await addReader()
    expectError(await as(reader, post(path, body)), errors.decodeError, { issues: anyIssues })
    expect(await readBy(reader)).toEqual([true, true])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await service.app.inject(post(path, { ids: [createId()] })), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 for a key that may only read', async () => {
    const { reader, ids } = await addReader()
    const key = await createKey(service, reader, { ...noRestrictions, access: 'read' })
    expectError(await as({ apiKey: key.secret }, post(path, { ids })), errors.keyReadOnly)
    expect(await readBy(reader)).toEqual([true, true])
  })
})
