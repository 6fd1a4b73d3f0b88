import fastifyMultipart from '@fastify/multipart'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { createRateLimiter } from '../../http/limits/rate-limits.ts'
import { assertFieldIsUtf8 } from '../../http/requests/text-encoding.ts'
import { uploadBytesMax } from '../../http/requests/uploads.ts'
import { ApiError, errors } from '../../kernel/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The uploaded file. Throws `file_missing`, `file_not_alone` and `body_too_large`. Only on upload forms. */
    takeFile: () => Buffer
  }
}

/** Parses the upload forms of its scope. The other fields become the body. */
export const uploadForm = fastifyPlugin(
  async (
    app: App,
    { uploadLimitPerHour, fieldBytesMax = 1024 }: { uploadLimitPerHour: number; fieldBytesMax?: number },
  ) => {
    const limiter = createRateLimiter(app, {
      name: 'upload',
      max: uploadLimitPerHour,
      windowSeconds: 60 * 60,
      callerOf: (request) => request.principal.user.id,
    })
    await app.register(fastifyMultipart, {
      limits: {
        ...{ fileSize: uploadBytesMax, files: 1, fields: 10, headerPairs: 20, parts: 11 },
        // One byte more tells a field that was cut.
        fieldSize: fieldBytesMax + 1,
      },
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

/** Returns the fields, and the file or its error, which is thrown after the CSRF token has been checked. */
async function readForm(
  request: FastifyRequest,
): Promise<{ fields: Record<string, string>; file: Buffer | ApiError }> {
  const fields: Record<string, string> = {}
  let file: Buffer | ApiError = errors.fileMissing({ field: 'file' })
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields[part.fieldname] = String(part.value)
      // Browsers send an empty file name if no file was chosen.
      else if (part.filename === '') part.file.resume()
      else file = await part.toBuffer()
    }
  } catch (error) {
    file =
      (error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE'
        ? errors.bodyTooLarge({ field: 'file', cause: error })
        : errors.fileNotAlone({ field: 'file', cause: error })
  }
  for (const [name, value] of Object.entries(fields)) assertFieldIsUtf8(name, value)
  return { fields, file }
}
