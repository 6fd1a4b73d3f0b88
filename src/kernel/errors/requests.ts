import { filterIdsMax } from '../ids.ts'
import { error } from './error.ts'

/** What is wrong with a request, whatever it is about, and what the service cannot do now. */
export const errorsOfRequests = {
  decodeError: error(
    'HttpApiDecodeError',
    'decode_error',
    'The request does not match the expected schema.',
    "The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.",
  ),
  notFound: error(
    'NotFound',
    'not_found',
    'Not found.',
    'An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.',
  ),
  routeNotFound: error(
    'NotFound',
    'route_not_found',
    'No operation has this method and path.',
    'No operation has this method and path.',
  ),
  textInvalid: error(
    'InvalidInput',
    'text_invalid',
    'This text is invalid.',
    'Website and command line only: a text is invalid; the message says why. The API returns `decode_error` instead.',
  ),
  changedMeanwhile: error(
    'Conflict',
    'changed_meanwhile',
    'This was changed meanwhile, and nothing was saved. Compare it with what you wrote, then save what should stay.',
    'Website only: a field that the form changes has been changed by somebody else since the form was opened.',
  ),
  preconditionFailed: error(
    'PreconditionFailed',
    'precondition_failed',
    'This was changed since you read it. Read it again, then repeat your change.',
    'No tag in `If-Match` has the current version of what the request would change.',
  ),
  idempotencyKeyInvalid: error(
    'InvalidInput',
    'idempotency_key_invalid',
    'An Idempotency-Key must have 1 to 255 visible ASCII characters.',
    'The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.',
  ),
  idempotencyKeyReused: error(
    'Conflict',
    'idempotency_key_reused',
    'This Idempotency-Key was already used for another request.',
    'The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.',
  ),
  idempotencyInFlight: error(
    'Conflict',
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still running.',
    'The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.',
  ),
  bodyTooLarge: error(
    'PayloadTooLarge',
    'body_too_large',
    'The request is too large. A picture may have up to 5 MB, a JSON body up to 64 KiB.',
    'The JSON body is larger than 64 KiB, or the uploaded file is larger than 5 MiB.',
  ),
  urlTooLong: error(
    'PayloadTooLarge',
    'url_too_long',
    'The URL is longer than 8 KiB.',
    'The path and query are longer than 8 KiB in total.',
  ),
  headersTooLarge: error(
    'PayloadTooLarge',
    'headers_too_large',
    'The request headers are too large.',
    'The request headers are larger than 16 KiB in total.',
  ),
  unsupportedMediaType: error(
    'UnsupportedMediaType',
    'unsupported_media_type',
    'The request body has a content type, charset or content coding that this operation does not support.',
    'The body is not `application/json`, or the body of an upload is not `multipart/form-data`; or its charset is not UTF-8; or it is compressed (`Content-Encoding`).',
  ),
  cursorInvalid: error(
    'InvalidInput',
    'cursor_invalid',
    'This cursor is invalid for this list.',
    'The `cursor` was not returned by this list with the same filters, or the `after` not by the feed of this workspace.',
  ),
  cursorExpired: error(
    'Conflict',
    'cursor_expired',
    'The events behind this cursor are no longer kept. Read the feed again from its beginning.',
    'Events behind the event of the cursor were deleted for their age (`EVENTS_KEPT_DAYS`). Read the feed again from its beginning.',
  ),
  cursorUnknown: error(
    'Conflict',
    'cursor_unknown',
    'The event of this cursor no longer exists. Read the feed again from its beginning.',
    'The feed has no event at the position of the cursor, or another one, since a backup was restored that is older than the cursor. Read the feed again from its beginning.',
  ),
  idLimit: error(
    'InvalidInput',
    'id_limit',
    `A list can be filtered by at most ${filterIdsMax} ids.`,
    `A parameter has more than ${filterIdsMax} ids, separated by commas.`,
  ),
  expiryInPast: error(
    'InvalidInput',
    'expiry_in_past',
    'Choose a time in the future.',
    '`expiresAt` is not in the future.',
  ),
  rateLimited: error(
    'TooManyRequests',
    'rate_limited',
    'Too many requests with this key. Try again later.',
    'The API key has made more requests than `RATE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  agentRateLimited: error(
    'TooManyRequests',
    'agent_rate_limited',
    'Too many requests from this agent. Try again later.',
    'The grant has made more requests than `AGENT_LIMIT_PER_MINUTE`, or its client or client address more than ten times as many. Retry after `Retry-After` seconds.',
  ),
  tooManyAtOnce: error(
    'TooManyRequests',
    'too_many_at_once',
    'Too many requests at once. Send fewer at a time, and try again.',
    'The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.',
  ),
  tooManyStreams: error(
    'TooManyRequests',
    'too_many_streams',
    'Too many open streams. Close one, or try again later.',
    'The API key has 50 streams open in the process that answered, its owner 100 with all keys and agents, or the process 1,000 in total. Retry after `Retry-After` seconds.',
  ),
  internal: error(
    'Internal',
    'internal',
    'The service failed. Contact its operator with the request id.',
    'The service failed. Its log has the details under the request id.',
  ),
  databaseUnavailable: error(
    'ServiceUnavailable',
    'database_unavailable',
    'The database is not available. Try again later.',
    'The database cannot be reached, or does not respond in time. Retry after `Retry-After` seconds.',
  ),
  storageUnavailable: error(
    'ServiceUnavailable',
    'storage_unavailable',
    'Files are not available. Try again later.',
    'Pictures and other files cannot be stored or read: the disk is full or read-only, or the object store does not respond. Retry after `Retry-After` seconds.',
  ),
  overloaded: error(
    'ServiceUnavailable',
    'overloaded',
    'The service is overloaded. Try again later.',
    'The service as a whole has more requests than it can process. Retry after `Retry-After` seconds.',
  ),
  notReady: error(
    'ServiceUnavailable',
    'not_ready',
    'The service is not ready to answer requests.',
    'The database does not respond or is not migrated, or the process is stopping. Retry after `Retry-After` seconds.',
  ),
  outgoingOff: error(
    'Conflict',
    'outgoing_off',
    'This is a copy, which sends nothing to webhooks.',
    'A webhook is tested on a copy of the service, whose operator has set `OUTGOING=off`.',
  ),
}
