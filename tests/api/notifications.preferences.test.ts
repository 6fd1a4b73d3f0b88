import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { get, patch } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as, createPerson } = service
const url = '/v1/me/notifications/preferences'
const initial = {
  mentions: 'mail',
  digest: true,
  roleChanges: 'mail',
  acceptedInvites: 'mail',
  agents: 'mail',
  agentRequests: 'inbox',
  decisions: 'mail',
}

describe('notifications.preferences', () => {
  it('are at first what mails were before them', async () => {
    const answer = await as(await createPerson(), get(url))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual(initial)
  })
})

describe('notifications.updatePreferences', () => {
  it('changes the given fields, of the caller alone', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    expect((await as(person, patch(url, { acceptedInvites: 'off', digest: false }))).json()).toEqual({
      ok: true,
    })
    await as(
      person,
      patch(url, {
        ...{ mentions: 'inbox', agents: 'inbox', roleChanges: 'inbox', decisions: 'off' },
        agentRequests: 'mail',
      }),
    )
    expect((await as(person, get(url))).json()).toEqual({
      ...{ mentions: 'inbox', digest: false, roleChanges: 'inbox' },
      ...{ acceptedInvites: 'off', agents: 'inbox', agentRequests: 'mail', decisions: 'off' },
    })
    expect((await as(other, get(url))).json()).toEqual(initial)
  })

  it.each([
    ['no field', {}],
    ['an unknown field', { mentions: 'mail', seeds: 'mail' }],
    ['mentions that are off', { mentions: 'off' }],
    ['changes of role that are off', { roleChanges: 'off' }],
    ['an unknown choice', { agents: 'sms' }],
    ['a digest that is no boolean', { digest: 'mail' }],
    ['null', { acceptedInvites: null }],
  ])('returns 400 for %s, and changes nothing', async (_, body) => {
    const person = await createPerson()
    const answer = await as(person, patch(url, body))
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'decode_error'])
    expect((await as(person, get(url))).json()).toEqual(initial)
  })

  it('returns 401 without a key', async () => {
    expectError(await service.app.inject(patch(url, { digest: false })), errors.apiKeyRequired)
  })
})
