import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import { named, nullableString, NullableTimestamp, Timestamp } from '../../kernel/schemas.ts'
import { workspaceErrors } from '../../kernel/errors.ts'

const AgentGrant = named(
  'AgentGrant',
  {
    id: Type.String(),
    clientId: Type.String(),
    clientName: Type.String({ description: 'The name of the agent when access was granted.' }),
    clientUri: nullableString({ description: 'The home page of the agent, as the agent gave it.' }),
    userId: Type.String({ description: 'The person on whose behalf the agent acts.' }),
    userName: Type.String(),
    scopes: Type.Array(Type.String()),
    createdAt: Timestamp,
    lastUsedAt: NullableTimestamp,
    expiresAt: Timestamp,
  },
  {
    id: exampleIds.grant,
    clientId: 'V1StGXR8_Z5jdHi6B-myT',
    clientName: 'Research agent',
    clientUri: 'https://agent.example.com',
    userId: exampleIds.user,
    userName: 'Grace Hopper',
    scopes: ['validation-kit:read'],
    createdAt: exampleTime,
    lastUsedAt: null,
    expiresAt: exampleExpiry,
  },
)
export type AgentGrant = Static<typeof AgentGrant>

export const integrationsSchemas = [AgentGrant]

export const integrationsList = listOperation(
  {
    id: 'integrations.list',
    summary: 'List the agents that have access to a workspace',
    description:
      'Newest first, without revoked and expired access. Owners and admins see all agents; other members see the ' +
      'agents that act on their behalf.',
    params: slugParams,
    returns: 'A page of agent grants.',
    errors: workspaceErrors,
  },
  { item: AgentGrant },
)

export const integrationsRevoke = operation({
  id: 'integrations.revoke',
  summary: "Revoke an agent's access",
  description:
    "Takes effect with the agent's next request. Owners and admins can revoke the access of any agent; other members, " +
    'of agents that act on their behalf. Revoking revoked access succeeds.',
  params: Type.Object({ slug: Type.String(), id: Type.String() }),
  errors: workspaceErrors,
})
