import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../../http/description/examples.ts'
import { changesOfAgents, toPrincipal, type AgentPrincipal } from '../../../kernel/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/json-text.ts'
import { closed, described } from '../../../kernel/schemas.ts'
import { Comment, commentBody, Mention } from '../../comments/comments.schemas.ts'
import type { CommentsService } from '../../comments/comments.service.ts'
import { Evidence, evidenceFields } from '../../seeds/evidence.schemas.ts'
import type { EvidenceService } from '../../seeds/evidence.service.ts'
import { newSeedFields, Seed, seedChangeFields } from '../../seeds/seeds.schemas.ts'
import type { SeedsService } from '../../seeds/seeds.service.ts'
import { defineTool, type AgentTool } from '../agent-tool.ts'
import { AgentComment, AgentEvidence, AgentSeed } from './agent-tools.schemas.ts'
import type { SeedLinks } from '../seed-links.ts'

const seedId = Type.String({
  description: 'The id of a seed, as read_validation_kit returns it.',
})
const unknownSeed = 'No seed of this workspace has this seedId. Call read_validation_kit to list the seeds.'

const hints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false }

/** The tools with which an agent changes seeds, with the scope `seeds:write`. */
export function seedsTools(
  {
    seeds,
    evidence,
    comments,
  }: { seeds: SeedsService; evidence: EvidenceService; comments: CommentsService },
  links: SeedLinks,
): AgentTool[] {
  const readSeed = async (agent: AgentPrincipal, id: string) => ({
    seed: await seeds.get(toPrincipal(agent), id),
    url: links.urlOf(agent, id),
  })
  return [
    defineTool({
      name: 'create_seed',
      title: 'Create a seed',
      description:
        'Creates a seed: an early idea that the workspace wants to validate. It is open, and your person leads it. Call ' +
        'read_validation_kit first, so that no seed is created twice.',
      did: changesOfAgents.create_seed,
      scope: 'seeds:write',
      action: 'seeds.create',
      http: { id: 'agent.createSeed', path: '/agent/v1/seeds::create', returns: 'The new seed.' },
      input: closed(newSeedFields, {
        examples: [{ title: 'Self-service onboarding', summary: 'New customers set up their account.' }],
      }),
      output: AgentSeed,
      parts: [Seed],
      hints: { ...hints, idempotentHint: false },
      async call(agent, input) {
        const seed = await seeds.create(toPrincipal(agent), agent.workspace.slug, input)
        return toJson({ seed, url: links.urlOf(agent, seed.id) })
      },
      errors: [errors.roleInsufficient, errors.textInvalid],
      advice: {},
    }),
    defineTool({
      name: 'update_seed',
      title: 'Change a seed',
      description:
        'Changes the texts or the status of a seed. Fields that are not given stay as they are; an empty problem, ' +
        'audience or hypothesis is cleared. Any status may follow any other.',
      did: changesOfAgents.update_seed,
      scope: 'seeds:write',
      action: 'seeds.update',
      http: { id: 'agent.updateSeed', path: '/agent/v1/seeds::update', returns: 'The changed seed.' },
      input: closed(
        { seedId, ...seedChangeFields },
        { examples: [{ seedId: exampleIds.seed, status: 'validated' }] },
      ),
      emptied: ['problem', 'audience', 'hypothesis'],
      output: AgentSeed,
      parts: [Seed],
      // It replaces texts of people.
      hints: { ...hints, destructiveHint: true, idempotentHint: true },
      async call(agent, { seedId: id, ...changes }) {
        await seeds.update(toPrincipal(agent), id, changes)
        return toJson(await readSeed(agent, id))
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.textInvalid],
      advice: { not_found: unknownSeed },
    }),
    defineTool({
      name: 'add_evidence',
      title: 'Add evidence to a seed',
      description:
        'Adds a finding to a seed: what kind it is, whether it supports the hypothesis, contradicts it or is neutral, a ' +
        'summary, and its source. The person must have joined the seed; join_seed does that.',
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
      hints: { ...hints, idempotentHint: false },
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
      name: 'add_comment',
      title: 'Comment on a seed',
      description:
        'Adds a comment to a seed, or to one piece of its evidence: a question, an answer, a suggestion. Findings are ' +
        'evidence: add_evidence. People see that you wrote it.',
      did: changesOfAgents.add_comment,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'comments.create',
      http: { id: 'agent.addComment', path: '/agent/v1/comments::add', returns: 'The new comment.' },
      input: closed(
        {
          seedId,
          body: described(commentBody, 'Markdown. `[@Name](user:ID)` mentions a person.'),
          evidenceId: Type.Optional(Type.String({ description: 'The evidence that it is about, if any.' })),
        },
        { examples: [{ seedId: exampleIds.seed, body: 'Who was asked in the survey?' }] },
      ),
      output: AgentComment,
      parts: [Comment, Mention],
      hints: { ...hints, idempotentHint: false },
      async call(agent, { seedId: id, ...input }) {
        const comment = await comments.create(toPrincipal(agent), id, input)
        return toJson({ comment, url: links.urlOf(agent, id) })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.textInvalid],
      advice: { not_found: 'No seed of this workspace has this seedId, or it has no such evidence.' },
    }),
    defineTool({
      name: 'join_seed',
      title: 'Join a seed',
      description:
        'Makes the person on whose behalf you act a participant of a seed, so that they can add evidence. Joining again ' +
        'succeeds.',
      did: changesOfAgents.join_seed,
      scope: 'seeds:write',
      action: 'seeds.join',
      http: { id: 'agent.joinSeed', path: '/agent/v1/seeds::join', returns: 'The joined seed.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentSeed,
      parts: [Seed],
      hints: { ...hints, idempotentHint: true },
      async call(agent, { seedId: id }) {
        await seeds.join(toPrincipal(agent), id)
        return toJson(await readSeed(agent, id))
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.seedClosed],
      advice: {
        not_found: unknownSeed,
        seed_closed: 'Only seeds that are open or validating can be joined.',
      },
    }),
  ]
}
