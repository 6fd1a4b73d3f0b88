import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { App } from './app-types.ts'
import { publicAccess } from './route-guard.ts'

/** What @fastify/swagger understands of a route's schema beyond Fastify itself. */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    security?: readonly Record<string, readonly string[]>[]
  }
}

interface TagDescription {
  name: string
  description: string
}

export interface OpenApiOptions {
  baseUrl: string
  webUrl: string
  /** One for each area, in the order in which the areas are shown. */
  tags: TagDescription[]
}

// Every operation can answer every one of these: clients handle errors in one place, not operation by operation.
const errorResponses: [status: number, schemas: string[], description: string][] = [
  [400, ['HttpApiDecodeError', 'InvalidInput'], 'The request did not match the expected schema'],
  [401, ['Unauthorized'], 'A valid API key is required'],
  [403, ['Forbidden'], 'Not allowed'],
  [404, ['NotFound'], 'Missing'],
  [409, ['Conflict'], 'Conflict'],
  [413, ['PayloadTooLarge'], 'The request is too large'],
  [415, ['UnsupportedMediaType'], 'The request body has the wrong content type'],
  [429, ['TooManyRequests'], 'Too many requests'],
  [500, ['Internal'], 'Server error'],
  [503, ['ServiceUnavailable'], 'The service cannot answer at the moment'],
]

/** Collects the OpenAPI 3.1 description from the routes that are registered after it. */
export async function registerOpenApi(app: App, { baseUrl, webUrl, tags }: OpenApiOptions): Promise<void> {
  const withOptionalBody = new Set<unknown>()
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Workspace API',
        version: '1.0.0',
        description:
          'A workspace in which people and automated agents perform the same actions. Every error is one of the ' +
          'named error schemas; its `code` is listed in the error catalogue.',
      },
      servers: [{ url: baseUrl }],
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
          agentOAuth: {
            type: 'oauth2',
            description: "An agent's access token.",
            flows: {
              authorizationCode: {
                authorizationUrl: `${webUrl}/agent/oauth/authorize`,
                tokenUrl: `${baseUrl}/agent/oauth/token`,
                scopes: { 'validation-kit:read': 'Read the validation kit of one workspace.' },
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
      if (route.config?.optionalBody) withOptionalBody.add(schema.operationId)
      return {
        schema: schema.hide
          ? schema
          : describeOperation(schema, [route.method].flat(), route.config?.upload ?? false),
        url,
      }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('the description is not OpenAPI 3')
      // It calls every body that is described required.
      for (const path of Object.values(document.openapiObject.paths ?? {})) {
        if (withOptionalBody.has(path?.post?.operationId)) {
          Object.assign(path?.post?.requestBody ?? {}, { required: false })
        }
      }
      return document.openapiObject
    },
  })
}

/** Serves the description at /openapi.json and for people at /docs, which needs nothing from elsewhere. */
export async function registerOpenApiRoutes(app: App): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(publicAccess)
    let description: string | undefined
    scope.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
      description ??= JSON.stringify(app.swagger())
      return reply
        .type('application/json; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(description)
    })
    await scope.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // It would send a browser to https for the page's own scripts, also where there is none.
      transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
      logLevel: 'silent',
      uiConfig: { url: '/openapi.json', displayOperationId: true, persistAuthorization: false },
      theme: { title: 'Workspace API' },
    })
  })
}

function describeOperation(schema: FastifySchema, methods: string[], isUpload: boolean): FastifySchema {
  const { response, ...rest } = schema
  return {
    ...rest,
    ...(isUpload && { consumes: ['multipart/form-data'], body: UploadForm }),
    ...(isIdempotent(schema, methods) && { headers: IdempotencyHeaders }),
    response: {
      ...Object.fromEntries(
        errorResponses.map(([status, names, description]) => [status, toResponse(names, description)]),
      ),
      ...(response as object),
    },
  }
}

const UploadForm = Type.Object({
  file: Type.Unsafe<Buffer>({
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: 'The one file of the form; any field name is accepted.',
  }),
})

const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a retry safe: within 24 hours the same request with the same key is answered, not repeated.',
    }),
  ),
})

function isIdempotent({ security }: FastifySchema, methods: string[]): boolean {
  return methods.includes('POST') && (security?.some((scheme) => 'apiKey' in scheme) ?? false)
}

function toResponse(names: string[], description: string): object {
  const references = names.map((name) => ({ $ref: `${name}#` }))
  return references.length === 1 ? { description, ...references[0] } : { description, anyOf: references }
}
