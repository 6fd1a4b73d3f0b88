import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../../http/description/examples.ts'
import { changesOfAgents, toPrincipal, type AgentPrincipal } from '../../../domain/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import { parseJson, toJson } from '../../../kernel/json-text.ts'
import { closed, optionalLine } from '../../../kernel/schemas.ts'
import { reasonLengthMax } from '../../../domain/seeds.ts'
import { newSeedFields, Seed, seedChangeFields } from '../../seeds/seeds.schemas.ts'
import type { SeedsService } from '../../seeds/seeds.service.ts'
import { defineTool, type AgentTool } from '../agent-tool.ts'
import type { SeedLinks } from '../seed-links.ts'
import { AgentSeed } from './agent-tools.schemas.ts'
import { seedId, unknownSeed, writingHints } from './changing-tools.ts'

/** The tools with which an agent changes seeds, with the scope `seeds:write`. */
export function seedsTools(seeds: SeedsService, links: SeedLinks): AgentTool[] {
  const readSeed = async (agent: AgentPrincipal, id: string) => ({
    seed: await seeds.get(toPrincipal(agent), id),
    url: links.urlOf(agent, id),
  })
  return [
    defineTool({
      name: 'create_seed',
      title: 'Create a seed',
      description:
        'Creates a seed, an early idea to validate. It is open, and your person leads it. Search first, so that no seed ' +
        'is created twice.',
      did: changesOfAgents.create_seed,
      scope: 'seeds:write',
      action: 'seeds.create',
      http: { id: 'agent.createSeed', path: '/agent/v1/seeds::create', returns: 'The new seed.' },
      input: closed(newSeedFields, {
        examples: [{ title: 'Self-service onboarding', summary: 'New customers set up their account.' }],
      }),
      output: AgentSeed,
      parts: [Seed],
      hints: { ...writingHints, idempotentHint: false },
      seedOf: (_input, answer) => (answer === undefined ? undefined : parseJson(answer).seed.id),
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
        'Changes texts, status or lead of a seed. Absent fields stay as they are; an empty problem, audience, hypothesis ' +
        'or leadUserId is cleared.',
      did: changesOfAgents.update_seed,
      scope: 'seeds:write',
      action: 'seeds.update',
      http: { id: 'agent.updateSeed', path: '/agent/v1/seeds::update', returns: 'The changed seed.' },
      input: closed(
        {
          seedId,
          ...seedChangeFields,
          statusReason: Type.Optional(optionalLine(reasonLengthMax)),
          leadUserId: Type.Optional(Type.String({ maxLength: 64, description: 'A participant.' })),
        },
        { examples: [{ seedId: exampleIds.seed, status: 'validated' }] },
      ),
      emptied: ['problem', 'audience', 'hypothesis', 'leadUserId'],
      output: AgentSeed,
      parts: [Seed],
      // It replaces texts of people.
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { seedId: id, leadUserId, ...changes }) {
        const lead = leadUserId === undefined ? {} : { leadUserId: leadUserId === '' ? null : leadUserId }
        await seeds.update(toPrincipal(agent), id, { ...changes, ...lead })
        return toJson(await readSeed(agent, id))
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.textInvalid,
        errors.leadInvalid,
        errors.reasonWithoutStatus,
      ],
      advice: { not_found: unknownSeed },
    }),
    defineTool({
      name: 'join_seed',
      title: 'Join a seed',
      description: 'Makes your person a participant, who can add evidence.',
      did: changesOfAgents.join_seed,
      scope: 'seeds:write',
      action: 'seeds.join',
      http: { id: 'agent.joinSeed', path: '/agent/v1/seeds::join', returns: 'The joined seed.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentSeed,
      parts: [Seed],
      hints: { ...writingHints, idempotentHint: true },
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
    defineTool({
      name: 'leave_seed',
      title: 'Leave a seed',
      description:
        'Makes your person leave a seed: they no longer participate in it, lead it or follow it. Their evidence stays.',
      did: changesOfAgents.leave_seed,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'seeds.leave',
      http: { id: 'agent.leaveSeed', path: '/agent/v1/seeds::leave', returns: 'The seed that was left.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentSeed,
      parts: [Seed],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id }) {
        await seeds.leave(toPrincipal(agent), id)
        return toJson(await readSeed(agent, id))
      },
      errors: [errors.notFound, errors.roleInsufficient],
      advice: { not_found: unknownSeed },
    }),
  ]
}
