import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { untilActivityIsRecorded } from '../support/activity.ts'
import { addPerson, createCompany, del, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const urlOf = ({ id }: { id: string }) => `${company.url}/members/${id}`

describe('200', () => {
  it('returns to every member the same member as the list', async () => {
    await untilActivityIsRecorded(service, company.workspace)
    const members = (await as(company.owner, get(`${company.url}/members`))).json<{ userId: string }[]>()
    expect(members).toHaveLength(4)
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      for (const member of members) {
        const answer = await as(company[role], get(urlOf({ id: member.userId })))
        expect(answer.statusCode, answer.body).toBe(200)
        expect(answer.json()).toEqual(member)
      }
    }
  })

  it('runs two queries: one for the key and the workspace, one for the member', async () => {
    expect(await countQueries(() => as(company.viewer, get(urlOf(company.admin))))).toBe(2)
  })
})

describe('404', () => {
  it('is the same for an unknown and a malformed id, and for a person of another workspace', async () => {
    const other = await createCompany(service)
    for (const path of [other.member.id, createId(), 'x', '%00', "'"])
      expectError(await as(company.owner, get(urlOf({ id: path }))), errors.notFound)
  })

  it('is the answer once the member was removed', async () => {
    const person = await addPerson(service, company.workspace, 'member')
    expect((await as(company.owner, get(urlOf(person)))).statusCode).toBe(200)
    expect((await as(company.owner, del(urlOf(person)))).statusCode).toBe(200)
    expectError(await as(company.owner, get(urlOf(person))), errors.notFound)
  })
})
