import type { Changes } from '../../access/change.ts'
import { recordDeparture } from './departures.repository.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { canonicalDomainOf } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { joinByDomain } from './join-by-domain.ts'
import { listOffers } from './offers.repository.ts'

/** The maximum number of offers in a list. */
export const offersMax = 20

/** A workspace that a person may join because it allows the domain of their verified email address. */
export interface Offer {
  id: string
  name: string
  iconUrl: string | null
  /** Whether the person has neither declined it nor left the workspace before. */
  isNew: boolean
}

export interface OffersService {
  /** Lists the workspaces that the caller may join, oldest first, at most `offersMax`. */
  list(principal: Principal): Promise<Offer[]>
  /** Whether the caller has an offer that they neither declined nor left. */
  hasNew(principal: Principal): Promise<boolean>
  /** Joins a workspace. Returns its slug. Throws `not_found` if it is not offered, and `workspace_limit`. */
  join(principal: Principal, workspaceId: string): Promise<string>
  /** Declines an offer, which is then no longer new. Throws `not_found` if the workspace is not offered. */
  decline(principal: Principal, workspaceId: string): Promise<void>
}

export interface OffersServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  pictures: PictureStore
}

/** The workspaces that people may join by the domain of their email address. */
export function createOffersService({ db, clock, changes, pictures }: OffersServiceOptions): OffersService {
  /** Returns nothing while the email address is not verified. */
  async function findOffers(
    { user }: Principal,
    filter: { workspaceId?: string; isNew?: boolean; limit: number },
  ) {
    const domain = user.emailVerifiedAt === null ? undefined : canonicalDomainOf(user.email)
    return domain === undefined ? [] : listOffers(db, { userId: user.id, domain, ...filter })
  }

  return {
    async list(principal) {
      const rows = await findOffers(principal, { limit: offersMax })
      return rows.map(({ id, name, iconKey, departure }) => ({
        id,
        name,
        iconUrl: pictures.urlOf(iconKey),
        isNew: departure === null,
      }))
    },

    hasNew: async (principal) => (await findOffers(principal, { isNew: true, limit: 1 })).length > 0,

    async join(principal, workspaceId) {
      if (!isId(workspaceId)) throw errors.notFound()
      return changes.make(principal, ({ tx, now }) => joinByDomain(tx, principal, { workspaceId, now }))
    },

    async decline(principal, workspaceId) {
      const [offer] = isId(workspaceId) ? await findOffers(principal, { workspaceId, limit: 1 }) : []
      if (!offer) throw errors.notFound()
      const row = { workspaceId, userId: principal.user.id, createdAt: clock.now() }
      await recordDeparture(db, { ...row, kind: 'declined' })
    },
  }
}
