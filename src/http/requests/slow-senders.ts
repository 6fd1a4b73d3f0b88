import type { FastifyRequest } from 'fastify'
import type { App } from '../app-types.ts'
import { hasBody } from '../has-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the request if its body has not arrived by then. Null without a body. */
    slowBody: NodeJS.Timeout | null
  }
}

/** How long any request may take to arrive, in milliseconds: 25 MiB at 350 kbit/s, as a telephone may have. */
export const fileMsMax = 600_000

export interface SlowSendersOptions {
  /** How long a body may take to arrive that is no file, in milliseconds. */
  bodyMsMax: number
}

export const slowSendersDefaults: SlowSendersOptions = { bodyMsMax: 60_000 }

/** Disconnects clients whose bodies do not arrive within `bodyMsMax`, unless they may upload a file there. */
export function registerSlowSenders(app: App, { bodyMsMax }: SlowSendersOptions): void {
  app.decorateRequest('slowBody', null)
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (hasBody(raw)) {
      const timer = setTimeout(() => {
        // As Node.js ends a request after `requestTimeout`.
        if (!reply.sent)
          app.server.emit('clientError', new Error('the body did not arrive in time'), raw.socket)
        else raw.destroy()
      }, bodyMsMax).unref()
      const clear = () => clearTimeout(timer)
      raw.once('end', clear).once('close', clear)
      request.slowBody = timer
    }
    done()
  })
}

/** Lets the body of a request arrive as slowly as a file may: within `fileMsMax`. */
export function allowSlowBody({ slowBody }: FastifyRequest): void {
  if (slowBody) clearTimeout(slowBody)
}
