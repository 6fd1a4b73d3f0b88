import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { LogController, type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify'
import { pino, type DestinationStream, type Logger } from 'pino'

/**
 * Creates a logger that writes JSON lines, or readable lines on a terminal. `RequestLog` picks the fields of requests
 * and responses, so that nothing else can leak into the log.
 */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      // Fastify itself logs the whole request when sending the response fails.
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/** A logger of one request, with the trace that it is part of. For the option `childLoggerFactory` of Fastify. */
export function createRequestLogger(
  logger: FastifyBaseLogger,
  bindings: object,
  options: object,
  { headers }: IncomingMessage,
): FastifyBaseLogger {
  const traceId = readTraceId(headers.traceparent)
  return logger.child(traceId === undefined ? bindings : { ...bindings, traceId }, options)
}

// Version ff is invalid, and so is an id of zeros. Later versions begin as version 00 does.
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/

/** The id of the trace in a header `traceparent` (W3C Trace Context §3.2); undefined without a valid one. */
export function readTraceId(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > 512) return undefined
  const match = traceparent.exec(header)
  return header.startsWith('00') && header.length !== 55 ? undefined : match?.[1]
}

function standardOutput(): DestinationStream {
  if (process.stdout.isTTY) {
    // Loaded on demand, since a service in production has no terminal.
    const pinoPretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
    return pinoPretty({ sync: true, ignore: 'pid,hostname' })
  }
  const blocks = pino.destination({
    fd: 1,
    sync: false,
    minLength: 4096,
    periodicFlush: 100,
    contentMode: 'buffer',
  })
  // As text, the whole block would be copied to measure it at every line.
  return { write: (line) => blocks.write(Buffer.from(line) as unknown as string) }
}

/**
 * Logs one line for each request, after its response. It logs the path of the route: an actual path may contain a
 * token.
 */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'requestId' })
  }

  override incomingRequest(): void {
    // `requestCompleted` logs all fields.
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (error) request.log.info({ ...describeRequest(request, reply), err: error }, 'request broken off')
    else request.log.info(describeRequest(request, reply), 'request completed')
  }

  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest, reply: FastifyReply): void {
    // The client has disconnected, as people do who leave a page. `requestCompleted` is not called.
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE')
      request.log.info(describeRequest(request, reply), 'request broken off')
    else super.streamError(error, request, reply)
  }

  override routeNotFound(): void {
    // It would log the URL. `requestCompleted` logs the request.
  }
}

/** Logs the line of a request that Fastify could not route, for which no hook runs. */
export function logUnroutable(request: FastifyRequest, reply: FastifyReply): void {
  request.log.info(describeRequest(request, reply), 'request completed')
}

function describeRequest(request: FastifyRequest, reply: FastifyReply): object {
  const { schema, url } = request.routeOptions
  const principal = request.principal as typeof request.principal | null
  return {
    operationId: (schema as { operationId?: string } | undefined)?.operationId,
    method: request.method,
    route: url,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
    userId: principal?.user.id,
    apiKeyId: principal?.apiKeyId ?? undefined,
  }
}

/** Picks the fields of an error to log. Database errors also have the parameters of the statement: personal data. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return describeThing(error)
  const { code, constraint, query, cause } = error as Error & Record<string, unknown>
  // The message of Drizzle includes the parameters.
  const message = typeof query === 'string' ? `Failed query: ${query}` : error.message
  return {
    type: error.name,
    message,
    code,
    constraint,
    stack: error.stack
      ?.split('\n')
      .filter((text) => text.startsWith('    at '))
      .join('\n'),
    cause: cause === undefined || depth === 5 ? undefined : describeError(cause, depth + 1),
  }
}

/**
 * Picks the fields of what libraries attach to their errors, such as the response of another server and the claim that is
 * wrong. The rest may be personal data or a secret.
 */
function describeThing(thing: unknown): unknown {
  if (typeof thing !== 'object' || thing === null) return { message: String(thing) }
  const { status, claim, attribute } = thing as Record<string, unknown>
  return { status, claim, attribute }
}
