import { exampleIds } from '../../http/description/examples.ts'
import { changesOfAgents, toPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { toJson } from '../../kernel/json-text.ts'
import { closed, told } from '../../kernel/schemas.ts'
import { evidenceEditFields, withdrawalFields } from '../../areas/evidence/evidence-edits.schemas.ts'
import type { EvidenceEditsService } from '../../areas/evidence/evidence-edits.service.ts'
import { criterionIds, Evidence, evidenceFields } from '../../areas/evidence/evidence.schemas.ts'
import type { EvidenceService } from '../../areas/evidence/evidence.service.ts'
import type { SeedsService } from '../../areas/seeds/seeds.service.ts'
import { defineTool, type AgentTool } from './agent-tool.ts'
import type { SeedLinks } from '../kit/seed-links.ts'
import { AgentDone, AgentEvidence } from './agent-tools.schemas.ts'
import {
  evidenceId,
  seedId,
  unknownCriterion,
  unknownSeed,
  writingHints,
  quote,
} from './common-tool-parts.ts'

const unknownEvidence =
  'No evidence of this workspace has this evidenceId. Call read_validation_kit with seedId to list the evidence of a seed.'
const notOfPerson = 'An agent can correct and withdraw only evidence of its person. Say so, or add a comment.'

/** The fields of new evidence, with what models are told of them. */
export const newEvidenceFields = {
  ...evidenceFields,
  kind: told(evidenceFields.kind, 'How it was found.'),
  verdict: told(evidenceFields.verdict, 'On the hypothesis.'),
  summary: told(evidenceFields.summary, 'What was found.'),
  sourceUrl: told(evidenceFields.sourceUrl, 'http or https.'),
  criterionIds: told(criterionIds, 'Of criteria.'),
}

/** The tools with which an agent adds to the evidence of seeds, and corrects it, with the scope `seeds:write`. */
export function evidenceTools(
  {
    evidence,
    evidenceEdits,
    seeds,
  }: {
    evidence: EvidenceService
    evidenceEdits: EvidenceEditsService
    seeds: Pick<SeedsService, 'get'>
  },
  links: SeedLinks,
): AgentTool[] {
  return [
    defineTool({
      name: 'add_evidence',
      title: 'Add evidence to a seed',
      description: 'Adds a finding for or against a seed that your person has joined (join_seed).',
      did: changesOfAgents.add_evidence,
      scope: 'seeds:write',
      action: 'seeds.addEvidence',
      http: { id: 'agent.addEvidence', path: '/agent/v1/evidence::add', returns: 'The new evidence.' },
      input: closed(
        {
          seedId,
          ...newEvidenceFields,
        },
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
      hasCard: true,
      brief: (_input, { evidence: { id }, url }) => ({ id, changed: ['added'], url }),
      hints: { ...writingHints, idempotentHint: false },
      async call(agent, { seedId: id, ...input }) {
        const added = await evidence.add(toPrincipal(agent), id, input)
        return toJson({ evidence: added, url: links.urlOf(agent, id) })
      },
      errors: [
        errors.notFound,
        errors.criterionNotFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.notAParticipant,
        errors.sourceUrlInvalid,
        errors.textInvalid,
      ],
      advice: {
        not_found: unknownSeed,
        not_a_participant: 'Call join_seed with this seedId first.',
        criterion_not_found: unknownCriterion,
      },
    }),
    defineTool({
      name: 'update_evidence',
      title: 'Correct evidence',
      description:
        'Corrects evidence of your person, within 15 minutes; later, withdraw it. Absent fields stay; an empty sourceUrl is cleared.',
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
        {
          evidenceId,
          ...evidenceEditFields,
          kind: told(evidenceEditFields.kind, 'How it was found.'),
          verdict: told(evidenceEditFields.verdict, 'On the hypothesis.'),
          summary: told(evidenceEditFields.summary, 'What was found.'),
          sourceUrl: told(evidenceEditFields.sourceUrl, 'http or https.'),
          criterionIds: told(criterionIds, 'All of them.'),
        },
        { examples: [{ evidenceId: exampleIds.evidence, verdict: 'neutral' }] },
      ),
      emptied: ['sourceUrl'],
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { evidenceId: id, ...input }) {
        await evidenceEdits.update(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.criterionNotFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.notTheAuthor,
        errors.evidenceSettled,
        errors.sourceUrlInvalid,
        errors.textInvalid,
      ],
      advice: {
        not_found: unknownEvidence,
        criterion_not_found: unknownCriterion,
        not_the_author: notOfPerson,
        evidence_settled: 'Call withdraw_evidence, then add_evidence with the right finding.',
      },
    }),
    defineTool({
      name: 'withdraw_evidence',
      title: 'Withdraw evidence',
      description: 'Withdraws evidence of your person for good.',
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
        { evidenceId, reason: told(withdrawalFields.reason, 'Why.') },
        { examples: [{ evidenceId: exampleIds.evidence, reason: 'The survey asked the wrong customers.' }] },
      ),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async confirm(agent, { evidenceId: id }) {
        const principal = toPrincipal(agent)
        const { seedId: ofSeed, summary } = await evidence.get(principal, id)
        const { title } = await seeds.get(principal, ofSeed)
        return `Withdraw the evidence ${quote(summary)} of the seed ${quote(title)} for good? It no longer counts.`
      },
      async call(agent, { evidenceId: id, ...input }) {
        await evidenceEdits.withdraw(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.notTheAuthor,
        errors.textInvalid,
      ],
      advice: { not_found: unknownEvidence, not_the_author: notOfPerson },
    }),
  ]
}
