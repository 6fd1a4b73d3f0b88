import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  codesOf,
  createDescriptionReader,
  type Answer,
  type Operation,
  type Reference,
  type Schema,
} from '../../scripts/description.ts'
import { printOpenApi } from '../../src/http/description/openapi-document.ts'
import { errors, statusOfTag, type ErrorFactory } from '../../src/kernel/errors.ts'
import { ownKeywords } from '../../src/kernel/schemas.ts'
import { checkEach } from '../support/check-each.ts'
import { createFaultFinder } from '../support/schema-faults.ts'
import { specifiedIds } from '../support/specified-operations.ts'
import { startTestApp } from '../support/test-app.ts'

const { app } = await startTestApp()
const reader = createDescriptionReader(app.swagger())
const { document: description, resolve, answerOf } = reader

const allOperations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method,
    path,
    operation,
  })),
)

// What the standards of OAuth shape, with bodies that ignore unknown fields and errors of its own.
const isOAuth = ({ operation }: { operation: Operation }) => operation.tags.includes('agentOAuth')
const operations = allOperations.filter((each) => !isOAuth(each))

/**
 * What OAuth answers may have more fields (RFC 6749 §5.1). The data of an event has fields of its own for each type,
 * and may gain some (docs/design/events.md#types-and-data).
 */
const openSchemas = ['OAuthClient', 'OAuthError', 'OAuthTokens', 'EventData']

const publicOperations = ['system.health', 'system.ready']

/** A schema and all that it is made of, each named by where it is. */
function reach(where: string, schema: Schema, seen = new Set<Schema>()): [string, Schema][] {
  const resolved = resolve(schema)
  if (seen.has(resolved)) return []
  seen.add(resolved)
  const parts: [string, Schema][] = [
    ...Object.entries(resolved.properties ?? {}),
    ...(resolved.items ? [['[]', resolved.items] as [string, Schema]] : []),
    ...[...(resolved.anyOf ?? []), ...(resolved.oneOf ?? []), ...(resolved.allOf ?? [])].map(
      (part, i): [string, Schema] => [String(i), part],
    ),
  ]
  return [[where, resolved], ...parts.flatMap(([name, part]) => reach(`${where}.${name}`, part, seen))]
}

/** The media of every request and every answer, each named by where it is. */
const allMedia = allOperations.flatMap(({ id, operation }) => [
  ...Object.values(operation.requestBody?.content ?? {}).map((media) => ({ where: `${id} request`, media })),
  ...Object.keys(operation.responses).flatMap((status) =>
    Object.values(answerOf(operation, status)?.content ?? {}).map((media) => ({
      where: `${id} ${status}`,
      media,
    })),
  ),
])

function successOf({ responses }: Operation): Reference<Answer> {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {}
}

const schemaOf = ({ content }: Reference<Answer>): Schema => Object.values(content ?? {})[0]?.schema ?? {}

/** The example that tools show for an answer without one of its own: that of its first schema. */
function exampleOf(schema: Schema = {}): unknown {
  const { examples, anyOf, oneOf } = resolve(schema)
  return examples?.[0] ?? exampleOf((anyOf ?? oneOf)?.[0])
}

const findFaults = createFaultFinder(description)
const faultsOf = (schema: Schema, value: unknown) =>
  findFaults(schema, value).map(({ instancePath, message }) => `${instancePath} ${message}`)

describe('docs/openapi.json', () => {
  it('equals the output of npm run docs', () => {
    const exported = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    expect(JSON.parse(exported)).toEqual(description)
    expect(exported).toBe(printOpenApi(description))
  })
})

describe('/openapi.json', () => {
  it('is public, and serves the API description', async () => {
    const answer = await app.inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(description)
  })
})

describe.each(allOperations.filter(isOAuth))('$id', ({ id, operation }) => {
  it('is public, and has a summary', () => {
    expect(id).toMatch(/^agentOAuth\./)
    expect(operation.security).toEqual([])
    expect(operation.summary).not.toBe('')
  })

  it('declares its success status, and errors of OAuth', () => {
    const declared = Object.keys(operation.responses)
    expect(declared.filter((status) => status.startsWith('2'))).toEqual([
      id === 'agentOAuth.register' ? '201' : '200',
    ])
    const oauthErrors = declared.filter(
      (status) => schemaOf(answerOf(operation, status) ?? {}).$ref === '#/components/schemas/OAuthError',
    )
    const expected: Record<string, string[]> = {
      'agentOAuth.register': ['400', '413', '415', '429', '500', '503'],
      'agentOAuth.token': ['400', '401', '415', '429', '500', '503'],
      'agentOAuth.revoke': ['400', '401', '415', '429', '500', '503'],
    }
    expect(oauthErrors).toEqual(expected[id] ?? [])
  })
})

describe('the API description', () => {
  it('is OpenAPI 3.1, of API version 1.0.0', () => {
    expect(description.openapi).toMatch(/^3\.1\.\d+$/)
    expect(description.info.version).toBe('1.0.0')
  })

  it('declares both ways to send an API key', () => {
    expect(description.components.securitySchemes).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    })
  })

  it.each([
    ['system.health', 'get', '/health'],
    ['system.ready', 'get', '/ready'],
    ['apiKeys.list', 'get', '/v1/api-keys'],
    ['apiKeys.create', 'post', '/v1/api-keys'],
    ['apiKeys.revoke', 'post', '/v1/api-keys/{apiKeyId}/revoke'],
    ['me.profile', 'get', '/v1/me'],
    ['me.updateProfile', 'patch', '/v1/me'],
    ['me.preferences', 'get', '/v1/me/preferences'],
    ['me.updatePreferences', 'patch', '/v1/me/preferences'],
  ])('has %s at %s %s', (id, method, path) => {
    expect(description.paths[path]?.[method]?.operationId).toBe(id)
  })

  it('gives each operation a unique id', () => {
    const ids = allOperations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes each tag that is used, and no other', () => {
    const used = new Set(allOperations.flatMap(({ operation }) => operation.tags))
    expect(description.tags.map((tag) => tag.name).toSorted()).toEqual([...used].toSorted())
    for (const tag of description.tags) expect(tag.description).toMatch(/\.$/)
  })

  it('leads to guides that the service has, for each tag and in descriptions, and to no file of the repository', async () => {
    const text = JSON.stringify(description)
    const paths = [
      ...description.tags.map(({ externalDocs }) => new URL(externalDocs.url).pathname),
      ...Array.from(text.matchAll(/`(\/docs\/[\w/-]+)`/g), ([, path = '']) => path),
    ]
    expect(paths.length).toBeGreaterThan(description.tags.length)
    for (const path of new Set(paths)) expect((await app.inject(path)).statusCode, path).toBe(200)
    expect(text).not.toMatch(/docs\/[\w-]+\.md/)
  })

  it('has neither broken references nor unused components', () => {
    const referred = [...JSON.stringify(description).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)]
    const { schemas, parameters, responses, headers } = description.components
    for (const [kind, components] of Object.entries({ schemas, parameters, responses, headers })) {
      const names = new Set(referred.filter((match) => match[1] === kind).map((match) => match[2]))
      expect([...names].toSorted(), kind).toEqual(Object.keys(components).toSorted())
    }
  })

  it('describes each response and each header', () => {
    for (const { id, operation } of allOperations) {
      for (const status of Object.keys(operation.responses))
        expect(answerOf(operation, status)?.description, `${id} ${status}`).toMatch(/\.($|\n)/)
    }
    expect(JSON.stringify(description)).not.toContain('Default Response')
    for (const [name, header] of Object.entries(description.components.headers)) {
      expect(header.description, name).toMatch(/\.$/)
      expect(faultsOf(header.schema, header.example), name).toEqual([])
    }
  })

  it('describes each parameter', () => {
    const parameters = allOperations.flatMap(({ id, operation }) =>
      (operation.parameters ?? []).map((parameter) => ({ id, parameter: resolve(parameter) })),
    )
    const undescribed = parameters.filter(
      ({ parameter: { description, schema } }) => !(description ?? schema?.description),
    )
    expect(parameters).not.toEqual([])
    expect(undescribed.map(({ id, parameter }) => `${id} ${parameter.name}`)).toEqual([])
  })

  // Those of OAuth are described by its standards. A model reads each word of those of agents' tools.
  it('describes each field of a request and an answer that is not only for agents', () => {
    const schemas = operations
      .filter(({ id }) => !id.startsWith('agent.'))
      .flatMap(({ id, operation }) => [
        ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => ({
          where: `${id} request`,
          schema,
        })),
        ...Object.keys(operation.responses).map((status) => ({
          where: `${id} ${status}`,
          schema: schemaOf(answerOf(operation, status) ?? {}),
        })),
      ])
    const seen = new Set<Schema>()
    const fields = schemas
      .flatMap(({ where, schema }) => reach(where, schema, seen))
      // With `oneOf` beside it, `code` only narrows a field that the named schema describes.
      .filter(([, { oneOf }]) => oneOf === undefined)
      .flatMap(([where, { properties = {} }]) =>
        Object.entries(properties).map(([name, field]) => ({ where: `${where}.${name}`, field })),
      )
    const undescribed = fields.filter(({ field }) => !(field.description ?? resolve(field).description))
    expect(fields.length).toBeGreaterThan(100)
    expect(undescribed.map(({ where }) => where)).toEqual([])
  })

  it('has valid examples, and one for each request and each success response', () => {
    for (const { where, media } of allMedia) {
      // A file has no example in JSON.
      const isFile = [media.schema, media.schema.properties?.file].some(
        (schema) => schema?.format === 'binary',
      )
      if (/ (request|2\d\d)$/.test(where) && !isFile) expect(media, where).toHaveProperty('example')
      if ('example' in media) expect(faultsOf(media.schema, media.example), where).toEqual([])
    }
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      for (const example of schema.examples ?? []) expect(faultsOf(schema, example), name).toEqual([])
    }
  })

  it('has schemas that reject invalid examples', () => {
    const team = description.components.schemas.Team ?? {}
    const example = { id: 'x', name: 'Design', memberCount: 1, createdAt: '2026-11-21T03:04:05.678Z' }
    expect(faultsOf(team, example)).toEqual([])
    expect(faultsOf(team, { ...example, memberCount: 'one' })).not.toEqual([])
    expect(faultsOf(team, { ...example, more: 1 })).not.toEqual([])
  })

  it('has no keywords of our own, and no null in an enum', () => {
    const schemas = allMedia.flatMap(({ where, media }) => reach(where, media.schema))
    const parameters = allOperations.flatMap(({ id, operation }) =>
      (operation.parameters ?? []).map((parameter): [string, Schema] => [
        id,
        resolve(parameter).schema ?? {},
      ]),
    )
    const all = [...schemas, ...parameters]
    expect(all.length).toBeGreaterThan(500)
    expect(all.filter(([, schema]) => schema.enum?.includes(null)).map(([where]) => where)).toEqual([])
    for (const keyword of ownKeywords) expect(JSON.stringify(description)).not.toContain(`"${keyword}":`)
  })

  it('lists the roles once', () => {
    expect(description.components.schemas.Role?.enum).toEqual(['owner', 'admin', 'member', 'viewer'])
    expect(JSON.stringify(description).match(/"owner","admin"/g)).toHaveLength(1)
  })

  const closedSchemas = Object.entries(description.components.schemas).filter(
    ([name]) => !openSchemas.includes(name),
  )
  it('has only closed schemas', () => {
    const open = closedSchemas
      .flatMap(([name, schema]) => reach(name, schema))
      .filter(([, part]) => part !== description.components.schemas.EventData)
      .filter(
        ([, part]) =>
          (part.type === 'object' || part.properties !== undefined) && part.additionalProperties !== false,
      )
    expect(closedSchemas).not.toEqual([])
    expect(open.map(([where]) => where)).toEqual([])
  })
})

/** The names of the schemas that an error answer lists, as tools find them: in place, by `anyOf` and by `oneOf`. */
function errorSchemasOf({ $ref, anyOf, oneOf }: Schema): (string | undefined)[] {
  if ($ref !== undefined) return [$ref.split('/').at(-1)]
  return (anyOf ?? oneOf ?? []).flatMap(errorSchemasOf)
}

it('each operation of version 1.0.0 declares its promised errors, without references', async () => {
  const promised: Record<string, string[]> = {
    400: ['HttpApiDecodeError', 'InvalidInput'],
    401: ['Unauthorized'],
    403: ['Forbidden'],
    404: ['NotFound'],
    409: ['Conflict'],
    500: ['Internal'],
  }
  await checkEach(specifiedIds, String, (id) => {
    const operation = operations.find((each) => each.id === id)?.operation
    for (const [status, names] of Object.entries(promised)) {
      const answer = operation?.responses[status] ?? {}
      expect(answer.$ref, status).toBeUndefined()
      expect(errorSchemasOf(schemaOf(answer)), status).toEqual(names)
    }
  })
})

// Where agents need more than what every grant has.
const scopeOf: Record<string, string> = {
  'agent.search': 'workspace:read',
  'agent.fetch': 'workspace:read',
  'agent.listPeople': 'workspace:read',
  'agent.listEvents': 'workspace:read',
  'agent.listInbox': 'workspace:read',
  'agent.listComments': 'workspace:read',
  'agent.createSeed': 'seeds:write',
  'agent.updateSeed': 'seeds:write',
  'agent.addEvidence': 'seeds:write',
  'agent.setStatuses': 'seeds:write',
  'agent.addEvidenceList': 'seeds:write',
  'agent.addComment': 'seeds:write',
  'agent.updateComment': 'seeds:write',
  'agent.deleteComment': 'seeds:write',
  'agent.declineRequest': 'seeds:write',
  'agent.markRead': 'seeds:write',
  'agent.joinSeed': 'seeds:write',
  'agent.leaveSeed': 'seeds:write',
  'agent.askToJoin': 'seeds:write',
  'agent.followSeed': 'seeds:write',
  'agent.deleteSeed': 'seeds:write',
  'agent.restoreSeed': 'seeds:write',
  'agent.updateEvidence': 'seeds:write',
  'agent.withdrawEvidence': 'seeds:write',
  'agent.listTeams': 'workspace:write',
  'agent.createTeam': 'workspace:write',
  'agent.renameTeam': 'workspace:write',
  'agent.deleteTeam': 'workspace:write',
  'agent.addTeamMember': 'workspace:write',
  'agent.removeTeamMember': 'workspace:write',
  'agent.listInvites': 'workspace:write',
  'agent.createInvite': 'workspace:write',
  'agent.resendInvite': 'workspace:write',
  'agent.updateInvite': 'workspace:write',
  'agent.revokeInvite': 'workspace:write',
}

/** The operations on what has a version, and the header of their condition. */
const versioned = new Map<string, 'If-None-Match' | 'If-Match'>([
  ['me.profile', 'If-None-Match'],
  ['me.updateProfile', 'If-Match'],
  ['workspaces.get', 'If-None-Match'],
  ['workspaces.update', 'If-Match'],
  ['workspaces.agentPolicy', 'If-None-Match'],
  ['workspaces.updateAgentPolicy', 'If-Match'],
  ['labels.get', 'If-None-Match'],
  ['savedFilters.get', 'If-None-Match'],
  ['savedFilters.update', 'If-Match'],
  ['labels.update', 'If-Match'],
  ['teams.get', 'If-None-Match'],
  ['teams.rename', 'If-Match'],
  ['seeds.get', 'If-None-Match'],
  ['seeds.update', 'If-Match'],
  ['comments.get', 'If-None-Match'],
  ['comments.update', 'If-Match'],
  ['evidence.get', 'If-None-Match'],
  ['evidence.update', 'If-Match'],
  // Of the bytes of a file, which never change.
  ['attachments.content', 'If-None-Match'],
  ['members.get', 'If-None-Match'],
  ['members.updateRole', 'If-Match'],
  ['invites.getById', 'If-None-Match'],
  ['invites.updateRole', 'If-Match'],
  ['integrations.get', 'If-None-Match'],
  ['me.preferences', 'If-None-Match'],
  ['me.updatePreferences', 'If-Match'],
  ['notifications.preferences', 'If-None-Match'],
  ['notifications.updatePreferences', 'If-Match'],
  ['serviceAccounts.get', 'If-None-Match'],
  ['serviceAccounts.update', 'If-Match'],
  ['webhooks.get', 'If-None-Match'],
  ['webhooks.update', 'If-Match'],
  ['webhooks.rotateSecret', 'If-Match'],
])

/** The operations that create what has a version. */
const createdWithTag = new Set([
  ...['workspaces.create', 'invites.create', 'teams.create', 'labels.create', 'savedFilters.create'],
  ...['seeds.create', 'seeds.addEvidence', 'comments.create', 'serviceAccounts.create', 'webhooks.create'],
])

/** Checks all operations in one test. */
const itOfEach = (title: string, check: (row: (typeof operations)[number]) => void) =>
  it(title, () => checkEach(operations, ({ id }) => id, check))

describe('each operation', () => {
  itOfEach('has a summary, and one tag, which is the first part of its id', ({ id, operation }) => {
    expect(id).toMatch(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/)
    expect(operation.tags).toEqual([id.split('.')[0]])
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
  })

  itOfEach('declares its accepted credentials', ({ id, operation }) => {
    const apiKey = [{ bearer: [] }, { apiKey: [] }]
    const agent = [{ agentOAuth: [scopeOf[id] ?? 'validation-kit:read'] }]
    const expected = publicOperations.includes(id) ? [] : id.startsWith('agent.') ? agent : apiKey
    expect(operation.security).toEqual(expected)
  })

  itOfEach('declares errors of the catalogue, with their schemas and codes', ({ id, operation }) => {
    for (const status of Object.keys(operation.responses).filter((key) => /^[45]/.test(key))) {
      const answer = answerOf(operation, status) ?? {}
      expect(Object.keys(answer.content ?? {})).toEqual(['application/json'])
      const codes = codesOf(answer, resolve)
      const known = Object.values<ErrorFactory>(errors).filter(({ code }) => codes.includes(code))
      expect(known.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
      expect(known.map(({ tag }) => String(statusOfTag[tag]))).toEqual(known.map(() => status))
      const schemas = errorSchemasOf(schemaOf(answer))
      for (const { tag } of known) expect(schemas, `${id} ${status}`).toContain(tag)
      // The example that is shown is one of the errors that occur.
      const media = answer.content?.['application/json']
      const { code: shown } = (media?.example ?? exampleOf(media?.schema)) as { code: string }
      if (codes.length > 0) expect(codes, `${id} ${status}`).toContain(shown)
      for (const code of codes) expect(answer.description).toContain(`\`${code}\``)
      if (!specifiedIds.includes(id)) expect(codes, `${id} ${status}`).not.toEqual([])
    }
  })

  itOfEach(
    'declares the errors that every operation of its kind can return',
    ({ method, path, operation }) => {
      const codes = Object.keys(operation.responses).flatMap((status) =>
        codesOf(answerOf(operation, status) ?? {}, resolve),
      )
      const expected = [
        errors.decodeError,
        errors.internal,
        errors.urlTooLong,
        errors.headersTooLarge,
        ...(method === 'get' ? [] : [errors.bodyTooLarge, errors.unsupportedMediaType]),
        ...(path.startsWith('/v1/')
          ? [errors.apiKeyRequired, errors.rateLimited, errors.tooManyBadKeys, errors.databaseUnavailable]
          : []),
        ...(path.startsWith('/v1/') && method === 'post'
          ? [errors.idempotencyKeyInvalid, errors.idempotencyKeyReused, errors.idempotencyInFlight]
          : []),
        ...(path.startsWith('/v1/workspaces/{slug}') ? [errors.notFound, errors.notAMember] : []),
      ]
      expect(codes).toEqual(expect.arrayContaining(expected.map(({ code }) => code)))
    },
  )

  itOfEach('returns closed objects in which every field is required', ({ id, operation }) => {
    const parts = reach(id, schemaOf(successOf(operation)))
    expect(parts[0]?.[1].type).toBeDefined()
    for (const [where, part] of parts) {
      if (part.properties === undefined) continue
      expect(part.additionalProperties, where).toBe(false)
      expect(part.required?.toSorted(), where).toEqual(Object.keys(part.properties).toSorted())
    }
  })

  itOfEach('accepts only closed objects', ({ method, operation }) => {
    const bodies = Object.entries(operation.requestBody?.content ?? {})
    for (const [type, { schema }] of bodies) {
      for (const [where, part] of reach(type, schema)) {
        if (type === 'application/json' && part.properties !== undefined)
          expect(part.additionalProperties, where).toBe(false)
      }
    }
    expect(method === 'get' ? bodies : []).toEqual([])
  })

  itOfEach(
    'declares a tag of what has a version, and a 304 without a body if it takes If-None-Match',
    (row) => {
      const { id, operation } = row
      const statuses = Object.keys(operation.responses).filter((key) => key.startsWith('3'))
      expect(statuses).toEqual(versioned.get(id) === 'If-None-Match' ? ['304'] : [])
      const isPost = row.method === 'post'
      const isTagged = (versioned.has(id) && !isPost) || createdWithTag.has(id)
      for (const status of [...statuses, '200'])
        expect('ETag' in (answerOf(operation, status)?.headers ?? {})).toBe(isTagged)
      for (const status of statuses) expect(answerOf(operation, status)?.content).toBeUndefined()
      expect('412' in operation.responses).toBe(versioned.get(id) === 'If-Match')
    },
  )

  itOfEach(
    'declares its path parameters, and the headers of a POST under /v1, of a condition and of a stream',
    ({ id, method, path, operation }) => {
      const named = (place: string) =>
        (operation.parameters ?? [])
          .map(resolve)
          .filter((parameter) => parameter.in === place)
          .map(({ name }) => name)
      expect(named('path')).toEqual([...path.matchAll(/{([^}]+)}/g)].map(([, name]) => name))
      const isStream = 'text/event-stream' in (resolve(operation.responses['200'] ?? {}).content ?? {})
      const condition = versioned.get(id)
      expect(named('header')).toEqual([
        ...(method === 'post' && path.startsWith('/v1/') ? ['Idempotency-Key'] : []),
        ...(isStream ? ['Last-Event-ID'] : []),
        ...(condition === undefined ? [] : [condition]),
      ])
    },
  )
})
