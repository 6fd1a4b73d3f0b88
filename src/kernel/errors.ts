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
export interface ErrorFactory {
  (details?: ErrorDetails): ApiError
  readonly tag: ErrorTag
  readonly code: string
  readonly message: string
}

function error(tag: ErrorTag, code: string, message: string): ErrorFactory {
  return Object.assign((details?: ErrorDetails) => new ApiError(tag, code, message, details), {
    tag,
    code,
    message,
  })
}

/** The error catalogue: every condition that the API answers with an error. docs/errors.md is proven equal to it. */
export const errors = {
  decodeError: error('HttpApiDecodeError', 'decode_error', 'The request does not match the expected schema.'),
  apiKeyRequired: error('Unauthorized', 'api_key_required', 'A valid API key is required.'),
  agentTokenRequired: error(
    'Unauthorized',
    'agent_token_required',
    "A valid agent's access token is required. API keys are not accepted here.",
  ),
  originForbidden: error('Forbidden', 'origin_forbidden', 'Pages of this origin may not call this.'),
  signInRequired: error('Unauthorized', 'sign_in_required', 'Sign in first.'),
  signInFailed: error('InvalidInput', 'sign_in_failed', 'The e-mail address or the password is not right.'),
  passwordWrong: error('InvalidInput', 'password_wrong', 'This is not your password.'),
  passwordUnacceptable: error(
    'InvalidInput',
    'password_unacceptable',
    'A password has 10 to 200 characters, not all alike, and is neither your name nor your address.',
  ),
  providerFailed: error(
    'InvalidInput',
    'provider_failed',
    'The provider did not confirm who you are. Try again, or sign in in another way.',
  ),
  identityUnverified: error(
    'Forbidden',
    'identity_unverified',
    'The provider does not confirm that your e-mail address is yours. Sign in in another way.',
  ),
  linkInvalid: error('NotFound', 'link_invalid', 'This link has expired, or was used already.'),
  formExpired: error(
    'Forbidden',
    'form_expired',
    'This form is too old, or does not come from this website. Load its page again.',
  ),
  tooManySignIns: error(
    'TooManyRequests',
    'too_many_sign_ins',
    'Too many failed attempts to sign in. Try again later.',
  ),
  signInByLink: error(
    'TooManyRequests',
    'sign_in_by_link',
    'Too many failed attempts to sign in to this account. Sign in with a link sent by email instead.',
  ),
  tooManyMails: error(
    'TooManyRequests',
    'too_many_mails',
    'Too many emails to this address. Use the link in the last one, or try again later.',
  ),
  consentExpired: error(
    'NotFound',
    'consent_expired',
    'This request for access has been answered or has expired. Begin again in the application.',
  ),
  notFound: error('NotFound', 'not_found', 'There is nothing here, or nothing that you may see.'),
  routeNotFound: error('NotFound', 'route_not_found', 'No operation has this method and path.'),
  notAMember: error('Forbidden', 'not_a_member', 'You are not a member of this workspace.'),
  roleInsufficient: error(
    'Forbidden',
    'role_insufficient',
    'Your role in this workspace does not allow this.',
  ),
  roleTooHigh: error(
    'Forbidden',
    'role_too_high',
    'You may act on people whose role is below yours, and grant at most your own.',
  ),
  lastOwner: error(
    'Conflict',
    'last_owner',
    'A workspace always has an owner. Make somebody else one first.',
  ),
  alreadyMember: error('Conflict', 'already_member', 'The person with this address is a member already.'),
  alreadyInvited: error('Conflict', 'already_invited', 'There is a pending invite for this address already.'),
  inviteExpired: error('Conflict', 'invite_expired', 'This invite has expired. Ask for another one.'),
  inviteRevoked: error('Conflict', 'invite_revoked', 'This invite has been withdrawn.'),
  inviteUsed: error('Conflict', 'invite_used', 'This invite has been accepted already.'),
  inviteEmailMismatch: error(
    'Forbidden',
    'invite_email_mismatch',
    'This invite is for another e-mail address.',
  ),
  emailUnverified: error('Forbidden', 'email_unverified', 'Verify your e-mail address first.'),
  tooManyInvites: error(
    'TooManyRequests',
    'too_many_invites',
    'Too many invites from this workspace. Try again later.',
  ),
  teamNameTaken: error('Conflict', 'team_name_taken', 'Another team of this workspace has this name.'),
  alreadyTeamMember: error('Conflict', 'already_team_member', 'This person is in the team already.'),
  cursorInvalid: error('InvalidInput', 'cursor_invalid', 'This cursor is not one of this list.'),
  sourceUrlInvalid: error('InvalidInput', 'source_url_invalid', 'This is not the address of a web page.'),
  slugReserved: error('InvalidInput', 'slug_reserved', 'This slug is reserved.'),
  slugInvalid: error(
    'InvalidInput',
    'slug_invalid',
    'A slug is 3 to 48 of a to z, 0 to 9 and single hyphens, none at either end.',
  ),
  slugTaken: error('Conflict', 'slug_taken', 'Another workspace has this slug, or had it a short while ago.'),
  workspaceLimit: error(
    'Conflict',
    'workspace_limit',
    'You are in as many workspaces as one person may be in.',
  ),
  domainInvalid: error(
    'InvalidInput',
    'domain_invalid',
    'The list holds something that is not a mail domain.',
  ),
  domainPublic: error(
    'InvalidInput',
    'domain_public',
    'The list holds the domain of a public mail service: anybody could join.',
  ),
  domainLimit: error('InvalidInput', 'domain_limit', 'A workspace has at most 10 allowed domains.'),
  fileMissing: error('InvalidInput', 'file_missing', 'The form holds no file.'),
  fileNotAlone: error(
    'InvalidInput',
    'file_not_alone',
    'The form holds more than one file, or too many fields.',
  ),
  imageInvalid: error(
    'InvalidInput',
    'image_invalid',
    'The file is not a PNG, JPEG, WebP or GIF image, or is damaged.',
  ),
  imageTooLarge: error('InvalidInput', 'image_too_large', 'The image has more than 25 megapixels.'),
  imageTooSlow: error('InvalidInput', 'image_too_slow', 'The image takes too long to decode.'),
  apiKeyLimit: error(
    'Conflict',
    'api_key_limit',
    'You have as many active API keys as one person may have. Revoke one first.',
  ),
  emailInvalid: error('InvalidInput', 'email_invalid', 'This is not an e-mail address.'),
  nameInvalid: error(
    'InvalidInput',
    'name_invalid',
    'A name is 1 to 100 characters, not blank, without control characters.',
  ),
  labelInvalid: error(
    'InvalidInput',
    'label_invalid',
    'A name is 1 to 64 characters, not blank, without control characters.',
  ),
  textInvalid: error(
    'InvalidInput',
    'text_invalid',
    'This text is blank, too long, or contains control characters.',
  ),
  notAParticipant: error(
    'Forbidden',
    'not_a_participant',
    'Only those who have joined the seed may do this.',
  ),
  seedClosed: error(
    'Conflict',
    'seed_closed',
    'This seed is validated or dropped: nobody joins it any more.',
  ),
  emailTaken: error('Conflict', 'email_taken', 'There is a person with this e-mail address already.'),
  idempotencyKeyInvalid: error(
    'InvalidInput',
    'idempotency_key_invalid',
    'An Idempotency-Key is 1 to 255 visible ASCII characters.',
  ),
  idempotencyKeyReused: error(
    'Conflict',
    'idempotency_key_reused',
    'This Idempotency-Key was used before, with another request.',
  ),
  idempotencyInFlight: error(
    'Conflict',
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still being answered.',
  ),
  bodyTooLarge: error('PayloadTooLarge', 'body_too_large', 'The request body is too large.'),
  urlTooLong: error('PayloadTooLarge', 'url_too_long', 'The URL is longer than 8 KiB.'),
  headersTooLarge: error('PayloadTooLarge', 'headers_too_large', 'The request headers are too large.'),
  unsupportedMediaType: error(
    'UnsupportedMediaType',
    'unsupported_media_type',
    'The request body has a content type that this operation does not take.',
  ),
  rateLimited: error('TooManyRequests', 'rate_limited', 'Too many requests with this key. Try again later.'),
  tooManyBadKeys: error(
    'TooManyRequests',
    'too_many_bad_keys',
    'Too many requests with a bad key from this address. Try again later.',
  ),
  tooManyUploads: error('TooManyRequests', 'too_many_uploads', 'Too many uploads. Try again later.'),
  uploadsBusy: error(
    'ServiceUnavailable',
    'uploads_busy',
    'Too many uploads are waiting already. Try again later.',
  ),
  internal: error('Internal', 'internal', 'The server failed. Tell the operator the request id.'),
  databaseUnavailable: error(
    'ServiceUnavailable',
    'database_unavailable',
    'The database cannot be reached. Try again later.',
  ),
  notReady: error('ServiceUnavailable', 'not_ready', 'The service is not ready to answer requests.'),
} as const satisfies Record<string, ErrorFactory>
