import fastifyMultipart from '@fastify/multipart'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import { createRateLimiter } from '../http/rate-limits.ts'
import { uploadBytesMax } from '../http/uploads.ts'
import { ApiError, errors } from '../kernel/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The file of the form; throws what was wrong with it. Only there on forms that take one. */
    takeFile: () => Buffer
  }
}

/** Reads the forms of the scope that it is registered in that hold a file, with their other fields as the body. */
export const uploadForm = fastifyPlugin(
  async (app: App, { uploadLimitPerHour }: { uploadLimitPerHour: number }) => {
    const limiter = createRateLimiter(app, {
      name: 'upload',
      max: uploadLimitPerHour,
      windowSeconds: 60 * 60,
      callerOf: (request) => request.principal.user.id,
    })
    await app.register(fastifyMultipart, {
      limits: { fileSize: uploadBytesMax, files: 1, fields: 10, fieldSize: 1024, headerPairs: 20, parts: 11 },
    })
    app.decorateRequest('takeFile', null as unknown as () => Buffer)
    app.addHook('onRequest', async (request) => {
      const state = await limiter?.count(request)
      if (state?.isExceeded) throw errors.tooManyUploads({ retryAfterSeconds: state.resetSeconds })
    })
    app.addHook('preValidation', async (request) => {
      if (!request.isMultipart()) throw errors.unsupportedMediaType()
      const { fields, file } = await readForm(request)
      request.body = fields
      request.takeFile = () => {
        if (file instanceof ApiError) throw file
        return file
      }
    })
  },
  { name: 'upload-form', dependencies: ['signed-in-only'] },
)

/** The fields, and the file or what is wrong with it: the token among the fields is looked at first. */
async function readForm(
  request: FastifyRequest,
): Promise<{ fields: Record<string, string>; file: Buffer | ApiError }> {
  const fields: Record<string, string> = {}
  let file: Buffer | ApiError = errors.fileMissing({ field: 'file' })
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields[part.fieldname] = String(part.value)
      // A browser sends a file without a name where none was chosen.
      else if (part.filename === '') part.file.resume()
      else file = await part.toBuffer()
    }
  } catch (error) {
    file =
      (error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE'
        ? errors.bodyTooLarge({ field: 'file', cause: error })
        : errors.fileNotAlone({ field: 'file', cause: error })
  }
  return { fields, file }
}
