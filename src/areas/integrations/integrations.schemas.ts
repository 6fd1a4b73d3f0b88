import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import { named, nullableString, nullableTimestamp, timestamp } from '../../kernel/schemas.ts'
import { workspaceErrors } from '../../kernel/errors.ts'

const AgentGrant = named(
  'AgentGrant',
  {
    id: Type.String({ description: 'The id of the grant.' }),
    clientId: Type.String({ description: 'The OAuth client id of the agent.' }),
    clientName: Type.String({ description: 'The name of the agent when access was granted.' }),
    clientUri: nullableString({ description: 'The home page of the agent, as the agent gave it.' }),
    userId: Type.String({ description: 'The person on whose behalf the agent acts.' }),
    userName: Type.String({ description: 'The name of that person.' }),
    scopes: Type.Array(Type.String(), { description: 'What the agent may do, as OAuth scopes.' }),
    createdAt: timestamp('When access was granted.'),
    lastUsedAt: nullableTimestamp('When the agent last used its access. Null: never.'),
    expiresAt: timestamp('When the access ends.'),
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
  params: Type.Object({
    ...slugParams.properties,
    id: Type.String({ description: 'The id of the grant.' }),
  }),
  errors: workspaceErrors,
})
