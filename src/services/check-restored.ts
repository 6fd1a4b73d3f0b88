import { findNewestEventTime, listWrongPositions } from '../areas/events/event-feed.repository.ts'
import { countPendingDeliveries } from '../areas/webhooks/deliveries.repository.ts'
import type { Database } from '../db/client.ts'
import { listUsedPictures } from '../pictures/pictures.repository.ts'
import { countWaitingJobs } from '../platform/jobs/job-operations.repository.ts'
import type { FileStorage } from '../platform/storage/storage.port.ts'
import type { Finding } from './finding.ts'

const picturesAtOnce = 8
const pageSize = 500
const namedMax = 5

/** What a restored database has to be looked at for: pictures, positions of events, and what waits to be sent. */
export async function checkRestored(
  db: Database,
  { storage, isOutgoing }: { storage: FileStorage; isOutgoing: boolean },
): Promise<Finding[]> {
  const newest = await findNewestEventTime(db)
  return [
    await checkPictures(db, storage),
    await checkPositions(db, newest),
    ...(newest ? [describeRevived(newest)] : []),
    await checkWaiting(db, isOutgoing),
  ]
}

/** Opens each picture that a person or a workspace has. */
async function checkPictures(db: Database, storage: FileStorage): Promise<Finding> {
  const missing: string[] = []
  let count = 0
  let keys: string[] = []
  do {
    keys = await listUsedPictures(db, { after: keys.at(-1) ?? '', limit: pageSize })
    count += keys.length
    for (let i = 0; i < keys.length; i += picturesAtOnce)
      await Promise.all(
        keys.slice(i, i + picturesAtOnce).map(async (key) => {
          const file = await storage.open(key)
          file?.content.destroy()
          if (!file) missing.push(key)
        }),
      )
  } while (keys.length === pageSize)
  const check = 'pictures'
  if (missing.length === 0)
    return { check, ok: true, message: `${count} pictures are used, and all are in the storage.` }
  const named = missing.toSorted().slice(0, namedMax).join(', ')
  const message =
    `${missing.length} of ${count} used pictures are not in the storage: ${named}${missing.length > namedMax ? ', …' : ''}. ` +
    'Restore the storage too, or let people upload them again.'
  return { check, ok: false, message }
}

/** Whether each cursor leads to an event: the count of a workspace is the position of its newest event. */
async function checkPositions(db: Database, newest: Date | undefined): Promise<Finding> {
  const check = 'cursors'
  const wrong = await listWrongPositions(db, namedMax)
  if (wrong.length > 0) {
    const message = `The last position is not that of the newest event in the workspaces ${wrong.join(', ')}. Restore the whole dump.`
    return { check, ok: false, message }
  }
  const message =
    newest === undefined
      ? 'There are no events.'
      : `The newest event is of ${newest.toISOString()}. A later cursor is answered with 409 cursor_unknown, and its program begins anew.`
  return { check, ok: true, message }
}

/** What was ended after the backup, and is not in it. */
function describeRevived(newest: Date): Finding {
  const message =
    `Keys, sessions and access of agents that were revoked after ${newest.toISOString()} work again, and people, members and ` +
    'data that were deleted since are there again. End them again: the audit and the events of programs that follow them say which.'
  return { check: 'revoked', ok: true, message }
}

/** What the service does when it starts. */
async function checkWaiting(db: Database, isOutgoing: boolean): Promise<Finding> {
  const { mails, others } = await countWaitingJobs(db)
  const deliveries = await countPendingDeliveries(db)
  const fate = isOutgoing
    ? 'The service sends them: in a copy, set OUTGOING=off before it starts, and run admin quarantine.'
    : 'With OUTGOING=off, the mails are written to files and the deliveries wait: admin quarantine drops both.'
  const message = `${mails} mails, ${deliveries} deliveries to webhooks and ${others} other jobs wait. ${mails + deliveries > 0 ? fate : ''}`
  return { check: 'waiting', ok: true, message: message.trim() }
}
