import type { PrincipalUser } from './principal.ts'
import type { Role } from './roles.ts'

/** The scope of a grant that may read the validation kit. */
export const validationKitScope = 'validation-kit:read'

/** The caller of an agent's request: the grant, its user and its workspace. */
export interface AgentPrincipal {
  grant: {
    id: string
    clientId: string
    /** The name of the client at the time of consent. */
    clientName: string
    scopes: string[]
    expiresAt: Date
  }
  /** The user who gave the grant, and for whom the agent acts. */
  user: PrincipalUser
  workspace: { id: string; name: string; slug: string }
  /** The current role of the user in the workspace. */
  role: Role
}
