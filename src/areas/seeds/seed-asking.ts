import type { Changes, LockInput } from '../../access/change.ts'
import { findMember } from '../../access/memberships.repository.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Principal } from '../../domain/principal.ts'
import { asksOfAgentMax, isClosed, type AskedAs } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { deleteAsked, findAsked } from '../notifications/asked.repository.ts'
import { notifyMembers } from '../notifications/notify.repository.ts'
import { countAsksOfGrant, lockAsksOfGrant } from './asks.repository.ts'
import { findParticipant } from './leads.repository.ts'
import { lockSeed } from './seeds.repository.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Asking somebody to join a seed. */
export interface SeedAsking {
  /**
   * Asks a member to join a seed, or to lead it too, by a notification, which is the request: `join` accepts it. Changes
   * nothing if they were asked for the same before, or are that already. Throws `not_found` for a stranger, `person_not_askable`, `seed_closed`, and
   * `too_many_asked` for an agent.
   */
  invitePerson(principal: Principal, seedId: string, input: { userId: string; as: AskedAs }): Promise<void>
}

interface SeedAskingOptions {
  changes: Changes
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
}

export function createSeedAsking({ changes, requireWorkspaceOfSeed }: SeedAskingOptions): SeedAsking {
  /** Locks a seed, so that nobody else asks for it or closes it meanwhile, and reads what there is to know of the person. */
  const lockFor =
    (seedId: string, userId: string) =>
    async (tx: Executor, { principal, workspace, clock }: LockInput) => {
      const { grantId } = principal
      const key = { workspaceId: workspace.id, seedId }
      const since = new Date(clock.now().getTime() - dayMs)
      const [, seed, member, participant, asked, ofAgent] = await together([
        grantId === null ? undefined : lockAsksOfGrant(tx, grantId),
        lockSeed(tx, key, 'no key update'),
        findMember(tx, workspace.id, userId),
        findParticipant(tx, key, userId),
        findAsked(tx, seedId, userId),
        grantId === null ? undefined : countAsksOfGrant(tx, { workspaceId: workspace.id, grantId, since }),
      ])
      return seed && { ...seed, member, participant, asked, ofAgent }
    }

  return {
    async invitePerson(principal, seedId, { userId, as }) {
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.invitePerson')
      if (!isId(userId)) throw errors.notFound()
      const lock = lockFor(seedId, userId)
      await changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, seed) => {
        const { title, status, leadUserId, member, participant, asked, ofAgent } = seed
        if (!member) throw errors.notFound()
        const isAskable =
          member.kind === 'person' && !member.isSuspended && isAllowed(member.role, 'seeds.join')
        if (!isAskable || userId === principal.user.id) throw errors.personNotAskable({ field: 'userId' })
        if (isClosed(status)) throw errors.seedClosed()
        const isAlready = as === 'lead' ? leadUserId === userId : participant !== undefined
        if (isAlready || asked?.as === as) return
        if (ofAgent && ofAgent.asks >= asksOfAgentMax) {
          const waitMs = (ofAgent.first?.getTime() ?? 0) + dayMs - now.getTime()
          throw errors.tooManyAsked({ retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
        }
        const key = { workspaceId: workspace.id, seedId }
        if (asked) write((tx) => deleteAsked(tx, key, userId))
        const notice = { kind: 'asked_to_join', data: { as } } as const
        const about = { ...key, actor: principal, at: now }
        write((tx) => notifyMembers(tx, { ...notice, ...about }, [userId]))
        appendEvent({ type: 'seed.person_asked', data: { seedId, title, userId, name: member.name, as } })
      })
    },
  }
}
