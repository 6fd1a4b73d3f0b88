import type { PrincipalUser } from './principal.ts'
import type { Role } from './roles.ts'

/** An agent that calls, and what it was allowed: in one workspace, on behalf of one person, as that person. */
export interface AgentPrincipal {
  grant: {
    id: string
    clientId: string
    /** What the client called itself when it was allowed. */
    clientName: string
    scopes: string[]
    expiresAt: Date
  }
  /** Who allowed it. */
  user: PrincipalUser
  workspace: { id: string; name: string; slug: string }
  /** What the person is in the workspace now. */
  role: Role
}
