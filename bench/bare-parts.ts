import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** The hash of the API key of a request, as it is stored. */
export function hashKey({ headers }: FastifyRequest): Buffer {
  return hash(headers.authorization?.slice('Bearer '.length) ?? '')
}

export function hash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** SQL of a time as text, as the API writes it. */
export const timeText = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
