import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import { named, nullableString, nullableTimestamp, ref, timestamp } from '../../kernel/schemas.ts'
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
    membersMayAsk: Type.Boolean({
      description:
        'Whether other members may ask the agent in comments. It then acts with the role of a member at most.',
    }),
    createdAt: timestamp('When access was granted.'),
    lastUsedAt: nullableTimestamp('When the agent last used its access. Null: never.'),
    expiresAt: timestamp('When the access ends.'),
    assertedIssuer: nullableString({
      description:
        'The issuer of the identity provider that gave the access, as the policy of the workspace allows ' +
        '(`workspaces.agentPolicy`), without a consent of the person. Each assertion of it lets the access end later. Null: ' +
        'the person gave it.',
    }),
  },
  {
    id: exampleIds.grant,
    clientId: 'V1StGXR8_Z5jdHi6B-myT',
    clientName: 'Research agent',
    clientUri: 'https://agent.example.com',
    userId: exampleIds.user,
    userName: 'Grace Hopper',
    scopes: ['validation-kit:read'],
    membersMayAsk: false,
    createdAt: exampleTime,
    lastUsedAt: null,
    expiresAt: exampleExpiry,
    assertedIssuer: null,
  },
)
export type AgentGrant = Static<typeof AgentGrant>

const AgentCall = named(
  'AgentCall',
  {
    id: Type.String({ description: 'The id of the call.' }),
    calledAt: timestamp('When the agent called.'),
    tool: Type.String({ description: 'The name of the tool over MCP, also for calls over HTTP.' }),
    code: Type.String({ description: '`ok`, or the code of the error that the agent got.' }),
    seedId: nullableString({
      description: 'The seed that the call was about. Null: none, or none that exists in the workspace.',
    }),
    seedTitle: nullableString({ description: 'The title of that seed.' }),
  },
  {
    id: exampleIds.event,
    calledAt: exampleTime,
    tool: 'fetch',
    code: 'ok',
    seedId: exampleIds.seed,
    seedTitle: 'Self-service onboarding',
  },
)
export type AgentCall = Static<typeof AgentCall>

export const grantsSchemas = [AgentGrant, AgentCall]

const grantParams = Type.Object({
  ...slugParams.properties,
  id: Type.String({ description: 'The id of the grant.' }),
})

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

export const integrationsGet = operation({
  id: 'integrations.get',
  summary: "Read an agent's access to a workspace",
  description:
    'Owners and admins read that of any agent; other members, of agents that act on their behalf. Revoked and expired access ' +
    'is not found.',
  params: grantParams,
  success: ref(AgentGrant),
  returns: 'The agent grant, as `integrations.list` has it.',
  errors: workspaceErrors,
})

export const integrationsListCalls = listOperation(
  {
    id: 'integrations.listCalls',
    summary: 'List what an agent did',
    description:
      'The calls of its tools, newest first, without their arguments: of the last 30 days, and about the last 1,000. Owners ' +
      'and admins see the calls of any agent; other members, of agents that act on their behalf. The calls stay readable ' +
      'after the access was revoked or has expired.',
    params: grantParams,
    returns: 'A page of calls.',
    errors: workspaceErrors,
  },
  { item: AgentCall },
)

export const integrationsRevoke = operation({
  id: 'integrations.revoke',
  summary: "Revoke an agent's access",
  description:
    "Takes effect with the agent's next request. Owners and admins can revoke the access of any agent; other members, " +
    'of agents that act on their behalf. Revoking revoked access succeeds. Identity providers do not give an agent the access ' +
    'again that was revoked, until its person allows that on the website.',
  params: grantParams,
  errors: workspaceErrors,
})
