import { Readable } from 'node:stream'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { attachmentBytesMax, type ReceivedFile } from '../../domain/attachments.ts'
import { errors } from '../../kernel/errors.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { readOnlyFile, registerFileForms, toFormError } from './file-forms.ts'
import { allowSlowBody } from './slow-senders.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The file of the form, which is stored. Only set on the routes of `streamedUploads`. */
    received: ReceivedFile
  }
}

/** What takes the files of forms. */
export interface FileReceiver {
  /** Before the form is read: throws unless the caller may upload a file there now. */
  admit(request: FastifyRequest): Promise<void>
  /** Stores a file while it arrives. */
  receive(file: { name: string; content: Readable }): Promise<ReceivedFile>
  /** Deletes a file that was received and not taken. Never throws. */
  discard(file: ReceivedFile): Promise<void>
}

export interface StreamedUploadsOptions {
  limitPerHour: number
  receiver: FileReceiver
  /** Called with the fields before the file, which is not stored if it throws. */
  admitForm?: (request: FastifyRequest, fields: Record<string, string>) => void
}

/**
 * Stores the only file of each form of its scope while it arrives, as `request.received`: it is never whole in memory. The
 * caller is checked before and, as for all late bodies, after it. What no handler took is deleted before the response.
 * Registered after what finds the caller: `apiKeyAuth`, or the session of the website.
 */
export const streamedUploads = fastifyPlugin(
  async (app: App, { limitPerHour, receiver, admitForm }: StreamedUploadsOptions) => {
    await registerFileForms(app, {
      name: 'attachment',
      limitPerHour,
      fileBytesMax: attachmentBytesMax,
      tooLarge: () => errors.attachmentTooLarge({ field: 'file' }),
    })
    app.decorateRequest('received', null as unknown as ReceivedFile)
    app.addHook('onRoute', (route) =>
      declareAnswers(route, { errors: [errors.attachmentTooLarge, errors.attachmentType] }),
    )
    app.addHook('preParsing', async (request) => {
      await receiver.admit(request)
      allowSlowBody(request)
    })
    app.addHook('preValidation', async (request) => {
      request.received = await receiveOnlyFile(request, receiver, admitForm)
    })
    app.addHook('onSend', async ({ received }, _reply, payload) => {
      // Null for a request that was refused before.
      if ((received as ReceivedFile | null) !== null && !received.isTaken) await receiver.discard(received)
      return payload
    })
  },
  { name: 'streamed-uploads' },
)

/** The bytes of a part of a form. What the parser finds wrong with the form is an error of the client, not of the storage. */
function toContent(part: AsyncIterable<Buffer>): Readable {
  async function* read(): AsyncGenerator<Buffer> {
    try {
      yield* part
    } catch (error) {
      throw toFormError(error)
    }
  }
  return Readable.from(read(), { objectMode: false })
}

/** Stores the only file of a form. Leaves nothing behind when it throws. */
async function receiveOnlyFile(
  request: FastifyRequest,
  receiver: FileReceiver,
  admitForm: StreamedUploadsOptions['admitForm'],
): Promise<ReceivedFile> {
  let received: ReceivedFile | undefined
  try {
    return await readOnlyFile(request, async ({ filename, file }, fields) => {
      admitForm?.(request, fields)
      received = await receiver.receive({ name: filename, content: toContent(file) })
      return received
    })
  } catch (error) {
    if (received) await receiver.discard(received)
    throw error
  }
}
