/** What went wrong, as the API tells it: the name of an error schema. */
export type ErrorTag =
  | 'HttpApiDecodeError'
  | 'InvalidInput'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'TooManyRequests'
  | 'Internal'
  | 'ServiceUnavailable'

/** The HTTP status (RFC 9110 §15) that each error schema is answered with. */
export const statusOfTag = {
  HttpApiDecodeError: 400,
  InvalidInput: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  Internal: 500,
  ServiceUnavailable: 503,
} as const satisfies Record<ErrorTag, number>

/** One fault of a request body, query or path, as JSON Schema found it. `path` leads from the root to the field. */
export interface DecodeIssue {
  _tag: 'Missing' | 'Unexpected' | 'Type' | 'Refinement'
  path: (string | number)[]
  message: string
}

/** What a single occurrence of an error may add to its catalogue entry. */
export interface ErrorDetails {
  /** The request field at fault; InvalidInput only. */
  field?: string
  /** Every fault found; HttpApiDecodeError only. */
  issues?: DecodeIssue[]
  /** Sent as `Retry-After` (RFC 9110 §10.2.3). */
  retryAfterSeconds?: number
  /** Logged, never answered. */
  cause?: unknown
}

/** An error that the API answers as it is. Anything else that is thrown becomes a bare Internal. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly tag: ErrorTag
  readonly code: string
  readonly status: number
  readonly field: string | null
  readonly issues: DecodeIssue[]
  readonly retryAfterSeconds: number | undefined

  constructor(tag: ErrorTag, code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.tag = tag
    this.code = code
    this.status = statusOfTag[tag]
    this.field = details.field ?? null
    this.issues = details.issues ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** Makes one kind of ApiError and carries what is the same in all of its occurrences. */
export interface ErrorFactory<Tag extends ErrorTag = ErrorTag, Code extends string = string> {
  (details?: ErrorDetails): ApiError
  readonly tag: Tag
  readonly code: Code
  readonly message: string
  /** The condition, as docs/errors.md describes it, in Markdown. */
  readonly when: string
}

function error<Tag extends ErrorTag, Code extends string>(
  tag: Tag,
  code: Code,
  message: string,
  when: string,
): ErrorFactory<Tag, Code> {
  return Object.assign((details?: ErrorDetails) => new ApiError(tag, code, message, details), {
    tag,
    code,
    message,
    when,
  })
}

/**
 * The error catalogue: every condition that the API answers with an error. Each entry has its schema, its code, the
 * message that is answered, and the condition for docs/errors.md, which `npm run docs` makes from it.
 */
export const errors = {
  decodeError: error(
    'HttpApiDecodeError',
    'decode_error',
    'The request does not match the expected schema.',
    "The path, query, headers or body do not match the operation's schema, or the body is not JSON. `issues` lists every fault.",
  ),
  apiKeyRequired: error(
    'Unauthorized',
    'api_key_required',
    'A valid API key is required.',
    'The request has no API key, or the key is unknown, malformed or revoked, or the two headers contain different keys.',
  ),
  agentTokenRequired: error(
    'Unauthorized',
    'agent_token_required',
    "A valid agent's access token is required. API keys are not accepted here.",
    'The request has no access token, or the token is invalid, expired or revoked, or is an API key.',
  ),
  originForbidden: error(
    'Forbidden',
    'origin_forbidden',
    'Pages of this origin may not call this.',
    'A web page calls the MCP endpoint from an origin that is not allowed.',
  ),
  signInRequired: error(
    'Unauthorized',
    'sign_in_required',
    'Sign in first.',
    'Website only: the page or form requires a signed-in person. Browsers are redirected to the sign-in page.',
  ),
  signInFailed: error(
    'InvalidInput',
    'sign_in_failed',
    'The e-mail address or the password is not right.',
    'Website only: the e-mail address is unknown, or the password is wrong.',
  ),
  passwordWrong: error(
    'InvalidInput',
    'password_wrong',
    'This is not your password.',
    'Website only: the current password, which the change requires, is wrong.',
  ),
  passwordCommon: error(
    'InvalidInput',
    'password_common',
    'This is one of the passwords that are tried first, or nearly. Choose another one, such as several words.',
    'Website only: the new password is on a list of common ones, perhaps with digits or signs around it.',
  ),
  passwordUnacceptable: error(
    'InvalidInput',
    'password_unacceptable',
    'A password has 10 to 200 characters, not all alike, and is neither your name nor your address.',
    'Website only: the new password is too short, too long or too easy to guess.',
  ),
  providerFailed: error(
    'InvalidInput',
    'provider_failed',
    'The provider did not confirm who you are. Try again, or sign in in another way.',
    'Website only: the sign-in with an identity provider was cancelled, was not started by this browser, or could not be verified.',
  ),
  identityUnverified: error(
    'Forbidden',
    'identity_unverified',
    'The provider does not confirm that your e-mail address is yours. Sign in in another way.',
    'Website only: the identity provider has not verified the e-mail address of a person who signs in with it for the first time.',
  ),
  linkInvalid: error(
    'NotFound',
    'link_invalid',
    'This link has expired, or was used already.',
    'Website only: the link from an e-mail has expired, was already used, or was never sent.',
  ),
  formExpired: error(
    'Forbidden',
    'form_expired',
    'This form is too old, or does not come from this website. Load its page again.',
    "Website only: the form was sent without the token of the browser's session, or from another site.",
  ),
  tooManySignIns: error(
    'TooManyRequests',
    'too_many_sign_ins',
    'Too many failed attempts to sign in. Try again later.',
    "Website only: passwords for the account, or for any accounts, failed too often from the client's address (`SIGN_IN_LIMIT_PER_MINUTE`). Retry after `Retry-After` seconds.",
  ),
  signInByLink: error(
    'TooManyRequests',
    'sign_in_by_link',
    'Too many failed attempts to sign in to this account. Sign in with a link sent by email instead.',
    'Website only: passwords for the account failed too often, over all client addresses. A link sent by email still signs in.',
  ),
  tooManyMails: error(
    'TooManyRequests',
    'too_many_mails',
    'Too many emails to this address. Use the link in the last one, or try again later.',
    "Website only: too many emails with links to the recipient, or requested from the client's address (`MAIL_LIMIT_PER_HOUR`). Retry after `Retry-After` seconds.",
  ),
  tooManyRegistrations: error(
    'TooManyRequests',
    'too_many_registrations',
    'Too many registrations. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has registered more clients than `REGISTRATION_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyAuthorizations: error(
    'TooManyRequests',
    'too_many_authorizations',
    'Too many requests for access. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has sent more authorization requests than `AUTHORIZE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  consentExpired: error(
    'NotFound',
    'consent_expired',
    'This request for access has been answered or has expired. Begin again in the application.',
    'Website only: the consent page for an agent was opened or answered too late, or in another browser.',
  ),
  notFound: error(
    'NotFound',
    'not_found',
    'There is nothing here, or nothing that you may see.',
    'An id or slug in the request does not exist, or belongs to something that the caller may not see. Both cases answer the same.',
  ),
  routeNotFound: error(
    'NotFound',
    'route_not_found',
    'No operation has this method and path.',
    'No operation has this path and method.',
  ),
  notAMember: error(
    'Forbidden',
    'not_a_member',
    'You are not a member of this workspace.',
    'The workspace exists, but the caller is not a member of it.',
  ),
  roleInsufficient: error(
    'Forbidden',
    'role_insufficient',
    'Your role in this workspace does not allow this.',
    "The caller's role in the workspace does not allow the operation.",
  ),
  roleTooHigh: error(
    'Forbidden',
    'role_too_high',
    'You may act on people whose role is below yours, and grant at most your own.',
    'The operation would change, remove or invite a person whose role is above what the caller may manage.',
  ),
  lastOwner: error(
    'Conflict',
    'last_owner',
    'A workspace always has an owner. Make somebody else one first.',
    'The only owner of the workspace would leave or lose the role.',
  ),
  alreadyMember: error(
    'Conflict',
    'already_member',
    'The person with this address is a member already.',
    'A member of the workspace already has this e-mail address.',
  ),
  alreadyInvited: error(
    'Conflict',
    'already_invited',
    'There is a pending invite for this address already.',
    'The workspace already has a pending invite for this e-mail address.',
  ),
  inviteExpired: error(
    'Conflict',
    'invite_expired',
    'This invite has expired. Ask for another one.',
    'The invite is older than seven days.',
  ),
  inviteRevoked: error(
    'Conflict',
    'invite_revoked',
    'This invite has been withdrawn.',
    'The invite was withdrawn, or the person who sent it may no longer invite.',
  ),
  inviteUsed: error(
    'Conflict',
    'invite_used',
    'This invite has been accepted already.',
    'The invite has already been accepted.',
  ),
  inviteEmailMismatch: error(
    'Forbidden',
    'invite_email_mismatch',
    'This invite is for another e-mail address.',
    'The caller accepts an invite that was sent to another e-mail address.',
  ),
  emailUnverified: error(
    'Forbidden',
    'email_unverified',
    'Verify your e-mail address first.',
    'The caller accepts an invite without having verified their e-mail address.',
  ),
  tooManyInvites: error(
    'TooManyRequests',
    'too_many_invites',
    'Too many invites from this workspace. Try again later.',
    'The workspace has sent more invites than `INVITE_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  tooManyInvitesToRecipient: error(
    'TooManyRequests',
    'too_many_invites_to_recipient',
    'Too many invites to this address lately. Try again later.',
    'All workspaces together have sent more invites to the address than `MAIL_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  teamNameTaken: error(
    'Conflict',
    'team_name_taken',
    'Another team of this workspace has this name.',
    'Another team of the workspace already has this name, ignoring case.',
  ),
  alreadyTeamMember: error(
    'Conflict',
    'already_team_member',
    'This person is in the team already.',
    'The person is already in the team.',
  ),
  cursorInvalid: error(
    'InvalidInput',
    'cursor_invalid',
    'This cursor is not one of this list.',
    'The `cursor` is not from this list with the same filters.',
  ),
  sourceUrlInvalid: error(
    'InvalidInput',
    'source_url_invalid',
    'This is not the address of a web page.',
    '`sourceUrl` is not a URL, or contains a user name or password.',
  ),
  slugReserved: error(
    'InvalidInput',
    'slug_reserved',
    'This slug is reserved.',
    'The slug is reserved for the service itself.',
  ),
  slugInvalid: error(
    'InvalidInput',
    'slug_invalid',
    'A slug is 3 to 48 of a to z, 0 to 9 and single hyphens, none at either end.',
    'Website only: the value does not have the form of a slug. The API answers `decode_error` instead.',
  ),
  slugTaken: error(
    'Conflict',
    'slug_taken',
    'Another workspace has this slug, or had it a short while ago.',
    'Another workspace has the slug, or had it within the last 90 days.',
  ),
  workspaceLimit: error(
    'Conflict',
    'workspace_limit',
    'You are in as many workspaces as one person may be in.',
    'The caller creates a workspace or accepts an invite, but is already in the most workspaces that one person may be in.',
  ),
  domainInvalid: error(
    'InvalidInput',
    'domain_invalid',
    'The list holds something that is not a mail domain.',
    '`allowedDomains` contains a value that is not a mail domain.',
  ),
  domainPublic: error(
    'InvalidInput',
    'domain_public',
    'The list holds the domain of a public mail service: anybody could join.',
    '`allowedDomains` contains a public mail domain such as gmail.com.',
  ),
  domainNotYours: error(
    'InvalidInput',
    'domain_not_yours',
    'You can only add the domain of your own confirmed address.',
    "`allowedDomains` adds a domain that is not that of the caller's own verified address. Domains that the workspace already allows may stay.",
  ),
  domainLimit: error(
    'InvalidInput',
    'domain_limit',
    'A workspace has at most 10 allowed domains.',
    '`allowedDomains` contains more than 10 domains.',
  ),
  fileMissing: error(
    'InvalidInput',
    'file_missing',
    'The form holds no file.',
    'The form of an upload contains no file.',
  ),
  fileNotAlone: error(
    'InvalidInput',
    'file_not_alone',
    'The form holds more than one file, or too many fields.',
    'The form of an upload contains more than one file, or too many other fields.',
  ),
  imageInvalid: error(
    'InvalidInput',
    'image_invalid',
    'The file is not a PNG, JPEG, WebP or GIF image, or is damaged.',
    'The content of the uploaded file is not a PNG, JPEG, WebP or GIF image. The file name does not matter.',
  ),
  imageTooLarge: error(
    'InvalidInput',
    'image_too_large',
    'The image has more than 25 megapixels.',
    'The uploaded image has more than 25 megapixels.',
  ),
  imageTooSlow: error(
    'InvalidInput',
    'image_too_slow',
    'The image takes too long to decode.',
    'Decoding the uploaded image took longer than 10 seconds.',
  ),
  apiKeyLimit: error(
    'Conflict',
    'api_key_limit',
    'You have as many active API keys as one person may have. Revoke one first.',
    'The caller already has 100 active API keys.',
  ),
  emailInvalid: error(
    'InvalidInput',
    'email_invalid',
    'This is not an e-mail address.',
    'The value is not an e-mail address, or is longer than 254 characters.',
  ),
  nameInvalid: error(
    'InvalidInput',
    'name_invalid',
    'A name is 1 to 100 characters, not blank, without control characters.',
    'Website and command line only: the name of a person or workspace is invalid. The API answers `decode_error` instead.',
  ),
  labelInvalid: error(
    'InvalidInput',
    'label_invalid',
    'A name is 1 to 64 characters, not blank, without control characters.',
    'Website only: the name of an API key or a team is invalid. The API answers `decode_error` instead.',
  ),
  textInvalid: error(
    'InvalidInput',
    'text_invalid',
    'This text is blank, too long, or contains control characters.',
    'Website and command line only: a text is invalid. The API answers `decode_error` instead.',
  ),
  notAParticipant: error(
    'Forbidden',
    'not_a_participant',
    'Only those who have joined the seed may do this.',
    'The caller adds evidence to a seed that they have not joined.',
  ),
  seedClosed: error(
    'Conflict',
    'seed_closed',
    'This seed is validated or dropped: nobody joins it any more.',
    'The caller joins a seed that is validated or dropped.',
  ),
  emailTaken: error(
    'Conflict',
    'email_taken',
    'There is a person with this e-mail address already.',
    'Command line only: another person already has this e-mail address, ignoring case.',
  ),
  idempotencyKeyInvalid: error(
    'InvalidInput',
    'idempotency_key_invalid',
    'An Idempotency-Key is 1 to 255 visible ASCII characters.',
    'The header `Idempotency-Key` is empty, longer than 255 characters, or contains other characters than visible ASCII.',
  ),
  idempotencyKeyReused: error(
    'Conflict',
    'idempotency_key_reused',
    'This Idempotency-Key was used before, with another request.',
    'The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.',
  ),
  idempotencyInFlight: error(
    'Conflict',
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still being answered.',
    'The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.',
  ),
  bodyTooLarge: error(
    'PayloadTooLarge',
    'body_too_large',
    'The request body is too large.',
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
    'The request body has a content type that this operation does not take.',
    'The body is not `application/json`, or the body of an upload is not `multipart/form-data`.',
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
    'Too many requests of this agent. Try again later.',
    'The grant has made more requests than `AGENT_LIMIT_PER_MINUTE`, or its client or its client address ten times as many. Retry after `Retry-After` seconds.',
  ),
  tooManyBadKeys: error(
    'TooManyRequests',
    'too_many_bad_keys',
    'Too many requests with a bad key from this address. Try again later.',
    'The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyUploads: error(
    'TooManyRequests',
    'too_many_uploads',
    'Too many uploads. Try again later.',
    'The caller has uploaded more files than `UPLOAD_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  uploadsBusy: error(
    'ServiceUnavailable',
    'uploads_busy',
    'Too many uploads are waiting already. Try again later.',
    'Too many images are waiting to be decoded. Retry after `Retry-After` seconds.',
  ),
  internal: error(
    'Internal',
    'internal',
    'The server failed. Tell the operator the request id.',
    'The service failed. Its log has the details under the request id.',
  ),
  databaseUnavailable: error(
    'ServiceUnavailable',
    'database_unavailable',
    'The database is not available. Try again later.',
    'The database does not answer, or not in time. Retry after `Retry-After` seconds.',
  ),
  storageUnavailable: error(
    'ServiceUnavailable',
    'storage_unavailable',
    'Pictures are not available. Try again later.',
    'Pictures cannot be stored or read: the disk is full or read-only, or the object store does not answer. Retry after `Retry-After` seconds.',
  ),
  overloaded: error(
    'ServiceUnavailable',
    'overloaded',
    'The service has too many requests. Try again later.',
    'There are more requests than the service can answer. Retry after `Retry-After` seconds.',
  ),
  notReady: error(
    'ServiceUnavailable',
    'not_ready',
    'The service is not ready to answer requests.',
    'The database does not answer or is not migrated, or the process is stopping. Retry after `Retry-After` seconds.',
  ),
} as const satisfies Record<string, ErrorFactory>

/** The code of an error schema for which the catalogue has no other one. */
export function findOnlyCode(tag: ErrorTag): string | undefined {
  const entries = Object.values<ErrorFactory>(errors).filter((entry) => entry.tag === tag)
  return entries.length === 1 ? entries[0]?.code : undefined
}

/** What an operation on a workspace can answer, whoever may call it. */
export const workspaceErrors = [errors.notFound, errors.notAMember]

/** What an operation that stores an uploaded picture can answer about the picture. */
export const imageErrors = [
  errors.imageInvalid,
  errors.imageTooLarge,
  errors.imageTooSlow,
  errors.uploadsBusy,
]
