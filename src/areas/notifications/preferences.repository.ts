import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { users } from '../../db/schema/users.ts'
import { preferenceColumns } from '../../db/sql/gets-notices.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { NotificationPreferences } from '../../domain/notifications.ts'

const isUser = eq(users.id, sql.placeholder('userId'))

const selectOfUser = (executor: Executor) => executor.select(preferenceColumns).from(users).where(isUser)

const selectPreferences = prepared((executor) =>
  selectOfUser(executor).prepare('notifications_select_preferences'),
)
const lockPreferencesOfUser = prepared((executor) =>
  selectOfUser(executor).for('no key update').prepare('notifications_lock_preferences'),
)

/**
 * How a person is told of what; undefined if there is no such person. `isLocked`: they are locked until the transaction ends.
 */
export async function findPreferences(
  executor: Executor,
  userId: string,
  { isLocked = false } = {},
): Promise<NotificationPreferences | undefined> {
  const select = isLocked ? lockPreferencesOfUser : selectPreferences
  const [row] = await select(executor).execute({ userId })
  return row
}

const setPreferences = prepared((executor) => {
  const given = (name: keyof NotificationPreferences, type = 'text') =>
    sql`coalesce(${sql.placeholder(name)}::${sql.raw(type)}, ${preferenceColumns[name]})`
  return executor
    .update(users)
    .set({
      notifyMentions: given('mentions'),
      notifyDigest: given('digest', 'boolean'),
      notifyRoleChanges: given('roleChanges'),
      notifyAcceptedInvites: given('acceptedInvites'),
      notifyAgents: given('agents'),
      notifyAgentRequests: given('agentRequests'),
      notifyDecisions: given('decisions'),
    })
    .where(isUser)
    .prepare('notifications_set_preferences')
})

/** Changes how a person is told of some things. */
export async function updatePreferences(
  executor: Executor,
  userId: string,
  changed: Partial<NotificationPreferences>,
): Promise<void> {
  const none = { mentions: null, digest: null, roleChanges: null, acceptedInvites: null }
  const unchanged = { ...none, agents: null, agentRequests: null, decisions: null }
  await setPreferences(executor).execute({ userId, ...unchanged, ...changed })
}
