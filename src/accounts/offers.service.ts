import type { Changes } from '../access/change.ts'
import { recordDeparture } from '../areas/members/departures.repository.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { canonicalDomainOf } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'
import type { PictureStore } from '../pictures/picture-store.ts'
import { joinByDomain } from './join-by-domain.ts'
import { listOffers } from './offers.repository.ts'

/** The most workspaces that are offered to a person at once. */
export const offersMax = 20

/** A workspace that a person may join, since it allows the domain of their address. */
export interface Offer {
  id: string
  name: string
  iconUrl: string | null
  /** Whether the person has neither declined it nor left the workspace before. */
  isNew: boolean
}

export interface OffersService {
  /** The oldest of the workspaces that the caller may join. */
  list(principal: Principal): Promise<Offer[]>
  /** Whether there is one that the caller has not been asked about. */
  hasNew(principal: Principal): Promise<boolean>
  /** Makes the caller a member; returns the slug. Throws `not_found` for what is not offered, and `workspace_limit`. */
  join(principal: Principal, workspaceId: string): Promise<string>
  /** Remembers that the caller does not want to join. Throws `not_found` for what is not offered. */
  decline(principal: Principal, workspaceId: string): Promise<void>
}

export interface OffersServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  pictures: PictureStore
}

/** What the website offers to people of a domain that workspaces allow. */
export function createOffersService({ db, clock, changes, pictures }: OffersServiceOptions): OffersService {
  /** What the caller is offered; nothing while nobody knows whether the address is theirs. */
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
