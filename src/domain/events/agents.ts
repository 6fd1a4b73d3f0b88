import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { stringEnum } from '../../kernel/schemas.ts'
import { comment, exampleComment, commented } from './comments.ts'
import { id, text, kind } from './kind.ts'

const grant = {
  grantId: id('the grant'),
  clientName: text('The name of the agent.'),
  userId: id('the person for whom the agent acts'),
}

const exampleGrant = { grantId: exampleIds.grant, clientName: 'Claude', userId: exampleIds.user }

const agentRequest = {
  agentRequestId: id('the request'),
  ...comment,
  grantId: id('the grant of the agent'),
  clientName: text('The name of the agent.'),
}

const exampleAgentRequest = {
  agentRequestId: exampleIds.agentRequest,
  ...exampleComment,
  grantId: exampleIds.grant,
  clientName: 'Claude',
}

/** What agents are asked, and what happens to their access. */
export const agentEvents = {
  'agent_request.created': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) => `${actor} asked ${clientName} on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.answered': kind(
    { ...agentRequest, answerCommentId: id('the comment that answers it') },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: ({ clientName, ...data }, actor) =>
        `${actor}, through ${clientName}, answered a request on ${commented(data)}`,
      example: { ...exampleAgentRequest, answerCommentId: exampleIds.comment },
    },
  ),
  'agent_request.declined': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor}, through ${clientName}, declined a request on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.cancelled': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor} cancelled a request to ${clientName} on ${commented(data)}`,
    example: exampleAgentRequest,
  }),
  'agent_request.expired': kind(agentRequest, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: ({ clientName, ...data }, actor) =>
      `${actor} ended a request to ${clientName} on ${commented(data)}, which had no answer`,
    example: exampleAgentRequest,
  }),
  'integration.granted': kind(
    {
      ...grant,
      scopes: Type.Array(Type.String(), { description: 'What the agent may do.' }),
      workspaceName: text('The name of the workspace at the time.'),
      membersMayAsk: Type.Optional(
        Type.Boolean({ description: 'Whether other members may ask it; only if they may.' }),
      ),
      assertedBy: Type.Optional(
        text(
          'The identity provider that gave the access, as the policy of the workspace allows; only if one did.',
        ),
      ),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, workspaceName, assertedBy }, actor) =>
        `${actor} gave ${clientName} access to ${workspaceName}${assertedBy === undefined ? '' : ' for a member'}`,
      example: { ...exampleGrant, scopes: ['validation-kit:read'], workspaceName: 'Acme' },
    },
  ),
  'integration.changed': kind(
    {
      ...grant,
      from: Type.Array(Type.String(), { description: 'The scopes before.' }),
      to: Type.Array(Type.String(), { description: 'The scopes now.' }),
      // A type of its own would be part of the conditions of indexes (docs/design/agents.md#prolonging-access).
      expiredAt: Type.Optional(text('When the access would have ended; only if the end was changed.')),
      expiresAt: Type.Optional(text('When it ends now; only if the end was changed.')),
      membersMayAsk: Type.Optional(
        Type.Boolean({ description: 'Whether other members may ask it now; only if that was changed.' }),
      ),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, from, to, expiredAt = '', expiresAt, membersMayAsk }, actor) => {
        const until = expiresAt === undefined ? '' : ` until ${expiresAt.slice(0, 10)}`
        if (from.join() !== to.join())
          return `${actor} changed the access of ${clientName} to ${to.join(', ')}${until}`
        if (expiresAt === undefined && membersMayAsk !== undefined)
          return `${actor} ${membersMayAsk ? 'let members ask' : 'no longer lets members ask'} ${clientName}`
        const verb = String(expiresAt) > expiredAt ? 'prolonged' : 'shortened'
        return `${actor} ${verb} the access of ${clientName}${until}`
      },
      example: {
        ...exampleGrant,
        from: ['validation-kit:read'],
        to: ['validation-kit:read', 'workspace:read'],
      },
    },
  ),
  'integration.used': kind(
    {
      ...grant,
      tool: text('The tool that the agent used for the first time that day.'),
      did: text('What it did with it, as the end of a sentence.'),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize: ({ clientName, did }, actor) => `${actor}, through ${clientName}, ${did}`,
      example: { ...exampleGrant, tool: 'read_validation_kit', did: 'read the validation kit' },
    },
  ),
  'integration.revoked': kind(
    {
      ...grant,
      reason: stringEnum(['revoked', 'replaced', 'reused', 'ended'], {
        description:
          'Whether somebody revoked it, a new grant of the same person replaced it, it ended because a code or token was ' +
          'used twice, or the agent or an operator ended it.',
      }),
    },
    {
      readers: 'grantors',
      target: ['integration', 'grantId'],
      summarize({ clientName, reason }, actor) {
        if (reason === 'reused')
          return `The access of ${clientName} ended, because a code or token that it had exchanged was used again`
        if (reason === 'ended') return `The access of ${clientName} was revoked by the agent or an operator`
        return `${actor} ${reason} the access of ${clientName}`
      },
      example: { ...exampleGrant, reason: 'revoked' },
    },
  ),
}
