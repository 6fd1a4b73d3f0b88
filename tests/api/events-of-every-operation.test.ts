import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/areas/events/events.schemas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { isEventType, kindOf } from '../../src/domain/events.ts'
import { createCompany, createTeam, del, get, patch, post, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { operations, type Operation } from '../support/operations.ts'
import { fill, prepareRequest } from '../support/prepare-request.ts'
import { startTestApp } from '../support/test-app.ts'
import { findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { as } = service
const ajv = new Ajv({ allowUnionTypes: true })

const changes = Object.entries(operations).flatMap(([id, operation]) =>
  operation.event ? [[id, operation, operation.event] as const] : [],
)

const anyId: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)

// What members and viewers saw before: a service account is a member.
const firstOf = (type: string) =>
  type.startsWith('service_account.') ? 'member.joined' : 'workspace.created'

const newEvents = async ({ workspace }: TestCompany, count: number) =>
  (await findEvents(service, workspace)).slice(count)

/** The request of a change, which has not been made, in a company of its own. */
async function prepare(operation: Operation) {
  const company = await createCompany(service)
  return { company, ...(await prepareRequest(service, operation, { company })) }
}

describe.each(changes)('%s', (_id, operation, event) => {
  const { type, target, summary, also = [], again, refused = errors.roleInsufficient } = event
  const each = also.length + 1

  it('appends its events with the actor, the API key, the type, the target and a summary', async () => {
    const { company, actor, values, request } = await prepare(operation)
    const { length } = await findEvents(service, company.workspace)
    const answer = await as(actor, request)
    expect(answer.statusCode, answer.body).toBe(200)
    const added = await newEvents(company, length)
    expect(added.slice(0, -1).map((further) => further.type)).toEqual(also)
    expect(added.slice(-1)).toEqual([
      {
        type,
        actor_type: 'user',
        actor_user_id: actor.id,
        actor_name: actor.name,
        grant_id: null,
        api_key_id: actor.apiKeyId,
        source: 'api',
        target_type: target[0],
        target_id: target[1] === undefined ? anyId : values[target[1]],
        summary: fill(summary, values),
      },
    ])

    if (type === 'workspace.deleted') {
      expectError(await as(company.owner, get(`${company.url}/events?limit=1`)), errors.notFound)
      return
    }

    // The feed tells it in the same words, first, to everybody who may know.
    const isForAll = !/^(invite|integration|webhook|service_account)\.|agent_policy/.test(type)
    for (const reader of [company.admin, company.viewer]) {
      const [first] = (await as(reader, get(`${company.url}/events?limit=1`))).json<{ type: string }[]>()
      if (isForAll || reader === company.admin)
        expect(first).toMatchObject({ type, summary: fill(summary, values) })
      else expect(first?.type).toBe(also.at(-1) ?? firstOf(type))
    }

    // Its data has the fields of its type, and names the target.
    const [event] = (await as(company.owner, get(`${company.url}/events?limit=1`))).json<Event[]>()
    if (!event || !isEventType(type)) throw new Error('there is no such event')
    const { data: schema, target: places } = kindOf(type)
    expect(ajv.validate(schema, event.data), ajv.errorsText()).toBe(true)
    expect(event.data[places[1]]).toBe(event.targetId)
    expect(event.targetType).toBe(places[0])
  })

  it('appends no event when it is refused or when a repetition changes nothing', async () => {
    const { company, actor, request } = await prepare(operation)
    const { length } = await findEvents(service, company.workspace)
    expectError(await as(company.viewer, request), refused)
    expect(await newEvents(company, length)).toEqual([])

    expect((await as(actor, request)).statusCode).toBe(200)
    const repeated = await as(actor, request)
    // Its message may go on with what is the case.
    if (typeof again === 'function')
      expectError(repeated, again, { message: expect.stringContaining(again.message) as string })
    else expect(repeated.statusCode).toBe(200)
    expect(await newEvents(company, length)).toHaveLength(again === 'changes' ? 2 * each : each)
  })
})

// An upload has no Idempotency-Key, and needs none.
const posts = changes.filter(([, { request, hasPicture }]) => request.startsWith('POST') && !hasPicture)

describe.each(posts)('%s, sent twice with the same Idempotency-Key', (_id, operation, { also = [] }) => {
  it('appends its events once', async () => {
    const { company, actor, request: sent } = await prepare(operation)
    const { length } = await findEvents(service, company.workspace)
    const request = { ...sent, headers: { ...sent.headers, 'idempotency-key': randomSlug() } }
    const first = await as(actor, request)
    const second = await as(actor, request)
    expect([first.statusCode, second.statusCode]).toEqual([200, 200])
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.body).toBe(first.body)
    expect(await newEvents(company, length)).toHaveLength(also.length + 1)
  })
})

describe('a change that members make to themselves', () => {
  it('appends an event that says that the member left or changed their own role', async () => {
    const company = await createCompany(service)
    const { url, member, viewer, admin } = company
    const team = await createTeam(service, company.owner, company, 'Design')
    await as(company.owner, post(`${team.url}/members`, { userId: member.id }))
    const { length } = await findEvents(service, company.workspace)
    await as(member, del(`${team.url}/members/${member.id}`))
    await as(viewer, del(`${url}/members/${viewer.id}`))
    await as(admin, patch(`${url}/members/${admin.id}`, { role: 'member' }))
    const added = await newEvents(company, length)
    expect(added.map(({ type, summary }) => ({ type, summary }))).toEqual([
      { type: 'team.member_removed', summary: 'Mary Member left the team Design' },
      { type: 'member.left', summary: 'Vera Viewer left Acme' },
      {
        type: 'member.role_changed',
        summary: 'Adam Admin changed the role of Adam Admin from admin to member',
      },
    ])
  })
})
