import { createUseRecorder } from '../concurrency/use-recorder.ts'
import type { Database } from '../db/client.ts'
import { recordActivity } from './memberships.repository.ts'

/** Records when members last did something that everybody in the workspace may see. */
export interface MemberActivity {
  record: (member: { workspaceId: string; userId: string }, at: Date) => void
  /** Writes what is pending, and stops. */
  close: () => Promise<void>
}

/**
 * Writes outside of requests, for each member at most once a minute: finding the newest event of each member of a page
 * would take longer than the page, and a row of each change would be waited for by the next one.
 */
export function createMemberActivity(options: {
  db: Database
  onRecordError: (error: unknown) => void
}): MemberActivity {
  const { db, onRecordError } = options
  const uses = createUseRecorder({
    async write(batch) {
      const members = batch.map(({ id, usedAt }) => {
        const [workspaceId = '', userId = ''] = id.split(' ')
        return { workspaceId, userId, at: usedAt }
      })
      await recordActivity(db, members)
    },
    onRecordError,
  })
  return {
    record: ({ workspaceId, userId }, at) => uses.record(`${workspaceId} ${userId}`, at),
    close: uses.close,
  }
}
