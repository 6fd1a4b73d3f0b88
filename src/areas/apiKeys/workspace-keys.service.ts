import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { actingKeyMs } from '../../domain/key-restrictions.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Clock } from '../../kernel/clock.ts'
import { readPage, timeAt, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { listActingKeys } from './workspace-keys.repository.ts'
import type { WorkspaceApiKey } from './workspace-keys.schemas.ts'

export type { WorkspaceApiKey }

export interface WorkspaceKeysService {
  /** The keys that act in a workspace, the newest first: who manages it sees which programs depend on whom. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<WorkspaceApiKey>>
}

export function createWorkspaceKeysService(options: {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
}): WorkspaceKeysService {
  const { db, clock, requireWorkspace } = options
  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'apiKeys.listOfWorkspace')
      const now = clock.now()
      const changedSince = new Date(now.getTime() - actingKeyMs)
      let times = ''
      return readPage<WorkspaceApiKey>(page, {
        listId: `apiKeys.listOfWorkspace ${workspaceId}`,
        order: 'newestFirst',
        async read(range) {
          const rows = await listActingKeys(db, { workspaceId, now, changedSince, ...range })
          times = rows.times
          return rows
        },
        positionOf: ({ id }, index) => ({ at: timeAt(times, index), id }),
      })
    },
  }
}
