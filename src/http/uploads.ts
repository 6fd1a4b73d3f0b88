import type { IncomingMessage } from 'node:http'
import fastifyMultipart from '@fastify/multipart'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { ApiError, errors } from '../kernel/errors.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'
import { createRateLimiter } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body is a form with one file. Set by the plugin that reads it. */
    upload?: boolean
  }
  interface FastifyRequest {
    /** The one file of the form. Only there on routes that take one. */
    upload: Buffer
  }
}

/** The largest file that is taken. */
export const uploadBytesMax = 5 * 1024 * 1024
// Room for the boundaries, the part's headers and a few small fields around the file.
const formBytesMax = uploadBytesMax + 64 * 1024
const windowSeconds = 60 * 60
// How much, and for how long, is read of what was refused already.
const drainedBytesMax = 1024 * 1024
const drainedMsMax = 2_000

/**
 * Reads the body of every route of the scope that it is registered in as a form with one file, of any field name, into
 * `request.upload`. What is too large is refused as soon as it is seen to be, not when all of it has come.
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
      // Not of a request that was injected, which has no such field.
      if ((raw.complete as boolean | undefined) === false) drainBriefly(raw)
    })
  },
  { name: 'uploads', dependencies: ['api-key-auth'] },
)

async function readOnlyFile(request: FastifyRequest): Promise<Buffer> {
  let upload: Buffer | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      if (upload) throw errors.fileNotAlone({ field: 'file' })
      upload = await readBounded(part.file)
    }
  } catch (error) {
    throw explain(error)
  }
  if (!upload) throw errors.fileMissing({ field: 'file' })
  return upload
}

/** Fails when more comes than any form may be, of whatever parts; the length need not be told beforehand. */
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
 * Ends a connection on which the rest of a refused form is still coming. A little of it is read first: a client that is
 * cut off while it sends may never look at the answer.
 */
function drainBriefly(raw: IncomingMessage): void {
  const hangUp = () => void raw.destroy()
  const timer = setTimeout(hangUp, drainedMsMax)
  raw.once('close', () => clearTimeout(timer))
  let sizeBytes = 0
  raw.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length
    if (sizeBytes > drainedBytesMax) hangUp()
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

/** Everything that the parser complains about is the form's fault. */
function explain(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, message } = error as { code?: string; message?: string }
  if (limitCodes.includes(code ?? '')) return errors.fileNotAlone({ field: 'file', cause: error })
  return errors.decodeError({
    cause: error,
    issues: [{ _tag: 'Type', path: [], message: `must be a form of multipart/form-data: ${message}` }],
  })
}
