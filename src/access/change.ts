import { insertEvent, insertEventInEach, type NewEvent } from './event-log.repository.ts'
import { lockMembersOfWorkspace, requireRoleNow } from './memberships.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import { keepAnswer } from './idempotency.repository.ts'
import { together } from '../db/together.ts'
import type { Write } from '../db/transactions.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { roleWith, type KeyRestrictions } from '../domain/key-restrictions.ts'
import { kindOf, type EventType, type Happening, type OmitEach } from '../domain/events.ts'
import type { ChangeCall, Principal } from '../domain/principal.ts'
import type { Role } from '../domain/roles.ts'
import { createTurns, turnsWaitingMax } from '../concurrency/turns.ts'
import { requireLiveCredential } from './live-credential.repository.ts'
import { isAllowed } from './permissions.ts'
import { assertKeyReaches, type AccessibleWorkspace } from './workspace-access.ts'

/** The workspace of a change, and the operation that makes it. */
export type WorkspaceOfChange = Pick<AccessibleWorkspace, 'id' | 'action'>

/** What the function of a change receives. */
export interface ChangeContext<Event> {
  tx: Executor
  /** The time of the change. */
  now: Date
  /** Sends a write, and leaves its answer to the end of the change. */
  write: Write
  /** Appends the event of the change, as its last statement. Not called when nothing has changed. */
  appendEvent: (event: Event) => void
}

/** What the function of a change in a workspace receives. */
export type WorkspaceChangeContext = ChangeContext<OmitEach<NewEvent, 'at' | 'workspaceId'>>

/** What the function of a change outside of a workspace receives. */
export interface OwnChangeContext extends ChangeContext<OmitEach<NewEvent, 'at'>> {
  /** Appends the same event in each of some workspaces, which stay until the end of the change. */
  appendEventInEach: (workspaceIds: readonly string[], event: Happening) => void
}

/** The caller and the workspace of a change. */
export interface LockInput {
  principal: Principal
  workspace: WorkspaceOfChange
  clock: Clock
}

/** Reads and locks the row that a change is about, until the transaction ends; undefined when there is none. */
export type Lock<Locked> = (tx: Executor, input: LockInput) => Promise<Locked | undefined>

/**
 * Runs each change in one transaction with its event and, when the request has an `Idempotency-Key`, with the answer
 * (docs/design/changes.md#one-function). A service returns the result of `make` or `makeIn` unchanged, because the
 * stored answer was made from it. Throws `idempotency_in_flight` when the same request was answered meanwhile.
 */
export interface Changes {
  /** Makes a change outside of a workspace. */
  make<Result>(principal: ChangeCall, run: (context: OwnChangeContext) => Promise<Result>): Promise<Result>
  /** Makes a change that is one statement without an event. It runs without a transaction when no answer is stored. */
  makeAtOnce<Result>(
    principal: ChangeCall,
    run: (executor: Executor, now: Date) => Promise<Result>,
  ): Promise<Result>
  /**
   * Makes a change in a workspace while `lock` is held. Throws `not_found` when `lock` finds nothing, and
   * `too_many_at_once` when too many changes of the caller wait. What is known to change nothing should not come here: it
   * would take a turn.
   */
  makeIn<Locked, Result>(
    principal: ChangeCall,
    workspace: WorkspaceOfChange,
    lock: Lock<Locked>,
    run: (context: WorkspaceChangeContext, locked: NonNullable<Locked>) => Promise<Result>,
  ): Promise<Result>
}

export interface ChangesOptions {
  db: Database
  clock: Clock
  /** Called after the commit of a change whose event is to be delivered to webhooks. */
  onDeliveries?: () => void
  /** The longest wait of a change for its turn in the workspace, in milliseconds. Default: 2.5 s. */
  turnWaitMsMax?: number | undefined
  /** Called after the commit of a change of a person whose event everybody in the workspace may see. */
  onActivity?: (member: { workspaceId: string; userId: string }, at: Date) => void
}

export function createChanges({
  db,
  clock,
  onDeliveries,
  onActivity,
  turnWaitMsMax = 2_500,
}: ChangesOptions): Changes {
  // Changes of one workspace wait for the same locks. Without this limit they could hold all connections of the area. The
  // people in it have turns in rotation, so that one with many changes does not hold up the others.
  const turns = createTurns({ atOnceMax: 2, waitingMax: turnsWaitingMax, waitMsMax: turnWaitMsMax })

  /** Runs a change in a transaction. Once it is committed, reports it if there is something to deliver to webhooks. */
  async function transact<Result>(
    principal: Principal,
    run: (tx: Executor, begin: () => OwnChangeContext) => Promise<Result>,
  ): Promise<Result> {
    const deliveries = { isDue: false }
    const active: { workspaceIds: readonly string[]; at: Date }[] = []
    const noteDeliveries = () => {
      deliveries.isDue = true
    }
    const result = await db.transaction((tx, write) =>
      run(tx, () => {
        const now = clock.now()
        const noteActivity = (workspaceIds: readonly string[], type: EventType) => {
          if (kindOf(type).readers === 'everybody') active.push({ workspaceIds, at: now })
        }
        const appendEvent = (event: OmitEach<NewEvent, 'at'>) => {
          noteActivity([event.workspaceId], event.type)
          void insertEvent(tx, principal, { ...event, at: now }, noteDeliveries)
        }
        const appendEventInEach = (workspaceIds: readonly string[], event: Happening) => {
          noteActivity(workspaceIds, event.type)
          void insertEventInEach(tx, principal, { ...event, workspaceIds, at: now }, noteDeliveries)
        }
        return { tx, now, write, appendEvent, appendEventInEach }
      }),
    )
    if (deliveries.isDue) onDeliveries?.()
    for (const { workspaceIds, at } of active)
      for (const workspaceId of workspaceIds) onActivity?.({ workspaceId, userId: principal.user.id }, at)
    return result
  }

  async function finish<Result>(tx: Executor, principal: ChangeCall, result: Result): Promise<Result> {
    const answer = principal.answerOf?.(result)
    if (answer && !(await keepAnswer(tx, answer))) throw errors.idempotencyInFlight({ retryAfterSeconds: 1 })
    return result
  }

  return {
    make: (principal, run) =>
      transact(principal, async (tx, begin) => finish(tx, principal, await run(begin()))),

    async makeAtOnce(principal, run) {
      const perform = async (executor: Executor) =>
        finish(executor, principal, await run(executor, clock.now()))
      return principal.answerOf ? db.transaction(perform) : perform(db)
    },

    async makeIn(principal, workspace, lock, run) {
      const end = await turns.take(workspace.id, principal.user.id)
      try {
        return await transact(principal, async (tx, begin) => {
          const locked = await lock(tx, { principal, workspace, clock })
          if (locked === undefined || locked === null) throw errors.notFound()
          const { appendEvent, ...context } = begin()
          const append: WorkspaceChangeContext['appendEvent'] = (event) =>
            appendEvent({ ...event, workspaceId: workspace.id })
          return finish(tx, principal, await run({ ...context, appendEvent: append }, locked))
        })
      } finally {
        end()
      }
    },
  }
}

/** For a change that locks nothing, such as one that only adds a row. */
export async function noLock(): Promise<true> {
  return true
}

/**
 * Serializes changes of members, roles and invites of a workspace, and reads the caller's role again. Returns the role that
 * they act with. Throws `not_a_member` and `role_insufficient`.
 */
export async function lockMembers(tx: Executor, { principal, workspace }: LockInput): Promise<Role> {
  const [, role] = await together([
    lockMembersOfWorkspace(tx, workspace.id),
    requireRoleNow(tx, workspace.id, principal.user.id),
  ])
  return requireAllowed(role, principal.restrictions, workspace)
}

/** `lockMembers` for changes that give access: also checks that the caller's credential is still valid. */
export async function lockMembersWithCredential(tx: Executor, input: LockInput): Promise<Role> {
  const { principal, workspace, clock } = input
  const [, restrictions, role] = await together([
    lockMembersOfWorkspace(tx, workspace.id),
    requireLiveCredential(tx, principal, clock.now()),
    requireRoleNow(tx, workspace.id, principal.user.id),
  ])
  assertKeyReaches(restrictions, workspace.id)
  return requireAllowed(role, restrictions, workspace)
}

/** The role that the caller acts with. Throws `role_insufficient`. */
function requireAllowed(
  roleOfPerson: Role,
  restrictions: KeyRestrictions | undefined,
  { action }: WorkspaceOfChange,
): Role {
  const role = roleWith(restrictions, roleOfPerson)
  if (!isAllowed(role, action)) throw errors.roleInsufficient()
  return role
}
