import { ApiError, type ErrorFactory, type ErrorTag } from './errors/error.ts'
import { errorsOfRequests } from './errors/requests.ts'
import { errorsOfAccess } from './errors/access.ts'
import { errorsOfSignIn } from './errors/sign-in.ts'
import { errorsOfAgents } from './errors/agents.ts'
import { errorsOfKeys } from './errors/keys.ts'
import { errorsOfWorkspaces } from './errors/workspaces.ts'
import { errorsOfPeople } from './errors/people.ts'
import { errorsOfSeeds } from './errors/seeds.ts'
import { errorsOfFiles } from './errors/files.ts'
import { errorsOfWebhooks } from './errors/webhooks.ts'

export { ApiError, statusOfTag, type DecodeIssue, type ErrorFactory, type ErrorTag } from './errors/error.ts'

/**
 * The error catalogue: all errors of the API. Each entry has its schema, its code, its message, and its condition, from
 * which `npm run docs` writes docs/errors.md.
 */
export const errors = {
  ...errorsOfRequests,
  ...errorsOfAccess,
  ...errorsOfSignIn,
  ...errorsOfAgents,
  ...errorsOfKeys,
  ...errorsOfWorkspaces,
  ...errorsOfPeople,
  ...errorsOfSeeds,
  ...errorsOfFiles,
  ...errorsOfWebhooks,
} as const satisfies Record<string, ErrorFactory>

export type ErrorCode = (typeof errors)[keyof typeof errors]['code']

/** The code of an error schema that has only one in the catalogue. */
export function findOnlyCode(tag: ErrorTag): string | undefined {
  const entries = Object.values<ErrorFactory>(errors).filter((entry) => entry.tag === tag)
  return entries.length === 1 ? entries[0]?.code : undefined
}

/** For a read of what may not be there: undefined for `not_found`. Throws any other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== errors.notFound.code) throw error
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
