import { createHash } from 'node:crypto'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import type { Attempt, IdempotencyStore, StoredAnswer } from '../../kernel/idempotency.ts'
import type { ReceivedFile } from '../../domain/attachments.ts'
import type { Call } from '../../domain/principal.ts'
import { deriveKey, seal, unseal } from '../../kernel/sealing.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { readBearerToken } from '../bearer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The attempt at a request with an `Idempotency-Key`. */
    idempotent: (Attempt & { isAnswerKept: boolean }) | null
  }
  interface FastifyReply {
    /**
     * Calls a service that makes a change, and returns the response made from its result. With an `Idempotency-Key`,
     * the response is stored in the transaction of the change (docs/design/changes.md#stored-responses).
     */
    answerChange: <Result, Answer>(
      change: (principal: Call) => Promise<Result>,
      toAnswer: (result: Result) => Answer,
    ) => Promise<Answer>
  }
}

const contentType = 'application/json; charset=utf-8'

/** The response to a change that returns nothing else. */
export const toOk = () => ({ ok: true as const })

/**
 * Implements `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) for every POST of its scope. A response may
 * contain a secret, so it is encrypted under a key derived from the caller's API key, which is not stored: only a
 * request with the same API key can get the response again.
 */
export const idempotency = fastifyPlugin(
  async (app: App, { store }: { store: IdempotencyStore }) => {
    app.decorateRequest('idempotent', null)
    app.decorateReply('answerChange', answerChange)
    app.addHook('onRoute', (route) => {
      if (route.method !== 'POST') return
      route.preHandler = [begin, ...[route.preHandler ?? []].flat()]
      // First: it stores the response as it is before compression.
      route.onSend = [end, ...[route.onSend ?? []].flat()]
      declareAnswers(route, {
        errors: [errors.idempotencyKeyInvalid, errors.idempotencyKeyReused, errors.idempotencyInFlight],
        headers: ['Idempotent-Replayed'],
      })
    })

    async function begin(request: FastifyRequest, reply: FastifyReply) {
      const key = request.headers['idempotency-key']
      if (key === undefined) return
      if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
        throw errors.idempotencyKeyInvalid({ field: 'Idempotency-Key' })
      }
      const found = await store.begin({
        apiKeyId: String(request.principal.apiKeyId),
        keyHash: sha256(key),
        fingerprint: fingerprintOf(request),
      })
      if (found === 'reused') throw errors.idempotencyKeyReused()
      if (found === 'in_flight') throw errors.idempotencyInFlight({ retryAfterSeconds: 1 })
      if ('lockedUntil' in found) {
        request.idempotent = { ...found, isAnswerKept: false }
        return
      }
      return replay(reply, found)
        .serializer((body: unknown) => body as string)
        .send(unseal(found.sealedBody, sealingKey(request)))
    }

    async function end(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      const attempt = request.idempotent
      if (!attempt) return payload
      // After a 429 the client is to try again, which would not be carried out if it was stored.
      if (reply.statusCode >= 500 || reply.statusCode === 429) {
        request.idempotent = null
        const abandoning = abandon(request, attempt)
        // While the database is unavailable, waiting would delay the 503.
        if (reply.statusCode !== 503) await abandoning
        return payload
      }
      if (attempt.isAnswerKept && reply.statusCode < 400) return payload
      if (reply.statusCode < 400) throw new Error(`${request.routeOptions.url} answers without answerChange`)
      // A client error is stored too, unless another attempt has stored a response before.
      const answer = sealAnswer(request, reply.statusCode, String(payload))
      const stored = await store.complete(attempt, answer)
      if (stored === answer) return payload
      void replay(reply, stored).removeHeader('retry-after')
      return unseal(stored.sealedBody, sealingKey(request))
    }

    /** Unlocks the key, so that a retry can run at once. If that fails, the lock expires by itself. */
    async function abandon(request: FastifyRequest, attempt: Attempt): Promise<void> {
      try {
        await store.abandon(attempt)
      } catch (error) {
        request.log.warn({ err: error }, 'failed to unlock an Idempotency-Key; it expires within seconds')
      }
    }
  },
  { name: 'idempotency', dependencies: ['api-key-auth'] },
)

async function answerChange<Result, Answer>(
  this: FastifyReply,
  change: (principal: Call) => Promise<Result>,
  toAnswer: (result: Result) => Answer,
): Promise<Answer> {
  const { request } = this
  const { idempotent: attempt, principal } = request
  if (!attempt) return toAnswer(await change(principal))
  let kept: unknown
  const result = await change({
    ...principal,
    answerOf: (changed) => {
      kept = changed
      attempt.isAnswerKept = true
      const body = this.serialize(toAnswer(changed as Result)) as string
      return { request: attempt, answer: sealAnswer(request, this.statusCode, body) }
    },
  })
  if (!attempt.isAnswerKept || kept !== result)
    throw new Error(`${request.routeOptions.url} answers something else than its change returned`)
  return toAnswer(result)
}

function replay(reply: FastifyReply, { status, contentType }: StoredAnswer): FastifyReply {
  return reply.code(status).type(contentType).header('idempotent-replayed', 'true')
}

function sealAnswer(request: FastifyRequest, status: number, body: string): StoredAnswer {
  return { status, contentType, sealedBody: seal(body, sealingKey(request)) }
}

function fingerprintOf({ method, url, body, upload, received }: FastifyRequest): Buffer {
  const file = (upload as Buffer | null | undefined) ?? ''
  const streamed = received as ReceivedFile | null | undefined
  return createHash('sha256')
    .update(JSON.stringify([method, url, body ?? null]))
    .update(file)
    .update(streamed ? JSON.stringify([streamed.name, streamed.sha256.toString('hex')]) : '')
    .digest()
}

/** Derives a key from the caller's API key. It cannot be derived from the stored SHA-256 of the API key. */
function sealingKey({ headers }: FastifyRequest): Buffer {
  const apiKey = String(headers['x-api-key'] ?? readBearerToken(headers.authorization))
  return deriveKey(apiKey, 'idempotent answer')
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
