import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from '@sinclair/typebox'
import { declareAnswers } from '../../http/answers/answers.ts'
import type { App } from '../../http/app-types.ts'
import { addressOf, createRateLimiter } from '../../http/limits/rate-limits.ts'
import { createRefusalLimit } from '../../http/limits/refusal-limit.ts'
import { decodeForm } from '../../http/requests/text-encoding.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import { serviceName } from '../../domain/service-name.ts'
import { isStorableThroughout } from '../../kernel/text.ts'
import type { AgentOAuth, Failure } from './agent-oauth.ts'
import {
  describeServer,
  getJwks,
  getResourceMetadata,
  getServerMetadata,
  issueToken,
  registerClient,
  revokeToken,
  type ResourceMetadata,
} from './agent-oauth.schemas.ts'
import { normalizeMetadata } from './documents/client-metadata.ts'
import { agentScope, canonicalResource, parameterLengthMax, paths, unstorable } from './protocol.ts'

export interface AgentOAuthRoutesOptions {
  baseUrl: string
  webUrl: string
  /** Whether clients with metadata documents may ask for authorization. */
  areDocumentsOn: boolean
  /** Whether an identity provider is trusted to let agents in. */
  areAssertionsOn: boolean
  /** Registrations per minute and client address; 0 = no limit. */
  registrationLimitPerMinute: number
  /** Authorization requests per minute and client address; 0 = no limit. */
  authorizeLimitPerMinute: number
  /** Refused requests for tokens, or to revoke them, per minute and client address; 0 = no limit. */
  refusedTokenLimitPerMinute: number
  /** Shows a failed authorization request to the person. */
  showFailure: (reply: FastifyReply, failure: Failure) => FastifyReply
}

const metadataBytesMax = 4096
// Programs ask again once an access token has expired, which may be a day later.
const knownClientMs = 25 * 60 * 60 * 1000
const formType = 'application/x-www-form-urlencoded'

/**
 * Registers the OAuth endpoints. Each is a route of its own: no other endpoint of the OAuth server can be reached. They
 * are public, which their scope declares.
 */
export async function agentOAuthRoutes(
  app: App,
  agentOAuth: AgentOAuth,
  options: AgentOAuthRoutesOptions,
): Promise<void> {
  const { baseUrl, webUrl, showFailure } = options
  const { registrationLimitPerMinute, authorizeLimitPerMinute, refusedTokenLimitPerMinute } = options
  const resource = `${baseUrl}${paths.mcp}`

  const delegate = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { body, noteAccepted = () => undefined }: { body?: object | string; noteAccepted?: () => void } = {},
  ) => {
    const handle = await agentOAuth.loadHandler()
    const { raw } = request
    // The OAuth server builds URLs from these headers: set the configured host and scheme.
    const { host, protocol } = new URL(
      request.routeOptions.url?.startsWith(paths.authorization) ? webUrl : baseUrl,
    )
    raw.headers.host = host
    raw.headers['x-forwarded-proto'] = protocol.replace(':', '')
    delete raw.headers['x-forwarded-host']
    if (body !== undefined) (raw as { body?: object | string }).body = body
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    const failure = await handle(raw, reply.raw, {
      requestId: request.id,
      address: addressOf(request),
      whileWaiting: (wait) => request.whileWaiting(wait),
      noteAccepted(of) {
        request.audited = { ...request.audited, ...of }
        noteAccepted()
      },
      noteRefused(of, code) {
        request.audited = { ...request.audited, ...of, code }
      },
    })
    if (failure) return showFailure(reply, failure)
    return reply.hijack()
  }

  /** Sends an OAuth error (RFC 6749 §5.2), as a page to browsers, which only use the authorization endpoint. */
  const sendError: SendError = (request, reply, failure) => {
    if (request.method === 'GET' && request.headers.accept?.includes('text/html'))
      return showFailure(reply, failure)
    const { status, error, description } = failure
    request.audited = { ...request.audited, code: error }
    return reply
      .code(status)
      .header('cache-control', 'no-store')
      .send({ error, error_description: description })
  }

  app.addHook('onRoute', (route) => {
    if (route.url !== paths.revocation) declareAnswers(route, { headers: ['Cache-Control'] })
  })
  const discovery = (url: string, schema: object, document: object) =>
    app.get(url, { schema }, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(document),
    )
  const serverMetadata = describeServer(baseUrl, webUrl, options)
  const resourceMetadata = describeResource(baseUrl)
  discovery('/.well-known/oauth-authorization-server', getServerMetadata, serverMetadata)
  discovery('/.well-known/oauth-protected-resource', getResourceMetadata, resourceMetadata)
  // RFC 8414 §3.1 and RFC 9728 §3.1 append the path of the resource. Clients request both URLs.
  const hidden = { hide: true }
  const inPopups = { keepsOpener: true }
  for (const path of [paths.mcp, `${paths.mcp}/`]) {
    discovery(`/.well-known/oauth-authorization-server${path}`, hidden, serverMetadata)
    discovery(`/.well-known/oauth-protected-resource${path}`, hidden, resourceMetadata)
  }

  app.get(paths.jwks, { schema: getJwks }, async (_request, reply) => {
    void reply.header('cache-control', 'public, max-age=300')
    return agentOAuth.jwks()
  })

  await app.register(async (scope: App) => {
    const limiter = createRateLimiter(scope, {
      name: 'registration',
      max: registrationLimitPerMinute,
      windowSeconds: 60,
      callerOf: addressOf,
    })
    scope.setErrorHandler<FastifyError | ApiError>((error, request, reply) =>
      isRetryable(error)
        ? sendUnavailable(error, request, reply, sendError)
        : sendRegistrationError(error, reply),
    )
    // Some clients send null for what they do not have.
    scope.addHook('preValidation', async (request) => {
      if (typeof request.body === 'object' && request.body !== null && !Array.isArray(request.body))
        request.body = Object.fromEntries(Object.entries(request.body).filter(([, value]) => value !== null))
    })
    scope.post(
      paths.registration,
      { bodyLimit: 16_384, schema: registerClient, config: { openBody: true } },
      async (request, reply) => {
        const state = await limiter?.count(request)
        if (state?.isExceeded) throw errors.tooManyRegistrations({ retryAfterSeconds: state.resetSeconds })
        const metadata = normalizeMetadata(request.body, { mayHaveSecret: true })
        if (!isStorableThroughout(metadata))
          return reply.code(400).send({ error: 'invalid_client_metadata', error_description: unstorable })
        if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
          return reply.code(400).send({
            error: 'invalid_client_metadata',
            error_description: `The metadata is larger than ${metadataBytesMax} bytes.`,
          })
        }
        return delegate(request, reply, { body: metadata })
      },
    )
  })

  await app.register(async (scope: App) => {
    // The OAuth server parses and validates these itself. The schemas are only for the API description.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.addContentTypeParser(formType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
      decodeForm(body),
    )
    scope.setValidatorCompiler(() => () => true)
    scope.setErrorHandler<FastifyError | ApiError>((error, request, reply) => {
      if (isRetryable(error)) return sendUnavailable(error, request, reply, sendError)
      if (error instanceof ApiError && (error.status === 400 || error.status === 415))
        return sendError(request, reply, { ...invalidRequest(describe(error)), status: error.status })
      // Such as a malformed content type.
      if (error.code.startsWith('FST_ERR_CTP_'))
        return sendError(
          request,
          reply,
          invalidRequest('The body must be application/x-www-form-urlencoded.'),
        )
      throw error
    })
    const limiter = createRateLimiter(scope, {
      name: 'authorization',
      max: authorizeLimitPerMinute,
      windowSeconds: 60,
      callerOf: addressOf,
    })
    const refusals = createRefusalLimit(scope, {
      name: 'refused-token',
      max: refusedTokenLimitPerMinute,
      exceeded: errors.tooManyRefusedTokens,
      exemptMs: knownClientMs,
    })
    const handleToken = async (request: FastifyRequest, reply: FastifyReply) => {
      await refusals.assertFew(request)
      const outcome = { isAccepted: false }
      const answered = await delegate(request, reply, {
        ...(typeof request.body === 'string' && { body: request.body }),
        noteAccepted: () => (outcome.isAccepted = true),
      })
      if (outcome.isAccepted) refusals.noteAccepted(request)
      else if (reply.raw.statusCode < 500) await refusals.countRefused(request)
      return answered
    }
    scope.post(paths.token, { schema: issueToken, config: { openBody: true } }, handleToken)
    scope.post(paths.revocation, { schema: revokeToken, config: { openBody: true } }, handleToken)
    scope.get(paths.authorization, { schema: hidden, config: inPopups }, async (request, reply) => {
      const state = await limiter?.count(request)
      if (state?.isExceeded) throw errors.tooManyAuthorizations({ retryAfterSeconds: state.resetSeconds })
      const query = request.query as Record<string, string | string[]>
      const tooLong = findTooLongParameter(query)
      if (tooLong !== undefined) return sendError(request, reply, invalidRequest(`${tooLong} is too long`))
      if (!isStorableThroughout(query)) return sendError(request, reply, invalidRequest(unstorable))
      return delegate(request, reply)
    })
    scope.get(`${paths.authorization}/:uid`, { schema: hidden, config: inPopups }, (request, reply) => {
      // Query parameters are ignored here: the OAuth server would fail on them.
      request.raw.url = request.raw.url?.split('?', 1)[0]
      return delegate(request, reply)
    })
  })

  function describeResource(issuer: string): Static<typeof ResourceMetadata> {
    return {
      resource: String(canonicalResource(resource, resource)),
      resource_name: serviceName,
      authorization_servers: [issuer],
      scopes_supported: [agentScope],
      bearer_methods_supported: ['header'],
    }
  }
}

/** The name of a parameter whose values together are too long. */
function findTooLongParameter(query: Record<string, string | string[]>): string | undefined {
  return Object.entries(parameterLengthMax).find(
    ([name, lengthMax]) => [query[name] ?? ''].flat().join(' ').length > lengthMax,
  )?.[0]
}

const invalidRequest = (description: string): Failure => ({
  status: 400,
  error: 'invalid_request',
  description,
})

/** What is wrong with a request, in a sentence. */
function describe({ issues: [issue], message }: ApiError): string {
  return issue ? `${issue.path.join('.') || 'The request'} ${issue.message}.` : message
}

type SendError = (request: FastifyRequest, reply: FastifyReply, failure: Failure) => FastifyReply

function isRetryable(error: Error): error is ApiError {
  return error instanceof ApiError && (error.status === 429 || error.status === 503)
}

/** Sends an error of the service as an OAuth error. */
function sendUnavailable(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  sendError: SendError,
): FastifyReply {
  const { status, message: description, retryAfterSeconds } = error
  if (status === 503) request.log.warn({ err: error }, 'request refused')
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds)
  return sendError(request, reply, { status, error: 'temporarily_unavailable', description })
}

/** Sends an error of a registration (RFC 7591 §3.2.2). */
function sendRegistrationError(error: FastifyError, reply: FastifyReply): FastifyReply {
  const isAboutRedirects = error.validation?.some(({ instancePath, params }) =>
    `${instancePath} ${JSON.stringify(params)}`.includes('redirect_uris'),
  )
  const status = error.validation
    ? 400
    : (error.statusCode ?? ('status' in error ? Number(error.status) : 500))
  if (status >= 500) throw error
  return reply.code(status).send({
    error: isAboutRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    error_description: error instanceof ApiError ? describe(error) : error.message,
  })
}
