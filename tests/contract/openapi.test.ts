import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startTestApp } from '../support/test-app.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: Content
  responses: Record<string, Content & { description: string }>
}

interface Description {
  openapi: string
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> }
}

const { app } = await startTestApp()
const description = JSON.parse(JSON.stringify(app.swagger())) as Description

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

const publicOperations = ['system.health', 'system.ready']

function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const name = schema.$ref.replace('#/components/schemas/', '')
  const found = description.components.schemas[name]
  if (!found) throw new Error(`${schema.$ref} leads nowhere`)
  return found
}

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

const schemaOf = ({ content }: Content): Schema => Object.values(content ?? {})[0]?.schema ?? {}

describe('docs/openapi.json', () => {
  it('is what the service describes; otherwise run: npm run openapi', () => {
    const exported = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    expect(JSON.parse(exported)).toEqual(description)
    expect(exported).toBe(`${JSON.stringify(description, null, 2)}\n`)
  })
})

describe('/openapi.json', () => {
  it('serves the description to everybody', async () => {
    const answer = await app.inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(description)
  })

  it('is what /docs shows, with nothing from elsewhere', async () => {
    const page = await app.inject('/docs/')
    expect(page.statusCode).toBe(200)
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(3)
    for (const link of links) {
      expect(link).toMatch(/^(\.?\/|#)/)
      if (link.startsWith('#')) continue
      const part = await app.inject(new URL(link, 'http://localhost/docs/').pathname)
      expect(part.statusCode, link).toBe(200)
    }
    const settings = await app.inject('/docs/static/swagger-initializer.js')
    expect(settings.body).toContain('/openapi.json')
    expect(page.headers['content-security-policy']).not.toMatch(/https?:\/\//)
  })
})

describe.each(allOperations.filter(isOAuth))('$id', ({ id, operation }) => {
  it('is open to everybody and says what it is', () => {
    expect(id).toMatch(/^agentOAuth\./)
    expect(operation.security).toEqual([])
    expect(operation.summary).not.toBe('')
  })
})

describe('the description', () => {
  it('is OpenAPI 3.1 of version 1.0.0', () => {
    expect(description.openapi).toMatch(/^3\.1\.\d+$/)
    expect(description.info.version).toBe('1.0.0')
  })

  it('names both ways to present an API key', () => {
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

  it('gives each operation an id of its own', () => {
    const ids = allOperations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes each tag, and has no other', () => {
    const used = new Set(allOperations.flatMap(({ operation }) => operation.tags))
    expect(description.tags.map((tag) => tag.name).toSorted()).toEqual([...used].toSorted())
    for (const tag of description.tags) expect(tag.description).toMatch(/\.$/)
  })

  it('has no reference that leads nowhere, and no schema that nothing leads to', () => {
    const referred = new Set(
      [...JSON.stringify(description).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name),
    )
    expect([...referred].toSorted()).toEqual(Object.keys(description.components.schemas).toSorted())
  })

  it.each(Object.entries(description.components.schemas))('closes the schema %s', (name, schema) => {
    const open = reach(name, schema).filter(
      ([, part]) =>
        (part.type === 'object' || part.properties !== undefined) && part.additionalProperties !== false,
    )
    expect(open.map(([where]) => where)).toEqual([])
  })
})

describe.each(operations)('$id', ({ id, method, path, operation }) => {
  it('has a tag, which is the first part of its id, and a summary', () => {
    expect(id).toMatch(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/)
    expect(operation.tags).toEqual([id.split('.')[0]])
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
  })

  it('says which credentials it takes', () => {
    const apiKey = [{ bearer: [] }, { apiKey: [] }]
    const agent = [{ agentOAuth: ['validation-kit:read'] }]
    const expected = publicOperations.includes(id) ? [] : id.startsWith('agent.') ? agent : apiKey
    expect(operation.security).toEqual(expected)
  })

  it('declares every error, each by its name', () => {
    const expected: Record<string, string[]> = {
      400: ['HttpApiDecodeError', 'InvalidInput'],
      401: ['Unauthorized'],
      403: ['Forbidden'],
      404: ['NotFound'],
      409: ['Conflict'],
      413: ['PayloadTooLarge'],
      415: ['UnsupportedMediaType'],
      429: ['TooManyRequests'],
      500: ['Internal'],
      503: ['ServiceUnavailable'],
    }
    const declared = Object.fromEntries(
      Object.entries(operation.responses)
        .filter(([status]) => !status.startsWith('2'))
        .map(([status, response]) => {
          const schema = schemaOf(response)
          return [status, (schema.anyOf ?? [schema]).map((part) => part.$ref?.split('/').at(-1))]
        }),
    )
    expect(declared).toEqual(expected)
    for (const response of Object.values(operation.responses)) {
      expect(Object.keys(response.content ?? {})).toEqual(['application/json'])
      expect(response.description).not.toBe('')
    }
  })

  it('answers closed objects with every field in them', () => {
    const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    const parts = reach(id, schemaOf(success?.[1] ?? {}))
    expect(parts[0]?.[1].type).toBeDefined()
    for (const [where, part] of parts) {
      if (part.properties === undefined) continue
      expect(part.additionalProperties, where).toBe(false)
      expect(part.required?.toSorted(), where).toEqual(Object.keys(part.properties).toSorted())
    }
  })

  it('takes closed objects', () => {
    const bodies = Object.entries(operation.requestBody?.content ?? {})
    for (const [type, { schema }] of bodies) {
      for (const [where, part] of reach(type, schema)) {
        if (type === 'application/json' && part.properties !== undefined)
          expect(part.additionalProperties, where).toBe(false)
      }
    }
    expect(method === 'get' ? bodies : []).toEqual([])
  })

  it('declares the parameters of its path, and Idempotency-Key where it counts', () => {
    const named = (place: string) =>
      (operation.parameters ?? []).filter((parameter) => parameter.in === place).map(({ name }) => name)
    expect(named('path')).toEqual([...path.matchAll(/{([^}]+)}/g)].map(([, name]) => name))
    expect(named('header')).toEqual(method === 'post' && path.startsWith('/v1/') ? ['Idempotency-Key'] : [])
  })
})
