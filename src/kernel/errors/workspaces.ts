import { error } from './error.ts'

/** What is wrong with workspaces, their addresses and domains. */
export const errorsOfWorkspaces = {
  workspaceCreationDisabled: error(
    'Forbidden',
    'workspace_creation_disabled',
    'Only the people who run this service create workspaces. Ask them for one.',
    'The caller would create a workspace, and `WORKSPACE_CREATION=nobody` lets only operators do that.',
  ),
  workspaceLimit: error(
    'Conflict',
    'workspace_limit',
    'You are already a member of the maximum number of workspaces. Leave one first.',
    'The caller creates a workspace or accepts an invite, but is already a member of the maximum number of workspaces.',
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
  slugTaken: error(
    'Conflict',
    'slug_taken',
    'This address is not available: another workspace uses it, or used it recently.',
    'Another workspace has the slug, or used it within the last 90 days.',
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
}
