import type { AnswerToKeep } from '../kernel/idempotency.ts'
import type { KeyRestrictions } from './key-restrictions.ts'
import type { Role } from './roles.ts'
import type { ExpectedVersions } from '../kernel/versions.ts'

/** The name of the actor of what the service does by itself. */
export const serviceActorName = 'The service'

/** The name of the actor of what somebody does by a command on the server. */
export const operatorName = 'An operator'

/** The user of a request, read in the same round trip as the credential. */
export interface PrincipalUser {
  id: string
  name: string
  email: string
  emailVerifiedAt: Date | null
  imageKey: string | null
}

/** A workspace with the caller's role. */
export interface WorkspaceOfCaller {
  id: string
  name: string
  slug: string
  iconKey: string | null
  allowedDomains: string[]
  /** Null for a caller who is not a member. */
  role: Role | null
  /** Whether its recent use is recorded, and no later use of another workspace. */
  isUseRecorded: boolean | null
  /** The position of its newest event when it was read. Only of a workspace that was looked up by its slug. */
  lastPosition?: number
}

/** What belongs to a seed and has a path of its own. */
export interface PartOfSeed {
  kind: 'evidence' | 'comment'
  id: string
}

/** How a change was made: on the website, through the API, by an agent, or on the server. */
export type ChangeSource = 'web' | 'api' | 'mcp' | 'system'

/** What a request is about: a workspace by its slug, a seed, or a part of one. */
export type TargetResource = { slug: string } | { seedId: string } | PartOfSeed

/** The caller: the user, and the credential that was used. Services take it with every call. */
export interface Principal {
  user: PrincipalUser
  /** `system` is a command of an operator, or the service itself. */
  source: ChangeSource
  apiKeyId: string | null
  /** The session on the website. */
  sessionId: string | null
  grantId: string | null
  /** The id of the request, for the lines of what it causes later. Absent for commands, and the service itself. */
  requestId?: string
  /** The name of the agent that acts for the user, as in its grant; absent for people. */
  agentName?: string
  /** The only workspace that the caller can reach, which is that of an agent's grant. Others do not exist for it. */
  onlyWorkspaceId?: string
  /** Whether the user is a service account, which reaches one workspace and has no account to manage. */
  isService?: boolean
  /** The restrictions of the API key; absent for a key without any, and for all other credentials. */
  restrictions?: KeyRestrictions
}

/** The request of a visitor who is not signed in. */
export type RequestOfVisitor = Required<Pick<Principal, 'requestId'>>

// What belongs to a request beside its principal. A function takes the type with what it may use; services take the
// principal, and hand it on.

/** A principal with what the request has read of its workspace. For `access/workspace-access.ts`. */
export interface LookUpCall extends Principal {
  /**
   * Whether the object lives no longer than one request. Several service calls of a page then look up a workspace once;
   * like a single call, they see the role that the caller had at the start of the request.
   */
  isOfOneRequest?: boolean
  /** The workspace that the request is about, if it was read together with the credential. */
  read?: { target: TargetResource; workspace: WorkspaceOfCaller | undefined }
  /** Called with the current slug of a workspace that was requested by a former one. */
  onSlugMoved?: (currentSlug: string) => void
  /** Called with the id of the seed that is read, of one that was merged into it. */
  onSeedMerged?: (seedId: string) => void
}

/** A principal with the versions of which what the request changes must have one, and what is told of the next one. For services that `assertExpected`. */
export interface ExpectingCall extends Principal {
  expected?: ExpectedVersions
  /** Called with the version that the change leaves. */
  onVersion?: (version: string) => void
}

/** A principal with what stores the response of its change. For `access/change.ts`. */
export interface ChangeCall extends Principal {
  /** Makes the response to store for a request with an `Idempotency-Key`, from the result of its change. */
  answerOf?: (result: unknown) => AnswerToKeep
}

/** A principal during one request. HTTP makes it, and services cannot see what is not theirs. */
export interface Call extends LookUpCall, ExpectingCall, ChangeCall {}
