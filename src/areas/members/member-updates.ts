import type { OwnChangeContext } from '../../access/change.ts'
import { insertEventInEach, type EventActor } from '../../access/event-log.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { MemberField } from '../../domain/events/people.ts'
import type { Clock } from '../../kernel/clock.ts'
import { startOf } from '../../kernel/pagination.ts'
import type { JobHandlers, JobQueue } from '../../platform/jobs/jobs.port.ts'
import { lockUser } from '../../users/users.repository.ts'
import { lockMembershipsOfPerson } from './member-updates.repository.ts'

/** In how many workspaces of a person a change is reported at once. A job reports it in the others. */
const toldAtOnceMax = 20

/** The workspaces of a person in which a change is reported. */
export interface ToldWorkspaces {
  userId: string
  workspaceIds: readonly string[]
  /** Whether the person has more. */
  hasMore: boolean
}

/** Who changes something of a person, for the job. */
type Source = Pick<EventActor, 'source' | 'apiKeyId' | 'requestId'>

/**
 * Finds where a change of what members show of a person is to be reported. To be called after the person was locked, and before
 * they are changed, which locks their entries in the search: a member who is removed loses the membership first.
 */
export async function lockToldWorkspaces(
  tx: Executor,
  userId: string,
  after: string = startOf.oldestFirst.id,
): Promise<ToldWorkspaces> {
  const found = await lockMembershipsOfPerson(tx, { userId, after, limit: toldAtOnceMax + 1 })
  return { userId, workspaceIds: found.slice(0, toldAtOnceMax), hasMore: found.length > toldAtOnceMax }
}

/** Appends `member.updated` in the workspaces that were locked, and has a job append it in the others. */
export async function tellWorkspaces(
  { tx, appendEventInEach }: Pick<OwnChangeContext, 'tx' | 'appendEventInEach'>,
  { userId, workspaceIds, hasMore }: ToldWorkspaces,
  { fields, jobs, source }: { fields: MemberField[]; jobs: JobQueue; source: Source },
): Promise<void> {
  appendEventInEach(workspaceIds, { type: 'member.updated', data: { userId, fields } })
  const after = workspaceIds.at(-1)
  if (!hasMore || after === undefined) return
  const { source: from, apiKeyId, requestId } = source
  const payload = { userId, fields, after, source: from, apiKeyId }
  await jobs.enqueue(tx, 'append_member_updates', payload, { requestId })
}

/** For `tellWorkspaces` in a transaction of its own. */
export function contextOf(
  tx: Executor,
  actor: EventActor,
  at: Date,
): Pick<OwnChangeContext, 'tx' | 'appendEventInEach'> {
  return {
    tx,
    appendEventInEach: (workspaceIds, event) =>
      void insertEventInEach(tx, actor, { ...event, workspaceIds, at }),
  }
}

/**
 * Appends `member.updated` in further workspaces of a person, some in each transaction. A run that is repeated appends some of
 * them again, which only has their readers read the person once more.
 */
export function createMemberUpdatesJobs({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Pick<JobHandlers, 'append_member_updates'> {
  return {
    append_member_updates: ({ userId, fields, after, source, apiKeyId }, { requestId }) =>
      // eslint-disable-next-line no-restricted-syntax -- a job has no principal
      db.transaction(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user) return
        const told = await lockToldWorkspaces(tx, userId, after)
        const request = requestId !== undefined && { requestId }
        const actor = { user, source, apiKeyId, grantId: null, ...request }
        await tellWorkspaces(contextOf(tx, actor, clock.now()), told, { fields, jobs, source: actor })
      }),
  }
}
