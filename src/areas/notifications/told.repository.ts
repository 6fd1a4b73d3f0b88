import { and, desc, eq, isNotNull, isNull, sql, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { comments } from '../../db/schema/comments.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { mentionsOfComment } from '../../db/sql/mentions-of-comment.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { StoredNotification, toldKinds } from '../../domain/notifications.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import {
  isItsComment,
  isItsEvidence,
  isNotOfDeletedSeed,
  isOfCaller,
  storedColumns,
  type InboxOfCaller,
  type WrittenRow,
} from './notifications.repository.ts'

/** A notification about a seed, with what was written there. */
export interface ToldRow extends StoredNotification<(typeof toldKinds)[number]>, WrittenRow {
  id: string
  seedId: string
  evidenceId: string | null
  answered: boolean | null
  createdAt: string
  readAt: string | null
}

const answers = alias(comments, 'answers')

/** Whether the person has commented in the thread of a mention since; null for everything else. */
const answered = subquery(sql<boolean | null>`case ${notifications.kind} when 'mention' then exists (
  select from ${comments} as ${answers} where ${and(
    eq(answers.seedId, notifications.seedId),
    sql`${answers.evidenceId} is not distinct from ${comments.evidenceId}`,
    eq(answers.authorUserId, notifications.userId),
    sql`${answers.createdAt} >= ${notifications.createdAt}`,
  )}
) end`)

const columns = itemColumns<ToldRow>({
  ...storedColumns,
  id: notifications.id,
  // That of a comment on evidence, or the evidence itself.
  evidenceId: sql<string | null>`${notifications.data} ->> 'evidenceId'`,
  body: comments.body,
  mentions: mentionsOfComment,
  summary: evidence.summary,
  answered,
  createdAt: notifications.createdAt,
  readAt: notifications.readAt,
})

const selectUnread = prepared((executor) =>
  prepareList(executor, 'notifications_select_told_unread', isNull(notifications.readAt)),
)
const selectRead = prepared((executor) =>
  prepareList(executor, 'notifications_select_told_read', isNotNull(notifications.readAt)),
)

function prepareList(executor: Executor, name: string, filter: SQL) {
  const { id, createdAt } = notifications
  const rows = executor
    .select(columns)
    .from(notifications)
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .innerJoin(seeds, eq(seeds.id, notifications.seedId))
    .leftJoin(comments, isItsComment)
    .leftJoin(evidence, isItsEvidence)
    .where(and(isOfCaller, filter, isNotOfDeletedSeed, isBefore(createdAt, id)))
    .orderBy(desc(createdAt), desc(id))
    .limit(pageLimit)
  return selectJsonRows(executor, rows).prepare(name)
}

/** Notifications of a person about seeds, newest first, with what was written: those that are unread, or those that are read. */
export function listTold(
  executor: Executor,
  { isUnread, ...values }: InboxOfCaller & { isUnread: boolean } & PageRange,
): Promise<JsonRows> {
  const select = isUnread ? selectUnread : selectRead
  return readOne(select(executor).execute({ ...values }))
}
