import { insertEvent, type NewEvent } from '../areas/events/events.repository.ts'
import { lockMembersOfWorkspace, requireRoleNow } from '../areas/members/members.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import { keepAnswer } from '../db/idempotency.repository.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'
import type { Role } from '../kernel/roles.ts'
import { createTurns } from '../kernel/turns.ts'
import { requireLiveCredential } from './live-credential.repository.ts'
import { isAllowed } from './permissions.ts'
import type { AccessibleWorkspace } from './workspace-access.ts'

/** The workspace of a change, and the operation that makes it. */
export type WorkspaceOfChange = Pick<AccessibleWorkspace, 'id' | 'action'>

/** What the function of a change receives. */
export interface ChangeContext<Event> {
  tx: Executor
  /** The time of the change. */
  now: Date
  /** Appends the event of the change. Not called when nothing has changed. */
  appendEvent: (event: Event) => Promise<void>
}

/** What the function of a change in a workspace receives. */
export type WorkspaceChangeContext = ChangeContext<Omit<NewEvent, 'at' | 'workspaceId'>>

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
 * (decisions 0073 and 0074). A service returns the result of `make` or `makeIn` unchanged, because the stored answer was
 * made from it. Throws `idempotency_in_flight` when the same request was answered meanwhile.
 */
export interface Changes {
  /**
   * Makes a change outside of a workspace. `isOneStatement`: it is a single statement without an event, which runs without
   * a transaction when no answer is stored.
   */
  make<Result>(
    principal: Principal,
    run: (context: ChangeContext<Omit<NewEvent, 'at'>>) => Promise<Result>,
    options?: { isOneStatement?: boolean },
  ): Promise<Result>
  /**
   * Makes a change in a workspace while `lock` is held. Throws `not_found` when `lock` finds nothing, and `overloaded` when
   * too many changes of the workspace wait.
   */
  makeIn<Locked, Result>(
    principal: Principal,
    workspace: WorkspaceOfChange,
    lock: Lock<Locked>,
    run: (context: WorkspaceChangeContext, locked: NonNullable<Locked>) => Promise<Result>,
  ): Promise<Result>
}

export function createChanges({ db, clock }: { db: Database; clock: Clock }): Changes {
  // Changes of one workspace wait for the same locks. Without this limit they could hold all connections of the area.
  const turns = createTurns({ atOnceMax: 2, waitMsMax: 2_500 })

  function begin(tx: Executor, principal: Principal): ChangeContext<Omit<NewEvent, 'at'>> {
    const now = clock.now()
    return { tx, now, appendEvent: (event) => insertEvent(tx, principal, { ...event, at: now }) }
  }

  async function finish<Result>(tx: Executor, principal: Principal, result: Result): Promise<Result> {
    const answer = principal.answerOf?.(result)
    if (answer && !(await keepAnswer(tx, answer))) throw errors.idempotencyInFlight({ retryAfterSeconds: 1 })
    return result
  }

  return {
    async make(principal, run, { isOneStatement = false } = {}) {
      const perform = async (tx: Executor) => finish(tx, principal, await run(begin(tx, principal)))
      return isOneStatement && !principal.answerOf ? perform(db) : db.transaction(perform)
    },

    async makeIn(principal, workspace, lock, run) {
      const end = await turns.take(workspace.id)
      try {
        return await db.transaction(async (tx) => {
          const locked = await lock(tx, { principal, workspace, clock })
          if (locked === undefined || locked === null) throw errors.notFound()
          const { now, appendEvent } = begin(tx, principal)
          const context = {
            tx,
            now,
            appendEvent: (event: Omit<NewEvent, 'at' | 'workspaceId'>) =>
              appendEvent({ ...event, workspaceId: workspace.id }),
          }
          return finish(tx, principal, await run(context, locked))
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
 * Serializes changes of members, roles and invites of a workspace, and reads the caller's role again. Throws
 * `not_a_member` and `role_insufficient`.
 */
export async function lockMembers(tx: Executor, { principal, workspace }: LockInput): Promise<Role> {
  await lockMembersOfWorkspace(tx, workspace.id)
  return requireAllowedRole(tx, principal, workspace)
}

/** `lockMembers` for changes that give access: also checks that the caller's credential is still valid. */
export async function lockMembersWithCredential(tx: Executor, input: LockInput): Promise<Role> {
  const { principal, workspace, clock } = input
  await lockMembersOfWorkspace(tx, workspace.id)
  await requireLiveCredential(tx, principal, clock.now())
  return requireAllowedRole(tx, principal, workspace)
}

async function requireAllowedRole(
  tx: Executor,
  principal: Principal,
  { id, action }: WorkspaceOfChange,
): Promise<Role> {
  const role = await requireRoleNow(tx, id, principal.user.id)
  if (!isAllowed(role, action)) throw errors.roleInsufficient()
  return role
}
