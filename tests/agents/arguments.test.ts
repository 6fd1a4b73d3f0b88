import type { ValidationKit } from '../../src/agents/kit/kit.service.ts'
import { readTable } from '../support/kit-table.ts'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { eras, letAgentIn } from '../support/agent-caller.ts'
import { createCompany } from '../support/company.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { config } = service
const company = await createCompany(service)
const { owner, workspace } = company
const seed = await createSeed(service, owner, company, { title: 'Robots' })
await joinSeed(service, owner, seed)
const piece = await addEvidence(service, owner, seed)
const seedUrl = `${config.webUrl}/w/${workspace.slug}/seeds/${seed.id}`

interface Created {
  seed: { id: string; title: string; successCriteria: string[] }
}

describe.each(eras)('arguments as models send them, in %s', async (era) => {
  const agent = await letAgentIn(service, workspace, owner, { era })
  const create = async (successCriteria: unknown) => {
    const { seed: created } = await agent.use<Created>('create_seed', {
      ...{ title: `Seed ${createId()}`, summary: 'A summary', successCriteria, detail: 'full' },
    })
    return created.successCriteria
  }
  const typesOf = async (input: unknown) => {
    const { lines } = await agent.use<{ lines: { type: string }[] }>('list_events', input as object)
    return new Set(lines.map(({ type }) => type))
  }
  /** The answer to arguments of any kind, as they are in the message. */
  const send = (name: string, args: unknown) =>
    agent.ask<{ isError?: boolean; content: { text: string }[] }>('tools/call', { name, arguments: args })

  it('may be a list as JSON in a string, or one value for a list of one', async () => {
    expect(await create('["Ten people", "They pay"]')).toEqual(['Ten people', 'They pay'])
    expect(await create(' ["Ten people"]\n')).toEqual(['Ten people'])
    expect(await create('Ten people')).toEqual(['Ten people'])
    expect(await create('[Draft] Ten people')).toEqual(['[Draft] Ten people'])
    expect(await create('[]')).toEqual([])
    for (const types of ['seed.created', '["seed.created"]', ['seed.created']])
      expect(await typesOf({ types })).toEqual(new Set(['seed.created']))
  })

  it('may be numbers as text', async () => {
    const { lines } = await agent.use<{ lines: object[] }>('list_events', { limit: ' 1' })
    expect(lines).toHaveLength(1)
  })

  it.each([[null], [''], ['{}'], ['null'], [[]], [undefined]])('may be %j for none', async (args) => {
    const answer = await send('list_events', args)
    expect(answer.isError ?? false, answer.content[0]?.text).toBe(false)
  })

  it('may be an object as JSON in a string', async () => {
    const { content } = await send('fetch', JSON.stringify({ id: seed.id }))
    expect(JSON.parse(String(content[0]?.text))).toMatchObject({ id: seed.id, title: 'Robots' })
  })

  it('have ids in upper case, and URLs of seeds, in place of ids', async () => {
    for (const id of [
      seed.id.toUpperCase(),
      seedUrl,
      `${seedUrl}/edit?x=1`,
      `${config.webUrl}/s/${seed.id}`,
      `${config.webUrl}/s/${seed.id}#evidence-${piece.id}`,
      ` ${seedUrl}#evidence-${piece.id} `,
    ]) {
      expect(await agent.use('fetch', { id }), id).toMatchObject({ id: seed.id, title: 'Robots' })
      const { seeds } = await agent.use<{ seeds: { id: string }[] }>('read_validation_kit', { seedId: id })
      expect(seeds, id).toMatchObject([{ id: seed.id }])
      expect((await agent.send('seeds:fetch', { id })).json(), id).toMatchObject({ id: seed.id })
      const kit = await agent.send('validation-kit:read', { seedId: id })
      expect(kit.json(), id).toMatchObject({ seeds: [{ id: seed.id }] })
      expect(await typesOf({ seedId: id, types: ['evidence.added'] }), id).toEqual(
        new Set(['evidence.added']),
      )
    }
    const { comment } = await agent.use<{ comment: object }>('add_comment', {
      ...{ seedId: seedUrl, body: 'Who was asked?', detail: 'full' },
      evidenceId: `${config.webUrl}/s/${seed.id}#evidence-${piece.id}`,
    })
    expect(comment).toMatchObject({ evidenceId: piece.id, seedId: seed.id })
    const person = `${config.webUrl}/w/${workspace.slug}/people/${owner.id}`
    expect(await typesOf({ actorUserId: person, types: 'seed.created' })).toEqual(new Set(['seed.created']))
  })

  it('have no URL of another website, or without an id, in place of an id', async () => {
    const others = [
      `https://evil.example/w/${workspace.slug}/seeds/${seed.id}`,
      `${config.webUrl}.evil.example/w/x/seeds/${seed.id}`,
      `${config.webUrl}/w/${workspace.slug}/seeds`,
    ]
    for (const id of others) {
      const { isError, content } = await agent.call('fetch', { id })
      expect(isError, id).toBe(true)
      expect(content[0]?.text).toMatch('Call search for the ids')
    }
  })

  it('may have a date for a time', async () => {
    const seedsSince = async (updatedSince: string) =>
      readTable(await agent.use<ValidationKit>('read_validation_kit', { updatedSince }))
    expect((await seedsSince('2026-01-01')).length).toBeGreaterThan(0)
    expect(await seedsSince('2126-01-01')).toEqual([])
    const { content } = await agent.call('read_validation_kit', { updatedSince: 'yesterday' })
    expect(content[0]?.text).toMatch('updatedSince must be a date or a time (RFC 3339)')
  })

  it.each<[string, unknown, string]>([
    ['list_events', 'seed.created', 'the input must be object'],
    ['list_events', 5, 'the input must be object'],
    ['list_events', ['seed.created'], 'the input must be object'],
    ['list_events', { types: [5] }, 'types.0 must be string'],
    ['list_events', { types: '[5]' }, 'types.0 must be string'],
    ['list_events', { limit: 'five' }, 'limit must be integer'],
    ['list_events', { form: ['digest'] }, 'form must be string'],
    [
      'create_seed',
      { title: 'T', summary: 'S', successCriteria: '[{"a": 1}]' },
      'successCriteria.0 must be string',
    ],
  ])('are refused by a tool error with the path: %s %j', async (name, args, fault) => {
    const { isError, content } = await send(name, args)
    expect(isError).toBe(true)
    expect(content[0]?.text).toMatch(`Invalid arguments for ${name}: ${fault}`)
    expect(content[0]?.text).toMatch('Call it again with these arguments only: ')
  })
})

describe('arguments as models send them', async () => {
  const agent = await letAgentIn(service, workspace, owner)

  it('are not repaired over HTTP', async () => {
    const rows: [string, object][] = [
      ['events:list', { types: '["seed.created"]' }],
      ['events:list', { types: 'seed.created' }],
      ['seeds:create', { title: 'T', summary: 'S', successCriteria: 'Ten people' }],
    ]
    for (const [path, body] of rows)
      expect((await agent.send(path, body)).json(), path).toMatchObject({ code: 'decode_error' })
  })

  it('are read in each field of every tool that is named as an id', async () => {
    const { tools } = await agent.ask<{ tools: { name: string; inputSchema: { properties: object } }[] }>(
      'tools/list',
    )
    const fields = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties))
    const described = tools.flatMap(({ inputSchema }) =>
      Object.entries(inputSchema.properties).flatMap(([name, field]) =>
        /\bid of\b/.test(String((field as { description?: string }).description)) ? [name] : [],
      ),
    )
    expect(described.filter((name) => !/^id$|Ids?$/.test(name))).toEqual([])
    expect(fields).toEqual(
      expect.arrayContaining(['id', 'seedId', 'evidenceId', 'teamIds', 'leadUserId', 'targetId']),
    )
  })
})
