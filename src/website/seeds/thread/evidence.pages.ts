import { errors } from '../../../kernel/errors.ts'
import { evidenceKinds, verdicts } from '../../../domain/seeds.ts'
import type { Services } from '../../../services/services.ts'
import { readListView } from '../../components/pager.ts'
import { notice } from '../../components/notice.ts'
import { readAttachmentIds, readField, readText, requireChoice } from '../../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { readQuoted } from './comments.pages.ts'
import { renderCorrection } from './evidence-form.views.ts'
import { pathOfPiece } from './evidence-item.views.ts'
import { readCriterionChoice } from '../seed-criteria.views.ts'
import { renderEvidencePage } from './evidence.views.ts'

/** The forms that add, correct and withdraw evidence, and that say that one saw it too. */
export function evidencePages(
  { page, action, creation }: WorkspacePages,
  {
    agentRequests,
    comments,
    evidenceEdits,
    evidence,
    seeds,
    seenEvidence,
  }: Pick<Services, 'agentRequests' | 'comments' | 'evidenceEdits' | 'evidence' | 'seeds' | 'seenEvidence'>,
): void {
  creation('/seeds/:id/evidence', '/seeds/:id', async (visit) => {
    const { sourceUrl, ...finding } = readEvidenceForm(visit)
    await evidence.add(visit.principal, visit.request.params.id, {
      ...finding,
      ...(sourceUrl !== '' && { sourceUrl }),
      join: true,
    })
    return { path: listPath(visit), notice: notice`Evidence added.` }
  })

  page('/seeds/:id/evidence/:evidenceId', async (visit) => {
    const { principal, request, workspace } = visit
    const { id: seedId, evidenceId } = request.params
    const [{ seed, correctableSince }, piece, quoted, discussion, requests] = await Promise.all([
      seeds.getDetails(principal, { slug: workspace.slug, seedId }),
      comments.getPiece(principal, { seedId, evidenceId }),
      readQuoted(visit, comments),
      readListView(request, (position) =>
        comments.listDiscussion(principal, { seedId, evidenceId }, position),
      ),
      agentRequests.listOfSeed(principal, seedId),
    ])
    return renderEvidencePage({ ...visit, requests }, { seed, correctableSince, piece, quoted, discussion })
  })

  page('/seeds/:id/evidence/:evidenceId/edit', async (visit) => {
    const { id, evidenceId } = visit.request.params
    const piece = await evidenceEdits.find(visit.principal, evidenceId)
    if (piece.seedId !== id) throw errors.notFound()
    const { criteria } = await seeds.get(visit.principal, id)
    return renderCorrection(visit, piece, criteria)
  })

  const editPath = '/seeds/:id/evidence/:evidenceId/edit'
  action(editPath, editPath, async (visit) => {
    const { principal, request } = visit
    await evidenceEdits.update(principal, request.params.evidenceId, readEvidenceForm(visit))
    return { path: listPath(visit), notice: notice`Evidence corrected.` }
  })

  action('/seeds/:id/evidence/:evidenceId/withdraw', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const reason = readField(request, 'reason').trim()
    await evidenceEdits.withdraw(principal, request.params.evidenceId, { ...(reason !== '' && { reason }) })
    return { path: listPath(visit), notice: notice`Evidence withdrawn.` }
  })

  action('/seeds/:id/evidence/:evidenceId/see', '/seeds/:id', async (visit) => {
    await seenEvidence.see(visit.principal, visit.request.params.evidenceId)
    return { path: seenPath(visit), notice: notice`You saw this too.` }
  })

  action('/seeds/:id/evidence/:evidenceId/unsee', '/seeds/:id', async (visit) => {
    await seenEvidence.unsee(visit.principal, visit.request.params.evidenceId)
    return { path: seenPath(visit), notice: notice`You did not see this.` }
  })
}

function readEvidenceForm({ request }: WorkspaceVisit) {
  const attachmentIds = readAttachmentIds(request)
  return {
    kind: requireChoice(request, 'kind', evidenceKinds),
    verdict: requireChoice(request, 'verdict', verdicts),
    summary: readText(request, 'summary'),
    sourceUrl: readField(request, 'sourceUrl').trim(),
    criterionIds: readCriterionChoice(request),
    ...(attachmentIds && { attachmentIds }),
  }
}

function listPath({ base, request }: WorkspaceVisit): string {
  return `${base}/seeds/${request.params.id}`
}

/** The page from which somebody said that they saw evidence too: its own one, or its seed's, where it stands. */
function seenPath({ base, request }: WorkspaceVisit): string {
  const { id: seedId, evidenceId } = request.params
  if (readField(request, 'isAlone') !== '') return pathOfPiece(base, { seedId, id: evidenceId })
  return `${base}/seeds/${seedId}#evidence-${evidenceId}`
}
