import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Description, Operation, Parameter, Schema } from '../../scripts/description.ts'
import { catalogueEvents, type CataloguedEvent } from '../../scripts/event-catalogue.ts'
import { checkEach } from '../support/check-each.ts'
import { findApiBreaks } from '../support/compatible-api.ts'
import { findEventBreaks } from '../support/compatible-events.ts'

const read = (file: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'))
type Catalogue = Record<string, CataloguedEvent>
const released = {
  api: read('docs/released/openapi.json') as Description,
  events: read('docs/released/events.json') as { version: string; types: Catalogue },
}
/** Changes that break clients and were made nevertheless, such as those that security needs, each with its reason. */
const exceptions = read('docs/released/exceptions.json') as Record<string, string>

describe('what the last release has promised (docs/design/errors.md#compatibility)', () => {
  it('was written for the version of the package', () => {
    expect(released.events.version).toBe((read('package.json') as { version: string }).version)
  })

  it('is kept by the API and its events, but for the exceptions, which have reasons and are all needed', () => {
    const breaks = [
      ...findApiBreaks(released.api, read('docs/openapi.json') as object),
      ...findEventBreaks(released.events.types, catalogueEvents()),
    ]
    expect(breaks.toSorted()).toEqual(Object.keys(exceptions).toSorted())
    for (const reason of Object.values(exceptions)) expect(reason).toMatch(/\w+ \w+.*\.$/)
  })
})

type Change = (api: Description) => unknown

/** An operation or a webhook, in a description that is changed by a test. */
function operationOf({ paths, webhooks }: Description, id: string): Operation {
  const all = [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) =>
    Object.values(methods),
  )
  const found = all.find(({ operationId }) => operationId === id)
  if (!found) throw new Error(`${id} is not in the released description`)
  return found
}

/** A parameter of an operation, which others may share. */
function parameterOf(api: Description, id: string, name: string): Parameter {
  const shared = Object.values(api.components.parameters)
  const own = operationOf(api, id).parameters?.map((each) =>
    each.$ref === undefined
      ? (each as Parameter)
      : api.components.parameters[each.$ref.split('/').at(-1) ?? ''],
  )
  return need([...(own ?? []), ...shared].find((each) => each?.name === name))
}

const bodyOf = (api: Description, id: string): Schema =>
  need(Object.values(need(operationOf(api, id).requestBody).content)[0]).schema
const field = (schema: Schema, name: string): Schema => need(schema.properties?.[name])
const component = (api: Description, name: string): Schema => need(api.components.schemas[name])

function need<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the released description does not have what the test changes')
  return part
}

function drop(list: unknown[] | undefined, ...values: unknown[]): void {
  for (const value of values) need(list).splice(need(list).indexOf(value), 1)
}

function grow(schema: Schema, name: string, added: Schema, { isRequired = true } = {}): void {
  schema.properties = { ...schema.properties, [name]: added }
  if (isRequired) schema.required = [...(schema.required ?? []), name]
}

function lose(schema: Schema, name: string): void {
  delete schema.properties?.[name]
  schema.required = schema.required?.filter((each) => each !== name) ?? []
}

const breaking: [what: string, change: Change, sentence: RegExp][] = [
  ['an operation is gone', (api) => delete api.paths['/v1/me/home'], /^me\.home: is gone$/],
  [
    'an operation has another id',
    (api) => (operationOf(api, 'seeds.get').operationId = 'seeds.read'),
    /^seeds\.get: is gone$/,
  ],
  [
    'an operation has another path',
    (api) => {
      api.paths['/v1/me/start'] = need(api.paths['/v1/me/home'])
      delete api.paths['/v1/me/home']
    },
    /^me\.home: GET \/v1\/me\/home became GET \/v1\/me\/start$/,
  ],

  [
    'a filter is gone',
    (api) => {
      const operation = operationOf(api, 'seeds.list')
      operation.parameters = operation.parameters?.filter(({ name }) => name !== 'status') ?? []
    },
    /^seeds\.list: query status: is gone$/,
  ],
  [
    'an enumeration of a query loses a value',
    (api) => drop(parameterOf(api, 'seeds.list', 'sort').schema.enum, 'updatedAt'),
    /^seeds\.list: query sort: the value updatedAt is gone$/,
  ],
  [
    'the default of a query changes',
    (api) => (parameterOf(api, 'seeds.list', 'sort').schema.default = 'updatedAt'),
    /^seeds\.list: query sort: default createdAt became updatedAt$/,
  ],
  [
    'fewer rows can be asked for',
    (api) => (parameterOf(api, 'seeds.list', 'limit').schema.maximum = 20),
    /^members\.list: query limit: maximum \d+ became 20$/,
  ],
  [
    'a query becomes required',
    (api) => (parameterOf(api, 'seeds.list', 'sort').required = true),
    /^seeds\.list: query sort: is required$/,
  ],
  [
    'a further query is required',
    (api) =>
      operationOf(api, 'seeds.list').parameters?.push({
        ...{ name: 'q', in: 'query', required: true, schema: { type: 'string' } },
      }),
    /^seeds\.list: query q: is required$/,
  ],
  [
    'a query has a pattern',
    (api) => (parameterOf(api, 'workspaces.search', 'q').schema.pattern = '^[a-z]*$'),
    /^workspaces\.search: query q: pattern .* became \^\[a-z\]\*\$$/,
  ],
  [
    'a request header is gone',
    (api) => (operationOf(api, 'seeds.update').parameters = [{ $ref: '#/components/parameters/path.id' }]),
    /^seeds\.update: header If-Match: is gone$/,
  ],

  [
    'a text of a body is shorter',
    (api) => (field(bodyOf(api, 'seeds.create'), 'title').maxLength = 10),
    /^seeds\.create: body title: maxLength \d+ became 10$/,
  ],
  [
    'an enumeration of a body loses a value',
    (api) => drop(field(bodyOf(api, 'seeds.addEvidence'), 'kind').enum, 'survey'),
    /^seeds\.addEvidence: body kind: the value survey is gone$/,
  ],
  [
    'a role that can be given is gone',
    (api) => drop(component(api, 'Role').enum, 'viewer'),
    /^members\.updateRole: body role: the value viewer is gone$/,
  ],
  [
    'a field of a body has another type',
    (api) => (field(bodyOf(api, 'seeds.create'), 'problem').type = 'integer'),
    /^seeds\.create: body problem: string became integer$/,
  ],
  [
    'items of a body have another type',
    (api) => (need(field(bodyOf(api, 'seeds.create'), 'successCriteria').items).type = 'integer'),
    /^seeds\.create: body successCriteria\[\]: string became integer$/,
  ],
  [
    'a field of a body is gone',
    (api) => lose(bodyOf(api, 'seeds.create'), 'problem'),
    /^seeds\.create: body: the field problem is gone$/,
  ],
  [
    'a field of a body becomes required',
    (api) => bodyOf(api, 'seeds.create').required?.push('problem'),
    /^seeds\.create: body: the field problem is required$/,
  ],
  [
    'a further field of a body is required',
    (api) => grow(bodyOf(api, 'seeds.create'), 'colour', { type: 'string' }),
    /^seeds\.create: body: the field colour is required$/,
  ],
  [
    'an open body is closed',
    (api) => (bodyOf(api, 'agentOAuth.register').additionalProperties = false),
    /^agentOAuth\.register: body: has no further fields$/,
  ],
  [
    'a body is required',
    (api) => (operationOf(api, 'apiKeys.revoke').requestBody = { required: true, content: {} }),
    /^apiKeys\.revoke: body: is required$/,
  ],
  [
    'another type of content is taken',
    (api) => {
      const { content } = need(operationOf(api, 'seeds.create').requestBody)
      content['text/json'] = need(content['application/json'])
      delete content['application/json']
    },
    /^seeds\.create: body: application\/json is gone$/,
  ],

  [
    'an error has another status',
    (api) => {
      const { responses } = operationOf(api, 'workspaces.create')
      responses['422'] = need(responses['409'])
      delete responses['409']
    },
    /^workspaces\.create: 409: is gone$/,
  ],
  [
    'a code of an error is gone',
    (api) =>
      (operationOf(api, 'invites.create').responses['409'] = need(
        operationOf(api, 'seeds.addEvidence').responses['409'],
      )),
    /^invites\.create: 409 code: the value already_invited is gone$/,
  ],
  [
    'an error has another field',
    (api) => grow(component(api, 'Conflict'), 'hint', { type: 'string' }),
    /^seeds\.join: 409: the field hint is new$/,
  ],
  [
    'the message of an error is gone',
    (api) => lose(component(api, 'NotFound'), 'message'),
    /^seeds\.get: 404: the field message is gone$/,
  ],
  [
    'an issue of a malformed request is of another kind',
    (api) =>
      field(need(field(component(api, 'HttpApiDecodeError'), 'issues').items), '_tag').enum?.push('Range'),
    /^seeds\.create: 400 issues\[\]\._tag: the value Range is new$/,
  ],
  [
    'there is another success',
    (api) => {
      const { responses } = operationOf(api, 'seeds.create')
      responses['201'] = need(responses['200'])
    },
    /^seeds\.create: 201: is new$/,
  ],
  [
    'the link to the next page is gone',
    (api) => delete need(operationOf(api, 'seeds.list').responses['200']).headers?.Link,
    /^seeds\.list: 200 Link: is gone$/,
  ],
  [
    'the entity tag is gone',
    (api) => delete need(operationOf(api, 'seeds.get').responses['200']).headers?.ETag,
    /^seeds\.get: 200 ETag: is gone$/,
  ],
  [
    'a header has another type',
    (api) => (need(api.components.headers['Retry-After']).schema.type = 'string'),
    /^seeds\.get: 503 Retry-After: integer became string$/,
  ],
  [
    'a response has another type of content',
    (api) => {
      const content = need(need(operationOf(api, 'workspaces.export').responses['200']).content)
      content['application/json'] = need(content['application/x-ndjson'])
      delete content['application/x-ndjson']
    },
    /^workspaces\.export: 200: application\/x-ndjson is gone$/,
  ],

  [
    'a field of a response is gone',
    (api) => lose(component(api, 'Seed'), 'following'),
    /^seeds\.create: 200 seed: the field following is gone$/,
  ],
  [
    'a field of a response has another type',
    (api) => (field(component(api, 'Seed'), 'commentCount').type = 'string'),
    /^seeds\.list: 200 \[\]\.commentCount: integer became string$/,
  ],
  [
    'a field of a response is of two types',
    (api) => (field(component(api, 'Seed'), 'title').type = ['string', 'integer']),
    /^seeds\.get: 200 title: may be integer$/,
  ],
  [
    'a field of a response may be null',
    (api) => (field(component(api, 'Seed'), 'summary').type = ['string', 'null']),
    /^seeds\.get: 200 summary: may be null$/,
  ],
  [
    'a field of a response is optional',
    (api) => drop(component(api, 'Seed').required, 'summary'),
    /^seeds\.get: 200: the field summary is optional$/,
  ],
  [
    'a field of a response has no format',
    (api) => delete field(component(api, 'Seed'), 'createdAt').format,
    /^seeds\.get: 200 createdAt: format date-time became none$/,
  ],
  [
    'an enumeration of a response loses a value',
    (api) => drop(field(component(api, 'Seed'), 'status').enum, 'dropped'),
    /^seeds\.get: 200 status: the value dropped is gone$/,
  ],
  [
    'an enumeration of a response becomes any text',
    (api) => delete field(component(api, 'Seed'), 'status').enum,
    /^seeds\.get: 200 status: is not one of open, .* only$/,
  ],
  [
    'a constant changes',
    (api) => (field(component(api, 'TeamCreation'), 'ok').const = false),
    /^teams\.create: 200 ok: const true became false$/,
  ],
  [
    'a response is open',
    (api) => delete component(api, 'Seed').additionalProperties,
    /^seeds\.get: 200: has further fields$/,
  ],
  [
    'an object of the specification has another field',
    (api) => grow(component(api, 'Profile'), 'colour', { type: 'string' }, { isRequired: false }),
    /^me\.profile: 200: the field colour is new$/,
  ],
  [
    'an enumeration of an object of the specification has another value',
    (api) => component(api, 'Role').enum?.push('guest'),
    /^workspaces\.list: 200 \[\]\.role: the value guest is new$/,
  ],

  [
    'an API key is not taken in its own header',
    (api) => (operationOf(api, 'seeds.get').security = [{ bearer: [] }]),
    /^seeds\.get: security apiKey: is gone$/,
  ],
  [
    'that header has another name',
    (api) => (need(api.components.securitySchemes.apiKey as { name: string }).name = 'Api-Key'),
    /^securitySchemes\.apiKey\.name X-API-Key became Api-Key$/,
  ],
  [
    'a public operation needs a key',
    (api) => (operationOf(api, 'system.health').security = [{ bearer: [] }]),
    /^system\.health: security none: is gone$/,
  ],
  [
    'an agent needs a further scope',
    (api) => operationOf(api, 'agent.search').security[0]?.agentOAuth?.push('seeds:write'),
    /^agent\.search: security agentOAuth: is gone$/,
  ],

  [
    'deliveries of webhooks have no id',
    (api) => {
      const webhook = operationOf(api, 'webhooks.receive')
      webhook.parameters = webhook.parameters?.filter(({ name }) => name !== 'webhook-id') ?? []
    },
    /^webhooks\.receive: header webhook-id: is gone$/,
  ],
  [
    'deliveries of webhooks have no cursor',
    (api) => lose(bodyOf(api, 'webhooks.receive'), 'cursor'),
    /^webhooks\.receive: body: the field cursor is gone$/,
  ],
  [
    'receivers of webhooks cannot end them',
    (api) => delete operationOf(api, 'webhooks.receive').responses['410'],
    /^webhooks\.receive: 410: is gone$/,
  ],
]

const compatible: [what: string, change: Change][] = [
  [
    'a further operation',
    (api) =>
      (api.paths['/v1/colours'] = {
        get: { ...operationOf(api, 'me.home'), operationId: 'colours.list', parameters: [] },
      }),
  ],
  [
    'a further optional query',
    (api) =>
      operationOf(api, 'seeds.list').parameters?.push({ name: 'q', in: 'query', schema: { type: 'string' } }),
  ],
  [
    'a further optional field of a body',
    (api) => grow(bodyOf(api, 'seeds.create'), 'colour', { type: 'string' }, { isRequired: false }),
  ],
  [
    'a field of a body that is no longer required, longer, or null',
    (api) => {
      drop(bodyOf(api, 'seeds.create').required, 'summary')
      Object.assign(field(bodyOf(api, 'seeds.create'), 'summary'), {
        ...{ minLength: 0, maxLength: 100_000, type: ['string', 'null'] },
      })
    },
  ],
  ['more rows of a page', (api) => (parameterOf(api, 'seeds.list', 'limit').schema.maximum = 1000)],
  [
    'another value of an enumeration in a body',
    (api) => field(bodyOf(api, 'seeds.addEvidence'), 'kind').enum?.push('observation'),
  ],
  [
    'a query of dates also takes times of another form',
    (api) => {
      const { schema } = parameterOf(api, 'events.list', 'since')
      schema.anyOf = [...(schema.anyOf ?? []), { format: 'date' }]
    },
  ],
  [
    'a further field of a response, which may be null',
    (api) => grow(component(api, 'Seed'), 'url', { type: ['string', 'null'] }),
  ],
  [
    'another value of an enumeration in a response',
    (api) => field(component(api, 'Seed'), 'status').enum?.push('paused'),
  ],
  [
    'a field of a response that is never null',
    (api) => (field(component(api, 'Seed'), 'problem').type = 'string'),
  ],
  [
    'the same null in other words',
    (api) => {
      const { properties = {} } = component(api, 'Seed')
      const { description = '' } = need(properties.problem)
      properties.problem = { description, anyOf: [{ type: 'string' }, { type: 'null' }] }
    },
  ],
  [
    'a further header',
    (api) => {
      const { headers } = need(operationOf(api, 'seeds.create').responses['200'])
      need(headers).ETag = { $ref: '#/components/headers/ETag' }
    },
  ],
  [
    'a further code and a further status of an error',
    (api) => {
      const { responses } = operationOf(api, 'teams.delete')
      responses['400'] = need(operationOf(api, 'events.list').responses['400'])
      responses['409'] = need(operationOf(api, 'seeds.join').responses['409'])
    },
  ],
  ['a further way in', (api) => operationOf(api, 'seeds.get').security.push({ agentOAuth: [] })],
  [
    'a further header of deliveries',
    (api) =>
      operationOf(api, 'webhooks.receive').parameters?.push({
        ...{ name: 'webhook-workspace-id', in: 'header', required: true, schema: { type: 'string' } },
      }),
  ],
  ['other words', (api) => (operationOf(api, 'seeds.get').description = 'Another sentence.')],
]

describe('findApiBreaks', () => {
  const breaksOf = (change: Change) => {
    const changed = structuredClone(released.api)
    change(changed)
    expect(isDeepStrictEqual(changed, released.api)).toBe(false)
    return findApiBreaks(released.api, changed)
  }

  it('finds each change that breaks clients', async () => {
    await checkEach(
      breaking,
      ([what]) => what,
      ([, change, sentence]) => expect(breaksOf(change)).toContainEqual(expect.stringMatching(sentence)),
    )
  })

  it('finds nothing in changes that are compatible', async () => {
    await checkEach(
      compatible,
      ([what]) => what,
      ([, change]) => expect(breaksOf(change)).toEqual([]),
    )
  })
})

describe('findEventBreaks', () => {
  const breaksOf = (change: (types: Catalogue) => unknown) => {
    const changed = structuredClone(released.events.types)
    change(changed)
    expect(isDeepStrictEqual(changed, released.events.types)).toBe(false)
    return findEventBreaks(released.events.types, changed)
  }
  const dataOf = (types: Catalogue, type: string) => need(types[type]).data as Schema

  it('finds each change that breaks clients', async () => {
    await checkEach<[change: (types: Catalogue) => unknown, sentence: string]>(
      [
        [(types) => delete types['comment.added'], 'comment.added: is gone'],
        [
          (types) => lose(dataOf(types, 'member.joined'), 'role'),
          'member.joined: data: the field role is gone',
        ],
        [
          (types) => (field(dataOf(types, 'webhook.redelivered'), 'events').type = 'string'),
          'webhook.redelivered: data events: integer became string',
        ],
        [
          (types) => drop(field(dataOf(types, 'member.role_changed'), 'to').enum, 'viewer'),
          'member.role_changed: data to: the value viewer is gone',
        ],
        [
          (types) => (need(types['seed.created']).readers = 'managers'),
          'seed.created: readers everybody became managers',
        ],
        [
          (types) => (need(types['comment.added']).targetType = 'seed'),
          'comment.added: targetType comment became seed',
        ],
      ],
      ([, sentence]) => sentence,
      ([change, sentence]) => expect(breaksOf(change)).toEqual([sentence]),
    )
  })

  it('finds nothing in changes that are compatible', async () => {
    await checkEach<[what: string, change: (types: Catalogue) => unknown]>(
      [
        ['a type', (types) => (types['seed.painted'] = need(types['seed.created']))],
        ['a field', (types) => grow(dataOf(types, 'seed.created'), 'colour', { type: 'string' })],
        ['a value', (types) => field(dataOf(types, 'evidence.added'), 'kind').enum?.push('observation')],
        ['more readers', (types) => (need(types['invite.created']).readers = 'everybody')],
      ],
      ([what]) => what,
      ([, change]) => expect(breaksOf(change)).toEqual([]),
    )
  })
})
