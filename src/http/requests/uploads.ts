import type { IncomingMessage } from 'node:http'
import fastifyMultipart from '@fastify/multipart'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { ApiError, errors } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { createRateLimiter } from '../limits/rate-limits.ts'
import { assertFieldIsUtf8 } from './text-encoding.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body is a form with one file. */
    upload?: boolean
  }
  interface FastifyRequest {
    /** The file of the form. Only set on upload routes. */
    upload: Buffer
  }
}

/** The maximum size of a file. */
export const uploadBytesMax = 5 * 1024 * 1024
// Leaves room for boundaries, part headers and a few small fields.
const formBytesMax = uploadBytesMax + 64 * 1024
const windowSeconds = 60 * 60
// Limits for reading the rest of a refused form, and how long the client has for the response when it sends more.
const drainedBytesMax = 1024 * 1024
const drainedMsMax = 2_000
const responseMs = 500

/**
 * Parses the body of every route of its scope as a form with one file, of any field name, into `request.upload`. A form
 * that is too large is refused as soon as its size is known, before all of it has arrived.
 */
export const uploads = fastifyPlugin(
  async (app: App, { uploadLimitPerHour }: { uploadLimitPerHour: number }) => {
    const limiter = createRateLimiter(app, {
      name: 'upload',
      max: uploadLimitPerHour,
      windowSeconds,
      callerOf: (request) => request.principal.user.id,
    })
    await app.register(fastifyMultipart, {
      throwFileSizeLimit: false,
      limits: {
        fileSize: uploadBytesMax + 1,
        files: 2,
        fields: 10,
        fieldSize: 1024,
        headerPairs: 20,
        parts: 12,
      },
    })
    app.decorateRequest('upload', null as unknown as Buffer)
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, upload: true }
      declareAnswers(route, {
        errors: [errors.tooManyUploads, errors.fileMissing, errors.fileNotAlone, errors.storageUnavailable],
      })
    })
    app.addHook('onRequest', async (request) => {
      const state = await limiter?.count(request)
      if (state?.isExceeded) throw errors.tooManyUploads({ retryAfterSeconds: state.resetSeconds })
    })
    app.addHook('preParsing', async (request) => {
      if (!/^multipart\/form-data *(;|$)/i.test(request.headers['content-type'] ?? ''))
        throw errors.unsupportedMediaType()
      if (Number(request.headers['content-length']) > formBytesMax) throw errors.bodyTooLarge()
    })
    app.addHook('preValidation', async (request) => {
      request.upload = await Promise.race([readOnlyFile(request), refuseTooLarge(request.raw)])
    })
    app.addHook('onResponse', async ({ raw }) => {
      // Undefined for injected requests.
      if ((raw.complete as boolean | undefined) === false) drainBriefly(raw)
    })
  },
  { name: 'uploads', dependencies: ['api-key-auth'] },
)

async function readOnlyFile(request: FastifyRequest): Promise<Buffer> {
  let upload: Buffer | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') {
        assertFieldIsUtf8(part.fieldname, part.value)
        continue
      }
      if (upload) throw errors.fileNotAlone({ field: 'file' })
      upload = await readBounded(part.file)
    }
  } catch (error) {
    throw toApiError(error)
  }
  if (!upload) throw errors.fileMissing({ field: 'file' })
  return upload
}

/** Rejects with `body_too_large` once more bytes arrive than a form may have. Covers bodies without Content-Length. */
function refuseTooLarge(raw: IncomingMessage): Promise<never> {
  return new Promise((_resolve, reject) => {
    let sizeBytes = 0
    raw.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length
      if (sizeBytes > formBytesMax) reject(errors.bodyTooLarge())
    })
  })
}

/**
 * Closes the connection of a refused form that is still being sent. It reads a little more first: many clients read the
 * response only after sending. Whoever sends more is not read any longer, and has a moment: closing a connection with
 * unread bytes resets it, and with it goes a response that was not read yet.
 */
function drainBriefly(raw: IncomingMessage): void {
  const close = () => void raw.destroy()
  let timer = setTimeout(close, drainedMsMax)
  raw.once('close', () => clearTimeout(timer))
  let sizeBytes = 0
  raw.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length
    if (sizeBytes <= drainedBytesMax) return
    raw.pause()
    clearTimeout(timer)
    timer = setTimeout(close, responseMs)
  })
  raw.unpipe()
  raw.resume()
}

async function readBounded(file: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of file) {
    sizeBytes += chunk.length
    if (sizeBytes > uploadBytesMax) throw errors.bodyTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const limitCodes = ['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT']

/** Converts errors of the parser, which are all client errors. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, message } = error as { code?: string; message?: string }
  if (limitCodes.includes(code ?? '')) return errors.fileNotAlone({ field: 'file', cause: error })
  return errors.decodeError({
    cause: error,
    issues: [{ _tag: 'Type', path: [], message: `must be a multipart/form-data form: ${message}` }],
  })
}
