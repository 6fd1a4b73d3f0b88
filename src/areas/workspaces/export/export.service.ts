import type { Changes, Lock } from '../../../access/change.ts'
import { insertServiceEvent } from '../../../access/event-log.repository.ts'
import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import type { Database, Executor } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { errors } from '../../../kernel/errors.ts'
import { operatorName, type Principal } from '../../../domain/principal.ts'
import { isSlug } from '../../../domain/slugs.ts'
import { dateOf } from '../../../kernel/times.ts'
import { endExport, findWorkspaceId, leaseExport, readWorkspace } from './export.repository.ts'

/** Everything in a workspace, for its owners. */
export interface ExportService {
  /**
   * Returns NDJSON in chunks: a line `{"kind": …, "data": {…}}` for each thing, and at last one of the kind `end` with the
   * number of the others, without which the export is incomplete. It is read while it is sent, and breaks off when the
   * caller no longer owns the workspace. `name` is that of its file. Throws `export_in_progress` while another one of the
   * workspace runs.
   * Appends `workspace.exported` when it begins.
   */
  exportWorkspace(
    principal: Principal,
    slug: string,
  ): Promise<{ name: string; lines: AsyncGenerator<string> }>
  /** The same for an operator, by the current slug, also of a deleted workspace. Throws `not_found`. */
  exportForOperator(slug: string): Promise<AsyncGenerator<string>>
}

/** How long an export that stopped without giving its lease back keeps others waiting. */
const leaseMs = 60_000
const prolongedEveryMs = 10_000

export function createExportService(options: {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
}): ExportService {
  const { db, clock, changes, requireWorkspace } = options

  async function take(
    executor: Executor,
    { workspaceId, userId, isHeld }: { workspaceId: string; userId: string; isHeld: boolean },
  ): Promise<boolean> {
    const now = clock.now()
    return leaseExport(executor, {
      workspaceId,
      userId,
      now,
      until: new Date(now.getTime() + leaseMs),
      isHeld,
    })
  }

  async function* readWhileOwned(workspaceId: string, userId: string): AsyncGenerator<string> {
    let prolongedAt = clock.now().getTime()
    try {
      for await (const chunk of readLines(db, workspaceId)) {
        const now = clock.now().getTime()
        if (now - prolongedAt >= prolongedEveryMs) {
          if (!(await take(db, { workspaceId, userId, isHeld: true }))) throw errors.notAMember()
          prolongedAt = now
        }
        yield chunk
      }
    } finally {
      await endExport(db, workspaceId)
    }
  }

  return {
    async exportWorkspace(principal, slug) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.export')
      const { id, slug: current } = workspace
      const lease = { workspaceId: id, userId: principal.user.id, isHeld: false }
      const lock: Lock<true> = async (tx) => {
        if (!(await take(tx, lease))) throw errors.exportInProgress()
        return true
      }
      await changes.makeIn(principal, workspace, lock, async ({ appendEvent }) => {
        appendEvent({ type: 'workspace.exported', data: { workspaceId: id } })
      })
      const name = `${current}-${dateOf(clock.now())}.ndjson`
      return { name, lines: readWhileOwned(id, principal.user.id) }
    },

    async exportForOperator(slug) {
      const workspaceId = isSlug(slug) ? await findWorkspaceId(db, slug) : undefined
      if (workspaceId === undefined) throw errors.notFound()
      const event = {
        type: 'workspace.exported',
        data: { workspaceId },
        workspaceId,
        at: clock.now(),
      } as const
      // eslint-disable-next-line no-restricted-syntax -- a command of operators has no principal
      await db.transaction((tx) => insertServiceEvent(tx, event, operatorName))
      return readLines(db, workspaceId)
    },
  }
}

async function* readLines(db: Database, workspaceId: string): AsyncGenerator<string> {
  let count = 0
  for await (const { kind, items } of readWorkspace(db, workspaceId)) {
    count += items.length
    yield items.map((item) => `{"kind":"${kind}","data":${item}}\n`).join('')
  }
  yield `{"kind":"end","data":{"count":${count}}}\n`
}
