import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { errors, type DecodeIssue } from '../../kernel/errors.ts'

/**
 * Returns the text of a body. Throws `decode_error` for bytes that are not UTF-8 (RFC 8259 §8.1): a decoder would replace
 * them by U+FFFD, and the text would be lost.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw errors.decodeError({ issues: [notUtf8] })
  return bytes.toString('utf8')
}

/**
 * Throws `decode_error` for a field of a multipart form that is not UTF-8. Its parser has replaced such bytes by U+FFFD,
 * which no field of ours contains otherwise.
 */
export function assertFieldIsUtf8(name: string, value: unknown): void {
  if (String(value).includes('\uFFFD')) throw errors.decodeError({ issues: [{ ...notUtf8, path: [name] }] })
}

/** Throws `decode_error`, with an issue for each field, for a query or form with malformed percent-encoding. */
function assertPercentEncoded(text: string): void {
  if (isDecodable(text)) return
  const issues = text
    .split('&')
    .filter((field) => !isDecodable(field))
    .map((field): DecodeIssue => {
      const name = field.split('=', 1)[0] ?? ''
      return { ...notPercentEncoded, path: [isDecodable(name) ? decodeURIComponent(name) : name] }
    })
  throw errors.decodeError({ issues: issues.slice(0, issuesMax) })
}

/** Returns the text of a form, of which every field can be decoded. Throws `decode_error` as the two above. */
export function decodeForm(bytes: Buffer): string {
  const text = decodeUtf8(bytes)
  assertPercentEncoded(text)
  return text
}

/** Throws `decode_error` for a query that is not percent-encoded UTF-8. */
export function assertQueryIsEncoded({ url }: FastifyRequest): void {
  const start = url.indexOf('?')
  if (start === -1) return
  const query = url.slice(start + 1)
  if (query.includes('%')) assertPercentEncoded(query)
}

/**
 * Whether the charset of a content type is UTF-8, or US-ASCII, which is a part of it. Without one, the text is UTF-8
 * (RFC 8259 §8.1, WHATWG URL §5.1).
 */
export function isUtf8Type(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
  return charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)
}

const issuesMax = 100
const notUtf8 = { _tag: 'Type' as const, path: [], message: 'must be UTF-8' }
const notPercentEncoded = { _tag: 'Type' as const, message: 'must be percent-encoded UTF-8' }

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
