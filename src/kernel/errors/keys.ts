import { error } from './error.ts'

/** What is wrong with API keys, service accounts and their clients. */
export const errorsOfKeys = {
  apiKeyLimit: error(
    'Conflict',
    'api_key_limit',
    'You already have 100 active API keys. Revoke one first.',
    'The caller already has 100 active API keys.',
  ),
  keyRotated: error(
    'Conflict',
    'key_rotated',
    'This API key was already rotated. Rotate the key that replaced it.',
    'The API key was rotated before, and works only until its overlap ends.',
  ),
  labelInvalid: error(
    'InvalidInput',
    'label_invalid',
    'This name is invalid.',
    'Website only: the name of an API key or a team is invalid; the message says why. The API returns `decode_error` instead.',
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
  serviceAccountLimit: error(
    'Conflict',
    'service_account_limit',
    'The workspace already has 20 service accounts. Delete one first.',
    'The workspace already has 20 service accounts.',
  ),
  isServiceAccount: error(
    'Conflict',
    'is_service_account',
    'This member is a service account. Change its role, or delete it, with the service accounts of the workspace.',
    'The role of a service account would be changed, or it would be removed, as if it were a person; or it would become the owner.',
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
}
