import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { readPage, startOf, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { normalizeText } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { listInvitedPeople, listMemberPeople, type PersonRow } from './people.repository.ts'
import type { Person } from './people.schemas.ts'

export type { Person }

export interface PeopleService {
  /** Members in the order in which they joined; then, for callers who may list invites, the invited. `q` filters. */
  list(principal: Principal, slug: string, request: PageRequest & { q?: string }): Promise<Page<Person>>
}

export interface PeopleServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
}

// In the order in which they are listed.
const kinds = ['member', 'invited'] as const satisfies Person['kind'][]

interface KindedRow extends PersonRow {
  kind: Person['kind']
}

export function createPeopleService(options: PeopleServiceOptions): PeopleService {
  const { db, clock, requireWorkspace, pictures } = options

  function toPerson({ kind, id, name, email, imageKey, role, teams }: KindedRow): Person {
    const userId = kind === 'member' ? id : null
    return { id, kind, userId, name, email, image: pictures.urlOf(imageKey), role, teams }
  }

  return {
    async list(principal, slug, { q, ...page }) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'people.list')
      const text = q === undefined ? undefined : normalizeText(q) || undefined
      const query = { workspaceId, text }
      return readPage<KindedRow, Person, Person['kind']>(page, {
        listId: `people.list ${workspaceId} ${JSON.stringify(text?.toLowerCase())}`,
        order: 'oldestFirst',
        parts: kinds,
        async read(range, part) {
          const members = part === 'member' ? await listMemberPeople(db, { ...query, ...range }) : []
          const rows: KindedRow[] = members.map((row) => ({ ...row, kind: 'member' }))
          if (rows.length === range.limit || !isAllowed(role, 'invites.list')) return rows
          const start = part === 'invited' ? range : startOf.oldestFirst
          const rest = { ...query, ...start, limit: range.limit - rows.length, now: clock.now() }
          const invited = await listInvitedPeople(db, rest)
          return [...rows, ...invited.map((row) => ({ ...row, kind: 'invited' as const }))]
        },
        positionOf: ({ kind, at, id }) => ({ part: kind, at, id }),
        toItem: toPerson,
      })
    },
  }
}
