import { filterIdsMax } from './ids.ts'
import { inviteTeamsMax } from './invites.ts'

/** The name of an error schema, sent as `_tag`. */
export type ErrorTag =
  | 'HttpApiDecodeError'
  | 'InvalidInput'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'PreconditionFailed'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'TooManyRequests'
  | 'Internal'
  | 'ServiceUnavailable'

/** The HTTP status (RFC 9110 §15) of each error schema. */
export const statusOfTag = {
  HttpApiDecodeError: 400,
  InvalidInput: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  PreconditionFailed: 412,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  Internal: 500,
  ServiceUnavailable: 503,
} as const satisfies Record<ErrorTag, number>

/** One violation of a JSON Schema in a request body, query or path. `path` leads from the root to the field. */
export interface DecodeIssue {
  _tag: 'Missing' | 'Unexpected' | 'Type' | 'Refinement'
  path: (string | number)[]
  message: string
}

/** For a read of what may not be there: undefined for `not_found`. Throws any other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== errors.notFound.code) throw error
}

/** What one occurrence of an error adds to its catalogue entry. */
export interface ErrorDetails {
  /** Says it more exactly than the message of the catalogue, which it replaces. */
  message?: string
  /** The invalid field of the request; InvalidInput only. */
  field?: string
  /** All violations found; HttpApiDecodeError only. */
  issues?: DecodeIssue[]
  /** A sentence that is added to the message, such as names that the person needs to know. */
  addition?: string
  /** Sent as `Retry-After` (RFC 9110 §10.2.3). */
  retryAfterSeconds?: number
  /** Logged, never sent. */
  cause?: unknown
}

/** An error that the API sends to the client. Any other error that is thrown becomes an Internal without details. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly tag: ErrorTag
  readonly code: string
  readonly status: number
  readonly field: string | null
  readonly issues: DecodeIssue[]
  readonly retryAfterSeconds: number | undefined

  constructor(tag: ErrorTag, code: string, message: string, details: ErrorDetails = {}) {
    super(
      details.addition === undefined ? message : `${message} ${details.addition}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.tag = tag
    this.code = code
    this.status = statusOfTag[tag]
    this.field = details.field ?? null
    this.issues = details.issues ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** Creates an ApiError of one catalogue entry, and has the properties of the entry. */
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
  return Object.assign(
    (details?: ErrorDetails) => new ApiError(tag, code, details?.message ?? message, details),
    {
      tag,
      code,
      message,
      when,
    },
  )
}

/**
 * The error catalogue: all errors of the API. Each entry has its schema, its code, its message, and its condition, from
 * which `npm run docs` writes docs/errors.md.
 */
export const errors = {
  decodeError: error(
    'HttpApiDecodeError',
    'decode_error',
    'The request does not match the expected schema.',
    "The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.",
  ),
  apiKeyRequired: error(
    'Unauthorized',
    'api_key_required',
    'A valid API key is required.',
    'The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.',
  ),
  agentTokenRequired: error(
    'Unauthorized',
    'agent_token_required',
    'A valid access token of an agent is required. API keys are not accepted here.',
    'The request has no access token, or the token is invalid, expired or revoked, or is an API key.',
  ),
  insufficientScope: error(
    'Forbidden',
    'insufficient_scope',
    'The person did not allow this agent to do this.',
    'The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).',
  ),
  connectionReadOnly: error(
    'Forbidden',
    'connection_read_only',
    'This connection of the agent only reads.',
    'Over MCP only: the request has the header `X-MCP-Readonly`, and calls a tool that makes changes.',
  ),
  notConfirmed: error(
    'Forbidden',
    'not_confirmed',
    'Your person did not agree. Nothing was changed. Do not call it again unless they ask for it.',
    'Over MCP only: the person was asked by the client of the agent, and declined or closed the question.',
  ),
  confirmationInvalid: error(
    'Forbidden',
    'confirmation_invalid',
    'This answer of your person has expired, or is to another call. Nothing was changed. Call the tool again to ask them.',
    'Over MCP only: the `requestState` of a call has expired, was altered, or is of another tool, other arguments or another grant.',
  ),
  originForbidden: error(
    'Forbidden',
    'origin_forbidden',
    'Pages of this origin may not call this endpoint.',
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
    'The email address or the password is incorrect.',
    'Website only: the email address is unknown, or the password is wrong.',
  ),
  passwordWrong: error(
    'InvalidInput',
    'password_wrong',
    'This password is incorrect.',
    'Website only: the password of the person, which the form requires, is incorrect.',
  ),
  codeWrong: error(
    'InvalidInput',
    'code_wrong',
    'The code is incorrect or was already used.',
    'Website only: the code from the authenticator app, or the recovery code, is wrong or was used before.',
  ),
  twoStepChanged: error(
    'Conflict',
    'two_step_changed',
    'Two-step sign-in was turned on or off in the meantime. Reload the page.',
    'Website only: the form requires two-step sign-in to be on, or its setup to have started.',
  ),
  secondStepExpired: error(
    'Unauthorized',
    'second_step_expired',
    'This sign-in has expired. Sign in again.',
    'Website only: the sign-in that waits for its second step is older than ten minutes, had too many wrong codes, or was started in another browser.',
  ),
  passkeyRefused: error(
    'InvalidInput',
    'passkey_refused',
    'The passkey could not be verified. Try again.',
    'Website only: the response of the passkey is invalid or too old, was already used, or belongs to a passkey that was removed.',
  ),
  passkeyLimit: error(
    'Conflict',
    'passkey_limit',
    'You have the maximum number of passkeys. Remove one first.',
    'Website only: the person already has 20 passkeys.',
  ),
  passwordCommon: error(
    'InvalidInput',
    'password_common',
    'This password is too common. Choose another one, such as several words.',
    'Website only: the new password is on a list of common passwords, with or without digits and symbols around it.',
  ),
  passwordUnacceptable: error(
    'InvalidInput',
    'password_unacceptable',
    'Use 10 to 200 characters, at least 4 of them different. Do not use your name or your email address.',
    'Website only: the new password is too short, too long or too easy to guess.',
  ),
  providerFailed: error(
    'InvalidInput',
    'provider_failed',
    'The identity provider did not confirm the sign-in. Try again, or sign in with a password or an emailed link.',
    'Website only: the sign-in with an identity provider was cancelled, was not started by this browser, or could not be verified.',
  ),
  identityUnverified: error(
    'Forbidden',
    'identity_unverified',
    'The identity provider has not verified your email address. Sign in with a password or an emailed link.',
    'Website only: the identity provider has not verified the email address of a person who signs in with it for the first time.',
  ),
  identityUnlinked: error(
    'Forbidden',
    'identity_unlinked',
    'You have unlinked this account of the identity provider. Sign in another way, then link it again in your settings.',
    'Website only: the person has unlinked the account that they sign in with.',
  ),
  identityTaken: error(
    'Conflict',
    'identity_taken',
    'This account of the identity provider belongs to another person here.',
    'Website only: the account at the identity provider is linked to another person.',
  ),
  lastSignInWay: error(
    'Conflict',
    'last_sign_in_way',
    'Set a password or add a passkey first. You have no other way to sign in.',
    'Website only: the person would unlink the only account that they sign in with, and has no password and no passkey.',
  ),
  signUpDisabled: error(
    'Forbidden',
    'sign_up_disabled',
    'Nobody can sign up here. Ask the people who run this service for an account.',
    'Website only: the person has no account, or one that was never verified, and `SIGN_UP=off` lets only operators create accounts.',
  ),
  inviteRequired: error(
    'Forbidden',
    'invite_required',
    'Only people who are invited can sign up here. Ask for an invite to this email address.',
    'Website only: the person signed up and has not verified the address, and with `SIGN_UP=invited` no invite or allowed domain admits it now.',
  ),
  passwordsDisabled: error(
    'Forbidden',
    'passwords_disabled',
    'Passwords are not used here. Sign in with an identity provider, a passkey or an emailed link.',
    'Website only: the form is about a password, and `PASSWORDS=off` turns them off.',
  ),
  workspaceCreationDisabled: error(
    'Forbidden',
    'workspace_creation_disabled',
    'Only the people who run this service create workspaces. Ask them for one.',
    'The caller would create a workspace, and `WORKSPACE_CREATION=nobody` lets only operators do that.',
  ),
  emailUnchanged: error(
    'InvalidInput',
    'email_unchanged',
    'This is already your email address.',
    'Website only: the new email address is the same as the current one.',
  ),
  linkInvalid: error(
    'NotFound',
    'link_invalid',
    'This link has expired or was already used.',
    'Website only: the link from an email has expired, was already used, or was never sent.',
  ),
  formExpired: error(
    'Forbidden',
    'form_expired',
    'This form has expired. Reload the page and try again.',
    "Website only: the form was sent without the token of the browser's session, or from another site.",
  ),
  sessionEnded: error(
    'Conflict',
    'session_ended',
    'You were signed out before this was sent. What you wrote is kept: check it, and send it again.',
    'Website only: the form was sent after its session had ended, and is shown again after the sign-in.',
  ),
  changedMeanwhile: error(
    'Conflict',
    'changed_meanwhile',
    'This was changed meanwhile, and nothing was saved. Compare it with what you wrote, then save what should stay.',
    'Website only: a field that the form changes has been changed by somebody else since the form was opened.',
  ),
  seedMoved: error(
    'Conflict',
    'seed_moved',
    'Somebody else has moved this seed meanwhile.',
    'Website only: the status of the seed is no longer the one of the column that its card is moved from.',
  ),
  formSent: error(
    'Conflict',
    'form_sent',
    'This form was already sent. Check the result before you send it again.',
    'Website only: the same form was sent before, and its result is not known.',
  ),
  tooManySignIns: error(
    'TooManyRequests',
    'too_many_sign_ins',
    'Too many failed sign-in attempts. Try again later.',
    "Website only: the client's address has sent too many wrong passwords, for this account or for all accounts (`SIGN_IN_LIMIT_PER_MINUTE`). Retry after `Retry-After` seconds.",
  ),
  signInByLink: error(
    'TooManyRequests',
    'sign_in_by_link',
    'Too many failed sign-in attempts for this account. Sign in with an emailed link instead.',
    'Website only: all client addresses together have sent too many wrong passwords for this account. An emailed link still signs in.',
  ),
  tooManyMails: error(
    'TooManyRequests',
    'too_many_mails',
    'Too many emails to this address. Use the link in the last one, or try again later.',
    "Website only: the client's address has requested more emails with links for this recipient, or for all, than `MAIL_LIMIT_PER_HOUR` allows, or all addresses together have for this recipient. Retry after `Retry-After` seconds.",
  ),
  tooManyRegistrations: error(
    'TooManyRequests',
    'too_many_registrations',
    'Too many registrations. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has registered more clients than `REGISTRATION_LIMIT_PER_MINUTE`, or 10,000 clients without a grant were registered within half an hour. Retry after `Retry-After` seconds.',
  ),
  tooManyAuthorizations: error(
    'TooManyRequests',
    'too_many_authorizations',
    'Too many requests for access. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has sent more authorization requests than `AUTHORIZE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyRefreshes: error(
    'TooManyRequests',
    'too_many_refreshes',
    'Too many refreshes. Try again later.',
    'OAuth only, as `temporarily_unavailable`: an installation of the agent has exchanged more refresh tokens than `REFRESH_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  tooManyRefusedTokens: error(
    'TooManyRequests',
    'too_many_refused_tokens',
    'Too many refused requests from this address. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has sent more requests for tokens, or to revoke them, that were refused than `REFUSED_TOKEN_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyAsked: error(
    'TooManyRequests',
    'too_many_asked',
    'An agent asks at most 20 people to join seeds in 24 hours.',
    'The agent has asked 20 people to join seeds in the last 24 hours. Retry after `Retry-After` seconds.',
  ),
  consentExpired: error(
    'NotFound',
    'consent_expired',
    'This request for access has expired or was already answered. If the agent is not connected, start again there.',
    'Website only: the request of an agent has expired or was already answered, or belongs to another browser.',
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
  keyReadOnly: error(
    'Forbidden',
    'key_read_only',
    'This API key can only read.',
    'The API key was restricted to reading, and the method of the request is not GET or HEAD.',
  ),
  keyNotForWorkspace: error(
    'Forbidden',
    'key_not_for_workspace',
    'This API key is bound to other workspaces.',
    'The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.',
  ),
  keyRestricted: error(
    'Forbidden',
    'key_restricted',
    'This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more. With a role below owner, it cannot change the account.',
    'The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key; or its `maxRole` is below `owner`, and the request concerns the account of its owner.',
  ),
  serviceAccountNotAllowed: error(
    'Forbidden',
    'service_account_not_allowed',
    'A service account may not do this. It can act in its workspace only, not on the workspace as a whole, and not as a person who saw something.',
    'The API key is that of a service account, and the request changes something outside of its workspace, reads there what only people have, or would delete, transfer or export the workspace, or is about which agents identity providers let in, or says what a person saw.',
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
    'You can only manage people whose role is below yours, and grant at most your own role.',
    'The operation concerns a member or an invite whose role the caller may not manage, or grants a role above that of the caller.',
  ),
  recentProofRequired: error(
    'Forbidden',
    'recent_proof_required',
    'Allow this first on the website: for your account under Security, Leaving, for a workspace in its settings. It is then allowed for ten minutes.',
    'An API key exports or deletes the account of its owner, or transfers or deletes a workspace, and its owner has not allowed it on the website in the last ten minutes. For a workspace, each time anew.',
  ),
  accountLeaving: error(
    'Conflict',
    'account_leaving',
    'This account will be deleted. To keep it, open the link in the email about it.',
    'Website only: the deletion of the account was requested in the last seven days. Nobody can sign in to it.',
  ),
  accountSuspended: error(
    'Forbidden',
    'account_suspended',
    'This account is suspended. Ask the people who operate this service.',
    'Website only: an operator has suspended the person, who has proven who they are. Nobody can sign in to the account.',
  ),
  lastOwner: error(
    'Conflict',
    'last_owner',
    'A workspace must have an owner. Make another member an owner first.',
    'The only owner of the workspace who is not suspended would leave or lose the role. When an account is deleted, `message` names the workspaces.',
  ),
  memberSuspended: error(
    'Conflict',
    'member_suspended',
    'This member is suspended, and cannot be made an owner.',
    'The request makes a suspended member an owner.',
  ),
  alreadyMember: error(
    'Conflict',
    'already_member',
    'A member already has this email address.',
    'A member of the workspace already has this email address.',
  ),
  alreadyInvited: error(
    'Conflict',
    'already_invited',
    'There is already a pending invite for this email address.',
    'The workspace already has a pending invite for this email address.',
  ),
  inviteExpired: error(
    'Conflict',
    'invite_expired',
    'This invite has expired. Ask for a new one.',
    'The invite is older than seven days.',
  ),
  inviteRevoked: error(
    'Conflict',
    'invite_revoked',
    'This invite has been revoked.',
    'The invite was revoked, or the person who sent it may no longer invite.',
  ),
  inviteUsed: error(
    'Conflict',
    'invite_used',
    'This invite has already been accepted.',
    'The invite has already been accepted.',
  ),
  inviteDeclined: error(
    'Conflict',
    'invite_declined',
    'This invite was declined. Ask for a new one.',
    'The person for whom the invite is has declined it.',
  ),
  inviteTeamLimit: error(
    'InvalidInput',
    'invite_team_limit',
    `An invite can have at most ${inviteTeamsMax} teams.`,
    'A form of the website has more teams for an invite than `invites.create` takes.',
  ),
  idLimit: error(
    'InvalidInput',
    'id_limit',
    `A list can be filtered by at most ${filterIdsMax} ids.`,
    `A parameter has more than ${filterIdsMax} ids, separated by commas.`,
  ),
  inviteEmailMismatch: error(
    'Forbidden',
    'invite_email_mismatch',
    'This invite is for another email address.',
    'The caller accepts or declines an invite that was sent to another email address.',
  ),
  emailUnverified: error(
    'Forbidden',
    'email_unverified',
    'Verify your email address first.',
    'The caller accepts or declines an invite without having verified their email address.',
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
    'Too many invites to this email address. Try again later.',
    'All workspaces together have sent more invites to the email address than `MAIL_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  teamNameTaken: error(
    'Conflict',
    'team_name_taken',
    'Another team in this workspace already has this name.',
    'Another team of the workspace already has this name, ignoring case.',
  ),
  labelNameTaken: error(
    'Conflict',
    'label_name_taken',
    'Another label in this workspace already has this name.',
    'Another label of the workspace already has this name, ignoring case.',
  ),
  labelLimit: error(
    'Conflict',
    'label_limit',
    'The workspace already has 100 labels. Delete one first.',
    'The workspace already has 100 labels.',
  ),
  seedLabelLimit: error(
    'InvalidInput',
    'seed_label_limit',
    'A seed can have at most 10 labels.',
    'A form of the website has more labels for a seed than `seeds.update` takes.',
  ),
  savedFilterNameTaken: error(
    'Conflict',
    'saved_filter_name_taken',
    'There is already a saved filter with this name.',
    'Another saved filter of the caller, or another shared one of the workspace, already has this name, ignoring case.',
  ),
  savedFilterLimit: error(
    'Conflict',
    'saved_filter_limit',
    'There are already 50 saved filters. Delete one first.',
    'The caller already has 50 saved filters in the workspace, or the workspace 50 shared ones.',
  ),
  alreadyTeamMember: error(
    'Conflict',
    'already_team_member',
    'This person is already in the team.',
    'The person is already in the team.',
  ),
  serviceAccountLimit: error(
    'Conflict',
    'service_account_limit',
    'The workspace already has 20 service accounts. Delete one first.',
    'The workspace already has 20 service accounts.',
  ),
  serviceClientLimit: error(
    'Conflict',
    'service_client_limit',
    'The service account already has 10 clients. Revoke one first.',
    'The service account already has 10 OAuth clients whose access has not ended.',
  ),
  clientKeysInvalid: error(
    'InvalidInput',
    'client_keys_invalid',
    'Give public keys or an https URL of them to a client that signs, and neither to a client with a secret.',
    'With `private_key_jwt`, `jwks` and `jwksUri` are both given or both missing, `jwksUri` is not an https URL, or a key of `jwks` is not public, or of another kind than P-256, Ed25519 and RSA with at least 2,048 bits. With `client_secret_basic`, one of them is given.',
  ),
  clientUnusable: error(
    'InvalidInput',
    'client_unusable',
    'Name registered clients that authenticate by a secret or a key.',
    '`clients` contains a public client, which anybody can pass for.',
  ),
  scopeTooHigh: error(
    'InvalidInput',
    'scope_too_high',
    'The role of the service account does not allow one of these scopes.',
    '`scopes` contains `seeds:write` and the service account is a viewer, or `workspace:write` and it is not an admin.',
  ),
  scopeOnWebsiteOnly: error(
    'Forbidden',
    'scope_on_website_only',
    'The scope workspace:write can be given on the website only.',
    '`scopes` contains `workspace:write`, which only a person on the website can give.',
  ),
  isServiceAccount: error(
    'Conflict',
    'is_service_account',
    'This member is a service account. Change its role, or delete it, with the service accounts of the workspace.',
    'The role of a service account would be changed, or it would be removed, as if it were a person; or it would become the owner.',
  ),
  webhookUrlInvalid: error(
    'InvalidInput',
    'webhook_url_invalid',
    'Enter an https URL without a user name and password.',
    '`url` is not an https URL, or contains a user name or password. Outside of production, http is allowed for this machine.',
  ),
  eventTypeUnknown: error(
    'InvalidInput',
    'event_type_unknown',
    'One of the types of events does not exist.',
    '`types` contains a type that is not in `/docs/guides/events`, or an empty one.',
  ),
  webhookLimit: error(
    'Conflict',
    'webhook_limit',
    'The workspace already has 20 webhooks. Delete one first.',
    'The workspace already has 20 webhooks.',
  ),
  outgoingOff: error(
    'Conflict',
    'outgoing_off',
    'This is a copy, which sends nothing to webhooks.',
    'A webhook is tested on a copy of the service, whose operator has set `OUTGOING=off`.',
  ),
  webhookDisabled: error(
    'Conflict',
    'webhook_disabled',
    'The webhook is disabled. Enable it first.',
    'Events would be sent again to a webhook that is disabled.',
  ),
  webhookRotated: error(
    'Conflict',
    'webhook_rotated',
    'Three former secrets of the webhook still sign requests. Wait until one of them ends, or end them all with an overlap of 0.',
    'The secret was rotated three times, and the overlaps of all three rotations last.',
  ),
  tooManyDeliveries: error(
    'Conflict',
    'too_many_deliveries',
    'There are more than 10,000 events in this time. Choose a shorter one.',
    'The webhook would get more than 10,000 events of the time from `since` to `until`.',
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
  sourceUrlInvalid: error(
    'InvalidInput',
    'source_url_invalid',
    'This is not a valid http or https URL.',
    '`sourceUrl` is not an http or https URL, or contains a user name or password.',
  ),
  slugReserved: error(
    'InvalidInput',
    'slug_reserved',
    'This workspace address is reserved.',
    'The slug is reserved for the service itself.',
  ),
  slugInvalid: error(
    'InvalidInput',
    'slug_invalid',
    'Use 3 to 48 characters: a to z, 0 to 9, and single hyphens between them.',
    'Website only: the value is not a valid slug. The API returns `decode_error` instead.',
  ),
  confirmationMismatch: error(
    'InvalidInput',
    'confirmation_mismatch',
    'This does not match. Enter it exactly as shown.',
    '`confirmSlug` is not the current slug of the workspace, or `confirmEmail` not the email address of the caller.',
  ),
  exportInProgress: error(
    'Conflict',
    'export_in_progress',
    'This workspace is being exported. Try again when that has ended.',
    'Another export of the workspace runs, or one was broken off within the last minute.',
  ),
  slugTaken: error(
    'Conflict',
    'slug_taken',
    'This address is not available: another workspace uses it, or used it recently.',
    'Another workspace has the slug, or used it within the last 90 days.',
  ),
  workspaceLimit: error(
    'Conflict',
    'workspace_limit',
    'You are already a member of the maximum number of workspaces. Leave one first.',
    'The caller creates a workspace or accepts an invite, but is already a member of the maximum number of workspaces.',
  ),
  domainInvalid: error(
    'InvalidInput',
    'domain_invalid',
    'The list contains a value that is not an email domain.',
    '`allowedDomains` contains a value that is not an email domain.',
  ),
  domainPublic: error(
    'InvalidInput',
    'domain_public',
    'The list contains the domain of a public email service, where anyone can get an address.',
    '`allowedDomains` contains the domain of a public email service, such as gmail.com.',
  ),
  domainNotYours: error(
    'InvalidInput',
    'domain_not_yours',
    'You can only add the domain of your own verified email address.',
    "`allowedDomains` adds a domain other than that of the caller's own verified email address. Domains that the workspace already allows may stay.",
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
    'The form contains no file.',
    'The form of an upload contains no file.',
  ),
  fileNotAlone: error(
    'InvalidInput',
    'file_not_alone',
    'The form contains more than one file, or too many fields.',
    'The form of an upload contains more than one file, or too many other fields.',
  ),
  attachmentType: error(
    'InvalidInput',
    'attachment_type',
    'A file of this type cannot be attached. Images (PNG, JPEG, WebP, GIF), PDF, audio, video, CSV and text can.',
    'The content of the file is neither an image (PNG, JPEG, WebP, GIF), a PDF, audio or video, nor text in UTF-8, or it is empty. The file name does not matter.',
  ),
  attachmentLimit: error(
    'InvalidInput',
    'attachment_limit',
    'At most ten files can be attached.',
    'A seed, a piece of evidence or a comment would have more than ten files.',
  ),
  attachmentNotFound: error(
    'NotFound',
    'attachment_not_found',
    'A file to attach does not exist, or is attached already.',
    'An id in `attachmentIds` is that of no file that the caller has uploaded to the workspace and that nothing uses yet, nor of a file that this seed, evidence or comment has already.',
  ),
  storageQuota: error(
    'Conflict',
    'storage_quota',
    'The workspace has no room for this file. Delete files that are not needed any more.',
    'The files of the workspace would be larger than `STORAGE_QUOTA_MEGABYTES` together.',
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
  keyRotated: error(
    'Conflict',
    'key_rotated',
    'This API key was already rotated. Rotate the key that replaced it.',
    'The API key was rotated before, and works only until its overlap ends.',
  ),
  clientRotated: error(
    'Conflict',
    'client_rotated',
    'The former secret of the client still works. Wait until it ends, or end it with an overlap of 0.',
    'The secret of the OAuth client was rotated before, and the overlap lasts.',
  ),
  clientWithoutSecret: error(
    'Conflict',
    'client_without_secret',
    'The client authenticates by a key of its own. Replace the key where its public keys are, or create another client.',
    'The OAuth client uses `private_key_jwt`, so the service has no secret of it.',
  ),
  expiryInPast: error(
    'InvalidInput',
    'expiry_in_past',
    'Choose a time in the future.',
    '`expiresAt` is not in the future.',
  ),
  workspaceNotYours: error(
    'InvalidInput',
    'workspace_not_yours',
    'The list contains a workspace that you are not a member of.',
    '`workspaceIds` contains an id that is not that of a workspace of the caller. Ids that the key already has may stay.',
  ),
  workspacesUnchosen: error(
    'InvalidInput',
    'workspaces_unchosen',
    'Choose 1 to 100 workspaces.',
    'Website only: the form binds an API key to no workspace, or to more than 100. The API returns `decode_error` instead.',
  ),
  apiKeyLimit: error(
    'Conflict',
    'api_key_limit',
    'You already have 100 active API keys. Revoke one first.',
    'The caller already has 100 active API keys.',
  ),
  emailInvalid: error(
    'InvalidInput',
    'email_invalid',
    'This is not a valid email address.',
    'The value is not an email address, or no mail can reach it: it is longer than 254 characters, its local part than 64 bytes or a label of its domain than 63, or its domain is an IP address.',
  ),
  nameInvalid: error(
    'InvalidInput',
    'name_invalid',
    'This name is invalid.',
    'Website and command line only: the name of a person or workspace is invalid; the message says why. The API returns `decode_error` instead.',
  ),
  labelInvalid: error(
    'InvalidInput',
    'label_invalid',
    'This name is invalid.',
    'Website only: the name of an API key or a team is invalid; the message says why. The API returns `decode_error` instead.',
  ),
  textInvalid: error(
    'InvalidInput',
    'text_invalid',
    'This text is invalid.',
    'Website and command line only: a text is invalid; the message says why. The API returns `decode_error` instead.',
  ),
  notAParticipant: error(
    'Forbidden',
    'not_a_participant',
    'Only participants can add evidence. Join the seed first.',
    'The caller adds evidence to a seed that they have not joined.',
  ),
  notTheAuthor: error(
    'Forbidden',
    'not_the_author',
    'Only the author can change this.',
    'The caller changes or deletes a comment of somebody else, or no longer shares a saved filter of somebody else; or an agent, a comment or a seed that it did not write.',
  ),
  evidenceSettled: error(
    'Conflict',
    'evidence_settled',
    'This evidence can no longer be corrected. Withdraw it, and add it again.',
    'The author corrects evidence that was added more than 15 minutes ago, or that was withdrawn; or somebody says, or takes back, that they saw what withdrawn evidence found.',
  ),
  ownEvidence: error(
    'Conflict',
    'own_evidence',
    'You added this evidence: that you saw it is known.',
    'The author of evidence says that they saw it too.',
  ),
  agentBusy: error(
    'Conflict',
    'agent_busy',
    'This agent has too many open requests. Ask again once it has answered some.',
    'A comment asks an agent for which 20 requests wait.',
  ),
  askLimit: error(
    'TooManyRequests',
    'ask_limit',
    'You have asked agents too often today. Ask again later.',
    'A person asks agents more than 20 times in 24 hours in a workspace.',
  ),
  requestNotWaiting: error(
    'Conflict',
    'request_not_waiting',
    'This request does not wait for an answer any more.',
    'A request to an agent is answered, declined or cancelled that was before, or that has expired.',
  ),
  seedInUse: error(
    'Conflict',
    'seed_in_use',
    'Others have joined this seed, or added evidence or comments. Ask an owner or an admin to delete it.',
    'The creator deletes or restores a seed that others have joined or added to.',
  ),
  seedMerged: error(
    'Conflict',
    'seed_merged',
    'This seed was merged into another one.',
    'The caller changes a seed that was merged. The message ends with the id of the other seed.',
  ),
  mergeSameSeed: error(
    'Conflict',
    'merge_same_seed',
    'A seed cannot be merged into itself.',
    'The caller merges a seed into itself.',
  ),
  mergeTargetDeleted: error(
    'Conflict',
    'merge_target_deleted',
    'The other seed was deleted. Restore it first.',
    'The caller merges a seed into one that was deleted.',
  ),
  mergeTargetMerged: error(
    'Conflict',
    'merge_target_merged',
    'The other seed was itself merged into another one.',
    'The caller merges a seed into one that was merged. The message ends with the id of the seed that it is now.',
  ),
  seedMergedAgain: error(
    'Conflict',
    'seed_merged_again',
    'The seed that it was merged into was itself merged since. Undo that first.',
    'The caller undoes a merge into a seed that was merged since.',
  ),
  mergeExpired: error(
    'Conflict',
    'merge_expired',
    'A merge can be undone for 14 days.',
    'The caller undoes a merge that is more than 14 days old.',
  ),
  tableInvalid: error(
    'InvalidInput',
    'table_invalid',
    'The table cannot be read.',
    'The file is not CSV in UTF-8, has no rows or more than 5,000, more than 200 columns, or a row of more than 100,000 bytes. The message says what is wrong.',
  ),
  mappingInvalid: error(
    'InvalidInput',
    'mapping_invalid',
    'The columns of the table do not fit the fields of seeds.',
    '`mapping` is not a JSON object, names a column that the table does not have or has twice, a field that seeds do not have, or a field twice; or no column is the title or the summary. The message says what is wrong.',
  ),
  importInProgress: error(
    'Conflict',
    'import_in_progress',
    'An import of this workspace is being made or undone. Try again when that has ended.',
    'The caller imports seeds, or undoes an import, while an import of the workspace is being made or undone.',
  ),
  importUndone: error(
    'Conflict',
    'import_undone',
    'This import was undone already.',
    'The caller undoes an import that was undone.',
  ),
  importExpired: error(
    'Conflict',
    'import_expired',
    'An import can be undone for 14 days.',
    'The caller undoes an import that is more than 14 days old.',
  ),
  leadInvalid: error(
    'InvalidInput',
    'lead_invalid',
    'The lead must have joined the seed, and must not be a viewer.',
    'The request makes somebody the lead of a seed who has not joined it, is a viewer, or is suspended.',
  ),
  personNotAskable: error(
    'InvalidInput',
    'person_not_askable',
    'Only other members of the workspace, who are no viewers, can be asked to join.',
    'The request asks a viewer, a service account, a suspended person or the caller to join a seed.',
  ),
  criteriaTwice: error(
    'InvalidInput',
    'criteria_twice',
    'Success criteria are given twice.',
    'The request has both `successCriteria` and `criteria`, or an id is twice in `criteria`.',
  ),
  criterionNotFound: error(
    'NotFound',
    'criterion_not_found',
    'The seed has no success criterion with this id.',
    '`criteria` or `criterionIds` has an id that no success criterion of the seed has. A new seed has none.',
  ),
  reasonWithoutStatus: error(
    'InvalidInput',
    'reason_without_status',
    'A reason needs the status that it is for.',
    'The request has `statusReason` without `status`.',
  ),
  seedClosed: error(
    'Conflict',
    'seed_closed',
    'This seed is validated or dropped and can no longer be joined.',
    'The caller joins a seed that is validated or dropped.',
  ),
  emailTaken: error(
    'Conflict',
    'email_taken',
    'A user with this email address already exists.',
    'Command line and website only: another user already has this email address, ignoring case.',
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
  attachmentTooLarge: error(
    'PayloadTooLarge',
    'attachment_too_large',
    'The file is larger than 25 MiB.',
    'The uploaded file is larger than 25 MiB, or an image would be when it is made anew.',
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
  tooManyBadKeys: error(
    'TooManyRequests',
    'too_many_bad_keys',
    'Too many requests with an invalid credential from this address. Try again later.',
    'The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyUploads: error(
    'TooManyRequests',
    'too_many_uploads',
    'Too many uploads. Try again later.',
    'The caller has uploaded more pictures and tables than `UPLOAD_LIMIT_PER_HOUR`, or more files than `ATTACHMENT_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  uploadsBusy: error(
    'ServiceUnavailable',
    'uploads_busy',
    'Too many uploads are waiting. Try again later.',
    'Too many images are waiting to be decoded. Retry after `Retry-After` seconds.',
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
} as const satisfies Record<string, ErrorFactory>

export type ErrorCode = (typeof errors)[keyof typeof errors]['code']

/** The code of an error schema that has only one in the catalogue. */
export function findOnlyCode(tag: ErrorTag): string | undefined {
  const entries = Object.values<ErrorFactory>(errors).filter((entry) => entry.tag === tag)
  return entries.length === 1 ? entries[0]?.code : undefined
}

/** The errors of every operation on a workspace. */
export const workspaceErrors = [errors.notFound, errors.notAMember]

/** The errors of an operation that stores an uploaded picture. */
export const imageErrors = [
  errors.imageInvalid,
  errors.imageTooLarge,
  errors.imageTooSlow,
  errors.uploadsBusy,
]
