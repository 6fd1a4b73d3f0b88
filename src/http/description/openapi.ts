import fastifySwagger from '@fastify/swagger'
import type { FastifySchema, RouteOptions } from 'fastify'
import { Type, type TObject } from '@sinclair/typebox'
import { withoutOwnKeywords } from '../../kernel/schemas.ts'
import type { App } from '../app-types.ts'
import { responseHeaders } from '../answers/response-headers.ts'
import { completeDocument, type OpenApiDocument } from './openapi-document.ts'
import { publicAccess } from '../credentials/route-guard.ts'

/** The fields of a route's schema that @fastify/swagger adds. */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    security?: readonly Record<string, readonly string[]>[]
  }
}

interface TagDescription {
  name: string
  description: string
  /** The guide to its operations, at /docs/guides. */
  guide: string
}

export interface OpenApiOptions {
  baseUrl: string
  webUrl: string
  /** One for each area, in the order of display. */
  tags: TagDescription[]
  /** The requests that the service sends, by name (OpenAPI 3.1, `webhooks`). */
  webhooks?: Record<string, object>
}

/** What clients can rely on (docs/design/errors.md#compatibility). */
const compatibility =
  'Clients keep working with later releases. A release may add operations, optional inputs, headers, error codes, fields ' +
  'of responses and values of their enumerations: ignore what you do not know. It removes and changes none of them. ' +
  'The schemas of errors, `ApiKey`, `CreatedApiKey`, `Profile`, `Preferences`, `WorkspaceMembership`, `WorkspaceDetail` ' +
  'and `CreatedWorkspace` gain nothing either. Any other change is a new path or `/v2`. What ends is announced ' +
  'twelve months before, by the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). This description is that of one ' +
  'release, so its objects are closed: code that is generated from it must not refuse further fields or values.'

const limits =
  'Each API key has a number of requests a minute, which the operator sets. Responses say what is left of it, such as ' +
  `\`RateLimit-Policy: ${responseHeaders['RateLimit-Policy'].example}\` and ` +
  `\`RateLimit: ${responseHeaders.RateLimit.example}\`: of 6,000 requests in a window of 60 seconds, 5,999 remain. Above ` +
  "it they are 429 with `Retry-After`. On the embedded database, as on a developer's machine, the limit is off unless " +
  '`RATE_LIMIT_PER_MINUTE` is set, and these headers are absent.'

/** Generates the OpenAPI 3.1 description of the routes that are registered after it. */
export async function registerOpenApi(app: App, options: OpenApiOptions): Promise<void> {
  const { baseUrl, webUrl, tags, webhooks = {} } = options
  const routes = new Map<string, RouteOptions>()
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Workspace API',
        // That of the API, not of the release (CHANGELOG.md).
        version: '1.0.0',
        description: [
          'Workspaces for people and automated agents. Every error has one of the named error schemas. Its `code` is ' +
            'listed in the error catalogue and with each operation that returns it. The headers of a successful response ' +
            'may also be sent with errors of the same operation. `/docs/guides` has what holds for all operations.',
          limits,
          compatibility,
        ].join('\n\n'),
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'Workspace API', url: webUrl },
      },
      servers: [{ url: baseUrl }],
      tags: tags.map(({ guide, ...tag }) => ({
        ...tag,
        // Absolute, since tools show the description elsewhere.
        externalDocs: { description: 'Guide', url: `${baseUrl}/docs/guides/${guide}` },
      })),
      webhooks,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
          agentOAuth: {
            type: 'oauth2',
            description: 'An access token of an agent.',
            flows: {
              authorizationCode: {
                authorizationUrl: `${webUrl}/agent/oauth/authorize`,
                tokenUrl: `${baseUrl}/agent/oauth/token`,
                scopes: {
                  'validation-kit:read': 'Read the validation kit of one workspace. Every agent has it.',
                  'workspace:read': 'Read its people and events, and search it.',
                  'seeds:write': 'Create, change and join its seeds, and add evidence.',
                  'workspace:write':
                    'Change its teams, and invite people as members or viewers. Only the person gives it: agents cannot ask for it.',
                },
              },
            },
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) =>
        typeof json.$id === 'string' ? json.$id : `def-${i}`,
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      if (schema.hide) return { schema, url }
      routes.set(String(schema.operationId), route)
      return { schema: describeRequest(schema, route), url }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('the description is not OpenAPI 3')
      completeDocument(document.openapiObject as unknown as OpenApiDocument, routes)
      return withoutOwnKeywords(document.openapiObject)
    },
  })
}

/** Serves the description at /openapi.json. */
export async function registerOpenApiRoute(app: App): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(publicAccess)
    let description: string | undefined
    scope.get(
      '/openapi.json',
      { schema: { hide: true }, config: { isLarge: true, isUnchanging: true } },
      async (_request, reply) => {
        description ??= JSON.stringify(app.swagger())
        return reply
          .type('application/json; charset=utf-8')
          .header('cache-control', 'no-cache')
          .send(description)
      },
    )
  })
}

function describeRequest(schema: FastifySchema, { method, config }: RouteOptions): FastifySchema {
  const isRead = method === 'GET' || method === 'HEAD'
  const headers = [
    ...(isIdempotent(schema, [method].flat()) ? [IdempotencyHeaders] : []),
    ...(config?.isVersioned ? [isRead ? ReadHeaders : ChangeHeaders] : []),
  ]
  return {
    ...schema,
    ...(config?.upload && { consumes: ['multipart/form-data'], body: describeForm(schema.body) }),
    ...(headers.length > 0 && { headers: Type.Composite(headers) }),
  }
}

/** A form with one file, and the fields that the route takes besides. */
function describeForm(fields: unknown): TObject {
  return Type.Object({ ...UploadForm.properties, ...(fields as TObject | undefined)?.properties })
}

const UploadForm = Type.Object({
  file: Type.Unsafe<Buffer>({
    type: 'string',
    // OpenAPI 3.1 does not need `format`, but client generators recognize a file by it.
    format: 'binary',
    description: 'The only file of the form. Any field name is accepted.',
  }),
})

const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost ' +
        'response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. ' +
        'After 409 `idempotency_in_flight`, wait for `Retry-After` seconds.',
    }),
  ),
})

const ReadHeaders = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description:
        'The tags that the client has, or `*`. If the current one is among them, the response is 304.',
    }),
  ),
})

const ChangeHeaders = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, ' +
        'nothing is changed, and the response is 412.',
    }),
  ),
})

function isIdempotent({ security }: FastifySchema, methods: string[]): boolean {
  return methods.includes('POST') && (security?.some((scheme) => 'apiKey' in scheme) ?? false)
}
