import type { Changes, Lock } from '../../access/change.ts'
import type { RequireSeedOf, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { Page } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import {
  evidenceSummaryLengthMax,
  isClosed,
  isSourceUrl,
  type EvidenceKind,
  type Verdict,
} from '../../domain/seeds.ts'
import { requireLines } from '../../kernel/text.ts'
import { deleteAsked } from '../notifications/asked.repository.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { attach, parseAttachmentIds } from '../attachments/used-attachments.repository.ts'
import { findEvidence } from './evidence-edits.repository.ts'
import { insertEvidence } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'
import { requireCriterionIds } from '../seeds/seed-criteria.ts'
import { insertFollowers } from '../seeds/followers.repository.ts'
import { insertParticipantIfNew, lockParticipant } from '../seeds/participants.repository.ts'
import { readEvidence, toEvidence, versionOfEvidence, type EvidenceRequest } from './read-evidence.ts'
import { lockSeed, touchSeed, type LockedSeed } from '../seeds/seeds.repository.ts'

export { versionOfEvidence }
export type { Evidence }

export interface EvidenceInput {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  /** An http or https URL. */
  sourceUrl?: string
  /** Success criteria of the seed. */
  criterionIds?: readonly string[]
  /** Files that the author has uploaded, and nothing uses. */
  attachmentIds?: readonly string[]
  /** Whether the author joins the seed with it, unless they have already. */
  join?: boolean
}

/** The evidence of seeds. Its methods throw `not_found` unless the seed is in a workspace of the caller. */
export interface EvidenceService {
  /** By default newest first. */
  list(principal: Principal, seedId: string, request: EvidenceRequest): Promise<Page<Evidence>>
  /** Also withdrawn evidence. Throws `not_found` for evidence of another workspace. */
  get(principal: Principal, evidenceId: string): Promise<Evidence>
  /**
   * Throws `text_invalid`, `source_url_invalid`, `criterion_not_found`, `attachment_limit` and `attachment_not_found`; for people who have not joined the seed `not_a_participant`, or, with
   * `join`, `seed_closed` if it cannot be joined.
   */
  add(principal: Principal, seedId: string, input: EvidenceInput): Promise<Evidence>
}

export interface EvidenceServiceOptions {
  db: Database
  changes: Changes
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  requireSeedOf: RequireSeedOf
}

const notChanged = {
  seenByCount: 0,
  seenByMe: false,
  editedAt: null,
  withdrawnAt: null,
  withdrawnByName: null,
  withdrawnReason: null,
}

export function createEvidenceService(options: EvidenceServiceOptions): EvidenceService {
  const { db, changes, requireWorkspaceOfSeed, requireSeedOf } = options
  return {
    async list(principal, id, request) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(principal, id, 'seeds.listEvidence')
      return readEvidence(db, { workspaceId, seedId, userId: principal.user.id }, request)
    },

    async get(principal, evidenceId) {
      const { id: workspaceId } = await requireSeedOf(
        principal,
        { kind: 'evidence', id: evidenceId },
        'evidence.get',
      )
      const piece = await findEvidence(db, { workspaceId, evidenceId }, principal.user.id)
      if (!piece) throw errors.notFound()
      return toEvidence(piece)
    },

    async add(principal, seedId, input) {
      if (input.sourceUrl !== undefined && !isSourceUrl(input.sourceUrl)) {
        throw errors.sourceUrlInvalid({ field: 'sourceUrl' })
      }
      const attachmentIds = parseAttachmentIds(input.attachmentIds ?? [])
      const { user, agentName = null } = principal
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.addEvidence')
      const key = { workspaceId: workspace.id, seedId }
      const lock: Lock<LockedSeed & { isParticipant: boolean }> = async (tx) => {
        const [seed, isParticipant] = await together([
          lockSeed(tx, key, 'no key update'),
          lockParticipant(tx, key, user.id),
        ])
        return seed && { ...seed, isParticipant }
      }
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, seed) => {
        const row = {
          ...key,
          id: createId(),
          kind: input.kind,
          verdict: input.verdict,
          summary: requireLines(input.summary, evidenceSummaryLengthMax, 'summary'),
          sourceUrl: input.sourceUrl ?? null,
          criterionIds: requireCriterionIds(seed.criteria, input.criterionIds ?? []),
          authorUserId: user.id,
          authorName: user.name,
          agentName,
          createdAt: now,
        }
        const joins = !seed.isParticipant
        if (joins) {
          if (!input.join) throw errors.notAParticipant()
          if (isClosed(seed.status)) throw errors.seedClosed()
          const participant = { ...key, userId: user.id, joinedAt: now }
          await insertParticipantIfNew(tx, participant)
          write((executor) => insertFollowers(executor, participant, [user.id]))
          write((executor) => deleteAsked(executor, key, user.id))
        }
        write((executor) => insertEvidence(executor, row))
        const owner = { ...key, evidenceId: row.id }
        const attachments = await attach(tx, owner, { ids: attachmentIds, userId: user.id })
        write((executor) => touchSeed(executor, key, now))
        write((executor) =>
          notifyFollowers(executor, {
            kind: 'evidence',
            data: { evidenceId: row.id, verdict: row.verdict },
            ...key,
            actor: principal,
            at: now,
          }),
        )
        if (joins) appendEvent({ type: 'seed.joined', data: { seedId, title: seed.title } })
        appendEvent({
          type: 'evidence.added',
          data: {
            ...{ evidenceId: row.id, seedId, title: seed.title, kind: row.kind, verdict: row.verdict },
            ...(attachmentIds.length > 0 && { attachmentIds }),
          },
        })
        return toEvidence({ ...row, attachments, ...notChanged })
      })
    },
  }
}
