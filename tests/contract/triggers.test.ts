import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { eventKinds, type EventType } from '../../src/domain/events.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const { db } = await startTestApp()

/** The events that tell what the function of a trigger writes; a reason if none does. */
const written: Record<string, EventType[] | string> = {
  cancel_requests_of_grant: ['agent_request.cancelled'],
  cancel_requests_of_asker: ['agent_request.cancelled'],
  count_evidence: ['evidence.added', 'evidence.withdrawn'],
  recount_evidence: ['evidence.updated', 'evidence.withdrawn'],
  count_moved_evidence: ['seed.merged', 'seed.unmerged'],
  count_comments: ['comment.added', 'comment.deleted'],
  count_moved_comments: ['seed.merged', 'seed.unmerged'],
  count_participants: ['seed.joined', 'seed.left'],
  count_moved_participants: ['seed.merged', 'seed.unmerged'],
  count_evidence_seen: ['evidence.seen', 'evidence.unseen'],
  count_attachments: 'the storage that a workspace uses, which no operation returns',
  move_attachments: ['seed.merged', 'seed.unmerged'],
  follow_activity: 'the time of the newest change of a seed, whatever its event is',
  follow_status: ['seed.updated'],
  keep_criteria: ['seed.created', 'seed.updated', 'seed.criterion_changed'],
  forget_criteria: ['seed.updated'],
  give_event_position: 'the event itself',
  give_event_readers: 'the event itself',
  give_workspace_of_seed: 'the row of another version, as it is inserted',
  give_workspace_of_invite: 'the row of another version, as it is inserted',
  search_follow: 'what the search finds',
  search_follow_deletion: 'what the search finds',
  search_follow_files: 'what the search finds',
  search_follow_invites: 'what the search finds',
  search_follow_membership: 'what the search finds',
  search_follow_move: 'what the search finds',
  search_follow_team: 'what the search finds',
}

it('what each trigger writes is told by an event, or has a reason why not', async () => {
  const rows = await selectRows<{ name: string }>(
    db,
    sql`select distinct proname as name from pg_trigger join pg_proc on pg_proc.oid = tgfoid
      where not tgisinternal and pronamespace = 'public'::regnamespace`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(written).toSorted())
  const types = Object.values(written).flatMap((value) => (typeof value === 'string' ? [] : value))
  expect(types.filter((type) => !(type in eventKinds))).toEqual([])
})
