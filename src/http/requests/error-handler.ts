import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, errors } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { logUnroutable } from '../answers/logging.ts'
import { toDecodeIssues } from './validation.ts'

export interface ErrorHandlerOptions {
  /** Whether an error means that the database is unavailable, so that a retry may succeed. */
  isDatabaseUnavailable: (error: unknown) => boolean
  /** Sends an error in another form than that of the API, such as a page. Returns undefined where JSON is expected. */
  showError?: (error: ApiError, request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined
  /** Called with the code of each error that is sent. */
  onError?: (request: FastifyRequest, code: string) => void
}

/** Sends thrown errors in the form of the API, and 404 for unknown routes. */
export function registerErrorHandler(app: App, options: ErrorHandlerOptions): void {
  const { isDatabaseUnavailable, showError, onError } = options
  app.setErrorHandler((error, request, reply) => {
    const apiError = toApiError(error, isDatabaseUnavailable)
    // Client errors appear only in the line of the request.
    if (apiError.status === 500) request.log.error({ err: error }, 'request failed')
    // During an overload there would be one warning for each refused request.
    else if (apiError.status === 503 && apiError.code !== errors.overloaded.code)
      request.log.warn({ err: error }, 'request refused')
    onError?.(request, apiError.code)
    return showError?.(apiError, request, reply) ?? sendError(apiError, request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    const error = errors.routeNotFound()
    onError?.(request, error.code)
    return showError?.(error, request, reply) ?? sendError(error, request, reply)
  })
  // The query of any request may be malformed.
  app.addHook('onRoute', (route) =>
    declareAnswers(route, { errors: [errors.internal, errors.headersTooLarge, errors.decodeError] }),
  )
  // Before the body is parsed, so that an unknown route is 404 whatever its body.
  app.addHook('preParsing', async (request) => {
    if (request.is404) throw errors.routeNotFound()
  })
}

/** Responds to a request that Fastify cannot route, such as one with a malformed URL. */
export function handleFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // No hook has run that sets it.
  void reply.header('x-request-id', request.id)
  // The limit of a path parameter is that of the whole URL.
  const isTooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
  const apiError = isTooLong ? errors.urlTooLong({ cause: error }) : errors.decodeError({ cause: error })
  void sendError(apiError, request, reply)
  logUnroutable(request, reply)
}

/** Responds to bytes that are not an HTTP request. It writes to the socket, since there is no reply object. */
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
      `HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}`,
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
  // RFC 9110 §11.6.1 requires a challenge with a 401.
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
  // Other client errors of Fastify, such as a body shorter than its Content-Length.
  if (code?.startsWith('FST_ERR_CTP_') && statusCode === 400) return errors.decodeError({ cause: error })
  return errors.internal({ cause: error })
}
