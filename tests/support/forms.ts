import { randomUUID } from 'node:crypto'

/** A part of a form: a field, or a file when it has a file name. */
export interface FormPart {
  name?: string
  filename?: string
  type?: string
  content: string | Buffer
}

/** A form of multipart/form-data (RFC 7578), byte by byte. */
export interface Form {
  headers: { 'content-type': string }
  payload: Buffer
}

/** Builds a form as an HTTP client would send it. */
export function buildForm(...parts: FormPart[]): Form {
  const boundary = `----${randomUUID()}`
  const pieces = parts.flatMap(({ name = 'file', filename, type, content }) => [
    Buffer.from(
      [
        `--${boundary}`,
        `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`,
        ...(type === undefined ? [] : [`Content-Type: ${type}`]),
        '',
        '',
      ].join('\r\n'),
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    payload: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

/** A form with one file. */
export function buildUpload(
  content: string | Buffer,
  { name = 'file', filename = 'picture.png', type = 'image/png' } = {},
): Form {
  return buildForm({ name, filename, type, content })
}
