import { and, eq, isNotNull } from 'drizzle-orm'
import { isStaying } from '../schema/leavings.ts'
import { users } from '../schema/users.ts'

/**
 * Whether a person gets mails about their workspaces: they have not turned them off, are not leaving, and somebody has
 * verified that the address is theirs. Otherwise a stranger would read the names of others.
 */
export const getsNotices = and(
  eq(users.workspaceActivity, true),
  isNotNull(users.emailVerifiedAt),
  isStaying(users.id),
)
