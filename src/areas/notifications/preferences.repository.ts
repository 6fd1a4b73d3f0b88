import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { users } from '../../db/schema/users.ts'
import { preferenceColumns } from '../../db/sql/gets-notices.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { NotificationPreferences } from '../../domain/notifications.ts'

const isUser = eq(users.id, sql.placeholder('userId'))

const selectPreferences = prepared((executor) =>
  executor.select(preferenceColumns).from(users).where(isUser).prepare('notifications_select_preferences'),
)

/** How a person is told of what; undefined if there is no such person. */
export async function findPreferences(
  executor: Executor,
  userId: string,
): Promise<NotificationPreferences | undefined> {
  const [row] = await selectPreferences(executor).execute({ userId })
  return row
}

const selectLockedPreferences = prepared((executor) =>
  executor
    .select(preferenceColumns)
    .from(users)
    .where(isUser)
    .for('no key update')
    .prepare('notifications_lock_preferences'),
)

/** As `findPreferences`, and locks the person until the transaction ends. */
export async function lockPreferences(
  executor: Executor,
  userId: string,
): Promise<NotificationPreferences | undefined> {
  const [row] = await selectLockedPreferences(executor).execute({ userId })
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
  const unchanged = { ...none, agents: null, decisions: null }
  await setPreferences(executor).execute({ userId, ...unchanged, ...changed })
}
