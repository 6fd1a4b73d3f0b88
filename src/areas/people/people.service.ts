import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import {
  joinRows,
  noRows,
  readPage,
  startOf,
  timeAt,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { normalizeLine } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  findMemberPerson,
  listInvitedPeople,
  listMemberPeople,
  type MemberPerson,
  type PeopleRows,
} from './people.repository.ts'
import type { Person } from './people.schemas.ts'

export type { MemberPerson, Person }

export interface PeopleService {
  /**
   * Members in the order in which they joined; then, for callers who may list invites, the invited. Only those who match
   * all filters; the invited are in no team.
   */
  list(principal: Principal, slug: string, request: PeopleRequest): Promise<Page<Person>>
  /** Throws `not_found` for a person who is not a member. */
  get(principal: Principal, slug: string, userId: string): Promise<MemberPerson>
}

/** A page of people, and which. */
export interface PeopleRequest extends PageRequest {
  /** `here`: members of any kind. */
  kind?: Person['kind'] | 'here'
  /** Only people whose name and email address have its words, whole or in part. */
  q?: string
  role?: Role
  teamId?: string
}

export interface PeopleServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
}

const nobody: PeopleRows = { ...noRows, times: '' }

// In the order in which they are listed.
const parts = ['member', 'invited'] as const

export function createPeopleService(options: PeopleServiceOptions): PeopleService {
  const { db, clock, requireWorkspace, pictures } = options

  return {
    async list(principal, slug, { q, kind: only, role, teamId, ...page }) {
      const workspace = await requireWorkspace(principal, slug, 'people.list')
      const { id: workspaceId } = workspace
      const text = q === undefined ? undefined : normalizeLine(q) || undefined
      const kind = only === 'member' ? 'person' : only === 'service' ? only : undefined
      const query = {
        workspaceId,
        filter: { text, role, teamId, kind },
        pictureUrlPrefix: pictures.urlPrefix,
      } as const
      const hasMembers = only !== 'invited' && (teamId === undefined || isId(teamId))
      const hasInvited =
        (only ?? 'invited') === 'invited' && teamId === undefined && isAllowed(workspace.role, 'invites.list')
      const filters = [only, role, teamId].map((value) => value ?? null)
      let times = ''
      return readPage<Person, (typeof parts)[number]>(page, {
        listId:
          `people.list ${workspaceId} ${JSON.stringify(text?.toLowerCase())}` +
          (filters.some((value) => value !== null) ? ` ${JSON.stringify(filters)}` : ''),
        order: 'oldestFirst',
        parts,
        async read(range, part) {
          const members =
            part === 'member' && hasMembers ? await listMemberPeople(db, { ...query, ...range }) : nobody
          const left = range.limit - members.count
          const start = part === 'invited' ? range : startOf.oldestFirst
          const invited =
            left > 0 && hasInvited
              ? await listInvitedPeople(db, { ...query, ...start, limit: left, now: clock.now() })
              : nobody
          times = [members.times, invited.times].filter(Boolean).join()
          return joinRows([members, invited])
        },
        positionOf: ({ kind: listed, id }, index) => ({
          part: listed === 'invited' ? listed : 'member',
          at: timeAt(times, index),
          id,
        }),
      })
    },

    async get(principal, slug, userId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'people.list')
      if (!isId(userId)) throw errors.notFound()
      const pictureUrlPrefix = pictures.urlPrefix
      const person = await findMemberPerson(db, { workspaceId, userId, pictureUrlPrefix })
      if (!person) throw errors.notFound()
      return person
    },
  }
}
