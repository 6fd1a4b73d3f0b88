import type { Changes, Lock } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireSeedOf } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import {
  correctableMs,
  changedOfEvidence,
  evidenceSummaryLengthMax,
  isSourceUrl,
  reasonLengthMax,
  type EvidenceKind,
  type Verdict,
} from '../../domain/seeds.ts'
import { requireLine, requireLines } from '../../kernel/text.ts'
import { assertExpected } from '../../kernel/versions.ts'
import {
  listAttachmentsOf,
  parseAttachmentIds,
  setAttachments,
} from '../attachments/used-attachments.repository.ts'
import type { EvidenceRow, EvidenceWithFiles } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'
import { toEvidence, versionOfEvidence } from './read-evidence.ts'
import { requireCriterionIds } from '../seeds/seed-criteria.ts'
import { lockSeed, touchSeed, type LockedSeed } from '../seeds/seeds.repository.ts'
import {
  updateEvidence,
  findEvidence,
  lockEvidence,
  withdrawEvidence,
  type EvidenceFields,
} from './evidence-edits.repository.ts'

/** What the author changes in evidence. An empty `sourceUrl` is cleared. */
export interface EvidenceEdit {
  kind?: EvidenceKind
  verdict?: Verdict
  summary?: string
  sourceUrl?: string
  /** Success criteria of the seed: all that it speaks to. */
  criterionIds?: readonly string[]
  /** All files that it is to have. One that is left out is deleted. */
  attachmentIds?: readonly string[]
}

/**
 * Correcting and withdrawing evidence. Its methods throw `not_found` unless the evidence is in a workspace of the caller,
 * `role_insufficient`, and `not_the_author`.
 */
export interface EvidenceEditsService {
  /** Evidence that the caller can correct now. Throws `evidence_settled`. */
  find(principal: Principal, evidenceId: string): Promise<Evidence>
  /**
   * Changes the fields that are given. For the author, for 15 minutes. Throws `evidence_settled`, `text_invalid`,
   * `source_url_invalid`, `criterion_not_found`, `attachment_limit`, `attachment_not_found` and `precondition_failed`.
   */
  update(principal: ExpectingCall, evidenceId: string, input: EvidenceEdit): Promise<void>
  /**
   * For the author, owners and admins; for an agent only what its person is the author of. Idempotent: the first reason
   * stays. Throws `text_invalid`.
   */
  withdraw(principal: Principal, evidenceId: string, input: { reason?: string }): Promise<void>
}

export interface EvidenceEditsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireSeedOf: RequireSeedOf
}

export function createEvidenceEditsService(options: EvidenceEditsServiceOptions): EvidenceEditsService {
  const { db, clock, changes, requireSeedOf } = options

  /** Locks the seed, then the evidence, as all who change evidence do. */
  function lockPiece(
    evidenceId: string,
    seedId: string,
  ): Lock<Omit<EvidenceWithFiles, 'seenByMe'> & Pick<LockedSeed, 'title' | 'criteria'>> {
    return async (tx, { workspace }) => {
      const owner = { workspaceId: workspace.id, seedId, evidenceId }
      const [seed, piece, attachments] = await together([
        lockSeed(tx, owner, 'no key update'),
        lockEvidence(tx, owner),
        listAttachmentsOf(tx, owner),
      ])
      // Unless it has moved to another seed meanwhile, which is not locked.
      if (!seed || piece?.seedId !== seedId) return undefined
      return { ...piece, attachments, title: seed.title, criteria: seed.criteria }
    }
  }

  return {
    async find(principal, evidenceId) {
      const { id: workspaceId } = await requireSeedOf(
        principal,
        { kind: 'evidence', id: evidenceId },
        'evidence.update',
      )
      const piece = await findEvidence(db, { workspaceId, evidenceId }, principal.user.id)
      if (!piece) throw errors.notFound()
      assertCorrectable(principal, piece, clock.now())
      return toEvidence(piece)
    },

    async update(principal, evidenceId, input) {
      const given = parseCorrection(input)
      const workspace = await requireSeedOf(
        principal,
        { kind: 'evidence', id: evidenceId },
        'evidence.update',
      )
      const lock = lockPiece(evidenceId, workspace.seedId)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, piece) => {
        assertCorrectable(principal, piece, now)
        assertExpected(principal, versionOfEvidence(piece))
        const { kind, verdict, summary, sourceUrl, criterionIds, seedId, title, criteria } = piece
        const current = { kind, verdict, summary, sourceUrl, criterionIds }
        const idsBefore = piece.attachments.map(({ id }) => id)
        const { changes: edited } = compareEdit(
          { ...current, attachmentIds: idsBefore },
          {
            ...given,
            ...(input.criterionIds && { criterionIds: requireCriterionIds(criteria, input.criterionIds) }),
          },
        )
        const { attachmentIds: ids, ...changed } = edited
        const attachments = (ids ?? idsBefore).map((id) => ({ id }))
        principal.onVersion?.(versionOfEvidence({ ...current, ...changed, attachments }))
        const fields = changedOfEvidence.filter((name) => edited[name] !== undefined)
        if (fields.length === 0) return
        const owner = { workspaceId: workspace.id, seedId, evidenceId }
        if (ids)
          await setAttachments(tx, owner, { ids, before: piece.attachments, userId: principal.user.id })
        write((tx) => updateEvidence(tx, owner, { ...current, ...changed, at: now }))
        write((tx) => touchSeed(tx, owner, now))
        appendEvent({ type: 'evidence.updated', data: { evidenceId, seedId, title, fields } })
      })
    },

    async withdraw(principal, evidenceId, input) {
      const { reason: given = '' } = input
      const reason = given === '' ? null : requireLine(given, reasonLengthMax, 'reason')
      const { user } = principal
      const workspace = await requireSeedOf(
        principal,
        { kind: 'evidence', id: evidenceId },
        'evidence.withdraw',
      )
      const lock = lockPiece(evidenceId, workspace.seedId)
      await changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, piece) => {
        assertMayWithdraw(principal, workspace, piece)
        if (piece.withdrawnAt !== null) return
        const { seedId, title, kind, verdict, authorUserId, authorName } = piece
        const key = { workspaceId: workspace.id, seedId, evidenceId }
        write((tx) => withdrawEvidence(tx, key, { user, reason, at: now }))
        write((tx) => touchSeed(tx, key, now))
        appendEvent({
          type: 'evidence.withdrawn',
          data: {
            evidenceId,
            seedId,
            title,
            kind,
            verdict,
            reason,
            userId: authorUserId,
            name: authorName,
            isSelf: authorUserId === user.id,
          },
        })
      })
    },
  }
}

function assertCorrectable({ user }: Principal, piece: EvidenceRow, now: Date): void {
  if (piece.authorUserId !== user.id) throw errors.notTheAuthor()
  const isOld = now.getTime() - piece.createdAt.getTime() > correctableMs
  if (isOld || piece.withdrawnAt !== null) throw errors.evidenceSettled()
}

function assertMayWithdraw(
  { user, grantId }: Principal,
  { role }: AccessibleWorkspace,
  piece: EvidenceRow,
): void {
  const mayWithdrawOthers = grantId === null && isAllowed(role, 'evidence.withdrawOthers')
  if (piece.authorUserId !== user.id && !mayWithdrawOthers) throw errors.notTheAuthor()
}

/** Normalizes the given fields. Throws `text_invalid` and `source_url_invalid`. */
function parseCorrection(edit: EvidenceEdit): Partial<EvidenceFields & { attachmentIds: string[] }> {
  const { kind, verdict, summary, sourceUrl, attachmentIds } = edit
  if (sourceUrl !== undefined && sourceUrl !== '' && !isSourceUrl(sourceUrl)) {
    throw errors.sourceUrlInvalid({ field: 'sourceUrl' })
  }
  return {
    ...(kind !== undefined && { kind }),
    ...(verdict !== undefined && { verdict }),
    ...(summary !== undefined && { summary: requireLines(summary, evidenceSummaryLengthMax, 'summary') }),
    ...(sourceUrl !== undefined && { sourceUrl: sourceUrl === '' ? null : sourceUrl }),
    ...(attachmentIds !== undefined && { attachmentIds: parseAttachmentIds(attachmentIds) }),
  }
}
