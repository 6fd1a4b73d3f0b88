import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
  type Position,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Role } from '../../kernel/roles.ts'
import { normalizeText } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { listInvitedPeople, listMemberPeople, type PersonRow } from './people.repository.ts'

export interface Person {
  id: string
  kind: 'member' | 'invited'
  userId: string | null
  name: string
  email: string
  image: string | null
  role: Role
  teams: { id: string; name: string }[]
}

export interface PeopleService {
  /** Members in the order in which they joined, then, for those who may see invites, the invited. `q` searches. */
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
    async list(principal, slug, { limit = pageLimitDefault, cursor, q }) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'people.list')
      const text = q === undefined ? undefined : normalizeText(q) || undefined
      const listId = `people.list ${workspaceId} ${JSON.stringify(text?.toLowerCase())}`
      const [kind, ...after] = decodeCursor(listId, cursor, [kinds, 'time', 'id']) ?? ['start']
      const position = (of: string): Position | undefined => (kind === of ? after : undefined)

      const rows: KindedRow[] = []
      if (kind !== 'invited') {
        const members = await listMemberPeople(db, {
          workspaceId,
          text,
          after: position('member'),
          limit: limit + 1,
        })
        rows.push(...members.map((row) => ({ ...row, kind: 'member' as const })))
      }
      if (rows.length <= limit && isAllowed(role, 'invites.list')) {
        const rest = limit + 1 - rows.length
        const query = { workspaceId, text, after: position('invited'), limit: rest, now: clock.now() }
        const invited = await listInvitedPeople(db, query)
        rows.push(...invited.map((row) => ({ ...row, kind: 'invited' as const })))
      }
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.kind, row.at.toISOString(), row.id],
        toItem: toPerson,
      })
    },
  }
}
