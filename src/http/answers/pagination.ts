import { Type } from '@sinclair/typebox'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { pageLimitDefault, pageLimitMax, type Page } from '../../kernel/pagination.ts'
import { declareAnswers } from './answers.ts'
import type { App } from '../app-types.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends the items of a page, and the URL of the next page as `Link` (RFC 8288, relation `next`). */
    sendPage: <T>(page: Promise<Page<T>>) => Promise<T[]>
  }
}

/** The query parameters of every list that comes in pages. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageLimitMax,
      default: pageLimitDefault,
      description: 'The most items of a page. It has fewer where it would be larger than 1 MiB.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Where the page starts, from the `Link` of the previous page.',
    }),
  ),
}

/**
 * Adds `reply.sendPage` for routes with `pageQuery`. Links start with `baseUrl`, whatever host the client used.
 */
export const pagination = fastifyPlugin(
  async (app: App, { baseUrl }: { baseUrl: string }) => {
    app.addHook('onRoute', (route) => {
      const query = route.schema?.querystring as { properties?: object } | undefined
      if (!('cursor' in (query?.properties ?? {}))) return
      declareAnswers(route, { errors: [errors.cursorInvalid], headers: ['Link'] })
    })
    app.decorateReply('sendPage', async function sendPage<
      T,
    >(this: FastifyReply, read: Promise<Page<T>>): Promise<T[]> {
      const { items, nextCursor } = await read
      if (nextCursor !== null) {
        // A request line may hold a whole URL (RFC 9112 §3.2.2), of whatever host the client likes.
        const { pathname, searchParams } = new URL(this.request.url, baseUrl)
        searchParams.set('cursor', nextCursor)
        void this.header('link', `<${baseUrl}${pathname}?${searchParams.toString()}>; rel="next"`)
      }
      return this.sendJson(items)
    })
  },
  { name: 'pagination' },
)
