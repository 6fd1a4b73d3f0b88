import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { tagOf } from '../../kernel/versions.ts'
import type { App } from '../app-types.ts'
import { declareAnswers } from './answers.ts'

/** What a POST creates, and where it is read. */
export interface Creation<Created = never> {
  /** The property of the response that has it. Absent: the response itself. */
  part?: string
  /** The path of the GET that reads it. Its parameters are properties of what was created, or parameters of the request. */
  url: string
  /** Its version, if the GET sends an entity tag. */
  versionOf?: (created: Created) => string
  /** What the GET returns, if that is not what the response has. */
  shown?: (created: Created) => object
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route creates: its responses have `Location` and, where the GET has it, `ETag`. */
    creates?: Creation
  }
}

/**
 * Sends `Location` (RFC 9110 §10.2.2) and `ETag` (§8.8.3) of what a POST has created. They are made from the body of the
 * response, so that the stored response to an earlier request has them too.
 */
export const creations = fastifyPlugin(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      const creation = route.config?.creates
      if (!creation) return
      declareAnswers(route, { headers: ['Location', ...(creation.versionOf ? (['ETag'] as const) : [])] })
      route.onSend = [
        async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
          if (reply.statusCode === 200 && typeof payload === 'string')
            nameCreated(creation, { request, reply, body: JSON.parse(payload) as Body })
          return payload
        },
        ...[route.onSend ?? []].flat(),
      ]
    })
  },
  { name: 'creations' },
)

type Body = Record<string, unknown>

function nameCreated(
  { part, url, versionOf, shown }: Creation,
  { request, reply, body }: { request: FastifyRequest; reply: FastifyReply; body: Body },
): void {
  const created = part === undefined ? body : (body[part] as Body)
  const values = { ...(request.params as Body), ...created }
  void reply.header(
    'location',
    url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values[name]))),
  )
  if (!versionOf) return
  const representation = JSON.stringify(shown ? shown(created as never) : created)
  void reply.header('etag', tagOf(versionOf(created as never), representation))
}
