import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { attachmentBytesMax, attachmentTextLengthMax, isImageType } from '../../domain/attachments.ts'
import { errors } from '../../kernel/errors.ts'

/** What is known of a file once all of it has been read. */
export interface ContentFacts {
  type: string
  bytes: number
  sha256: Buffer
  /** The beginning of a text; null of another file. */
  text: string | null
}

// As many bytes as the library looks at.
const headBytes = 4100
const typeNames = /^(?:application\/pdf|(?:audio|video)\/[\w.+-]+)$/

/**
 * Reads a file while it is passed on, and tells what it is: by its content, since names and declared types are what the
 * sender says. What is text in UTF-8 is text, whatever else it would be: nobody is shown it as HTML or SVG. Throws
 * `attachment_type` and `attachment_too_large`.
 */
export function inspectContent(
  content: Readable,
  name: string,
): { passed: Readable; facts: () => ContentFacts } {
  const hash = createHash('sha256')
  const text = createTextReader()
  let bytes = 0
  let type: string | undefined
  let isText = false

  async function decide(head: Buffer): Promise<void> {
    const found = await findBinaryType(head)
    isText = found === undefined
    type = found ?? (/\.csv$/i.test(name) ? 'text/csv' : 'text/plain')
    if (isText) text.read(head)
  }

  async function* pass(): AsyncGenerator<Buffer> {
    let head: Buffer[] | undefined = []
    for await (const chunk of content as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > attachmentBytesMax) throw errors.attachmentTooLarge({ field: 'file' })
      hash.update(chunk)
      if (head) {
        head.push(chunk)
        if (bytes < headBytes) continue
        const first: Buffer = Buffer.concat(head)
        head = undefined
        await decide(first)
        yield first
      } else {
        if (isText) text.read(chunk)
        yield chunk
      }
    }
    if (bytes === 0) throw errors.attachmentType({ field: 'file', message: 'The file is empty.' })
    if (head) {
      const all = Buffer.concat(head)
      await decide(all)
      yield all
    }
    if (isText) text.end()
  }

  return {
    passed: Readable.from(pass(), { objectMode: false }),
    facts() {
      if (type === undefined) throw new Error('the file was not read to its end')
      return { type, bytes, sha256: hash.digest(), text: isText ? text.beginning() : null }
    },
  }
}

/** The type of an image, a PDF, audio or video by its first bytes; undefined for anything else. */
async function findBinaryType(head: Buffer): Promise<string | undefined> {
  // Loaded at the first upload, to keep the start fast.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(head)
  const type = found?.mime.split(';')[0]?.trim()
  return type !== undefined && (isImageType(type) || typeNames.test(type)) ? type : undefined
}

// Control characters (C0) that no text has. The escape is for colours in logs.
// eslint-disable-next-line no-control-regex -- It is these that it looks for.
const binary = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** Reads text in UTF-8, and keeps its beginning. Throws `attachment_type` for anything else. */
function createTextReader() {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let kept = ''
  function decode(chunk?: Buffer): void {
    let decoded: string
    try {
      decoded = decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (cause) {
      throw errors.attachmentType({ field: 'file', cause })
    }
    if (binary.test(decoded)) throw errors.attachmentType({ field: 'file' })
    if (kept.length < attachmentTextLengthMax) kept += decoded.slice(0, attachmentTextLengthMax)
  }
  return {
    read: (chunk: Buffer) => decode(chunk),
    end: () => decode(),
    // Not half of a character of two code units.
    beginning: () => kept.slice(0, attachmentTextLengthMax).replace(/[\ud800-\udbff]$/, ''),
  }
}
