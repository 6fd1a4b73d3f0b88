import { Type, type Static } from '@sinclair/typebox'
import { operation, slugParams } from '../../http/description/operation.ts'
import { exampleTime } from '../../http/description/examples.ts'
import {
  assertedAgentsStates,
  assertedGrantDays,
  assertedScopes,
  clientIdLengthMax,
  policyClientsMax,
} from '../../domain/agent.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { closed, named, nullableTimestamp, ref, stringEnum } from '../../kernel/schemas.ts'

const assertedAgents = stringEnum(assertedAgentsStates, {
  description: 'Whether agents get access for members by assertions of identity providers.',
})
const scopes = Type.Array(stringEnum(assertedScopes), {
  maxItems: assertedScopes.length,
  description: 'What such agents may do at most, as OAuth scopes. `validation-kit:read` is always included.',
})
const clients = Type.Array(Type.String({ minLength: 1, maxLength: clientIdLengthMax }), {
  maxItems: policyClientsMax,
  description: 'The ids of the OAuth clients that get access so.',
})

const AgentPolicy = named(
  'AgentPolicy',
  {
    assertedAgents,
    scopes,
    clients,
    updatedAt: nullableTimestamp('When it was last changed. Null: never.'),
  },
  {
    assertedAgents: 'on',
    scopes: ['validation-kit:read', 'workspace:read'],
    clients: ['r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez'],
    updatedAt: exampleTime,
  },
  'Which agents get access to a workspace by assertions of identity providers, without a consent of the members for whom they act.',
)
export type AgentPolicy = Static<typeof AgentPolicy>

export const agentPolicySchemas = [AgentPolicy]

export const workspacesAgentPolicy = operation({
  id: 'workspaces.agentPolicy',
  summary: 'Read which agents get access by assertions',
  description:
    'For owners. It has an effect in installations whose operator trusts an identity provider to let agents in ' +
    '(`agentAssertions` in `OIDC_PROVIDERS`).',
  params: slugParams,
  success: ref(AgentPolicy),
  returns: 'The policy.',
  errors: [...workspaceErrors, errors.roleInsufficient, errors.serviceAccountNotAllowed],
})

export const workspacesUpdateAgentPolicy = operation({
  id: 'workspaces.updateAgentPolicy',
  summary: 'Change which agents get access by assertions',
  description:
    'For owners. Absent fields stay as they are. What is taken away ends with the next request of an agent; what is added is ' +
    `given with its next assertion. Access ends ${assertedGrantDays} days after the last assertion.`,
  params: slugParams,
  body: closed(
    {
      assertedAgents: Type.Optional(assertedAgents),
      scopes: Type.Optional(scopes),
      clients: Type.Optional(clients),
    },
    {
      examples: [
        {
          assertedAgents: 'on',
          scopes: ['workspace:read'],
          clients: ['r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez'],
        },
      ],
    },
  ),
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.serviceAccountNotAllowed,
    errors.clientUnusable,
  ],
})
