import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createKey, noRestrictions, pathOfKey } from '../support/api-keys.ts'
import { get, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson } = service

const paths = (id: string) => [pathOfKey(id), `${pathOfKey(id)}/restrictions`]

describe('200', () => {
  it('returns a key as the list has it, and its restrictions', async () => {
    const person = await createPerson()
    const key = await createKey(service, person, { access: 'read' })
    const [listed] = (await as(person, get('/v1/api-keys'))).json<object[]>()
    expect((await as(person, get(pathOfKey(key.id)))).json()).toEqual(listed)
    const restrictions = await as(person, get(`${pathOfKey(key.id)}/restrictions`))
    expect(restrictions.json()).toEqual({ ...noRestrictions, access: 'read' })
  })

  it('returns null for what a key is not restricted by', async () => {
    const person = await createPerson()
    const answer = await as(person, get(`${pathOfKey(person.apiKeyId)}/restrictions`))
    expect(answer.json()).toEqual({ expiresAt: null, access: 'full', workspaceIds: null, maxRole: null })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { apiKeyId } = await createPerson()
    for (const url of paths(apiKeyId)) expectError(await app.inject(get(url)), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('shows only itself to a key that is bound to workspaces, in the list too', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const key = await createKey(service, person, { workspaceIds: [id] })
    for (const url of [...paths(person.apiKeyId), ...paths(createId()), ...paths('x')])
      expectError(await as(key, get(url)), errors.keyRestricted)
    for (const url of paths(key.id)) expect((await as(key, get(url))).statusCode).toBe(200)
    const listed = (await as(key, get('/v1/api-keys'))).json<{ id: string }[]>()
    expect(listed.map((item) => item.id)).toEqual([key.id])
  })
})

describe('404', () => {
  it('returns the same 404 for a key of another person, a revoked one, an unknown one and no id', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const revoked = await createKey(service, person)
    await as(person, post(`${pathOfKey(revoked.id)}/revoke`))
    for (const id of [stranger.apiKeyId, revoked.id, createId(), 'x']) {
      for (const url of paths(id)) expectError(await as(person, get(url)), errors.notFound)
    }
  })
})
