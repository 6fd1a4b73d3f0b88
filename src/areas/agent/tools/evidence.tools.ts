import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../../http/description/examples.ts'
import { changesOfAgents, toPrincipal } from '../../../domain/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/json-text.ts'
import { closed } from '../../../kernel/schemas.ts'
import { Comment, commentBody, Mention } from '../../comments/comments.schemas.ts'
import type { CommentsService } from '../../comments/comments.service.ts'
import { correctionFields, withdrawalFields } from '../../evidence/corrections.schemas.ts'
import type { CorrectionsService } from '../../evidence/corrections.service.ts'
import { Evidence, evidenceFields } from '../../evidence/evidence.schemas.ts'
import type { EvidenceService } from '../../evidence/evidence.service.ts'
import { defineTool, type AgentTool } from '../agent-tool.ts'
import type { SeedLinks } from '../seed-links.ts'
import { AgentComment, AgentDone, AgentEvidence } from './agent-tools.schemas.ts'
import { seedId, unknownSeed, writingHints } from './changing-tools.ts'

const evidenceId = Type.String({ description: 'The id of evidence.' })
const unknownEvidence =
  'No evidence of this workspace has this evidenceId. Call read_validation_kit with seedId to list the evidence of a seed.'
const notOfPerson = 'An agent can correct and withdraw only evidence of its person. Say so, or add a comment.'

/** The tools with which an agent adds to the evidence and the comments of seeds, with the scope `seeds:write`. */
export function evidenceTools(
  {
    evidence,
    corrections,
    comments,
  }: { evidence: EvidenceService; corrections: CorrectionsService; comments: CommentsService },
  links: SeedLinks,
): AgentTool[] {
  return [
    defineTool({
      name: 'add_evidence',
      title: 'Add evidence to a seed',
      description:
        'Adds a finding for the hypothesis of a seed, against it, or neither. Your person must have joined the seed ' +
        '(join_seed).',
      did: changesOfAgents.add_evidence,
      scope: 'seeds:write',
      action: 'seeds.addEvidence',
      http: { id: 'agent.addEvidence', path: '/agent/v1/evidence::add', returns: 'The new evidence.' },
      input: closed(
        { seedId, ...evidenceFields },
        {
          examples: [
            {
              seedId: exampleIds.seed,
              kind: 'experiment',
              verdict: 'supports',
              summary: '34 of 60 teams finished the setup within a day.',
            },
          ],
        },
      ),
      output: AgentEvidence,
      parts: [Evidence],
      hints: { ...writingHints, idempotentHint: false },
      async call(agent, { seedId: id, ...input }) {
        const added = await evidence.add(toPrincipal(agent), id, input)
        return toJson({ evidence: added, url: links.urlOf(agent, id) })
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.notAParticipant,
        errors.sourceUrlInvalid,
        errors.textInvalid,
      ],
      advice: { not_found: unknownSeed, not_a_participant: 'Call join_seed with this seedId first.' },
    }),
    defineTool({
      name: 'update_evidence',
      title: 'Correct evidence',
      description:
        'Corrects evidence of your person, in the 15 minutes after it was added; later, withdraw it. Absent fields stay; an empty sourceUrl is cleared.',
      did: changesOfAgents.update_evidence,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'evidence.update',
      http: {
        id: 'agent.updateEvidence',
        path: '/agent/v1/evidence::update',
        returns: 'That it was corrected.',
      },
      input: closed(
        { evidenceId, ...correctionFields },
        { examples: [{ evidenceId: exampleIds.evidence, verdict: 'neutral' }] },
      ),
      emptied: ['sourceUrl'],
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { evidenceId: id, ...input }) {
        await corrections.update(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.notTheAuthor,
        errors.evidenceSettled,
        errors.sourceUrlInvalid,
        errors.textInvalid,
      ],
      advice: {
        not_found: unknownEvidence,
        not_the_author: notOfPerson,
        evidence_settled: 'Call withdraw_evidence, then add_evidence with the right finding.',
      },
    }),
    defineTool({
      name: 'withdraw_evidence',
      title: 'Withdraw evidence',
      description: 'Withdraws evidence of your person, which then no longer counts. It cannot be undone.',
      did: changesOfAgents.withdraw_evidence,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'evidence.withdraw',
      http: {
        id: 'agent.withdrawEvidence',
        path: '/agent/v1/evidence::withdraw',
        returns: 'That it was withdrawn.',
      },
      input: closed(
        { evidenceId, ...withdrawalFields },
        { examples: [{ evidenceId: exampleIds.evidence, reason: 'The survey asked the wrong customers.' }] },
      ),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { evidenceId: id, ...input }) {
        await corrections.withdraw(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.notTheAuthor, errors.textInvalid],
      advice: { not_found: unknownEvidence, not_the_author: notOfPerson },
    }),
    defineTool({
      name: 'add_comment',
      title: 'Comment on a seed',
      description:
        'Adds a question, an answer or a suggestion to a seed, or to one piece of its evidence. Findings are evidence: ' +
        'add_evidence. `[@Name](user:ID)` mentions a person. Markdown.',
      did: changesOfAgents.add_comment,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'comments.create',
      http: { id: 'agent.addComment', path: '/agent/v1/comments::add', returns: 'The new comment.' },
      input: closed(
        { seedId, body: commentBody, evidenceId: Type.Optional(evidenceId) },
        { examples: [{ seedId: exampleIds.seed, body: 'Who was asked in the survey?' }] },
      ),
      output: AgentComment,
      parts: [Comment, Mention],
      hints: { ...writingHints, idempotentHint: false },
      async call(agent, { seedId: id, ...input }) {
        const comment = await comments.create(toPrincipal(agent), id, input)
        return toJson({ comment, url: links.urlOf(agent, id) })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.textInvalid],
      advice: { not_found: 'No seed of this workspace has this seedId, or it has no such evidence.' },
    }),
  ]
}
