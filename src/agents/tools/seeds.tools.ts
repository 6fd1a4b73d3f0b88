import { Type, type TProperties } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { changesOfAgents, toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson, toJson } from '../../kernel/json-text.ts'
import { closed, optionalLine, told } from '../../kernel/schemas.ts'
import { questionLengthMax, reasonLengthMax } from '../../domain/seeds.ts'
import {
  askFields,
  Criterion,
  newSeedFields,
  Seed,
  seedChangeFields,
  SimilarSeed,
} from '../../areas/seeds/seeds.schemas.ts'
import type { SeedsService } from '../../areas/seeds/seeds.service.ts'
import { defineTool, type AgentTool } from './agent-tool.ts'
import type { SeedLinks } from '../kit/seed-links.ts'
import { AgentDone, AgentNewSeed, AgentSeed } from './agent-tools.schemas.ts'
import { seedId, unknownCriterion, unknownSeed, writingHints, quote } from './common-tool-parts.ts'

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
      description: 'Creates an open seed, an idea led by your person; names similar ones. Search first.',
      did: changesOfAgents.create_seed,
      scope: 'seeds:write',
      action: 'seeds.create',
      http: { id: 'agent.createSeed', path: '/agent/v1/seeds::create', returns: 'The new seed.' },
      input: closed(withTold({ ...newSeedFields, ...fieldsOfDecision }), {
        examples: [{ title: 'Self-service onboarding', summary: 'New customers set up their account.' }],
      }),
      output: AgentNewSeed,
      parts: [Criterion, Seed, SimilarSeed],
      hasCard: true,
      brief: (_input, { seed, url }) => ({ id: seed.id, changed: ['created', 'joined', 'led'], url }),
      hints: { ...writingHints, idempotentHint: false },
      seedOf: (_input, answer) => (answer === undefined ? undefined : parseJson(answer).seed.id),
      async call(agent, input) {
        const { similar, ...seed } = await seeds.create(toPrincipal(agent), agent.workspace.slug, input)
        return toJson({ seed, similar, url: links.urlOf(agent, seed.id) })
      },
      errors: [errors.roleInsufficient, errors.textInvalid],
      advice: {},
    }),
    defineTool({
      name: 'update_seed',
      title: 'Change a seed',
      description:
        'Changes texts (see create_seed), status or lead of a seed. Absent fields stay; empty optional ones and leadUserId are cleared.',
      did: changesOfAgents.update_seed,
      scope: 'seeds:write',
      action: 'seeds.update',
      http: { id: 'agent.updateSeed', path: '/agent/v1/seeds::update', returns: 'The changed seed.' },
      input: closed(
        {
          seedId,
          ...withTold({ ...seedChangeFields, ...fieldsOfDecision }, toldChanges),
          statusReason: Type.Optional(told(optionalLine(reasonLengthMax), 'Why.')),
          leadUserId: Type.Optional(Type.String({ maxLength: 64, description: 'Has joined, no viewer.' })),
        },
        { examples: [{ seedId: exampleIds.seed, status: 'validated' }] },
      ),
      emptied: ['problem', 'audience', 'hypothesis', 'leadUserId', 'question', 'decideBy'],
      output: AgentSeed,
      parts: [Criterion, Seed],
      hasCard: true,
      brief: ({ seedId: id, ...changes }, { url }) => ({ id, changed: Object.keys(changes), url }),
      // It replaces texts of people.
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { seedId: id, leadUserId, ...changes }) {
        const lead = leadUserId === undefined ? {} : { leadUserId: leadUserId === '' ? null : leadUserId }
        await seeds.update(toPrincipal(agent), id, { ...changes, ...lead })
        return toJson(await readSeed(agent, id))
      },
      errors: [
        errors.notFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.textInvalid,
        errors.criteriaTwice,
        errors.criterionNotFound,
        errors.leadInvalid,
        errors.reasonWithoutStatus,
      ],
      advice: {
        not_found: unknownSeed,
        criterion_not_found: unknownCriterion,
        lead_invalid: 'Ask somebody who has not joined by ask_to_join, as lead.',
      },
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
      parts: [Criterion, Seed],
      brief: ({ seedId: id }, { url }) => ({ id, changed: ['joined'], url }),
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id }) {
        await seeds.join(toPrincipal(agent), id)
        return toJson(await readSeed(agent, id))
      },
      errors: [errors.notFound, errors.seedMerged, errors.roleInsufficient, errors.seedClosed],
      advice: {
        not_found: unknownSeed,
        seed_closed: 'Only seeds that are open or validating can be joined.',
      },
    }),
    defineTool({
      name: 'leave_seed',
      title: 'Leave a seed',
      description: 'Your person leaves, no longer leads and unfollows a seed. Evidence stays.',
      did: changesOfAgents.leave_seed,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'seeds.leave',
      http: { id: 'agent.leaveSeed', path: '/agent/v1/seeds::leave', returns: 'The seed that was left.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentSeed,
      parts: [Criterion, Seed],
      brief: ({ seedId: id }, { url }) => ({ id, changed: ['left'], url }),
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id }) {
        await seeds.leave(toPrincipal(agent), id)
        return toJson(await readSeed(agent, id))
      },
      errors: [errors.notFound, errors.seedMerged, errors.roleInsufficient],
      advice: { not_found: unknownSeed },
    }),
    defineTool({
      name: 'ask_to_join',
      title: 'Ask to join',
      description: 'Asks a member to join a seed, in their inbox.',
      did: changesOfAgents.ask_to_join,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'seeds.invitePerson',
      http: { id: 'agent.askToJoin', path: '/agent/v1/seeds::askToJoin', returns: 'That they were asked.' },
      input: closed(
        {
          seedId,
          userId: told(askFields.userId, 'A person.'),
          as: told(askFields.as, 'lead: if your person or nobody leads.'),
        },
        { examples: [{ seedId: exampleIds.seed, userId: exampleIds.user, as: 'participant' }] },
      ),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id, ...input }) {
        await seeds.invitePerson(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.personNotAskable,
        errors.seedClosed,
        errors.tooManyAsked,
      ],
      advice: {
        not_found:
          'No seed has this seedId, or no member this userId. Call read_validation_kit or list_people.',
        person_not_askable: 'Call list_people for members.',
        seed_closed: 'Only seeds that are open or validating can be joined.',
      },
    }),
    defineTool({
      name: 'follow_seed',
      title: 'Follow a seed',
      description: 'Your person is told in the inbox what happens to a seed, or no longer.',
      did: changesOfAgents.follow_seed,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'seeds.follow',
      http: {
        id: 'agent.followSeed',
        path: '/agent/v1/seeds::follow',
        returns: 'That it is followed, or no longer.',
      },
      input: closed(
        { seedId, follow: Type.Boolean({ description: 'False: unfollow.' }) },
        { examples: [{ seedId: exampleIds.seed, follow: true }] },
      ),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id, follow }) {
        await (follow ? seeds.follow(toPrincipal(agent), id) : seeds.unfollow(toPrincipal(agent), id))
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.seedMerged],
      advice: { not_found: unknownSeed },
    }),
    defineTool({
      name: 'delete_seed',
      title: 'Delete a seed',
      description:
        'Deletes a seed that you created and nobody else added to. restore_seed undoes it for 14 days.',
      did: changesOfAgents.delete_seed,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'seeds.delete',
      http: { id: 'agent.deleteSeed', path: '/agent/v1/seeds::delete', returns: 'That it was deleted.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: false },
      async confirm(agent, { seedId: id }) {
        const { title } = await seeds.get(toPrincipal(agent), id)
        return `Delete the seed ${quote(title)}? Its creator can restore it for 14 days.`
      },
      async call(agent, { seedId: id }) {
        await seeds.delete(toPrincipal(agent), id)
        return toJson({ ok: true as const })
      },
      errors: deletionErrors,
      advice: { not_found: unknownSeed, ...deletionAdvice },
    }),
    defineTool({
      name: 'restore_seed',
      title: 'Restore a seed',
      description: 'Restores a deleted seed that you created.',
      did: changesOfAgents.restore_seed,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'seeds.restore',
      http: { id: 'agent.restoreSeed', path: '/agent/v1/seeds::restore', returns: 'That it was restored.' },
      input: closed({ seedId }, { examples: [{ seedId: exampleIds.seed }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { seedId: id }) {
        await seeds.restore(toPrincipal(agent), id)
        return toJson({ ok: true as const })
      },
      errors: deletionErrors,
      advice: {
        not_found: 'No seed of this workspace has this seedId, or it was deleted more than 14 days ago.',
        ...deletionAdvice,
      },
    }),
  ]
}

const deletionErrors = [
  errors.notFound,
  errors.roleInsufficient,
  errors.seedMerged,
  errors.notTheAuthor,
  errors.seedInUse,
]
const deletionAdvice = {
  not_the_author: 'You delete and restore only seeds that you created. Your person can do it on the website.',
  seed_in_use: 'Others, or your person by hand, have added to it. Set its status to dropped instead.',
}

/** As in the API, but without null, which counts as absent: the empty string clears them. */
const fieldsOfDecision = {
  question: Type.Optional(optionalLine(questionLengthMax)),
  decideBy: Type.Optional(Type.String({ maxLength: 10 })),
}

/** What models are told of the fields of seeds. */
const toldFields: Readonly<Record<string, string>> = {
  title: 'The idea in one line.',
  summary: 'The idea in a few sentences.',
  problem: 'The problem today.',
  audience: 'Who has it.',
  hypothesis: 'The belief to validate.',
  successCriteria: 'What would show that it is true.',
  criteria: 'The same, with states.',
  question: 'What to decide.',
  decideBy: 'YYYY-MM-DD.',
  status: 'The new one.',
}

/** The same of a change, which refers to those of a new seed. */
const toldChanges: typeof toldFields = {
  ...toldFields,
  ...{ title: 'One line.', summary: '', problem: '', audience: '', hypothesis: '' },
  ...{ successCriteria: 'All of them.', criteria: 'Or these; id: keeps it.', question: 'One line.' },
}

function withTold<Fields extends TProperties>(fields: Fields, texts = toldFields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, told(field, String(texts[name]))]),
  ) as Fields
}
