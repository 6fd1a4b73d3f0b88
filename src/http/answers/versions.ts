import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { parseExpected, parseTags, tagOf, tagOfVersion, withoutCoding } from '../../kernel/versions.ts'
import type { App } from '../app-types.ts'
import { declareAnswers } from './answers.ts'
import { noteCompression } from './compression.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether what the route is about has a version: a GET answers with `reply.sendVersioned`, and the service of a change
     * calls `assertExpected`, that of a PATCH also `onVersion`.
     */
    isVersioned?: boolean
  }
  interface FastifyReply {
    /** Sends an object with its entity tag, or 304 if the client has it already. */
    sendVersioned: <T>(object: T | Promise<T>, versionOf: (object: T) => string) => Promise<T>
  }
}

/**
 * Conditional requests (RFC 9110 §13) for the routes of its scope that are `isVersioned`
 * (docs/design/errors.md#conditional-requests). After the plugin that reads the caller.
 */
export const versions = fastifyPlugin(
  async (app: App) => {
    app.decorateReply('sendVersioned', sendVersioned)
    app.addHook('onRoute', (route) => {
      if (!route.config?.isVersioned) return
      if (route.method !== 'GET' && route.method !== 'HEAD') {
        const headers = route.method === 'PATCH' ? (['ETag'] as const) : []
        declareAnswers(route, { errors: [errors.preconditionFailed], headers })
        route.preHandler = [...[route.preHandler ?? []].flat(), readExpected]
        route.onSend = [...[route.onSend ?? []].flat(), dropTagOfFailure]
        return
      }
      declareAnswers(route, { headers: ['ETag', 'Cache-Control'] })
      // RFC 9110 §8.6: the length of a 304 is not that of the response that it stands for.
      if (route.method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), dropLength]
    })
  },
  { name: 'versions', dependencies: ['api-key-auth'] },
)

async function readExpected({ headers, principal }: FastifyRequest, reply: FastifyReply): Promise<void> {
  principal.onVersion = (version) => void reply.header('etag', tagOfVersion(version))
  const header = headers['if-match']
  if (header !== undefined) principal.expected = parseExpected(header)
}

/** A change can still fail after it has said which version it leaves. */
async function dropTagOfFailure(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (reply.statusCode !== 200) void reply.removeHeader('etag')
  return payload
}

async function dropLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (reply.statusCode === 304) void reply.removeHeader('content-length')
  return payload
}

async function sendVersioned<T>(
  this: FastifyReply,
  object: T | Promise<T>,
  versionOf: (object: T) => string,
): Promise<T> {
  const value = await object
  const body = this.serialize(value) as string
  const tag = tagOf(versionOf(value), body)
  const known = findKnown(this.request, tag)
  // The response may be kept, and is not used without asking.
  void this.type('application/json; charset=utf-8')
    .header('cache-control', 'private, no-cache')
    .header('etag', known ?? tag)
  if (known === undefined) return body as unknown as T
  noteCompression(this, body)
  return this.code(304).removeHeader('content-type').send() as unknown as T
}

/**
 * The tag that the client has already, as it has it: a cache looks for what it keeps by the tag of the 304, which is weak
 * if the response was compressed (RFC 9111 §4.3.4).
 */
function findKnown({ headers }: FastifyRequest, tag: string): string | undefined {
  const header = headers['if-none-match']
  const tags = header === undefined ? [] : parseTags(header)
  return tags === '*' ? tag : tags.find((candidate) => candidate.tag === withoutCoding(tag))?.text
}
