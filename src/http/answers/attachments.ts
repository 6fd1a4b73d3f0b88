import type { Readable } from 'node:stream'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { isImageType, type SentFile } from '../../domain/attachments.ts'
import { parseTags, withoutCoding } from '../../kernel/versions.ts'
import type { App } from '../app-types.ts'
import { declareAnswers } from './answers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers with `reply.sendAttachment`. */
    isAttachment?: boolean
    /** Whether the route answers with `sendFile`. */
    isFile?: boolean
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
      if (route.config?.isAttachment || route.config?.isFile)
        declareAnswers(route, { headers: ['Content-Disposition'] })
    })
  },
  { name: 'attachments' },
)

/**
 * Sends a file while it is read, or 304. Browsers show images and save all else, run nothing of it, and do not guess its
 * type: it is what somebody uploaded.
 */
export function sendFile(reply: FastifyReply, file: SentFile, cacheControl: string): FastifyReply {
  const { name, type, sizeBytes, digest, content } = file
  const tag = `"${digest}"`
  void reply
    .header('cache-control', cacheControl)
    .header('etag', tag)
    .header('content-security-policy', "sandbox; default-src 'none'; frame-ancestors 'none'")
    .header('x-content-type-options', 'nosniff')
  const tags = parseTags(reply.request.headers['if-none-match'] ?? '')
  if (tags === '*' || tags.some((known) => withoutCoding(known.tag) === tag)) {
    content.destroy()
    return reply.code(304).send()
  }
  return reply
    .type(type)
    .header('content-length', sizeBytes)
    .header('content-disposition', dispositionOf(isImageType(type) ? 'inline' : 'attachment', name))
    .send(content)
}

/** `Content-Disposition` (RFC 6266) with a name of any characters (RFC 8187), and one of ASCII for old programs. */
export function dispositionOf(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.normalize('NFKD').replace(/[^ -~]|["%\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
