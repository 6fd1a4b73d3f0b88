import { unrestricted } from './key-restrictions.ts'
import type { Principal, PrincipalUser } from './principal.ts'
import { isAbove, type Role } from './roles.ts'

/** The scope of a grant that may read the validation kit. Every grant has it. */
export const validationKitScope = 'validation-kit:read'

/** The scopes that a person can give to an agent. */
export const agentScopes = [validationKitScope, 'workspace:read', 'seeds:write', 'workspace:write'] as const
export type AgentScope = (typeof agentScopes)[number]

/** The scopes that only the person ticks: what an agent asks for of them is left out, and no challenge names them. */
const unaskedScopes: readonly string[] = ['workspace:write'] satisfies AgentScope[]

/** The scopes that a workspace can give to agents of its members without their consent: those that agents may ask for. */
export const assertedScopes = [
  validationKitScope,
  'workspace:read',
  'seeds:write',
] as const satisfies AgentScope[]

/** Whether agents get access for members by assertions of identity providers. */
export const assertedAgentsStates = ['off', 'on'] as const

/** The most clients that a workspace gives access so. */
export const policyClientsMax = 20
/** The longest id of a client. */
export const clientIdLengthMax = 1024

/** For how many days after its last assertion an agent keeps the access that a workspace gives it. */
export const assertedGrantDays = 30

/**
 * The version of what the scopes mean. Since 1, `workspace:read` includes comments and participants, and `seeds:write`
 * writing comments, leaving seeds, and correcting and withdrawing evidence. Since 2, `workspace:read` includes the inbox,
 * and `seeds:write` being asked by comments, marking what is in the inbox as read, following seeds, editing and deleting
 * the agent's own comments, deleting its own seeds, and asking people to join seeds. A grant keeps the version that its
 * person agreed to: later ones give it nothing.
 */
export const consentVersion = 2

/** For how many days a person can give access to an agent, or prolong it. */
export const grantDays = [30, 90, 180] as const
export type GrantDays = (typeof grantDays)[number]
/** What is chosen unless the person chooses something else. */
export const grantDaysDefault: GrantDays = 90

/** How long before the access of an agent ends its person is told. */
export const grantEndNoticedMs = 14 * 24 * 60 * 60 * 1000

/** What an agent did with each tool that changes something, as the end of a sentence. */
export const changesOfAgents = {
  create_seed: 'created a seed',
  update_seed: 'changed a seed',
  set_statuses: 'set the status of seeds',
  join_seed: 'joined a seed',
  leave_seed: 'left a seed',
  ask_to_join: 'asked a person to join a seed',
  follow_seed: 'followed or unfollowed a seed',
  delete_seed: 'deleted a seed',
  restore_seed: 'restored a seed',
  add_evidence: 'added evidence',
  add_evidence_list: 'added several pieces of evidence',
  update_evidence: 'corrected evidence',
  withdraw_evidence: 'withdrew evidence',
  add_comment: 'commented on a seed',
  update_comment: 'edited a comment',
  delete_comment: 'deleted a comment',
  mark_read: 'marked notifications as read',
  decline_request: 'declined a request',
  create_team: 'created a team',
  rename_team: 'renamed a team',
  delete_team: 'deleted a team',
  add_team_member: 'added a person to a team',
  remove_team_member: 'removed a person from a team',
  create_invite: 'invited a person',
  resend_invite: 'sent an invite again',
  update_invite: 'changed the role of an invite',
  revoke_invite: 'revoked an invite',
} as const

/** The known scopes among texts, each once, in the order of `agentScopes`, with the scope that every grant has. */
export function toAgentScopes(texts: readonly string[]): AgentScope[] {
  return agentScopes.filter((scope) => scope === validationKitScope || texts.includes(scope))
}

/** The scopes among texts that an agent may ask its person for. */
export function toAskedScopes(texts: readonly string[]): AgentScope[] {
  return toAgentScopes(texts).filter((scope) => !unaskedScopes.includes(scope))
}

/** The lowest role that may use what a scope allows, for the scopes that change something. */
const rolesOfScopes: Partial<Record<string, Role>> = {
  'seeds:write': 'member',
  'workspace:write': 'admin',
} satisfies Partial<Record<AgentScope, Role>>

/** The scopes among texts of which a role may use what they allow. */
export function scopesOfRole(role: Role, texts: readonly string[]): AgentScope[] {
  return toAgentScopes(texts).filter((scope) => !isAbove(rolesOfScopes[scope] ?? role, role))
}

/** The scopes that only people tick on the website, among texts. */
export function unaskedOf(texts: readonly string[]): string[] {
  return texts.filter((scope) => unaskedScopes.includes(scope))
}

/** What a validation kit has of each seed, from little to everything. */
export const kitDetails = ['outline', 'summary', 'full'] as const

/** The columns of the table of summaries. */
export const kitSummaryColumns = [
  ...(['id', 'title', 'status', 'leadName', 'createdOn', 'activeOn', 'supports', 'contradicts'] as const),
  ...(['neutral', 'participantCount', 'commentCount', 'summary', 'hypothesis'] as const),
] as const

/** The most changes that an agent makes in one call. */
export const changesAtOnceMax = 20

/** Where an agent finds seeds by words. */
export const agentSearchKinds = ['seed', 'evidence', 'comment'] as const

/** The most seeds that a validation kit shows in full. */
export const kitSeedsMax = 50
/** The most seeds that it shows in all, with those in outline. */
export const kitOutlineMax = 200
/** The most pieces of evidence that it shows of each seed. */
export const kitEvidenceMax = 20

/** The most comments and participants that it shows of one seed. */
export const kitCommentsMax = 20
export const kitParticipantsMax = 20
/** How many files a kit of one seed has at most. */
export const kitAttachmentsMax = 20

/** The caller of an agent's request: the grant, its user and its workspace. */
export interface AgentPrincipal {
  grant: {
    id: string
    clientId: string
    /** The name of the client at the time of consent. */
    clientName: string
    scopes: string[]
    /** The version of the scopes that the person agreed to. */
    consentVersion: number
    /** Whether other members may ask the agent. */
    membersMayAsk: boolean
    expiresAt: Date
    /** The issuer of the identity provider that asserted the person, who gave no consent; null or absent if they gave it. */
    assertedIssuer?: string | null
  }
  /** The user who gave the grant, and for whom the agent acts. */
  user: PrincipalUser
  workspace: { id: string; name: string; slug: string }
  /** The current role of the user in the workspace. */
  role: Role
  /** Whether the user is a service account, whose client has no person. */
  isService?: boolean
  /** Whether the request asked for reading tools only. */
  onlyReads?: boolean
  /** The id of the request. */
  requestId?: string
  /** Is told of each call of a tool over MCP: its operation, its input, and the code of the error that refused it. */
  noteCall?: (operationId: string, input: unknown, code?: string) => void
  /** The scopes of its access token, if they narrow those of the grant. */
  tokenScopes?: readonly string[]
}

/** An agent as its access token narrows it, if that does. */
export function withTokenScopes(
  agent: AgentPrincipal,
  tokenScopes: AgentPrincipal['tokenScopes'],
): AgentPrincipal {
  if (!tokenScopes) return agent
  const { grant } = agent
  const scopes = grant.scopes.filter((scope) => tokenScopes.includes(scope))
  return { ...agent, grant: { ...grant, scopes }, tokenScopes }
}

/** Whether an agent may read comments and participants. */
export function mayReadDiscussions({ grant }: AgentPrincipal): boolean {
  return grant.scopes.includes('workspace:read') && grant.consentVersion >= 1
}

/** An agent as a caller of services: it acts as the user of its grant, and only in the workspace of its grant. */
export function toPrincipal({ grant, user, workspace, isService, requestId }: AgentPrincipal): Principal {
  const credential = { apiKeyId: null, sessionId: null, grantId: grant.id }
  const { clientName: agentName, membersMayAsk } = grant
  // What members can ask it for, it sees as a member.
  const restrictions = membersMayAsk && { restrictions: { ...unrestricted, maxRole: 'member' as const } }
  const service = isService && { isService }
  return {
    ...{ user, source: 'mcp', ...credential, agentName, onlyWorkspaceId: workspace.id },
    ...service,
    ...restrictions,
    ...(requestId !== undefined && { requestId }),
  }
}
