import type { FastifyReply } from 'fastify'
import type { Json } from '../../kernel/json-text.ts'
import type { App } from '../app-types.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends JSON text as it is. The tests check it against the schema of the operation. */
    sendJson: <T>(text: Json<T> | Promise<Json<T>>) => Promise<T>
  }
}

/** Adds `reply.sendJson`. */
export function registerSendJson(app: App): void {
  app.decorateReply('sendJson', async function sendJson<
    T,
  >(this: FastifyReply, text: Json<T> | Promise<Json<T>>): Promise<T> {
    const body = await text
    // Fastify does not serialize a string whose content type is JSON.
    void this.type('application/json; charset=utf-8')
    return body as unknown as T
  })
}
