import { appendEvent, type NewEvent } from '../areas/events/events.repository.ts'
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

/** The workspace of a change, and what is done in it. */
export type WorkspaceOfChange = Pick<AccessibleWorkspace, 'id' | 'action'>

/** What a change is given. */
export interface ChangeContext<Event> {
  tx: Executor
  /** When the change is made. */
  now: Date
  /** Appends the event of the change. Not called when nothing has changed. */
  tell: (event: Event) => Promise<void>
}

/** What a change in a workspace is given. */
export type WorkspaceChangeContext = ChangeContext<Omit<NewEvent, 'at' | 'workspaceId'>>

/** Who changes something, and where. */
export interface LockInput {
  principal: Principal
  workspace: WorkspaceOfChange
  clock: Clock
}

/** Reads what a change is about and keeps it as it is until the transaction ends; undefined when it does not exist. */
export type Lock<Locked> = (tx: Executor, input: LockInput) => Promise<Locked | undefined>

/**
 * Makes the changes that people ask for: each in one transaction with its event and, where the request has an
 * `Idempotency-Key`, with the answer (decisions 0073 and 0074). A service returns what it is given here, unchanged: that
 * is what the answer is made of. Throws `idempotency_in_flight` when the same request has been answered meanwhile.
 */
export interface Changes {
  /**
   * Makes a change of what is the caller's own, or of something that has nothing to be locked. One that is a single
   * statement without an event needs no transaction when no answer is kept.
   */
  make<Result>(
    principal: Principal,
    run: (context: ChangeContext<Omit<NewEvent, 'at'>>) => Promise<Result>,
    options?: { isOneStatement?: boolean },
  ): Promise<Result>
  /**
   * Makes a change in a workspace once its lock is held. Throws `not_found` when `lock` finds nothing, and `overloaded`
   * when too many changes of the workspace wait.
   */
  makeIn<Locked, Result>(
    principal: Principal,
    workspace: WorkspaceOfChange,
    lock: Lock<Locked>,
    run: (context: WorkspaceChangeContext, locked: NonNullable<Locked>) => Promise<Result>,
  ): Promise<Result>
}

export function createChanges({ db, clock }: { db: Database; clock: Clock }): Changes {
  // Those of one workspace wait for the same locks: without turns they would wait on all connections of the area.
  const turns = createTurns({ atOnceMax: 2, waitMsMax: 2_500 })

  function begin(tx: Executor, principal: Principal): ChangeContext<Omit<NewEvent, 'at'>> {
    const now = clock.now()
    return { tx, now, tell: (event) => appendEvent(tx, principal, { ...event, at: now }) }
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
          const { now, tell } = begin(tx, principal)
          const context = {
            tx,
            now,
            tell: (event: Omit<NewEvent, 'at' | 'workspaceId'>) =>
              tell({ ...event, workspaceId: workspace.id }),
          }
          return finish(tx, principal, await run(context, locked))
        })
      } finally {
        end()
      }
    },
  }
}

/** For a change that needs nothing to be locked, such as one that only adds something. */
export async function noLock(): Promise<true> {
  return true
}

/**
 * Takes turns with whatever else changes who is in the workspace, as what, or who is invited, and reads again what the
 * caller is in it. Throws `not_a_member` and `role_insufficient`.
 */
export async function turnOfMembers(tx: Executor, { principal, workspace }: LockInput): Promise<Role> {
  await lockMembersOfWorkspace(tx, workspace.id)
  return requireAllowedRole(tx, principal, workspace)
}

/** `turnOfMembers` for what lets somebody in: the caller's credential has to hold still. */
export async function turnOfMembersWithCredential(tx: Executor, input: LockInput): Promise<Role> {
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
