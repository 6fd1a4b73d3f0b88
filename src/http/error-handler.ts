import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, errors } from '../kernel/errors.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'
import { logUnroutable } from './logging.ts'
import { toDecodeIssues } from './validation.ts'

export interface ErrorHandlerOptions {
  /** Whether an error means that the database cannot be reached, so that trying again later may help. */
  isDatabaseUnavailable: (error: unknown) => boolean
  /** Answers an error in another shape than the contract's where that is asked for; undefined where it is not. */
  showError?: (error: ApiError, request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined
}

/** Answers whatever was thrown in the contract's shape, and routes that do not exist with 404. */
export function registerErrorHandler(app: App, options: ErrorHandlerOptions): void {
  const { isDatabaseUnavailable, showError } = options
  app.setErrorHandler((error, request, reply) => {
    const apiError = toApiError(error, isDatabaseUnavailable)
    // What a stranger can cause at will is no error of ours: it stands in the request's own line.
    if (apiError.status === 500) request.log.error({ err: error }, 'request failed')
    // A flood of requests is not worth a flood of warnings.
    else if (apiError.status === 503 && apiError.code !== errors.overloaded.code)
      request.log.warn({ err: error }, 'request refused')
    return showError?.(apiError, request, reply) ?? sendError(apiError, request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    const error = errors.routeNotFound()
    return showError?.(error, request, reply) ?? sendError(error, request, reply)
  })
  app.addHook('onRoute', (route) => {
    const { body, params, querystring } = route.schema ?? {}
    const takesInput = [body, params, querystring].some((part) => part !== undefined)
    declareAnswers(route, {
      errors: [errors.internal, errors.headersTooLarge, ...(takesInput ? [errors.decodeError] : [])],
    })
  })
  // Before the body is parsed: where there is no operation there is nothing that a body could be wrong for.
  app.addHook('preParsing', async (request) => {
    if (request.is404) throw errors.routeNotFound()
  })
}

/** Answers a request that Fastify could not route at all, such as one with a malformed URL. */
export function handleFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // No hook has run that would have told it.
  void reply.header('x-request-id', request.id)
  // The bound of a path's part is that of the whole URL.
  const isTooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
  const apiError = isTooLong ? errors.urlTooLong({ cause: error }) : errors.decodeError({ cause: error })
  void sendError(apiError, request, reply)
  logUnroutable(request, reply)
}

/** Answers bytes that are no HTTP request, straight on the socket: there is no request and no reply yet. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const apiError = error.code === 'HPE_HEADER_OVERFLOW' ? errors.headersTooLarge() : errors.decodeError()
  const requestId = randomUUID()
  const body = JSON.stringify(toBody(apiError, requestId))
  socket.end(
    [
      `HTTP/1.1 ${apiError.status} ${apiError.tag}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // RFC 9110 §11.6.1: a 401 names a way to authenticate.
  if (error.status === 401 && !reply.hasHeader('www-authenticate'))
    void reply.header('www-authenticate', 'Bearer')
  if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', error.retryAfterSeconds)
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(toBody(error, request.id))
}

function toBody(error: ApiError, requestId: string): object {
  const { tag, code, message, issues, field } = error
  return {
    _tag: tag,
    code,
    message,
    ...(tag === 'HttpApiDecodeError' && { issues }),
    ...(tag === 'InvalidInput' && { field }),
    requestId,
  }
}

const databaseRetryAfterSeconds = 5

function toApiError(error: unknown, isDatabaseUnavailable: (error: unknown) => boolean): ApiError {
  if (error instanceof ApiError) return error
  const { validation, code, statusCode } = error as Partial<FastifyError>
  if (validation) {
    return errors.decodeError({
      cause: error,
      issues: toDecodeIssues(validation),
    })
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return errors.bodyTooLarge({ cause: error })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return errors.unsupportedMediaType({ cause: error })
  if (isDatabaseUnavailable(error)) {
    return errors.databaseUnavailable({ cause: error, retryAfterSeconds: databaseRetryAfterSeconds })
  }
  // Fastify's other complaints about a request, such as a body shorter than its Content-Length.
  if (code?.startsWith('FST_ERR_CTP_') && statusCode === 400) return errors.decodeError({ cause: error })
  return errors.internal({ cause: error })
}
