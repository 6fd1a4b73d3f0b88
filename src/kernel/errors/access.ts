import { error } from './error.ts'

/** What a caller may not do. */
export const errorsOfAccess = {
  apiKeyRequired: error(
    'Unauthorized',
    'api_key_required',
    'A valid API key is required.',
    'The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.',
  ),
  tooManyBadKeys: error(
    'TooManyRequests',
    'too_many_bad_keys',
    'Too many requests with an invalid credential from this address. Try again later.',
    'The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  originForbidden: error(
    'Forbidden',
    'origin_forbidden',
    'Pages of this origin may not call this endpoint.',
    'A web page calls the MCP endpoint from an origin that is not allowed.',
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
  emailUnverified: error(
    'Forbidden',
    'email_unverified',
    'Verify your email address first.',
    'The caller accepts or declines an invite without having verified their email address.',
  ),
}
