import type { Readable } from 'node:stream'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import type { App } from '../app-types.ts'
import { declareAnswers } from './answers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers with `reply.sendAttachment`. */
    isAttachment?: boolean
  }
  interface FastifyReply {
    /** Sends a file, while it is read, to be saved under a name. The name has neither quotes nor backslashes. */
    sendAttachment: (file: { name: string; type: string; content: Readable }) => FastifyReply
  }
}

/** Files to download (RFC 6266), from the routes of its scope that are `isAttachment`. */
export const attachments = fastifyPlugin(
  async (app: App) => {
    app.decorateReply('sendAttachment', function (this: FastifyReply, { name, type, content }) {
      return this.type(type).header('content-disposition', `attachment; filename="${name}"`).send(content)
    })
    app.addHook('onRoute', (route) => {
      if (route.config?.isAttachment) declareAnswers(route, { headers: ['Content-Disposition'] })
    })
  },
  { name: 'attachments' },
)
