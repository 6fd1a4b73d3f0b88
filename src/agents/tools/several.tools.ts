import { Type, type TObject } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { changesAtOnceMax, changesOfAgents, toPrincipal } from '../../domain/agent.ts'
import { reasonLengthMax, seedStatuses } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { toJson } from '../../kernel/json-text.ts'
import { closed, optionalLine, stringEnum, told } from '../../kernel/schemas.ts'
import type { EvidenceService } from '../../areas/evidence/evidence.service.ts'
import type { SeedsService } from '../../areas/seeds/seeds.service.ts'
import { defineTool, type AgentTool } from './agent-tool.ts'
import { AgentResults } from './agent-tools.schemas.ts'
import { seedId, unknownCriterion, unknownSeed, writingHints } from './common-tool-parts.ts'
import { newEvidenceFields } from './evidence.tools.ts'
import { codeOfError, explainError, explainFault, isRefusal } from './tool-errors.ts'

/** What add_evidence says of these is not repeated. */
const longFields = {
  summary: told(newEvidenceFields.summary, ''),
  sourceUrl: told(newEvidenceFields.sourceUrl, ''),
  criterionIds: told(newEvidenceFields.criterionIds, ''),
}

/**
 * The tools with which an agent makes several changes in one call, each as the tool for one of them makes it, with the
 * scope `seeds:write`. `onError` is called with what failed unexpectedly.
 */
export function severalTools(
  { seeds, evidence }: { seeds: SeedsService; evidence: EvidenceService },
  onError: (error: unknown) => void,
): AgentTool[] {
  /**
   * Makes the changes one after the other. One that fails neither undoes nor ends the others: who repeated the call would
   * make those twice.
   */
  async function makeEach<Entry>(
    entries: readonly Entry[],
    advice: AgentTool['advice'],
    make: (entry: Entry) => Promise<string>,
  ) {
    const results = []
    for (const entry of entries) {
      try {
        results.push({ ok: true, id: await make(entry), error: null })
      } catch (error) {
        if (!isRefusal(error)) onError(error)
        const message = isRefusal(error) ? explainError(error, advice) : explainFault(error)
        results.push({ ok: false, id: null, error: { code: codeOfError(error), message } })
      }
    }
    return toJson({ results })
  }

  const ofStatus = { not_found: unknownSeed }
  const ofEvidence = {
    criterion_not_found: unknownCriterion,
    not_found: unknownSeed,
    not_a_participant: 'Call join_seed with this seedId first.',
  }
  return [
    defineTool({
      name: 'set_statuses',
      title: 'Set statuses',
      description: 'Sets the status of seeds, each on its own.',
      did: changesOfAgents.set_statuses,
      scope: 'seeds:write',
      action: 'seeds.update',
      http: {
        id: 'agent.setStatuses',
        path: '/agent/v1/seeds::setStatuses',
        returns: 'What came of each entry.',
      },
      input: closed(
        {
          changes: listOf(
            closed({
              seedId,
              status: stringEnum(seedStatuses, { description: 'The new one.' }),
              statusReason: Type.Optional(told(optionalLine(reasonLengthMax), 'Why.')),
            }),
            'Up to 20.',
          ),
        },
        { examples: [{ changes: [{ seedId: exampleIds.seed, status: 'validated' }] }] },
      ),
      output: AgentResults,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      seedOf: ({ changes }) => onlySeedOf(changes),
      call: (agent, { changes }) =>
        makeEach(changes, ofStatus, async ({ seedId: id, ...change }) => {
          await seeds.update(toPrincipal(agent), id, change)
          return id
        }),
      errors: [errors.roleInsufficient],
      advice: {},
    }),
    defineTool({
      name: 'add_evidence_list',
      title: 'Add several findings',
      description: 'As add_evidence, for findings, each on its own.',
      did: changesOfAgents.add_evidence_list,
      scope: 'seeds:write',
      action: 'seeds.addEvidence',
      http: {
        id: 'agent.addEvidenceList',
        path: '/agent/v1/evidence::addList',
        returns: 'What came of each entry.',
      },
      input: closed(
        { evidence: listOf(closed({ seedId, ...newEvidenceFields, ...longFields }), 'Up to 20.') },
        {
          examples: [
            {
              evidence: [
                {
                  ...{ seedId: exampleIds.seed, kind: 'experiment', verdict: 'supports' },
                  summary: '34 of 60 teams finished the setup within a day.',
                },
              ],
            },
          ],
        },
      ),
      output: AgentResults,
      parts: [],
      hints: { ...writingHints, idempotentHint: false },
      seedOf: ({ evidence: entries }) => onlySeedOf(entries),
      call: (agent, { evidence: entries }) =>
        makeEach(entries, ofEvidence, async ({ seedId: id, ...input }) => {
          const added = await evidence.add(toPrincipal(agent), id, input)
          return added.id
        }),
      errors: [errors.roleInsufficient],
      advice: {},
    }),
  ]
}

function listOf<Entry extends TObject>(entry: Entry, description: string) {
  return Type.Array(entry, { minItems: 1, maxItems: changesAtOnceMax, description })
}

/** The seed that all entries are about; undefined if they are about several. */
function onlySeedOf(entries: readonly { seedId: string }[]): string | undefined {
  const [first] = entries
  return entries.every(({ seedId: id }) => id === first?.seedId) ? first?.seedId : undefined
}
