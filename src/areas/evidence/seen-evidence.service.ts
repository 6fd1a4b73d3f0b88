import type { Changes, Lock, WorkspaceChangeContext } from '../../access/change.ts'
import type { RequireSeedOf } from '../../access/workspace-access.ts'
import { together } from '../../db/together.ts'
import type { Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import {
  deleteSeen,
  insertSeen,
  keepMembership,
  lockSeenPiece,
  type SeenPiece,
} from './seen-evidence.repository.ts'

/**
 * Saying that one saw what evidence found, too. For people: no service account and no agent saw anything. Both methods are
 * idempotent, and throw `not_found` unless the evidence is in a workspace of the caller, `role_insufficient`,
 * `service_account_not_allowed`, and `evidence_settled` for evidence that was withdrawn.
 */
export interface SeenEvidenceService {
  /** Says it. Throws `own_evidence` for the author. */
  see(principal: Principal, evidenceId: string): Promise<void>
  /** Takes it back. */
  unsee(principal: Principal, evidenceId: string): Promise<void>
}

interface SeenEvidenceServiceOptions {
  changes: Changes
  requireSeedOf: RequireSeedOf
}

/** Makes the service of `evidence.see` and `evidence.unsee`. */
export function createSeenEvidenceService(options: SeenEvidenceServiceOptions): SeenEvidenceService {
  const { changes, requireSeedOf } = options

  async function change(
    principal: Principal,
    { evidenceId, action }: { evidenceId: string; action: 'evidence.see' | 'evidence.unsee' },
    run: (context: WorkspaceChangeContext, piece: SeenPiece & { workspaceId: string }) => Promise<void>,
  ): Promise<void> {
    const workspace = await requireSeedOf(principal, { kind: 'evidence', id: evidenceId }, action)
    const lock: Lock<SeenPiece> = async (tx) => {
      const [isMember, piece] = await together([
        keepMembership(tx, workspace.id, principal.user.id),
        lockSeenPiece(tx, { workspaceId: workspace.id, evidenceId }),
      ])
      return isMember ? piece : undefined
    }
    await changes.makeIn(principal, workspace, lock, async (context, piece) => {
      if (piece.withdrawnAt !== null)
        throw errors.evidenceSettled({ message: 'This evidence was withdrawn.' })
      await run(context, { ...piece, workspaceId: workspace.id })
    })
  }

  return {
    async see(principal, evidenceId) {
      const userId = principal.user.id
      await change(
        principal,
        { evidenceId, action: 'evidence.see' },
        async ({ tx, now, appendEvent }, piece) => {
          const { workspaceId, authorUserId, seedId, title, kind, verdict } = piece
          if (authorUserId === userId) throw errors.ownEvidence()
          if (!(await insertSeen(tx, { evidenceId, userId, workspaceId, at: now }))) return
          appendEvent({ type: 'evidence.seen', data: { evidenceId, seedId, title, kind, verdict } })
        },
      )
    },

    async unsee(principal, evidenceId) {
      await change(
        principal,
        { evidenceId, action: 'evidence.unsee' },
        async ({ tx, appendEvent }, piece) => {
          const { workspaceId, seedId, title, kind, verdict } = piece
          if (!(await deleteSeen(tx, { workspaceId, evidenceId }, principal.user.id))) return
          appendEvent({ type: 'evidence.unseen', data: { evidenceId, seedId, title, kind, verdict } })
        },
      )
    },
  }
}
