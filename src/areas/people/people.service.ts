import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { joinRows, noRows, readPage, startOf, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { normalizeText } from '../../kernel/text.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  countMemberPeople,
  findMemberPerson,
  listInvitedPeople,
  listMemberPeople,
  type MemberPerson,
  type PeopleRows,
} from './people.repository.ts'
import type { Person } from './people.schemas.ts'

export type { MemberPerson, Person }

export interface PeopleService {
  /** Members in the order in which they joined; then, for callers who may list invites, the invited. `q` filters. */
  list(principal: Principal, slug: string, request: PageRequest & { q?: string }): Promise<Page<Person>>
  /** The number of members whose name or email address contains a text, ignoring case. */
  countMembers(principal: Principal, slug: string, q: string): Promise<number>
  /** Throws `not_found` for a person who is not a member. */
  get(principal: Principal, slug: string, userId: string): Promise<MemberPerson>
}

export interface PeopleServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
}

const nobody: PeopleRows = { ...noRows, times: '' }

// In the order in which they are listed.
const kinds = ['member', 'invited'] as const satisfies Person['kind'][]

export function createPeopleService(options: PeopleServiceOptions): PeopleService {
  const { db, clock, requireWorkspace, pictures } = options

  return {
    async list(principal, slug, { q, ...page }) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'people.list')
      const text = q === undefined ? undefined : normalizeText(q) || undefined
      const query = { workspaceId, text, pictureUrlPrefix: pictures.urlPrefix }
      let times = ''
      return readPage<Person, Person['kind']>(page, {
        listId: `people.list ${workspaceId} ${JSON.stringify(text?.toLowerCase())}`,
        order: 'oldestFirst',
        parts: kinds,
        async read(range, part) {
          const members = part === 'member' ? await listMemberPeople(db, { ...query, ...range }) : nobody
          const left = range.limit - members.count
          const start = part === 'invited' ? range : startOf.oldestFirst
          const invited =
            left > 0 && isAllowed(role, 'invites.list')
              ? await listInvitedPeople(db, { ...query, ...start, limit: left, now: clock.now() })
              : nobody
          times = [members.times, invited.times].filter(Boolean).join()
          return joinRows([members, invited])
        },
        positionOf: ({ kind, id }, place) => ({
          part: kind,
          at: new Date(Number(times.split(',')[place])).toISOString(),
          id,
        }),
      })
    },

    async countMembers(principal, slug, q) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'people.list')
      return countMemberPeople(db, { workspaceId, text: normalizeText(q) })
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
