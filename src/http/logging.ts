import { LogController, type FastifyReply, type FastifyRequest } from 'fastify'
import { pino, type DestinationStream, type Logger } from 'pino'
import pinoPretty from 'pino-pretty'

/**
 * A logger of JSON lines, or of readable ones on a terminal. Requests and answers are logged by hand, field by field
 * (see `RequestLog`): what is never logged cannot leak.
 */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      // Fastify logs a request whole where it cannot send the answer.
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

function standardOutput(): DestinationStream {
  if (process.stdout.isTTY) return pinoPretty({ sync: true, ignore: 'pid,hostname' })
  return pino.destination({ fd: 1, sync: false })
}

/** Logs one line for each request when its answer is out. The path is that of the route: a real one may hold a token. */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'requestId' })
  }

  override incomingRequest(): void {
    // Everything that is worth knowing is known at the end.
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (error) request.log.info({ ...describeRequest(request, reply), err: error }, 'request broken off')
    else request.log.info(describeRequest(request, reply), 'request completed')
  }

  override routeNotFound(): void {
    // It would log the URL; requestCompleted tells the rest.
  }
}

/** Logs the line of a request that Fastify gave up before any hook, and says nothing about itself. */
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

/**
 * An error for the log. Fields are picked, not copied: those of the database hold the parameters of statements, which
 * are people's data.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, constraint, query, cause } = error as Error & Record<string, unknown>
  // Drizzle's message lists the parameters after the statement.
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
