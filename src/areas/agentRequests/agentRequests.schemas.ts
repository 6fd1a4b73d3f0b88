import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { agentRequestStates } from '../../domain/agent-requests.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { named, nullableString, ref, stringEnum, timestamp } from '../../kernel/schemas.ts'

export const AgentRequest = named(
  'AgentRequest',
  {
    id: Type.String({ description: 'The id of the request.' }),
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    seedId: Type.String({ description: 'The id of the seed.' }),
    commentId: Type.String({ description: 'The comment that asks.' }),
    evidenceId: nullableString({ description: 'The evidence that it is about; null for the seed itself.' }),
    grantId: Type.String({ description: 'The grant of the agent. It may have ended.' }),
    agentName: Type.String({ description: 'The name of the agent.' }),
    forUserId: nullableString({
      description: 'The person for whom the agent acts. Null: the account was deleted.',
    }),
    forName: Type.String({ description: 'The name of that person now.' }),
    askedByUserId: nullableString({ description: 'Who asked. Null: the account was deleted.' }),
    askedByName: Type.String({ description: 'The name of who asked, at the time.' }),
    text: Type.String({ description: 'The comment, in Markdown.' }),
    state: stringEnum(agentRequestStates, {
      description:
        '`expired`: there was no answer within 48 hours, or before the access of the agent ended. `cancelled`: by who asked, ' +
        'an owner or an admin, or because the agent was no longer theirs to ask, or they left.',
    }),
    hidden: Type.Boolean({
      description: 'Whether the agent does not see it meanwhile, since who asked is suspended.',
    }),
    reason: nullableString({ description: 'Why the agent declined; otherwise null.' }),
    answerCommentId: nullableString({ description: 'The comment that answers it; null without one.' }),
    createdAt: timestamp('When it was asked.'),
    expiresAt: timestamp('Until when it waits.'),
  },
  {
    id: exampleIds.agentRequest,
    workspaceId: exampleIds.workspace,
    seedId: exampleIds.seed,
    commentId: exampleIds.comment,
    evidenceId: null,
    grantId: exampleIds.grant,
    agentName: 'Claude',
    forUserId: exampleIds.user,
    forName: 'Grace Hopper',
    askedByUserId: exampleIds.actor,
    askedByName: 'Ada Lovelace',
    text: `[@Claude](agent:${exampleIds.grant}) find evidence against this`,
    state: 'waiting',
    hidden: false,
    reason: null,
    answerCommentId: null,
    createdAt: exampleTime,
    expiresAt: exampleExpiry,
  },
  'What somebody asked of an agent by a comment.',
)
export type AgentRequest = Static<typeof AgentRequest>

export const AskableAgent = named(
  'AskableAgent',
  {
    grantId: Type.String({ description: 'The id of its grant: `[@Name](agent:ID)` in a comment asks it.' }),
    agentName: Type.String({ description: 'The name of the agent.' }),
    forUserId: Type.String({ description: 'The person for whom the agent acts.' }),
    forName: Type.String({ description: 'The name of that person.' }),
  },
  { grantId: exampleIds.grant, agentName: 'Claude', forUserId: exampleIds.user, forName: 'Grace Hopper' },
  'An agent that the caller may ask.',
)
export type AskableAgent = Static<typeof AskableAgent>

export const agentRequestsSchemas = [AgentRequest, AskableAgent]

export const agentRequestsList = listOperation(
  {
    id: 'agentRequests.list',
    summary: 'List what was asked of agents',
    description: 'Newest first, without requests on deleted seeds. For all members of the workspace.',
    params: slugParams,
    returns: 'A page of requests.',
    errors: workspaceErrors,
  },
  {
    item: AgentRequest,
    filters: {
      grantId: Type.Optional(Type.String({ description: 'Only what was asked of this agent.' })),
      state: Type.Optional(stringEnum(agentRequestStates, { description: 'Only those in this state.' })),
    },
  },
)

export const agentRequestsGet = operation({
  id: 'agentRequests.get',
  summary: 'Read what was asked of an agent',
  description: 'For all members of the workspace.',
  params: pathParams('slug', 'agentRequestId'),
  success: ref(AgentRequest),
  returns: 'The request, as `agentRequests.list` has it.',
  errors: [...workspaceErrors, errors.notFound],
})

export const agentRequestsCancel = operation({
  id: 'agentRequests.cancel',
  summary: 'Cancel a request to an agent',
  description: 'For who asked, owners and admins. Cancelling one that is cancelled changes nothing.',
  params: pathParams('slug', 'agentRequestId'),
  errors: [...workspaceErrors, errors.notFound, errors.notTheAuthor, errors.requestNotWaiting],
})

export const agentRequestsAskable = operation({
  id: 'agentRequests.askable',
  summary: 'List the agents that the caller may ask',
  description:
    "For members and above: their own agents, and those of others who let members ask. An agent needs the scopes `workspace:read` and `seeds:write`. One with `workspace:write` is its person's alone.",
  params: slugParams,
  success: Type.Array(ref(AskableAgent)),
  returns: 'The agents, by name.',
  errors: [...workspaceErrors, errors.roleInsufficient],
})
