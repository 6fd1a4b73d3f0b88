import { Type } from '@sinclair/typebox'
import { assertedAgentsStates } from '../agent.ts'
import { exampleIds } from '../example-ids.ts'
import { closed, stringEnum } from '../../kernel/schemas.ts'
import { examplePerson } from './people.ts'
import { id, text, role, kind } from './kind.ts'

const workspace = {
  workspaceId: id('the workspace'),
  name: text('The name of the workspace at the time.'),
}

const exampleWorkspace = { workspaceId: exampleIds.workspace, name: 'Acme' }

const workspaceFields = (description: string) =>
  closed(
    { name: Type.String(), slug: Type.String(), allowedDomains: Type.Array(Type.String()) },
    { description },
  )

const agentPolicy = (description: string) =>
  closed(
    {
      assertedAgents: stringEnum(assertedAgentsStates),
      scopes: Type.Array(Type.String()),
      clients: Type.Array(Type.String()),
    },
    { description },
  )

/** What happens to a workspace. */
export const workspaceEvents = {
  'workspace.created': kind(
    { ...workspace, slug: text('Its slug at the time.') },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: ({ name }, actor) => `${actor} created the workspace ${name}`,
      example: { ...exampleWorkspace, slug: 'acme' },
    },
  ),
  'workspace.updated': kind(
    {
      workspaceId: workspace.workspaceId,
      from: workspaceFields('Before the change.'),
      to: workspaceFields('After the change.'),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize({ from, to }, actor) {
        const domains = to.allowedDomains.join(', ')
        const changes = [
          from.name !== to.name && `renamed the workspace from ${from.name} to ${to.name}`,
          from.slug !== to.slug && `changed the workspace address from ${from.slug} to ${to.slug}`,
          from.allowedDomains.join(', ') !== domains &&
            `set the allowed email domains to ${domains || 'none'}`,
        ]
        return `${actor} ${changes.filter((change) => change !== false).join(' and ')}`
      },
      example: {
        workspaceId: exampleIds.workspace,
        from: { name: 'Acme', slug: 'acme', allowedDomains: [] },
        to: { name: 'Acme Labs', slug: 'acme', allowedDomains: ['acme.example'] },
      },
    },
  ),
  'workspace.icon_changed': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} changed the icon of ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.icon_removed': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} removed the icon of ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.agent_policy_changed': kind(
    {
      workspaceId: workspace.workspaceId,
      from: agentPolicy('Before the change.'),
      to: agentPolicy('After the change.'),
    },
    {
      readers: 'managers',
      target: ['workspace', 'workspaceId'],
      summarize({ from, to }, actor) {
        if (from.assertedAgents !== to.assertedAgents)
          return to.assertedAgents === 'on'
            ? `${actor} let identity providers give agents access`
            : `${actor} no longer lets identity providers give agents access`
        return `${actor} changed which agents identity providers give access, and what these may do`
      },
      example: {
        workspaceId: exampleIds.workspace,
        from: { assertedAgents: 'off', scopes: ['validation-kit:read'], clients: [] },
        to: {
          assertedAgents: 'on',
          scopes: ['validation-kit:read', 'workspace:read'],
          clients: ['r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez'],
        },
      },
    },
  ),
  'workspace.ownership_transferred': kind(
    {
      workspaceId: workspace.workspaceId,
      userId: id('the new owner'),
      name: text('Their name at the time.'),
      from: role('Their role before.'),
      formerOwnerUserId: id('the person who transferred the ownership, and is an admin now'),
    },
    {
      readers: 'everybody',
      target: ['user', 'userId'],
      summarize: ({ name }, actor) => `${actor} transferred the ownership of the workspace to ${name}`,
      example: {
        workspaceId: exampleIds.workspace,
        ...examplePerson,
        from: 'admin',
        formerOwnerUserId: exampleIds.actor,
      },
    },
  ),
  'workspace.deleted': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} deleted the workspace ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.restored': kind(workspace, {
    readers: 'everybody',
    target: ['workspace', 'workspaceId'],
    summarize: ({ name }, actor) => `${actor} restored the workspace ${name}`,
    example: exampleWorkspace,
  }),
  'workspace.exported': kind(
    { workspaceId: workspace.workspaceId },
    {
      readers: 'managers',
      target: ['workspace', 'workspaceId'],
      summarize: (_, actor) => `${actor} began an export of the workspace`,
      example: { workspaceId: exampleIds.workspace },
    },
  ),
  'workspace.imported': kind(
    {
      workspaceId: workspace.workspaceId,
      importId: id('the import'),
      seedCount: Type.Integer({ description: 'How many seeds it creates. Each has its own event.' }),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: ({ seedCount }, actor) =>
        `${actor} began an import of ${seedCount} ${seedCount === 1 ? 'seed' : 'seeds'}`,
      example: { workspaceId: exampleIds.workspace, importId: exampleIds.seedImport, seedCount: 120 },
    },
  ),
  'workspace.import_undone': kind(
    {
      workspaceId: workspace.workspaceId,
      importId: id('the import'),
      keptCount: Type.Integer({
        description: 'How many of its seeds stay, since others have added to them.',
      }),
    },
    {
      readers: 'everybody',
      target: ['workspace', 'workspaceId'],
      summarize: (_, actor) => `${actor} began to undo an import of seeds`,
      example: { workspaceId: exampleIds.workspace, importId: exampleIds.seedImport, keptCount: 2 },
    },
  ),
}
