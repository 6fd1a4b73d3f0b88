interface HeaderDescription {
  description: string
  schema: { type: 'string' | 'integer'; format?: string; enum?: string[] }
  example: string | number
}

/**
 * The response headers in the API description. Those for transport, proxies, CORS and browser security are not listed:
 * clients of the API do not read them.
 */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'The id of the request, as in `requestId` of errors and in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f',
  },
  'Cache-Control': {
    description: 'Whether the response may be cached (RFC 9111).',
    schema: { type: 'string' },
    example: 'private, no-store',
  },
  ETag: {
    description:
      'The entity tag of the object (RFC 9110, section 8.8.3): its version and the digest of the response. Send it as ' +
      '`If-Match` with a change, so that changes of others are not lost, or as `If-None-Match`, to learn whether there is ' +
      'something new. It is weak (`W/`) when the response is compressed; both headers accept it so. The response to a PATCH ' +
      'has the version alone, which serves for `If-Match`.',
    schema: { type: 'string' },
    example: '"f4Xq0ZrKc1uLw9bE.T2mVd8Yh3nPa6sJo"',
  },
  RateLimit: {
    description:
      'The remaining requests `r` of the API key or of the grant, and the seconds `t` until the window ends ' +
      '(draft-ietf-httpapi-ratelimit-headers). Absent when the limit is off.',
    schema: { type: 'string' },
    example: '"api-key";r=5999;t=60',
  },
  'RateLimit-Policy': {
    description: 'The requests `q` that an API key or a grant may make in each window of `w` seconds.',
    schema: { type: 'string' },
    example: '"api-key";q=6000;w=60',
  },
  'Retry-After': {
    description: 'The seconds to wait before the next attempt (RFC 9110, section 10.2.3).',
    schema: { type: 'integer' },
    example: 30,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110, section 11.6.1).',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'Accept-Encoding': {
    description:
      'The content coding of bodies that is supported. Sent only if that of the request is not (RFC 9110, section 15.5.16).',
    schema: { type: 'string', enum: ['identity'] },
    example: 'identity',
  },
  Link: {
    description: 'The URL of the next page, with the relation `next` (RFC 8288). Absent on the last page.',
    schema: { type: 'string' },
    example: '<https://api.example.com/v1/workspaces/acme/members?limit=100&cursor=eyJ2IjoxfQ>; rel="next"',
  },
  Location: {
    description: 'The path at which what was created is read (RFC 9110, section 10.2.2).',
    schema: { type: 'string' },
    example: '/v1/workspaces/acme',
  },
  'Content-Location': {
    description:
      'The current path of the resource (RFC 9110, section 8.7). Sent when the request path has a former slug, when ' +
      'the operation has changed the slug, or when a seed is read by the id of one that was merged into it.',
    schema: { type: 'string' },
    example: '/v1/workspaces/acme',
  },
  'Content-Disposition': {
    description: 'The name under which the response is saved (RFC 6266).',
    schema: { type: 'string' },
    example: 'attachment; filename="acme-2026-11-21.ndjson"',
  },
  'Idempotent-Replayed': {
    description:
      'Sent when the response is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
} as const satisfies Record<string, HeaderDescription>

export type ResponseHeader = keyof typeof responseHeaders
