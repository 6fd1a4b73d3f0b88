import { createHash } from 'node:crypto'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import type { IdempotencyStore, IdempotentRequest } from '../kernel/idempotency.ts'
import { deriveKey, seal, unseal } from '../kernel/sealing.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'
import { readBearerToken } from './bearer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    idempotent: IdempotentRequest | null
  }
}

/**
 * Honours `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) on every POST of the scope that it is registered
 * in. An answer may hold a secret, so it is sealed under the API key that asked for it, which the service does not
 * keep: only the same caller, presenting the same key, can have it again.
 */
export const idempotency = fastifyPlugin(
  async (app: App, { store }: { store: IdempotencyStore }) => {
    app.decorateRequest('idempotent', null)
    app.addHook('onRoute', (route) => {
      if (route.method !== 'POST') return
      route.preHandler = [begin, ...[route.preHandler ?? []].flat()]
      route.onSend = [...[route.onSend ?? []].flat(), end]
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
      const attempt = {
        apiKeyId: String(request.principal.apiKeyId),
        keyHash: sha256(key),
        fingerprint: fingerprintOf(request),
      }
      const found = await store.begin(attempt)
      if (found === 'reused') throw errors.idempotencyKeyReused()
      if (found === 'in_flight') throw errors.idempotencyInFlight({ retryAfterSeconds: 1 })
      if (found === 'begun') {
        request.idempotent = attempt
        return
      }
      return reply
        .code(found.status)
        .type(found.contentType)
        .header('idempotent-replayed', 'true')
        .serializer((body: unknown) => body as string)
        .send(unseal(found.sealedBody, sealingKey(request)))
    }

    async function end(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      const attempt = request.idempotent
      if (!attempt) return payload
      request.idempotent = null
      // A fault of ours may pass; what the caller did wrong stays so, and is answered again.
      if (reply.statusCode >= 500 || typeof payload !== 'string') {
        await store.abandon(attempt)
      } else {
        await store.complete(attempt, {
          status: reply.statusCode,
          contentType: String(reply.getHeader('content-type')),
          sealedBody: seal(payload, sealingKey(request)),
        })
      }
      return payload
    }
  },
  { name: 'idempotency', dependencies: ['api-key-auth'] },
)

function fingerprintOf({ method, url, body, upload }: FastifyRequest): Buffer {
  const file = (upload as Buffer | null | undefined) ?? ''
  return createHash('sha256')
    .update(JSON.stringify([method, url, body ?? null]))
    .update(file)
    .digest()
}

/** A key of the caller's API key; the stored SHA-256 of the API key does not lead to it. */
function sealingKey({ headers }: FastifyRequest): Buffer {
  const apiKey = String(headers['x-api-key'] ?? readBearerToken(headers.authorization))
  return deriveKey(apiKey, 'idempotent answer')
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
