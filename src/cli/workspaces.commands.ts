import type { Command } from 'commander'
import type { ListedWorkspace } from '../areas/workspaces/workspaces.service.ts'
import { addCommand, addLimit, toLimit, type LimitOptions, type OutputOptions } from './command.ts'
import { countOf, formatTime, print, printList, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const columns: Column<ListedWorkspace>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'SLUG', valueOf: ({ slug }) => slug },
  { title: 'NAME', valueOf: ({ name }) => name },
  { title: 'MEMBERS', valueOf: ({ memberCount }) => memberCount },
  { title: 'OWNERS', valueOf: ({ owners }) => owners.join(', ') },
  { title: 'CREATED (UTC)', valueOf: ({ createdAt }) => formatTime(createdAt) },
]

export function addWorkspaceCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-workspaces',
      summary: 'List workspaces',
      details: 'Newest first.',
      examples: ['list-workspaces', 'list-workspaces --query acme --json'],
    }).option('--query <text>', 'Show only workspaces with this text in their name or slug'),
  ).action(async (options: OutputOptions & LimitOptions & { query?: string }) => {
    const { query } = options
    const list = await withServices(({ workspaces }) =>
      workspaces.listAll({ ...(query !== undefined && { query }), ...toLimit(options) }),
    )
    printList(options, { ...list, noun: 'workspace' }, columns)
  })

  addCommand(program, {
    name: 'remove-examples',
    summary: 'Remove the example seeds of the first start',
    details:
      'Removes the seeds that the first start created, with all their evidence, if their titles still begin with ' +
      '"Example: ".',
    examples: ['remove-examples'],
  }).action(async (options: OutputOptions) => {
    const removed = await withServices(({ seeds }) => seeds.deleteExamples())
    print(
      options,
      { ok: true, removed },
      removed.length === 0
        ? ['There are no example seeds.']
        : [
            `Removed ${countOf(removed.length, 'example seed')}:`,
            ...removed.map((title) => `  ${toVisible(title)}`),
          ],
    )
  })
}
