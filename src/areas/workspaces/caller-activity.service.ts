import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { EventType } from '../../domain/events.ts'
import type { Principal } from '../../domain/principal.ts'
import { datesOfDue, dueOf, silentSince, type DatedDue } from '../../domain/seeds.ts'
import {
  findCallerActivity,
  type DatedSeed,
  type IdleSeed as WaitingSeed,
} from './caller-activity.repository.ts'

/** A seed that is waiting for evidence. */
export interface IdleSeed extends WaitingSeed {
  /** Whether it has waited for 30 days. */
  isSilent: boolean
}

/** A seed that is due. */
export interface DueSeed extends DatedSeed {
  due: DatedDue | undefined
}

const dayMs = 24 * 60 * 60 * 1000
/** How long a seed in progress may be without new evidence before its people are reminded. */
const idleAfterMs = 7 * dayMs
const newForMs = 30 * dayMs

/** What the caller has done in a workspace, and has left, for their home. */
export interface CallerActivity {
  /**
   * The open and validating seeds that the caller leads, joined or follows, and that are overdue or due this week: five, the
   * earliest date first.
   */
  dueSeeds: DueSeed[]
  /**
   * The open and validating seeds that the caller leads, or created and takes part in, without new evidence for a week:
   * five, the longest idle first.
   */
  idleSeeds: IdleSeed[]
  /** Of the types asked for, those of what the caller did lately, not through an agent. Empty unless `isNew`. */
  doneTypes: ReadonlySet<EventType>
  /** Whether the caller follows a seed. */
  follows: boolean
  /** Whether the caller has joined within 30 days. */
  isNew: boolean
}

export interface CallerActivityService {
  find(principal: Principal, slug: string, types: readonly EventType[]): Promise<CallerActivity>
}

export function createCallerActivityService(options: {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
}): CallerActivityService {
  const { db, clock, requireWorkspace } = options
  return {
    async find(principal, slug, types) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'workspaces.get')
      const today = clock.now()
      const now = today.getTime()
      const newSince = new Date(now - newForMs)
      const { datedSeeds, idleSeeds, doneTypes, follows, joinedAt } = await findCallerActivity(db, {
        workspaceId,
        userId: principal.user.id,
        types,
        dueUntil: datesOfDue('week', today).to,
        idleBefore: new Date(now - idleAfterMs),
        newSince,
      })
      return {
        dueSeeds: datedSeeds.map((seed) => ({ ...seed, due: dueOf(seed, today) })),
        idleSeeds: idleSeeds.map((seed) => ({
          ...seed,
          isSilent: new Date(seed.idleSince) < silentSince(today),
        })),
        follows,
        doneTypes: new Set(doneTypes),
        isNew: joinedAt > newSince,
      }
    },
  }
}
