import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, slugParams } from '../../http/description/operation.ts'
import { keyAccesses } from '../../domain/key-restrictions.ts'
import { userKinds } from '../../domain/service-accounts.ts'
import { Role } from '../../domain/roles.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { named, nullableRef, nullableTimestamp, stringEnum } from '../../kernel/schemas.ts'

const WorkspaceApiKey = named(
  'WorkspaceApiKey',
  {
    id: Type.String({ description: 'The id of the key.' }),
    ownerUserId: Type.String({ description: 'The id of who it acts as.' }),
    ownerName: Type.String({ description: 'Their name.' }),
    kind: stringEnum(userKinds, { description: 'Whether they are a person or a service account.' }),
    tokenPrefix: Type.String({ description: 'The first characters of the key.' }),
    lastFour: Type.String({ description: 'The last four characters of the key.' }),
    lastChangeAt: nullableTimestamp('When it last changed something in this workspace. Null: never.'),
    access: stringEnum(keyAccesses, { description: 'Whether it may change something, or only read.' }),
    maxRole: nullableRef(Role, 'The highest role that it acts with. Null: that of its owner.'),
    expiresAt: nullableTimestamp('When it stops working. Null: never.'),
  },
  {
    ...{ id: exampleIds.apiKey, ownerUserId: exampleIds.user, ownerName: 'Grace Hopper', kind: 'person' },
    ...{ tokenPrefix: 'wsk_4fGh', lastFour: 'x7Qz', lastChangeAt: exampleTime },
    ...{ access: 'full', maxRole: 'member', expiresAt: null },
  },
)
export type WorkspaceApiKey = Static<typeof WorkspaceApiKey>

export const workspaceKeysSchemas = [WorkspaceApiKey]

export const apiKeysListOfWorkspace = listOperation(
  {
    id: 'apiKeys.listOfWorkspace',
    summary: 'List the API keys that act in a workspace',
    description:
      'For owners and admins. The active keys of members that are bound to the workspace, or changed something in it in the ' +
      'last 90 days, the newest key first. Only their owners can change them.',
    params: slugParams,
    returns: 'A page of the API keys.',
    errors: [...workspaceErrors, errors.roleInsufficient],
  },
  { item: WorkspaceApiKey },
)
