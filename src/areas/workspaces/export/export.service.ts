import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import type { Database } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { errors } from '../../../kernel/errors.ts'
import type { Principal } from '../../../domain/principal.ts'
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
  requireWorkspace: RequireWorkspace
}): ExportService {
  const { db, clock, requireWorkspace } = options

  async function take(workspaceId: string, userId: string, isHeld: boolean): Promise<boolean> {
    const now = clock.now()
    return leaseExport(db, { workspaceId, userId, now, until: new Date(now.getTime() + leaseMs), isHeld })
  }

  async function* readWhileOwned(workspaceId: string, userId: string): AsyncGenerator<string> {
    let prolongedAt = clock.now().getTime()
    try {
      for await (const chunk of readLines(db, workspaceId)) {
        const now = clock.now().getTime()
        if (now - prolongedAt >= prolongedEveryMs) {
          if (!(await take(workspaceId, userId, true))) throw errors.notAMember()
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
      const { id, slug: current } = await requireWorkspace(principal, slug, 'workspaces.export')
      if (!(await take(id, principal.user.id, false))) throw errors.exportInProgress()
      const name = `${current}-${dateOf(clock.now())}.ndjson`
      return { name, lines: readWhileOwned(id, principal.user.id) }
    },

    async exportForOperator(slug) {
      const workspaceId = isSlug(slug) ? await findWorkspaceId(db, slug) : undefined
      if (workspaceId === undefined) throw errors.notFound()
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
