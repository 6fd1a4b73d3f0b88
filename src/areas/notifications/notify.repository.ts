import { and, eq, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { seedFollowers } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { createId } from '../../kernel/ids.ts'
import type { NotificationDataByKind, NotificationKind } from '../../domain/notifications.ts'
import { serviceActorName, type Principal } from '../../domain/principal.ts'

/** What people are told in their inbox, in the transaction of the change that it is about. */
export type Notice<Kind extends NotificationKind = NotificationKind> = {
  [K in Kind]: { kind: K; data: NotificationDataByKind[K] }
}[Kind] & {
  workspaceId: string
  /** By default another one for each notice. */
  id?: string
  /** Who did it. They are not told. Null: the service. */
  actor: Pick<Principal, 'user' | 'agentName' | 'requestId'> | null
  /** Whether the actor is told too: it was their agent. */
  tellsActor?: boolean
  at: Date
  seedId?: string
  commentId?: string
  /** Whether a mail of its own is sent for it, so that no digest has it. */
  hasOwnMail?: boolean
}

/** Service accounts have no inbox. */
const isPerson = subquery(
  sql`(select ${users.kind} from ${users} where ${users.id} = ${memberships.userId}) = 'person'`,
)

const insertForFollowers = prepared((executor) =>
  executor
    .insert(notifications)
    .select((query) =>
      query
        .select(rowFor(seedFollowers.userId))
        .from(seedFollowers)
        .innerJoin(memberships, isMembershipOf(seedFollowers, seedFollowers.userId))
        .where(
          and(
            isPerson,
            eq(seedFollowers.seedId, sql`${sql.placeholder('seedId')}::uuid`),
            isOther(seedFollowers.userId),
            sql`${seedFollowers.userId} <> all(${sql.placeholder('except')}::uuid[])`,
          ),
        )
        // A membership that ends at the same time is waited for, and left out.
        .for('key share', { of: memberships }),
    )
    .prepare('notifications_insert_for_followers'),
)

/** Tells those who follow a seed, but not `except`, who are told otherwise. One prepared statement. */
export async function notifyFollowers(
  executor: Executor,
  notice: Notice<'comment' | 'evidence' | 'status' | 'merged'> & { seedId: string },
  except: readonly string[] = [],
): Promise<void> {
  await insertForFollowers(executor).execute({ ...valuesOf(notice), except: [...except] })
}

/** Who is told nothing of some kinds. What is about security is always told: a token that was used twice, and access that they did not give. */
const isNotOff = subquery(sql`not exists (
  select from ${users} where ${users.id} = ${memberships.userId} and case ${hiddenParameter('kind', 'text')}
    when 'invite_accepted' then ${users.notifyAcceptedInvites} = 'off'
    when 'agent_asked' then ${users.notifyAgentRequests} = 'off'
    when 'agent' then ${users.notifyAgents} = 'off' and ${hiddenParameter('data', 'text')}::jsonb ->> 'reason' not in ('reused', 'given')
    else false end
)`)

const insertForMembers = prepared((executor) =>
  executor
    .insert(notifications)
    .select((query) =>
      query
        .select(rowFor(memberships.userId))
        .from(memberships)
        .where(
          and(
            eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
            sql`${memberships.userId} = any(${keysParameter('userIds', 'uuid')})`,
            isOther(memberships.userId),
            isPerson,
            isNotOff,
          ),
        )
        .for('key share'),
    )
    .prepare('notifications_insert_for_members'),
)

/** Tells those of some people who are members of the workspace, and have not turned it off. One prepared statement. */
export async function notifyMembers(
  executor: Executor,
  notice: Notice,
  userIds: readonly string[],
): Promise<void> {
  await insertForMembers(executor).execute({ ...valuesOf(notice), userIds: [...userIds] })
}

const insertForManagers = prepared((executor) =>
  executor
    .insert(notifications)
    .select((query) =>
      query
        .select(rowFor(memberships.userId))
        .from(memberships)
        .where(
          and(
            eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
            sql`${memberships.role} in ('owner', 'admin')`,
            isPerson,
            sql`${memberships.userId} is distinct from ${sql.placeholder('exceptUserId')}::uuid`,
          ),
        )
        .for('key share'),
    )
    .prepare('notifications_insert_for_managers'),
)

/** Tells the owners and admins of a workspace, but not `exceptUserId`. One prepared statement. */
export async function notifyManagers(
  executor: Executor,
  notice: Notice<'key_stopped' | 'keys_known'>,
  exceptUserId: string | null = null,
): Promise<void> {
  await insertForManagers(executor).execute({ ...valuesOf(notice), exceptUserId })
}

function isOther(userId: Column): SQL {
  return sql`${userId} is distinct from ${sql.placeholder('untoldUserId')}::uuid`
}

/** The row of a person. Its columns are in the order of the table. */
function rowFor(userId: Column) {
  const given = (name: string, type: string) => sql`${sql.placeholder(name)}::${sql.raw(type)}`
  return {
    userId: sql<string>`${userId}`.as('user_id'),
    id: given('id', 'uuid').as('id'),
    workspaceId: sql<string>`${memberships.workspaceId}`.as('workspace_id'),
    kind: given('kind', 'text').as('kind'),
    seedId: given('seedId', 'uuid').as('seed_id'),
    commentId: given('commentId', 'uuid').as('comment_id'),
    actorUserId: given('actorUserId', 'uuid').as('actor_user_id'),
    actorName: given('actorName', 'text').as('actor_name'),
    agentName: given('agentName', 'text').as('agent_name'),
    data: given('data', 'jsonb').as('data'),
    createdAt: given('at', 'timestamptz').as('created_at'),
    readAt: sql`null::timestamptz`.as('read_at'),
    mailedAt: given('mailedAt', 'timestamptz').as('mailed_at'),
  }
}

function valuesOf(notice: NoticeValues) {
  const { id = createId(), workspaceId, kind, actor, at, data } = notice
  const { seedId = null, commentId = null, hasOwnMail = false, tellsActor = false } = notice
  return {
    id,
    workspaceId,
    kind,
    seedId,
    commentId,
    agentName: actor?.agentName ?? null,
    actorUserId: actor?.user.id ?? null,
    untoldUserId: tellsActor ? null : (actor?.user.id ?? null),
    actorName: actor?.user.name ?? serviceActorName,
    data: JSON.stringify(data),
    at: at.toISOString(),
    mailedAt: hasOwnMail ? at.toISOString() : null,
  }
}

type NoticeValues = Omit<Notice, 'seedId' | 'commentId'> & {
  seedId?: string | undefined
  commentId?: string | undefined
}
