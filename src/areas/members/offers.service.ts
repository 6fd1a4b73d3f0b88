import type { Changes } from '../../access/change.ts'
import { recordDeparture } from './departures.repository.ts'
import type { Database } from '../../db/client.ts'
import { canonicalDomainOf } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Json } from '../../kernel/json-text.ts'
import { readPage, timeAt, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { joinByDomain } from './join-by-domain.ts'
import type { Offer } from './members.schemas.ts'
import { findOffer, hasNewOffer, listOffers } from './offers.repository.ts'

export type { Offer }

/** The workspaces that people may join because these allow the domain of their verified email address. */
export interface OffersService {
  /** The workspaces that the caller may join, oldest first; with `isNew`, those that they neither declined nor left. */
  list(principal: Principal, request: PageRequest & { isNew?: boolean }): Promise<Page<Offer>>
  /** Whether the caller has an offer that they neither declined nor left. */
  hasNew(principal: Principal): Promise<boolean>
  /** Joins a workspace. Returns its slug. Throws `not_found` if it is not offered, and `workspace_limit`. */
  join(principal: Principal, workspaceId: string): Promise<string>
  /** Declines an offer, which is then no longer new. Throws `not_found` if the workspace is not offered. */
  decline(principal: Principal, workspaceId: string): Promise<void>
}

export interface OffersServiceOptions {
  db: Database
  changes: Changes
  pictures: PictureStore
}

export function createOffersService({ db, changes, pictures }: OffersServiceOptions): OffersService {
  return {
    async list(principal, { isNew = false, ...page }) {
      const domain = domainOf(principal)
      if (domain === undefined) return { items: '[]' as Json<Offer[]>, nextCursor: null }
      const { id: userId } = principal.user
      const query = { userId, domain, isNew, pictureUrlPrefix: pictures.urlPrefix }
      let times = ''
      return readPage<Offer>(page, {
        listId: `me.listOffers ${userId}${isNew ? ' new' : ''}`,
        order: 'oldestFirst',
        async read(range) {
          const rows = await listOffers(db, { ...query, ...range })
          times = rows.times
          return rows
        },
        positionOf: ({ workspaceId }, index) => ({ at: timeAt(times, index), id: workspaceId }),
      })
    },

    async hasNew(principal) {
      const domain = domainOf(principal)
      return domain !== undefined && hasNewOffer(db, { userId: principal.user.id, domain })
    },

    async join(principal, workspaceId) {
      if (!isId(workspaceId)) throw errors.notFound()
      return changes.make(principal, ({ tx, now }) => joinByDomain(tx, principal, { workspaceId, now }))
    },

    async decline(principal, workspaceId) {
      const { id: userId } = principal.user
      const domain = domainOf(principal)
      const offer =
        domain !== undefined &&
        isId(workspaceId) &&
        (await findOffer(db, { userId, domain, workspaceId, isNew: false }))
      if (!offer) throw errors.notFound()
      await changes.makeAtOnce(principal, (executor, now) =>
        recordDeparture(executor, { workspaceId, userId, createdAt: now, kind: 'declined' }),
      )
    },
  }
}

/** The domain of the caller's email address; undefined until it is verified. */
function domainOf({ user }: Principal): string | undefined {
  return user.emailVerifiedAt === null ? undefined : canonicalDomainOf(user.email)
}
