import type { Changes, Lock } from '../../access/change.ts'
import type { RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { Page } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import { evidenceSummaryLengthMax, isSourceUrl, type EvidenceKind, type Verdict } from '../../domain/seeds.ts'
import { requireLines } from '../../kernel/text.ts'
import { notifyFollowers } from '../notifications/notify.repository.ts'
import { insertEvidence } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'
import { lockParticipant } from '../seeds/participants.repository.ts'
import { readEvidence, toEvidence, type EvidenceRequest } from './read-evidence.ts'
import { lockSeed, touchSeed } from '../seeds/seeds.repository.ts'

export type { Evidence }

export interface EvidenceInput {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  /** An http or https URL. */
  sourceUrl?: string
}

/** The evidence of seeds. Its methods throw `not_found` unless the seed is in a workspace of the caller. */
export interface EvidenceService {
  /** Newest first. It can be read backward. */
  list(principal: Principal, seedId: string, request: EvidenceRequest): Promise<Page<Evidence>>
  /** Throws `not_a_participant`, `text_invalid` and `source_url_invalid`. */
  add(principal: Principal, seedId: string, input: EvidenceInput): Promise<Evidence>
}

export interface EvidenceServiceOptions {
  db: Database
  changes: Changes
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
}

const notCorrected = {
  editedAt: null,
  withdrawnAt: null,
  withdrawnByName: null,
  withdrawnReason: null,
}

export function createEvidenceService(options: EvidenceServiceOptions): EvidenceService {
  const { db, changes, requireWorkspaceOfSeed } = options
  return {
    async list(principal, seedId, request) {
      await requireWorkspaceOfSeed(principal, seedId, 'seeds.listEvidence')
      return readEvidence(db, seedId, request)
    },

    async add(principal, seedId, input) {
      if (input.sourceUrl !== undefined && !isSourceUrl(input.sourceUrl)) {
        throw errors.sourceUrlInvalid({ field: 'sourceUrl' })
      }
      const { user, agentName = null } = principal
      const workspace = await requireWorkspaceOfSeed(principal, seedId, 'seeds.addEvidence')
      const lock: Lock<{ title: string; isParticipant: boolean }> = async (tx) => {
        const [seed, isParticipant] = await together([
          lockSeed(tx, seedId, 'no key update'),
          lockParticipant(tx, seedId, user.id),
        ])
        return seed && { title: seed.title, isParticipant }
      }
      return changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, seed) => {
        const row = {
          id: createId(),
          seedId,
          kind: input.kind,
          verdict: input.verdict,
          summary: requireLines(input.summary, evidenceSummaryLengthMax, 'summary'),
          sourceUrl: input.sourceUrl ?? null,
          authorUserId: user.id,
          authorName: user.name,
          agentName,
          createdAt: now,
        }
        if (!seed.isParticipant) throw errors.notAParticipant()
        write((tx) => insertEvidence(tx, row))
        write((tx) => touchSeed(tx, seedId, now))
        write((tx) =>
          notifyFollowers(tx, {
            kind: 'evidence',
            data: { evidenceId: row.id, verdict: row.verdict },
            workspaceId: workspace.id,
            seedId,
            actor: principal,
            at: now,
          }),
        )
        appendEvent({
          type: 'evidence.added',
          data: { evidenceId: row.id, seedId, title: seed.title, kind: row.kind, verdict: row.verdict },
        })
        return toEvidence({ ...row, ...notCorrected })
      })
    },
  }
}
