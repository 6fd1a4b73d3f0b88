import type { IncomingMessage } from 'node:http'
import fastifyMultipart, { type MultipartFile } from '@fastify/multipart'
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
}

// Limits for reading the rest of a refused form, and how long the client has for the response when it sends more.
const drainedBytesMax = 1024 * 1024
const drainedMsMax = 2_000
const responseMs = 500

/** What forms with one file may have. */
export interface FileForms {
  /** The name of their rate limit. */
  name: string
  /** How many a caller may send in an hour. 0: any number. */
  limitPerHour: number
  /** The maximum size of a file. */
  fileBytesMax: number
  /** The maximum size of a field that is no file. */
  fieldBytesMax?: number
  /** The error of a form that is too large. */
  tooLarge: () => ApiError
}

/** The size of a form with the largest file: with room for boundaries, part headers and a few small fields. */
export const formBytesMaxOf = (fileBytesMax: number) => fileBytesMax + 64 * 1024

/**
 * Makes every route of the scope take a form with one file, which `readOnlyFile` reads. A form that says that it is too large
 * is refused before it arrives, and what a refused client still sends is not waited for.
 */
export async function registerFileForms(app: App, forms: FileForms): Promise<void> {
  const { name, limitPerHour, fileBytesMax, fieldBytesMax = 1024, tooLarge } = forms
  const limiter = createRateLimiter(app, {
    name,
    max: limitPerHour,
    windowSeconds: 60 * 60,
    callerOf: (request) => request.principal.user.id,
  })
  await app.register(fastifyMultipart, {
    throwFileSizeLimit: false,
    limits: {
      // Who reads the file refuses the byte above the maximum.
      fileSize: fileBytesMax + 1,
      files: 2,
      fields: 10,
      fieldSize: fieldBytesMax,
      headerPairs: 20,
      parts: 12,
    },
  })
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
    if (Number(request.headers['content-length']) > formBytesMaxOf(fileBytesMax)) throw tooLarge()
  })
  app.addHook('onResponse', async ({ raw }) => {
    // Undefined for injected requests.
    if ((raw.complete as boolean | undefined) === false) drainBriefly(raw)
  })
}

/**
 * Reads the only file of a form by `read`, which gets the fields before it too. Throws what `read` throws, and what is wrong
 * with the form as an error of the client.
 */
export async function readOnlyFile<Read>(
  request: FastifyRequest,
  read: (part: MultipartFile, fields: Record<string, string>) => Promise<Read>,
): Promise<Read> {
  const fields: Record<string, string> = {}
  let found: { file: Read } | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') {
        assertFieldIsUtf8(part.fieldname, part.value)
        fields[part.fieldname] = String(part.value)
        continue
      }
      if (found) throw errors.fileNotAlone({ field: 'file' })
      found = { file: await read(part, fields) }
    }
  } catch (error) {
    throw toFormError(error)
  }
  if (!found) throw errors.fileMissing({ field: 'file' })
  return found.file
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

const limitCodes = ['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT']

/** Converts errors of the parser, which are all client errors. */
export function toFormError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, message } = error as { code?: string; message?: string }
  if (limitCodes.includes(code ?? '')) return errors.fileNotAlone({ field: 'file', cause: error })
  return errors.decodeError({
    cause: error,
    issues: [{ _tag: 'Type', path: [], message: `must be a multipart/form-data form: ${message}` }],
  })
}
