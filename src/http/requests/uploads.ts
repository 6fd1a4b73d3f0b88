import type { IncomingMessage } from 'node:http'
import fastifyPlugin from 'fastify-plugin'
import { errors } from '../../kernel/errors.ts'
import type { App } from '../app-types.ts'
import { formBytesMaxOf, readOnlyFile, registerFileForms } from './file-forms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The file of the form. Only set on upload routes. */
    upload: Buffer
  }
}

/** The maximum size of a file. */
export const uploadBytesMax = 5 * 1024 * 1024

export interface UploadsOptions {
  uploadLimitPerHour: number
  /** For forms with other fields, which become the body: the maximum size of each. */
  fieldBytesMax?: number
}

/**
 * Parses the body of every route of its scope as a form with one file, of any field name, into `request.upload`. A form
 * that is too large is refused as soon as its size is known, before all of it has arrived.
 */
export const uploads = fastifyPlugin(
  async (app: App, { uploadLimitPerHour, fieldBytesMax }: UploadsOptions) => {
    const hasFields = fieldBytesMax !== undefined
    await registerFileForms(app, {
      ...(hasFields && { fieldBytesMax }),
      name: 'upload',
      limitPerHour: uploadLimitPerHour,
      fileBytesMax: uploadBytesMax,
      tooLarge: () => errors.bodyTooLarge(),
    })
    app.decorateRequest('upload', null as unknown as Buffer)
    app.addHook('preValidation', async (request) => {
      const reading = readOnlyFile(request, async ({ file }, fields) => ({
        content: await readBounded(file),
        fields,
      }))
      const { content, fields } = await Promise.race([reading, refuseTooLarge(request.raw)])
      request.upload = content
      // Validated as any other body.
      if (hasFields) request.body = fields
    })
  },
  { name: 'uploads', dependencies: ['api-key-auth'] },
)

/** Rejects with `body_too_large` once more bytes arrive than a form may have. Covers bodies without Content-Length. */
function refuseTooLarge(raw: IncomingMessage): Promise<never> {
  return new Promise((_resolve, reject) => {
    let sizeBytes = 0
    raw.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length
      if (sizeBytes > formBytesMaxOf(uploadBytesMax)) reject(errors.bodyTooLarge())
    })
  })
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
