import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, named, nullableString, NullableTimestamp, Ok, ref, Timestamp } from '../../http/schemas.ts'

const AgentGrant = named('AgentGrant', {
  id: Type.String(),
  clientId: Type.String(),
  clientName: Type.String({ description: 'What the agent called itself when it was allowed.' }),
  clientUri: nullableString({ description: 'Its home page, as it told it.' }),
  userId: Type.String({ description: 'On whose behalf it acts.' }),
  userName: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Timestamp,
  lastUsedAt: NullableTimestamp,
  expiresAt: Timestamp,
})

export const integrationsSchemas = [AgentGrant]

export const listIntegrations = operation({
  id: 'integrations.list',
  summary: 'List the agents that have access to a workspace',
  description:
    'Newest first, without those whose access was revoked or has expired. Owners and admins see all, others those that ' +
    'act on their behalf.',
  params: Type.Object({ slug: Type.String() }),
  querystring: closed(pageQuery),
  success: Type.Array(ref(AgentGrant)),
})

export const revokeIntegration = operation({
  id: 'integrations.revoke',
  summary: "End an agent's access",
  description:
    "From the agent's next request on. Owners and admins may end all, others those that act on their behalf. No error " +
    'when it was ended already.',
  params: Type.Object({ slug: Type.String(), id: Type.String() }),
  success: ref(Ok),
})
