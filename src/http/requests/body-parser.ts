import type { IncomingMessage } from 'node:http'
import { errors } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'

/**
 * Parses JSON bodies and refuses other content types, unless a plugin adds its own parser. An empty body counts as
 * absent, whatever its content type: curl sends that of a form. Operations without a body accept `{}` too.
 */
export function registerBodyParser(app: App): void {
  app.removeAllContentTypeParsers()
  // `__proto__` is kept as a field: every body schema is closed and refuses it like other unknown fields.
  const parseJson = app.getDefaultJsonParser('ignore', 'ignore')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.trim() === '') {
      done(null, undefined)
      return
    }
    void parseJson(request, body, (error, parsed) => {
      if (error) done(errors.decodeError({ cause: error, issues: [notJson] }))
      else done(null, parsed)
    })
  })
  app.addContentTypeParser('*', async (_request: unknown, payload: IncomingMessage) => {
    if (!(await isEmpty(payload))) throw errors.unsupportedMediaType()
  })
  app.addHook('onRoute', (route) => {
    if (route.config?.openBody || /^(GET|HEAD|OPTIONS)$/.test(String(route.method))) return
    declareAnswers(route, { errors: [errors.bodyTooLarge, errors.unsupportedMediaType] })
  })
  app.addHook('preValidation', async (request) => {
    const { body } = request
    if (request.routeOptions.config.openBody) return
    if (request.routeOptions.schema?.body !== undefined) {
      if (body !== undefined) return
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
