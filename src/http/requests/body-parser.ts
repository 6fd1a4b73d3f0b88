import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { hasBody } from '../has-body.ts'
import { assertQueryIsEncoded, decodeUtf8, isUtf8Type } from './text-encoding.ts'

const isWithoutBody = /^(GET|HEAD|OPTIONS)$/

/**
 * Parses JSON bodies and refuses other content types, unless a plugin adds its own parser. An empty body counts as
 * absent, whatever its content type: curl sends that of a form. Operations without a body accept `{}` too. Bodies of any
 * type are refused if they are compressed or in another charset than UTF-8, and so are queries.
 */
export function registerBodyParser(app: App): void {
  app.removeAllContentTypeParsers()
  // `__proto__` is kept as a field: every body schema is closed and refuses it like other unknown fields.
  const parseJson = app.getDefaultJsonParser('ignore', 'ignore')
  const parse = async (request: FastifyRequest, body: Buffer) => {
    const text = decodeUtf8(body)
    if (text.trim() === '') return undefined
    return new Promise((resolve, reject) => {
      void parseJson(request, text, (error, parsed) => {
        if (error) reject(errors.decodeError({ cause: error, issues: [notJson] }))
        else resolve(parsed)
      })
    })
  }
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse)
  app.addContentTypeParser('*', async (_request: unknown, payload: IncomingMessage) => {
    if (!(await isEmpty(payload))) throw errors.unsupportedMediaType()
  })
  app.addHook('onRoute', (route) => {
    if (route.config?.openBody || isWithoutBody.test(String(route.method))) return
    declareAnswers(route, { errors: [errors.bodyTooLarge, errors.unsupportedMediaType] })
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    try {
      assertQueryIsEncoded(request)
      // That of a GET is not read (RFC 9110 §9.3.1).
      if (hasBody(request.raw) && !isWithoutBody.test(request.method)) assertReadable(request, reply)
      done(null, payload)
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('preValidation', async (request) => {
    const { body } = request
    if (request.routeOptions.config.openBody) return
    if (request.routeOptions.schema?.body !== undefined) {
      // A form is read later.
      if (body !== undefined || request.routeOptions.config.upload) return
      if (!request.routeOptions.config.optionalBody) throw errors.decodeError({ issues: [noBody] })
      request.body = {}
      return
    }
    if (body === undefined) return
    const names = isPlainObject(body) ? Object.keys(body) : undefined
    if (names?.length === 0) return
    throw errors.decodeError({
      issues: names
        ? names.map((name) => ({ _tag: 'Unexpected', path: [name], message: 'is not a known field' }))
        : [{ _tag: 'Type', path: [], message: 'must be absent or an empty object' }],
    })
  })
}

const noBody = { _tag: 'Missing' as const, path: [], message: 'is required' }
const notJson = { _tag: 'Type' as const, path: [], message: 'must be JSON' }

/** Throws `unsupported_media_type` for a body that is compressed, or in another charset than UTF-8. */
function assertReadable({ headers }: FastifyRequest, reply: FastifyReply): void {
  const coding = headers['content-encoding']
  if (coding !== undefined && !/^\s*(?:identity\s*)?$/i.test(coding)) {
    // RFC 9110 §15.5.16: it is the coding that is not supported, not the type.
    void reply.header('accept-encoding', 'identity')
    throw errors.unsupportedMediaType()
  }
  if (!isUtf8Type(headers['content-type'] ?? '')) throw errors.unsupportedMediaType()
}

async function isEmpty(payload: IncomingMessage): Promise<boolean> {
  const length = payload.headers['content-length']
  if (length !== undefined) return length === '0'
  // Without a length, read only the first chunk, and keep the connection open for the response.
  const first = await payload.iterator({ destroyOnReturn: false }).next()
  return first.done === true
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
